/* SPDX-License-Identifier: MIT */
/* Changes of records, held against a plain model. */
#include "../plain.h"

/* Records so many that one append of them goes to the tables at once (commit.c). */
#define MANY (16384 / FIELDS + 10)

struct life {
    uint64_t seed, dice;
    lx_executor *executor;
    lx_writer *writer;
    struct plain now, committed;
    uint32_t number; /* of the next record */
    bool transaction;
};

static uint64_t below(struct life *life, uint64_t bound)
{
    return mix(life->seed * 1000003 + life->dice++) % bound;
}

static void open_writer(struct life *life, bool create)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options((lx_durability)below(life, 3));
    unit_ok(lx_writer_options_set_chunk(options, 5 + below(life, 200), 4096 << below(life, 5),
                                        &error));
    unit_ok(lx_writer_options_set_executor(options, life->executor, &error));
    life->writer = create ? records_create("d", options) : records_reopen("d", options);
}

static void append(struct life *life, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++)
        unit_ok(record_append(life->writer, life->number + i, &error));
    plain_append(&life->now, count, life->number);
    life->number += (uint32_t)count;
}

static void modify(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t memory[FIELDS][VALUE_MAX];
    lx_value values[FIELDS];
    size_t fields[FIELDS], count = 0;
    uint64_t index = below(life, life->now.length);
    uint32_t number = below(life, 8) == 0 ? PLAIN_MISSING : life->number++;
    for (int field = 0; field < FIELDS; field++) {
        if (below(life, 2) == 0)
            continue;
        uint64_t size =
            number == PLAIN_MISSING ? LX_NONE : record_value(field, number, memory[field]);
        values[count] = (lx_value){memory[field], size};
        fields[count++] = (size_t)field;
        life->now.records[index].numbers[field] = number;
    }
    unit_ok(lx_writer_modify(life->writer, index, fields, values, count, &error));
}

static void delete(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t moved = 1, index = below(life, life->now.length);
    unit_ok(lx_writer_delete(life->writer, index, &moved, &error));
    ck_assert_uint_eq(moved, plain_delete(&life->now, index));
}

static void truncate_to(struct life *life, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_truncate(life->writer, length, &error));
    life->now.length = length;
}

static void look(const struct life *life)
{
    lx_dataset *dataset = open_dataset("d");
    plain_expect(&life->committed, dataset);
    lx_dataset_close(dataset);
}

static void commit_all(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (life->transaction)
        unit_ok(lx_writer_end(life->writer, &error));
    else if (below(life, 2))
        unit_ok(lx_writer_commit(life->writer, &error));
    else
        unit_ok(lx_writer_sync(life->writer, &error));
    life->transaction = false;
    plain_copy(&life->committed, &life->now);
}

static void undo(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_rollback(life->writer, &error));
    life->transaction = false;
    plain_copy(&life->now, &life->committed);
    ck_assert_uint_eq(lx_writer_get_length(life->writer), life->now.length);
}

static void begin(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_begin(life->writer, &error));
    plain_copy(&life->committed, &life->now);
    life->transaction = true;
}

static void reopen(struct life *life)
{
    if (life->transaction)
        undo(life);
    close_writer(life->writer);
    plain_copy(&life->committed, &life->now); /* closing commits */
    open_writer(life, false);
}

static void step(struct life *life)
{
    uint64_t kind = below(life, 40);
    bool any = life->now.length != 0;
    if (kind < 8 || !any)
        append(life, 1 + below(life, 12));
    else if (kind < 18)
        modify(life);
    else if (kind < 26)
        delete(life);
    else if (kind == 26)
        truncate_to(life, below(life, life->now.length + 1));
    else if (kind == 27 && life->now.length < 2 * MANY)
        append(life, MANY);
    else if (kind < 34)
        commit_all(life);
    else if (kind < 36)
        undo(life);
    else if (kind < 38 && !life->transaction)
        begin(life);
    else if (kind == 38)
        reopen(life);
    else
        look(life);
}

static void live(uint64_t seed, unsigned steps)
{
    lx_error error = LX_ERROR_INIT;
    struct life life = {.seed = seed};
    char *scratch = scratch_make();
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_writers(options, 1 + (uint32_t)below(&life, 4), &error));
    unit_ok(lx_executor_open(options, &life.executor, &error));
    lx_executor_options_free(options);
    open_writer(&life, true);
    while (steps-- != 0)
        step(&life);
    reopen(&life);
    look(&life);
    close_writer(life.writer);
    lx_executor_close(life.executor);
    plain_free(&life.now);
    plain_free(&life.committed);
    scratch_remove(scratch);
}

START_TEST(any_sequence_of_changes_gives_what_the_model_has)
{
    for (uint64_t seed = 1; seed <= (getenv("LX_LONG") ? 400 : 12); seed++)
        live(seed, 60);
}
END_TEST

UNIT_MAIN("zrecord/modify", any_sequence_of_changes_gives_what_the_model_has)
