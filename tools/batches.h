/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Prints the batches of a sampler, one per line or as JSON lists, and the share of their
 * budget that they use.
 */
#ifndef LX_TOOLS_BATCHES_H
#define LX_TOOLS_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/sampler.h>

/** The costs and limits by which the order is cut into batches. */
typedef struct batches_budget {
    const uint64_t *costs; /**< Cost of each index. */
    uint64_t budget;
    bool padded;
} batches_budget;

/** Prints up to @p count batches (fewer if the order is empty or ends), one per line, with spaces
 * between the indices. */
lx_status batches_print(lx_sampler *sampler, uint64_t count, lx_error *error);

/** Prints the batches and their totals as members of a JSON object, with a trailing comma. */
lx_status batches_print_json(lx_sampler *sampler, uint64_t count, const batches_budget *by,
                             lx_error *error);

#endif
