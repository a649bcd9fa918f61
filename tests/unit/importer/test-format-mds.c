/* SPDX-License-Identifier: MIT */
/* The format "mds". */
#include <sys/stat.h>

#include "base/bytes.h"

#include "imports.h"

#define COLUMNS "\"column_names\": [\"i\", \"s\", \"a\"], \"column_encodings\": "
#define COMMON "\"format\": \"mds\", \"version\": 2, \"hashes\": [], "

/* Two samples of the columns i: int, s: str, a: ndarray. */
#define ONE                                                                                        \
    "\x02\0\0\0\x08\0\0\0" /* sizes */                                                             \
    "\x07\0\0\0\0\0\0\0hi" /* i, s */                                                              \
    "\x11\x08\x01\x02\x01\0\x02\0"
#define TWO                                                                                        \
    "\0\0\0\0\x05\0\0\0"                                                                           \
    "\xff\xff\xff\xff\xff\xff\xff\xff"                                                             \
    "\x11\x04\x01\x09\0"
#define ONE_SIZE (sizeof ONE - 1)
#define TWO_SIZE (sizeof TWO - 1)
#define HEAD 18 /* the count, three offsets, and "{}" */

static void put_index(const char *encodings, const char *sizes, uint64_t bytes, int samples,
                      const char *more)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{\"version\": 2, \"shards\": [{" COMMON COLUMNS "%s, \"column_sizes\": %s, "
             "\"samples\": %d, \"raw_data\": {\"basename\": \"shard.00000.mds\", "
             "\"bytes\": %" PRIu64 "}%s}]}",
             encodings, sizes, samples, bytes, more);
    put_text("input/index.json", text);
}

/** Writes a good folder, and returns the shard. */
static size_t put_folder(uint8_t shard[200])
{
    const uint32_t head[] = {LX__LE32(2u), LX__LE32((uint32_t)HEAD),
                             LX__LE32((uint32_t)(HEAD + ONE_SIZE)),
                             LX__LE32((uint32_t)(HEAD + ONE_SIZE + TWO_SIZE))};
    memcpy(shard, head, sizeof head);
    memcpy(shard + 16, "{}", 2);
    memcpy(shard + HEAD, ONE, ONE_SIZE);
    memcpy(shard + HEAD + ONE_SIZE, TWO, TWO_SIZE);
    mkdir("input", 0777);
    put_bytes("input/shard.00000.mds", shard, HEAD + ONE_SIZE + TWO_SIZE);
    put_index("[\"int\", \"str\", \"ndarray\"]", "[8, null, null]", HEAD + ONE_SIZE + TWO_SIZE, 2,
              "");
    return HEAD + ONE_SIZE + TWO_SIZE;
}

