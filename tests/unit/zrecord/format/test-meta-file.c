/* SPDX-License-Identifier: MIT */
#include "../meta-text.h"
#include "zrecord/format/meta-file.h"

static const struct edit edits[] = {
    /* 4.1 */
    {"a byte order mark", "{\n  \"format\"", "\xef\xbb\xbf{\n  \"format\"", BAD, "JSON"},
    {"bytes that are not UTF-8", IMAGE_NAME, "\"x\": \"\xff\", " IMAGE_NAME, BAD, "0xff"},
    {"something after the object", "  ]\n}\n", "  ]\n}\n{}", BAD, "JSON"},
    {"whitespace after the object", "  ]\n}\n", "  ]\n}\n \t\r\n", LX_OK, ""},
    {"a key twice", "\"length\": 0", "\"length\": 0, \"length\": 0", BAD, "duplicate"},
    {"a field's key twice", IMAGE_NAME, IMAGE_NAME ", " IMAGE_NAME, BAD, "duplicate"},
    {"an unknown key twice", IMAGE_NAME, IMAGE_NAME ", \"a\": {\"b\": 1, \"b\": 1}", BAD,
     "duplicate"},
    {"16 levels", "\"length\": 0", "\"length\": 0, \"x\": [[[[[[[[[[[[[[[]]]]]]]]]]]]]]]", LX_OK,
     ""},
    {"17 levels", "\"length\": 0", "\"length\": 0, \"x\": [[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]", BAD,
     "deep"},
    {"a fraction", "\"generation\": 0", "\"generation\": 0.0", BAD, "generation"},
    {"an exponent", "\"generation\": 0", "\"generation\": 0e0", BAD, "generation"},
    {"a negative number", "\"length\": 0", "\"length\": -1", BAD, "length"},
    {"2^63 - 1", "\"length\": 0", "\"length\": 9223372036854775807", LX_OK, ""},
    {"2^63", "\"length\": 0", "\"length\": 9223372036854775808", BAD, ""},
    {"a text for a number", "\"length\": 0", "\"length\": \"0\"", BAD, "length"},
    {"null for a number", "\"length\": 0", "\"length\": null", BAD, "length"},
    /* 4.2 */
    {"no format", "\"format\"", "\"formet\"", BAD, "\"format\""},
    {"no features", "\"features\"", "\"featurez\"", BAD, "\"features\""},
    {"no generation", "\"generation\"", "\"generatiom\"", BAD, "\"generation\""},
    {"no uuid", "\"uuid\"", "\"uuit\"", BAD, "\"uuid\""},
    {"no sealed", "\"sealed\"", "\"saeled\"", BAD, "\"sealed\""},
    {"no length", "\"length\"", "\"lenght\"", BAD, "\"length\""},
    {"no chunks", "\"chunks\"", "\"chunk\"", BAD, "\"chunks\""},
    {"no next_field", "\"next_field\"", "\"nextfield\"", BAD, "\"next_field\""},
    {"no fields", "\"fields\"", "\"field\"", BAD, "\"fields\""},
    {"the largest generation", "\"generation\": 0", "\"generation\": 4611686018427387904", LX_OK,
     ""},
    {"a generation above", "\"generation\": 0", "\"generation\": 4611686018427387905", BAD,
     "generation"},
    {"a uuid with capitals", "aabbccddeeff", "AABBCCDDEEFF", BAD, "uuid"},
    {"a uuid too short", "aabbccddeeff", "aabbccddeef", BAD, "uuid"},
    {"a uuid too long", "aabbccddeeff", "aabbccddeeff0", BAD, "uuid"},
    {"a uuid with other groups", "00112233-4455", "0011223-34455", BAD, "uuid"},
    {"a uuid in braces", "\"00112233-4455-6677-8899-aabbccddeeff\"",
     "\"{00112233-4455-6677-8899-aabbccddeeff}\"", BAD, "uuid"},
    {"no text for a uuid", "\"00112233-4455-6677-8899-aabbccddeeff\"", "112233", BAD, "uuid"},
    {"a number for sealed", "\"sealed\": false", "\"sealed\": 0", BAD, "sealed"},
    {"a text for sealed", "\"sealed\": false", "\"sealed\": \"false\"", BAD, "sealed"},
    /* 4.3 */
    {"no num", "\"num\": 0, ", "", BAD, "\"num\""},
    {"no size", "\"size\": 1048576, ", "", BAD, "\"size\""},
    {"no limit", "\"limit\": 1073741824, ", "", BAD, "\"limit\""},
    {"no unfull", ", " UNFULL, "", BAD, "\"unfull\""},
    {"num above 32 bits", "\"num\": 0", "\"num\": 4294967296", BAD, "num"},
    {"size 0", "\"size\": 1048576", "\"size\": 0", BAD, "size"},
    {"the largest size", "\"size\": 1048576", "\"size\": 4294967295", LX_OK, ""},
    {"size above 32 bits", "\"size\": 1048576", "\"size\": 4294967296", BAD, "size"},
    {"limit 0", "\"limit\": 1073741824", "\"limit\": 0", BAD, "limit"},
    {"the smallest limit", "\"limit\": 1073741824", "\"limit\": 1", LX_OK, ""},
    {"the largest limit", "\"limit\": 1073741824", "\"limit\": 4611686018427387904", LX_OK, ""},
    {"a limit above", "\"limit\": 1073741824", "\"limit\": 4611686018427387905", BAD, "limit"},
    {"an object for unfull", UNFULL, "\"unfull\": {}", BAD, "unfull"},
    {"chunks that are not full", UNFULL, "\"unfull\": [[0, 1, 1], [7, 0, 0]]", LX_OK, ""},
    {"a number in unfull", UNFULL, "\"unfull\": [7]", BAD, "unfull"},
    {"two numbers in unfull", UNFULL, "\"unfull\": [[0, 1]]", BAD, "unfull"},
    {"four numbers in unfull", UNFULL, "\"unfull\": [[0, 1, 1, 1]]", BAD, "unfull"},
    {"a text in unfull", UNFULL, "\"unfull\": [[\"0\", 1, 1]]", BAD, "unfull"},
    {"an id in unfull above 32 bits", UNFULL, "\"unfull\": [[4294967296, 1, 1]]", BAD, "unfull"},
    {"records in unfull above 32 bits", UNFULL, "\"unfull\": [[0, 1, 4294967296]]", BAD, "unfull"},
    {"a negative number in unfull", UNFULL, "\"unfull\": [[0, -1, 1]]", BAD, "unfull"},
    {"unfull descends", UNFULL, "\"unfull\": [[1, 1, 1], [0, 1, 1]]", BAD, "unfull"},
    {"a chunk twice in unfull", UNFULL, "\"unfull\": [[1, 1, 1], [1, 1, 1]]", BAD, "unfull"},
    /* 4.4 */
    {"a field that is no object", "{\"id\": 0,", "7, {\"id\": 0,", BAD, "object"},
    {"a field without id", "\"id\": 0, ", "", BAD, "\"id\""},
    {"a field without name", IMAGE_NAME ", ", "", BAD, "\"name\""},
    {"a field without stem", IMAGE_STEM ", ", "", BAD, "\"stem\""},
    {"a field without dtype", "\"dtype\": \"uint8\", ", "", BAD, "\"dtype\""},
    {"a field without shape", ", " IMAGE_SHAPE, "", BAD, "\"shape\""},
    {"a field without compress", "\"compress\": \"flate\", ", "", BAD, "\"compress\""},
    {"a field without align", "\"align\": 4, ", "", BAD, "\"align\""},
    {"a field without dict", "\"align\": 4, \"dict\": null", "\"align\": 4", BAD, "\"dict\""},
    {"ids in any order", "\"next_field\": 3,\n  \"fields\": [\n    {\"id\": 0",
     "\"next_field\": 8,\n  \"fields\": [\n    {\"id\": 7", LX_OK, ""},
    {"an id at next_field", "\"id\": 0", "\"id\": 3", BAD, "next_field"},
    {"an id twice", "\"id\": 0", "\"id\": 1", BAD, ""},
    {"a negative id", "\"id\": 0", "\"id\": -1", BAD, "id"},
    {"an id above 32 bits", "\"id\": 0", "\"id\": 4294967296", BAD, "id"},
    {"next_field above 32 bits", "\"next_field\": 3", "\"next_field\": 4294967296", BAD,
     "next_field"},
    {"a name of nothing", IMAGE_NAME, "\"name\": \"\"", BAD, "name"},
    {"a name with a dot before", IMAGE_NAME, "\"name\": \".image\"", BAD, "name"},
    {"a name with a slash", IMAGE_NAME, "\"name\": \"a/b\"", BAD, "name"},
    {"a name with a space", IMAGE_NAME, "\"name\": \"a b\"", BAD, "name"},
    {"a name with a tilde", IMAGE_NAME, "\"name\": \"a~1\"", BAD, "name"},
    {"a name that is not ASCII", IMAGE_NAME, "\"name\": \"\xc3\xa4\"", BAD, "name"},
    {"a name of 64", IMAGE_NAME, "\"name\": \"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "\"", LX_OK, ""},
    {"a name of 65", IMAGE_NAME, "\"name\": \"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x\"", BAD, "name"},
    {"a name twice", IMAGE_NAME, "\"name\": \"label\"", BAD, "label"},
    {"another name than the stem", IMAGE_NAME, "\"name\": \"picture\"", LX_OK, ""},
    {"a stem that leads out", IMAGE_STEM, "\"stem\": \"../image\"", BAD, "stem"},
    {"a stem of two dots", IMAGE_STEM, "\"stem\": \"..\"", BAD, "stem"},
    {"a stem from the root", IMAGE_STEM, "\"stem\": \"/etc/passwd\"", BAD, "stem"},
    {"a stem of nothing", IMAGE_STEM, "\"stem\": \"\"", BAD, "stem"},
    {"a stem with a number", IMAGE_STEM, "\"stem\": \"image~1\"", LX_OK, ""},
    {"a stem with the largest number", IMAGE_STEM, "\"stem\": \"image~4294967295\"", LX_OK, ""},
    {"a stem with a larger number", IMAGE_STEM, "\"stem\": \"image~4294967296\"", BAD, "stem"},
    {"a stem with the number 0", IMAGE_STEM, "\"stem\": \"image~0\"", BAD, "stem"},
    {"a stem with a zero before", IMAGE_STEM, "\"stem\": \"image~01\"", BAD, "stem"},
    {"a stem with a tilde alone", IMAGE_STEM, "\"stem\": \"image~\"", BAD, "stem"},
    {"a stem with a number alone", IMAGE_STEM, "\"stem\": \"~1\"", BAD, "stem"},
    {"a stem with two numbers", IMAGE_STEM, "\"stem\": \"image~1~2\"", BAD, "stem"},
    {"a stem of 65", IMAGE_STEM, "\"stem\": \"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x~1\"", BAD,
     "stem"},
    {"a stem twice", IMAGE_STEM, "\"stem\": \"label\"", BAD, ""},
    {"an unknown dtype", "\"uint8\"", "\"uint7\"", NEW, "uint7"},
    {"a number for a dtype", "\"uint8\"", "8", BAD, "dtype"},
    {"a shape for bytes", "\"bytes\", \"shape\": []", "\"bytes\", \"shape\": [1]", BAD, "shape"},
    {"a scalar", IMAGE_SHAPE, "\"shape\": []", LX_OK, ""},
    {"a negative extent", IMAGE_SHAPE, "\"shape\": [-1]", BAD, "shape"},
    {"a fraction of an extent", IMAGE_SHAPE, "\"shape\": [1.5]", BAD, "shape"},
    {"32 axes", IMAGE_SHAPE,
     "\"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", LX_OK, ""},
    {"33 axes", IMAGE_SHAPE,
     "\"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", BAD,
     "shape"},
    {"the largest value", IMAGE_SHAPE, "\"shape\": [65535, 65537]", LX_OK, ""},
    {"a value above that", IMAGE_SHAPE, "\"shape\": [65536, 65536]", BAD, "image"},
    {"a size that overflows", IMAGE_SHAPE, "\"shape\": [4294967296, 4294967296]", BAD, "image"},
    {"a value of no bytes", IMAGE_SHAPE, "\"shape\": [3, 0]", LX_OK, ""},
    {"no bytes, and the largest rest", IMAGE_SHAPE, "\"shape\": [4294967295, 0]", LX_OK, ""},
    {"no bytes, and a rest above that", IMAGE_SHAPE, "\"shape\": [0, 4294967296]", BAD, "image"},
    {"no bytes, and a rest that NumPy does not take", IMAGE_SHAPE,
     "\"shape\": [4611686018427387904, 0]", BAD, "image"},
    {"no bytes, and a rest that overflows", IMAGE_SHAPE,
     "\"shape\": [4611686018427387904, 4611686018427387904, 0]", BAD, "image"},
    {"a ragged field", "\"must\": [], \"may\": []", "\"must\": [\"ragged\"], \"may\": []", LX_OK,
     ""},
    {"an extent that varies without the feature", IMAGE_SHAPE, "\"shape\": [null, 4]", BAD,
     "ragged"},
    {"an extent that is a text", IMAGE_SHAPE, "\"shape\": [\"3\"]", BAD, "shape"},
    {"an extent that is false", IMAGE_SHAPE, "\"shape\": [false]", BAD, "shape"},
    {"a second extent that varies", IMAGE_SHAPE, "\"shape\": [3, null]", BAD, "first"},
    {"two extents that vary", IMAGE_SHAPE, "\"shape\": [null, null]", BAD, "first"},
    {"an extent of 0 after one that varies", IMAGE_SHAPE, "\"shape\": [null, 0]", BAD, "0"},
    {"an item above the largest value", IMAGE_SHAPE, "\"shape\": [null, 4294967296]", BAD, "item"},
    {"an item that overflows", IMAGE_SHAPE, "\"shape\": [null, 4294967296, 4294967296]", BAD,
     "item"},
    {"a shape for str", "\"bytes\", \"shape\": []", "\"str\", \"shape\": [null]", BAD, "shape"},
    {"a text field", "\"bytes\"", "\"str\"", LX_OK, ""},
    {"a JSON field", "\"bytes\"", "\"json\"", LX_OK, ""},
    {"an image field", "\"bytes\"", "\"image\"", LX_OK, ""},
    {"a field of bfloat16", "\"uint8\"", "\"bfloat16\"", LX_OK, ""},
    {"a field of times", "\"int64\"", "\"datetime64[ms]\"", LX_OK, ""},
    {"an unknown unit of times", "\"int64\"", "\"datetime64[ps]\"", NEW, "datetime64[ps]"},
    {"times without a unit", "\"int64\"", "\"datetime64\"", NEW, "datetime64"},
    {"a number of 64 characters", "\"length\": 0",
     "\"length\": 0, \"x\": 0." SIXTEEN SIXTEEN SIXTEEN "12345678901234", LX_OK, ""},
    {"a number of 65 characters", "\"length\": 0",
     "\"length\": 0, \"x\": 0." SIXTEEN SIXTEEN SIXTEEN "123456789012345", BAD, "64 characters"},
    {"digits in a text", "\"length\": 0",
     "\"length\": 0, \"x\": \"\\\"\\\\" SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN "\"", LX_OK, ""},
    {"an unknown compress", "\"flate\"", "\"lz4\"", NEW, "lz4"},
    {"a number for compress", "\"flate\"", "1", BAD, "compress"},
    {"zstd", "\"flate\"", "\"zstd\"", LX_OK, ""},
    {"align 0", "\"align\": 4", "\"align\": 0", BAD, "align"},
    {"align 3", "\"align\": 4", "\"align\": 3", BAD, "align"},
    {"align 4096", "\"align\": 4", "\"align\": 4096", LX_OK, ""},
    {"align 8192", "\"align\": 4", "\"align\": 8192", BAD, "align"},
    {"a dictionary of flate", CAPTION_TAIL,
     "\"compress\": \"flate\", \"align\": 8, \"dict\": {\"bytes\": 1, \"crc\": 0}", BAD, "dict"},
    {"a dictionary", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": {\"bytes\": 16777216, \"crc\": 0}", LX_OK,
     ""},
    {"a dictionary of no bytes", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": {\"bytes\": 0, \"crc\": 0}", BAD, "bytes"},
    {"a dictionary too large", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": {\"bytes\": 16777217, \"crc\": 0}", BAD,
     "bytes"},
    {"a dictionary without crc", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": {\"bytes\": 1}", BAD, "crc"},
    {"a level of flate", CAPTION_TAIL, CAPTION_TAIL ", \"level\": 9", LX_OK, ""},
    {"a level too high for flate", CAPTION_TAIL, CAPTION_TAIL ", \"level\": 10", BAD, "level"},
    {"level 0", CAPTION_TAIL, CAPTION_TAIL ", \"level\": 0", BAD, "level"},
    {"a level of a raw field", IMAGE_NAME, IMAGE_NAME ", \"level\": 1", BAD, "level"},
    {"a dictionary to train for flate", CAPTION_TAIL, CAPTION_TAIL ", \"train\": 1024", BAD,
     "dictionaries"},
    {"a level and a dictionary to train", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": null, \"level\": 22, \"train\": 16777216",
     LX_OK, ""},
    {"a dictionary to train that is too large", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": null, \"train\": 16777217", BAD, "train"},
    {"a text for a dictionary", CAPTION_TAIL,
     "\"compress\": \"zstd\", \"align\": 8, \"dict\": \"x\"", BAD, "dict"},
    /* 4.7 */
    {"a later major version", "[1, 0]", "[2, 0]", NEW, "2"},
    {"major version 0", "[1, 0]", "[0, 9]", NEW, "0"},
    {"a later minor version", "[1, 0]", "[1, 7]", LX_OK, ""},
    {"one number for a version", "[1, 0]", "[1]", BAD, "format"},
    {"three numbers for a version", "[1, 0]", "[1, 0, 0]", BAD, "format"},
    {"a text for a version", "[1, 0]", "[\"1\", 0]", BAD, "format"},
    {"a negative major version", "[1, 0]", "[-1, 0]", BAD, "format"},
    {"a negative minor version", "[1, 0]", "[1, -1]", BAD, "format"},
    {"a minor version above 32 bits", "[1, 0]", "[1, 4294967296]", BAD, "format"},
    {"a newer format is called newer, whatever else it is",
     "[1, 0],\n  \"features\": {\"must\": [], \"may\": []},", "[2, 0],", NEW, "format"},
    {"an unknown feature that must be known", "\"must\": []", "\"must\": [\"tiles\"]", NEW,
     "tiles"},
    {"a known and an unknown feature", "\"must\": []", "\"must\": [\"ragged\", \"tiles\"]", NEW,
     "tiles"},
    {"an unknown feature that may be ignored", "\"may\": []", "\"may\": [\"tiles\"]", LX_OK, ""},
    {"a number for a feature", "\"must\": []", "\"must\": [7]", BAD, "must"},
    {"a number for a feature that may be", "\"may\": []", "\"may\": [7]", BAD, "may"},
    {"no features.must", "\"must\": [], ", "", BAD, "\"must\""},
    {"no features.may", ", \"may\": []", "", BAD, "\"may\""},
    {"an unknown feature without may", "{\"must\": [], \"may\": []}", "{\"must\": [\"tiles\"]}",
     NEW, "tiles"},
    {"an unknown key", "\"length\": 0", "\"length\": 0, \"colour\": {\"red\": [1.5, null]}", LX_OK,
     ""},
    {"an unknown key of a field", IMAGE_NAME, IMAGE_NAME ", \"unit\": \"m\"", LX_OK, ""},
    {"tables of a dataset that is not sealed", "\"length\": 0", "\"length\": 0, \"tables\": 7",
     LX_OK, ""},
};

