/* SPDX-License-Identifier: MIT */
#include "zrecord/snapshot/store-map.h"
#include "zrecord/snapshot/store.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "../frames.h"
#include "../records.h"

static lx__store *open_store(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    unit_ok(lx__store_open(path, LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error));
    return store;
}

/** Whether any handle holds a lock on that byte of LOCK. */
static bool is_locked(const char *path, uint64_t byte)
{
    int fd = open(in(path, "LOCK"), O_RDWR | O_CLOEXEC);
    struct flock probe = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    ck_assert_int_ne(fd, -1);
    ck_assert_int_eq(fcntl(fd, F_OFD_GETLK, &probe), 0);
    close(fd);
    return probe.l_type != F_UNLCK;
}

START_TEST(a_store_lives_as_long_as_it_is_referenced)
{
    char *scratch = scratch_make();
    records_make("d", 5, 2);
    size_t before = directory_count("/proc/self/fd");
    lx__store *store = open_store("d");
    ck_assert_ptr_eq(lx__store_ref(store), store);
    lx__store_unref(store);
    ck_assert_str_eq(store->directory.path, "d");
    ck_assert_uint_eq(lx_schema_get_field_count(store->schema), FIELDS);
    ck_assert_uint_eq(store->rules[CAPTION].field, CAPTION);
    ck_assert_uint_gt(directory_count("/proc/self/fd"), before);
    lx__store_unref(store);
    ck_assert_uint_eq(directory_count("/proc/self/fd"), before);
    scratch_remove(scratch);
}
END_TEST

START_TEST(readers_lock_the_byte_of_their_generation)
{
    char *scratch = scratch_make();
    records_make("d", 5, 2);
    ck_assert(!is_locked("d", 8192));
    lx__store *a = open_store("d"), *b = open_store("d"); /* shared */
    ck_assert(is_locked("d", 8192));
    ck_assert(!is_locked("d", 8191) && !is_locked("d", 8193) && !is_locked("d", 0));
    lx_writer *writer = records_reopen("d", NULL); /* and does not exclude others */
    ck_assert(is_locked("d", 0));
    lx__store_unref(a);
    ck_assert(is_locked("d", 8192));
    lx__store_unref(b);
    ck_assert(!is_locked("d", 8192));
    close_writer(writer);
    ck_assert(!is_locked("d", 0));
    scratch_remove(scratch);
}
END_TEST

