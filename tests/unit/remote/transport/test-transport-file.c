/* SPDX-License-Identifier: MIT */
#include "remote/transport/transport-file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "../../scratch.h"
#include "../../unit.h"
#include "executor/thread.h"

static char *scratch;
static lx__transport *transport;
static lx__connection *connection;

static void write_file(const char *name, size_t size, char byte)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < size; i++)
        fputc(byte, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void set_up(void)
{
    lx_error error = LX_ERROR_INIT;
    scratch = scratch_make();
    ck_assert_int_eq(mkdir("set", 0777), 0);
    ck_assert_int_eq(mkdir("set/chunk", 0777), 0);
    write_file("set/chunk/0.zr", 10000, 'a');
    unit_ok(lx__transport_file_open("set//", &transport, &error));
    ck_assert_str_eq(transport->url, "set");
    ck_assert_str_eq(transport->class->network, "file");
    unit_ok(transport->class->connect(transport, &connection, &error));
}

static void tear_down(void)
{
    transport->class->disconnect(connection);
    transport->class->close(transport);
    scratch_remove(scratch);
}

/* The result of the last read. */
static uint8_t data[1 << 16];
static lx__answer answer;
static lx_error error;

static lx_status read_range(const char *name, uint64_t offset, size_t size)
{
    lx_error_clear(&error);
    memset(data, 0, sizeof data);
    return transport->class->read(connection, name, offset, size, data, &answer, &error);
}

/** The read must fail, and not be repeated. */
static void fails_for_good(const char *name, lx_status status)
{
    ck_assert_msg(read_range(name, 0, 10) == status, "%s: %s", name, error.message);
    ck_assert_int_eq(error.status, status);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
}

START_TEST(reads_ranges)
{
    set_up();
    unit_ok(read_range("chunk/0.zr", 100, 50));
    ck_assert_uint_eq(answer.got, 50);
    ck_assert_uint_eq(answer.total, 10000);
    ck_assert_int_eq(data[0], 'a');
    ck_assert_int_eq(data[49], 'a');
    ck_assert_int_eq(data[50], 0);
    tear_down();
}
END_TEST

START_TEST(a_short_file_gives_a_short_range)
{
    set_up();
    unit_ok(read_range("chunk/0.zr", 9990, 50));
    ck_assert_uint_eq(answer.got, 10);
    ck_assert_uint_eq(answer.total, 10000);
    unit_ok(read_range("chunk/0.zr", 20000, 50));
    ck_assert_uint_eq(answer.got, 0);
    ck_assert_uint_eq(answer.total, 10000);
    tear_down();
}
END_TEST

START_TEST(a_file_may_grow_and_be_truncated)
{
    set_up();
    unit_ok(read_range("chunk/0.zr", 0, 20000));
    ck_assert_uint_eq(answer.got, 10000);
    ck_assert_int_eq(truncate("set/chunk/0.zr", 15000), 0);
    unit_ok(read_range("chunk/0.zr", 0, 20000));
    ck_assert_uint_eq(answer.got, 15000);
    ck_assert_uint_eq(answer.total, 15000);
    ck_assert_int_eq(truncate("set/chunk/0.zr", 5), 0);
    unit_ok(read_range("chunk/0.zr", 0, 20000));
    ck_assert_uint_eq(answer.got, 5);
    ck_assert_uint_eq(answer.total, 5);
    tear_down();
}
END_TEST

static atomic_bool stop;

static void *grow_and_truncate(void *user)
{
    for (off_t size = 0; !atomic_load(&stop); size = (size + 4099) % 60000)
        if (truncate("set/chunk/0.zr", size) != 0)
            return user;
    return NULL;
}

START_TEST(a_range_and_the_length_agree_while_the_file_changes)
{
    set_up();
    pthread_t thread;
    void *failed;
    ck_assert_int_eq(lx__thread_start(&thread, grow_and_truncate, &stop), 0);
    for (int i = 0; i < 20000 / SLOWER; i++) {
        lx_status status = read_range("chunk/0.zr", 1000, 40000);
        if (status != LX_OK) { /* it grew during each try */
            ck_assert_int_eq(status, LX_ERR_IO);
            ck_assert_int_eq(answer.retry, LX__RETRY_LATER);
        } else if (answer.got == 40000) {
            ck_assert_uint_ge(answer.total, 41000);
        } else {
            ck_assert_uint_le(answer.total, 1000 + answer.got);
        }
    }
    atomic_store(&stop, true);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    tear_down();
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    set_up();
    ck_assert_int_eq(symlink("0.zr", "set/chunk/link"), 0);
    ck_assert_int_eq(symlink("chunk", "set/folder"), 0);
    ck_assert_int_eq(mkfifo("set/fifo", 0666), 0);
    write_file("outside", 10, 'o');
    fails_for_good("missing", LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.path, "set/missing");
    fails_for_good("missing/0.zr", LX_ERR_NOT_FOUND);
    fails_for_good("chunk/link", LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "symbolic link"));
    fails_for_good("folder/0.zr", LX_ERR_CORRUPT);
    fails_for_good("chunk", LX_ERR_CORRUPT);
    fails_for_good("fifo", LX_ERR_CORRUPT);
    fails_for_good("chunk/0.zr/0", LX_ERR_CORRUPT);
    static const char *const bad[] = {
        "",       "/",          "../outside", "chunk/../chunk/0.zr", "./meta.json", "chunk//0.zr",
        "chunk/", "/etc/passwd"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails_for_good(bad[i], LX_ERR_ARGUMENT);
    tear_down();
}
END_TEST

START_TEST(a_refused_file_is_not_tried_again)
{
    if (geteuid() == 0 && seteuid(65534) == -1 && errno == EINVAL)
        return; /* a user namespace that only has root */
    ck_assert_int_eq(seteuid(getuid()), 0);
    set_up();
    ck_assert_int_eq(chmod("set/chunk/0.zr", 0), 0);
    if (geteuid() == 0) { /* root may read everything: become somebody else */
        ck_assert_int_eq(chmod(scratch, 0777), 0);
        ck_assert_int_eq(seteuid(65534), 0);
    }
    fails_for_good("chunk/0.zr", LX_ERR_IO);
    ck_assert_int_eq(error.errnum, EACCES);
    ck_assert_str_eq(error.path, "set/chunk/0.zr");
    (void)!seteuid(getuid());
    ck_assert_int_eq(chmod("set", 0), 0); /* the whole dataset, on a new connection */
    transport->class->disconnect(connection);
    lx_error_clear(&error);
    unit_ok(transport->class->connect(transport, &connection, &error));
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    fails_for_good("chunk/0.zr", LX_ERR_IO);
    ck_assert_int_eq(error.errnum, EACCES);
    (void)!seteuid(getuid());
    ck_assert_int_eq(chmod("set", 0777), 0);
    tear_down();
}
END_TEST

START_TEST(an_outage_is_tried_again_and_is_no_damage)
{
    set_up();
    unit_ok(read_range("chunk/0.zr", 0, 10));
    int writable = open("written", O_WRONLY | O_CREAT, 0666), taken = -1, file = -1;
    /* Reading what is open for writing fails with EBADF: put it where the connection has its file. */
    for (int fd = 3; fd < 64 && file == -1; fd++) {
        char path[64], target[4096] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "chunk/0.zr"))
            file = fd;
    }
    ck_assert_int_ne(file, -1);
    taken = dup2(writable, file);
    ck_assert_int_eq(taken, file);
    ck_assert_int_eq(read_range("chunk/0.zr", 100, 10), LX_ERR_IO);
    ck_assert_int_eq(error.errnum, EBADF);
    ck_assert_int_eq(answer.retry, LX__RETRY_LATER);
    ck_assert_str_eq(error.path, "set/chunk/0.zr");
    ck_assert_uint_eq(error.offset, 100);
    ck_assert_str_eq(error.message, "cannot read 10 bytes");
    unit_ok(read_range("chunk/0.zr", 100, 10)); /* it was opened again */
    close(writable);
    tear_down();
}
END_TEST

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

