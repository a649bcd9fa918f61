/* SPDX-License-Identifier: MIT */
/* Runs of samplers that are stopped and continue with other numbers of ranks. */
#include "elastic.h"

#define CHUNK_MAX 64

/** Moves by some steps, across the ends of epochs: a window has one position of each rank, and is
 * shorter at the end of an epoch. */
static uint64_t some_steps(const struct elastic *run, uint64_t *state, uint64_t from,
                           uint64_t world)
{
    uint64_t to = from, steps = random_next(state) % (run->end / world / 2 + 2);
    while (steps-- > 0 && to < run->end) {
        uint64_t epoch_end = (to / run->length + 1) * run->length;
        to = to + world < epoch_end ? to + world : epoch_end;
    }
    return to;
}

/** Takes the indices of a rank in [from, to), some at a time. */
static void take_share(struct elastic *run, uint64_t *state, lx_sampler *sampler, uint64_t rank,
                       uint64_t world, uint64_t from, uint64_t to)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[CHUNK_MAX], count = 0, next = 0;
    for (uint64_t position = from; position < to; position++) {
        if (position % run->length % world != rank)
            continue;
        if (next == count) { /* no more than remain: it would continue after the end */
            uint64_t left = 0;
            for (uint64_t i = position; i < to; i++)
                left += i % run->length % world == rank;
            uint64_t most = left < CHUNK_MAX ? left : CHUNK_MAX;
            unit_ok(
                lx_sampler_take(sampler, 1 + random_next(state) % most, indices, &count, &error));
            next = 0;
        }
        elastic_see(run, position, indices[next++]);
    }
    elastic_assert(run, next == count);
}

/** All ranks of a world continue from a state (NULL: from the beginning) up to @p to. Returns the
 * state of a random one as JSON. */
static char *go_on(struct elastic *run, uint64_t *state, const char *saved, uint64_t from,
                   uint64_t to, uint64_t world)
{
    lx_error error = LX_ERROR_INIT;
    char *text = NULL;
    for (uint64_t rank = 0; rank < world; rank++) {
        lx_sampler *sampler;
        unit_ok(lx_sampler_new(run->order, rank, world, &sampler, &error));
        if (saved != NULL)
            unit_ok(lx_sampler_restore(sampler, saved, &error));
        elastic_assert(run, lx_sampler_tell(sampler) == from);
        take_share(run, state, sampler, rank, world, from, to);
        /* A rank without a position in the last window of an epoch finds its next one after it. */
        bool is_there = lx_sampler_tell(sampler) == to;
        elastic_assert(run, is_there || to % run->length == 0);
        if (is_there && (text == NULL || random_next(state) % 2 == 0)) {
            free(text);
            text = malloc(LX_MAX_SAMPLER_STATE);
            unit_ok(lx_sampler_save(sampler, text, LX_MAX_SAMPLER_STATE, NULL, &error));
        }
        lx_sampler_free(sampler);
    }
    elastic_assert(run, text != NULL);
    return text;
}

static void stop_and_go_on(uint64_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u, from = 0;
    struct elastic run = elastic_begin(seed, &state);
    char *saved = NULL;
    for (int change = 0; change <= ELASTIC_CHANGES && from < run.end; change++) {
        uint64_t world = 1 + random_next(&state) % 9;
        uint64_t to = change == ELASTIC_CHANGES ? run.end : some_steps(&run, &state, from, world);
        char *text = go_on(&run, &state, saved, from, to, world);
        free(saved);
        saved = text;
        from = to;
    }
    free(saved);
    elastic_end(&run, 0);
}

START_TEST(changing_world_sizes_see_each_position_once)
{
    for (uint64_t seed = 1; seed <= (getenv("LX_LONG") ? 8000 : 150); seed++)
        stop_and_go_on(seed);
}
END_TEST

UNIT_MAIN("sampler/elastic", changing_world_sizes_see_each_position_once)
