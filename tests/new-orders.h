/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders with all their options, in one call each: for tests that make many of them.
 *
 * The options are on the stack, so they add nothing to the allocations that tests count.
 */
#ifndef LX_TESTS_NEW_ORDERS_H
#define LX_TESTS_NEW_ORDERS_H

#include <loaderx/batching.h>
#include <loaderx/parity/megatron.h>
#include <loaderx/parity/nanoset.h>
#include <loaderx/parity/torch.h>
#include <loaderx/weighted.h>

#include "sampler/core/order-options.h"
#include "sampler/orders/split-options.h"

static inline lx_order_options options_of(unsigned given, uint64_t length, uint64_t seed,
                                          const char *tables)
{
    return (lx_order_options){.given = given | (tables != NULL ? LX__ORDER_TABLES : 0),
                              .length = length,
                              .seed = seed,
                              .tables = tables};
}

static inline lx_status new_weighted(const double *weights, uint64_t count, uint64_t length,
                                     uint64_t seed, const char *tables, lx_order **order,
                                     lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_LENGTH | LX__ORDER_SEED, length, seed, tables);
    return lx_order_new_weighted(weights, count, &options, order, error);
}

static inline lx_status new_weighted_shuffle(const double *weights, uint64_t count, uint64_t length,
                                             uint64_t seed, const char *tables, lx_order **order,
                                             lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_LENGTH | LX__ORDER_SEED, length, seed, tables);
    return lx_order_new_weighted_shuffle(weights, count, &options, order, error);
}

static inline lx_status new_balanced(const uint64_t *classes, uint64_t count, uint64_t length,
                                     uint64_t seed, const char *tables, lx_order **order,
                                     lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_LENGTH | LX__ORDER_SEED, length, seed, tables);
    return lx_order_new_balanced(classes, count, &options, order, error);
}

static inline lx_status new_bucketed(const uint64_t *lengths, uint64_t count, uint64_t batch,
                                     uint64_t bucket, uint64_t seed, const char *tables,
                                     lx_order **order, lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_BUCKET | LX__ORDER_SEED, 0, seed, tables);
    options.bucket_size = bucket;
    return lx_order_new_bucketed(lengths, count, batch, &options, order, error);
}

static inline lx_status new_budgeted(lx_order *part, const uint64_t *costs, uint64_t count,
                                     uint64_t budget, uint64_t rows, bool padded, lx_order **order,
                                     lx_error *error)
{
    lx_order_options options = {
        .given = LX__ORDER_BATCH | LX__ORDER_PADDED, .max_batch_size = rows, .padded = padded};
    return lx_order_new_budgeted(part, costs, count, budget, &options, order, error);
}

static inline lx_status new_subset(lx_order *part, const uint64_t *indices, uint64_t count,
                                   const char *tables, lx_order **order, lx_error *error)
{
    lx_order_options options = options_of(0, 0, 0, tables);
    return lx_order_new_subset(part, indices, count, &options, order, error);
}

static inline lx_status new_greedy(const lx_mixture *mixture, const char *tables, lx_order **order,
                                   lx_error *error)
{
    lx_order_options options = options_of(0, 0, 0, tables);
    return lx_order_new_greedy(mixture, &options, order, error);
}

static inline lx_status new_nanoset(const uint64_t *lengths, const double *weights, size_t count,
                                    bool divide, uint64_t seed, const char *tables,
                                    lx_order **order, lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_SEED, 0, seed, tables);
    return lx_order_new_nanoset(lengths, weights, count, divide, &options, order, error);
}

static inline lx_status new_torch_random(uint64_t length, uint64_t samples, bool replacement,
                                         uint64_t seed, const char *tables, lx_order **order,
                                         lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_LENGTH | LX__ORDER_SEED, samples, seed, tables);
    return lx_order_new_torch_random(length, replacement, &options, order, error);
}

static inline lx_status new_torch_subset(const uint64_t *indices, uint64_t count, uint64_t seed,
                                         const char *tables, lx_order **order, lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_SEED, 0, seed, tables);
    return lx_order_new_torch_subset(indices, count, &options, order, error);
}

static inline lx_status new_torch_distributed(uint64_t length, uint64_t world, bool shuffle,
                                              bool drop_last, uint64_t seed, const char *tables,
                                              lx_order **order, lx_error *error)
{
    lx_order_options options = options_of(LX__ORDER_SEED, 0, seed, tables);
    unsigned flags = (shuffle ? LX_TORCH_SHUFFLE : 0) | (drop_last ? LX_TORCH_DROP_LAST : 0);
    return lx_order_new_torch_distributed(length, world, flags, &options, order, error);
}

static inline lx_status split_indices(const uint64_t *keys, uint64_t count, uint64_t seed,
                                      double from, double until, uint64_t *indices, uint64_t *found,
                                      lx_error *error)
{
    lx_split_options options = {.seed = seed};
    lx_status status = lx_split_options_set_range(&options, from, until, error);
    return status == LX_OK ? lx_split_indices(keys, count, &options, indices, found, error)
                           : status;
}

#endif