START_TEST(each_generation_has_its_own_lock_byte_and_log)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 0, 0);
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    struct log log = {.identity = identity_of(identity.uuid)};
    log.identity.generation = 5;
    log_add(&log, &(struct frame){.flags = SNAPSHOT | SYNCED, .next_chunk = 3});
    file_put("d/LOG.5", log.bytes, log.size);
    log_free(&log);
    file_edit("d/meta.json", "\"generation\": 0", "\"generation\": 5");
    dataset = open_dataset("d");
    lx_dataset_get_identity(dataset, &identity);
    ck_assert_uint_eq(identity.generation, 5);
    ck_assert(is_locked("d", 8197) && !is_locked("d", 8192));
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 5);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert(file_exists("d/chunk/3.zr") && !file_exists("d/chunk/0.zr"));
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_reader_does_not_create_the_lock_file)
{
    char *scratch = scratch_make();
    records_make("d", 5, 2);
    ck_assert_int_eq(remove("d/LOCK"), 0);
    expect_dataset("d", 7);
    ck_assert(!file_exists("d/LOCK"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_read_only_media)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(mkdir("disk", 0777), 0);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "disk", "tmpfs", 0, "size=8m") != 0) {
        fprintf(stderr, "reads_read_only_media: skipped, nothing can be mounted\n");
        scratch_remove(scratch);
        return;
    }
    records_make("disk/d", 5, 2);
    directory_copy("disk/d", "disk/e");
    ck_assert_int_eq(remove("disk/e/LOCK"), 0);
    ck_assert_int_eq(mount("none", "disk", NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    expect_dataset("disk/d", 7);
    expect_dataset("disk/e", 7);
    lx_writer *writer;
    lx_status status = lx_writer_open("disk/d", NULL, &writer, &error);
    ck_assert_int_eq(error.errnum, EROFS);
    expect_error(status, LX_ERR_IO, "", "disk/d/LOCK");
    ck_assert_int_eq(umount("disk"), 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(sees_a_replaced_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool current;
    records_make("d", 5, 2);
    lx__store *store = open_store("d");
    unit_ok(lx__store_is_current(store, &current, &error));
    ck_assert(current);
    size_t size;
    uint8_t *meta = file_bytes("d/meta.json", &size);
    file_put("d/meta.json.new", meta, size);
    free(meta);
    ck_assert_int_eq(rename("d/meta.json.new", "d/meta.json"), 0);
    unit_ok(lx__store_is_current(store, &current, &error));
    ck_assert(!current);
    ck_assert_int_eq(remove("d/meta.json"), 0);
    lx_status status = lx__store_is_current(store, &current, &error);
    expect_error(status, LX_ERR_IO, "", "d/meta.json");
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

/* On request, taking a lock lets the generation change. */
static bool restless;

int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (restless && command == F_OFD_SETLK) {
        static bool second;
        second = !second;
        file_edit("d/meta.json", second ? "\"generation\": 0" : "\"generation\": 1",
                  second ? "\"generation\": 1" : "\"generation\": 0");
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

START_TEST(opening_fails_if_the_generation_keeps_changing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__store *store = NULL;
    records_make("d", 5, 2);
    restless = true;
    lx_status status = lx__store_open("d", LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error);
    restless = false;
    expect_error(status, LX_ERR_IO, "replaced continually", "d/meta.json");
    ck_assert_ptr_null(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_next_generation_inherits_needed_mappings)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint8_t *data, *again;
    lx__table *table, *same;
    records_make("d", 40, 0);
    uint64_t bytes = file_size("d/chunk/0.zr");
    const lx__chunk_item items[] = {{0, 1, bytes}, {3, 1, 8}}, others[] = {{1, 1, 8}};
    lx__store *former = open_store("d"), *next = open_store("d"), *last = open_store("d");
    unit_ok(lx__store_map_chunk(former, 0, bytes, &data, &error));
    unit_ok(lx__store_map_table(former, IMAGE, 0, 40, &table, &error));
    lx__store_inherit(next, former, items, 2);
    lx__store_inherit(last, next, others, 1); /* without that chunk */
    ck_assert_uint_eq(next->chunk_count, 1);
    ck_assert_uint_eq(last->chunk_count, 0);
    lx__store_unref(former);
    unit_ok(lx__store_map_chunk(next, 0, bytes, &again, &error));
    ck_assert_ptr_eq(data, again);
    unit_ok(lx__store_map_table(next, IMAGE, 0, 40, &same, &error));
    ck_assert_ptr_eq(table, same);
    lx__store_unref(next);
    unit_ok(lx__store_map_table(last, IMAGE, 0, 40, &same, &error));
    ck_assert_ptr_eq(table, same);
    ck_assert_uint_eq(table->offsets.data[3], 0);
    lx__store_unref(last);
    scratch_remove(scratch);
}
END_TEST

static lx__inflater *take(lx__store *store)
{
    lx__inflater *idle = lx__store_take_inflater(store, &lx__flate);
    return idle != NULL ? idle : lx__inflater_new(&lx__flate);
}

static void *use_inflaters(void *user)
{
    lx__store *store = user;
    for (int i = 0; i < 1000; i++) {
        lx__inflater *a = take(store), *b = take(store);
        ck_assert(a != NULL && b != NULL && a != b);
        lx__store_release_inflater(store, a);
        lx__store_release_inflater(store, b);
    }
    return NULL;
}

START_TEST(reuses_inflaters_by_one_thread_at_a_time)
{
    char *scratch = scratch_make();
    pthread_t threads[3];
    records_make("d", 5, 2);
    lx__store *store = open_store("d");
    lx__inflater *first = take(store);
    lx__store_release_inflater(store, first);
    ck_assert_ptr_eq(take(store), first);
    lx__store_release_inflater(store, first);
    lx__store_release_inflater(store, NULL);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_inflaters, store), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_le(store->inflater_count, 6);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_child_discards_unfinished_changes)
{
    char *scratch = scratch_make();
    records_make("d", 5, 2);
    lx__store *store = open_store("d");
    lx__store_release_inflater(store, take(store));
    lx__store_take_over(store); /* changes nothing in the process itself */
    ck_assert_uint_eq(store->inflater_count, 1);
    pthread_mutex_lock(&store->mutex);
    if (unit_in_child()) {
        lx__store_take_over(store);
        lx__inflater *inflater = take(store);
        lx__store_release_inflater(store, inflater);
        _exit(inflater == NULL || store->inflater_count != 1);
    }
    pthread_mutex_unlock(&store->mutex);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/store", a_store_lives_as_long_as_it_is_referenced,
          readers_lock_the_byte_of_their_generation, each_generation_has_its_own_lock_byte_and_log,
          a_reader_does_not_create_the_lock_file, reads_read_only_media, sees_a_replaced_meta_json,
          opening_fails_if_the_generation_keeps_changing,
          the_next_generation_inherits_needed_mappings, reuses_inflaters_by_one_thread_at_a_time,
          a_child_discards_unfinished_changes)