START_TEST(rejects_meta_json_that_breaks_a_rule)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        const struct edit *edit = &edits[i];
        char *text = edited(edit);
        lx_status status = parse(&meta, text, strlen(text), &error);
        ck_assert_msg(status == edit->status, "%s: %s (%s)", edit->name, lx_status_get_name(status),
                      error.message);
        ck_assert_int_eq(error.status, status);
        ck_assert_msg(status == LX_OK || strstr(error.message, edit->said) != NULL,
                      "%s: '%s' is not in: %s", edit->name, edit->said, error.message);
        if (status == LX_OK)
            lx__meta_free(&meta);
        else
            ck_assert_ptr_null(meta.document);
        ck_assert_int_eq(parse(&meta, text, strlen(text), NULL), status);
        lx__meta_free(&meta);
        free(text);
    }
}
END_TEST

START_TEST(errors_name_the_field)
{
    static const struct edit wrong[] = {
        {"align", "\"align\": 4", "\"align\": 3", BAD, ""},
        {"dtype", "\"uint8\"", "\"uint7\"", NEW, ""},
        {"stem", IMAGE_STEM, "\"stem\": \"../x\"", BAD, ""},
        {"dict", "\"align\": 4, \"dict\": null", "\"align\": 4", BAD, ""},
        {"shape", IMAGE_SHAPE, "\"shape\": [-1]", BAD, ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        char *text = edited(&wrong[i]);
        ck_assert_int_eq(parse(&meta, text, strlen(text), &error), wrong[i].status);
        ck_assert_str_eq(error.field, "image");
        free(text);
    }
}
END_TEST

START_TEST(parses_the_example)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    unit_ok(parse(&meta, example, strlen(example), &error));
    ck_assert_str_eq(meta.uuid_text, "00112233-4455-6677-8899-aabbccddeeff");
    for (unsigned i = 0; i < 16; i++)
        ck_assert_uint_eq(meta.uuid[i], 0x11 * i);
    ck_assert_uint_eq(meta.generation, 0);
    ck_assert_uint_eq(meta.chunk_records, 1048576);
    ck_assert_uint_eq(meta.chunk_limit, 1073741824);
    ck_assert(!meta.sealed);
    ck_assert_uint_eq(lx_schema_get_field_count(meta.schema), 3);
    const lx_field *image = lx_schema_get_field(meta.schema, 0);
    ck_assert_str_eq(image->name, "image");
    ck_assert_int_eq(image->dtype, LX_UINT8);
    ck_assert_uint_eq(image->ndim, 2);
    ck_assert(image->shape[0] == 3 && image->shape[1] == 4);
    ck_assert_uint_eq(image->size, 12);
    ck_assert_uint_eq(image->align, 4);
    const lx_field *caption = lx_schema_get_field(meta.schema, 2);
    ck_assert_int_eq(caption->dtype, LX_BYTES);
    ck_assert_uint_eq(caption->size, LX_NONE);
    ck_assert_int_eq(caption->compression, LX_COMPRESSION_FLATE);
    ck_assert_uint_eq(caption->id, 2);
    lx__meta_free(&meta);
    lx__meta_free(&meta);
}
END_TEST

