/* SPDX-License-Identifier: MIT */
/* The calls of zrecord.h that read records: rejected arguments, and views. */
#include <pthread.h>

#include "../../scarce.h"
#include "../harm.h"
#include "zrecord/read/dataset.h"

START_TEST(rejects_invalid_arguments_without_change)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 5);
    lx_dataset *dataset = open_dataset("d");
    const uint64_t indices[2] = {1, 2};
    uint64_t offsets[3] = {7, 7, 7};
    uint8_t out[64] = {0}, present[2] = {9, 9};
    lx_slice slices[2] = {{out, 1}, {out, 1}};
    lx_view *view = NULL;
    static const size_t none[] = {FIELDS, FIELDS + 1, SIZE_MAX};
    for (size_t i = 0; i < 3; i++) {
        lx_status wrong = lx_dataset_gather(dataset, none[i], indices, 2, out, 12, &error);
        expect_error(wrong, LX_ERR_ARGUMENT, "not found", "d");
        unit_fails(lx_dataset_get_sizes(dataset, none[i], indices, 2, offsets, present, &error),
                   LX_ERR_ARGUMENT);
        unit_fails(lx_dataset_get_present(dataset, none[i], indices, 2, present, &error),
                   LX_ERR_ARGUMENT);
        ck_assert(!lx_dataset_may_lack_values(dataset, none[i]));
        unit_fails(lx_dataset_gather_bytes(dataset, none[i], indices, 2, offsets, out, &error),
                   LX_ERR_ARGUMENT);
        unit_fails(lx_dataset_view(dataset, none[i], indices, 2, slices, &view, &error),
                   LX_ERR_ARGUMENT);
    }
    lx_status status = lx_dataset_gather(dataset, BLOB, indices, 2, out, 64, &error);
    expect_error(status, LX_ERR_ARGUMENT, "'blob'", "");
    static const size_t strides[] = {0, 1, 11};
    for (size_t i = 0; i < 3; i++) {
        status = lx_dataset_gather(dataset, IMAGE, indices, 2, out, strides[i], &error);
        expect_error(status, LX_ERR_ARGUMENT, "stride", "");
    }
    ck_assert_ptr_null(view);
    for (size_t i = 0; i < sizeof out; i++)
        ck_assert_uint_eq(out[i], 0);
    ck_assert(offsets[0] == 7 && offsets[2] == 7 && present[0] == 9 && slices[1].size == 1);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 5);
    lx_dataset *dataset = open_dataset("d");
    const uint64_t index = 3;
    uint64_t offsets[2];
    uint8_t out[64], present;
    lx_slice slice;
    lx_view *view;
    unit_refuses_null(lx_dataset_gather(NULL, IMAGE, &index, 1, out, 12, &error), "dataset");
    unit_refuses_null(lx_dataset_gather(dataset, IMAGE, NULL, 1, out, 12, &error), "indices");
    unit_refuses_null(lx_dataset_gather(dataset, IMAGE, &index, 1, NULL, 12, &error), "out");
    unit_refuses_null(lx_dataset_get_sizes(NULL, BLOB, &index, 1, offsets, NULL, &error),
                      "dataset");
    unit_refuses_null(lx_dataset_get_sizes(dataset, BLOB, NULL, 1, offsets, NULL, &error),
                      "indices");
    unit_refuses_null(lx_dataset_get_sizes(dataset, BLOB, &index, 1, NULL, NULL, &error),
                      "offsets");
    unit_ok(lx_dataset_get_sizes(dataset, IMAGE, &index, 1, offsets, NULL, &error));
    unit_refuses_null(lx_dataset_get_present(NULL, BLOB, &index, 1, &present, &error), "dataset");
    unit_refuses_null(lx_dataset_get_present(dataset, BLOB, NULL, 1, &present, &error), "indices");
    unit_refuses_null(lx_dataset_get_present(dataset, BLOB, &index, 1, NULL, &error), "present");
    ck_assert(!lx_dataset_may_lack_values(NULL, BLOB));
    unit_refuses_null(lx_dataset_gather_bytes(NULL, IMAGE, &index, 1, offsets, out, &error),
                      "dataset");
    unit_refuses_null(lx_dataset_gather_bytes(dataset, IMAGE, NULL, 1, offsets, out, &error),
                      "indices");
    unit_refuses_null(lx_dataset_gather_bytes(dataset, IMAGE, &index, 1, offsets, NULL, &error),
                      "out");
    unit_refuses_null(lx_dataset_gather_bytes(dataset, IMAGE, &index, 1, NULL, out, &error),
                      "offsets");
    unit_refuses_null(lx_dataset_view(NULL, IMAGE, &index, 1, &slice, &view, &error), "dataset");
    unit_refuses_null(lx_dataset_view(dataset, IMAGE, NULL, 1, &slice, &view, &error), "indices");
    unit_refuses_null(lx_dataset_view(dataset, IMAGE, &index, 1, NULL, &view, &error), "slices");
    unit_refuses_null(lx_dataset_view(dataset, IMAGE, &index, 1, &slice, NULL, &error), "view");
    lx_view_free(NULL);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reading_no_records_allocates_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 5);
    lx_dataset *dataset = open_dataset("d");
    uint64_t offset = 7, offsets[2];
    lx_view *view;
    unit_ok(lx_dataset_gather(dataset, IMAGE, NULL, 0, NULL, 12, &error));
    unit_ok(lx_dataset_get_present(dataset, BLOB, NULL, 0, NULL, &error));
    unit_ok(lx_dataset_get_sizes(dataset, BLOB, NULL, 0, &offset, NULL, &error));
    ck_assert_uint_eq(offset, 0);
    unit_ok(lx_dataset_gather_bytes(dataset, BLOB, NULL, 0, &offset, NULL, &error));
    unit_ok(lx_dataset_view(dataset, BLOB, NULL, 0, NULL, &view, &error));
    lx_view_free(view);
    for (uint64_t index = 0; index < 15; index++) { /* empty and missing ones, neither */
        if (bytes_size(BLOB, index) != 0 && bytes_size(BLOB, index) != LX_NONE)
            continue;
        unit_ok(lx_dataset_get_sizes(dataset, BLOB, &index, 1, offsets, NULL, &error));
        ck_assert_uint_eq(offsets[1], 0);
        unit_ok(lx_dataset_gather_bytes(dataset, BLOB, &index, 1, offsets, NULL, &error));
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** The slice must be the uncompressed value of records.h. */
static void expect_slice(int field, uint64_t index, lx_slice slice)
{
    uint8_t right[VALUE_MAX];
    uint64_t size = record_value(field, index, right);
    ck_assert_int_eq(slice.data == NULL, size == LX_NONE);
    ck_assert_uint_eq(slice.size, size == LX_NONE ? 0 : size);
    if (slice.size != 0)
        ck_assert_mem_eq(slice.data, right, slice.size);
}

static const int raw_fields[] = {IMAGE, LABEL, BLOB};

START_TEST(views_point_to_mapped_records)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[40];
    records_make("d", 15, 5);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 0; i < 40; i++)
        indices[i] = mix(i) % 20;
    for (int k = 0; k < 3; k++) {
        lx_slice slices[40], again[40];
        lx_view *a, *b;
        unit_ok(lx_dataset_view(dataset, (size_t)raw_fields[k], indices, 40, slices, &a, &error));
        unit_ok(lx_dataset_view(dataset, (size_t)raw_fields[k], indices, 40, again, &b, &error));
        for (int i = 0; i < 40; i++) {
            expect_slice(raw_fields[k], indices[i], slices[i]);
            ck_assert_ptr_eq(slices[i].data, again[i].data); /* no copies */
        }
        lx_view_free(a);
        for (int i = 0; i < 40; i++)
            expect_slice(raw_fields[k], indices[i], again[i]);
        lx_view_free(b);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

static void *release_view(void *user)
{
    lx_view_free(user);
    return NULL;
}

START_TEST(a_view_outlives_refresh_and_close)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint64_t indices[] = {4, 7, 3};
    lx_slice slices[3][3];
    lx_view *views[3];
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 20);
    commit(writer);
    size_t before = directory_count("/proc/self/fd");
    lx_dataset *dataset = open_dataset("d");
    for (int k = 0; k < 3; k++)
        unit_ok(lx_dataset_view(dataset, (size_t)raw_fields[k], indices, 3, slices[k], &views[k],
                                &error));
    records_append(writer, 6000); /* tables and chunks that have to be mapped again */
    commit(writer);
    bool changed;
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    expect_value(dataset, BLOB, 6019);
    lx_dataset_close(dataset);
    close_writer(writer);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            expect_slice(raw_fields[k], indices[i], slices[k][i]);
    for (int k = 0; k < 3; k++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, release_view, views[k]), 0);
        pthread_join(thread, NULL);
    }
    ck_assert_uint_lt(directory_count("/proc/self/fd"), before);
    scratch_remove(scratch);
}
END_TEST

