/* SPDX-License-Identifier: MIT */
/* Creates the order of a mixture. */
#include "mixing.h"

#include <math.h>

#include <loaderx/parity/megatron.h>

#include "failure.h"

/** Adds up numbers with the same result as numpy.sum, bit for bit (doc/orders.md, 12.3), because
 * Megatron divides by that sum. */
static double add_up(const double *numbers, size_t count)
{
    double chains[8] = {0}, sum;
    size_t i = 0, half = count / 2 / 8 * 8;
    if (count > 128)
        return add_up(numbers, half) + add_up(numbers + half, count - half);
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++)
            chains[k] = i != 0 ? chains[k] + numbers[i + k] : numbers[i + k];
    sum = ((chains[0] + chains[1]) + (chains[2] + chains[3])) +
          ((chains[4] + chains[5]) + (chains[6] + chains[7]));
    for (; i < count; i++)
        sum += numbers[i];
    return sum;
}

/** The divisor of the weights. */
static double find_divisor(const mixing *self)
{
    switch (self->method) {
    case MIXING_GREEDY:
        return add_up(self->weightings[0].weights, self->count);
    case MIXING_EXHAUSTIVE: /* the weights are the lengths, which are summed as integers */
        return (double)self->together;
    case MIXING_CLOSED:
        break;
    }
    return 1;
}

static lx_status make_greedy(const lx_mixture *mixture, const char *tables, lx_order **order,
                             lx_error *error)
{
    lx_order_options *options = lx_order_options_new();
    lx_status status = options != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK)
        status = lx_order_options_set_tables(options, tables, error);
    if (status == LX_OK)
        status = lx_order_new_greedy(mixture, options, order, error);
    lx_order_options_free(options);
    return status;
}

static lx_status add_set(const mixing *self, size_t number, double divisor, const uint64_t *seed,
                         lx_mixture *mixture, lx_error *error)
{
    const mixing_set *set = &self->sets[number];
    lx_order *order = NULL;
    lx_status status = seed != NULL
                           ? lx_order_new_shuffle(set->records, *seed + number, &order, error)
                           : lx_order_new_sequential(set->records, 1, 1, &order, error);
    if (status == LX_OK)
        status = lx_mixture_add_part(mixture, order, set->begin,
                                     self->weightings[0].weights[number] / divisor, error);
    lx_order_unref(order);
    return status;
}

lx_status mixing_make(const mixing *self, uint64_t length, const uint64_t *seed, const char *tables,
                      lx_order **order, lx_error *error)
{
    lx_mixture *mixture = lx_mixture_new();
    double divisor = find_divisor(self);
    lx_status status = mixture != NULL ? LX_OK : fail_memory(error, "a mixture");
    if (status == LX_OK && !isfinite(divisor))
        status = lx_fail(error, LX_ERR_ARGUMENT, "--weights: the sum of the weights is too large");
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = add_set(self, i, divisor, seed, mixture, error);
    for (size_t i = 1; status == LX_OK && i < self->weighting_count; i++)
        status = lx_mixture_add_phase(mixture, self->weightings[i].begin,
                                      self->weightings[i].weights, self->count, error);
    if (status == LX_OK)
        status = lx_mixture_set_length(mixture, length, error);
    if (status == LX_OK)
        status = lx_mixture_set_exhausted_policy(mixture, self->exhausted, error);
    if (status == LX_OK)
        status = self->method == MIXING_CLOSED ? lx_order_new_blend(mixture, order, error)
                                               : make_greedy(mixture, tables, order, error);
    lx_mixture_free(mixture);
    return status;
}
