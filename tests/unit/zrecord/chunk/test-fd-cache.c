/* SPDX-License-Identifier: MIT */
/* The cache keeps few files open, and closes none in use. */
#include "zrecord/snapshot/store.h"

#include <errno.h>

#include "../../scarce.h"
#include "../records.h"

#define CHUNKS 100

static lx__store *make_store(lx_access access)
{
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 4, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 4 * CHUNKS);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    unit_ok(lx__store_open("d", LX_VERIFY_NEVER, access, &store, &error));
    return store;
}

static lx__file_name chunk_name(uint32_t id)
{
    char path[32];
    snprintf(path, sizeof path, "d/chunk/%u.zr", id);
    return (lx__file_name){.part = LX__PART_CHUNK, .number = id, .bytes = file_size(path)};
}

START_TEST(reuses_an_open_file)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__open_file *first, *second, *table, *other;
    lx__store *store = make_store(LX_ACCESS_PREAD);
    const lx__file_name chunk = chunk_name(0), offsets = {.part = LX__PART_OFFSETS},
                        checks = {.part = LX__PART_CHECKS};
    unit_ok(lx__fd_cache_take(&store->files, &chunk, &first, &error));
    unit_ok(lx__fd_cache_take(&store->files, &chunk, &second, &error));
    unit_ok(lx__fd_cache_take(&store->files, &offsets, &table, &error));
    unit_ok(lx__fd_cache_take(&store->files, &checks, &other, &error));
    ck_assert_ptr_eq(first, second);
    ck_assert_ptr_ne(table, other);
    ck_assert_ptr_nonnull(strstr(first->file.path, "d/chunk/0.zr"));
    ck_assert_ptr_nonnull(strstr(table->file.path, "d/image.offset"));
    ck_assert_ptr_nonnull(strstr(other->file.path, "d/image.check"));
    lx__fd_cache_release(&store->files, first);
    lx__fd_cache_release(&store->files, second);
    lx__fd_cache_release(&store->files, table);
    lx__fd_cache_release(&store->files, other);
    lx__fd_cache_release(&store->files, NULL);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

static void open_all(lx_access access, size_t most)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__open_file *held, *file;
    lx__store *store = make_store(access);
    size_t before = directory_count("/proc/self/fd");
    const lx__file_name first = chunk_name(0);
    unit_ok(lx__fd_cache_take(&store->files, &first, &held, &error));
    for (uint32_t i = 1; i < CHUNKS; i++) {
        const lx__file_name name = chunk_name(i);
        unit_ok(lx__fd_cache_take(&store->files, &name, &file, &error));
        lx__fd_cache_release(&store->files, file);
    }
    ck_assert_uint_le(directory_count("/proc/self/fd"), before + most);
    unit_ok(lx__fd_cache_take(&store->files, &first, &file, &error));
    ck_assert_ptr_eq(file, held);
    lx__fd_cache_release(&store->files, file);
    lx__fd_cache_release(&store->files, held);
    lx__store_unref(store);
    scratch_remove(scratch);
}

START_TEST(closes_idle_files_above_the_limit)
{
    open_all(LX_ACCESS_PREAD, LX__FILES_MAX);
    open_all(LX_ACCESS_MMAP, LX__FILES_MAPPED_MAX);
}
END_TEST

START_TEST(closes_idle_files_when_descriptors_run_out)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__open_file *files[CHUNKS];
    lx__store *store = make_store(LX_ACCESS_PREAD);
    lx__file_name names[CHUNKS];
    for (uint32_t i = 0; i < CHUNKS; i++)
        names[i] = chunk_name(i);
    limit_descriptors((unsigned)directory_count("/proc/self/fd") + 4);
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < CHUNKS; i++) {
        status = lx__fd_cache_take(&store->files, &names[i], &files[0], &error);
        if (status == LX_OK)
            lx__fd_cache_release(&store->files, files[0]);
    }
    size_t held = 0;
    lx_status refused = LX_OK;
    lx_error why = LX_ERROR_INIT;
    while (status == LX_OK && refused == LX_OK && held < CHUNKS) {
        refused = lx__fd_cache_take(&store->files, &names[held], &files[held], &why);
        held += refused == LX_OK;
    }
    for (size_t i = 0; status == LX_OK && i < held; i++)
        lx__fd_cache_release(&store->files, files[i]);
    limit_descriptors(1024);
    unit_ok(status);
    ck_assert_int_eq(refused, LX_ERR_IO);
    ck_assert_int_eq(why.errnum, EMFILE);
    ck_assert_uint_gt(held, 0);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_absent_short_and_linked_files_as_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__open_file *file;
    lx__store *store = make_store(LX_ACCESS_PREAD);
    const lx__file_name absent = {.part = LX__PART_CHUNK, .number = CHUNKS},
                        short_one = chunk_name(1), link_one = chunk_name(2),
                        table = {.part = LX__PART_OFFSETS};
    file_cut("d/chunk/1.zr", file_size("d/chunk/1.zr") - 1);
    file_disguise("d/chunk/2.zr", A_LINK);
    file_disguise("d/image.offset", A_FIFO);
    expect_error(lx__fd_cache_take(&store->files, &absent, &file, &error), LX_ERR_CORRUPT, "",
                 "100.zr");
    expect_error(lx__fd_cache_take(&store->files, &short_one, &file, &error), LX_ERR_CORRUPT,
                 "bytes", "1.zr");
    expect_error(lx__fd_cache_take(&store->files, &link_one, &file, &error), LX_ERR_CORRUPT, "link",
                 "2.zr");
    expect_error(lx__fd_cache_take(&store->files, &table, &file, &error), LX_ERR_CORRUPT, "regular",
                 "image.offset");
    const lx__file_name whole = chunk_name(3);
    scarce_begin(0);
    lx_status status = lx__fd_cache_take(&store->files, &whole, &file, &error);
    scarce_begin(1000);
    ck_assert_int_eq(status, LX_ERR_NOMEM);
    lx_error_clear(&error);
    unit_ok(lx__fd_cache_take(&store->files, &whole, &file, &error));
    lx__fd_cache_release(&store->files, file);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/fd-cache", reuses_an_open_file, closes_idle_files_above_the_limit,
          closes_idle_files_when_descriptors_run_out,
          reports_absent_short_and_linked_files_as_damage)