/* ---- views during writes */

#define HELD_RECORDS 3

/** A view of records, and its original bytes. */
struct held {
    lx_view *view;
    lx_slice slices[HELD_RECORDS];
    uint8_t bytes[HELD_RECORDS][VALUE_MAX];
};

static void hold(struct held *held, lx_dataset *dataset, int field)
{
    static const uint64_t indices[HELD_RECORDS] = {4, 7, 3};
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_dataset_view(dataset, (size_t)field, indices, HELD_RECORDS, held->slices,
                            &held->view, &error));
    for (int i = 0; i < HELD_RECORDS; i++)
        if (held->slices[i].data != NULL)
            memcpy(held->bytes[i], held->slices[i].data, held->slices[i].size);
}

static void let_go(struct held *held)
{
    for (int i = 0; i < HELD_RECORDS; i++)
        if (held->slices[i].data != NULL)
            ck_assert_mem_eq(held->bytes[i], held->slices[i].data, held->slices[i].size);
    lx_view_free(held->view);
}

static void switch_files(lx_writer **writer, int step)
{
    lx_error error = LX_ERROR_INIT;
    switch (step) {
    case 0:
        unit_ok(lx_writer_checkpoint(*writer, &error));
        break;
    case 1:
        unit_ok(lx_writer_rebalance(*writer, NULL, NULL, NULL, &error));
        break;
    case 2:
        unit_ok(lx_writer_rename_field(*writer, "image", "picture", &error));
        break;
    case 3:
        unit_ok(
            lx_writer_add_field(*writer, "image", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
        break;
    case 4:
        unit_ok(lx_writer_drop_field(*writer, "image", &error));
        break;
    case 5:
        unit_ok(lx_writer_seal(*writer, &error));
        close_writer(*writer);
        break;
    case 6:
        unit_ok(lx_dataset_unseal("d", &error));
        *writer = records_reopen("d", NULL);
        break;
    default:
        unit_ok(lx_writer_drop_field(*writer, "blob", &error));
    }
}

/** Other records at the places that views show. */
static void move_records(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 3; i < 8; i++)
        unit_ok(lx_writer_delete(writer, i, NULL, &error));
    unit_ok(lx_writer_truncate(writer, lx_writer_get_length(writer) - 1, &error));
    commit(writer);
}

#define SWITCHES 8

START_TEST(views_outlive_all_writer_operations)
{
    char *scratch = scratch_make();
    struct held held[SWITCHES][3];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *live;
    lx_dataset_options *options = lx_dataset_options_new();
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 60);
    commit(writer);
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    unit_ok(lx_dataset_open("d", options, &live, &error));
    lx_dataset_options_free(options);
    for (int step = 0; step < SWITCHES; step++) {
        for (int k = 0; k < 3; k++)
            hold(&held[step][k], live, raw_fields[k]);
        if (step != 6)
            move_records(writer);
        switch_files(&writer, step);
    }
    /* The last one dropped a field of the handle, which cannot continue; its views stay. */
    ck_assert_int_eq(lx_dataset_refresh(live, NULL, NULL), LX_ERR_STATE);
    lx_dataset_close(live);
    close_writer(writer);
    for (int step = 0; step < SWITCHES; step++)
        for (int k = 0; k < 3; k++)
            let_go(&held[step][k]);
    close_writer(records_reopen("d", NULL)); /* removes files without readers */
    ck_assert(!file_exists("d/blob.offset") && !file_exists("d/LOG"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_view_returns_null)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 20);
    size_t before = directory_count("/proc/self/fd");
    harm_entry("d", "image", 8, &harms[0]);
    lx_dataset *dataset = open_dataset("d");
    static const struct {
        size_t field;
        uint64_t bad;
        lx_status status;
    } cases[] = {{IMAGE, 8, LX_ERR_CORRUPT},
                 {IMAGE, 20, LX_ERR_RANGE},
                 {IMAGE, UINT64_MAX, LX_ERR_RANGE},
                 {WAVE, 8, LX_ERR_UNSUPPORTED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t indices[] = {1, 3, cases[i].bad, 5};
        lx_slice slices[4];
        lx_view *view = NULL;
        lx_status status = lx_dataset_view(dataset, cases[i].field, indices, 4, slices, &view,
                                           &error);
        ck_assert_uint_eq(error.record, cases[i].bad);
        ck_assert_str_eq(error.field, cases[i].field == WAVE ? "wave" : "image");
        expect_error(status, cases[i].status, "", "d");
        ck_assert_ptr_null(view);
    }
    lx_dataset_close(dataset);
    ck_assert_uint_eq(directory_count("/proc/self/fd"), before); /* nor does it keep anything */
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_view_reports_each_invalid_number_of_an_entry)
{
    char *scratch = scratch_make();
    records_make_sealed("whole", 20);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t index = 8;
        lx_slice slice;
        lx_view *view;
        directory_copy("whole", "d");
        harm_entry("d", "image", 8, &harms[i]);
        lx_dataset *dataset = open_dataset("d");
        lx_status status = lx_dataset_view(dataset, IMAGE, &index, 1, &slice, &view, &error);
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        lx_dataset_close(dataset);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reading_allocates_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 20);
    lx_dataset *dataset = open_dataset("d");
    expect_records(dataset, 20); /* chunks are mapped, an inflater is there */
    scarce_begin(0);
    for (uint64_t index = 0; index < 20; index++) {
        lx_slice slice;
        lx_view *view;
        for (int field = 0; field < FIELDS; field++)
            expect_value(dataset, field, index);
        unit_ok(lx_dataset_view(dataset, IMAGE, &index, 1, &slice, &view, &error));
        expect_slice(IMAGE, index, slice);
        lx_view_free(view);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/* Records that fill a chunk each. */
#define CHUNKS 1000
#define LARGE 4096

static void *read_chunks(void *user)
{
    uint64_t indices[CHUNKS];
    lx_error error = LX_ERROR_INIT;
    uint8_t *out = malloc((size_t)CHUNKS * LARGE);
    for (uint64_t i = 0; i < CHUNKS; i++)
        indices[i] = i * 7 % CHUNKS;
    unit_ok(lx_dataset_gather(user, 0, indices, CHUNKS, out, LARGE, &error));
    for (size_t i = 0; i < CHUNKS; i++)
        for (size_t k = 0; k < LARGE; k += 512)
            ck_assert_uint_eq(out[i * LARGE + k], (uint8_t)mix(indices[i]));
    free(out);
    return NULL;
}

START_TEST(reads_a_thousand_chunks_with_few_descriptors)
{
    static const uint64_t shape = LARGE;
    static uint8_t record[LARGE];
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 1, LARGE, &error));
    unit_ok(lx_schema_add_field(schema, "large", LX_UINT8, &shape, 1, LX_COMPRESSION_RAW, &error));
    limit_descriptors(64);
    unit_ok(lx_writer_create("d", schema, options, &writer, &error));
    for (uint64_t i = 0; i < CHUNKS; i++) {
        memset(record, (uint8_t)mix(i), sizeof record);
        unit_ok(lx_writer_append(writer, &(lx_value){record, LARGE}, 1, NULL, &error));
    }
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert_uint_eq(directory_count("d/chunk"), CHUNKS);

    pthread_t threads[4];
    lx_dataset *dataset = open_dataset("d");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_chunks, dataset), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    ck_assert_uint_lt(directory_count("/proc/self/fd"), 20);
    lx_dataset_close(dataset);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

