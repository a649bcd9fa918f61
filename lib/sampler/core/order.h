/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What an order is made of, and how the loader reads one.
 *
 * Every kind of order is a struct that begins with an lx_order and a class that says what to do
 * with it. An order made of other orders holds references to them, nests their JSON, and keeps
 * scratches of theirs in its own.
 */
#ifndef LX_SAMPLER_ORDER_H
#define LX_SAMPLER_ORDER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/sampler.h>

#include "base/json.h"
#include "sampler/random/feistel.h"

/** The end of the positions: none is this or above. */
#define LX__POSITION_END UINT64_MAX

/** Orders within each other: reading them takes as much stack. */
#define LX__ORDER_DEPTH_MAX 64
/** Orders within one in all, each as often as it is there: a state tells of every one. */
#define LX__ORDER_SIZE_MAX 65536

/** So many positions are read at a time: what an order made of others keeps goes by it. */
#define LX__ORDER_BLOCK 1024

/** One kind of order. */
typedef struct lx__order_class {
    const char *kind; /**< Its name in states. */
    int formula;      /**< Version of its formula, in states: another one may give other indices. */

    /** Bytes of its scratch, which starts zeroed; 0 if it needs none. */
    size_t scratch_size;
    /** Releases what the scratch came to own; NULL where it owns nothing. */
    void (*clear_scratch)(void *scratch);

    /** Puts in the place of each of 1 to #LX__ORDER_BLOCK positions, in any order, the index that
     * stands there; those that ascend are meant to be fast. The length is 1 or more. */
    lx_status (*read)(const lx_order *order, void *scratch, uint64_t *places, size_t count,
                      lx_error *error);

    /** The permutation that maps all of 1 to #LX__ORDER_BLOCK positions, in place of reading them:
     * they become the numbers that it maps, and what comes of these are the indices. It holds until
     * the scratch is used again. NULL: there is none for all of them, and they stay as they are.
     * NULL in place of the function where there never is. */
    const lx__feistel *(*find_feistel)(const lx_order *order, void *scratch, uint64_t *places,
                                       size_t count);

    /** Adds to @p object what else sets this order apart from others of its kind and length.
     * Returns 0, or -1 without memory. */
    int (*describe)(const lx_order *order, json_t *object);

    /** Counts how many of the positions below @p end each set has; NULL where it is no mixture. */
    lx_status (*count)(const lx_order *order, uint64_t end, uint64_t *counts, lx_error *error);

    /** Releases what the order owns beside its own memory; NULL where it owns nothing. */
    void (*dispose)(lx_order *order);
} lx__order_class;

struct lx_order {
    const lx__order_class *class;
    uint64_t length; /**< Positions in an epoch. */
    uint64_t bound;  /**< Every index is below this: what a source must have at least. */
    unsigned depth;  /**< Orders within it, one in the other, and itself. */
    size_t size;     /**< Orders within it, all of them, and itself. */
    size_t sets;     /**< Of a mixture; 0: it is none. */
    /** Where its batches begin, as batch-bounds.h has it; NULL: it is not cut into batches. */
    struct lx__epochs *cuts;
    uint64_t batch_rows; /**< Samples of a batch, at most; 0: it is not cut. */
    atomic_size_t references;
};

/** The epoch of the first of @p count positions; it and those that follow in the same one become
 * offsets, and @p here tells how many. */
static inline uint64_t lx__order_split_epoch(const lx_order *order, uint64_t *places, size_t count,
                                             size_t *here)
{
    uint64_t epoch = places[0] / order->length, start = epoch * order->length;
    size_t i = 0;
    for (; i < count && places[i] - start < order->length; i++)
        places[i] -= start;
    *here = i;
    return epoch;
}

/** Reads the first of @p count offsets of an epoch, and those behind it that are read with it; how
 * many these are. */
typedef lx_status (*lx__read_piece)(const lx_order *order, void *scratch, uint64_t epoch,
                                    uint64_t *places, size_t count, size_t *here, lx_error *error);

/** As read of a class, by pieces of epochs. It is compiled for each kind: pieces may be short. */
static inline __attribute__((always_inline)) lx_status
lx__order_read_pieces(const lx_order *order, void *scratch, uint64_t *places, size_t count,
                      lx__read_piece read, lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK && count != 0) {
        size_t of_epoch, here = 0;
        uint64_t epoch = lx__order_split_epoch(order, places, count, &of_epoch);
        for (size_t at = 0; status == LX_OK && at < of_epoch; at += here)
            status = read(order, scratch, epoch, places + at, of_epoch - at, &here, error);
        places += of_epoch;
        count -= of_epoch;
    }
    return status;
}

/** Memory of @p size bytes for an order of @p class, begun with these and one reference. */
LX_API lx_status lx__order_new(const lx__order_class *class, size_t size, uint64_t length,
                               uint64_t bound, lx_order **order, lx_error *error);

/** Ends the making of an order: one that could not be filled is given up, and is NULL then. Returns
 * the status. */
LX_API lx_status lx__order_finish(lx_order **order, lx_status status);

/**
 * What one thread keeps while it reads an order: the table or the keys of the epoch it is in.
 *
 * @par Thread safety
 * One thread at a time, and only with the order it was made for.
 */
typedef struct lx__scratch lx__scratch;

/** A scratch for reading @p order, of which it takes a reference; for lx__scratch_free(). */
LX_API lx_status lx__scratch_new(lx_order *order, lx__scratch **scratch, lx_error *error);

/** NULL is nothing. */
LX_API void lx__scratch_free(lx__scratch *scratch);

/**
 * Indices at the positions first, first + step, ..., @p count of them, across epochs. The step is
 * 1 or more, and the last position is below #LX__POSITION_END; an order of length 0 has none.
 *
 * @retval LX_ERR_NOMEM  There is no memory for what the scratch keeps.
 */
LX_API lx_status lx__order_read(const lx_order *order, lx__scratch *scratch, uint64_t first,
                                uint64_t step, uint64_t count, uint64_t *indices, lx_error *error);

/**
 * Puts in the place of each of @p count positions the index that stands there.
 *
 * @return As lx__order_read().
 */
lx_status lx__order_map(const lx_order *order, lx__scratch *scratch, uint64_t *places,
                        size_t count, lx_error *error);

/** As find_feistel of its class, which has it. */
const lx__feistel *lx__order_find_feistel(const lx_order *order, lx__scratch *scratch,
                                          uint64_t *places, size_t count);

/** Every index of the order is below this. */
LX_API uint64_t lx__order_get_bound(const lx_order *order);

/** Adds to @p object what lx__order_to_json() has. Returns 0, or another number without memory. */
LX_API int lx__order_describe(const lx_order *order, json_t *object);

/** {"kind", "formula", "length", ...}: all that its indices depend on. NULL without memory. */
LX_API json_t *lx__order_to_json(const lx_order *order);

/**
 * Whether @p json, from a state, is what lx__order_to_json() makes of @p order.
 *
 * @retval LX_ERR_MISMATCH  It is not; the message names the first difference, both values, and
 *                          "order" as where they stand.
 */
LX_API lx_status lx__order_match_json(const lx_order *order, const json_t *json, lx_error *error);

#endif
