/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset in which the index determines every value: helpers that make it and compare it.
 *
 * It has each kind of field and each kind of value: dense and bytes, raw and flate; stored,
 * compressed, inline, empty and missing.
 */
#ifndef LX_TESTS_RECORDS_H
#define LX_TESTS_RECORDS_H

#include <loaderx/zrecord.h>

#include "files.h"
#include "syncs.h"

/** The fields, by their positions. */
enum {
    IMAGE,   /**< uint8 [3, 4], raw: in chunks; each seventh is missing. */
    LABEL,   /**< int64, raw: inline. */
    WAVE,    /**< int32 [16], flate: every other one is compressible. */
    CAPTION, /**< bytes, flate: of all kinds. */
    BLOB,    /**< bytes, raw: of all kinds. */
    FIELDS
};

/** Bytes of a value of each dense field. */
/** Whether this build has the codec for zstd. */
#ifdef HAVE_ZSTD
#define WITH_ZSTD true
#else
#define WITH_ZSTD false
#endif

static const uint64_t dense_sizes[] = {[IMAGE] = 12, [LABEL] = 8, [WAVE] = 64};

/** The longest value. */
#define VALUE_MAX 512

static inline lx_schema *records_schema(void)
{
    static const uint64_t image[] = {3, 4}, wave[] = {16};
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "image", LX_UINT8, image, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "wave", LX_INT32, wave, 1, LX_COMPRESSION_FLATE, &error));
    unit_ok(
        lx_schema_add_field(schema, "caption", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_schema_add_field(schema, "blob", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    return schema;
}

/** SplitMix64 (Steele, Lea, Flood 2014): a pseudorandom function of @p of. */
static inline uint64_t mix(uint64_t of)
{
    of += 0x9e3779b97f4a7c15u;
    of = (of ^ of >> 30) * 0xbf58476d1ce4e5b9u;
    of = (of ^ of >> 27) * 0x94d049bb133111ebu;
    return of ^ of >> 31;
}

/** The length of a value of bytes; missing, empty, inline and stored values alternate. */
static inline uint64_t bytes_size(int field, uint64_t index)
{
    uint64_t random = mix(index * FIELDS + (uint64_t)field);
    switch ((index + (field == BLOB)) % 5) {
    case 0:
        return LX_NONE;
    case 1:
        return 0;
    case 2:
        return 1 + random % 8;
    case 3:
        return 9 + random % 60;
    default:
        return 60 + random % (VALUE_MAX - 60);
    }
}

/** Writes the value to @p value; returns its size, or LX_NONE if it is missing. */
static inline uint64_t record_value(int field, uint64_t index, uint8_t value[VALUE_MAX])
{
    static const uint64_t sizes[] = {[IMAGE] = 12, [LABEL] = 8, [WAVE] = 64};
    bool dense = field != CAPTION && field != BLOB;
    bool dull = (field == WAVE && index % 2 == 0) || (field == CAPTION && index % 3 != 0);
    uint64_t size = dense ? sizes[field] : bytes_size(field, index);
    if (size == LX_NONE || (field == IMAGE && index % 7 == 6))
        return LX_NONE;
    for (uint64_t i = 0; i < size; i++)
        value[i] = dull ? (uint8_t)(index + i / 8)
                        : (uint8_t)mix((index * FIELDS + (uint64_t)field) * VALUE_MAX + i);
    return size;
}

/** Options with that durability, and otherwise the defaults. */
static inline lx_writer_options *writer_options(lx_durability durability)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = lx_writer_options_new();
    ck_assert_ptr_nonnull(options);
    unit_ok(lx_writer_options_set_durability(options, durability, &error));
    return options;
}

/** Creates the dataset @p path, with no records. @p options are freed; NULL: full durability. */
static inline lx_writer *records_create(const char *path, lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = records_schema();
    if (options == NULL)
        options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

/** Opens it to append to it. @p options are freed; NULL: full durability. */
static inline lx_writer *records_reopen(const char *path, lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    if (options == NULL)
        options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_open(path, options, &writer, &error));
    lx_writer_options_free(options);
    return writer;
}

/** The values of record @p index, in @p memory. */
static inline void record_values(uint64_t index, uint8_t memory[FIELDS][VALUE_MAX],
                                 lx_value values[FIELDS])
{
    for (int field = 0; field < FIELDS; field++)
        values[field] = (lx_value){memory[field], record_value(field, index, memory[field])};
}

/** Appends one record; returns the status. */
static inline lx_status record_append(lx_writer *writer, uint64_t index, lx_error *error)
{
    uint8_t memory[FIELDS][VALUE_MAX];
    lx_value values[FIELDS];
    record_values(index, memory, values);
    return lx_writer_append(writer, values, FIELDS, NULL, error);
}

/** Appends @p count records after the present ones. */
static inline void records_append(lx_writer *writer, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first = lx_writer_get_length(writer);
    for (uint64_t i = 0; i < count; i++)
        unit_ok(record_append(writer, first + i, &error));
    ck_assert_uint_eq(lx_writer_get_length(writer), first + count);
}

static inline void commit(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_commit(writer, &error));
}

