/* SPDX-License-Identifier: MIT */
/*
 * How a training run of four ranks is stopped in the middle of an epoch and goes on with two, and
 * still sees every sample of the epoch once.
 *
 *     cc sampler.c $(pkg-config --cflags --libs loaderx-sampler)
 */
#include <loaderx/sampler.h>

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 60000, STEPS = 5000 };

static unsigned char seen[LENGTH];

static int complain(const lx_error *error)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "sampler: %s\n", line);
    return EXIT_FAILURE;
}

/* What one rank does: it goes to where the state says, takes its samples, and saves where it is.
 * Each rank would be a process of its own; all of them save the same position. */
static lx_status train(lx_order *order, uint64_t rank, uint64_t world, uint64_t steps,
                       const char *from, char *to, lx_error *error)
{
    static uint64_t indices[LENGTH];
    lx_sampler *sampler = NULL;
    uint64_t taken = 0;
    lx_status status = lx_sampler_new(order, rank, world, &sampler, error);
    if (status == LX_OK && from != NULL)
        status = lx_sampler_restore(sampler, from, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, steps, indices, &taken, error);
    for (uint64_t i = 0; i < taken; i++)
        seen[indices[i]]++;
    if (status == LX_OK)
        status = lx_sampler_save(sampler, to, LX_MAX_SAMPLER_STATE, NULL, error);
    lx_sampler_free(sampler);
    return status;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    char middle[LX_MAX_SAMPLER_STATE], end[LX_MAX_SAMPLER_STATE];
    lx_order *order = NULL;
    if (lx_order_new_shuffle(LENGTH, 42, &order, &error) != LX_OK)
        return complain(&error);

    for (uint64_t rank = 0; rank < 4; rank++)
        if (train(order, rank, 4, STEPS, NULL, middle, &error) != LX_OK)
            return complain(&error);
    printf("stopped: %s\n", middle);

    /* 4 * 5,000 samples of 60,000 are done. Two ranks have 20,000 steps to go. */
    for (uint64_t rank = 0; rank < 2; rank++)
        if (train(order, rank, 2, (LENGTH - 4 * STEPS) / 2, middle, end, &error) != LX_OK)
            return complain(&error);
    printf("done:    %s\n", end);

    for (int i = 0; i < LENGTH; i++)
        if (seen[i] != 1)
            return EXIT_FAILURE;

    /* A state of another order is refused, with the difference named. */
    lx_order *other = NULL;
    if (lx_order_new_shuffle(LENGTH, 43, &other, &error) != LX_OK)
        return complain(&error);
    lx_status status = train(other, 0, 1, 1, middle, end, &error);
    printf("refused: %s\n", error.message);
    lx_order_unref(other);
    lx_order_unref(order);
    return status == LX_ERR_MISMATCH ? EXIT_SUCCESS : EXIT_FAILURE;
}
