/* SPDX-License-Identifier: MIT */
/* The folders of a cache: listed, removed, used and removed at the same time, and kills. */
#include "remote/cache/cache-datasets.h"

#include <stdarg.h>
#include <sys/syscall.h>

#include "base/boot-id.h"

#include "caches.h"

static lx_status describe(void *user, const lx__cache_dataset *dataset, lx_error *error)
{
    char *text = user;
    (void)error;
    snprintf(text + strlen(text), 1000 - strlen(text), "%.8s %s %s %lld %d\n", dataset->uuid,
             dataset->url, dataset->bytes >= 100000 && dataset->bytes < 200000 ? "100k" : "0",
             (long long)dataset->last_use, dataset->in_use);
    return LX_OK;
}

static lx_status refuse(void *user, const lx__cache_dataset *dataset, lx_error *error)
{
    (void)user, (void)dataset;
    return lx_fail(error, LX_ERR_CANCELED, "enough");
}

START_TEST(lists_and_removes_datasets)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    char text[1000] = "", name[80];
    make_dataset(1, 100000, 3000);
    make_dataset(2, 100000, 1000);
    make_dataset(3, 100000, 2000);
    snprintf(name, sizeof name, "cache/%s/origin", uuid_of(2));
    make_file(name, "s3://\033[31mred");
    snprintf(name, sizeof name, "cache/%s/origin", uuid_of(3));
    ck_assert_int_eq(unlink(name), 0);
    lx__cache *cache = open_cache(LX_NONE);
    unit_ok(lx__cache_each(cache, describe, text, &error));
    ck_assert_str_eq(text, "00000002 s3://?[31mred 100k 1000 0\n"
                           "00000003  100k 2000 0\n"
                           "00000001 " URL " 100k 3000 0\n");
    unit_fails(lx__cache_each(cache, refuse, NULL, &error), LX_ERR_CANCELED);
    use_dataset(cache, 3);
    text[0] = '\0';
    unit_ok(lx__cache_each(cache, describe, text, &error));
    ck_assert_ptr_nonnull(strstr(text, "00000003 " URL " 100k"));
    ck_assert_str_eq(text + strlen(text) - 3, " 1\n"); /* it is the newest, and in use */
    uint64_t before = get_reserved();
    unit_fails(lx__cache_remove(cache, uuid_of(3), &error), LX_ERR_BUSY);
    unit_fails(lx__cache_remove(cache, uuid_of(9), &error), LX_ERR_NOT_FOUND);
    unit_fails(lx__cache_remove(cache, "../cache", &error), LX_ERR_ARGUMENT);
    unit_ok(lx__cache_remove(cache, uuid_of(1), &error));
    ck_assert(!has_dataset(1) && has_dataset(2) && has_dataset(3));
    ck_assert_uint_le(get_reserved(), before - 100000);
    unit_ok(lx__cache_trim(cache, 0, &error));
    ck_assert(!has_dataset(2) && has_dataset(3));
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_interrupted_removal_is_completed)
{
    char *scratch = scratch_make();
    char gone[80], name[80];
    make_dataset(1, 100000, 1);
    make_dataset(2, 100000, 1);
    snprintf(name, sizeof name, "cache/%s", uuid_of(1));
    snprintf(gone, sizeof gone, "cache/.gone-%s", uuid_of(1));
    ck_assert_int_eq(rename(name, gone), 0);
    for (int present = 0; present < 2; present++) {
        lx__cache *other = present ? open_cache(LX_NONE) : NULL;
        if (present)
            ck_assert_int_eq(rename(name, gone), 0);
        lx__cache *cache = open_cache(LX_NONE);
        ck_assert_int_eq(access(gone, F_OK), -1);
        ck_assert(has_dataset(2));
        ck_assert_uint_ge(get_reserved(), 100000);
        ck_assert_uint_lt(get_reserved(), 200000);
        lx__cache_close(cache);
        lx__cache_close(other);
        make_dataset(1, 100000, 1);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(foreign_folders_in_a_dataset_are_removed_as_far_as_they_are_flat)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_dataset(1, 5, 1);
    char name[120];
    lx__cache *cache = open_cache(LX_NONE);
    ck_assert_int_eq(mkdir("kept", 0700), 0);
    make_file("kept/file", "x");
    snprintf(name, sizeof name, "cache/%s/link", uuid_of(1));
    ck_assert_int_eq(symlink("../../kept", name), 0);
    unit_ok(lx__cache_remove(cache, uuid_of(1), &error));
    ck_assert_int_eq(access("kept/file", F_OK), 0);
    make_dataset(2, 5, 1);
    snprintf(name, sizeof name, "cache/%s", uuid_of(2));
    for (int i = 0; i < 6; i++) {
        strcat(name, "/d");
        ck_assert_int_eq(mkdir(name, 0700), 0);
    }
    unit_fails(lx__cache_remove(cache, uuid_of(2), &error), LX_ERR_STATE);
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

#define PROCESSES 4

START_TEST(processes_use_and_remove_a_dataset_at_the_same_time)
{
    char *scratch = scratch_make();
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            alarm(UNIT_CHILD_TIMEOUT);
            for (int round = 0; round < 100; round++) {
                lx__cache *cache;
                lx__cache_file *file;
                if (lx__cache_open("cache", LX_NONE, &cache, NULL) != LX_OK)
                    _exit(1);
                if (i == 0) {
                    (void)lx__cache_trim(cache, 0, NULL);
                } else if (lx__cache_use(cache, uuid_of(1), URL, 0, NULL) != LX_OK ||
                           !lx__cache_reserve(cache, 10) ||
                           lx__cache_open_file(cache, "chunk", "0.zr", 10, &file, NULL) != LX_OK) {
                    _exit(2);
                } else {
                    if (!has_dataset(1))
                        _exit(3); /* it was removed although it is in use */
                    lx__cache_file_close(file);
                }
                lx__cache_close(cache);
            }
            _exit(0);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 0);
    }
    lx__cache_close(open_cache(LX_NONE));
    scratch_remove(scratch);
}
END_TEST

