/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The base class of orders, and the functions with which the loader reads an order.
 *
 * Every kind of order is a struct that begins with an lx_order and has a class with its functions.
 * An order made of other orders holds references to them, nests their JSON in its own, and keeps
 * their scratch buffers in its own.
 */
#ifndef LX_SAMPLER_ORDER_H
#define LX_SAMPLER_ORDER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/sampler.h>

#include "base/json.h"
#include "sampler/random/feistel.h"

/** Upper limit of the positions, exclusive. */
#define LX__POSITION_END UINT64_MAX

/** Maximum number of positions per call to a class's read function; limits the buffers of nested
 * orders. */
#define LX__ORDER_BLOCK 1024

/** A block: neighboring indices that an order reads at nearby positions, so that they should be
 * fetched together. Each position belongs to one stripe of positions, in which as many blocks as
 * lx__order_get_lanes() take turns: the positions p of a block have the same (p - begin) % lanes.
 */
typedef struct lx__index_block {
    uint64_t first, count;  /**< The indices. */
    uint64_t begin, length; /**< The positions of the stripe. */
} lx__index_block;

/** The functions of one kind of order. */
typedef struct lx__order_class {
    const char *kind; /**< Name of the kind in saved states. */
    int formula;      /**< Version of the formula, for saved states: a different version may produce
                           different indices. */

    /** Size of a scratch buffer in bytes; a new buffer is zeroed. 0 if the class needs no scratch
     * buffer. */
    size_t scratch_size;
    /** Releases what the scratch buffer owns; NULL if it owns nothing. */
    void (*clear_scratch)(void *scratch);

    /** Replaces each of 1 to #LX__ORDER_BLOCK positions, which may be in any order, with its index;
     * should be fast for ascending positions. The order's length is 1 or more. */
    lx_status (*read)(const lx_order *order, void *scratch, uint64_t *positions, size_t count,
                      lx_error *error);

    /** Finds the block that is read at a position; NULL if the order never has blocks. */
    lx_status (*find_block)(const lx_order *order, void *scratch, uint64_t position,
                            lx__index_block *block, lx_error *error);

    /** Adds members to @p object that distinguish this order from others of its kind and length.
     * Returns 0, or -1 when out of memory. */
    int (*describe)(const lx_order *order, json_t *object);

    /** Counts the positions below @p end for each set; NULL if the order is not a mixture. */
    lx_status (*count)(const lx_order *order, uint64_t end, uint64_t *counts, lx_error *error);

    /** Releases what the order owns besides its own memory; NULL if there is nothing to release. */
    void (*dispose)(lx_order *order);
} lx__order_class;

struct lx_order {
    const lx__order_class *class;
    uint64_t length; /**< Number of positions per epoch. */
    uint64_t bound;  /**< Upper limit of the indices, exclusive: the minimum length of a source. */
    unsigned depth;  /**< Number of levels of nested orders, including this order. */
    size_t size;     /**< Number of orders within this order, including itself. */
    size_t sets;     /**< Number of a mixture's sets; 0: not a mixture. */
    uint64_t lanes;  /**< Number of blocks in a stripe; 0: the order does not read blocks. */
    uint64_t window; /**< Maximum number of positions in a stripe. */
    /** Where the order's batches begin, see batch-bounds.h; NULL: not cut into batches. */
    struct lx__epoch_tables *batch_bounds;
    uint64_t batch_rows; /**< Maximum number of samples in a batch; 0: not cut into batches. */
    atomic_size_t references;
};

/** Returns the epoch of the first of @p count positions. Replaces that position, and the following
 * positions that are in the same epoch, with offsets, and sets @p here to the number of positions
 * replaced. */
static inline uint64_t lx__order_split_epoch(const lx_order *order, uint64_t *positions,
                                             size_t count, size_t *here)
{
    uint64_t epoch = positions[0] / order->length, start = epoch * order->length;
    size_t i = 0;
    for (; i < count && positions[i] - start < order->length; i++)
        positions[i] -= start;
    *here = i;
    return epoch;
}

/** Reads the first of @p count offsets of an epoch and some of the offsets that follow it, and sets
 * @p here to the number of offsets read. */
typedef lx_status (*lx__read_piece)(const lx_order *order, void *scratch, uint64_t epoch,
                                    uint64_t *positions, size_t count, size_t *here,
                                    lx_error *error);

/** Implements a class's read function by reading epochs in pieces. Inlined into each class, because
 * pieces may be short. */
static inline __attribute__((always_inline)) lx_status
lx__order_read_pieces(const lx_order *order, void *scratch, uint64_t *positions, size_t count,
                      lx__read_piece read, lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK && count != 0) {
        size_t of_epoch, here = 0;
        uint64_t epoch = lx__order_split_epoch(order, positions, count, &of_epoch);
        for (size_t at = 0; status == LX_OK && at < of_epoch; at += here)
            status = read(order, scratch, epoch, positions + at, of_epoch - at, &here, error);
        positions += of_epoch;
        count -= of_epoch;
    }
    return status;
}

/** Allocates @p size zeroed bytes for an order of @p class, sets the members for which there are
 * arguments, and sets the reference count to 1. */
LX_API lx_status lx__order_new(const lx__order_class *class, size_t size, uint64_t length,
                               uint64_t bound, lx_order **order, lx_error *error);

/** Finishes the creation of an order: on failure, frees the order and sets @p order to NULL.
 * Returns @p status. */
LX_API lx_status lx__order_finish(lx_order **order, lx_status status);

/**
 * The scratch buffer of a thread that reads an order; it caches, for example, the table or the keys
 * of the current epoch.
 *
 * @par Thread safety
 * Not thread-safe. Use a scratch buffer only with the order that it was made for.
 */
typedef struct lx__scratch lx__scratch;

/** Creates a scratch buffer for reading @p order, to which it holds a reference; free it with
 * lx__scratch_free(). */
LX_API lx_status lx__scratch_new(lx_order *order, lx__scratch **scratch, lx_error *error);

/** @p scratch may be NULL. */
LX_API void lx__scratch_free(lx__scratch *scratch);

/**
 * Reads the indices at @p count positions (first, first + step, ...), across epochs. The step must
 * be at least 1, and the last position must be below #LX__POSITION_END; the count must be 0 if the
 * order's length is 0.
 *
 * @retval LX_ERR_NOMEM  Out of memory for the scratch buffer.
 */
LX_API lx_status lx__order_read(const lx_order *order, lx__scratch *scratch, uint64_t first,
                                uint64_t step, uint64_t count, uint64_t *indices, lx_error *error);

/**
 * Replaces each of @p count positions with its index.
 *
 * @return Any status that lx__order_read() returns.
 */
lx_status lx__order_map(const lx_order *order, lx__scratch *scratch, uint64_t *positions,
                        size_t count, lx_error *error);

/** Returns the number of blocks in a stripe of the order; 0 if it does not read its indices in
 * blocks. */
LX_API uint64_t lx__order_get_lanes(const lx_order *order);

/** Returns the maximum number of positions in a stripe of the order; 0 if it has none. */
LX_API uint64_t lx__order_get_window(const lx_order *order);

/**
 * Finds the block that an order with blocks reads at @p position, which is below #LX__POSITION_END.
 *
 * @retval LX_ERR_NOMEM  Out of memory for the scratch buffer.
 */
LX_API lx_status lx__order_find_block(const lx_order *order, lx__scratch *scratch,
                                      uint64_t position, lx__index_block *block, lx_error *error);

/** Returns the upper limit of the order's indices, exclusive. */
LX_API uint64_t lx__order_get_bound(const lx_order *order);

#endif
