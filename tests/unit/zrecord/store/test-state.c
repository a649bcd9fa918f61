/* SPDX-License-Identifier: MIT */
/* Replay of a log, and the rules of its frames: doc/zrecord-format.md, 8.8 and 8.10 to 8.15. */
#include "zrecord/store/state.h"

#include "../frames.h"
#include "../records.h"

#define ROWS_MAX ((1ull << 59) - 1)

/** A schema of three fields with the ids 0, 1 and 2. */
static lx_schema *three_fields(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a", LX_BYTES, NULL, 0, LX_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "b", LX_BYTES, NULL, 0, LX_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "c", LX_BYTES, NULL, 0, LX_RAW, &error));
    return schema;
}

/** Goes on with @p state to the end of the log. */
static lx_status replay(lx__state *state, const struct log *log, lx__replay which, bool *unknown,
                        lx_error *error)
{
    bool ignored;
    lx_schema *schema = three_fields();
    lx__log_reader reader = log_put(log);
    lx_status status = lx__state_replay(state, &reader, schema, which, NULL,
                                        unknown != NULL ? unknown : &ignored, error);
    lx__log_close(&reader);
    lx_schema_free(schema);
    return status;
}

/* ---- the rules */

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
    {"1: an unknown flag", {BEFORE, .flags = 4}, "flags"},
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

/* ---- replay */

/** Entries that are told apart by a letter. */
#define ENTRY(letter) {0xffffffff, 1, letter, 1, 0}

/** The frames of the document's table, 8.15. */
static void add_table_frame(struct log *log, int number)
{
    static const lx__set_item abc[] = {{0, 0, ENTRY('a')}, {0, 1, ENTRY('b')}, {0, 2, ENTRY('c')}};
    static const lx__set_item b1 = {0, 1, ENTRY('B')}, c0 = {0, 0, ENTRY('c')};
    static const lx__set_item d2 = {0, 2, ENTRY('d')}, e3 = {0, 3, ENTRY('e')};
    const struct frame frames[] = {
        [1] = {.length = 3, .rows = 0, .sets = abc, .set_count = 3},
        [2] = {.length = 3, .rows = 3},
        [3] = {.length = 3, .rows = 3, .sets = &b1, .set_count = 1},
        [4] = {.length = 2, .rows = 3, .sets = &c0, .set_count = 1},
        [5] = {.length = 3, .rows = 3, .sets = &d2, .set_count = 1},
        [6] = {.length = 4, .rows = 3, .sets = &e3, .set_count = 1},
        [7] = {.length = 4, .rows = 4},
        [8] = {.length = 3, .rows = 4},
    };
    struct frame frame = frames[number];
    frame.boot = lx__boot_id();
    frame.flags = frame.boot == 0 ? SYNCED : 0;
    log_add(log, &frame);
}

/** What the document's table says of each frame: live sets as letters, '.' where there is none. */
static const struct {
    uint64_t length, rows;
    const char *sets;
} table[] = {{0, 0, "...."}, {3, 0, "abc."}, {3, 3, "...."}, {3, 3, ".B.."}, {2, 3, "cB.."},
             {3, 3, "cBd."}, {4, 3, "cBde"}, {4, 4, "cBd."}, {3, 4, "cBd."}};

static void expect_table(const lx__state *state, int after)
{
    size_t live = 0;
    ck_assert_uint_eq(state->length, table[after].length);
    ck_assert_uint_eq(state->rows, table[after].rows);
    for (uint64_t i = 0; i < 4; i++) {
        const uint8_t *rows = lx__sets_find(&state->sets, 0, i);
        char letter = rows != NULL ? (char)rows[8] : '.';
        ck_assert_msg(letter == table[after].sets[i], "after frame %d, row %d: %c", after, (int)i,
                      letter);
        live += rows != NULL;
    }
    ck_assert_uint_eq(lx__sets_count(&state->sets), live);
}

START_TEST(the_example_of_the_document_is_replayed)
{
    char *scratch = scratch_make();
    struct log log = log_new(&example_log);
    for (int number = 0; number <= 8; number++) {
        lx_error error = LX_ERROR_INIT;
        lx__state state = {0};
        if (number != 0)
            add_table_frame(&log, number);
        unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
        expect_table(&state, number);
        ck_assert_uint_eq(state.place.epoch, (uint64_t)number + 1);
        ck_assert_uint_eq(state.place.crc, log.crc);
        ck_assert_uint_eq(state.place.offset, log.size);
        lx__state_free(&state);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_example_is_replayed_in_two_parts)
{
    char *scratch = scratch_make();
    for (int first = 0; first <= 8; first++) {
        for (int second = first; second <= 8; second++) {
            lx_error error = LX_ERROR_INIT;
            lx__state state = {0};
            struct log log = log_new(&example_log);
            for (int number = 1; number <= first; number++)
                add_table_frame(&log, number);
            unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
            for (int number = first + 1; number <= second; number++)
                add_table_frame(&log, number);
            unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, NULL, &error));
            expect_table(&state, second);
            lx__state_free(&state);
            log_free(&log);
        }
    }
    scratch_remove(scratch);
}
END_TEST

