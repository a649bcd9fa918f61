/* SPDX-License-Identifier: MIT */
/* The format "original". */
#include <sys/stat.h>

#include "base/bytes.h"

#include "imports.h"

#define RECORDS 5
#define ROWS 4096
#define META (ROWS + 16 * RECORDS)

/** Writes meta.zr: a header, a schema, and rows that place the records one after another. */
static void make_meta(uint8_t meta[META], const char *schema, size_t files, int codec,
                      const uint32_t sizes[RECORDS])
{
    uint64_t ends[2] = {0, 0};
    memset(meta, 0, META);
    meta[0] = RECORDS;
    meta[8] = (uint8_t)strlen(schema);
    meta[10] = (uint8_t)files;
    meta[11] = (uint8_t)codec;
    strcpy((char *)meta + 2056, schema);
    for (size_t i = 0; i < RECORDS; i++) {
        uint8_t *row = meta + ROWS + 16 * i;
        uint64_t offset = LX__LE64(ends[i % files]);
        memcpy(row, &offset, 8);
        lx__store_le32(row + 8, sizes[i]);
        lx__store_le32(row + 12, sizes[i]);
        ends[i % files] += sizes[i];
    }
    for (size_t i = 0; i < files; i++)
        meta[16 + 8 * i] = (uint8_t)ends[i];
}

#define DENSE "{\"dtype\": \"int16\", \"item_shape\": [2]}"
#define RAGGED "{\"dtype\": \"uint8\", \"ndim\": 2}"

static const uint32_t dense_sizes[RECORDS] = {4, 4, 4, 4, 4};
static const uint32_t ragged_sizes[RECORDS] = {9, 10, 8, 9, 9};

static void put_dense(uint8_t meta[META])
{
    make_meta(meta, DENSE, 2, 0, dense_sizes);
    mkdir("input", 0777);
    put_bytes("input/meta.zr", meta, META);
    put_bytes("input/data_0.zr", "aabbccddeeff", 12);
    put_bytes("input/data_1.zr", "gghhiijj", 8);
}

/* The records of a ragged store with shapes that differ in the last extent, or only in the first.
 */
#define ANY_SHAPES                                                                                 \
    "\1\0\0\0\1\0\0\0a\1\0\0\0\2\0\0\0bc\0\0\0\0\3\0\0\0"                                          \
    "\1\0\0\0\1\0\0\0d\1\0\0\0\1\0\0\0e"
#define COLUMN_SHAPES                                                                              \
    "\1\0\0\0\1\0\0\0a\2\0\0\0\1\0\0\0bc\0\0\0\0\1\0\0\0"                                          \
    "\1\0\0\0\1\0\0\0d\1\0\0\0\1\0\0\0e"

static void put_ragged(const char *folder, const char *records)
{
    uint8_t meta[META];
    char name[100];
    make_meta(meta, RAGGED, 1, 0, ragged_sizes);
    mkdir(folder, 0777);
    snprintf(name, sizeof name, "%s/meta.zr", folder);
    put_bytes(name, meta, META);
    snprintf(name, sizeof name, "%s/data_0.zr", folder);
    put_bytes(name, records, 45);
}

static void import_folder(const char *option)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of("original", "input");
    if (option != NULL)
        unit_ok(lx_importer_set_option(importer, "field", option, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
}

static void refuse(lx_status status, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of("original", "input");
    lx_status got = lx_importer_run(importer, "refused", NULL, &error);
    ck_assert_msg(got == status && strstr(error.message, part) != NULL, "%s: %s",
                  lx_status_get_name(got), error.message);
    lx_importer_free(importer);
    lx_dataset_remove("refused", NULL);
}

START_TEST(a_dense_store_is_a_field)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t meta[META];
    put_dense(meta);
    import_folder(NULL);
    expect_schema("d", "data:int16[2]");
    expect_length("d", RECORDS);
    expect_text("d", 0, "data", "aabb");
    expect_text("d", 1, "data", "gghh");
    expect_text("d", 4, "data", "eeff");
    unit_ok(lx_dataset_remove("d", &error));
    import_folder("pixels");
    expect_schema("d", "pixels:int16[2]");
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_ragged_store_is_a_ragged_field_if_only_the_first_extent_varies)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_ragged("input", COLUMN_SHAPES);
    import_folder(NULL);
    expect_schema("d", "data:uint8[?,1]");
    expect_text("d", 1, "data", "bc");
    expect_text("d", 2, "data", "");
    lx_importer *importer = importer_of("original", "input");
    unit_ok(lx_importer_set_field(importer, "data", "bytes", &error));
    unit_ok(lx_importer_run(importer, "bytes", NULL, &error));
    expect_schema("bytes", "data:bytes data.shape:int64[2]");
    const int64_t shape[] = {2, 1};
    expect_bytes("bytes", 1, "data.shape", shape, sizeof shape);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* The original has no type for text: it is stored as bytes, whose shape is their number. */
