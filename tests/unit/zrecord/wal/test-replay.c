/* SPDX-License-Identifier: MIT */
/* Replay of a log: the start, valid frames, chunks, and the rules of frames: doc/zrecord-format.md,
 * 8.8 and 8.10 to 8.15. */
#include "../records.h"
#include "replays.h"

START_TEST(replay_continues_where_it_ended)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct log log = log_new(&example_log);
    lx_schema *schema = three_fields();
    lx__state state = {0};
    lx__wal_change sight;
    lx__wal_reader reader = log_put(&log);
    unit_ok(lx__wal_poll(&reader, &state.position, &sight, &error));
    ck_assert_int_eq(sight, LX__WAL_MAYBE_GROWN);
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &error));
    unit_ok(lx__wal_poll(&reader, &state.position, &sight, &error));
    ck_assert_int_eq(sight, LX__WAL_UNCHANGED);
    log_add(&log, &(struct frame){.length = 0, .boot = 7}); /* not valid in this boot */
    file_put("LOG", log.bytes, log.size);
    unit_ok(lx__wal_poll(&reader, &state.position, &sight, &error));
    ck_assert_int_eq(sight, LX__WAL_MAYBE_GROWN);
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &error));
    ck_assert_uint_eq(state.position.sequence, 1);
    file_cut("LOG", 40);
    unit_ok(lx__wal_poll(&reader, &state.position, &sight, &error));
    ck_assert_int_eq(sight, LX__WAL_TRUNCATED);
    lx__wal_close(&reader);
    lx__state_free(&state);
    lx_schema_free(schema);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_updates_of_shown_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__update_item known[] = {
        {0, 0, ENTRY('a')}, {2, 0, ENTRY('c')}, {1, 0, ENTRY('b')}};
    static const lx__update_item more = {3, 0, ENTRY('d')};
    lx_schema *all = three_fields(), *shown = lx_schema_new();
    for (size_t i = 0; i < 2; i++) { /* c, a */
        lx_field field = lx__schema_field(all, 2 - 2 * i)->shown;
        unit_ok(lx__schema_add(shown, &field, field.name, false, &error));
    }
    struct log log = log_new(&example_log);
    log_add(&log,
            &(struct frame){.length = 1, .flags = SYNCED, .updates = known, .update_count = 3});
    lx__state state = {0};
    lx__wal_reader reader = log_put(&log);
    unit_ok(lx__state_replay(&state, &reader, shown, LX__REPLAY_NEWEST, NULL, &error));
    ck_assert_uint_eq(lx__overlay_find_update(&state.overlay, 0, 0)->rows[8], 'c');
    ck_assert_uint_eq(lx__overlay_find_update(&state.overlay, 1, 0)->rows[8], 'a');
    ck_assert_uint_eq(lx__overlay_count(&state.overlay), 2);
    log_add(&log,
            &(struct frame){.length = 1, .flags = SYNCED, .updates = &more, .update_count = 1});
    file_put("LOG", log.bytes, log.size);
    unit_ok(lx__state_replay(&state, &reader, shown, LX__REPLAY_NEWEST, NULL, &error));
    ck_assert_uint_eq(state.items, 4);
    lx__wal_close(&reader);
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
    unit_ok(replay(&durable, &log, LX__REPLAY_DURABLE, &error));
    unit_ok(replay(&newest, &log, LX__REPLAY_NEWEST, &error));
    ck_assert_uint_eq(durable.length, 1);
    ck_assert_uint_eq(newest.length, boot != 0 ? 3 : 1);
    /* A synced frame makes those before it durable. */
    log_add(&log, &(struct frame){.length = 3, .rows = 3, .flags = SYNCED, .boot = 5});
    unit_ok(replay(&durable, &log, LX__REPLAY_DURABLE, &error));
    ck_assert_uint_eq(durable.length, 3);
    lx__state_free(&durable);
    lx__state_free(&newest);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_frames_of_another_boot)
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
        unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
        ck_assert_uint_eq(state.length, 1);
        ck_assert_uint_eq(state.position.sequence, 2);
        lx__state_free(&state);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_chunks_in_order)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__chunk_item first[] = {{3, 1, 10}, {9, 2, 20}};
    static const lx__chunk_item second[] = {{1, 7, 70}, {3, 2, 15}, {11, 1, 5}};
    struct log log = log_new(&example_log);
    lx__state state = {0};
    log_add(&log,
            &(struct frame){.flags = SYNCED, .next_chunk = 10, .chunks = first, .chunk_count = 2});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
    log_add(&log,
            &(struct frame){.flags = SYNCED, .next_chunk = 12, .chunks = second, .chunk_count = 3});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
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

