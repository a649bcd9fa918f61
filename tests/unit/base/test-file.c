/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/error.h"

START_TEST(reads_back_the_bytes_written)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file directory, file;
    unit_ok(lx__directory_make(LX__CWD, "d", &error));
    unit_ok(lx__directory_open(&directory, LX__CWD, "d", &error));
    unit_ok(lx__file_open(&file, &directory, "f", O_RDWR | O_CREAT | O_EXCL, &error));
    ck_assert_str_eq(file.path, "d/f");
    unit_ok(lx__file_write(&file, "hello world", 11, 5, &error));
    unit_ok(lx__file_sync_data(&file, &error));
    unit_ok(lx__file_sync(&directory, &error));

    char back[16];
    uint64_t size;
    size_t got;
    unit_ok(lx__file_size(&file, &size, &error));
    ck_assert_uint_eq(size, 16);
    unit_ok(lx__file_read(&file, back, 11, 5, &error));
    ck_assert_mem_eq(back, "hello world", 11);
    unit_ok(lx__file_read_some(&file, back, 16, 10, &got, &error));
    ck_assert_uint_eq(got, 6);
    unit_ok(lx__file_truncate(&file, 8, &error));
    unit_fails(lx__file_read(&file, back, 11, 5, &error), LX_ERR_CORRUPT);

    unit_ok(lx__file_rename(&directory, "f", "g", &error));
    unit_ok(lx__file_remove(&directory, "g", &error));
    unit_ok(lx__file_remove(&directory, "g", &error));
    lx__file_close(&file);
    lx__file_close(&file);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_than_regular_files)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file here, file;
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    ck_assert_int_eq(symlink("target", "link"), 0);
    ck_assert_int_eq(symlink(".", "up"), 0);
    ck_assert_int_eq(mkdir("directory", 0700), 0);
    unit_fails(lx__file_open(&file, &here, "fifo", O_RDONLY, &error), LX_ERR_CORRUPT);
    unit_fails(lx__file_open(&file, &here, "link", O_RDONLY, &error), LX_ERR_CORRUPT);
    unit_fails(lx__file_open(&file, &here, "directory", O_RDONLY, &error), LX_ERR_CORRUPT);
    unit_fails(lx__file_open(&file, &here, "none", O_RDONLY, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx__directory_open(&file, &here, "up", &error), LX_ERR_CORRUPT);
    ck_assert(lx__file_is_link(&here, "up") && lx__file_is_link(&here, "link"));
    ck_assert(!lx__file_is_link(&here, "directory") && !lx__file_is_link(&here, "none"));
    static const char *const names[] = {"directory", "up", "fifo", "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_directory;
        unit_ok(lx__file_is_directory(&here, names[i], &is_directory, &error));
        ck_assert_int_eq(is_directory, i == 0);
        unit_ok(lx__file_leads_to_directory(&here, names[i], &is_directory, &error));
        ck_assert_int_eq(is_directory, i <= 1);
    }
    unit_fails(lx__directory_open(&file, &here, "none", &error), LX_ERR_NOT_FOUND);
    unit_fails(lx__directory_make(&here, "directory", &error), LX_ERR_EXISTS);
    ck_assert_int_eq(file.fd, -1);

    /* A link that the user typed is followed. */
    unit_ok(lx__file_open(&file, &here, "target", O_RDWR | O_CREAT | O_EXCL, &error));
    lx__file_close(&file);
    unit_fails(lx__file_open(&file, &here, "target", O_RDWR | O_CREAT | O_EXCL, &error),
               LX_ERR_EXISTS);
    unit_ok(lx__file_open(&file, LX__CWD, "link", O_RDONLY, &error));
    lx__file_close(&file);
    lx__file_close(&here);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_file_over_the_limit)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    char *text;
    size_t size;
    unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&file, "0123456789", 10, 0, &error));
    unit_fails(lx__file_read_all(&file, 9, &text, &size, &error), LX_ERR_LIMIT);
    unit_ok(lx__file_read_all(&file, 10, &text, &size, &error));
    ck_assert_uint_eq(size, 10);
    ck_assert_str_eq(text, "0123456789");
    lx__free(text);
    unit_ok(lx__file_truncate(&file, 1ull << 40, &error));
    unit_fails(lx__file_read_all(&file, 1 << 20, &text, &size, &error), LX_ERR_LIMIT);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_write_names_file_offset_and_errno)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    char data[4096] = {0};
    unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDWR | O_CREAT, &error));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1000, 1000};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(lx__file_write(&file, data, sizeof data, 0, &error), LX_ERR_IO);
    ck_assert_int_eq(error.errnum, EFBIG);
    ck_assert_str_eq(error.path, "f");
    ck_assert_uint_eq(error.offset, 1000);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

