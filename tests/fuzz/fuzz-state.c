/* SPDX-License-Identifier: MIT */
/* Compares the public interface, driven by the bytes of the input, with a plain model in memory: a
 * writer, and concurrent readers and views that must keep their snapshots (state/). */
#include "memory.h"
#include "state/world.h"

/* Maximum number of steps of an input. */
#define STEPS 80

static void step(struct world *world)
{
    unsigned choice = input_byte(&world->input);
    if (choice < 0xa0) {
        if (world->writer != NULL)
            world_writer_steps[choice % world_writer_step_count](world);
        else
            world_open_writer(world);
        if (world->writer != NULL)
            world_expect_length(world);
        return;
    }
    struct reader *reader = &world->readers[choice % READERS];
    if (reader->dataset != NULL)
        reader_steps[choice / READERS % reader_step_count](world, reader);
    else
        reader_open(world, reader);
}

static void end_world(struct world *world)
{
    if (world->writer != NULL)
        world_close_writer(world);
    for (size_t i = 0; i < READERS; i++) {
        struct reader *reader = &world->readers[i];
        if (reader->dataset != NULL)
            reader_check_all(world, reader);
        reader_close(world, reader);
        reader_release_view(world, reader);
    }
    if (world->exists) {
        reader_open(world, &world->readers[0]);
        reader_check_all(world, &world->readers[0]);
        reader_close(world, &world->readers[0]);
        MUST(world, LX_OK, lx_dataset_remove(world->path, &world->error));
    }
    for (size_t i = 0; i < READERS; i++)
        plain_free(&world->readers[i].plain);
    plain_free(&world->committed);
    plain_free(&world->durable);
    plain_free(&world->pending);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {
        .input = {data, size}, .path = fuzz_path("state"), .error = LX_ERROR_INIT};
    fuzz_keep_large();
    fuzz_json_begin();
    plain_init(&world.committed, PLAIN_KINDS);
    plain_init(&world.durable, PLAIN_KINDS);
    plain_init(&world.pending, PLAIN_KINDS);
    world_open_writer(&world);
    for (int i = 0; i < STEPS && world.input.size != 0; i++)
        step(&world);
    end_world(&world);
    fuzz_json_end();
    return 0;
}
