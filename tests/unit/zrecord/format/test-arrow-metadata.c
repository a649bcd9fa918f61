/* SPDX-License-Identifier: MIT */
#include "zrecord/format/arrow-metadata.h"

#include "../arrows.h"

#define METADATA 512

/** Adds a key and a value to metadata of the C data interface, which begins as zeros. */
static void put(char *metadata, const char *key, const char *value)
{
    int32_t count, size, sizes[] = {(int32_t)strlen(key), (int32_t)strlen(value)};
    const char *const parts[] = {key, value};
    memcpy(&count, metadata, sizeof count);
    char *at = metadata + sizeof count;
    for (int32_t i = 0; i < 2 * count; i++) {
        memcpy(&size, at, sizeof size);
        at += sizeof size + (size_t)size;
    }
    count++;
    memcpy(metadata, &count, sizeof count);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_le((int)(at - metadata) + sizes[i] + 4, METADATA);
        memcpy(at, &sizes[i], sizeof sizes[i]);
        memcpy(at + sizeof sizes[i], parts[i], (size_t)sizes[i]);
        at += sizeof sizes[i] + (size_t)sizes[i];
    }
}

/** A column with an extension type. */
static struct ArrowSchema make_column(char *metadata, const char *name, const char *about)
{
    memset(metadata, 0, METADATA);
    put(metadata, "a key", "");
    put(metadata, "ARROW:extension:name", name);
    if (about != NULL)
        put(metadata, "ARROW:extension:metadata", about);
    return (struct ArrowSchema){.metadata = metadata};
}

START_TEST(reads_the_shape_of_tensors)
{
    static const struct {
        const char *name, *metadata;
        size_t ndim;
        lx_status status;
    } cases[] = {
        {"arrow.fixed_shape_tensor", "{\"shape\":[2,3]}", 2, LX_OK},
        {"arrow.fixed_shape_tensor", "{\"shape\":[6]}", 1, LX_OK},
        {"arrow.fixed_shape_tensor", "{\"shape\":[2,3],\"permutation\":[0,1]}", 2, LX_OK},
        {"arrow.fixed_shape_tensor", "{\"shape\":[2,3],\"permutation\":[1,0]}", 0,
         LX_ERR_UNSUPPORTED},
        {"arrow.fixed_shape_tensor", "{\"shape\":[2,4]}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{\"shape\":[-2,-3]}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{\"shape\":[\"2\",3]}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{\"shape\":[4294967296,4294967296,6]}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{\"shape\":[]}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{\"shape\":6}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{}", 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", NULL, 0, LX_ERR_ARGUMENT},
        {"arrow.fixed_shape_tensor", "{\"shape\":[6", 0, LX_ERR_CORRUPT},
        {"arrow.fixed_shape_tensor",
         "{\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6]}", 0,
         LX_ERR_UNSUPPORTED},
        {"another.type", "{\"permutation\":[1,0]}", 0, LX_OK},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lx_error error = LX_ERROR_INIT;
        char metadata[METADATA];
        uint64_t shape[LX_MAX_NDIM] = {0};
        size_t ndim;
        struct ArrowSchema column = make_column(metadata, cases[k].name, cases[k].metadata);
        lx_status status = lx__arrow_tensor_shape(&column, 6, shape, &ndim, &error);
        ck_assert_msg(status == cases[k].status, "case %d: %s: %s", (int)k,
                      lx_status_get_name(status), error.message);
        ck_assert_uint_eq(ndim, cases[k].ndim);
        for (size_t i = 0; i < ndim; i++)
            ck_assert_uint_eq(shape[i], ndim == 1 ? 6 : 2 + i);
    }
}
END_TEST

START_TEST(finds_extension_types)
{
    char metadata[METADATA];
    struct ArrowSchema column = make_column(metadata, "arrow.json", NULL);
    ck_assert(lx__arrow_is_extension(&column, "arrow.json"));
    ck_assert(!lx__arrow_is_extension(&column, "arrow.jso"));
    ck_assert(!lx__arrow_is_extension(&column, "arrow.json2"));
    column.metadata = NULL;
    ck_assert(!lx__arrow_is_extension(&column, "arrow.json"));
}
END_TEST

START_TEST(finds_features_that_are_no_images)
{
    char metadata[METADATA] = {0};
    struct ArrowSchema columns = {.metadata = metadata};
    ck_assert(!lx__arrow_is_no_image(&columns, "a"));
    put(metadata, "huggingface",
        "{\"info\": {\"features\": {\"a\": {\"_type\": \"Audio\"}, "
        "\"i\": {\"_type\": \"Image\"}, \"o\": 1}}}");
    ck_assert(lx__arrow_is_no_image(&columns, "a"));
    ck_assert(!lx__arrow_is_no_image(&columns, "i"));
    ck_assert(!lx__arrow_is_no_image(&columns, "o"));
    ck_assert(!lx__arrow_is_no_image(&columns, "other"));
    memset(metadata, 0, sizeof metadata);
    put(metadata, "huggingface", "{\"info\": [");
    ck_assert(!lx__arrow_is_no_image(&columns, "a"));
}
END_TEST

/** A schema for the columns must have one field, with this type. */
static void expect_field(const struct arrows *t, lx_dtype dtype, size_t ndim)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_arrow(schema, &t->schema, LX_COMPRESSION_RAW, &error));
    ck_assert_int_eq(lx_schema_get_field(schema, 0)->dtype, dtype);
    ck_assert_uint_eq(lx_schema_get_field(schema, 0)->ndim, ndim);
    lx_schema_free(schema);
}

START_TEST(decides_the_fields_of_columns)
{
    char metadata[METADATA];
    struct arrows t;
    arrows_init(&t, 0);
    make_column(metadata, "arrow.fixed_shape_tensor", "{\"shape\":[2,3]}");
    arrows_child(arrows_add(&t, "f", "+w:6", NULL), "f", 0, NULL, NULL);
    t.schemas[0]->metadata = metadata;
    expect_field(&t, LX_FLOAT32, 2);
    arrows_init(&t, 0);
    make_column(metadata, "arrow.json", "");
    arrows_add(&t, "f", "u", NULL, NULL, NULL);
    t.schemas[0]->metadata = metadata;
    expect_field(&t, LX_JSON, 0);
    t.schemas[0]->format = "l";
    expect_field(&t, LX_INT64, 0);
}
END_TEST

START_TEST(stores_sounds_as_bytes)
{
    static const void *const none[3] = {0};
    char metadata[METADATA] = {0};
    struct arrows t;
    arrows_init(&t, 0);
    struct arrows_node *column = arrows_add(&t, "sound", "+s", NULL);
    arrows_file(column, arrows_fill(column + 1, "bytes", "z", 0, 3, none),
                arrows_fill(column + 2, "path", "u", 0, 3, none));
    expect_field(&t, LX_IMAGE, 0);
    put(metadata, "huggingface", "{\"info\": {\"features\": {\"sound\": {\"_type\": \"Audio\"}}}}");
    t.schema.metadata = metadata;
    expect_field(&t, LX_BYTES, 0);
}
END_TEST

UNIT_MAIN("zrecord/format/arrow-metadata", reads_the_shape_of_tensors, finds_extension_types,
          finds_features_that_are_no_images, decides_the_fields_of_columns, stores_sounds_as_bytes)
