/* SPDX-License-Identifier: MIT */
/* Files of the cache that threads and processes share: claims, fork(), and a full disk. */
#include "cache-files.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/uio.h>

#define THREADS 4

static void *use_pages(void *user)
{
    lx__cache_file *file = user;
    uint8_t page[PAGE];
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t first = i * 3 % (PAGES - 8);
        (void)lx__cache_file_store(file, first, content + first * PAGE, 2 * PAGE, NULL);
        if (count_present(file, first, 2) != 2 ||
            lx__cache_file_read(file, page, PAGE, (first + 1) * PAGE, NULL) != LX_OK ||
            memcmp(page, content + (first + 1) * PAGE, PAGE) != 0)
            return file;
        (void)count_present(file, first, 8);
    }
    return NULL;
}

START_TEST(threads_share_a_file)
{
    char *scratch = begin();
    pthread_t threads[THREADS];
    void *failed;
    lx__cache_file *file = open_file(1, SIZE);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_pages, file), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

static bool claim(lx__cache_file *file, uint64_t first, uint64_t count)
{
    return lx__cache_file_claim(file, (lx__pages){first, count});
}

START_TEST(claims_exclude_other_processes_and_end_with_them)
{
    char *scratch = begin();
    lx__cache_file *file = open_file(1, SIZE);
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(UNIT_CHILD_TIMEOUT);
        lx__cache_file_take_over(file);
        bool claimed = claim(file, 510, 4) && claim(file, 600, 1);
        lx__cache_file_unclaim(file, (lx__pages){600, 1});
        if (claimed && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert(!claim(file, 510, 1) && !claim(file, 513, 1) && !claim(file, 500, 100));
    ck_assert(claim(file, 509, 1) && claim(file, 514, 1) && claim(file, 600, 1));
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(claim(file, 510, 4));
    lx__cache_file *other = open_file(1, SIZE);
    ck_assert(!claim(other, 511, 1));
    lx__cache_file_unclaim(file, (lx__pages){511, 1});
    ck_assert(claim(other, 511, 1) && !claim(other, 510, 1));
    ck_assert(claim(other, 510, 0)); /* nothing */
    lx__cache_file_unclaim(file, (lx__pages){0, 0});
    ck_assert(!claim(other, 510, 1));
    lx__cache_file_close(other);
    lx__cache_file_close(file);
    close(ready[0]);
    close(ready[1]);
    end(scratch);
}
END_TEST

START_TEST(a_child_has_its_own_claims)
{
    char *scratch = begin();
    lx__cache_file *file = open_file(1, SIZE);
    store(file, 7, 1);
    ck_assert(claim(file, 0, 1));
    if (unit_in_child()) {
        if (chdir("/") != 0)
            _exit(1);
        lx__cache_file_take_over(file);
        if (claim(file, 0, 1) || !claim(file, 1, 1) || count_present(file, 7, 1) != 1)
            _exit(2);
        lx__cache_file_unclaim(file, (lx__pages){0, 100});
        if (lx__cache_file_store(file, 1, content, PAGE, NULL) != LX_OK)
            _exit(3);
        _exit(0);
    }
    ck_assert_uint_eq(count_present(file, 1, 1), 1);
    lx__cache_file *other = open_file(1, SIZE);
    ck_assert(!claim(other, 0, 1)); /* the child has not ended it */
    lx__cache_file_close(other);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

START_TEST(a_child_does_without_a_file_that_was_removed_or_replaced)
{
    char *scratch = begin();
    for (int replaced = 0; replaced < 2; replaced++) {
        lx__cache_file *file = open_file(1, SIZE);
        store(file, 0, 3);
        ck_assert_int_eq(unlink("file"), 0);
        if (replaced)
            lx__cache_file_close(open_file(1, SIZE));
        if (unit_in_child()) {
            lx__cache_file_take_over(file);
            lx__cache_file_take_over(file); /* as a child of the child does */
            if (count_present(file, 0, 3) != 0 || !claim(file, 0, 1))
                _exit(1);
            if (lx__cache_file_store(file, 0, content, PAGE, NULL) != LX_ERR_IO)
                _exit(2);
            lx__cache_file_unclaim(file, (lx__pages){0, 1});
            lx__cache_file_drop(file, (lx__pages){0, 1});
            lx__cache_file_close(file);
            _exit(0);
        }
        lx__cache_file_close(file);
    }
    end(scratch);
}
END_TEST

/* ---- a full disk */

static off_t bad_offset = -1; /* Writes there fail. */

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (offset == bad_offset) {
        errno = EIO;
        return -1;
    }
    const struct iovec from = {(void *)(uintptr_t)data, size};
    return pwritev(fd, &from, 1, offset);
}

START_TEST(a_failed_entry_makes_all_pages_absent)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file = open_file(1, SIZE);
    bad_offset = (off_t)entry_at(GROUP);
    unit_fails(lx__cache_file_store(file, 500, content + 500 * PAGE, 30 * PAGE, &error), LX_ERR_IO);
    bad_offset = -1;
    lx__cache_file *other = open_file(1, SIZE);
    for (uint64_t page = 500; page < 530; page++) {
        ck_assert_uint_eq(count_present(file, page, 1), 0);
        ck_assert_uint_eq(count_present(other, page, 1), 0);
    }
    lx__cache_file_close(other);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(what_does_not_fit_on_the_disk_stays_absent)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file = open_file(1, SIZE);
    store(file, 0, 4);
    /* In the pages of the first group, in the entries of the second, and in its pages. */
    static const uint64_t ends[] = {9 * 4096 + 5, 513 * 4096 + 3, 515 * 4096};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        limit_files(ends[i]);
        lx_status status = lx__cache_file_store(file, 4, content + 4 * PAGE, 600 * PAGE, &error);
        limit_files(RLIM_INFINITY);
        ck_assert_int_eq(status, LX_ERR_IO);
        ck_assert_int_eq(error.errnum, EFBIG);
        lx_error_clear(&error);
        for (uint64_t page = 4; page < 604; page++)
            ck_assert_uint_eq(count_present(file, page, 1), 0);
        ck_assert_uint_eq(count_present(file, 0, 600), 4);
        expect_content(file, 0, 4);
    }
    store(file, 4, 600);
    ck_assert_uint_eq(count_present(file, 0, PAGES), 604);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

UNIT_MAIN("remote/cache/cache-file-shared", threads_share_a_file,
          claims_exclude_other_processes_and_end_with_them, a_child_has_its_own_claims,
          a_child_does_without_a_file_that_was_removed_or_replaced,
          a_failed_entry_makes_all_pages_absent, what_does_not_fit_on_the_disk_stays_absent)
