/* SPDX-License-Identifier: MIT */
/* Each step commits pending operations first, and is rejected within a transaction. */
#include "world.h"

void world_seal(struct world *world)
{
    lx_error_clear(&world->error);
    lx_status status = lx_writer_seal(world->writer, &world->error);
    if (world->transaction) {
        if (status != LX_ERR_STATE)
            fuzz_fail("a seal within a transaction");
        return;
    }
    world_has_committed(world, true);
    if (status == LX_OK) {
        world->sealed = true;
        world_close_writer(world);
    } else if (status != LX_ERR_UNSUPPORTED) {
        fuzz_fail("seal: %s", world->error.message);
    }
}

static lx_status reshaped(struct world *world)
{
    return world->transaction ? LX_ERR_STATE : LX_OK;
}

void world_checkpoint(struct world *world)
{
    MUST(world, reshaped(world), lx_writer_checkpoint(world->writer, &world->error));
    if (!world->transaction)
        world_has_committed(world, true);
}

void world_rebalance(struct world *world)
{
    MUST(world, reshaped(world),
         lx_writer_rebalance(world->writer, NULL, NULL, NULL, &world->error));
    if (!world->transaction)
        world_has_committed(world, true);
}

/** The first four columns keep their positions. */
void world_add_field(struct world *world)
{
    static unsigned number;
    char name[32];
    enum plain_kind kind = (enum plain_kind)(input_byte(&world->input) % PLAIN_KINDS);
    const struct plain_form *form = &plain_forms[kind];
    if (world->pending.column_count == PLAIN_COLUMNS)
        return;
    snprintf(name, sizeof name, "more%u", number++ % 1000);
    MUST(world, reshaped(world),
         lx_writer_add_field(world->writer, name, form->dtype, plain_shape, form->ndim,
                             form->compression, &world->error));
    if (world->transaction)
        return;
    plain_add_column(&world->pending, name, kind);
    world_has_committed(world, true);
}

void world_drop_field(struct world *world)
{
    size_t column = world->pending.column_count - 1;
    if (column < PLAIN_KINDS)
        return;
    MUST(world, reshaped(world),
         lx_writer_drop_field(world->writer, world->pending.columns[column].name, &world->error));
    if (world->transaction)
        return;
    plain_drop_column(&world->pending, column);
    world_has_committed(world, true);
}

void world_rename_field(struct world *world)
{
    char name[32];
    size_t column = input_byte(&world->input) % world->pending.column_count;
    snprintf(name, sizeof name, "name%u", world->number++);
    MUST(world, reshaped(world),
         lx_writer_rename_field(world->writer, world->pending.columns[column].name, name,
                                &world->error));
    if (world->transaction)
        return;
    plain_rename_column(&world->pending, column, name);
    world_has_committed(world, true);
}