/** A replay as the document has it, with no cleverness: 3 fields, few rows. */
#define INDICES 12
struct plain {
    uint64_t length, rows, items;
    uint32_t sets[3][INDICES]; /* 0: none; else a number of the set */
};

static void plain_apply(struct plain *plain, const struct frame *frame)
{
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = plain->rows; i < frame->rows && i < INDICES; i++)
            plain->sets[field][i] = 0;
    for (uint32_t i = 0; i < frame->set_count; i++)
        if (frame->sets[i].field < 3)
            plain->sets[frame->sets[i].field][frame->sets[i].index] = frame->sets[i].entry.crc;
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = frame->length; i < INDICES; i++)
            plain->sets[field][i] = 0;
    plain->length = frame->length;
    plain->rows = frame->rows;
    plain->items += frame->set_count;
}

static void expect_plain(const lx__state *state, const struct plain *plain, uint64_t seed)
{
    size_t live = 0;
    ck_assert_uint_eq(state->length, plain->length);
    ck_assert_uint_eq(state->rows, plain->rows);
    ck_assert_uint_eq(state->items, plain->items);
    for (uint32_t field = 0; field < 3; field++) {
        for (uint64_t i = 0; i < INDICES; i++) {
            const uint8_t *rows = lx__sets_find(&state->sets, field, i);
            uint32_t got = rows != NULL ? lx__load_le32(rows + 20) : 0;
            ck_assert_msg(got == plain->sets[field][i], "log %d: field %u, index %d: %u, not %u",
                          (int)seed, field, (int)i, got, plain->sets[field][i]);
            live += rows != NULL;
        }
    }
    ck_assert_uint_eq(lx__sets_count(&state->sets), live);
}

/** A random frame that keeps the rules; sets may be above its length and below its rows. */
static struct frame random_frame(const struct plain *plain, lx__set_item sets[4], uint64_t *random)
{
    static uint32_t number;
    struct frame frame = {.flags = SYNCED, .rows = plain->rows, .sets = sets};
    *random = mix(*random);
    frame.set_count = (uint32_t)(*random >> 8 & 3);
    for (uint32_t i = 0; i < frame.set_count; i++) {
        *random = mix(*random);
        sets[i] = (lx__set_item){*random % 4, *random / 16 % INDICES, {1, 1, 1, 1, ++number}};
    }
    *random = mix(*random);
    if (*random % 3 == 0 && plain->rows < INDICES)
        frame.rows += *random / 16 % (INDICES - plain->rows + 1);
    uint64_t most = frame.rows + plain->items + frame.set_count;
    frame.length = *random / 4096 % ((most < INDICES ? most : INDICES) + 1);
    return frame;
}

START_TEST(any_log_is_replayed_as_the_document_says)
{
    char *scratch = scratch_make();
    for (uint64_t seed = 0; seed < (SANITIZED ? 300 : 3000); seed++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t random = seed;
        struct plain plain = {0};
        struct log log = log_new(&example_log);
        lx__state whole = {0}, parts = {0};
        for (int frames = (int)(mix(seed) % 12); frames-- > 0;) {
            lx__set_item sets[4];
            struct frame frame = random_frame(&plain, sets, &random);
            log_add(&log, &frame);
            plain_apply(&plain, &frame);
            if (random % 3 == 0)
                unit_ok(replay(&parts, &log, LX__REPLAY_NEWEST, NULL, &error));
        }
        unit_ok(replay(&whole, &log, LX__REPLAY_NEWEST, NULL, &error));
        expect_plain(&whole, &plain, seed);
        unit_ok(replay(&parts, &log, LX__REPLAY_NEWEST, NULL, &error));
        expect_plain(&parts, &plain, seed);
        lx__state_free(&whole);
        lx__state_free(&parts);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- many sets, in layers */

#define WIDE 500
struct wide {
    uint64_t length, rows, items;
    uint32_t sets[3][WIDE];
};

static void wide_apply(struct wide *wide, const struct frame *frame)
{
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = wide->rows; i < frame->rows; i++)
            wide->sets[field][i] = 0;
    for (uint32_t i = 0; i < frame->set_count; i++)
        wide->sets[frame->sets[i].field][frame->sets[i].index] = frame->sets[i].entry.crc;
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = frame->length; i < WIDE; i++)
            wide->sets[field][i] = 0;
    wide->length = frame->length;
    wide->rows = frame->rows;
    wide->items += frame->set_count;
}