START_TEST(locks_exclude_other_handles)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file a, b;
    unit_ok(lx__file_open(&a, LX__CWD, "lock", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_open(&b, LX__CWD, "lock", O_RDWR, &error));
    unit_ok(lx__file_lock(&a, true, 0, 1, &error));
    unit_fails(lx__file_lock(&b, true, 0, 1, &error), LX_ERR_BUSY);
    unit_fails(lx__file_lock(&b, false, 0, 1, &error), LX_ERR_BUSY);
    unit_ok(lx__file_lock(&b, false, 8192, 1, &error));
    unit_ok(lx__file_lock(&a, false, 8192, 1, &error));
    lx__file_close(&a);
    unit_ok(lx__file_lock(&b, true, 0, 1, &error));
    lx__file_close(&b);
    scratch_remove(scratch);
}
END_TEST

struct walk {
    size_t seen;
    const char *stop_at; /**< NULL: no link. */
};

static lx_status count_names(void *user, const char *name, lx_error *error)
{
    struct walk *self = user;
    self->seen++;
    if (self->stop_at != NULL && strcmp(name, self->stop_at) == 0)
        return lx_fail(error, LX_ERR_EXISTS, "stopped at %s", name);
    return LX_OK;
}

START_TEST(directories_are_walked_and_removed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file here, file;
    struct walk walk = {0};
    unit_ok(lx__directory_make(LX__CWD, "d", &error));
    unit_ok(lx__directory_open(&here, LX__CWD, "d", &error));
    unit_ok(lx__directory_each(&here, count_names, &walk, &error));
    ck_assert_uint_eq(walk.seen, 0);
    unit_ok(lx__directory_make(&here, "inner", &error));
    for (char name[] = "f0"; name[1] <= '9'; name[1]++) {
        unit_ok(lx__file_open(&file, &here, name, O_RDWR | O_CREAT, &error));
        lx__file_close(&file);
    }
    unit_ok(lx__directory_each(&here, count_names, &walk, &error));
    ck_assert_uint_eq(walk.seen, 11);
    walk = (struct walk){.stop_at = "inner"};
    unit_fails(lx__directory_each(&here, count_names, &walk, &error), LX_ERR_EXISTS);
    ck_assert_uint_le(walk.seen, 11);
    ck_assert_int_ne(lx__directory_remove(LX__CWD, "d", NULL), LX_OK); /* it is not empty */
    unit_ok(lx__directory_remove(&here, "inner", &error));
    unit_ok(lx__directory_remove(&here, "inner", &error));
    lx__file_close(&here);
    scratch_remove(scratch);
}
END_TEST

/* Entries that readdir() returns before it fails; below 0: it never fails. */
static int entries_left = -1;

struct dirent *readdir(DIR *list)
{
    static struct dirent *(*real)(DIR *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "readdir");
    if (entries_left == 0) {
        errno = EIO;
        return NULL;
    }
    entries_left -= entries_left > 0;
    return real(list);
}

START_TEST(a_private_directory_is_the_users_alone)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct stat about;
    umask(0);
    unit_ok(lx__directory_make_private(LX__CWD, "d", &error));
    ck_assert_int_eq(stat("d", &about), 0);
    ck_assert_uint_eq(about.st_mode & 07777, 0700);
    unit_fails(lx__directory_make_private(LX__CWD, "d", &error), LX_ERR_EXISTS);
    unit_fails(lx__directory_make_private(LX__CWD, "none/d", &error), LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_an_interrupted_listing)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file here, file;
    struct walk walk = {0};
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    unit_ok(lx__file_open(&file, &here, "f", O_RDWR | O_CREAT, &error));
    lx__file_close(&file);
    for (int left = 0; left <= 3; left++) {
        entries_left = left;
        unit_fails(lx__directory_each(&here, count_names, &walk, &error), LX_ERR_IO);
    }
    entries_left = -1;
    unit_ok(lx__directory_each(&here, count_names, &walk, &error));
    lx__file_close(&here);
    scratch_remove(scratch);
}
END_TEST