/** With quadratic time this would take minutes, and exceed the time limit. */
START_TEST(takes_many_unordered_chunks_quickly)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct log log = log_new(&example_log);
    lx__state state = {0};
    lx__chunk_item *items = calloc(MANY, sizeof *items);
    for (uint32_t high = 2; high-- != 0;) { /* even ids after MANY, then all below it */
        for (uint32_t i = 0; i < MANY; i++)
            items[i] = (lx__chunk_item){high ? MANY + 2 * i : i, i, high};
        log_add(&log,
                &(struct frame){
                    .flags = SYNCED, .next_chunk = 3 * MANY, .chunks = items, .chunk_count = MANY});
    }
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
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

START_TEST(skips_updates_of_unknown_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__update_item updates[] = {{0, 0, ENTRY('a')}, {3, 0, ENTRY('x')}};
    struct log log = log_new(&example_log);
    lx__state state = {0};
    log_add(&log,
            &(struct frame){.length = 1, .flags = SYNCED, .updates = updates, .update_count = 1});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
    log_add(&log,
            &(struct frame){.length = 1, .flags = SYNCED, .updates = updates, .update_count = 2});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
    ck_assert_uint_eq(lx__overlay_count(&state.overlay), 1);
    ck_assert_uint_eq(state.items, 3);
    lx__state_free(&state);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(field_ids_can_differ_from_positions)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__update_item updates[] = {
        {0, 0, ENTRY('x')}, {7, 0, ENTRY('a')}, {5, 0, ENTRY('b')}};
    lx_schema *schema = lx_schema_new();
    lx_field a = {.name = "a", .dtype = LX_BYTES, .id = 7};
    lx_field b = {.name = "b", .dtype = LX_BYTES, .id = 5};
    unit_ok(lx__schema_add(schema, &a, "a", false, &error));
    unit_ok(lx__schema_add(schema, &b, "b", false, &error));
    struct log log = log_new(&example_log);
    log_add(&log,
            &(struct frame){.length = 1, .flags = SYNCED, .updates = updates, .update_count = 3});
    lx__wal_reader reader = log_put(&log);
    lx__state state = {0};
    unit_ok(lx__state_replay(&state, &reader, schema, LX__REPLAY_NEWEST, NULL, &error));
    ck_assert_uint_eq(lx__overlay_find_update(&state.overlay, 0, 0)->rows[8], 'a');
    ck_assert_uint_eq(lx__overlay_find_update(&state.overlay, 1, 0)->rows[8], 'b');
    lx__wal_close(&reader);
    lx__state_free(&state);
    log_free(&log);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_replay_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__update_item set = {0, 0, ENTRY('a')};
    struct log log = log_new(&example_log);
    lx__state state = {0};
    log_add(&log,
            &(struct frame){.length = 1, .flags = SYNCED, .updates = &set, .update_count = 1});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
    log_add(&log, &(struct frame){.length = 1, .rows = 1, .flags = SYNCED});
    log_add(&log, &(struct frame){.length = 99, .rows = 1, .flags = SYNCED});
    unit_fails(replay(&state, &log, LX__REPLAY_NEWEST, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(state.length, 1);
    ck_assert_uint_eq(state.rows, 0);
    ck_assert_uint_eq(lx__overlay_count(&state.overlay), 1);
    ck_assert_uint_eq(lx__overlay_find_update(&state.overlay, 0, 0)->rows[8], 'a');
    lx__state_free(&state);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_copy_is_independent)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__update_item set = {1, 0, ENTRY('a')};
    static const lx__chunk_item before = {2, 4, 80}, more = {9, 1, 1};
    struct log log = log_new(&example_log);
    lx__state state = {0}, copy;
    log_add(&log, &(struct frame){.length = 1,
                                  .flags = SYNCED,
                                  .updates = &set,
                                  .update_count = 1,
                                  .next_chunk = 3,
                                  .chunks = &before,
                                  .chunk_count = 1});
    unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
    lx__state_copy(&copy, &state);
    unit_ok(lx__state_put_chunk(&copy, &more, &error));
    ck_assert_uint_eq(copy.chunk_count, 2);
    ck_assert_uint_eq(state.chunk_count, 1);
    lx__state_free(&state);
    ck_assert_uint_eq(lx__overlay_find_update(&copy.overlay, 1, 0)->rows[8], 'a');
    ck_assert_uint_eq(lx__state_find_chunk(&copy, 2)->bytes, 80);
    lx__state_free(&copy);
    lx__state_free(&copy);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

/* ---- the rules of frames: doc/zrecord-format.md, 8.8 */

#define ROWS_MAX ((1ull << 59) - 1)

/** A log of frame 0, a valid frame, and a last one, which may break a rule. */
struct rule {
    const char *name;
    struct frame last;
    const char *said; /**< NULL: it is allowed. */
};

static const lx__chunk_item chunk_0 = {0, 1, 8}, chunk_5 = {5, 1, 8};
static const lx__chunk_item grown[] = {{2, 5, 100}, {4, 4, 40}};
static const lx__chunk_item repeated[] = {{2, 5, 100}, {2, 5, 100}};
static const lx__chunk_item descending[] = {{4, 4, 40}, {2, 5, 100}};
static const lx__chunk_item less_records = {2, 3, 80}, less_bytes = {2, 4, 79}, same = {2, 4, 80};
static const lx__chunk_item huge = {2, 4, INT64_MAX}, too_huge = {2, 4, 1ull << 63};
static const lx__update_item one_set = {0, 9, {0}};
static const lx__update_item far_updates[] = {{7, UINT64_MAX, {0}},
                                              {0, 1ull << 60, {1, 2, 3, 4, 5}}};

/** The frame before the last one. */
static const lx__chunk_item before = {2, 4, 80};
#define BEFORE .length = 10, .rows = 8, .next_chunk = 5

static const struct rule rules[] = {
    {"nothing changes", {BEFORE}, NULL},
    {"synced", {BEFORE, .flags = SYNCED}, NULL},
    {"1: a base that is not the first", {BEFORE, .flags = SNAPSHOT | SYNCED}, "flags"},
    {"1: a base that is not synced", {BEFORE, .flags = SNAPSHOT}, "flags"},
    {"1: an bit 2, reserved", {BEFORE, .flags = 4}, "flags"},
    {"1: bit 2, reserved, and synced", {BEFORE, .flags = 4 | SYNCED}, "flags"},
    {"1: an unknown flag", {BEFORE, .flags = 8}, "flags"},
    {"1: the highest flag", {BEFORE, .flags = SYNCED | 1u << 31}, "flags"},
    {"2: the zero of the trailer", {BEFORE, .trailer_zero = 1}, "not zero"},
    {"2: the reserved zero of an update",
     {BEFORE, .updates = &one_set, .update_count = 1, .set_zero = 1u << 31},
     "not zero"},
    {"3: rows fall", {.length = 8, .rows = 7, .next_chunk = 5}, "rows"},
    {"3: rows stay", {.length = 8, .rows = 8, .next_chunk = 5}, NULL},
    {"3: rows are at their most", {.length = 8, .rows = ROWS_MAX, .next_chunk = 5}, NULL},
    {"3: too many rows", {.length = 8, .rows = ROWS_MAX + 1, .next_chunk = 5}, "rows"},
    {"3: as many rows as can be", {.length = 8, .rows = UINT64_MAX, .next_chunk = 5}, "rows"},
    {"3: the length is too much",
     {.length = ROWS_MAX + 1,
      .rows = ROWS_MAX,
      .next_chunk = 5,
      .updates = &one_set,
      .update_count = 1},
     "length"},
    {"4: length by the rows alone", {.length = 8, .rows = 8, .next_chunk = 5}, NULL},
    {"4: length by updates so far", {.length = 10, .rows = 8, .next_chunk = 5}, NULL},
    {"4: length beyond them", {.length = 11, .rows = 8, .next_chunk = 5}, "length"},
    {"4: length by an update of this frame",
     {.length = 11, .rows = 8, .next_chunk = 5, .updates = &one_set, .update_count = 1},
     NULL},
    {"4: as long as can be", {.length = UINT64_MAX, .rows = 8, .next_chunk = 5}, "length"},
    {"5: another table generation", {BEFORE, .table_generation = 1}, "table generation"},
    {"6: next chunk falls", {.length = 10, .rows = 8, .next_chunk = 4}, "next chunk"},
    {"6: an id at next chunk", {BEFORE, .chunks = &chunk_5, .chunk_count = 1}, "chunk ids"},
    {"6: an id below an earlier next chunk", {BEFORE, .chunks = &chunk_0, .chunk_count = 1}, NULL},
    {"7: chunks ascend", {BEFORE, .chunks = grown, .chunk_count = 2}, NULL},
    {"7: a chunk twice", {BEFORE, .chunks = repeated, .chunk_count = 2}, "chunk ids"},
    {"7: chunks descend", {BEFORE, .chunks = descending, .chunk_count = 2}, "chunk ids"},
    {"7: fewer records", {BEFORE, .chunks = &less_records, .chunk_count = 1}, "shrinks"},
    {"7: fewer bytes", {BEFORE, .chunks = &less_bytes, .chunk_count = 1}, "shrinks"},
    {"7: the same", {BEFORE, .chunks = &same, .chunk_count = 1}, NULL},
    {"7: as many bytes as can be", {BEFORE, .chunks = &huge, .chunk_count = 1}, NULL},
    {"7: more bytes than that", {BEFORE, .chunks = &too_huge, .chunk_count = 1}, "shrinks"},
    {"unknown fields, and indices beyond all",
     {BEFORE, .updates = far_updates, .update_count = 2},
     NULL},
};

/** The log before the last frame. */
static struct log lawful(void)
{
    static const lx__update_item updates[] = {{0, 8, {0}}, {0, 9, {0}}};
    struct log log = log_new(&example_log);
    log_add(&log, &(struct frame){BEFORE, .flags = SYNCED, .chunks = &before, .chunk_count = 1,
                                  .updates = updates, .update_count = 2});
    return log;
}

static void expect_rule(const struct rule *rule, struct log *log, const char *how)
{
    lx_error error = LX_ERROR_INIT;
    lx__state state = {0};
    size_t at = log->size;
    log_add(log, &rule->last);
    lx_status status = replay(&state, log, LX__REPLAY_NEWEST, &error);
    ck_assert_msg(status == (rule->said == NULL ? LX_OK : LX_ERR_CORRUPT), "%s (%s): %s %s",
                  rule->name, how, lx_status_get_name(status), error.message);
    if (rule->said != NULL) {
        ck_assert_msg(strstr(error.message, rule->said) != NULL, "%s: %s", rule->name,
                      error.message);
        ck_assert_ptr_nonnull(strstr(error.path, "LOG"));
        ck_assert_uint_ge(error.offset, at);
        ck_assert_uint_lt(error.offset, log->size);
        ck_assert_ptr_null(state.chunks); /* as it was */
    }
    lx__state_free(&state);
}

START_TEST(rejects_frames_that_break_a_rule)
{
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct log log = lawful();
        struct rule rule = rules[i];
        rule.last.boot = lx__boot_id();
        expect_rule(&rule, &log, "counts");
        log_free(&log);

        /* Also if the frame is only valid in another boot, and if a synced one follows. */
        log = lawful();
        rule.last.boot = 1;
        expect_rule(&rule, &log, "does not count");
        if (rule.said != NULL) {
            struct frame good = {.length = rule.last.length,
                                 .rows = rule.last.rows,
                                 .next_chunk = rule.last.next_chunk,
                                 .flags = SYNCED};
            lx_error error = LX_ERROR_INIT;
            lx__state state = {0};
            log_add(&log, &good);
            unit_fails(replay(&state, &log, LX__REPLAY_DURABLE, &error), LX_ERR_CORRUPT);
        }
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_first_frame_that_breaks_a_rule)
{
    static const lx__update_item ascending[] = {{1, 3, {0}}, {0, 4, {0}}, {2, 4, {0}}};
    static const lx__update_item by_index[] = {{0, 4, {0}}, {0, 3, {0}}};
    static const lx__update_item by_field[] = {{1, 3, {0}}, {0, 3, {0}}};
    static const lx__update_item twice[] = {{1, 3, {0}}, {1, 3, {0}}};
    static const lx__update_item last_first[] = {{0, UINT64_MAX, {0}}, {0, 3, {0}}};
    static const lx__chunk_item chunks[] = {{0, 1, 1}, {7, 2, 2}};
    static const struct rule first[] = {
        {"1: flags 0", {.flags = 0}, "flags"},
        {"1: not synced", {.flags = SNAPSHOT}, "flags"},
        {"1: no base", {.flags = SYNCED}, "flags"},
        {"1: an unknown flag", {.flags = 7}, "flags"},
        {"2: the trailer", {.flags = 3, .trailer_zero = 9}, "not zero"},
        {"4: a length from nothing", {.flags = 3, .length = 1}, "length"},
        {"a base of a later generation",
         {.flags = 3,
          .length = 5,
          .rows = 4,
          .table_generation = 3,
          .next_chunk = 8,
          .chunks = chunks,
          .chunk_count = 2,
          .updates = ascending,
          .update_count = 3},
         NULL},
        {"6: next chunk",
         {.flags = 3, .next_chunk = 7, .chunks = chunks, .chunk_count = 2},
         "chunk ids"},
        {"8: indices descend", {.flags = 3, .updates = by_index, .update_count = 2}, "ascend"},
        {"8: fields descend", {.flags = 3, .updates = by_field, .update_count = 2}, "ascend"},
        {"8: an update twice", {.flags = 3, .updates = twice, .update_count = 2}, "ascend"},
        {"8: the last index first",
         {.flags = 3, .updates = last_first, .update_count = 2},
         "ascend"},
    };
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        struct log log = {.identity = example_log};
        expect_rule(&first[i], &log, "first");
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_log_without_first_frame_as_damaged)
{
    char *scratch = scratch_make();
    struct log log = log_new(&example_log);
    for (size_t size = 0; size < EMPTY_FRAME; size++) {
        lx_error error = LX_ERROR_INIT;
        lx__state state = {0};
        log.size = size;
        unit_fails(replay(&state, &log, LX__REPLAY_NEWEST, &error), LX_ERR_CORRUPT);
    }
    log.size = EMPTY_FRAME;
    for (size_t bit = 0; bit < EMPTY_FRAME * 8; bit++) {
        lx_error error = LX_ERROR_INIT;
        lx__state state = {0};
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        lx_status status = replay(&state, &log, LX__REPLAY_NEWEST, &error);
        ck_assert_int_eq(status, LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.path, "LOG"));
        ck_assert_uint_eq(error.offset, 0);
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/replay", replay_continues_where_it_ended, keeps_updates_of_shown_fields,
          durable_stops_at_the_last_synced_frame, ignores_frames_of_another_boot,
          keeps_chunks_in_order, takes_many_unordered_chunks_quickly,
          skips_updates_of_unknown_fields, field_ids_can_differ_from_positions,
          a_failed_replay_changes_nothing, a_copy_is_independent, rejects_frames_that_break_a_rule,
          rejects_a_first_frame_that_breaks_a_rule, reports_a_log_without_first_frame_as_damaged)
