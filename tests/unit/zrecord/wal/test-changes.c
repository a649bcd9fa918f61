/* SPDX-License-Identifier: MIT */
/* Numbers of changes: lib/zrecord/wal/changes.c, and their counting in replay.c. */
#include "zrecord/wal/changes.h"

#include "../../scratch.h"
#include "replays.h"

enum { A, B, C, COUNT };

/** A log, and the numbers that its frames should lead to. */
struct counted {
    struct log log;
    lx__meta meta;
    uint64_t expected[COUNT];
};

static struct counted begin(void)
{
    struct counted self = {.log = log_new(&example_log), .meta = {.changes = LX_NONE}};
    self.meta.schema = three_fields();
    for (size_t i = 0; i < COUNT; i++)
        self.expected[i] = self.log.crc;
    return self;
}

static void end(struct counted *self)
{
    lx_schema_free(self->meta.schema);
    log_free(&self->log);
}

static lx__state replayed(const struct counted *self)
{
    lx_error error = LX_ERROR_INIT;
    lx__state state = {0};
    unit_ok(replay(&state, &self->log, LX__REPLAY_NEWEST, &error));
    return state;
}

/** Adds a frame, which should count as often as @p times for each field. */
static void add(struct counted *self, uint64_t length, const lx__update_item *updates,
                uint32_t update_count, const uint64_t times[COUNT])
{
    log_add(&self->log, &(struct frame){.length = length,
                                        .flags = SYNCED,
                                        .updates = updates,
                                        .update_count = update_count});
    lx__state state = replayed(self);
    for (size_t i = 0; i < COUNT; i++) {
        self->expected[i] += times[i] * self->log.crc;
        ck_assert_uint_eq(lx__changes_get(&state.changes, &self->meta, self->meta.schema, i),
                          self->expected[i]);
    }
    lx__state_free(&state);
}

static const uint64_t none[COUNT], all[COUNT] = {1, 1, 1};
static const lx__update_item three_records[] = {
    {A, 0, ENTRY('a')}, {B, 0, ENTRY('b')}, {C, 0, ENTRY('c')},
    {A, 1, ENTRY('d')}, {B, 1, ENTRY('e')}, {C, 1, ENTRY('f')},
    {A, 2, ENTRY('g')}, {B, 2, ENTRY('h')}, {C, 2, ENTRY('i')}};

START_TEST(counts_what_changes_existing_records)
{
    static const lx__update_item one[] = {{B, 0, ENTRY('x')}};
    static const lx__update_item several[] = {
        {A, 1, ENTRY('x')}, {A, 2, ENTRY('y')}, {C, 0, ENTRY('z')}};
    static const lx__update_item moved[] = {
        {A, 0, ENTRY('g')}, {B, 0, ENTRY('h')}, {C, 0, ENTRY('i')}};
    char *scratch = scratch_make();
    struct counted log = begin();
    add(&log, 3, three_records, 9, none);
    add(&log, 3, NULL, 0, none);
    add(&log, 3, one, 1, (uint64_t[]){0, 1, 0});
    add(&log, 3, several, 3, (uint64_t[]){2, 0, 1});
    add(&log, 2, moved, 3, (uint64_t[]){2, 2, 2}); /* a deletion moves the last record */
    add(&log, 1, NULL, 0, all);
    end(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_count_appends)
{
    static const lx__update_item marker = {A, LX__MISSING_MARKER, {0}};
    static const lx__update_item fourth[] = {
        {A, 3, ENTRY('x')}, {B, 3, ENTRY('y')}, {C, 3, ENTRY('z')}};
    char *scratch = scratch_make();
    struct counted log = begin();
    add(&log, 3, three_records, 9, none);
    add(&log, 3, &marker, 1, none);
    add(&log, 4, fourth, 3, none);
    add(&log, 3, NULL, 0, all);
    add(&log, 4, fourth, 3, none); /* a record in the place of one that was removed */
    add(&log, 4, fourth, 3, all);  /* the same in one commit */
    end(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(continues_from_the_numbers_of_the_meta)
{
    static const lx__update_item one[] = {{B, 0, ENTRY('x')}};
    char *scratch = scratch_make();
    struct counted log = begin();
    for (size_t i = 0; i < COUNT; i++) {
        log.meta.schema->fields[i]->changes = i * 100;
        log.expected[i] = 7 + i * 100;
    }
    log.meta.changes = 7;
    add(&log, 3, three_records, 9, none);
    add(&log, 2, NULL, 0, all);
    add(&log, 2, one, 1, (uint64_t[]){0, 1, 0});

    lx__state state = replayed(&log);
    const lx__changes empty = {.first_crc = 99};
    lx__changes_add_to_meta(&state.changes, &log.meta);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(lx__changes_get(&empty, &log.meta, log.meta.schema, i), log.expected[i]);
    lx__state_free(&state);
    end(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(sums_are_modulo_2_to_the_63)
{
    lx__meta meta = {.changes = LX__CHANGES_MAX, .schema = three_fields()};
    const lx__changes changes = {.dataset = 5};
    meta.schema->fields[B]->changes = LX__CHANGES_MAX;
    ck_assert_uint_eq(lx__changes_get(&changes, &meta, meta.schema, A), 4);
    ck_assert_uint_eq(lx__changes_get(&changes, &meta, meta.schema, B), 3);
    lx__changes_add_to_meta(&changes, &meta);
    ck_assert_uint_eq(meta.changes, 4);
    ck_assert_uint_eq(meta.schema->fields[B]->changes, LX__CHANGES_MAX);
    lx_schema_free(meta.schema);
}
END_TEST

START_TEST(a_copy_is_independent)
{
    lx_error error = LX_ERROR_INIT;
    lx__changes changes = {0}, copy;
    unit_ok(lx__changes_add(&changes, COUNT, B, 10, &error));
    lx__changes_copy(&copy, &changes);
    unit_ok(lx__changes_add(&copy, COUNT, B, 5, &error));
    unit_ok(lx__changes_add(&changes, COUNT, C, 1, &error));
    ck_assert_uint_eq(changes.fields[B], 10);
    ck_assert_uint_eq(copy.fields[B], 15);
    ck_assert_uint_eq(copy.fields[C], 0);
    lx__changes_free(&changes);
    lx__changes_free(&copy);
    ck_assert_ptr_null(copy.fields);
}
END_TEST

UNIT_MAIN("zrecord/changes", counts_what_changes_existing_records, does_not_count_appends,
          continues_from_the_numbers_of_the_meta, sums_are_modulo_2_to_the_63,
          a_copy_is_independent)
