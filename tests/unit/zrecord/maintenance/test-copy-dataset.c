/* SPDX-License-Identifier: MIT */
/* Copies of records of other datasets, compared with a plain model. */
#include "../goldens.h"
#include "../harm.h"
#include "../plain.h"

/** The stored bytes of all values of a field. */
static uint64_t stored_bytes(const char *path, int field)
{
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_field_stats fields[FIELDS];
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_stat(dataset, &totals, fields, &error));
    lx_dataset_close(dataset);
    return fields[field].stored_bytes;
}

static void expect_model(const char *path, const struct plain *plain)
{
    lx_dataset *dataset = open_dataset(path);
    plain_expect(plain, dataset);
    lx_dataset_close(dataset);
}

START_TEST(all_records_are_copied_as_they_are_stored)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct plain plain = {0};
    uint64_t first = 1;
    records_make("from", 150, 50);
    lx_dataset *from = open_dataset("from");
    lx_writer *writer = records_create("to", NULL);
    unit_ok(lx_writer_copy(writer, from, NULL, 0, NULL, LX_NONE, &first, &error));
    ck_assert_uint_eq(first, 0);
    close_writer(writer);
    plain_append(&plain, 200, 0);
    expect_model("to", &plain);
    for (int field = 0; field < FIELDS; field++)
        ck_assert_uint_eq(stored_bytes("to", field), stored_bytes("from", field));
    lx_dataset_close(from);
    plain_free(&plain);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_records_in_any_order)
{
    static const uint64_t indices[] = {7, 3, 7, 19, 0};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct plain plain = {0};
    uint64_t first;
    records_make_sealed("from", 20);
    lx_dataset *from = open_dataset("from");
    lx_writer *writer = records_create("to", NULL);
    records_append(writer, 4);
    plain_append(&plain, 4, 0);
    unit_ok(lx_writer_copy(writer, from, NULL, 0, indices, 5, &first, &error));
    ck_assert_uint_eq(first, 4);
    for (size_t i = 0; i < 5; i++)
        plain_append(&plain, 1, (uint32_t)indices[i]);
    unit_ok(lx_writer_copy(writer, from, NULL, 0, indices, 0, NULL, &error));
    close_writer(writer);
    expect_model("to", &plain);
    lx_dataset_close(from);
    plain_free(&plain);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_dataset_can_be_copied_to_itself)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct plain plain = {0};
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 30);
    commit(writer);
    lx_dataset *from = open_dataset("d");
    unit_ok(lx_writer_copy(writer, from, NULL, 0, NULL, LX_NONE, NULL, &error));
    close_writer(writer);
    plain_append(&plain, 30, 0);
    plain_append(&plain, 30, 0);
    expect_model("d", &plain);
    lx_dataset_close(from);
    plain_free(&plain);
    scratch_remove(scratch);
}
END_TEST

/** A dataset of one field of records.h, compressed or not. */
static lx_writer *create_one(const char *path, const char *name, lx_compression compression)
{
    static const uint64_t shape[] = {16};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, name, LX_INT32, shape, 1, compression, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    return writer;
}

START_TEST(compression_follows_the_schema)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t right[VALUE_MAX], got[VALUE_MAX];
    static const size_t wave = WAVE;
    records_make_sealed("from", 40);
    lx_dataset *from = open_dataset("from");
    lx_writer *writer = create_one("raw", "wave", LX_COMPRESSION_RAW);
    unit_ok(lx_writer_copy(writer, from, &wave, 1, NULL, LX_NONE, NULL, &error));
    close_writer(writer);
    ck_assert_uint_eq(stored_bytes("raw", 0), 40 * 64);
    lx_dataset *raw = open_dataset("raw");
    writer = create_one("again", "wave", LX_COMPRESSION_FLATE);
    unit_ok(lx_writer_copy(writer, raw, NULL, 0, NULL, LX_NONE, NULL, &error));
    close_writer(writer);
    ck_assert_uint_eq(stored_bytes("again", 0), stored_bytes("from", WAVE));
    lx_dataset *again = open_dataset("again");
    for (uint64_t i = 0; i < 40; i++) {
        ck_assert_uint_eq(record_value(WAVE, i, right), 64);
        unit_ok(lx_dataset_gather(again, 0, &i, 1, got, 64, &error));
        ck_assert_mem_eq(got, right, 64);
    }
    lx_dataset_close(again);
    lx_dataset_close(raw);
    lx_dataset_close(from);
    scratch_remove(scratch);
}
END_TEST