START_TEST(rejects_a_text_truncated_at_any_byte)
{
    for (size_t size = 0; size < strlen(example) - 1; size++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        char *exact = malloc(size + 1);
        memcpy(exact, example, size);
        exact = realloc(exact, size != 0 ? size : 1);
        unit_fails(parse(&meta, exact, size, &error), LX_ERR_CORRUPT);
        free(exact);
    }
}
END_TEST

START_TEST(survives_each_flipped_bit)
{
    char text[sizeof example];
    for (size_t bit = 0; bit < strlen(example) * 8; bit++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        memcpy(text, example, sizeof example);
        text[bit / 8] ^= (char)(1u << bit % 8);
        lx_status status = parse(&meta, text, strlen(example), &error);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED);
        ck_assert_int_eq(error.status, status);
        lx__meta_free(&meta);
    }
}
END_TEST

START_TEST(rejects_other_than_objects)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "[]",
                                        "7",
                                        "\"x\"",
                                        "null",
                                        "{",
                                        "{}",
                                        "nonsense",
                                        "{\"format\": [1, 0]}",
                                        "[[[[[[[[[[[[[[[[[["};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        unit_fails(parse(&meta, texts[i], strlen(texts[i]), &error), LX_ERR_CORRUPT);
    }
    /* A NUL in a text does not end it. */
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    char text[sizeof example + 8] = {0};
    memcpy(text, example, sizeof example);
    unit_fails(parse(&meta, text, sizeof example + 7, &error), LX_ERR_CORRUPT);
}
END_TEST

