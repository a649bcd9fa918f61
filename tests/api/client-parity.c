/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed parity library, valid as C11 and C++17: torch's permutation of ten
 * indices with seed 0, and Megatron's blend of two sets.
 */
#include <loaderx/parity.h>
#include <loaderx/sampler.h>

#include <stdio.h>
#include <string.h>

/** A set of weight 0.75 gets six of eight positions. */
static int blend(lx_error *error)
{
    lx_order *part = NULL, *blended = NULL;
    lx_mixture *mixture = lx_mixture_new();
    uint64_t counts[2];
    if (mixture == NULL || lx_order_new_sequential(8, 0, 0, &part, error) != LX_OK ||
        lx_mixture_add_part(mixture, part, 0, 0.75, error) != LX_OK ||
        lx_mixture_add_part(mixture, part, 100, 0.25, error) != LX_OK ||
        lx_mixture_set_length(mixture, 8, error) != LX_OK ||
        lx_order_new_greedy(mixture, NULL, &blended, error) != LX_OK ||
        lx_order_get_part_lengths(blended, 0, 8, counts, error) != LX_OK)
        return 3;
    lx_mixture_free(mixture);
    lx_order_unref(part);
    lx_order_unref(blended);
    return counts[0] == 6 && counts[1] == 2 ? 0 : 4;
}

int main(void)
{
    static const uint64_t permutation[10] = {4, 1, 7, 5, 3, 9, 0, 8, 6, 2};
    lx_error error = LX_ERROR_INIT;
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t indices[10], taken = 0;
    if (lx_order_new_torch_random(10, 0, NULL, &order, &error) != LX_OK ||
        lx_sampler_new(order, 0, 1, &sampler, &error) != LX_OK ||
        lx_sampler_take(sampler, 10, indices, &taken, &error) != LX_OK || taken != 10)
        return 1;
    if (memcmp(indices, permutation, sizeof indices) != 0)
        return 2;
    printf("torch's first index: %llu\n", (unsigned long long)indices[0]);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return blend(&error);
}