struct reader {
    lx_dataset *dataset;
    uint64_t seed;
};

static void *read_everything(void *user)
{
    struct reader *self = user;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t random = mix(self->seed * 3000 + i), index = random % 200;
        lx_error error = LX_ERROR_INIT;
        lx_slice slice;
        lx_view *view;
        expect_value(self->dataset, (int)((random >> 32) % FIELDS), index);
        unit_ok(lx_dataset_view(self->dataset, BLOB, &index, 1, &slice, &view, &error));
        expect_slice(BLOB, index, slice);
        lx_view_free(view);
    }
    return NULL;
}

START_TEST(threads_read_one_handle)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pthread_t threads[4];
    struct reader readers[4];
    lx_dataset *dataset;
    records_make("d", 150, 50);
    unit_ok(open_as("d", LX_VERIFY_FIRST, false, &dataset, &error));
    for (uint64_t i = 0; i < 4; i++) {
        readers[i] = (struct reader){dataset, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_everything, &readers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/read", rejects_invalid_arguments_without_change, rejects_null_by_name,
          reading_no_records_allocates_nothing, views_point_to_mapped_records,
          a_view_outlives_refresh_and_close, views_outlive_all_writer_operations,
          a_failed_view_returns_null, a_view_reports_each_invalid_number_of_an_entry,
          reading_allocates_nothing, reads_a_thousand_chunks_with_few_descriptors,
          threads_read_one_handle)