START_TEST(rejects_deep_texts_without_exhausting_the_stack)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    size_t size = 4u << 20;
    char *text = malloc(size);
    memset(text, '[', size);
    unit_fails(parse(&meta, text, size, &error), LX_ERR_LIMIT);
    size = LX__JSON_VALUES - 3; /* and two of the checksum */
    unit_fails(parse(&meta, text, size, &error), LX_ERR_CORRUPT);
    for (size_t i = 0; i + 5 < size; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    unit_fails(parse(&meta, text, size - size % 5, &error), LX_ERR_CORRUPT);
    free(text);
}
END_TEST

START_TEST(the_largest_text_is_16_mebibytes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    char *text = malloc(LX__META_LIMIT + 1);
    size_t size;
    char *restamped = stamped(example, strlen(example), &size);
    memset(text, ' ', LX__META_LIMIT + 1);
    memcpy(text, restamped, size);
    free(restamped);
    lx__meta_stamp(text, LX__META_LIMIT);
    file_put("meta.json", text, LX__META_LIMIT);
    unit_ok(read_here(&meta, &error));
    lx__meta_free(&meta);
    file_put("meta.json", text, LX__META_LIMIT + 1);
    lx_status status = read_here(&meta, &error);
    expect_error(status, LX_ERR_CORRUPT, "16777216", "meta.json");
    file_cut("meta.json", 1ull << 40);
    status = read_here(&meta, &error);
    expect_error(status, LX_ERR_CORRUPT, "16777216", "meta.json");
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_meta_json_that_is_not_a_file)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    file_put_meta("meta.json", example);
    for (enum disguise what = 0; what < DISGUISES; what++) {
        file_disguise("meta.json", what);
        lx_status status = read_here(&meta, &error);
        expect_error(status, LX_ERR_CORRUPT, "", "meta.json");
        file_restore("meta.json");
    }
    file_put("meta.json", "{}", 2);
    lx_status status = read_here(&meta, &error);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "meta.json");
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_checksum_detects_each_damaged_byte)
{
    size_t size;
    char *text = stamped(example, strlen(example), &size);
    for (size_t bit = 0; bit < size * 8; bit++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        text[bit / 8] ^= (char)(1u << bit % 8);
        ck_assert_int_eq(lx__meta_parse(&meta, text, size, LX__META_CHECK, &error), LX_ERR_CORRUPT);
        ck_assert_msg(strstr(error.message, "checksum") != NULL &&
                          strstr(error.message, "'loaderx repair'") != NULL,
                      "bit %zu: %s", bit, error.message);
        text[bit / 8] ^= (char)(1u << bit % 8);
    }
    free(text);
}
END_TEST

