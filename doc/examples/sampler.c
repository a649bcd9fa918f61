/* SPDX-License-Identifier: MIT */
/*
 * Stopping a training run with four ranks in the middle of an epoch, and resuming it with two: it
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

/* One rank restores the state, takes its samples, and saves its position. In a real run each rank
 * is a process; all of them save the same position. */
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

    /* 4 * 5,000 of 60,000 samples are done. Two ranks have 20,000 steps left. */
    for (uint64_t rank = 0; rank < 2; rank++)
        if (train(order, rank, 2, (LENGTH - 4 * STEPS) / 2, middle, end, &error) != LX_OK)
            return complain(&error);
    printf("done:    %s\n", end);

    for (int i = 0; i < LENGTH; i++)
        if (seen[i] != 1)
            return EXIT_FAILURE;

    /* The state of another order is rejected, and the error names the difference. */
    lx_order *other = NULL;
    if (lx_order_new_shuffle(LENGTH, 43, &other, &error) != LX_OK)
        return complain(&error);
    lx_status status = train(other, 0, 1, 1, middle, end, &error);
    printf("refused: %s\n", error.message);
    lx_order_unref(other);
    lx_order_unref(order);
    return status == LX_ERR_MISMATCH ? EXIT_SUCCESS : EXIT_FAILURE;
}
