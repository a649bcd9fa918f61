/* SPDX-License-Identifier: MIT */
#include "loader/block-plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define WORD_BITS 64

static size_t word_count(const lx__block_plan *plan)
{
    return (size_t)(plan->lanes / WORD_BITS) + 1;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool lx__block_plan_open(lx__block_plan *plan, lx_order *order, lx__scratch *scratch,
                         const lx__batch_schedule *schedule)
{
    uint64_t world = schedule->shard.world;
    plan->order = order;
    plan->scratch = scratch;
    plan->lanes = lx__order_get_lanes(order);
    /* The ranks take turns with samples, and so do the lanes. If they take turns with batches that
     * the order forms, each rank reads all lanes. */
    plan->weight = schedule->batch_size != 0 ? common_divisor(world, plan->lanes) : 1;
    plan->ranks = world / plan->weight;
    plan->found = lx__alloc_array(word_count(plan), sizeof *plan->found);
    return plan->found != NULL;
}

void lx__block_plan_warn(const lx__block_plan *plan, const lx__batch_schedule *schedule)
{
    if (plan->ranks <= 1 || schedule->batch_size == 0)
        return;
    lx__log(LX_LOG_WARNING,
            "each of %llu ranks fetches the same blocks of records: use an order of lanes whose "
            "number is a multiple of world, %llu, so that each block is fetched once",
            (unsigned long long)plan->ranks, (unsigned long long)schedule->shard.world);
}

void lx__block_plan_close(lx__block_plan *plan)
{
    lx__free(plan->found);
    *plan = (lx__block_plan){.order = NULL};
}

void lx__block_plan_move(lx__block_plan *plan)
{
    plan->length = 0;
    plan->next = plan->end = 0;
    plan->visited = plan->slice.count = 0;
}

void lx__block_plan_set_slice(lx__block_plan *plan, const lx__batch_slice *slice)
{
    plan->slice = *slice;
    plan->visited = 0;
}

/** Adds the block of a lane, unless enough blocks were found. */
static bool add_block(lx__block_plan *plan, uint64_t lane, const lx__index_block *block,
                      uint64_t limit)
{
    if (plan->begin >= limit || plan->covered >= limit - plan->begin)
        return false;
    plan->found[lane / WORD_BITS] |= (uint64_t)1 << lane % WORD_BITS;
    plan->covered += block->count * plan->weight;
    plan->next = block->first;
    plan->end = block->first + block->count;
    return true;
}

bool lx__block_plan_visit(lx__block_plan *plan, uint64_t limit)
{
    uint64_t position = plan->slice.first + plan->visited * plan->slice.stride;
    lx__index_block block;
    if (position - plan->begin < plan->length) {
        uint64_t lane = (position - plan->begin) % plan->lanes;
        if ((plan->found[lane / WORD_BITS] >> lane % WORD_BITS & 1) != 0) {
            plan->visited++;
            return true;
        }
    }
    if (lx__order_find_block(plan->order, plan->scratch, position, &block, NULL) != LX_OK)
        return false; /* the loader will report the error */
    if (position - plan->begin >= plan->length) {
        memset(plan->found, 0, word_count(plan) * sizeof *plan->found);
        plan->begin = block.begin;
        plan->length = block.length;
        plan->covered = 0;
    }
    if (!add_block(plan, (position - plan->begin) % plan->lanes, &block, limit))
        return false;
    plan->visited++;
    return true;
}

size_t lx__block_plan_take(lx__block_plan *plan, uint64_t *indices, size_t most)
{
    uint64_t left = plan->end - plan->next;
    size_t count = left < most ? (size_t)left : most;
    for (size_t i = 0; i < count; i++)
        indices[i] = plan->next + i;
    plan->next += count;
    return count;
}
