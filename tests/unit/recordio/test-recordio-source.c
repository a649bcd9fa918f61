/* SPDX-License-Identifier: MIT */
/* RecordIO files as sources of loaders: lib/recordio/recordio-source.c. */
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <loaderx/loaderx.h>

#include "../loader/loaders.h"
#include "../sampler/orders.h"
#include "../scarce.h"
#include "records.h"

#define COUNT 60u

static lx_error error = LX_ERROR_INIT;

/** The labels of image @p i. */
static float label_of(unsigned i, uint32_t k)
{
    float magic; /* a header that contains the magic number is cut, too */
    const uint32_t bits = LX__RECORDIO_MAGIC;
    memcpy(&magic, &bits, sizeof magic);
    return i % 4 == 1 ? magic : (float)(i * 10 + k);
}

/** The id of image @p i; as an int64_t, some are negative. */
static uint64_t id_of(unsigned i)
{
    return i % 5 == 2 ? UINT64_MAX - i : 1000 + i;
}

/** Writes a.rec and a.idx with MXNet's header, or without if @p labels is 0. */
static void write_file(uint32_t labels)
{
    lx_recordio_writer *writer;
    uint8_t record[LX_RECORDIO_LABEL_BYTES + 40 + RECORD_MAX], stored[40];
    char key[16];
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", true, &writer, &error));
    for (unsigned i = 0; i < COUNT; i++) {
        size_t header = 0;
        for (uint32_t k = 0; k < labels; k++) {
            float number = label_of(i, k);
            memcpy(stored + 4 * k, &number, 4);
        }
        lx_recordio_label label = {.id = id_of(i)};
        if (labels == 1)
            label.label = label_of(i, 0);
        label.count = labels > 1 ? labels : 0;
        label.labels = stored;
        if (labels != 0) {
            lx_recordio_label_write(&label, record);
            header = LX_RECORDIO_LABEL_BYTES + 4 * (size_t)label.count;
        }
        size_t size = record_make(i, record + header);
        snprintf(key, sizeof key, "%u", i);
        unit_ok(lx_recordio_writer_write(writer, key, record, header + size, &error));
    }
    unit_ok(lx_recordio_writer_close(writer, &error));
}

/** Checks the value of record @p i in a column that varies in size. */
static void check_bytes(const lx_column *column, uint64_t row, unsigned i)
{
    static uint8_t right[RECORD_MAX];
    size_t size = record_make(i, right);
    ck_assert_uint_eq(column->offsets[row + 1] - column->offsets[row], size);
    ck_assert_mem_eq((uint8_t *)column->data + column->offsets[row], right, size);
}

START_TEST(reads_records_with_and_without_headers)
{
    for (uint32_t labels = 0; labels <= 3; labels++) {
        char *scratch = scratch_make();
        lx_source *source;
        write_file(labels);
        unit_ok(lx_source_open_recordio("a.rec", "a.idx", labels, NULL, NULL, &source, &error));
        ck_assert_uint_eq(lx_source_get_length(source), COUNT);
        ck_assert_uint_eq(lx_source_get_column_count(source), labels == 0 ? 1 : 3);
        lx_order *order = make_order("shuffle", COUNT, 3, 0);
        lx_loader *loader = open_loader(
            source, (struct setup){.batch_size = 7, .threads = labels % 3, .order = order});
        unsigned seen = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            const lx_column *data = lx_batch_find_column(batch, labels == 0 ? "data" : "image");
            for (uint64_t row = 0; row < lx_batch_get_row_count(batch); row++, seen++) {
                unsigned i = (unsigned)lx_batch_get_indices(batch)[row];
                check_bytes(data, row, i);
                for (uint32_t k = 0; k < labels; k++) {
                    float right = label_of(i, k);
                    const lx_column *label = lx_batch_find_column(batch, "label");
                    ck_assert_uint_eq(label->ndim, labels > 1);
                    ck_assert_mem_eq((float *)label->data + row * labels + k, &right, 4);
                }
                if (labels != 0)
                    ck_assert_int_eq(((int64_t *)lx_batch_find_column(batch, "id")->data)[row],
                                     (int64_t)id_of(i));
            }
        }
        ck_assert_uint_eq(seen, COUNT);
        lx_loader_close(loader);
        lx_order_unref(order);
        lx_source_unref(source);
        scratch_remove(scratch);
    }
}
END_TEST

/* The order of the records is that of the index, which may also leave some out. */
START_TEST(follows_the_index)
{
    char *scratch = scratch_make();
    lx_recordio_index *index;
    lx_source *source;
    write_file(0);
    unit_ok(lx_recordio_index_open("a.idx", &index, &error));
    FILE *file = fopen("b.idx", "w");
    for (unsigned i = COUNT; i-- > 10;)
        fprintf(file, "%u\t%llu\n", i, (unsigned long long)lx_recordio_index_get_offset(index, i));
    fclose(file);
    lx_recordio_index_free(index);
    unit_ok(lx_source_open_recordio("a.rec", "b.idx", 0, NULL, NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), COUNT - 10);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = COUNT});
    lx_batch *batch = next_batch(loader);
    for (unsigned i = 0; i < COUNT - 10; i++)
        check_bytes(lx_batch_get_column(batch, 0), i, COUNT - 1 - i);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* Without an index, the file is the same source as with the one that the writer made. */