/** Values compressed with the dictionary of one field cannot be read in another, so they are
 * compressed again. */
START_TEST(a_dictionary_is_not_copied)
{
    if (!WITH_ZSTD)
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    golden_copy("zstd-frames");
    lx_dataset *from = open_dataset("zstd-frames");
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "x", LX_BYTES, NULL, 0, LX_COMPRESSION_ZSTD, &error));
    unit_ok(lx_schema_add_field(schema, "y", LX_BYTES, NULL, 0, LX_COMPRESSION_ZSTD, &error));
    unit_ok(lx_writer_create("to", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    unit_ok(lx_writer_copy(writer, from, NULL, 0, NULL, LX_NONE, NULL, &error));
    close_writer(writer);
    lx_dataset *to = open_dataset("to");
    unit_ok(lx_dataset_verify(to, NULL, NULL, NULL, NULL, &error));
    for (uint64_t i = 0; i < 4; i++) {
        uint8_t right[VALUE_MAX], got[VALUE_MAX];
        uint64_t sizes[2];
        bool there[2];
        unit_ok(read_value(from, i / 2, i % 2, right, &sizes[0], &there[0], &error));
        unit_ok(read_value(to, i / 2, i % 2, got, &sizes[1], &there[1], &error));
        ck_assert(there[0] && there[1] && sizes[0] == sizes[1]);
        ck_assert_mem_eq(right, got, sizes[0]);
    }
    lx_dataset_close(to);
    lx_dataset_close(from);
    scratch_remove(scratch);
}
END_TEST

static lx_writer *create_texts(const char *path, lx_compression compression)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, compression, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    return writer;
}

/* A stored value of 8 bytes or less that is not inline needs space in a write buffer, even if it is
 * the only value of the record. */
