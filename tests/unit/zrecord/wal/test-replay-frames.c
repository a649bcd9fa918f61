/* SPDX-License-Identifier: MIT */
/* Replay of a log, in one call and in parts, compared with a plain model: doc/zrecord-format.md,
 * 8.10 to 8.15. */
#include "../records.h"
#include "replays.h"

/** The frames of the document's table, 8.15. */
static void add_table_frame(struct log *log, int number)
{
    static const lx__update_item abc[] = {
        {0, 0, ENTRY('a')}, {0, 1, ENTRY('b')}, {0, 2, ENTRY('c')}};
    static const lx__update_item b1 = {0, 1, ENTRY('B')}, c0 = {0, 0, ENTRY('c')};
    static const lx__update_item d2 = {0, 2, ENTRY('d')}, e3 = {0, 3, ENTRY('e')};
    const struct frame frames[] = {
        [1] = {.length = 3, .rows = 0, .updates = abc, .update_count = 3},
        [2] = {.length = 3, .rows = 3},
        [3] = {.length = 3, .rows = 3, .updates = &b1, .update_count = 1},
        [4] = {.length = 2, .rows = 3, .updates = &c0, .update_count = 1},
        [5] = {.length = 3, .rows = 3, .updates = &d2, .update_count = 1},
        [6] = {.length = 4, .rows = 3, .updates = &e3, .update_count = 1},
        [7] = {.length = 4, .rows = 4},
        [8] = {.length = 3, .rows = 4},
    };
    struct frame frame = frames[number];
    frame.boot = lx__boot_id();
    frame.flags = frame.boot == 0 ? SYNCED : 0;
    log_add(log, &frame);
}

/** The live updates after each frame by the document's table, as letters; '.' without one. */
static const struct {
    uint64_t length, rows;
    const char *updates;
} table[] = {{0, 0, "...."}, {3, 0, "abc."}, {3, 3, "...."}, {3, 3, ".B.."}, {2, 3, "cB.."},
             {3, 3, "cBd."}, {4, 3, "cBde"}, {4, 4, "cBd."}, {3, 4, "cBd."}};

static void expect_table(const lx__state *state, int after)
{
    size_t live = 0;
    ck_assert_uint_eq(state->length, table[after].length);
    ck_assert_uint_eq(state->rows, table[after].rows);
    for (uint64_t i = 0; i < 4; i++) {
        const lx__update *found = lx__overlay_find_update(&state->overlay, 0, i);
        char letter = found != NULL ? (char)found->rows[8] : '.';
        ck_assert_msg(letter == table[after].updates[i], "after frame %d, row %d: %c", after,
                      (int)i, letter);
        live += found != NULL;
    }
    ck_assert_uint_eq(lx__overlay_count(&state->overlay), live);
}

START_TEST(replays_the_example_of_the_document)
{
    char *scratch = scratch_make();
    struct log log = log_new(&example_log);
    for (int number = 0; number <= 8; number++) {
        lx_error error = LX_ERROR_INIT;
        lx__state state = {0};
        if (number != 0)
            add_table_frame(&log, number);
        unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
        expect_table(&state, number);
        ck_assert_uint_eq(state.position.sequence, (uint64_t)number + 1);
        ck_assert_uint_eq(state.position.crc, log.crc);
        ck_assert_uint_eq(state.position.offset, log.size);
        lx__state_free(&state);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(replays_the_example_in_two_parts)
{
    char *scratch = scratch_make();
    for (int first = 0; first <= 8; first++) {
        for (int second = first; second <= 8; second++) {
            lx_error error = LX_ERROR_INIT;
            lx__state state = {0};
            struct log log = log_new(&example_log);
            for (int number = 1; number <= first; number++)
                add_table_frame(&log, number);
            unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
            for (int number = first + 1; number <= second; number++)
                add_table_frame(&log, number);
            unit_ok(replay(&state, &log, LX__REPLAY_NEWEST, &error));
            expect_table(&state, second);
            lx__state_free(&state);
            log_free(&log);
        }
    }
    scratch_remove(scratch);
}
END_TEST

/** A replay as the document defines it, without optimizations: 3 fields, few rows. */
#define INDICES 12
struct plain {
    uint64_t length, rows, items;
    uint32_t updates[3][INDICES]; /* 0: none; otherwise the number of the update */
};

static void plain_apply(struct plain *plain, const struct frame *frame)
{
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = plain->rows; i < frame->rows && i < INDICES; i++)
            plain->updates[field][i] = 0;
    for (uint32_t i = 0; i < frame->update_count; i++)
        if (frame->updates[i].field < 3)
            plain->updates[frame->updates[i].field][frame->updates[i].index] =
                frame->updates[i].entry.crc;
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = frame->length; i < INDICES; i++)
            plain->updates[field][i] = 0;
    plain->length = frame->length;
    plain->rows = frame->rows;
    plain->items += frame->update_count;
}

static void expect_plain(const lx__state *state, const struct plain *plain, uint64_t seed)
{
    size_t live = 0;
    ck_assert_uint_eq(state->length, plain->length);
    ck_assert_uint_eq(state->rows, plain->rows);
    ck_assert_uint_eq(state->items, plain->items);
    for (uint32_t field = 0; field < 3; field++) {
        for (uint64_t i = 0; i < INDICES; i++) {
            const lx__update *found = lx__overlay_find_update(&state->overlay, field, i);
            uint32_t got = found != NULL ? lx__load_le32(found->rows + 20) : 0;
            ck_assert_msg(got == plain->updates[field][i], "log %d: field %u, index %d: %u, not %u",
                          (int)seed, field, (int)i, got, plain->updates[field][i]);
            live += found != NULL;
        }
    }
    ck_assert_uint_eq(lx__overlay_count(&state->overlay), live);
}

