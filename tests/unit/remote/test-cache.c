/* SPDX-License-Identifier: MIT */
/* Caches: which directories are accepted, boots, datasets, interrupted removals, fork(). */
#include "caches.h"

#include <stdarg.h>
#include <sys/syscall.h>

#include "base/boot-id.h"

START_TEST(makes_a_private_directory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct stat about;
    umask(0);
    lx__cache *cache = open_cache(LX_NONE);
    ck_assert_int_eq(stat("cache", &about), 0);
    ck_assert_uint_eq(about.st_mode & 07777, 0700);
    lx__cache_close(cache);
    lx__cache_close(open_cache(LX_NONE));
    unit_fails(lx__cache_open("none/cache", LX_NONE, &cache, &error), LX_ERR_NOT_FOUND);
    ck_assert_ptr_null(cache);
    /* An empty directory, through a link that the user gives; the root of a file system. */
    ck_assert_int_eq(mkdir("other", 0755), 0);
    ck_assert_int_eq(mkdir("other/lost+found", 0700), 0);
    ck_assert_int_eq(symlink("other", "link"), 0);
    unit_ok(lx__cache_open("link", LX_NONE, &cache, &error));
    lx__cache_close(cache);
    ck_assert_int_eq(access("other/state", F_OK), 0);
    scratch_remove(scratch);
}
END_TEST

/** The cache must be refused, and the directory stay as it is. */
static void expect_refusal(lx_status status, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    lx__cache *cache;
    unsigned names = count_names();
    lx_status got = lx__cache_open("cache", LX_NONE, &cache, &error);
    ck_assert_msg(got == status, "%s: %s", lx_status_get_name(got), error.message);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_ptr_null(cache);
    ck_assert_uint_eq(count_names(), names);
}