START_TEST(finds_the_records_without_an_index)
{
    char *scratch = scratch_make();
    for (uint32_t labels = 0; labels <= 2; labels++) {
        lx_source *indexed, *scanned;
        char text[2048];
        write_file(labels);
        unit_ok(lx_source_open_recordio("a.rec", "a.idx", labels, NULL, NULL, &indexed, &error));
        unit_ok(lx_source_save(indexed, text, sizeof text, NULL, &error));
        lx_source_unref(indexed);
        ck_assert_int_eq(remove("a.idx"), 0);
        unit_ok(lx_source_open_recordio("a.rec", NULL, labels, NULL, NULL, &scanned, &error));
        unit_ok(lx_source_match(scanned, text, false, &error));
        ck_assert_int_eq(access("a.idx", F_OK), -1); /* nothing was written */
        lx_source_unref(scanned);
    }
    scratch_remove(scratch);
}
END_TEST

/* A file that was cut anywhere has no source, unless nothing shows that it was cut. */
START_TEST(refuses_cut_files_without_an_index)
{
    char *scratch = scratch_make();
    uint64_t offsets[9];
    struct bytes whole = bytes_make(8, offsets);
    unsigned records = 8;
    for (size_t size = whole.size;; size--) {
        lx_source *source;
        write_bytes("a.rec", whole.data, size);
        lx_status status = lx_source_open_recordio("a.rec", NULL, 0, NULL, NULL, &source, &error);
        if (size == offsets[records]) {
            unit_ok(status);
            ck_assert_uint_eq(lx_source_get_length(source), records--);
            lx_source_unref(source);
        } else {
            ck_assert_ptr_nonnull(strstr(error.message, "'loaderx recordio index --skip'"));
            ck_assert_str_eq(error.path, "a.rec");
            if (size % 4 == 0)
                ck_assert_uint_eq(error.offset, offsets[records]);
            ck_assert_int_eq(status, LX_ERR_CORRUPT);
            lx_error_clear(&error);
        }
        if (size == 0)
            break;
    }
    free(whole.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_damage_and_compressed_files_without_an_index)
{
    char *scratch = scratch_make();
    lx_source *source;
    uint64_t offsets[41];
    struct bytes file = bytes_make(40, offsets);
    for (unsigned i = 0; i < 40; i += 7) { /* a length that leads elsewhere */
        uint32_t length = lx__load_le32(file.data + offsets[i] + 4);
        lx__store_le32(file.data + offsets[i] + 4, length + 4096);
        write_bytes("a.rec", file.data, file.size);
        lx_status status = lx_source_open_recordio("a.rec", NULL, 0, NULL, NULL, &source, &error);
        ck_assert_int_eq(status, LX_ERR_CORRUPT);
        ck_assert_uint_eq(error.offset, offsets[i]);
        lx_error_clear(&error);
        lx__store_le32(file.data + offsets[i] + 4, length);
    }
    gzFile zipped = gzopen("a.rec.gz", "wb");
    gzwrite(zipped, file.data, (unsigned)file.size);
    gzclose(zipped);
    lx_status zip = lx_source_open_recordio("a.rec.gz", NULL, 0, NULL, NULL, &source, &error);
    ck_assert_int_eq(zip, LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "not compressed can be read; decompress the file"));
    lx_error_clear(&error);
    free(file.data);
    scratch_remove(scratch);
}
END_TEST

/** Counts its calls, and ends the second one. */
static lx_status end_scan(uint64_t done, uint64_t total, void *user, lx_error *why)
{
    unsigned *calls = user;
    (void)why;
    ck_assert_uint_lt(done, total);
    return ++*calls < 2 ? LX_OK : LX_ERR_CALLBACK;
}

START_TEST(reports_the_progress_of_a_scan)
{
    char *scratch = scratch_make();
    const size_t size = (size_t)1 << 20;
    uint8_t *data = calloc(1, size);
    lx_recordio_writer *writer;
    lx_source *source;
    unsigned calls = 0;
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", false, &writer, &error));
    for (int i = 0; i < 12; i++)
        unit_ok(lx_recordio_writer_write(writer, NULL, data, size, &error));
    unit_ok(lx_recordio_writer_close(writer, &error));
    free(data);
    unit_fails(lx_source_open_recordio("a.rec", NULL, 0, end_scan, &calls, &source, &error),
               LX_ERR_CALLBACK);
    ck_assert_uint_eq(calls, 2);
    unit_ok(lx_source_open_recordio("a.rec", "a.idx", 0, end_scan, &calls, &source, &error));
    ck_assert_uint_eq(calls, 2);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/** Reads all values one by one; returns how many are damaged. */
static unsigned count_damaged(lx_source *source, size_t column)
{
    unsigned damaged = 0;
    for (uint64_t i = 0; i < lx_source_get_length(source); i++) {
        uint64_t offsets[2];
        lx_status status = lx_source_get_sizes(source, column, &i, 1, offsets, &error);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT);
        if (status == LX_OK) {
            uint8_t *out = malloc(offsets[1] + 1);
            unit_ok(lx_source_fill_bytes(source, column, &i, 1, offsets, out, &error));
            free(out);
        } else {
            ck_assert_uint_eq(error.record, i);
            ck_assert_str_eq(error.path, "a.rec");
            lx_error_clear(&error);
            damaged++;
        }
    }
    return damaged;
}

