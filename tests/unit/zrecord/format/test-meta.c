/* SPDX-License-Identifier: MIT */
#include "../meta-text.h"
#include "zrecord/format/meta-file.h"

static lx__meta made(void)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    lx_schema *schema = records_schema();
    unit_ok(lx__meta_make(&meta, schema, 1000, 1 << 20, &error));
    lx_schema_free(schema);
    return meta;
}

static void replace(const lx__meta *meta)
{
    lx_error error = LX_ERROR_INIT;
    lx__file here;
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    unit_ok(lx__meta_replace(meta, &here, &error));
    lx__file_close(&here);
    ck_assert(!file_exists("meta.json.new"));
}

START_TEST(reads_back_a_new_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = made(), back;
    replace(&meta);
    unit_ok(read_here(&back, &error));
    ck_assert_str_eq(back.uuid_text, meta.uuid_text);
    ck_assert_mem_eq(back.uuid, meta.uuid, 16);
    ck_assert_uint_eq(back.chunk_records, 1000);
    ck_assert_uint_eq(back.chunk_limit, 1 << 20);
    ck_assert_uint_eq(back.generation, 0);
    ck_assert(!back.sealed);
    ck_assert(lx__schema_equal(back.schema, meta.schema));
    lx__meta_free(&back);
    lx__meta_free(&meta);
    scratch_remove(scratch);
}
END_TEST

START_TEST(each_dataset_has_a_uuid_of_its_own)
{
    lx__meta a = made(), b = made();
    ck_assert_str_ne(a.uuid_text, b.uuid_text);
    ck_assert_uint_eq(a.uuid[6] >> 4, 4); /* of the random kind */
    ck_assert_uint_eq(a.uuid[8] >> 6, 2);
    ck_assert_uint_eq(strlen(a.uuid_text), 36);
    lx__meta_free(&a);
    lx__meta_free(&b);
}
END_TEST

