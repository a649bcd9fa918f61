/* SPDX-License-Identifier: MIT */
/* Files of a folder as sources: lib/loader/sources/source-files.c. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/sources/source.h"

#include "../../sampler/orders.h"
#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"

#define COUNT 23

static const lx_column_info data = {.name = "data", .dtype = LX_BYTES};
static lx_error error = LX_ERROR_INIT;

/** Writes COUNT files of 0 to 22 bytes, half of them in a folder of their own, and opens them. */
static lx_source *open_files(void)
{
    static char names[COUNT][16];
    const char *list[COUNT];
    lx_source *source;
    mkdir("photos", 0700);
    mkdir("photos/b", 0700);
    for (int i = 0; i < COUNT; i++) {
        char bytes[COUNT], path[sizeof "photos/" + sizeof names];
        memset(bytes, 'a' + i, sizeof bytes);
        snprintf(names[i], sizeof names[i], "%sfile-%d", i % 2 == 0 ? "" : "b/", i);
        snprintf(path, sizeof path, "photos/%s", names[i]);
        write_bytes(path, bytes, (size_t)i);
        list[i] = names[i];
    }
    unit_ok(lx_source_open_files("photos", list, COUNT, &data, &source, &error));
    return source;
}

START_TEST(reads_files_in_any_order)
{
    char *scratch = scratch_make();
    lx_source *source = open_files();
    unit_ok(chdir("photos"));
    for (unsigned threads = 0; threads < 3; threads++) {
        lx_order *order = make_order("shuffle", COUNT, 3, 0);
        lx_loader *loader = open_loader(
            source, (struct setup){.batch_size = 5, .threads = threads, .order = order});
        int seen = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            const lx_column *column = lx_batch_find_column(batch, "data");
            for (uint64_t row = 0; row < lx_batch_get_row_count(batch); row++, seen++) {
                uint64_t i = lx_batch_get_indices(batch)[row];
                ck_assert_uint_eq(column->offsets[row + 1] - column->offsets[row], i);
                for (uint64_t k = column->offsets[row]; k < column->offsets[row + 1]; k++)
                    ck_assert_int_eq(((char *)column->data)[k], 'a' + (int)i);
            }
        }
        ck_assert_int_eq(seen, COUNT);
        lx_loader_close(loader);
        lx_order_unref(order);
    }
    lx_source_unref(source);
    unit_ok(chdir(".."));
    scratch_remove(scratch);
}
END_TEST

/** Expects that reading file 3 fails. */
static void fails(lx_source *source, lx_status status)
{
    const uint64_t index = 3, offsets[] = {0, 3};
    uint64_t sizes[2];
    char out[3], path[64];
    if (status != LX_OK)
        ck_assert_int_eq(lx_source_get_sizes(source, 0, &index, 1, sizes, &error), status);
    else
        ck_assert_int_eq(lx_source_fill_bytes(source, 0, &index, 1, offsets, out, &error),
                         LX_ERR_CORRUPT);
    ck_assert_uint_eq(error.record, 3);
    snprintf(path, sizeof path, "%s", error.path + strlen(error.path) - strlen("photos/b/file-3"));
    ck_assert_str_eq(path, "photos/b/file-3");
    lx_error_clear(&error);
}

START_TEST(reports_files_that_cannot_be_read)
{
    char *scratch = scratch_make();
    lx_source *source = open_files();
    write_bytes("photos/b/file-3", "four",
                4); /* instead of 3, which an earlier call has returned */
    fails(source, LX_OK);
    ck_assert_int_eq(truncate("photos/b/file-3", (off_t)1 << 33), 0);
    fails(source, LX_ERR_CORRUPT);
    unlink("photos/b/file-3");
    fails(source, LX_ERR_NOT_FOUND);
    mkfifo("photos/b/file-3", 0600); /* opening it would wait for a writer */
    fails(source, LX_ERR_CORRUPT);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_invalid_arguments)
{
    static const char *const names[] = {"a", "b"}, *const rooted[] = {"a", "/b"},
                             *const empty[] = {"a", ""}, *const null[] = {"a", NULL};
    static const lx_column_info text = {.name = "data", .dtype = LX_STR},
                                number = {.name = "data", .dtype = LX_INT8},
                                nameless = {.name = "", .dtype = LX_BYTES};
    char *scratch = scratch_make();
    lx_source *source;
    write_bytes("file", "", 0);
    unit_fails(lx_source_open_files("none", names, 2, &data, &source, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_source_open_files("file", names, 2, &data, &source, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_source_open_files(".", rooted, 2, &data, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_open_files(".", empty, 2, &data, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_open_files(".", null, 2, &data, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_open_files(".", names, 2, &text, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_open_files(".", names, 2, &number, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_open_files(".", names, 2, &nameless, &source, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_source_open_files(NULL, names, 2, &data, &source, &error), "folder");
    unit_refuses_null(lx_source_open_files(".", NULL, 2, &data, &source, &error), "names");
    unit_refuses_null(lx_source_open_files(".", names, 2, NULL, &source, &error), "column");
    unit_refuses_null(lx_source_open_files(".", names, 2, &data, NULL, &error), "source");
    unit_ok(lx_source_open_files(".", NULL, 0, &data, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 0);
    lx_source_unref(source);
    for (int left = 0; left < 5; left++) {
        scarce_begin(left);
        unit_fails(lx_source_open_files(".", names, 2, &data, &source, &error), LX_ERR_NOMEM);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/source-files", reads_files_in_any_order, reports_files_that_cannot_be_read,
          refuses_invalid_arguments)