START_TEST(rejects_a_meta_json_without_checksum)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "{}",
                                        "{\"checksum\": \"00000000\"",
                                        "{\"checksum\":\"00000000\",",
                                        "{\"checksum\": \"0000\262000\",",
                                        "{\"checksum\": \"0000000A\",",
                                        "{ \"checksum\": \"00000000\", \"format\": [2, 0]}",
                                        "{\"Checksum\": \"00000000\","};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        ck_assert_int_eq(lx__meta_parse(&meta, texts[i], strlen(texts[i]), LX__META_CHECK, &error),
                         LX_ERR_CORRUPT);
        ck_assert_msg(strstr(error.message, "does not begin with a checksum") != NULL, "%s",
                      error.message);
    }
    /* A repair reads a text that it restamps, and does not keep the old checksum. */
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    unit_ok(lx__meta_parse(&meta, example, strlen(example), LX__META_ANY_CHECKSUM, &error));
    lx__meta_free(&meta);
    size_t size;
    char *text = stamped(example, strlen(example), &size);
    memcpy(text + 14, "no digit", 8);
    unit_ok(lx__meta_parse(&meta, text, size, LX__META_ANY_CHECKSUM, &error));
    ck_assert_ptr_null(json_object_get(meta.document, "checksum"));
    lx__meta_free(&meta);
    free(text);
}
END_TEST