static bool restless; /* The dataset is removed before it is locked for use. */

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (restless && command == F_OFD_SETLK && ((struct flock *)argument)->l_type == F_RDLCK) {
        char name[80], gone[80];
        restless = false;
        snprintf(name, sizeof name, "cache/%s", uuid_of(1));
        snprintf(gone, sizeof gone, "cache/.gone-%s", uuid_of(1));
        ck_assert_int_eq(rename(name, gone), 0);
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

START_TEST(a_dataset_that_is_removed_at_that_moment_is_made_again)
{
    char *scratch = scratch_make();
    make_dataset(1, 5, 1);
    lx__cache *cache = open_cache(LX_NONE);
    restless = true;
    use_dataset(cache, 1);
    ck_assert(!restless && has_dataset(1));
    fill(cache, "1.zr", 5);
    char name[80];
    snprintf(name, sizeof name, "cache/%s/chunk/1.zr", uuid_of(1));
    ck_assert_int_eq(access(name, F_OK), 0);
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

/** Stores pages that contain their numbers, and removes datasets, for ever. */
static void churn(unsigned number)
{
    uint8_t page[LX__PAGE_BYTES];
    for (uint64_t first = 0;; first++) {
        lx__cache *cache;
        lx__cache_file *file;
        if (lx__cache_open("cache", 40 * MIB, &cache, NULL) != LX_OK ||
            lx__cache_use(cache, uuid_of(number), URL, 0, NULL) != LX_OK ||
            lx__cache_open_file(cache, "chunk", "0.zr", MIB, &file, NULL) != LX_OK)
            _exit(1);
        for (uint64_t i = first % 256; i < 256; i++) {
            memset(page, (int)i, sizeof page);
            if (lx__cache_reserve(cache, sizeof page))
                (void)lx__cache_file_store(file, i, page, sizeof page, NULL);
        }
        lx__cache_file_close(file);
        (void)lx__cache_trim(cache, 0, NULL);
        lx__cache_close(cache);
    }
}

/** What the datasets occupy, as the system counts it. */
static uint64_t occupied;

static int add_file(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)place;
    if (type == FTW_F && strcmp(path, "cache/state") != 0)
        occupied += (uint64_t)about->st_blocks * 512;
    return 0;
}

START_TEST(processes_may_be_killed_at_any_time)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    srand(1);
    for (int round = 0; round < 30; round++) {
        pid_t children[PROCESSES];
        for (unsigned i = 0; i < PROCESSES; i++)
            if ((children[i] = fork()) == 0)
                churn(i % 2);
        usleep(5000 + (useconds_t)rand() % 20000);
        for (int i = 0; i < PROCESSES; i++) {
            int status;
            ck_assert_int_eq(kill(children[i], SIGKILL), 0);
            ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
            ck_assert(WIFSIGNALED(status));
        }
        /* In another boot, so that each page is verified. */
        lx__cache_close(open_cache(LX_NONE));
        exchange_content(&(lx__cache_content){.boot_id = ~lx__boot_id(), .boot = 9});
        lx__cache *cache = open_cache(LX_NONE);
        occupied = 0;
        ck_assert_int_eq(nftw("cache", add_file, 16, FTW_PHYS), 0);
        /* File systems may count the blocks of a file differently once they are written. */
        ck_assert_uint_le(get_reserved(), occupied + 65536);
        ck_assert_uint_ge(get_reserved() + 65536, occupied);
        use_dataset(cache, 0);
        lx__cache_file *file;
        unit_ok(lx__cache_open_file(cache, "chunk", "0.zr", MIB, &file, &error));
        for (uint64_t i = 0; i < 256; i++) {
            uint8_t byte;
            if (lx__cache_file_count_present(file, (lx__pages){i, 1}) == 0)
                continue;
            unit_ok(lx__cache_file_read(file, &byte, 1, i * LX__PAGE_BYTES + 7, &error));
            ck_assert_uint_eq(byte, i);
        }
        lx__cache_file_close(file);
        lx__cache_close(cache);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/cache/cache-datasets", lists_and_removes_datasets,
          an_interrupted_removal_is_completed,
          foreign_folders_in_a_dataset_are_removed_as_far_as_they_are_flat,
          processes_use_and_remove_a_dataset_at_the_same_time,
          a_dataset_that_is_removed_at_that_moment_is_made_again,
          processes_may_be_killed_at_any_time)
