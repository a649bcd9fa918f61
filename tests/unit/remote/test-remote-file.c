/* SPDX-License-Identifier: MIT */
/* Files of a dataset elsewhere, read from a fake server that fails as the test wants. */
#include "remote/remote-read.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "remote/remote-provider.h"

#include "../scratch.h"
#include "../unit.h"
#include "queue/fake-transport.h"

#define PAGE ((size_t)LX__PAGE_BYTES)
#define UUID "00000000-1111-4222-8333-444444444444"
#define CHUNK "chunk/0.zr"
#define TABLE "image.offsets"

/* Whether the disk of the cache cannot be written, nor read except for entries of the first pages
 * of a cache file. These functions of the test program replace the C library's. */
static atomic_bool disk_fails;

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    if (atomic_load(&disk_fails) && offset >= (off_t)PAGE) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (atomic_load(&disk_fails)) {
        errno = EROFS;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, size, offset);
}

/* ---- a server */

/** How the server answers. */
struct server {
    uint64_t total;   /* the length that it tells */
    size_t got;       /* how many bytes it sends; SIZE_MAX: all */
    unsigned failing; /* one attempt of so many fails; 0: none */
    bool lacks_file;
    atomic_bool *hangs; /* it does not answer as long as this is set */
};

static lx_status serve(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                       lx_error *error)
{
    const struct server *server = fake->user;
    (void)offset;
    while (server->hangs != NULL && atomic_load(server->hangs))
        if (!fake_sleep(fake, MILLISECOND))
            return lx_fail(error, LX_ERR_CANCELED, "interrupted");
    if (server->lacks_file)
        return lx_fail(error, LX_ERR_NOT_FOUND, "no such file");
    answer->total = server->total;
    if (server->got < answer->got)
        answer->got = server->got;
    if (server->failing != 0 && number % server->failing == 0)
        return lx_fail(error, LX_ERR_IO, "the network is down");
    return LX_OK;
}

static lx__place *open_place(struct server *server, const char *name, uint64_t cache_limit)
{
    lx_error error = LX_ERROR_INIT;
    lx__place *place;
    lx__cache *cache;
    struct fake *fake = fake_new(serve, server);
    const lx__request_limits limits = {4, 0};
    fake->name = name;
    unit_ok(lx__place_new(&fake->base, &limits, PAGE, &place, &error));
    if (cache_limit != 0) {
        unit_ok(lx__cache_open("cache", cache_limit, &cache, &error));
        unit_ok(lx__cache_use(cache, UUID, "fake://bucket/set", 0, &error));
        lx__place_set_cache(place, cache, 7);
    }
    return place;
}

static lx__remote_file *open_file(lx__place *place, const char *name, uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx__remote_file *file;
    unit_ok(lx__place_find_file(place, name, &file, &error));
    lx__remote_file_use(file);
    if (size != LX_NONE)
        unit_ok(lx__remote_file_expect_size(file, size, true, &error));
    return file;
}

/** Reads a range and compares it with what the file has; may fail if @p failure is not LX_OK. */
static lx_status read_range(lx__remote_file *file, size_t size, uint64_t offset, uint64_t whole,
                            lx_status failure)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *data = malloc(size + 1);
    size_t got = SIZE_MAX, right = 0;
    if (offset < whole)
        right = whole - offset < size ? (size_t)(whole - offset) : size;
    lx_status status = lx__remote_file_read(file, data, size, offset, &got, &error);
    ck_assert_msg(status == LX_OK || status == failure, "%s", error.message);
    ck_assert_uint_eq(got, status == LX_OK ? right : 0);
    for (size_t i = 0; i < got; i++)
        ck_assert_msg(data[i] == fake_byte(offset + i), "byte %zu of %zu is wrong", i, got);
    free(data);
    return status;
}

/** Changes the working directory to an empty one; returns its name for leave(). */
static char *enter(void)
{
    char *scratch = scratch_make();
    ck_assert_int_eq(chdir(scratch), 0);
    return scratch;
}

static void leave(char *scratch)
{
    ck_assert_int_eq(chdir(".."), 0);
    scratch_remove(scratch);
}

/* ---- all bytes are right */

struct reader {
    pthread_t thread;
    lx__remote_file *file;
    uint64_t size, state;
    bool fails;
};