START_TEST(ragged_bytes_can_be_text)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint32_t sizes[RECORDS] = {5, 6, 4, 6, 6};
    static const char records[] = "\1\0\0\0"
                                  "1\2\0\0\0"
                                  "10\0\0\0\0\2\0\0\0\xc3\xa9\2\0\0\0[]";
    static const char *const types[] = {"str", "bytes"};
    uint8_t meta[META];
    make_meta(meta, "{\"dtype\": \"uint8\", \"ndim\": 1}", 1, 0, sizes);
    mkdir("input", 0777);
    put_bytes("input/meta.zr", meta, META);
    put_bytes("input/data_0.zr", records, sizeof records - 1);
    for (size_t i = 0; i < 2; i++) {
        char schema[20];
        lx_importer *importer = importer_of("original", "input");
        unit_ok(lx_importer_set_field(importer, "data", types[i], &error));
        unit_ok(lx_importer_run(importer, "d", NULL, &error));
        snprintf(schema, sizeof schema, "data:%s", types[i]);
        expect_schema("d", schema);
        expect_text("d", 1, "data", "10");
        expect_text("d", 2, "data", "");
        expect_text("d", 3, "data", "\xc3\xa9");
        lx_importer_free(importer);
        unit_ok(lx_dataset_remove("d", &error));
    }
    lx_importer *importer = importer_of("original", "input");
    unit_ok(lx_importer_set_field(importer, "data", "json", &error));
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "data:json");
    expect_length("d", 3);
    expect_text("d", 2, "data", "[]");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_folder_of_stores_has_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    mkdir("input", 0777);
    mkdir("input/other", 0777);
    put_text("input/readme", "not a store");
    put_ragged("input/b", ANY_SHAPES);
    uint8_t meta[META];
    ck_assert_int_eq(rename("input", "kept"), 0);
    put_dense(meta);
    ck_assert_int_eq(rename("input", "kept/a"), 0);
    ck_assert_int_eq(rename("kept", "input"), 0);
    import_folder(NULL);
    expect_schema("d", "a:int16[2] b:bytes b.shape:int64[2]");
    const int64_t shape[] = {0, 3};
    expect_text("d", 1, "b", "bc");
    expect_text("d", 2, "b", "");
    expect_bytes("d", 2, "b.shape", shape, sizeof shape);
    expect_text("d", 3, "b", "d");
    lx_importer *importer = importer_of("original", "input");
    unit_ok(lx_importer_set_option(importer, "field", "x", &error));
    unit_fails(lx_importer_run(importer, "e", NULL, &error), LX_ERR_ARGUMENT);
    lx_importer_free(importer);
    meta[0]--;
    put_bytes("input/a/meta.zr", meta, META);
    refuse(LX_ERR_CORRUPT, "4 and 5 records");
    scratch_remove(scratch);
}
END_TEST

START_TEST(older_names_of_dtypes_are_known)
{
    char *scratch = scratch_make();
    uint8_t meta[META];
    put_dense(meta);
    make_meta(meta, "{\"dtype\": \"<i2\", \"item_shape\": [2]}", 2, 0, dense_sizes);
    put_bytes("input/meta.zr", meta, META);
    import_folder(NULL);
    expect_schema("d", "data:int16[2]");
    scratch_remove(scratch);
}
END_TEST

