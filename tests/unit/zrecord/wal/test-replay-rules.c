/* SPDX-License-Identifier: MIT */
/* The rules of the frames of a log: doc/zrecord-format.md, 8.8. */
#include "../records.h"
#include "replays.h"

#define ROWS_MAX ((1ull << 59) - 1)

/** A log of frame 0, one good frame, and a last one, which is to break a rule. */
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
static const lx__set_item one_set = {0, 9, {0}};
static const lx__set_item far_sets[] = {{7, UINT64_MAX, {0}}, {0, 1ull << 60, {1, 2, 3, 4, 5}}};

/** What the frame before the last one says. */
static const lx__chunk_item before = {2, 4, 80};
#define BEFORE                                                                                     \
    .length = 10, .rows = 8, .next_chunk = 5

static const struct rule rules[] = {
    {"nothing changes", {BEFORE}, NULL},
    {"synced", {BEFORE, .flags = SYNCED}, NULL},
    {"1: a base that is not the first", {BEFORE, .flags = BASE | SYNCED}, "flags"},
    {"1: a base that is not synced", {BEFORE, .flags = BASE}, "flags"},
    {"1: an bit 2, reserved", {BEFORE, .flags = 4}, "flags"},
    {"1: bit 2, reserved, and synced", {BEFORE, .flags = 4 | SYNCED}, "flags"},
    {"1: an unknown flag", {BEFORE, .flags = 8}, "flags"},
    {"1: the highest flag", {BEFORE, .flags = SYNCED | 1u << 31}, "flags"},
    {"2: the zero of the trailer", {BEFORE, .trailer_zero = 1}, "not zero"},
    {"2: the zero of a set",
     {BEFORE, .sets = &one_set, .set_count = 1, .set_zero = 1u << 31},
     "not zero"},
    {"3: rows fall", {.length = 8, .rows = 7, .next_chunk = 5}, "rows"},
    {"3: rows stay", {.length = 8, .rows = 8, .next_chunk = 5}, NULL},
    {"3: rows are at their most", {.length = 8, .rows = ROWS_MAX, .next_chunk = 5}, NULL},
    {"3: too many rows", {.length = 8, .rows = ROWS_MAX + 1, .next_chunk = 5}, "rows"},
    {"3: as many rows as can be", {.length = 8, .rows = UINT64_MAX, .next_chunk = 5}, "rows"},
    {"3: the length is too much",
     {.length = ROWS_MAX + 1, .rows = ROWS_MAX, .next_chunk = 5, .sets = &one_set, .set_count = 1},
     "length"},
    {"4: length by the rows alone", {.length = 8, .rows = 8, .next_chunk = 5}, NULL},
    {"4: length by sets so far", {.length = 10, .rows = 8, .next_chunk = 5}, NULL},
    {"4: length beyond them", {.length = 11, .rows = 8, .next_chunk = 5}, "length"},
    {"4: length by this frame's set",
     {.length = 11, .rows = 8, .next_chunk = 5, .sets = &one_set, .set_count = 1},
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
     {BEFORE, .sets = far_sets, .set_count = 2},
     NULL},
};

/** The log before the last frame. */
static struct log lawful(void)
{
    static const lx__set_item sets[] = {{0, 8, {0}}, {0, 9, {0}}};
    struct log log = log_new(&example_log);
    log_add(&log, &(struct frame){BEFORE, .flags = SYNCED, .chunks = &before, .chunk_count = 1,
                                  .sets = sets, .set_count = 2});
    return log;
}

static void expect_rule(const struct rule *rule, struct log *log, const char *how)
{
    lx_error error = LX_ERROR_INIT;
    lx__state state = {0};
    size_t at = log->size;
    log_add(log, &rule->last);
    lx_status status = replay(&state, log, LX__REPLAY_NEWEST, NULL, &error);
    ck_assert_msg(status == (rule->said == NULL ? LX_OK : LX_ERR_CORRUPT), "%s (%s): %s %s",
                  rule->name, how, lx_status_name(status), error.message);
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

START_TEST(rules_of_frames_are_kept)
{
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct log log = lawful();
        struct rule rule = rules[i];
        rule.last.boot = lx__boot_id();
        expect_rule(&rule, &log, "counts");
        log_free(&log);

        /* Also where the frame is valid and does not count, and where a synced one follows. */
        log = lawful();
        rule.last.boot = 1;
        expect_rule(&rule, &log, "does not count");
        if (rule.said != NULL) {
            struct frame good = {.length = rule.last.length, .rows = rule.last.rows,
                                 .next_chunk = rule.last.next_chunk, .flags = SYNCED};
            lx_error error = LX_ERROR_INIT;
            lx__state state = {0};
            log_add(&log, &good);
            unit_fails(replay(&state, &log, LX__REPLAY_DURABLE, NULL, &error), LX_ERR_CORRUPT);
        }
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rules_of_the_first_frame_are_kept)
{
    static const lx__set_item ascending[] = {{1, 3, {0}}, {0, 4, {0}}, {2, 4, {0}}};
    static const lx__set_item by_index[] = {{0, 4, {0}}, {0, 3, {0}}};
    static const lx__set_item by_field[] = {{1, 3, {0}}, {0, 3, {0}}};
    static const lx__set_item twice[] = {{1, 3, {0}}, {1, 3, {0}}};
    static const lx__set_item last_first[] = {{0, UINT64_MAX, {0}}, {0, 3, {0}}};
    static const lx__chunk_item chunks[] = {{0, 1, 1}, {7, 2, 2}};
    static const struct rule first[] = {
        {"1: flags 0", {.flags = 0}, "flags"},
        {"1: not synced", {.flags = BASE}, "flags"},
        {"1: no base", {.flags = SYNCED}, "flags"},
        {"1: an unknown flag", {.flags = 7}, "flags"},
        {"2: the trailer", {.flags = 3, .trailer_zero = 9}, "not zero"},
        {"4: a length from nothing", {.flags = 3, .length = 1}, "length"},
        {"a base of a later generation",
         {.flags = 3, .length = 5, .rows = 4, .table_generation = 3, .next_chunk = 8,
          .chunks = chunks, .chunk_count = 2, .sets = ascending, .set_count = 3},
         NULL},
        {"6: next chunk",
         {.flags = 3, .next_chunk = 7, .chunks = chunks, .chunk_count = 2},
         "chunk ids"},
        {"8: indices descend", {.flags = 3, .sets = by_index, .set_count = 2}, "ascend"},
        {"8: fields descend", {.flags = 3, .sets = by_field, .set_count = 2}, "ascend"},
        {"8: a set twice", {.flags = 3, .sets = twice, .set_count = 2}, "ascend"},
        {"8: the last index first", {.flags = 3, .sets = last_first, .set_count = 2}, "ascend"},
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

START_TEST(a_log_without_a_first_frame_is_damaged)
{
    char *scratch = scratch_make();
    struct log log = log_new(&example_log);
    for (size_t size = 0; size < 72; size++) {
        lx_error error = LX_ERROR_INIT;
        lx__state state = {0};
        log.size = size;
        unit_fails(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error), LX_ERR_CORRUPT);
    }
    log.size = 72;
    for (size_t bit = 0; bit < 72 * 8; bit++) {
        lx_error error = LX_ERROR_INIT;
        lx__state state = {0};
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        lx_status status = replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error);
        ck_assert_int_eq(status, LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.path, "LOG"));
        ck_assert_uint_eq(error.offset, 0);
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/state-rules", rules_of_frames_are_kept, rules_of_the_first_frame_are_kept,
          a_log_without_a_first_frame_is_damaged)
