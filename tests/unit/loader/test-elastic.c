/* SPDX-License-Identifier: MIT */
/* Runs of loaders that are stopped and continue with other ranks, batch sizes and threads. */
#include "../sampler/elastic.h"
#include "loaders.h"

#define WORLD_MAX 4

/** A run of loaders over numbers. */
struct training {
    struct elastic run;
    struct numbers numbers;
    lx_source *source;
    bool drop_last, uneven;
    uint64_t position, dropped;
    char *saved; /* NULL: no state yet */
};

/** The loaders between two changes. */
struct team {
    uint64_t world, batch_size;
    lx_loader *loaders[WORLD_MAX];
};

static struct team open_team(struct training *training, uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    struct team team = {.world = 1 + random_next(state) % WORLD_MAX,
                        .batch_size = 1 + random_next(state) % 17};
    for (uint64_t rank = 0; rank < team.world; rank++) {
        struct setup setup = {.batch_size = team.batch_size,
                              .world = team.world,
                              .rank = rank,
                              .order = training->run.order,
                              .drop_last = training->drop_last,
                              .uneven = training->uneven,
                              .threads = (uint32_t)(random_next(state) % 3)};
        lx_loader *loader = team.loaders[rank] = open_loader(training->source, setup);
        if (training->saved != NULL)
            unit_ok(lx_loader_restore(loader, training->saved, &error));
        elastic_assert(&training->run, lx_loader_tell(loader) == training->position);
    }
    return team;
}

/** Closes all, after one of them, chosen at random, has saved its state. */
static void close_team(struct training *training, struct team *team, uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t chosen = random_next(state) % team->world;
    size_t length;
    free(training->saved);
    unit_ok(lx_loader_save(team->loaders[chosen], NULL, 0, &length, &error));
    training->saved = malloc(length + 1);
    unit_ok(lx_loader_save(team->loaders[chosen], training->saved, length + 1, NULL, &error));
    for (uint64_t rank = 0; rank < team->world; rank++)
        lx_loader_close(team->loaders[rank]);
}

/** The rows of a rank's batch are its positions of the global batch. */
static void see_batch(struct training *training, const struct team *team, uint64_t rank,
                      const lx_batch *batch)
{
    uint64_t length = training->run.length, row = 0, at = lx_batch_get_position(batch);
    uint64_t epoch_end = (at / length + 1) * length, end = at + team->world * team->batch_size;
    elastic_assert(&training->run, at == training->position);
    check_numbers(batch);
    for (; at < end && at < epoch_end; at++)
        if (at % length % team->world == rank) {
            elastic_assert(&training->run, row < lx_batch_get_real_count(batch));
            elastic_see(&training->run, at, lx_batch_get_indices(batch)[row++]);
        }
    elastic_assert(&training->run, row == lx_batch_get_real_count(batch));
    elastic_assert(&training->run, row != 0 || !training->uneven);
    elastic_assert(&training->run, lx_batch_get_row_count(batch) - row <= !training->uneven);
}

/** One step of all ranks, after which all must be at the same position. Returns whether any rank
 * got a batch. */
static bool step(struct training *training, struct team *team)
{
    uint64_t got = 0;
    for (uint64_t rank = 0; rank < team->world; rank++) {
        lx_batch *batch = next_batch(team->loaders[rank]);
        if (batch != NULL)
            see_batch(training, team, rank, batch);
        got += batch != NULL;
        lx_batch_unref(batch);
    }
    uint64_t to = lx_loader_tell(team->loaders[0]);
    for (uint64_t rank = 1; rank < team->world; rank++)
        elastic_assert(&training->run, lx_loader_tell(team->loaders[rank]) == to);
    if (!training->uneven)
        elastic_assert(&training->run, got == 0 || got == team->world);
    if (got == 0) /* the end of an epoch, and its dropped samples */
        training->dropped += to - training->position;
    elastic_assert(&training->run,
                   got != 0 || to - training->position < team->world * team->batch_size);
    training->position = to;
    return got != 0;
}

/** Takes a number of steps, or up to the end of the run. */
static void go_on(struct training *training, struct team *team, uint64_t steps)
{
    while (steps > 0 && training->position < training->run.end) {
        bool got = step(training, team);
        steps -= got;
        for (uint64_t rank = 0; !got && rank < team->world; rank++)
            lx_loader_next_epoch(team->loaders[rank]);
    }
}

static void stop_and_go_on(uint64_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u;
    struct training training = {.run = elastic_begin(seed, &state)};
    training.numbers = (struct numbers){.length = lx__order_get_bound(training.run.order),
                                        .width = random_next(&state) % 5,
                                        .identity = "elastic"};
    training.source = numbers_source(&training.numbers);
    uint64_t last = random_next(&state) % 3;
    training.drop_last = last == 0;
    training.uneven = last == 1;
    for (int change = 0; change <= ELASTIC_CHANGES; change++) {
        struct team team = open_team(&training, &state);
        uint64_t global = team.world * team.batch_size;
        uint64_t steps = random_next(&state) % (training.run.end / global / 3 + 2);
        go_on(&training, &team, change == ELASTIC_CHANGES ? UINT64_MAX : steps);
        close_team(&training, &team, &state);
    }
    if (!training.drop_last)
        elastic_assert(&training.run, training.dropped == 0);
    free(training.saved);
    lx_source_unref(training.source);
    elastic_end(&training.run, training.dropped);
}

START_TEST(changing_worlds_see_each_position_once)
{
    for (uint64_t seed = 1; seed <= (getenv("LX_LONG") ? 1000 : 60); seed++)
        stop_and_go_on(seed);
}
END_TEST

UNIT_MAIN("loader/elastic", changing_worlds_see_each_position_once)
