/* SPDX-License-Identifier: MIT */
/* What a repair puts beside a dataset: a list that can be read, bytes, copies; or nothing. */
#include "zrecord/format/meta-file.h"
#include "zrecord/maintenance/aside.h"

#include "../../scarce.h"
#include "../records.h"

static lx__meta meta_of(const lx__file *directory)
{
    lx_error error = LX_ERROR_INIT;
    lx__file file;
    lx__meta meta;
    unit_ok(lx__file_open(&file, directory, "meta.json", O_RDONLY, &error));
    unit_ok(lx__meta_read(&meta, &file, LX__META_CHECK, &error));
    lx__file_close(&file);
    return meta;
}

START_TEST(damages_bytes_and_moves_are_listed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT, damage = LX_ERROR_INIT;
    lx__file directory;
    lx__aside aside = LX__ASIDE_NONE;
    const lx__entry entry = {.chunk = 7, .physical = 3, .offset = UINT64_MAX, .logical = 9};
    close_writer(records_create("d", NULL));
    unit_ok(lx__directory_open(&directory, LX__HERE, "d", &error));
    lx__meta meta = meta_of(&directory);
    ck_assert_int_eq(mkdir("d.damaged-1", 0777), 0);
    ck_assert_int_eq(mkdir("d.damaged-2", 0777), 0);
    unit_ok(lx__aside_make(&aside, &directory, &meta, &error));
    unit_ok(lx__aside_make(&aside, &directory, &meta, &error)); /* the same one */
    ck_assert_ptr_nonnull(strstr(aside.path, "/d.damaged-3"));
    ck_assert(!file_exists("d.damaged-4"));
    snprintf(damage.path, sizeof damage.path, "d/\xff\"name");
    snprintf(damage.message, sizeof damage.message, "wrong");
    unit_ok(lx__aside_add(&aside, &damage, "forget", NULL, NULL, 0, &error));
    damage.record = 5;
    unit_ok(lx__aside_add(&aside, &damage, "missing", &entry, "abc", 3, &error));
    unit_ok(lx__aside_add(&aside, &damage, "missing", &entry, "de", 2, &error));
    unit_ok(lx__aside_add_move(&aside, 9, 5, &error));
    unit_ok(lx__aside_copy(&aside, &directory, "meta.json", &error));
    unit_ok(lx__aside_copy(&aside, &directory, "is not there", &error));
    unit_ok(lx__aside_finish(&aside, &error));
    lx__aside_close(&aside);

    json_error_t why;
    json_t *list = json_load_file("d.damaged-3/damaged.json", JSON_REJECT_DUPLICATES, &why);
    ck_assert_msg(list != NULL, "%s", why.text);
    ck_assert_str_eq(json_string_value(json_object_get(list, "uuid")), meta.uuid_text);
    const json_t *damages = json_object_get(list, "damages");
    ck_assert_uint_eq(json_array_size(damages), 4);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(damages, 0), "path")),
                     "d/?\"name");
    const json_t *third = json_array_get(damages, 2);
    ck_assert_int_eq(json_integer_value(json_object_get(third, "values_offset")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(third, "values_bytes")), 2);
    const json_t *said = json_object_get(third, "entry");
    ck_assert(json_is_null(json_object_get(said, "offset"))); /* more than JSON holds */
    ck_assert_int_eq(json_integer_value(json_object_get(said, "chunk")), 7);
    const json_t *moved = json_array_get(damages, 3);
    ck_assert_int_eq(json_integer_value(json_object_get(moved, "moved")), 9);
    json_decref(list);
    size_t size;
    uint8_t *values = file_bytes("d.damaged-3/values", &size);
    ck_assert(size == 5 && memcmp(values, "abcde", 5) == 0);
    free(values);
    ck_assert_uint_eq(file_size("d.damaged-3/meta.json"), file_size("d/meta.json"));
    lx__meta_free(&meta);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(it_lies_beside_the_dataset_and_not_beside_a_link)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory;
    lx__aside aside = LX__ASIDE_NONE;
    ck_assert_int_eq(mkdir("far", 0777), 0);
    close_writer(records_create("far/d", NULL));
    ck_assert_int_eq(symlink("far/d", "link"), 0);
    unit_ok(lx__directory_open(&directory, LX__HERE, "link", &error));
    lx__meta meta = meta_of(&directory);
    unit_ok(lx__aside_make(&aside, &directory, &meta, &error));
    ck_assert(file_exists("far/d.damaged-1"));
    lx__aside_undo(&aside);
    ck_assert(!file_exists("far/d.damaged-1"));
    ck_assert_ptr_null(aside.path);
    lx__aside_close(&aside);
    lx__meta_free(&meta);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(without_memory_nothing_is_left)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory;
    close_writer(records_create("d", NULL));
    unit_ok(lx__directory_open(&directory, LX__HERE, "d", &error));
    lx__meta meta = meta_of(&directory);
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        lx__aside aside = LX__ASIDE_NONE;
        ck_assert_int_lt(memory, 50);
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx__aside_make(&aside, &directory, &meta, &error);
        if (status == LX_OK)
            status = lx__aside_finish(&aside, &error);
        scarce_begin(1000);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        lx__aside_undo(&aside);
        lx__aside_close(&aside);
        ck_assert(!file_exists("d.damaged-1"));
    }
    lx__meta_free(&meta);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/aside", damages_bytes_and_moves_are_listed,
          it_lies_beside_the_dataset_and_not_beside_a_link, without_memory_nothing_is_left)