static void *use_randomly(void *argument)
{
    struct reader *self = argument;
    for (int i = 0; i < 60; i++) {
        uint64_t offset = random_next(&self->state) % (self->size + 2 * PAGE);
        uint64_t most = random_next(&self->state) % 4 == 0 ? 100 * PAGE : 3 * PAGE;
        uint64_t size = random_next(&self->state) % most, action = random_next(&self->state) % 8;
        if (action == 0)
            lx__remote_file_will_need(self->file, offset, size);
        else if (action == 1)
            (void)lx__remote_file_is_absent(self->file, offset);
        else if (action == 2) /* as long a range as that of a meta.json */
            lx__remote_file_renew(self->file, offset, size != 1 ? size : (uint64_t)64 << 20);
        else
            read_range(self->file, (size_t)size, offset, self->size,
                       self->fails ? LX_ERR_IO : LX_OK);
    }
    return NULL;
}

/** Reads through two places that share a cache, by two threads each. */
static void use_by_threads(const char *name, uint64_t size, uint64_t limit, unsigned failing)
{
    char *scratch = enter();
    struct server server = {.total = size, .got = SIZE_MAX, .failing = failing};
    struct reader readers[4];
    lx__place *places[2];
    for (size_t i = 0; i < 4; i++) {
        if (i % 2 == 0)
            places[i / 2] = open_place(&server, name, limit);
        readers[i] = (struct reader){.file = open_file(places[i / 2], name, size),
                                     .size = size,
                                     .state = size + i,
                                     .fails = failing != 0};
    }
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, use_randomly, &readers[i]), 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(readers[i].thread, NULL), 0);
    lx__place_unref(places[0]);
    lx__place_unref(places[1]);
    leave(scratch);
}

START_TEST(threads_read_the_right_bytes)
{
    const uint64_t sizes[] = {1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 300 * PAGE + 17};
    const uint64_t limits[] = {0, 2 * PAGE, LX_NONE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t limit = 0; limit < 3; limit++)
            for (unsigned failing = 0; failing < 6; failing += 5) {
                use_by_threads(CHUNK, sizes[i], limits[limit], failing);
                use_by_threads(TABLE, sizes[i], limits[limit], failing);
            }
}
END_TEST

/* ---- lengths */

START_TEST(learns_the_length)
{
    const uint64_t sizes[] = {0, 1, PAGE, 64 * PAGE - 1, 64 * PAGE, 64 * PAGE + 1, 200 * PAGE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct server server = {.total = sizes[i], .got = sizes[i]};
        lx__place *place = open_place(&server, "LOG", 0);
        lx__remote_file *file = open_file(place, "LOG", LX_NONE);
        read_range(file, 300 * PAGE, 0, sizes[i], LX_OK);
        read_range(file, PAGE, sizes[i], sizes[i], LX_OK);
        read_range(file, PAGE, UINT64_MAX - 1, sizes[i], LX_OK);
        lx__place_unref(place);
    }
}
END_TEST

/** Expects a read of a file of length @p size (LX_NONE: unknown) to fail. */
static void expect_failure(struct server server, uint64_t size, lx_status status)
{
    lx__place *place = open_place(&server, CHUNK, 0);
    lx__remote_file *file = open_file(place, CHUNK, size);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(read_range(file, 2 * PAGE, 0, 0, status), status);
    lx__place_unref(place);
}

START_TEST(wrong_lengths_are_damage)
{
    expect_failure((struct server){.total = 3 * PAGE - 1, .got = SIZE_MAX}, 3 * PAGE,
                   LX_ERR_CORRUPT);
    expect_failure((struct server){.total = 3 * PAGE + 1, .got = SIZE_MAX}, 3 * PAGE,
                   LX_ERR_CORRUPT);
}
END_TEST

START_TEST(answers_that_are_cut_short_are_not_damage)
{
    expect_failure((struct server){.total = 3 * PAGE, .got = 100}, 3 * PAGE, LX_ERR_IO);
    expect_failure((struct server){.total = 3 * PAGE, .got = 0}, 3 * PAGE, LX_ERR_IO);
    expect_failure((struct server){.total = LX_NONE, .got = 100}, 3 * PAGE, LX_ERR_IO);
    expect_failure((struct server){.total = 3 * PAGE, .got = 100}, LX_NONE, LX_ERR_IO);
    expect_failure((struct server){.total = LX_NONE, .got = 100}, LX_NONE, LX_ERR_IO);
    expect_failure((struct server){.total = 3 * PAGE, .got = SIZE_MAX}, LX_NONE, LX_ERR_IO);
    expect_failure((struct server){.total = LX_NONE, .got = SIZE_MAX}, LX_NONE, LX_ERR_IO);
}
END_TEST

