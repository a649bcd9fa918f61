/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/inner-order.h"
#include "sampler/orders/mixture-split.h"
#include "sampler/random/weights.h"

lx_mixture *lx_mixture_new(void)
{
    return lx__alloc_array(1, sizeof(lx_mixture));
}

void lx_mixture_free(lx_mixture *mixture)
{
    if (mixture == NULL)
        return;
    for (size_t i = 0; i < mixture->count; i++)
        lx_order_unref(mixture->sets[i].order);
    for (size_t i = 0; i < mixture->weighting_count; i++)
        lx__free(mixture->weightings[i].weights);
    lx__free(mixture->sets);
    lx__free(mixture->weightings);
    lx__free(mixture);
}

/* ---- sets */

static lx_status check_set(const lx_mixture *mixture, const lx_order *order, uint64_t offset,
                           double weight, lx_error *error)
{
    uint64_t bound;
    if (mixture == NULL || order == NULL)
        return lx__fail_null(error, mixture == NULL ? "mixture" : "order");
    if (mixture->weighting_count > 1)
        return lx_fail(error, LX_ERR_STATE,
                       "the weights are already set: add all parts before setting weights");
    if (mixture->count >= LX__MIXTURE_SETS_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the mixture already has %u parts, which is the limit: nest mixtures",
                       LX__MIXTURE_SETS_MAX);
    lx_status status = lx__inner_order_check_size(order, mixture->size + order->size, error);
    if (status != LX_OK)
        return status;
    if (order->length == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "part %zu is empty: leave it out", mixture->count);
    if (!lx__add_fits(order->bound, offset, &bound))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the indices of part %zu plus the offset %" PRIu64
                       " exceed 2^64 - 1: use a smaller offset",
                       mixture->count, offset);
    return lx__weight_check(mixture->count, weight, error);
}

/** Reserves memory for one more set. */
static lx_status reserve(lx_mixture *mixture, lx_error *error)
{
    lx__mixture_set *sets = lx__grow_array(mixture->sets, mixture->count, &mixture->capacity,
                                           sizeof *sets);
    if (sets == NULL)
        return lx__fail_memory(error, "a mixture");
    mixture->sets = sets;
    lx__mixture_weights *list = lx__grow_array(mixture->weightings, 0, &mixture->weighting_capacity,
                                               sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a mixture");
    mixture->weightings = list;
    if (mixture->weighting_count == 0)
        list[mixture->weighting_count++] = (lx__mixture_weights){0};
    double *weights = lx__grow_array(list[0].weights, mixture->count, &mixture->weight_capacity,
                                     sizeof *weights);
    if (weights == NULL)
        return lx__fail_memory(error, "a mixture");
    list[0].weights = weights;
    return LX_OK;
}

lx_status lx_mixture_add_part(lx_mixture *mixture, lx_order *order, uint64_t offset, double weight,
                              lx_error *error)
{
    lx_status status = check_set(mixture, order, offset, weight, error);
    if (status == LX_OK)
        status = reserve(mixture, error);
    if (status != LX_OK)
        return status;
    mixture->size += order->size;
    mixture->weightings[0].weights[mixture->count] = weight + 0.0; /* avoids -0 */
    mixture->sets[mixture->count++] = (lx__mixture_set){lx_order_ref(order), offset};
    return LX_OK;
}

/* ---- properties */

static lx_status check_weights(const lx_mixture *mixture, uint64_t begin, const double *weights,
                               size_t count, lx_error *error)
{
    double largest;
    if (mixture == NULL || weights == NULL)
        return lx__fail_null(error, mixture == NULL ? "mixture" : "weights");
    if (count != mixture->count || count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the number of weights, %zu, differs from the number of parts, %zu: pass "
                       "one weight per part",
                       count, mixture->count);
    uint64_t last = mixture->weightings[mixture->weighting_count - 1].begin;
    if (begin <= last)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "begin (%" PRIu64
                       ") must be greater than that of the previous weights (%" PRIu64 ")",
                       begin, last);
    return lx__weights_check(weights, count, &largest, error);
}

lx_status lx_mixture_add_phase(lx_mixture *mixture, uint64_t begin, const double *weights,
                               size_t count, lx_error *error)
{
    lx_status status = check_weights(mixture, begin, weights, count, error);
    if (status != LX_OK)
        return status;
    lx__mixture_weights *list = lx__grow_array(mixture->weightings, mixture->weighting_count,
                                               &mixture->weighting_capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a mixture");
    mixture->weightings = list;
    double *copy = lx__alloc_array(count, sizeof *copy);
    if (copy == NULL)
        return lx__fail_memory(error, "a mixture");
    for (size_t i = 0; i < count; i++)
        copy[i] = weights[i] + 0.0; /* avoids -0, which differs from 0 in saved states */
    list[mixture->weighting_count++] = (lx__mixture_weights){begin, copy};
    return LX_OK;
}

lx_status lx_mixture_set_length(lx_mixture *mixture, uint64_t length, lx_error *error)
{
    if (mixture == NULL)
        return lx__fail_null(error, "mixture");
    mixture->length = length;
    return LX_OK;
}

lx_status lx_mixture_set_exhausted_policy(lx_mixture *mixture, lx_exhausted_policy exhausted,
                                          lx_error *error)
{
    if (mixture == NULL)
        return lx__fail_null(error, "mixture");
    if (exhausted < LX_EXHAUSTED_REPEAT || exhausted > LX_EXHAUSTED_REDISTRIBUTE)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "exhausted_policy must be repeat, stop or redistribute, not %d",
                       (int)exhausted);
    mixture->exhausted = exhausted;
    return LX_OK;
}

lx_status lx__mixture_check(const lx_mixture *mixture, lx_error *error)
{
    double largest;
    if (mixture == NULL)
        return lx__fail_null(error, "mixture");
    if (mixture->count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the mixture has no parts: add at least one");
    return lx__weights_check(mixture->weightings[0].weights, mixture->count, &largest, error);
}

int lx__exhausted_describe(lx_exhausted_policy exhausted, json_t *object)
{
    static const char *const words[] = {"repeat", "stop", "redistribute"};
    return json_object_set_new(object, "exhausted", json_string(words[exhausted]));
}