START_TEST(handles_highly_compressible_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t zeros[64] = {0}, got[VALUE_MAX];
    lx_writer *writer = create_texts("from", LX_COMPRESSION_FLATE);
    for (uint64_t size = 0; size <= sizeof zeros; size++) {
        lx_value value = {zeros, size};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    close_writer(writer);
    lx_dataset *from = open_dataset("from");
    for (lx_compression compression = LX_COMPRESSION_RAW; compression <= LX_COMPRESSION_FLATE;
         compression++) {
        const char *path = compression == LX_COMPRESSION_RAW ? "raw" : "flate";
        writer = create_texts(path, compression);
        for (uint64_t size = 0; size <= sizeof zeros; size++) {
            unit_ok(lx_writer_copy(writer, from, NULL, 0, &size, 1, NULL, &error));
            commit(writer); /* so that each has its own write buffer */
        }
        close_writer(writer);
        lx_dataset *to = open_dataset(path);
        for (uint64_t index = 0; index <= sizeof zeros; index++) {
            uint64_t size;
            bool there;
            unit_ok(read_value(to, 0, index, got, &size, &there, &error));
            ck_assert(there && size == index && memcmp(got, zeros, (size_t)size) == 0);
        }
        unit_ok(lx_dataset_verify(to, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(to);
    }
    lx_dataset_close(from);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_unfit_records_before_appending_any)
{
    static const uint64_t beyond[] = {3, 10};
    static const size_t fields[] = {IMAGE, WAVE}, beyond_fields[] = {FIELDS};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("from", 10);
    lx_dataset *from = open_dataset("from");
    lx_writer *writer = create_one("other", "wave", LX_COMPRESSION_RAW);
    unit_fails(lx_writer_copy(writer, from, NULL, 0, beyond, 2, NULL, &error), LX_ERR_RANGE);
    unit_fails(lx_writer_copy(writer, from, NULL, 0, NULL, 11, NULL, &error), LX_ERR_RANGE);
    unit_refuses_null(lx_writer_copy(writer, NULL, NULL, 0, NULL, 0, NULL, &error), "from");
    unit_refuses_null(lx_writer_copy(NULL, from, NULL, 0, NULL, 0, NULL, &error), "writer");
    close_writer(writer);
    writer = create_one("form", "image", LX_COMPRESSION_RAW);
    lx_status status = lx_writer_copy(writer, from, fields, 1, NULL, LX_NONE, NULL, &error);
    expect_error(status, LX_ERR_MISMATCH, "dtype or shape", "from");
    close_writer(writer);
    writer = create_one("name", "wave", LX_COMPRESSION_RAW);
    status = lx_writer_copy(writer, from, NULL, 0, NULL, LX_NONE, NULL, &error);
    expect_error(status, LX_ERR_MISMATCH, "lacks the field", "from");
    status = lx_writer_copy(writer, from, fields, 2, NULL, LX_NONE, NULL, &error);
    expect_error(status, LX_ERR_MISMATCH, "lacks the field", "from");
    status = lx_writer_copy(writer, from, fields, 0, NULL, LX_NONE, NULL, &error);
    expect_error(status, LX_ERR_MISMATCH, "no field", "");
    unit_fails(lx_writer_copy(writer, from, beyond_fields, 1, NULL, LX_NONE, NULL, &error),
               LX_ERR_RANGE);
    ck_assert_uint_eq(lx_writer_get_length(writer), 0);
    close_writer(writer);
    lx_dataset_close(from);
    scratch_remove(scratch);
}
END_TEST

/** A copy must not give a damaged value a valid checksum. */
START_TEST(finds_damage_before_copying_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *from;
    records_make_sealed("from", 10);
    file_flip(in("from", "chunk/0.zr"), 25);
    unit_ok(open_as("from", LX_VERIFY_NEVER, false, &from, &error));
    lx_writer *writer = records_create("to", NULL);
    unit_fails(lx_writer_copy(writer, from, NULL, 0, NULL, LX_NONE, NULL, &error), LX_ERR_CORRUPT);
    unit_ok(lx_writer_rollback(writer, &error));
    ck_assert_uint_eq(lx_writer_get_length(writer), 0);
    close_writer(writer);
    lx_dataset_close(from);
    scratch_remove(scratch);
}
END_TEST

/** In a field that may lack values, only the checksums of the tables tell. */
START_TEST(finds_a_lost_row_before_copying_it_as_missing)
{
    static const lx__entry zeros = {0};
    const uint64_t lost = 8;
    char *scratch = scratch_make();
    records_make_sealed("whole", 20);
    for (int sealed = 0; sealed < 2; sealed++) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("whole", "from");
        entry_put("from", "image", lost, &zeros);
        if (!sealed)
            records_unseal("from");
        lx_dataset *from = open_dataset("from");
        lx_writer *writer = records_create("to", NULL);
        lx_status status = lx_writer_copy(writer, from, NULL, 0, &lost, 1, NULL, &error);
        if (sealed)
            expect_error(status, LX_ERR_CORRUPT, "table checksum mismatch", "image.offset");
        else
            ck_assert_int_eq(status, LX_OK);
        unit_ok(lx_writer_rollback(writer, &error));
        close_writer(writer);
        lx_dataset_close(from);
        nftw("from", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        nftw("to", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/copy", all_records_are_copied_as_they_are_stored, appends_records_in_any_order,
          a_dataset_can_be_copied_to_itself, compression_follows_the_schema,
          a_dictionary_is_not_copied, handles_highly_compressible_values,
          rejects_unfit_records_before_appending_any, finds_damage_before_copying_it,
          finds_a_lost_row_before_copying_it_as_missing)