static inline void close_writer(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(writer, &error));
}

/** Makes a sealed dataset writable, as unsealing does. */
static inline void records_unseal(const char *path)
{
    file_edit(in(path, "meta.json"), "\"sealed\": true", "\"sealed\": false");
}

/** A sealed dataset of @p length records. */
static inline void records_make_sealed(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create(path, NULL);
    records_append(writer, length);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
}

/** A dataset with @p in_tables records in its tables and @p in_log more in its log. */
static inline void records_make(const char *path, uint64_t in_tables, uint64_t in_log)
{
    records_make_sealed(path, in_tables);
    records_unseal(path);
    lx_writer *writer = records_reopen(path, NULL);
    records_append(writer, in_log);
    close_writer(writer);
}

static inline lx_status open_as(const char *path, lx_verify_policy verify, bool durable,
                                lx_dataset **dataset, lx_error *error)
{
    lx_dataset_options *options = lx_dataset_options_new();
    ck_assert_ptr_nonnull(options);
    ck_assert_int_eq(lx_dataset_options_set_verify_policy(options, verify, error), LX_OK);
    ck_assert_int_eq(lx_dataset_options_set_durable(options, durable, error), LX_OK);
    lx_status status = lx_dataset_open(path, options, dataset, error);
    lx_dataset_options_free(options);
    return status;
}

/** Opens it for reading, everything verified. */
static inline lx_dataset *open_dataset(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, false, &dataset, &error));
    return dataset;
}

/** Reads one value of any field: its bytes, its size and whether it is present. */
static inline lx_status read_value(lx_dataset *dataset, size_t field, uint64_t index,
                                   uint8_t value[VALUE_MAX], uint64_t *size, bool *there,
                                   lx_error *error)
{
    uint64_t offsets[2];
    uint8_t present;
    lx_status status = lx_dataset_get_sizes(dataset, field, &index, 1, offsets, &present, error);
    if (status != LX_OK)
        return status;
    ck_assert_uint_le(offsets[1], VALUE_MAX);
    *size = offsets[1];
    *there = present;
    return lx_dataset_gather_bytes(dataset, field, &index, 1, offsets, value, error);
}

/** The value must be the one of records.h. */
static inline void expect_value(lx_dataset *dataset, int field, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t right[VALUE_MAX] = {0}, got[VALUE_MAX];
    uint64_t wanted = record_value(field, index, right), size;
    bool there;
    unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
    ck_assert_msg(there == (wanted != LX_NONE), "field %d, record %d: is it there?", field,
                  (int)index);
    if (!there)
        wanted = field == CAPTION || field == BLOB ? 0 : field == IMAGE ? 12 : 8;
    ck_assert_msg(size == wanted && memcmp(got, right, size) == 0, "field %d, record %d is wrong",
                  field, (int)index);
}

/** The dataset must have exactly the first @p length records, with the right values. */
static inline void expect_records(lx_dataset *dataset, uint64_t length)
{
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    for (uint64_t index = 0; index < length; index++)
        for (int field = 0; field < FIELDS; field++)
            expect_value(dataset, field, index);
}

/** The dataset at @p path must have exactly these records, all valid. */
static inline void expect_dataset(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    expect_records(dataset, length);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

/** Opening it for reading must fail with that status; @p said is in the message, @p where in the
 * path. */
#define expect_refused(path, status, said, where)                                                  \
    do {                                                                                           \
        lx_dataset *refused = NULL;                                                                \
        lx_error_clear(&error);                                                                    \
        lx_status got = lx_dataset_open(path, NULL, &refused, &error);                             \
        expect_error(got, status, said, where);                                                    \
        ck_assert_ptr_null(refused);                                                               \
    } while (0)

/** A call that returned @p got must have failed with that status and filled `error`, which is
 * cleared. */
#define expect_error(got, status_, said, where)                                                    \
    do {                                                                                           \
        char whole[2048];                                                                          \
        lx_error_describe(&error, whole, sizeof whole);                                            \
        ck_assert_msg((got) == (status_), "%s instead of %s: %s", lx_status_get_name(got),         \
                      lx_status_get_name(status_), whole);                                         \
        ck_assert_int_eq(error.status, status_);                                                   \
        ck_assert_msg(strstr(error.message, said) != NULL, "'%s' is not in: %s", said, whole);     \
        ck_assert_msg(strstr(error.path, where) != NULL, "'%s' is not the path in: %s", where,     \
                      whole);                                                                      \
        lx_error_clear(&error);                                                                    \
    } while (0)

/** Copies the sizes of a chunk to @p info. Returns false if it is past the last one. */
static inline bool chunk_at(lx_dataset *dataset, size_t position, lx_chunk_stats *info)
{
    lx_error error = LX_ERROR_INIT;
    size_t count;
    unit_ok(lx_dataset_stat_chunks(dataset, NULL, 0, &count, &error));
    lx_chunk_stats *all = calloc(count + 1, sizeof *all);
    ck_assert_ptr_nonnull(all);
    unit_ok(lx_dataset_stat_chunks(dataset, all, count, &count, &error));
    if (position < count)
        *info = all[position];
    free(all);
    return position < count;
}

#endif
