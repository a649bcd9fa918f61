/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed sampler, valid as C11 and C++17: an epoch of a shuffle has each index
 * once, from any start position; a mixture has the right share of each set.
 */
#include <loaderx/mixture.h>
#include <loaderx/sampler.h>

#include <stdio.h>
#include <string.h>

static int mix(lx_order *order, lx_error *error)
{
    lx_order *mixed = NULL;
    lx_mixture *mixture = lx_mixture_new();
    uint64_t counts[2];
    if (mixture == NULL || lx_mixture_add_part(mixture, order, 0, 3, error) != LX_OK ||
        lx_mixture_add_part(mixture, order, 100, 1, error) != LX_OK ||
        lx_order_new_blend(mixture, &mixed, error) != LX_OK ||
        lx_order_get_part_lengths(mixed, 20, 60, counts, error) != LX_OK)
        return 4;
    lx_mixture_free(mixture);
    lx_order_unref(mixed);
    return counts[0] == 30 && counts[1] == 10 ? 0 : 5;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t indices[100], again[50], taken = 0;
    char seen[100];
    memset(seen, 0, sizeof seen);
    if (lx_order_new_shuffle(100, 42, &order, &error) != LX_OK ||
        lx_sampler_new(order, 0, 1, &sampler, &error) != LX_OK ||
        lx_sampler_take(sampler, 100, indices, &taken, &error) != LX_OK || taken != 100)
        return 1;
    for (int i = 0; i < 100; i++)
        if (indices[i] >= 100 || seen[indices[i]]++ != 0)
            return 2;
    if (lx_sampler_seek(sampler, 50, &error) != LX_OK ||
        lx_sampler_take(sampler, 50, again, &taken, &error) != LX_OK ||
        memcmp(again, indices + 50, sizeof again) != 0)
        return 3;
    printf("position %llu\n", (unsigned long long)lx_sampler_tell(sampler));
    lx_sampler_free(sampler);
    int failed = mix(order, &error);
    lx_order_unref(order);
    return failed;
}