static void make_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(refuses_directories_that_are_not_caches)
{
    char *scratch = scratch_make();
    ck_assert_int_eq(mkdir("cache", 0700), 0);
    make_file("cache/thesis.txt", "");
    expect_refusal(LX_ERR_STATE, "thesis.txt");
    ck_assert_int_eq(unlink("cache/thesis.txt"), 0);
    /* The names are those of a cache, but there is no state. */
    char name[80];
    snprintf(name, sizeof name, "cache/%s", uuid_of(1));
    ck_assert_int_eq(mkdir(name, 0700), 0);
    expect_refusal(LX_ERR_STATE, uuid_of(1));
    /* The state is another program's. */
    make_file("cache/state", "running\n");
    expect_refusal(LX_ERR_STATE, uuid_of(1));
    make_file("cache/state", "");
    expect_refusal(LX_ERR_STATE, uuid_of(1));
    ck_assert_int_eq(rmdir(name), 0);
    lx__cache_close(open_cache(LX_NONE));
    make_file("cache/thesis.txt", "");
    expect_refusal(LX_ERR_STATE, "thesis.txt");
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_directories_that_others_may_change)
{
    char *scratch = scratch_make();
    lx__cache_close(open_cache(LX_NONE));
    ck_assert_int_eq(chmod("cache", 0720), 0);
    expect_refusal(LX_ERR_STATE, "chmod 700");
    ck_assert_int_eq(chmod("cache", 0702), 0);
    expect_refusal(LX_ERR_STATE, "chmod 700");
    ck_assert_int_eq(chmod("cache", 0755), 0);
    lx__cache_close(open_cache(LX_NONE));
    if (geteuid() == 0) { /* only root can give a directory away */
        ck_assert_int_eq(chown("cache", 12345, (gid_t)-1), 0);
        expect_refusal(LX_ERR_STATE, "another user");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(follows_no_links_inside)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(mkdir("target", 0700), 0);
    lx__cache *cache = open_cache(LX_NONE);
    char name[80];
    snprintf(name, sizeof name, "cache/%s", uuid_of(1));
    ck_assert_int_eq(symlink("../target", name), 0);
    unit_fails(lx__cache_use(cache, uuid_of(1), URL, 0, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(unlink(name), 0);
    use_dataset(cache, 1);
    snprintf(name, sizeof name, "cache/%s/chunk", uuid_of(1));
    ck_assert_int_eq(symlink("../../target", name), 0);
    lx__cache_file *file;
    unit_fails(lx__cache_open_file(cache, "chunk", "0.zr", 9, &file, &error), LX_ERR_CORRUPT);
    lx__cache_close(cache);
    ck_assert_int_eq(rmdir("target"), 0); /* it is empty */
    ck_assert_int_eq(mkdir("fresh", 0700), 0);
    ck_assert_int_eq(symlink("../elsewhere", "fresh/state"), 0);
    unit_fails(lx__cache_open("fresh", LX_NONE, &cache, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(access("elsewhere", F_OK), -1);
    scratch_remove(scratch);
}
END_TEST

/* ---- boots */

START_TEST(each_boot_has_a_number)
{
    char *scratch = scratch_make();
    lx__cache *cache = open_cache(LX_NONE);
    ck_assert_uint_eq(lx__cache_get_boot(cache), 1);
    lx__cache_close(cache);
    if (lx__boot_id() != 0) {
        cache = open_cache(LX_NONE);
        ck_assert_uint_eq(lx__cache_get_boot(cache), 1);
        lx__cache_close(cache);
    }
    static const uint16_t boots[][2] = {{1, 2}, {0x8000, 0x8001}, {UINT16_MAX, 1}};
    for (size_t i = 0; i < 3; i++)
        for (int present = 0; present < 2; present++) {
            lx__cache *other = present ? open_cache(LX_NONE) : NULL;
            lx__cache_content content = {
                .boot_id = ~lx__boot_id(), .boot = boots[i][0], .reserved = 77};
            exchange_content(&content);
            cache = open_cache(LX_NONE);
            ck_assert_uint_eq(lx__cache_get_boot(cache), boots[i][1]);
            content = exchange_content(NULL);
            ck_assert_uint_eq(content.boot, boots[i][1]);
            ck_assert_uint_eq(content.boot_id, lx__boot_id());
            /* Only who is alone can count. */
            ck_assert_uint_eq(content.reserved, present ? 77 : 0);
            lx__cache_close(cache);
            lx__cache_close(other);
        }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_damaged_state_drops_what_it_described)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__cache *other;
    make_dataset(1, 100000, 1);
    int fd = open("cache/state", O_RDWR);
    lx__cache *cache = open_cache(LX_NONE);
    ck_assert_int_eq(pwrite(fd, "x", 1, 20), 1);
    unit_fails(lx__cache_open("cache", LX_NONE, &other, &error), LX_ERR_CORRUPT);
    ck_assert(has_dataset(1));
    lx__cache_close(cache);
    cache = open_cache(LX_NONE);
    ck_assert_uint_eq(count_names(), 1);
    ck_assert_uint_eq(get_reserved(), 0);
    lx__cache_close(cache);
    ck_assert_int_eq(pwrite(fd, "\2", 1, 4), 1);
    expect_refusal(LX_ERR_UNSUPPORTED, "another release");
    close(fd);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_locked_state_is_read_if_it_is_of_this_boot)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__cache *cache, *first = open_cache(LX_NONE);
    lx__file state;
    unit_ok(lx__file_open(&state, LX__CWD, "cache/state", O_RDWR, &error));
    unit_ok(lx__file_lock(&state, true, LX__CACHE_CHANGE, 1, &error));
    if (lx__boot_id() != 0) {
        cache = open_cache(LX_NONE);
        ck_assert_uint_eq(lx__cache_get_boot(cache), 1);
        ck_assert(!lx__cache_reserve(cache, 1));
        lx__cache_close(cache);
    }
    exchange_content(&(lx__cache_content){.boot_id = ~lx__boot_id(), .boot = 1});
    unit_fails(lx__cache_open("cache", LX_NONE, &cache, &error), LX_ERR_BUSY);
    lx__file_close(&state);
    lx__cache_close(first);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_recount_repairs_what_a_killed_process_reserved)
{
    char *scratch = scratch_make();
    make_dataset(1, 100000, 1);
    lx__cache *cache = open_cache(LX_NONE);
    uint64_t counted = get_reserved();
    ck_assert_uint_ge(counted, 100000);
    ck_assert_uint_le(counted, 200000);
    pid_t child = fork();
    if (child == 0) {
        lx__cache_take_over(cache);
        if (lx__cache_reserve(cache, MIB))
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_uint_eq(get_reserved(), counted + MIB);
    lx__cache *second = open_cache(LX_NONE); /* not alone */
    ck_assert_uint_eq(get_reserved(), counted + MIB);
    lx__cache_close(second);
    lx__cache_close(cache);
    lx__cache_close(open_cache(LX_NONE));
    ck_assert_uint_eq(get_reserved(), counted);
    scratch_remove(scratch);
}
END_TEST

/* ---- datasets */

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

START_TEST(the_pages_of_a_dataset_stay)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file;
    char bytes[9] = "";
    make_dataset(1, 100000, 1);
    lx__cache *cache = open_cache(LX_NONE);
    use_dataset(cache, 1);
    unit_ok(lx__cache_open_file(cache, "chunk", "0.zr", 100000, &file, &error));
    ck_assert_uint_eq(lx__cache_file_count_present(file, (lx__pages){0, 100}), 25);
    unit_ok(lx__cache_file_read(file, bytes, sizeof bytes, 99991, &error));
    lx__cache_file_close(file);
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_what_cannot_be_used)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__cache *cache = open_cache(1000);
    unit_fails(lx__cache_use(cache, "../../home", URL, 0, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(lx__cache_use(cache, uuid_of(1), URL, 1001, &error), LX_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.message, "1001 bytes"));
    ck_assert_ptr_nonnull(strstr(error.message, "only 1000"));
    lx_error_clear(&error);
    unit_ok(lx__cache_use(cache, uuid_of(1), URL, 1000, &error));
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

/* ---- several processes */

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

START_TEST(a_child_keeps_the_dataset_after_its_parent)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int ready[2], done[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(done), 0);
    lx__cache *cache = open_cache(LX_NONE);
    use_dataset(cache, 1);
    fill(cache, "0.zr", 5);
    lx__cache_file *file;
    unit_ok(lx__cache_open_file(cache, "chunk", "0.zr", 5, &file, &error));
    pid_t child = fork();
    if (child == 0) {
        alarm(UNIT_CHILD_TIMEOUT);
        close(done[1]);
        if (chdir("/") != 0)
            _exit(1);
        lx__cache_take_over(cache);
        lx__cache_file_take_over(file);
        if (lx__cache_file_count_present(file, (lx__pages){0, 1}) != 1 ||
            !lx__cache_reserve(cache, 5) || write(ready[1], "x", 1) != 1)
            _exit(2);
        _exit(read(done[0], &byte, 1) == 0 ? 0 : 3); /* until the parent closes it */
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    lx__cache_file_close(file);
    lx__cache_close(cache);
    cache = open_cache(LX_NONE);
    ck_assert_uint_eq(get_reserved(), 10); /* the child is present, so nothing was recounted */
    unit_fails(lx__cache_remove(cache, uuid_of(1), &error), LX_ERR_BUSY);
    close(done[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    unit_ok(lx__cache_remove(cache, uuid_of(1), &error));
    lx__cache_close(cache);
    close(done[0]);
    close(ready[0]);
    close(ready[1]);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_child_does_without_a_cache_that_was_removed)
{
    char *scratch = scratch_make();
    lx__cache *cache = open_cache(LX_NONE);
    use_dataset(cache, 1);
    ck_assert_int_eq(rename("cache", "moved"), 0);
    ck_assert_int_eq(unlink("moved/state"), 0);
    if (unit_in_child()) {
        lx__cache_take_over(cache);
        lx__cache_unreserve(cache, 1);
        bool reserved = lx__cache_reserve(cache, 1);
        lx__cache_close(cache);
        _exit(reserved ? 1 : 0);
    }
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/cache", makes_a_private_directory, refuses_directories_that_are_not_caches,
          refuses_directories_that_others_may_change, follows_no_links_inside,
          each_boot_has_a_number, a_damaged_state_drops_what_it_described,
          a_locked_state_is_read_if_it_is_of_this_boot,
          a_recount_repairs_what_a_killed_process_reserved, lists_and_removes_datasets,
          the_pages_of_a_dataset_stay, rejects_what_cannot_be_used,
          an_interrupted_removal_is_completed,
          foreign_folders_in_a_dataset_are_removed_as_far_as_they_are_flat,
          processes_use_and_remove_a_dataset_at_the_same_time,
          a_dataset_that_is_removed_at_that_moment_is_made_again,
          processes_may_be_killed_at_any_time, a_child_keeps_the_dataset_after_its_parent,
          a_child_does_without_a_cache_that_was_removed)