START_TEST(keeps_a_few_files_open)
{
    set_up();
    unsigned before = count_descriptors(), most = 0;
    for (int i = 0; i < 200; i++) {
        char name[32], path[64];
        snprintf(name, sizeof name, "chunk/%d.zr", i % 20);
        snprintf(path, sizeof path, "set/%s", name);
        if (i < 20)
            write_file(path, 10 + (size_t)i, (char)('a' + i));
        unit_ok(read_range(name, 0, 100));
        ck_assert_uint_eq(answer.got, 10 + (size_t)i % 20);
        ck_assert_int_eq(data[0], 'a' + i % 20);
        unit_ok(read_range("chunk/0.zr", 0, 1)); /* is used most, and stays open */
        most = count_descriptors() > most ? count_descriptors() : most;
    }
    ck_assert_uint_le(most, before + 9); /* 8 files, and the dataset's directory */
    ck_assert_int_eq(unlink("set/chunk/0.zr"), 0);
    unit_ok(read_range("chunk/0.zr", 0, 1));
    tear_down();
}
END_TEST

START_TEST(nothing_is_read_after_an_interruption)
{
    set_up();
    transport->class->interrupt(transport);
    fails_for_good("chunk/0.zr", LX_ERR_CANCELED);
    tear_down();
}
END_TEST

START_TEST(opening_a_missing_directory_fails)
{
    lx__transport *none = (lx__transport *)&error;
    scratch = scratch_make();
    unit_fails(lx__transport_file_open("missing", &none, &error), LX_ERR_NOT_FOUND);
    ck_assert_ptr_null(none);
    write_file("file", 1, 'f');
    unit_fails(lx__transport_file_open("file", &none, &error), LX_ERR_NOT_FOUND);
    ck_assert_int_eq(mkdir("real", 0777), 0);
    ck_assert_int_eq(symlink("real", "link"), 0); /* the user gave this name */
    unit_ok(lx__transport_file_open("link", &none, &error));
    none->class->close(none);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/transport/transport-file", reads_ranges, a_short_file_gives_a_short_range,
          a_file_may_grow_and_be_truncated, a_range_and_the_length_agree_while_the_file_changes,
          what_is_no_file_is_refused, a_refused_file_is_not_tried_again,
          an_outage_is_tried_again_and_is_no_damage, keeps_a_few_files_open,
          nothing_is_read_after_an_interruption, opening_a_missing_directory_fails)
