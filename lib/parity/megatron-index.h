/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The document, sample and shuffle index of Megatron's GPT dataset, as one table.
 *
 * It has the document at each place of all epochs; then two numbers for each sample and for the end
 * of the last one, the place where it begins and the token there; then the shuffled samples.
 */
#ifndef LX_PARITY_MEGATRON_INDEX_H
#define LX_PARITY_MEGATRON_INDEX_H

#include <stdbool.h>

#include "base/json.h"
#include "sampler/core/index-table.h"

/** What the index depends on, and what follows of it. */
typedef struct lx__gpt_plan {
    uint64_t first, count; /**< Documents. */
    uint64_t tokens;       /**< Of all of them. */
    uint32_t lengths_crc;  /**< Of their lengths, as words of 8 bytes. */
    uint64_t sequence_length;
    uint32_t seed;
    bool extra;   /**< Samples have a token more, which is the first of the next. */
    bool partial; /**< What is left at the end is a sample, too. */
    /* ---- set by lx__gpt_plan_make() */
    uint64_t epochs;
    bool separate; /**< The last epoch is shuffled by itself. */
    uint64_t samples;
    uint64_t before_last; /**< Samples without the last epoch's; all, unless it is separate. */
} lx__gpt_plan;

/** Finds how many epochs and samples there are, for @p num_samples, or #LX_NONE.
 * @retval LX_ERR_ARGUMENT  There is no token, or no sample.
 * @retval LX_ERR_LIMIT     There are too many. */
lx_status lx__gpt_plan_make(lx__gpt_plan *plan, uint64_t num_samples, lx_error *error);

/** Adds to @p object what tells this index from others. Returns 0, or -1 without memory. */
int lx__gpt_plan_describe(const lx__gpt_plan *plan, json_t *object);

/** Places of the table at which its parts begin, and their lengths. */
static inline uint64_t lx__gpt_places(const lx__gpt_plan *plan)
{
    return plan->epochs * plan->count;
}

static inline uint64_t lx__gpt_sample_at(const lx__gpt_plan *plan, uint64_t sample)
{
    return lx__gpt_places(plan) + 2 * sample;
}

static inline uint64_t lx__gpt_shuffle_at(const lx__gpt_plan *plan, uint64_t sample)
{
    return lx__gpt_sample_at(plan, plan->samples + 1) + sample;
}

/** Makes the table, or finds it in the folder.
 * @param lengths  Of each document of the plan. */
lx_status lx__gpt_index_open(const lx__gpt_plan *plan, const uint32_t *lengths, const char *tables,
                             lx__table *table, lx_error *error);

#endif