START_TEST(huge_lengths_are_an_error)
{
    lx_error error = LX_ERROR_INIT;
    struct server server = {.total = UINT64_MAX - 1, .got = SIZE_MAX};
    lx__place *place = open_place(&server, TABLE, 0);
    lx__remote_file *file = open_file(place, TABLE, LX_NONE);
    ck_assert_int_eq(read_range(file, PAGE, 0, 0, LX_ERR_NOMEM), LX_ERR_NOMEM);
    lx__place_unref(place);
    server.total = server.got = 3 * PAGE;
    place = open_place(&server, TABLE, 0);
    file = open_file(place, TABLE, LX_NONE);
    unit_fails(lx__remote_file_expect_size(file, (uint64_t)1 << 62, false, &error), LX_ERR_CORRUPT);
    lx__place_unref(place);
}
END_TEST

START_TEST(missing_files_are_damage)
{
    const uint64_t lengths[] = {PAGE, (uint64_t)1 << 50}; /* the second one must be confirmed */
    for (int i = 0; i < 2; i++) {
        lx_error error = LX_ERROR_INIT;
        struct server server = {.lacks_file = true};
        lx__place *place = open_place(&server, CHUNK, 0);
        lx__file directory, chunks, file;
        uint8_t byte;
        unit_ok(lx__remote_directory_open(place, &directory, &error));
        unit_ok(lx__directory_open(&chunks, &directory, "chunk", &error));
        unit_ok(lx__file_open(&file, &chunks, "0.zr", O_RDONLY, &error));
        if (i == 0) {
            unit_ok(lx__file_expect_size(&file, lengths[i], false, &error));
            unit_fails(lx__file_read(&file, &byte, 1, 0, &error), LX_ERR_CORRUPT);
        } else {
            unit_fails(lx__file_expect_size(&file, lengths[i], false, &error), LX_ERR_CORRUPT);
        }
        lx__file_close(&file);
        lx__file_close(&chunks);
        lx__file_close(&directory);
        lx__place_unref(place);
    }
}
END_TEST

/* ---- the cache */

START_TEST(failures_return_what_they_reserved)
{
    char *scratch = enter();
    struct server server = {.total = PAGE, .got = SIZE_MAX, .failing = 1};
    lx__place *place = open_place(&server, CHUNK, PAGE);
    lx__remote_file *file = open_file(place, CHUNK, PAGE);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(read_range(file, PAGE, 0, PAGE, LX_ERR_IO), LX_ERR_IO);
    server.failing = 0;
    read_range(file, PAGE, 0, PAGE, LX_OK);
    ck_assert_uint_eq(atomic_load(&place->counts.stored_bytes), PAGE);
    lx__place_unref(place);
    leave(scratch);
}
END_TEST

START_TEST(does_without_a_cache_whose_disk_fails)
{
    char *scratch = enter();
    struct server server = {.total = 200 * PAGE, .got = SIZE_MAX};
    const char *names[] = {CHUNK, TABLE};
    for (int i = 0; i < 2; i++) {
        lx__place *place = open_place(&server, names[i], LX_NONE);
        lx__remote_file *file = open_file(place, names[i], server.total);
        read_range(file, 200 * PAGE, 0, server.total, LX_OK);
        atomic_store(&disk_fails, true);
        for (int j = 0; j < 3; j++)
            read_range(file, 10 * PAGE, 5 * PAGE, server.total, LX_OK);
        atomic_store(&disk_fails, false);
        lx__place_unref(place);
    }
    leave(scratch);
}
END_TEST

/** Waits until a file has no users: the thread that fetched for it may not have ended the fetch. */
static void wait_until_idle(lx__remote_file *file)
{
    bool is_idle = false;
    while (!is_idle) {
        pthread_mutex_lock(&file->place->mutex);
        is_idle = file->users == 0;
        pthread_mutex_unlock(&file->place->mutex);
    }
}

