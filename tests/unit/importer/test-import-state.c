/* SPDX-License-Identifier: MIT */
/* The state of an interrupted import. */
#include "imports.h"
#include "importer/import-state.h"

static void create(lx__import_state *state, uint64_t first)
{
    lx_error error = LX_ERROR_INIT;
    json_t *header = json_pack("{s:s}", "a", "b");
    unit_ok(lx__import_state_open(state, "folder/", &error));
    ck_assert_int_eq(state->file.fd, -1);
    ck_assert_str_eq(state->path, "folder.import");
    unit_ok(lx__import_state_create(state, header, first, &error));
    json_decref(header);
}

START_TEST(lengths_are_kept)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__import_state state;
    create(&state, 5);
    for (uint64_t i = 0; i < 100; i++)
        unit_ok(lx__import_state_add(&state, (lx__import_done){5 + i * i, i}, &error));
    unit_ok(lx__import_state_sync(&state, &error));
    unit_ok(lx__import_state_add(&state, (lx__import_done){1000000, 200}, &error)); /* not synced */
    lx__import_state_close(&state);
    unit_ok(lx__import_state_open(&state, "folder", &error));
    ck_assert_uint_eq(state.first, 5);
    ck_assert_uint_eq(state.count, 100);
    ck_assert_str_eq(json_string_value(json_object_get(state.header, "a")), "b");
    for (uint64_t i = 0; i < 100; i++)
        ck_assert(state.done[i].length == 5 + i * i && state.done[i].bad == i);
    /* Commits were lost. */
    unit_ok(lx__import_state_trim(&state, 5 + 50 * 50, &error));
    ck_assert_uint_eq(state.count, 51);
    ck_assert_uint_eq(lx__import_state_last(&state).bad, 50);
    unit_ok(lx__import_state_add(&state, (lx__import_done){7777, 300}, &error));
    unit_ok(lx__import_state_sync(&state, &error));
    lx__import_state_close(&state);
    unit_ok(lx__import_state_open(&state, "folder", &error));
    ck_assert_uint_eq(state.count, 52);
    ck_assert_uint_eq(lx__import_state_last(&state).length, 7777);
    ck_assert_uint_eq(lx__import_state_last(&state).bad, 300);
    unit_fails(lx__import_state_trim(&state, 4, &error), LX_ERR_MISMATCH);
    unit_ok(lx__import_state_remove(&state, &error));
    ck_assert_int_eq(access("folder.import", F_OK), -1);
    lx__import_state_close(&state);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_unfinished_end_is_ignored)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__import_state state;
    put_text("folder.import", "{\"version\": 1, \"first\": 2}\n3 0\n17 1\n20 1");
    unit_ok(lx__import_state_open(&state, "folder", &error));
    ck_assert_uint_eq(state.count, 2);
    unit_ok(lx__import_state_add(&state, (lx__import_done){18, 1}, &error));
    unit_ok(lx__import_state_sync(&state, &error));
    lx__import_state_close(&state);
    unit_ok(lx__import_state_open(&state, "folder", &error));
    ck_assert_uint_eq(state.count, 3);
    ck_assert_uint_eq(state.done[2].length, 18);
    lx__import_state_close(&state);
    /* Nothing was begun. */
    put_text("folder.import", "{\"version\": 1, \"fir");
    unit_ok(lx__import_state_open(&state, "folder", &error));
    ck_assert_ptr_null(state.header);
    lx__import_state_close(&state);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damaged_states_are_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const texts[] = {"\n",
                                        "[]\n",
                                        "{}\n",
                                        "{\"version\": 1}\n",
                                        "{\"version\": 1, \"first\": -1}\n",
                                        "{\"version\": 1, \"first\": 5}\n4 0\n",
                                        "{\"version\": 1, \"first\": 0}\n5 0\n4 0\n",
                                        "{\"version\": 1, \"first\": 0}\n5 2\n6 1\n",
                                        "{\"version\": 1, \"first\": 0}\nx 0\n",
                                        "{\"version\": 1, \"first\": 0}\n-1 0\n",
                                        "{\"version\": 1, \"first\": 0}\n1x 0\n",
                                        "{\"version\": 1, \"first\": 0}\n1 -1\n",
                                        "{\"version\": 1, \"first\": 0}\n1 0x\n",
                                        "{\"version\": 1, \"first\": 0}\n1\n",
                                        "{\"version\": 1, \"first\": 0}\n1\n2 0\n",
                                        "{\"version\": 1, \"first\": 0}\n1 2 3\n",
                                        "{\"version\": 1, \"first\": 0}\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lx__import_state state;
        put_text("folder.import", texts[i]);
        unit_fails(lx__import_state_open(&state, "folder", &error), LX_ERR_CORRUPT);
        lx__import_state_close(&state);
    }
    lx__import_state state;
    put_text("folder.import", "{\"version\": 2, \"first\": 0}\n");
    unit_fails(lx__import_state_open(&state, "folder", &error), LX_ERR_UNSUPPORTED);
    lx__import_state_close(&state);
    scratch_remove(scratch);
}
END_TEST

START_TEST(only_one_import_at_a_time_is_active)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__import_state state, other;
    json_t *header = json_pack("{}");
    unit_ok(lx__import_state_open(&other, "folder", &error)); /* before the file exists */
    create(&state, 5);
    unit_fails(lx__import_state_create(&other, header, 0, &error), LX_ERR_BUSY);
    lx__import_state_close(&other);
    unit_fails(lx__import_state_open(&other, "folder", &error), LX_ERR_BUSY);
    lx__import_state_close(&other);
    lx__import_state_close(&state);
    unit_ok(lx__import_state_open(&state, "folder", &error));
    ck_assert_uint_eq(state.first, 5);
    lx__import_state_close(&state);
    unit_ok(lx__import_state_open(&state, "no/folder", &error));
    unit_fails(lx__import_state_create(&state, header, 0, &error), LX_ERR_NOT_FOUND);
    lx__import_state_close(&state);
    json_decref(header);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/import-state", lengths_are_kept, an_unfinished_end_is_ignored,
          damaged_states_are_refused, only_one_import_at_a_time_is_active)