static void import_folder(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of("mds", "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
}

static void refuse(lx_status status, uint64_t record, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of("mds", "input");
    lx_status got = lx_importer_run(importer, "refused", NULL, &error);
    ck_assert_msg(got == status && error.record == record && strstr(error.message, part) != NULL,
                  "%s, record %" PRIu64 ": %s", lx_status_get_name(got), error.record,
                  error.message);
    lx_importer_free(importer);
    lx_dataset_remove("refused", NULL);
}

START_TEST(columns_are_fields)
{
    char *scratch = scratch_make();
    uint8_t shard[200];
    put_folder(shard);
    import_folder();
    expect_schema("d", "i:int64 s:str a:bytes a.shape:int64[2]");
    expect_length("d", 2);
    expect_int64("d", 0, "i", 7);
    expect_int64("d", 1, "i", -1);
    expect_text("d", 0, "s", "hi");
    expect_text("d", 1, "s", "");
    const int64_t shape[] = {1, 2};
    expect_bytes("d", 0, "a", "\x01\0\x02\0", 4);
    expect_bytes("d", 0, "a.shape", shape, sizeof shape);
    expect_bytes("d", 1, "a", "\x09\0", 2);
    expect_bytes("d", 1, "a.shape", NULL, 0); /* the size of the value shows it */
    scratch_remove(scratch);
}
END_TEST

/** Imports one sample with one column. */
static lx_status import_value(const char *encoding, const char *size, const void *value,
                              size_t value_size, lx_error *error)
{
    uint8_t shard[200];
    char text[1000];
    size_t varies = strcmp(size, "null") == 0 ? 4 : 0, total = 12 + varies + value_size;
    const uint32_t head[] = {LX__LE32(1u), LX__LE32(12u), LX__LE32((uint32_t)total),
                             LX__LE32((uint32_t)value_size)};
    memcpy(shard, head, 12 + varies);
    memcpy(shard + 12 + varies, value, value_size);
    mkdir("input", 0777);
    put_bytes("input/shard.00000.mds", shard, total);
    snprintf(text, sizeof text,
             "{\"version\": 2, \"shards\": [{" COMMON "\"column_names\": [\"x\"], "
             "\"column_encodings\": [\"%s\"], \"column_sizes\": [%s], \"samples\": 1, "
             "\"compression\": null, \"zip_data\": null, "
             "\"raw_data\": {\"basename\": \"shard.00000.mds\", \"bytes\": %zu}}]}",
             encoding, size, total);
    put_text("input/index.json", text);
    lx_dataset_remove("d", NULL);
    lx_importer *importer = importer_of("mds", "input");
    lx_status status = lx_importer_run(importer, "d", NULL, error);
    lx_importer_free(importer);
    return status;
}

START_TEST(each_encoding_has_its_type)
{
    char *scratch = scratch_make();
    static const struct {
        const char *encoding, *size, *value;
        size_t value_size;
        const char *schema;
    } good[] = {
        {"bytes", "null", "\0\xff", 2, "x:bytes"},
        {"str", "null", "\xc3\xa9", 2, "x:str"},
        {"int", "8", "12345678", 8, "x:int64"},
        {"uint8", "1", "1", 1, "x:uint8"},
        {"float16", "2", "12", 2, "x:float16"},
        {"float64", "8", "12345678", 8, "x:float64"},
        {"str_int", "null", "-12", 3, "x:int64"},
        {"str_float", "null", "1e-05", 5, "x:float64"},
        {"str_float", "null", "nan", 3, "x:float64"},
        {"str_float", "null", "0.30000000000000004", 19, "x:float64"},
        {"str_decimal", "null", "0.10", 4, "x:float64"},
        {"str_decimal", "null", "0.30000000000000004", 19, "x:str"},
        {"str_decimal", "null", "9007199254740993", 16, "x:int64"},
        {"json", "null", "[0.5, 9007199254740993]", 23, "x:json"},
        {"json", "null", "{\"a\": 1}", 8, "x:json"},
        {"json", "null", "\"a\"", 3, "x:json"},
        {"json", "null", "[1, 2]", 6, "x:int64[2]"},
        {"jpeg", "null", JPEG, 3, "x:image"},
        {"png", "null", "\x89PNG\r\n\x1a\n", 8, "x:image"},
        {"pkl", "null", "cos\nsystem\n", 11, "x:bytes"},
        {"ndarray:int16:2,1", "4", "1234", 4, "x:int16[2,1]"},
        {"ndarray:uint8", "null", "\x04\x02zz", 4, "x:uint8[?]"},
        {"ndarray:uint8", "null", "\x05\x02\0zz", 5, "x:uint8[?]"},
        {"ndarray", "null", "\x22\x06\x01\0\0\0zzzz", 10, "x:float32[?]"},
        {"ndarray", "null", "\x08\x08\x02\x01zz", 6, "x:uint8[?,1]"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        lx_error error = LX_ERROR_INIT;
        unit_ok(import_value(good[i].encoding, good[i].size, good[i].value, good[i].value_size,
                             &error));
        expect_schema("d", good[i].schema);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(values_that_are_not_what_they_should_be_are_refused)
{
    char *scratch = scratch_make();
    static const struct {
        const char *encoding, *size, *value;
        size_t value_size;
        const char *part;
    } bad[] = {
        {"str", "null", "\xff", 1, "UTF-8"},
        {"str_int", "null", "\xff", 1, "UTF-8"},
        {"json", "null", "{\"a\": ", 6, "JSON"},
        {"json", "null", "NaN", 3, "JSON"},
        {"int", "4", "1234", 4, "size"},
        {"int", "null", "12345678", 8, "size"},
        {"str", "3", "abc", 3, "size"},
        {"str", "-1", "abc", 3, "size"},
        {"ndarray:int16:2", "5", "12345", 5, "size"},
        {"ndarray:complex64", "null", "12", 2, "not supported"},
        {"ndarray:int16:0", "0", "", 0, "not supported"},
        {"ndarray:int16:", "2", "12", 2, "not supported"},
        {"ndarray:int16:2,", "2", "12", 2, "not supported"},
        {"ndarray:int16:4294967296,4294967296", "2", "12", 2, "not supported"},
        {"ndarray:a_long_name_of_a_dtype", "2", "12", 2, "not supported"},
        {"video", "null", "12", 2, "'video'"},
        {"ndarray", "null", "", 0, "no valid dtype"},
        {"ndarray", "null", "\x07", 1, "no valid dtype"},
        {"ndarray", "null", "\x08", 1, "no shape"},
        {"ndarray", "null", "\x08\x0b", 2, "no valid shape"},
        {"ndarray", "null", "\x08\x90", 2, "32 dimensions"},
        {"ndarray", "null", "\x08\x04\x03zz", 5, "not that of its shape"},
        {"ndarray", "null", "\x08\x08\x02\x02zz", 6, "not that of its shape"},
        {"ndarray", "null", "\x22\x0b\xff\xff\xff\xff\xff\xff\xff\xff\x04\0\0\0\0\0\0\0", 18,
         "not that of its shape"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = import_value(bad[i].encoding, bad[i].size, bad[i].value,
                                        bad[i].value_size, &error);
        ck_assert(status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED);
        ck_assert_msg(strstr(error.message, bad[i].part) != NULL, "%zu: %s", i, error.message);
        ck_assert_str_eq(error.field, "x");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_index_that_is_wrong_is_refused)
{
    char *scratch = scratch_make();
    uint8_t shard[200];
    size_t size = put_folder(shard);
    static const struct {
        const char *encodings, *sizes;
        int samples;
        const char *more;
        lx_status status;
        const char *part;
    } bad[] = {
        {"[\"int\"]", "[8, null, null]", 2, "", LX_ERR_CORRUPT, "number of entries"},
        {"\"int\"", "[8, null, null]", 2, "", LX_ERR_CORRUPT, "column_encodings"},
        {"[\"int\", 5, \"str\"]", "[8, null, null]", 2, "", LX_ERR_CORRUPT, "column 1"},
        {"[\"int\", \"str\", \"str\"]", "[8, null, {}]", 2, "", LX_ERR_CORRUPT, "size"},
        {"[\"int\", \"str\", \"str\"]", "[8, null, null]", -1, "", LX_ERR_CORRUPT, "samples"},
        {"[\"int\", \"str\", \"str\"]", "[8, null, null]", 3, "", LX_ERR_CORRUPT, "samples"},
        {"[\"int\", \"str\", \"str\"]", "[8, null, null]", 2, ", \"compression\": \"br:11\"",
         LX_ERR_UNSUPPORTED, "'br:11'"},
        {"[\"int\", \"str\", \"str\"]", "[8, null, null]", 2, ", \"compression\": 1",
         LX_ERR_CORRUPT, "compression"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_index(bad[i].encodings, bad[i].sizes, size, bad[i].samples, bad[i].more);
        refuse(bad[i].status, 0, bad[i].part);
    }
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"version\": 1, \"shards\": []}",
        "{\"version\": 2, \"shards\": {}}",
        "{\"version\": 2, \"shards\": [1]}",
        "{\"version\": 2, \"shards\": [{\"format\": \"csv\", \"version\": 2}]}",
        "{\"version\": 2, \"shards\": [{" COMMON "\"samples\": 1, \"raw_data\": "
        "{\"bytes\": 1, \"basename\": \"../../etc/passwd\"}}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lx_error error = LX_ERROR_INIT;
        put_text("input/index.json", texts[i]);
        lx_importer *importer = importer_of("mds", "input");
        lx_status status = lx_importer_run(importer, "refused", NULL, &error);
        ck_assert_msg(status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED, "%zu: %s", i,
                      lx_status_get_name(status));
        lx_importer_free(importer);
    }
    unlink("input/index.json");
    refuse(LX_ERR_NOT_FOUND, LX_NONE, "");
    scratch_remove(scratch);
}
END_TEST

START_TEST(damaged_shards_are_refused)
{
    char *scratch = scratch_make();
    uint8_t good[200], shard[200];
    size_t size = put_folder(good);
    for (size_t cut = 0; cut < size; cut++) {
        put_bytes("input/shard.00000.mds", good, cut);
        refuse(LX_ERR_CORRUPT, cut < HEAD + ONE_SIZE ? 0 : 1, "the shard is damaged");
        refuse(LX_ERR_CORRUPT, cut < HEAD + ONE_SIZE ? 0 : 1,
               cut < HEAD + ONE_SIZE ? "that are lost: 2" : "that are lost: 1");
    }
    static const struct {
        size_t at;
        uint32_t number;
        uint64_t record;
        const char *part;
    } bad[] = {
        {0, 3, 0, "number of samples"},
        {0, UINT32_MAX, 0, "number of samples"},
        {4, 0, 0, "do not increase"},
        {4, 200, 0, "do not increase"},
        {8, HEAD, 0, "do not increase"},
        {8, UINT32_MAX, 0, "do not increase"},
        {12, 5, 0, "do not increase"},
        {12, UINT32_MAX, 0, "do not increase"},
        {8, HEAD + 7, 0, "add up"},
        {8, HEAD + ONE_SIZE - 1, 0, "add up"},
        {HEAD, 3, 0, "UTF-8"},
        {HEAD, UINT32_MAX, 0, "add up"},
        {HEAD + 4, 7, 0, "not that of its shape"},
        {HEAD + ONE_SIZE, UINT32_MAX - 3, 1, "add up"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(shard, good, size);
        lx__store_le32(shard + bad[i].at, bad[i].number);
        if (i == 10)
            shard[HEAD + 17] = 0xff;
        put_bytes("input/shard.00000.mds", shard, size);
        refuse(LX_ERR_CORRUPT, bad[i].record, bad[i].part);
    }
    unlink("input/shard.00000.mds");
    refuse(LX_ERR_NOT_FOUND, 0, "that are lost: 2");
    ck_assert_int_eq(mkfifo("input/shard.00000.mds", 0666), 0);
    refuse(LX_ERR_CORRUPT, 0, "regular");
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-mds", columns_are_fields, each_encoding_has_its_type,
          values_that_are_not_what_they_should_be_are_refused, an_index_that_is_wrong_is_refused,
          damaged_shards_are_refused)