/** A random valid frame; updates may be above its length and below its rows. */
static struct frame random_frame(const struct plain *plain, lx__update_item updates[4],
                                 uint64_t *random)
{
    static uint32_t number;
    struct frame frame = {.flags = SYNCED, .rows = plain->rows, .updates = updates};
    *random = mix(*random);
    frame.update_count = (uint32_t)(*random >> 8 & 3);
    for (uint32_t i = 0; i < frame.update_count; i++) {
        *random = mix(*random);
        updates[i] = (lx__update_item){*random % 4, *random / 16 % INDICES, {1, 1, 1, 1, ++number}};
    }
    *random = mix(*random);
    if (*random % 3 == 0 && plain->rows < INDICES)
        frame.rows += *random / 16 % (INDICES - plain->rows + 1);
    uint64_t most = frame.rows + plain->items + frame.update_count;
    frame.length = *random / 4096 % ((most < INDICES ? most : INDICES) + 1);
    return frame;
}

START_TEST(replays_any_log_as_documented)
{
    char *scratch = scratch_make();
    for (uint64_t seed = 0; seed < (SANITIZED ? 300 : 3000); seed++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t random = seed;
        struct plain plain = {0};
        struct log log = log_new(&example_log);
        lx__state whole = {0}, parts = {0};
        for (int frames = (int)(mix(seed) % 12); frames-- > 0;) {
            lx__update_item updates[4];
            struct frame frame = random_frame(&plain, updates, &random);
            log_add(&log, &frame);
            plain_apply(&plain, &frame);
            if (random % 3 == 0)
                unit_ok(replay(&parts, &log, LX__REPLAY_NEWEST, &error));
        }
        unit_ok(replay(&whole, &log, LX__REPLAY_NEWEST, &error));
        expect_plain(&whole, &plain, seed);
        unit_ok(replay(&parts, &log, LX__REPLAY_NEWEST, &error));
        expect_plain(&parts, &plain, seed);
        lx__state_free(&whole);
        lx__state_free(&parts);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- many updates, in layers */

#define WIDE 500
struct wide {
    uint64_t length, rows, items;
    uint32_t updates[3][WIDE];
};

static void wide_apply(struct wide *wide, const struct frame *frame)
{
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = wide->rows; i < frame->rows; i++)
            wide->updates[field][i] = 0;
    for (uint32_t i = 0; i < frame->update_count; i++)
        wide->updates[frame->updates[i].field][frame->updates[i].index] =
            frame->updates[i].entry.crc;
    for (uint32_t field = 0; field < 3; field++)
        for (uint64_t i = frame->length; i < WIDE; i++)
            wide->updates[field][i] = 0;
    wide->length = frame->length;
    wide->rows = frame->rows;
    wide->items += frame->update_count;
}

/** Mostly small changes; sometimes many, or rows moved to tables, records deleted or appended. */
static struct frame wide_frame(const struct wide *wide, lx__update_item *updates, uint64_t *random)
{
    static uint32_t number;
    struct frame frame = {.flags = SYNCED, .rows = wide->rows, .updates = updates};
    *random = mix(*random);
    uint64_t kind = *random % 10;
    frame.update_count = (uint32_t)(*random / 16 % (kind == 0 ? WIDE : 12));
    for (uint32_t i = 0; i < frame.update_count; i++) {
        *random = mix(*random);
        updates[i] = (lx__update_item){*random % 3, *random / 16 % WIDE, {1, 1, 1, 1, ++number}};
    }
    *random = mix(*random);
    if (kind == 1)
        frame.rows += *random % (WIDE - wide->rows + 1) / 4;
    uint64_t most = frame.rows + wide->items + frame.update_count;
    frame.length = kind < 6 ? wide->length : *random / 4096 % (WIDE + 1);
    if (kind == 6 && wide->length != 0)
        frame.length = wide->length - 1; /* the last one is removed */
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
            const lx__update *found = lx__overlay_find_update(&state->overlay, field, i);
            uint32_t got = found != NULL ? lx__load_le32(found->rows + 20) : 0;
            if (got != wide->updates[field][i])
                ck_abort_msg("log %d: field %u, index %d: %u, not %u", (int)seed, field, (int)i,
                             got, wide->updates[field][i]);
            live += found != NULL;
        }
    }
    ck_assert_uint_eq(lx__overlay_count(&state->overlay), live);
}

START_TEST(replaying_step_by_step_equals_replaying_at_once)
{
    char *scratch = scratch_make();
    size_t deepest = 0;
    static lx__update_item updates[WIDE];
    for (uint64_t seed = 0; seed < (SANITIZED ? 3 : 12); seed++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t random = seed;
        struct wide wide = {0}, kept = {0};
        struct log log = log_new(&example_log);
        lx__state whole = {0}, parts = {0}, old = {0};
        for (int step = 0; step < 120; step++) {
            for (uint64_t frames = 1 + mix(random) % 3; frames-- != 0;) {
                struct frame frame = wide_frame(&wide, updates, &random);
                log_add(&log, &frame);
                wide_apply(&wide, &frame);
            }
            unit_ok(replay(&parts, &log, LX__REPLAY_NEWEST, &error));
            expect_wide(&parts, &wide, seed);
            deepest = parts.overlay.depth > deepest ? parts.overlay.depth : deepest;
            /* A copy does not change with the overlay that shares its layers. */
            if (step == 60) {
                lx__state_copy(&old, &parts);
                kept = wide;
            }
        }
        unit_ok(replay(&whole, &log, LX__REPLAY_NEWEST, &error));
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

UNIT_MAIN("zrecord/replay-frames", replays_the_example_of_the_document,
          replays_the_example_in_two_parts, replays_any_log_as_documented,
          replaying_step_by_step_equals_replaying_at_once)