START_TEST(damage_is_that_of_a_record)
{
    char *scratch = scratch_make();
    lx_source *source;
    uint8_t junk[4] = {1, 2, 3, 4};
    write_file(2);
    /* A file that ends anywhere: only the records that end after that are damaged. */
    struct stat about;
    ck_assert_int_eq(stat("a.rec", &about), 0);
    unit_ok(lx_source_open_recordio("a.rec", "a.idx", 2, NULL, NULL, &source, &error));
    ck_assert_uint_eq(count_damaged(source, 2), 0);
    lx_source_unref(source);
    unit_ok(lx_source_open_recordio("a.rec", "a.idx", 3, NULL, NULL, &source, &error));
    ck_assert_uint_eq(count_damaged(source, 2), COUNT); /* another number of labels */
    lx_source_unref(source);
    int fd = open("a.rec", O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, junk, 4, 0), 4);
    ck_assert_int_eq(ftruncate(fd, about.st_size - 4), 0);
    close(fd);
    unit_ok(lx_source_open_recordio("a.rec", "a.idx", 2, NULL, NULL, &source, &error));
    ck_assert_uint_eq(count_damaged(source, 2), 2);
    lx_source_unref(source);
    ck_assert_int_eq(truncate("a.rec", 8), 0);
    unit_fails(lx_source_open_recordio("a.rec", "a.idx", 2, NULL, NULL, &source, &error),
               LX_ERR_MISMATCH);
    scratch_remove(scratch);
}
END_TEST

START_TEST(states_distinguish_files)
{
    char *scratch = scratch_make();
    char text[2048];
    lx_source *one, *other;
    write_file(1);
    unit_ok(lx_source_open_recordio("a.rec", "a.idx", 1, NULL, NULL, &one, &error));
    unit_ok(lx_source_save(one, text, sizeof text, NULL, &error));
    unit_ok(lx_source_match(one, text, false, &error));
    lx_source_unref(one);
    FILE *file = fopen("short.idx", "w"); /* another record of the same file */
    fprintf(file, "0\t0\n");
    fclose(file);
    unit_ok(lx_source_open_recordio("a.rec", "short.idx", 1, NULL, NULL, &one, &error));
    unit_ok(lx_source_save(one, text, sizeof text, NULL, &error));
    lx_source_unref(one);
    write_bytes("short.idx", (const uint8_t *)"0\t40\n", 5);
    unit_ok(lx_source_open_recordio("a.rec", "short.idx", 1, NULL, NULL, &one, &error));
    ck_assert_int_eq(lx_source_match(one, text, false, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "\"source.offsets\" is"));
    lx_error_clear(&error);
    lx_source_unref(one);
    write_file(2);
    unit_ok(lx_source_open_recordio("a.rec", "a.idx", 2, NULL, NULL, &other, &error));
    unit_fails(lx_source_match(other, text, false, &error), LX_ERR_MISMATCH);
    lx_source_unref(other);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    char *scratch = scratch_make();
    lx_source *source;
    write_file(0);
    unit_fails(lx_source_open_recordio("b.rec", "a.idx", 0, NULL, NULL, &source, &error),
               LX_ERR_NOT_FOUND);
    unit_fails(lx_source_open_recordio("a.rec", "b.idx", 0, NULL, NULL, &source, &error),
               LX_ERR_NOT_FOUND);
    unit_refuses_null(lx_source_open_recordio(NULL, "a.idx", 0, NULL, NULL, &source, &error),
                      "records");
    unit_refuses_null(lx_source_open_recordio("a.rec", "a.idx", 0, NULL, NULL, NULL, &error),
                      "source");
    FILE *file = fopen("empty.idx", "w");
    fclose(file);
    unit_ok(lx_source_open_recordio("a.rec", "empty.idx", 0, NULL, NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 0);
    lx_source_unref(source);
    for (int scans = 0; scans < 2; scans++) {
        lx_status status = LX_ERR_NOMEM;
        int left = 0;
        for (; status != LX_OK; left++) {
            lx_error_clear(&error);
            scarce_begin(left);
            status = lx_source_open_recordio("a.rec", scans ? NULL : "a.idx", 1, NULL, NULL,
                                             &source, &error);
            ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        }
        ck_assert_int_gt(left, 8);
        lx_source_unref(source);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("recordio/recordio-source", reads_records_with_and_without_headers, follows_the_index,
          finds_the_records_without_an_index, refuses_cut_files_without_an_index,
          refuses_damage_and_compressed_files_without_an_index, reports_the_progress_of_a_scan,
          damage_is_that_of_a_record, states_distinguish_files, rejects_invalid_arguments)
