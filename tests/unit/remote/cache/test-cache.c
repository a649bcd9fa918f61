/* SPDX-License-Identifier: MIT */
/* Caches: which directories are accepted, boots, the use of datasets, fork(). */
#include <errno.h>

#include "caches.h"

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
    /* Only root can give a directory away, and only to users that its namespace has. */
    if (chown("cache", 12345, (gid_t)-1) == 0)
        expect_refusal(LX_ERR_STATE, "another user");
    else
        ck_assert(geteuid() != 0 || errno == EINVAL);
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

/* ---- fork() */

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

UNIT_MAIN("remote/cache/cache", makes_a_private_directory, refuses_directories_that_are_not_caches,
          refuses_directories_that_others_may_change, follows_no_links_inside,
          each_boot_has_a_number, a_damaged_state_drops_what_it_described,
          a_locked_state_is_read_if_it_is_of_this_boot,
          a_recount_repairs_what_a_killed_process_reserved, the_pages_of_a_dataset_stay,
          rejects_what_cannot_be_used, a_child_keeps_the_dataset_after_its_parent,
          a_child_does_without_a_cache_that_was_removed)
