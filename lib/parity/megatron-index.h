/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The document, sample and shuffle indexes of Megatron's GPT dataset, as one table.
 *
 * The table has three parts. The first lists the document at each place in all epochs. The second
 * contains two numbers for each sample and for the end of the last sample: the place where the
 * sample starts, and the token where it starts within the document at that place. The third lists
 * the shuffled samples.
 */
#ifndef LX_PARITY_MEGATRON_INDEX_H
#define LX_PARITY_MEGATRON_INDEX_H

#include <stdbool.h>

#include "base/json.h"
#include "sampler/core/index-table.h"

/** The inputs of the index, and the numbers derived from them. */
typedef struct lx__gpt_plan {
    uint64_t first, count; /**< Range of documents. */
    uint64_t tokens;       /**< Number of tokens in these documents. */
    uint32_t lengths_crc;  /**< CRC-32C of the lengths of these documents, as 8-byte words. */
    uint64_t sequence_length;
    uint32_t seed;
    bool extra;   /**< Each sample has one more token, which is the first token of the next
                       sample. */
    bool partial; /**< The remainder at the end is also a sample. */
    /* ---- set by lx__gpt_plan_make() */
    uint64_t epochs;
    bool separate; /**< The last epoch is shuffled on its own. */
    uint64_t samples;
    uint64_t before_last; /**< The number of samples before the last epoch, if it is shuffled on its
                               own; otherwise, the number of all samples. */
} lx__gpt_plan;

/** Computes the numbers of epochs and samples. @p num_samples is the number of samples requested;
 * #LX_NONE requests the samples of one epoch.
 * @retval LX_ERR_ARGUMENT  There are no tokens, or no samples.
 * @retval LX_ERR_LIMIT     There would be too many samples, epochs or tokens. */
lx_status lx__gpt_plan_make(lx__gpt_plan *plan, uint64_t num_samples, lx_error *error);

/** Adds members to @p object that identify this index. Returns 0, or -1 when out of memory. */
int lx__gpt_plan_describe(const lx__gpt_plan *plan, json_t *object);

/** Offsets of the parts of the table. The length of a part is the difference between two
 * offsets. */
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

/** Makes the table. If @p tables is not NULL, the table is stored in that folder and reused if it
 * is already there.
 * @param lengths  Length of each document of the plan. */
lx_status lx__gpt_index_open(const lx__gpt_plan *plan, const uint32_t *lengths, const char *tables,
                             lx__index_table *table, lx_error *error);

#endif