START_TEST(schemas_that_are_wrong_are_refused)
{
    char *scratch = scratch_make();
    static const struct {
        const char *schema;
        lx_status status;
        const char *part;
    } bad[] = {
        {"", LX_ERR_CORRUPT, ""},
        {"[]", LX_ERR_CORRUPT, ""},
        {"{\"dtype\": 5, \"item_shape\": [2]}", LX_ERR_CORRUPT, "dtype"},
        {"{\"dtype\": \"object\", \"item_shape\": [2]}", LX_ERR_UNSUPPORTED, "'object'"},
        {"{\"dtype\": \"bytes\", \"item_shape\": [2]}", LX_ERR_UNSUPPORTED, "'bytes'"},
        {"{\"dtype\": \"int8\", \"item_shape\": 2}", LX_ERR_CORRUPT, "item_shape"},
        {"{\"dtype\": \"int8\", \"item_shape\": [0]}", LX_ERR_CORRUPT, "extent 0"},
        {"{\"dtype\": \"int8\", \"item_shape\": [4, -1]}", LX_ERR_CORRUPT, "extent 1"},
        {"{\"dtype\": \"int8\", \"item_shape\": [4.0]}", LX_ERR_CORRUPT, "extent 0"},
        {"{\"dtype\": \"int8\", \"item_shape\": [3]}", LX_ERR_CORRUPT, "not that of its shape"},
        {"{\"dtype\": \"int8\", \"item_shape\": [4294967296, 4294967296, 4]}", LX_ERR_CORRUPT,
         "not that of its shape"},
        {"{\"dtype\": \"int8\"}", LX_ERR_CORRUPT, "ndim"},
        {"{\"dtype\": \"int8\", \"ndim\": 0}", LX_ERR_CORRUPT, "ndim"},
        {"{\"dtype\": \"int8\", \"ndim\": 33}", LX_ERR_UNSUPPORTED, "32 dimensions"},
        {"{\"dtype\": \"int8\", \"ndim\": 2}", LX_ERR_CORRUPT, "too small"},
        {"{\"dtype\": \"int8\", \"ndim\": 1}", LX_ERR_CORRUPT, "not that of its shape"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t meta[META];
        put_dense(meta);
        make_meta(meta, bad[i].schema, 2, 0, dense_sizes);
        put_bytes("input/meta.zr", meta, META);
        refuse(bad[i].status, bad[i].part);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(numbers_that_are_wrong_are_refused)
{
    char *scratch = scratch_make();
    static const struct {
        size_t at;
        uint32_t number;
        lx_status status;
        const char *part;
    } bad[] = {
        {0, RECORDS + 1, LX_ERR_CORRUPT, "does not fit"},
        {4, UINT32_MAX, LX_ERR_CORRUPT, "does not fit"},
        {8, 0x0002ffff, LX_ERR_CORRUPT, "loaderx 2.8"},
        {8, 0x00000025, LX_ERR_CORRUPT, "loaderx 2.8"},
        {8, 0x03020025, LX_ERR_CORRUPT, "loaderx 2.8"},
        {8, 0x00030025, LX_ERR_NOT_FOUND, ""},
        {16, 13, LX_ERR_CORRUPT, "should have"},
        {20, 1, LX_ERR_CORRUPT, "should have"},
        {16, 3, LX_ERR_CORRUPT, "within its file"},
        {ROWS, 9, LX_ERR_CORRUPT, "within its file"},
        {ROWS + 4, UINT32_MAX, LX_ERR_CORRUPT, "within its file"},
        {ROWS + 8, UINT32_MAX, LX_ERR_LIMIT, "limit"},
        {ROWS + 8, 5, LX_ERR_CORRUPT, "differ"},
        {ROWS + 12, 5, LX_ERR_CORRUPT, "differ"},
        {ROWS + 12, UINT32_MAX, LX_ERR_LIMIT, "limit"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t meta[META];
        put_dense(meta);
        ck_assert_uint_eq(strlen(DENSE), 0x25);
        lx__store_le32(meta + bad[i].at, bad[i].number);
        put_bytes("input/meta.zr", meta, META);
        refuse(bad[i].status, bad[i].part);
    }
    uint8_t meta[META];
    put_dense(meta);
    for (size_t cut = 0; cut < META; cut += 13) {
        put_bytes("input/meta.zr", meta, cut);
        refuse(LX_ERR_CORRUPT, "");
    }
    put_dense(meta);
    unlink("input/data_1.zr");
    refuse(LX_ERR_NOT_FOUND, "");
    unlink("input/meta.zr");
    refuse(LX_ERR_NOT_FOUND, "no meta.zr");
    scratch_remove(scratch);
}
END_TEST

START_TEST(damaged_records_are_skipped)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t meta[META];
    put_dense(meta);
    meta[ROWS + 16 * 2] = 100;
    put_bytes("input/meta.zr", meta, META);
    lx_importer *importer = importer_of("original", "input");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", RECORDS - 1);
    expect_text("d", 2, "data", "iijj");
    ck_assert_uint_eq(lx_importer_get_bad(importer, 0)->record, 2);
    ck_assert_str_eq(lx_importer_get_bad(importer, 0)->path, "input/data_0.zr");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-original", a_dense_store_is_a_field,
          a_ragged_store_is_a_ragged_field_if_only_the_first_extent_varies,
          ragged_bytes_can_be_text, a_folder_of_stores_has_fields, older_names_of_dtypes_are_known,
          schemas_that_are_wrong_are_refused, numbers_that_are_wrong_are_refused,
          damaged_records_are_skipped)
