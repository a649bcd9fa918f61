/* SPDX-License-Identifier: MIT */
/* What a log is gone on from, which of its frames count, and chunks: doc/zrecord-format.md, 8.10 to
 * 8.15. */
#include "../records.h"
#include "replays.h"

START_TEST(a_log_is_gone_on_in_where_it_ends)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct log log = log_new(&example_log);
    lx_schema *schema = three_fields();
    lx__state state = {0};
    lx__log_sight sight;
    bool unknown;
    lx__log_reader reader = log_put(&log);
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_MORE);
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &unknown, &error));
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_SAME);
    /* A frame that does not count, long ago: it need not be looked at again, until it changes. */
    const struct timespec past[] = {{1000, 0}, {1000, 0}};
    log_add(&log, &(struct frame){.length = 0, .boot = 7});
    file_put("LOG", log.bytes, log.size);
    ck_assert_int_eq(utimensat(AT_FDCWD, "LOG", past, 0), 0);
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_MORE);
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &unknown, &error));
    ck_assert_uint_eq(state.place.epoch, 1);
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_SAME);
    log.bytes[log.size - 1] ^= 1;
    file_put("LOG", log.bytes, log.size); /* of the same size, and later */
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_MORE);
    /* One that was written just now may be changed within the same tick of the clock. */
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &unknown, &error));
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_MORE);
    file_cut("LOG", 40);
    unit_ok(lx__log_look(&reader, &state.place, &sight, &error));
    ck_assert_int_eq(sight, LX__LOG_GONE);
    lx__log_close(&reader);
    lx__state_free(&state);
    lx_schema_free(schema);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(fields_that_are_not_shown_are_no_surprise_if_they_are_known)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__set_item known[] = {{0, 0, ENTRY('a')}, {2, 0, ENTRY('c')},
                                         {1, 0, ENTRY('b')}};
    static const lx__set_item more = {3, 0, ENTRY('d')};
    lx_schema *all = three_fields(), *shown = lx_schema_new();
    for (size_t i = 0; i < 2; i++) { /* c, a */
        lx_field field = lx__schema_field(all, 2 - 2 * i)->shown;
        unit_ok(lx__schema_add(shown, &field, field.name, &error));
    }
    struct log log = log_new(&example_log);
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = known, .set_count = 3});
    lx__state state = {0};
    bool unknown;
    lx__log_reader reader = log_put(&log);
    unit_ok(lx__state_follow(&state, &reader, shown, all, LX__REPLAY_NEWEST, NULL, &unknown,
                             &error));
    ck_assert(!unknown);
    ck_assert_uint_eq(lx__sets_find(&state.sets, 0, 0)[8], 'c');
    ck_assert_uint_eq(lx__sets_find(&state.sets, 1, 0)[8], 'a');
    ck_assert_uint_eq(lx__sets_count(&state.sets), 2);
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = &more, .set_count = 1});
    file_put("LOG", log.bytes, log.size);
    unit_ok(lx__state_follow(&state, &reader, shown, all, LX__REPLAY_NEWEST, NULL, &unknown,
                             &error));
    ck_assert(unknown);
    ck_assert_uint_eq(state.items, 4);
    lx__log_close(&reader);
    lx__state_free(&state);
    lx_schema_free(all);
    lx_schema_free(shown);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(durable_stops_at_the_last_synced_frame)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t boot = lx__boot_id();
    struct log log = log_new(&example_log);
    log_add(&log, &(struct frame){.length = 1, .rows = 1, .flags = SYNCED, .boot = boot});
    log_add(&log, &(struct frame){.length = 2, .rows = 2, .boot = boot});
    log_add(&log, &(struct frame){.length = 3, .rows = 3, .boot = boot});
    lx__state durable = {0}, newest = {0};
    unit_ok(replay(&durable, &log, LX__REPLAY_DURABLE, NULL, &error));
    unit_ok(replay(&newest, &log, LX__REPLAY_NEWEST, NULL, &error));
    ck_assert_uint_eq(durable.length, 1);
    ck_assert_uint_eq(newest.length, boot != 0 ? 3 : 1);
    /* A synced frame makes those before it durable. */
    log_add(&log, &(struct frame){.length = 3, .rows = 3, .flags = SYNCED, .boot = 5});
    unit_ok(replay(&durable, &log, LX__REPLAY_DURABLE, NULL, &error));
    ck_assert_uint_eq(durable.length, 3);
    lx__state_free(&durable);
    lx__state_free(&newest);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(frames_of_another_boot_do_not_count)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t boots[] = {0, 1, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct log log = log_new(&example_log);
        log_add(&log, &(struct frame){.length = 1, .rows = 1, .flags = SYNCED});
        log_add(&log, &(struct frame){.length = 2, .rows = 2, .boot = boots[i]});
        log_add(&log, &(struct frame){.length = 3, .rows = 3, .boot = lx__boot_id()});
        lx__state state = {0};
        unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
        ck_assert_uint_eq(state.length, 1);
        ck_assert_uint_eq(state.place.epoch, 2);
        lx__state_free(&state);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(chunks_are_kept_in_order_and_grow)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__chunk_item first[] = {{3, 1, 10}, {9, 2, 20}};
    static const lx__chunk_item second[] = {{1, 7, 70}, {3, 2, 15}, {11, 1, 5}};
    struct log log = log_new(&example_log);
    lx__state state = {0};
    log_add(&log, &(struct frame){.flags = SYNCED, .next_chunk = 10, .chunks = first,
                                  .chunk_count = 2});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
    log_add(&log, &(struct frame){.flags = SYNCED, .next_chunk = 12, .chunks = second,
                                  .chunk_count = 3});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
    static const lx__chunk_item expected[] = {{1, 7, 70}, {3, 2, 15}, {9, 2, 20}, {11, 1, 5}};
    ck_assert_uint_eq(state.chunk_count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(state.chunks[i].id, expected[i].id);
        ck_assert_uint_eq(state.chunks[i].records, expected[i].records);
        ck_assert_uint_eq(state.chunks[i].bytes, expected[i].bytes);
        ck_assert_ptr_eq(lx__state_find_chunk(&state, expected[i].id), &state.chunks[i]);
    }
    ck_assert_ptr_null(lx__state_find_chunk(&state, 0));
    ck_assert_ptr_null(lx__state_find_chunk(&state, 10));
    ck_assert_ptr_null(lx__state_find_chunk(&state, UINT32_MAX));
    ck_assert_uint_eq(state.next_chunk, 12);
    lx__state_free(&state);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

#define MANY 500000u

/** In the square of their number it would take minutes, and the test be ended. */
START_TEST(many_chunks_out_of_order_do_not_take_long)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct log log = log_new(&example_log);
    lx__state state = {0};
    lx__chunk_item *items = calloc(MANY, sizeof *items);
    for (uint32_t high = 2; high-- != 0;) { /* even ids behind MANY, then all below it */
        for (uint32_t i = 0; i < MANY; i++)
            items[i] = (lx__chunk_item){high ? MANY + 2 * i : i, i, high};
        log_add(&log, &(struct frame){.flags = SYNCED, .next_chunk = 3 * MANY, .chunks = items,
                                      .chunk_count = MANY});
    }
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
    ck_assert_uint_eq(state.chunk_count, 2 * MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert(state.chunks[i].id == i && state.chunks[i].records == i);
        ck_assert(state.chunks[MANY + i].id == MANY + 2 * i && state.chunks[MANY + i].bytes == 1);
    }
    ck_assert_ptr_eq(lx__state_find_chunk(&state, MANY + 2), &state.chunks[MANY + 1]);
    ck_assert_ptr_null(lx__state_find_chunk(&state, MANY + 1));
    lx__state_free(&state);
    free(items);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(sets_of_unknown_fields_are_skipped_and_told)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__set_item sets[] = {{0, 0, ENTRY('a')}, {3, 0, ENTRY('x')}};
    struct log log = log_new(&example_log);
    lx__state state = {0};
    bool unknown;
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = sets, .set_count = 1});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &unknown, &error));
    ck_assert(!unknown);
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = sets, .set_count = 2});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &unknown, &error));
    ck_assert(unknown);
    ck_assert_uint_eq(lx__sets_count(&state.sets), 1);
    ck_assert_uint_eq(state.items, 3);
    lx__state_free(&state);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(field_ids_need_not_be_positions)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__set_item sets[] = {{0, 0, ENTRY('x')}, {7, 0, ENTRY('a')}, {5, 0, ENTRY('b')}};
    lx_schema *schema = lx_schema_new();
    lx_field a = {.name = "a", .dtype = LX_BYTES, .id = 7};
    lx_field b = {.name = "b", .dtype = LX_BYTES, .id = 5};
    unit_ok(lx__schema_add(schema, &a, "a", &error));
    unit_ok(lx__schema_add(schema, &b, "b", &error));
    struct log log = log_new(&example_log);
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = sets, .set_count = 3});
    lx__log_reader reader = log_put(&log);
    lx__state state = {0};
    bool unknown;
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &unknown, &error));
    ck_assert(unknown);
    ck_assert_uint_eq(lx__sets_find(&state.sets, 0, 0)[8], 'a');
    ck_assert_uint_eq(lx__sets_find(&state.sets, 1, 0)[8], 'b');
    lx__log_close(&reader);
    lx__state_free(&state);
    log_free(&log);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_replay_leaves_the_state)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__set_item set = {0, 0, ENTRY('a')};
    struct log log = log_new(&example_log);
    lx__state state = {0};
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = &set, .set_count = 1});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
    log_add(&log, &(struct frame){.length = 1, .rows = 1, .flags = SYNCED});
    log_add(&log, &(struct frame){.length = 99, .rows = 1, .flags = SYNCED});
    unit_fails(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(state.length, 1);
    ck_assert_uint_eq(state.rows, 0);
    ck_assert_uint_eq(lx__sets_count(&state.sets), 1);
    ck_assert_uint_eq(lx__sets_find(&state.sets, 0, 0)[8], 'a');
    lx__state_free(&state);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_copy_is_one_of_its_own)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__set_item set = {1, 0, ENTRY('a')};
    static const lx__chunk_item before = {2, 4, 80}, more = {9, 1, 1};
    struct log log = log_new(&example_log);
    lx__state state = {0}, copy;
    log_add(&log, &(struct frame){.length = 1, .flags = SYNCED, .sets = &set, .set_count = 1,
                                  .next_chunk = 3, .chunks = &before, .chunk_count = 1});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
    lx__state_copy(&copy, &state);
    unit_ok(lx__state_put_chunk(&copy, &more, &error));
    ck_assert_uint_eq(copy.chunk_count, 2);
    ck_assert_uint_eq(state.chunk_count, 1);
    lx__state_free(&state);
    ck_assert_uint_eq(lx__sets_find(&copy.sets, 1, 0)[8], 'a');
    ck_assert_uint_eq(lx__state_find_chunk(&copy, 2)->bytes, 80);
    lx__state_free(&copy);
    lx__state_free(&copy);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/state", a_log_is_gone_on_in_where_it_ends,
          fields_that_are_not_shown_are_no_surprise_if_they_are_known,
          durable_stops_at_the_last_synced_frame, frames_of_another_boot_do_not_count,
          chunks_are_kept_in_order_and_grow,
          many_chunks_out_of_order_do_not_take_long, sets_of_unknown_fields_are_skipped_and_told,
          field_ids_need_not_be_positions, a_failed_replay_leaves_the_state,
          a_copy_is_one_of_its_own)
