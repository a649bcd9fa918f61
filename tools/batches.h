/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Batches that a sampler gives, printed one a line or as lists of JSON, and how much of their
 * budget they use.
 */
#ifndef LX_TOOLS_BATCHES_H
#define LX_TOOLS_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/sampler.h>

/** What the batches cost, by which their order was cut. */
typedef struct batches_budget {
    const uint64_t *costs; /**< Of each index. */
    uint64_t budget;
    bool padded;
} batches_budget;

/** Prints up to @p count batches, fewer where the order is empty or ends: a line each, with spaces
 * between the indices. */
lx_status batches_print(lx_sampler *sampler, uint64_t count, lx_error *error);

/** Prints them as members of a JSON object, with a comma behind the last: the batches, and what all
 * of them together have and use. */
lx_status batches_print_json(lx_sampler *sampler, uint64_t count, const batches_budget *by,
                             lx_error *error);

#endif