START_TEST(sealing_records_lengths_chunks_and_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = made(), back;
    /* Full by records, full by bytes, and two that are neither. */
    static const lx__chunk_item chunks[] = {
        {0, 1000, 5}, {1, 7, 1 << 20}, {2, 999, (1 << 20) - 1}, {9, 1, 1}};
    static const lx__table_seal tables[] = {{"image.offset", 160, 0xfedcba98},
                                            {"image.check", 80, 7}};
    unit_ok(lx__meta_set_state(&meta, 10, chunks, 4, &error));
    unit_ok(lx__meta_seal(&meta, tables, 2, &error));
    ck_assert(meta.sealed);
    replace(&meta);
    unit_ok(read_here(&back, &error));
    ck_assert(back.sealed);
    ck_assert_uint_eq(back.length, 10);
    lx__table_seal seal;
    unit_ok(lx__meta_get_table(&back, "image.offset", &seal, &error));
    ck_assert_uint_eq(seal.bytes, 160);
    ck_assert_uint_eq(seal.crc, 0xfedcba98);
    unit_fails(lx__meta_get_table(&back, "wave.offset", &seal, &error), LX_ERR_CORRUPT);
    char *text = lx__json_text(json_object_get(back.document, "chunks"), JSON_COMPACT);
    ck_assert_str_eq(text, "{\"num\":4,\"size\":1000,\"limit\":1048576,"
                           "\"unfull\":[[2,1048575,999],[9,1,1]]}");
    lx__free(text);
    unit_ok(lx__meta_unseal(&back, &error));
    ck_assert(!back.sealed);
    replace(&back);
    lx__meta_free(&back);
    unit_ok(read_here(&back, &error));
    ck_assert(!back.sealed);
    ck_assert_ptr_null(json_object_get(back.document, "tables"));
    ck_assert_uint_eq(back.length, 10);
    lx__meta_free(&back);
    lx__meta_free(&meta);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_unknown_keys)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const struct edit extended = {
        "", "[1, 0],\n  \"features\": {\"must\": [], \"may\": []},",
        "[1, 7],\n  \"features\": {\"must\": [], \"may\": [\"tiles\"]}, "
        "\"colour\": {\"red\": 1.5},",
        LX_OK, ""};
    char *text = edited(&extended);
    file_put_meta("meta.json", text);
    file_edit("meta.json", "\"num\"", "\"shade\": 5, \"num\"");
    file_edit("meta.json", "\"name\"", "\"unit\": \"m\", \"name\"");
    lx__meta meta, next;
    unit_ok(read_here(&meta, &error));
    unit_ok(lx__meta_succeed(&next, &meta, &error));
    unit_ok(lx__meta_set_generation(&next, 4, &error));
    unit_ok(lx__meta_set_state(&next, 0, NULL, 0, &error));
    unit_ok(lx__meta_rename_field(&next, 0, "picture", &error));
    unit_ok(lx__meta_seal(&next, NULL, 0, &error));
    ck_assert(json_is_false(json_object_get(meta.document, "sealed"))); /* still not sealed */
    replace(&next);
    lx__meta_free_document(&next);
    lx__meta_free(&meta);
    unit_ok(read_here(&meta, &error));
    ck_assert_int_eq(
        json_integer_value(json_array_get(json_object_get(meta.document, "format"), 1)), 7);
    const json_t *may = json_object_get(json_object_get(meta.document, "features"), "may");
    ck_assert_str_eq(json_string_value(json_array_get(may, 0)), "tiles");
    const json_t *colour = json_object_get(meta.document, "colour");
    ck_assert(json_real_value(json_object_get(colour, "red")) == 1.5);
    const json_t *chunks = json_object_get(meta.document, "chunks");
    ck_assert_int_eq(json_integer_value(json_object_get(chunks, "shade")), 5);
    const json_t *field = json_array_get(json_object_get(meta.document, "fields"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(field, "unit")), "m");
    ck_assert_str_eq(lx__schema_field(meta.schema, 0)->name, "picture");
    ck_assert_uint_eq(meta.generation, 4);
    lx__meta_free(&meta);
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(adds_and_drops_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = made(), back;
    static const uint64_t shape[] = {2, 3};
    uint64_t next = lx__meta_get_next_field(&meta);
    ck_assert_uint_eq(next, FIELDS);
    lx_schema *schema = lx_schema_new();
    lx_field shown = {.name = "mask", .dtype = LX_UINT16, .shape = shape, .ndim = 2, .id = FIELDS};
    unit_ok(lx__schema_add(schema, &shown, "mask~5", true, &error));
    unit_ok(lx__meta_add_field(&meta, lx__schema_field(schema, 0), &error));
    unit_ok(lx__meta_drop_field(&meta, LABEL, &error));
    replace(&meta);
    unit_ok(read_here(&back, &error));
    ck_assert_uint_eq(back.schema->count, FIELDS);
    const lx__field *mask = lx__schema_field(back.schema, FIELDS - 1);
    ck_assert_str_eq(mask->name, "mask");
    ck_assert_str_eq(mask->stem, "mask~5");
    ck_assert_uint_eq(mask->shown.size, 12);
    ck_assert(mask->complete);
    ck_assert_uint_eq(lx__schema_field(back.schema, LABEL)->shown.id, WAVE);
    ck_assert_uint_eq(lx__meta_get_next_field(&back), FIELDS + 1);
    lx__meta_free(&back);
    lx__meta_free(&meta);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_numbers_of_changes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = made(), back;
    replace(&meta);
    unit_ok(read_here(&back, &error));
    ck_assert_uint_eq(back.changes, LX_NONE);
    ck_assert_uint_eq(back.schema->fields[LABEL]->changes, 0);
    lx__meta_free(&back);
    meta.changes = LX__CHANGES_MAX + 8; /* modulo 2^63 */
    meta.schema->fields[LABEL]->changes = LX__CHANGES_MAX;
    unit_ok(lx__meta_set_changes(&meta, &error));
    replace(&meta);
    unit_ok(read_here(&back, &error));
    ck_assert_uint_eq(back.changes, 7);
    ck_assert_uint_eq(back.schema->fields[LABEL]->changes, LX__CHANGES_MAX);
    lx__meta_free(&back);
    meta.changes = LX_NONE;
    unit_ok(lx__meta_set_changes(&meta, &error));
    replace(&meta);
    unit_ok(read_here(&back, &error));
    ck_assert_uint_eq(back.changes, LX_NONE);
    lx__meta_free(&back);
    lx__meta_free(&meta);
    scratch_remove(scratch);
}
END_TEST

