/* SPDX-License-Identifier: MIT */
#include "world.h"

void world_has_committed(struct world *world, bool durable)
{
    plain_set(&world->committed, &world->pending);
    if (durable || world->durability == LX_DURABILITY_FULL)
        plain_set(&world->durable, &world->committed);
}

void world_commit(struct world *world)
{
    MUST(world, world->transaction ? LX_ERR_STATE : LX_OK,
         lx_writer_commit(world->writer, &world->error));
    if (!world->transaction)
        world_has_committed(world, false);
}

void world_submit(struct world *world)
{
    lx_ticket *ticket;
    MUST(world, world->transaction ? LX_ERR_STATE : LX_OK,
         lx_writer_submit_commit(world->writer, &ticket, &world->error));
    if (world->transaction)
        return;
    MUST(world, LX_OK, lx_ticket_wait(ticket, &world->error));
    lx_ticket_unref(ticket);
    world_has_committed(world, false);
}

void world_sync(struct world *world)
{
    MUST(world, LX_OK, lx_writer_sync(world->writer, &world->error));
    if (!world->transaction)
        plain_set(&world->committed, &world->pending);
    plain_set(&world->durable, &world->committed);
}

void world_begin(struct world *world)
{
    MUST(world, world->transaction ? LX_ERR_STATE : LX_OK,
         lx_writer_begin_transaction(world->writer, &world->error));
    if (!world->transaction)
        world_has_committed(world, false);
    world->transaction = true;
}

void world_end(struct world *world)
{
    MUST(world, world->transaction ? LX_OK : LX_ERR_STATE,
         lx_writer_end_transaction(world->writer, &world->error));
    if (world->transaction)
        world_has_committed(world, false);
    world->transaction = false;
}

void world_rollback(struct world *world)
{
    MUST(world, LX_OK, lx_writer_rollback(world->writer, &world->error));
    plain_set(&world->pending, &world->committed);
    world->transaction = false;
}

/** Closing undoes an open transaction. */
void world_close_writer(struct world *world)
{
    MUST(world, LX_OK, lx_writer_close(world->writer, &world->error));
    if (world->transaction)
        plain_set(&world->pending, &world->committed);
    world->transaction = false;
    world_has_committed(world, true);
    world->writer = NULL;
}

/* ---- opening */

static lx_writer_options *make_options(struct world *world)
{
    lx_writer_options *options = need(lx_writer_options_new());
    unsigned choice = input_byte(&world->input);
    world->durability = (lx_durability)(choice % 3);
    MUST(world, LX_OK, lx_writer_options_set_durability(options, world->durability, &world->error));
    MUST(world, LX_OK,
         lx_writer_options_set_chunk_limits(options, 8 + choice / 4 % 40, 4096 + choice / 8 * 100,
                                            &world->error));
    /* A writer's own executor starts threads and counts CPUs, so most inputs use the shared one. */
    if (choice % 16 != 15)
        MUST(world, LX_OK, lx_writer_options_set_executor(options, fuzz_executor(), &world->error));
    return options;
}

void world_open_writer(struct world *world)
{
    lx_writer_options *options = make_options(world);
    if (world->sealed && input_byte(&world->input) % 2 != 0) {
        MUST(world, LX_OK, lx_dataset_unseal(world->path, &world->error));
        world->sealed = false;
    }
    if (!world->exists) {
        lx_schema *schema = need(plain_schema(&world->pending));
        MUST(world, LX_OK,
             lx_writer_create(world->path, schema, options, &world->writer, &world->error));
        lx_schema_free(schema);
        world->exists = true;
    } else {
        MUST(world, world->sealed ? LX_ERR_STATE : LX_OK,
             lx_writer_open(world->path, options, &world->writer, &world->error));
        if (world->sealed)
            world->writer = NULL;
    }
    lx_writer_options_free(options);
    plain_set(&world->pending, &world->committed);
    plain_set(&world->durable, &world->committed); /* opening makes the commits durable */
    if (world->writer != NULL)
        world_expect_length(world);
}