START_TEST(rejects_long_numbers_at_once)
{
    static const char *const beginnings[] = {"{\"a\":7", "{\"a\":-0.7", "{\"a\":1e7", "{\"a\":t"};
    size_t size = 15u << 20;
    char *text = malloc(size);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        memset(text, '7', size);
        memcpy(text, beginnings[i], strlen(beginnings[i]));
        text[size - 1] = '}';
        double start = processor_time();
        ck_assert_int_eq(parse(&meta, text, size, &error), LX_ERR_CORRUPT);
        double took = processor_time() - start;
        ck_assert_msg(took < 0.5 * SLOWER, "%.2f s", took);
        ck_assert_msg(strstr(error.message, "64 characters") != NULL, "%s", error.message);
    }
    free(text);
}
END_TEST

START_TEST(rejects_too_many_fields)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    for (unsigned count = LX_MAX_FIELDS; count <= LX_MAX_FIELDS + 1; count++) {
        char *text = malloc(strlen(example) + count * 128);
        strcpy(text, example);
        char *at = strstr(text, "\"next_field\"");
        at += sprintf(at, "\"next_field\": %u, \"fields\": [", count);
        for (unsigned i = 0; i < count; i++)
            at += sprintf(at,
                          "%s{\"id\": %u, \"name\": \"f%u\", \"stem\": \"f%u\", "
                          "\"dtype\": \"int8\", \"shape\": [], \"compress\": \"raw\", "
                          "\"align\": 1, \"dict\": null}",
                          i != 0 ? "," : "", i, i, i);
        strcpy(at, "]}");
        double start = processor_time();
        lx_status status = parse(&meta, text, strlen(text), &error);
        double took = processor_time() - start;
        ck_assert_msg(took < (SANITIZED ? 20 : 5), "%.2f s", took);
        ck_assert_int_eq(status, count <= LX_MAX_FIELDS ? LX_OK : LX_ERR_LIMIT);
        lx__meta_free(&meta);
        free(text);
    }
}
END_TEST

UNIT_MAIN("zrecord/meta-file", rejects_meta_json_that_breaks_a_rule, errors_name_the_field,
          parses_the_example, rejects_a_text_truncated_at_any_byte, survives_each_flipped_bit,
          rejects_other_than_objects, rejects_deep_texts_without_exhausting_the_stack,
          the_checksum_detects_each_damaged_byte, rejects_a_meta_json_without_checksum,
          rejects_long_numbers_at_once, the_largest_text_is_16_mebibytes,
          rejects_a_meta_json_that_is_not_a_file, rejects_too_many_fields)