/** Writes meta.json, and checks whether it requires the feature of ragged fields. */
static void expect_ragged(const lx__meta *meta, bool feature)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta back;
    replace(meta);
    unit_ok(read_here(&back, &error));
    json_t *must = json_object_get(json_object_get(back.document, "features"), "must");
    ck_assert_uint_eq(json_array_size(must), feature);
    if (feature)
        ck_assert_str_eq(json_string_value(json_array_get(must, 0)), "ragged");
    lx__meta_free(&back);
}

START_TEST(a_ragged_field_requires_the_feature)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t boxes[] = {LX_NONE, 4};
    lx__meta meta = made(), fresh, back;
    expect_ragged(&meta, false);
    lx_schema *schema = lx_schema_new();
    for (uint32_t i = 0; i < 2; i++) {
        lx_field shown = {.name = i == 0 ? "a" : "b",
                          .dtype = LX_FLOAT32,
                          .shape = boxes,
                          .ndim = 2,
                          .id = FIELDS + i};
        unit_ok(lx__schema_add(schema, &shown, shown.name, true, &error));
        unit_ok(lx__meta_add_field(&meta, lx__schema_field(schema, i), &error));
        expect_ragged(&meta, true);
    }
    unit_ok(read_here(&back, &error));
    const lx_field *field = &lx__schema_field(back.schema, FIELDS)->shown;
    ck_assert_uint_eq(field->shape[0], LX_NONE);
    ck_assert_uint_eq(field->shape[1], 4);
    ck_assert_uint_eq(field->item_size, 16);
    lx__meta_free(&back);
    unit_ok(lx__meta_drop_field(&meta, FIELDS, &error));
    unit_ok(lx__meta_drop_field(&meta, FIELDS, &error));
    expect_ragged(&meta, true); /* superfluous, but valid */
    lx_schema_free(schema);
    schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a", LX_FLOAT32, boxes, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx__meta_make(&fresh, schema, 1000, 1 << 20, &error));
    expect_ragged(&fresh, true);
    lx__meta_free(&fresh);
    lx__meta_free(&meta);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_to_write_a_text_too_long_to_read)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = made(), back;
    lx__file here;
    replace(&meta);
    size_t size = (size_t)16 << 20;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    json_object_set_new(meta.document, "note", json_string(text));
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    unit_fails(lx__meta_replace(&meta, &here, &error), LX_ERR_LIMIT);
    ck_assert(!file_exists("meta.json.new"));
    unit_ok(read_here(&back, &error));
    lx__meta_free(&back);
    lx__meta_free(&meta);
    lx__file_close(&here);
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_write_leaves_the_old_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = made(), back;
    lx__file here;
    replace(&meta);
    size_t size;
    uint8_t *old = file_bytes("meta.json", &size);
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    limit_files(100);
    unit_fails(lx__meta_replace(&meta, &here, &error), LX_ERR_IO);
    unlimit_files();
    size_t now_size;
    uint8_t *still = file_bytes("meta.json", &now_size);
    ck_assert_uint_eq(now_size, size);
    ck_assert_mem_eq(still, old, size);
    replace(&meta); /* its content is ignored */
    unit_ok(read_here(&back, &error));
    lx__meta_free(&back);
    lx__meta_free(&meta);
    lx__file_close(&here);
    free(still);
    free(old);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/meta", reads_back_a_new_meta_json, each_dataset_has_a_uuid_of_its_own,
          sealing_records_lengths_chunks_and_tables, keeps_unknown_keys, keeps_numbers_of_changes,
          adds_and_drops_fields, a_ragged_field_requires_the_feature,
          refuses_to_write_a_text_too_long_to_read, a_failed_write_leaves_the_old_meta_json)