START_TEST(most_idle_files_are_closed)
{
    char *scratch = enter();
    struct server server = {.total = 3 * PAGE, .got = SIZE_MAX};
    lx__place *place = open_place(&server, CHUNK, LX_NONE);
    lx__remote_file *file = open_file(place, CHUNK, server.total);
    for (size_t most = 0; most < 2; most++)
        for (int i = 0; i < 3; i++) {
            place->idle_max = most;
            read_range(file, 3 * PAGE, 0, server.total, LX_OK);
            ck_assert_ptr_nonnull(atomic_load(&file->cached));
            lx__remote_file_leave(file);
            wait_until_idle(file);
            ck_assert_uint_eq(place->idle_count, most);
            ck_assert_int_eq(atomic_load(&file->cached) != NULL, most);
            lx__remote_file_use(file);
        }
    ck_assert_uint_eq(queue_counts(place->queue).requests, 1);
    lx__place_unref(place);
    leave(scratch);
}
END_TEST

/* ---- waiting */

static void *read_interruptibly(void *argument)
{
    lx_error error = LX_ERROR_INIT;
    struct reader *self = argument;
    static const atomic_bool interrupted = true;
    uint8_t byte;
    size_t got;
    lx__interrupt_by(&interrupted);
    unit_fails(lx__remote_file_read(self->file, &byte, 1, 0, &got, &error), LX_ERR_CANCELED);
    lx__interrupt_by(NULL);
    return NULL;
}

static void *read_patiently(void *argument)
{
    struct reader *self = argument;
    read_range(self->file, PAGE, 0, self->size, LX_OK);
    return NULL;
}

START_TEST(readers_that_leave_do_not_disturb_others)
{
    atomic_bool hangs = true;
    struct server server = {.total = PAGE, .got = SIZE_MAX, .hangs = &hangs};
    lx__place *place = open_place(&server, CHUNK, 0);
    struct reader readers[6];
    for (int i = 0; i < 6; i++) {
        readers[i] = (struct reader){.file = open_file(place, CHUNK, PAGE), .size = PAGE};
        ck_assert_int_eq(pthread_create(&readers[i].thread, NULL,
                                        i % 2 == 0 ? read_interruptibly : read_patiently,
                                        &readers[i]),
                         0);
    }
    for (int i = 0; i < 6; i += 2)
        ck_assert_int_eq(pthread_join(readers[i].thread, NULL), 0);
    atomic_store(&hangs, false);
    for (int i = 1; i < 6; i += 2)
        ck_assert_int_eq(pthread_join(readers[i].thread, NULL), 0);
    ck_assert_uint_eq(queue_counts(place->queue).requests, 1);
    lx__place_unref(place);
}
END_TEST

/* ---- fork() */

static atomic_bool enough;

static void *read_until_enough(void *argument)
{
    struct reader *self = argument;
    lx_remote_stats stats;
    while (!atomic_load(&enough)) {
        read_range(self->file, PAGE, random_next(&self->state) % self->size, self->size, LX_OK);
        lx__place_get_stats(self->file->place, &stats);
    }
    return NULL;
}

START_TEST(children_do_not_wait_for_locks_of_the_parent)
{
    if (THREAD_SANITIZED)
        return; /* its children cannot start threads */
    struct server server = {.total = 100 * PAGE, .got = SIZE_MAX};
    lx__place *place = open_place(&server, CHUNK, 0);
    struct reader reader = {.file = open_file(place, CHUNK, server.total), .size = server.total};
    lx_remote_stats stats;
    ck_assert_int_eq(pthread_create(&reader.thread, NULL, read_until_enough, &reader), 0);
    for (int i = 0; i < 50; i++)
        if (unit_in_child()) {
            uint8_t byte = 0;
            size_t got;
            lx__place_get_stats(place, &stats);
            lx_status status = lx__remote_file_read(reader.file, &byte, 1, 5, &got, NULL);
            lx__place_unref(place);
            _exit(status == LX_OK && byte == fake_byte(5) ? 0 : 1);
        }
    atomic_store(&enough, true);
    ck_assert_int_eq(pthread_join(reader.thread, NULL), 0);
    lx__place_unref(place);
}
END_TEST

UNIT_MAIN("remote/remote-file", threads_read_the_right_bytes, learns_the_length,
          wrong_lengths_are_damage, answers_that_are_cut_short_are_not_damage,
          huge_lengths_are_an_error, missing_files_are_damage, failures_return_what_they_reserved,
          does_without_a_cache_whose_disk_fails, most_idle_files_are_closed,
          readers_that_leave_do_not_disturb_others, children_do_not_wait_for_locks_of_the_parent)
