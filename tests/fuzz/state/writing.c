/* SPDX-License-Identifier: MIT */
#include "world.h"

void world_expect_length(struct world *world)
{
    uint64_t length = lx_writer_get_length(world->writer);
    if (length != world->pending.count)
        fuzz_fail("the writer has %llu records, not %llu", (unsigned long long)length,
                  (unsigned long long)world->pending.count);
}

/* ---- steps */

static struct plain_record make(struct world *world)
{
    return plain_make(&world->pending, ++world->number);
}

static void append(struct world *world)
{
    uint64_t index;
    if (world->pending.count >= RECORDS)
        return;
    struct plain_record record = make(world);
    MUST(world, LX_OK,
         lx_writer_append(world->writer, plain_values(&world->pending, &record),
                          world->pending.column_count, &index, &world->error));
    if (index != world->pending.count)
        fuzz_fail("append gave another index");
    plain_append(&world->pending, &record);
}

/** A value with an invalid size for its field changes nothing. */
static void append_wrong(struct world *world)
{
    lx_value values[PLAIN_COLUMNS];
    struct plain_record record = make(world);
    memcpy(values, plain_values(&world->pending, &record), sizeof values);
    values[PLAIN_IMAGE].size = 11;
    MUST(world, LX_ERR_ARGUMENT,
         lx_writer_append(world->writer, values, world->pending.column_count, NULL, &world->error));
}

static void extend(struct world *world)
{
    lx_values columns[PLAIN_COLUMNS];
    uint64_t count = input_byte(&world->input), first = world->pending.count, index;
    if (first + count > RECORDS)
        return;
    for (uint64_t i = 0; i < count; i++) {
        struct plain_record record = make(world);
        plain_append(&world->pending, &record);
    }
    plain_columns(&world->pending, first, count, columns);
    MUST(world, LX_OK,
         lx_writer_extend(world->writer, count, columns, world->pending.column_count, &index,
                          &world->error));
    plain_columns_free(&world->pending, columns);
}

static uint64_t any_index(struct world *world)
{
    return input_u16(&world->input) % (world->pending.count + 1);
}

static void modify(struct world *world)
{
    size_t fields[PLAIN_COLUMNS];
    lx_value values[PLAIN_COLUMNS];
    uint64_t index = any_index(world);
    unsigned chosen = input_byte(&world->input);
    size_t count = 0;
    struct plain_record record = make(world);
    const lx_value *all = plain_values(&world->pending, &record);
    for (size_t i = 0; i < world->pending.column_count; i++) {
        if (!(chosen >> i & 1))
            continue;
        fields[count] = i;
        values[count++] = all[i];
    }
    bool there = index < world->pending.count;
    MUST(world, there ? LX_OK : LX_ERR_RANGE,
         lx_writer_modify(world->writer, index, fields, values, count, &world->error));
    for (size_t i = 0; there && i < count; i++)
        world->pending.records[index].tokens[fields[i]] = record.tokens[fields[i]];
}

static void modify_many(struct world *world)
{
    uint64_t indices[INDICES], count = 1 + input_byte(&world->input) % INDICES;
    size_t field = input_byte(&world->input) % world->pending.column_count;
    lx_values columns[PLAIN_COLUMNS];
    struct plain fresh;
    if (world->pending.count == 0)
        return;
    plain_init(&fresh, 0);
    plain_set(&fresh, &world->pending);
    fresh.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct plain_record record = make(world);
        indices[i] = input_u16(&world->input) % world->pending.count;
        plain_append(&fresh, &record);
        world->pending.records[indices[i]].tokens[field] = record.tokens[field];
    }
    plain_columns(&fresh, 0, count, columns);
    MUST(world, LX_OK,
         lx_writer_modify_many(world->writer, indices, count, &field, &columns[field], 1,
                               &world->error));
    plain_columns_free(&fresh, columns);
    plain_free(&fresh);
}

static void delete_one(struct world *world)
{
    uint64_t index = any_index(world), moved;
    bool there = index < world->pending.count;
    MUST(world, there ? LX_OK : LX_ERR_RANGE,
         lx_writer_delete(world->writer, index, &moved, &world->error));
    if (there && moved != plain_delete(&world->pending, index))
        fuzz_fail("another record moved");
}

static void truncate_some(struct world *world)
{
    uint64_t length = any_index(world) + (input_byte(&world->input) == 255);
    bool there = length <= world->pending.count;
    MUST(world, there ? LX_OK : LX_ERR_RANGE,
         lx_writer_truncate(world->writer, length, &world->error));
    if (there)
        world->pending.count = length;
}

/** The position of the column of that name in another model; LX_NONE if absent. */
static uint64_t find_name(const struct plain *plain, const char *name)
{
    for (size_t i = 0; i < plain->column_count; i++)
        if (strcmp(plain->columns[i].name, name) == 0)
            return i;
    return LX_NONE;
}

/** Fields are matched by name, as the source handle shows them. */
static void copy(struct world *world)
{
    uint64_t indices[INDICES], places[PLAIN_COLUMNS];
    size_t fields[PLAIN_COLUMNS], same = 0;
    uint64_t count = 1 + input_byte(&world->input) % INDICES;
    struct reader *from = &world->readers[input_byte(&world->input) % READERS];
    if (from->dataset == NULL || from->plain.count == 0 || world->pending.count + count > RECORDS)
        return;
    for (uint64_t i = 0; i < count; i++)
        indices[i] = input_u16(&world->input) % from->plain.count;
    for (size_t i = 0; i < world->pending.column_count; i++) {
        places[i] = find_name(&from->plain, world->pending.columns[i].name);
        if (places[i] != LX_NONE)
            fields[same++] = (size_t)places[i];
    }
    MUST(world, same != 0 ? LX_OK : LX_ERR_MISMATCH,
         lx_writer_copy(world->writer, from->dataset, fields, same, indices, count, NULL,
                        &world->error));
    for (uint64_t i = 0; same != 0 && i < count; i++) {
        struct plain_record record = {{0}};
        for (size_t k = 0; k < world->pending.column_count; k++)
            if (places[k] != LX_NONE)
                record.tokens[k] = from->plain.records[indices[i]].tokens[places[k]];
        plain_append(&world->pending, &record);
    }
}

/* More frequent steps are listed more than once. */
world_step *const world_writer_steps[] = {
    append,           append,
    append,           extend,
    append_wrong,     modify,
    modify,           modify_many,
    delete_one,       delete_one,
    truncate_some,    copy,
    world_commit,     world_commit,
    world_submit,     world_sync,
    world_begin,      world_end,
    world_rollback,   world_close_writer,
    world_seal,       world_checkpoint,
    world_rebalance,  world_add_field,
    world_drop_field, world_rename_field,
};

const size_t world_writer_step_count = sizeof world_writer_steps / sizeof *world_writer_steps;