/** Mostly small changes; now and then many, or rows taken, or records deleted or appended. */
static struct frame wide_frame(const struct wide *wide, lx__set_item *sets, uint64_t *random)
{
    static uint32_t number;
    struct frame frame = {.flags = SYNCED, .rows = wide->rows, .sets = sets};
    *random = mix(*random);
    uint64_t kind = *random % 10;
    frame.set_count = (uint32_t)(*random / 16 % (kind == 0 ? WIDE : 12));
    for (uint32_t i = 0; i < frame.set_count; i++) {
        *random = mix(*random);
        sets[i] = (lx__set_item){*random % 3, *random / 16 % WIDE, {1, 1, 1, 1, ++number}};
    }
    *random = mix(*random);
    if (kind == 1)
        frame.rows += *random % (WIDE - wide->rows + 1) / 4;
    uint64_t most = frame.rows + wide->items + frame.set_count;
    frame.length = kind < 6 ? wide->length : *random / 4096 % (WIDE + 1);
    if (kind == 6 && wide->length != 0)
        frame.length = wide->length - 1; /* the last one goes */
    if (frame.length > most)
        frame.length = most;
    return frame;
}

static void expect_wide(const lx__state *state, const struct wide *wide, uint64_t seed)
{
    size_t live = 0;
    ck_assert_uint_eq(state->length, wide->length);
    ck_assert_uint_eq(state->rows, wide->rows);
    ck_assert_uint_eq(state->items, wide->items);
    for (uint32_t field = 0; field < 3; field++) {
        for (uint64_t i = 0; i < WIDE; i++) {
            const uint8_t *rows = lx__sets_find(&state->sets, field, i);
            uint32_t got = rows != NULL ? lx__load_le32(rows + 20) : 0;
            if (got != wide->sets[field][i])
                ck_abort_msg("log %d: field %u, index %d: %u, not %u", (int)seed, field, (int)i,
                             got, wide->sets[field][i]);
            live += rows != NULL;
        }
    }
    ck_assert_uint_eq(lx__sets_count(&state->sets), live);
}

START_TEST(a_log_followed_step_by_step_is_the_log_replayed_at_once)
{
    char *scratch = scratch_make();
    size_t deepest = 0;
    static lx__set_item sets[WIDE];
    for (uint64_t seed = 0; seed < (SANITIZED ? 3 : 12); seed++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t random = seed;
        struct wide wide = {0}, kept = {0};
        struct log log = log_new(&example_log);
        lx__state whole = {0}, parts = {0}, old = {0};
        for (int step = 0; step < 120; step++) {
            for (uint64_t frames = 1 + mix(random) % 3; frames-- != 0;) {
                struct frame frame = wide_frame(&wide, sets, &random);
                log_add(&log, &frame);
                wide_apply(&wide, &frame);
            }
            unit_ok(replay(&parts, &log, LX__REPLAY_NEWEST, NULL, &error));
            expect_wide(&parts, &wide, seed);
            deepest = parts.sets.depth > deepest ? parts.sets.depth : deepest;
            /* A copy stays what it was, whatever becomes of what it shares. */
            if (step == 60) {
                lx__state_copy(&old, &parts);
                kept = wide;
            }
        }
        unit_ok(replay(&whole, &log, LX__REPLAY_NEWEST, NULL, &error));
        expect_wide(&whole, &wide, seed);
        expect_wide(&old, &kept, seed);
        lx__state_free(&whole);
        lx__state_free(&parts);
        expect_wide(&old, &kept, seed);
        lx__state_free(&old);
        log_free(&log);
    }
    ck_assert_uint_ge(deepest, 3);
    scratch_remove(scratch);
}
END_TEST

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

START_TEST(stored_bytes_are_within_what_is_committed_of_their_chunk)
{
    lx_error error = LX_ERROR_INIT;
    const lx__chunk_item chunk = {3, 1, 100};
    lx__entry entry = {.chunk = 3, .offset = 90, .physical = 10};
    unit_ok(lx__state_check_stored(&chunk, &entry, &error));
    entry.offset = 91;
    unit_fails(lx__state_check_stored(&chunk, &entry, &error), LX_ERR_CORRUPT);
    entry.offset = UINT64_MAX - 4;
    ck_assert_int_eq(lx__state_check_stored(&chunk, &entry, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "beyond the 100 committed"));
    lx_error_clear(&error);
    ck_assert_int_eq(lx__state_check_stored(NULL, &entry, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.message, "there is no chunk 3");
    lx_error_clear(&error);
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
    static const lx__chunk_item more = {9, 1, 1};
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

UNIT_MAIN("zrecord/state", rules_of_frames_are_kept, rules_of_the_first_frame_are_kept,
          a_log_without_a_first_frame_is_damaged, the_example_of_the_document_is_replayed,
          the_example_is_replayed_in_two_parts, any_log_is_replayed_as_the_document_says,
          a_log_followed_step_by_step_is_the_log_replayed_at_once,
          a_log_is_gone_on_in_where_it_ends,
          fields_that_are_not_shown_are_no_surprise_if_they_are_known,
          durable_stops_at_the_last_synced_frame, frames_of_another_boot_do_not_count,
          chunks_are_kept_in_order_and_grow,
          stored_bytes_are_within_what_is_committed_of_their_chunk,
          many_chunks_out_of_order_do_not_take_long,
          sets_of_unknown_fields_are_skipped_and_told, field_ids_need_not_be_positions,
          a_failed_replay_leaves_the_state, a_copy_is_one_of_its_own)