START_TEST(only_regular_files_pass)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool regular;
    lx__file here;
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    ck_assert_int_eq(close(open("file", O_WRONLY | O_CREAT, 0666)), 0);
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    ck_assert_int_eq(symlink("file", "link"), 0);
    static const char *const names[] = {"file", "folder", "pipe", "link", "nothing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unit_ok(lx__file_is_regular(&here, names[i], &regular, &error));
        ck_assert(regular == (i == 0));
    }
    unit_fails(lx__file_is_regular(&here, "file/below", &regular, &error), LX_ERR_IO);
    ck_assert(!regular);
    lx__file_close(&here);
    scratch_remove(scratch);
}
END_TEST

/* The end of the range of the last posix_fadvise(). */
static uint64_t asked_to;
static bool is_refused;

int posix_fadvise(int fd, off_t offset, off_t size, int advice)
{
    (void)fd;
    ck_assert_int_eq(advice, POSIX_FADV_WILLNEED);
    ck_assert_int_gt(size, 0); /* 0 would mean everything up to the end */
    ck_assert_uint_eq((uint64_t)offset, asked_to);
    asked_to += (uint64_t)size;
    return is_refused ? EBADF : 0;
}

static void ask(const lx__file *file, uint64_t offset, uint64_t size)
{
    asked_to = offset;
    lx__file_will_need(file, offset, size);
    ck_assert_uint_eq(asked_to, offset + size);
}

START_TEST(prefetches_each_range_once)
{
    static const uint64_t sizes[] = {0, 1, 4096, 100000, 1 << 20, (3 << 20) + 1};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&file, "text", 4, 0, &error));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ask(&file, 0, sizes[i]); /* the file may end before */
        ask(&file, 12345, sizes[i]);
        ask(&file, (uint64_t)1 << 40, sizes[i]);
    }
    is_refused = true; /* the call is only advice, so the rest is still made */
    ask(&file, 1, 9999999);
    uint64_t size;
    unit_ok(lx__file_size(&file, &size, &error));
    ck_assert_uint_eq(size, 4);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

struct opener {
    atomic_int fd; /* -1 while the file is closed */
    atomic_bool stop;
};

static void *open_for_ever(void *user)
{
    struct opener *self = user;
    lx__file file;
    while (!atomic_load(&self->stop)) {
        ck_assert_int_eq(lx__file_open(&file, LX__CWD, "f", O_RDONLY, NULL), LX_OK);
        atomic_store(&self->fd, file.fd);
        sched_yield();
        atomic_store(&self->fd, -1);
        lx__file_close(&file);
    }
    return NULL;
}

START_TEST(a_child_has_every_file_that_is_open_in_its_memory)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct opener openers[3] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
    lx__file file;
    pthread_t threads[3];
    unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDWR | O_CREAT, &error));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_for_ever, &openers[i]), 0);
    for (int i = 0; i < 500; i++)
        if (unit_in_child()) {
            bool right = true;
            for (int k = 0; k < 3; k++) {
                int fd = atomic_load(&openers[k].fd);
                right = right && (fd == -1 || fcntl(fd, F_GETFD) != -1);
            }
            _exit(right ? 0 : 1);
        }
    for (int i = 0; i < 3; i++) {
        atomic_store(&openers[i].stop, true);
        pthread_join(threads[i], NULL);
    }
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("base/file", reads_back_the_bytes_written, rejects_other_than_regular_files,
          rejects_a_file_over_the_limit, a_failed_write_names_file_offset_and_errno,
          locks_exclude_other_handles, directories_are_walked_and_removed,
          a_private_directory_is_the_users_alone, reports_an_interrupted_listing,
          only_regular_files_pass, prefetches_each_range_once,
          a_child_has_every_file_that_is_open_in_its_memory)
