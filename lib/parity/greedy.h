/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Greedy mixing of sets, which reproduces Megatron's mixing exactly: each position goes to
 * the set that lags furthest behind its weight.
 *
 * If count[i] of the first k positions went to set i, the next position goes to the set with the
 * largest weight[i] * max(k, 1) - count[i], or to the first such set if there are several. This
 * algorithm has to iterate over all positions, whereas lx__mixture_split finds the set of any
 * position directly.
 */
#ifndef LX_PARITY_GREEDY_H
#define LX_PARITY_GREEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Maximum number of sets per loop iteration; arrays are padded to a multiple of this number. */
#define LX__GREEDY_LANES 16

/** The state of the assignment. */
typedef struct lx__greedy {
    size_t used;       /**< Number of sets. */
    size_t count;      /**< Number of sets, including padding. */
    size_t left;       /**< Number of sets that were not removed. */
    uint64_t position; /**< The next position. */
    double *weights;   /**< Weight of each set; 0 if it was removed. */
    double *given;     /**< Number of positions assigned to each set: an integer below 2^53, or
                            infinity if the set was removed. */
    double *lags;      /**< Scratch memory for the lag of each set. */
} lx__greedy;

/** Maximum number of sets. */
#define LX__GREEDY_SETS_MAX 65535u
/** Maximum number of positions: counts up to this number are exact in doubles. */
#define LX__GREEDY_POSITIONS_MAX (UINT64_C(1) << 53)

/**
 * Creates the state before the first position.
 *
 * @retval LX_ERR_NOMEM  Out of memory.
 */
lx_status lx__greedy_new(const double *weights, size_t count, lx__greedy *greedy, lx_error *error);

void lx__greedy_free(lx__greedy *greedy);

/** Assigns the next @p length positions; writes the set of each to @p sets. */
void lx__greedy_assign(lx__greedy *greedy, uint16_t *sets, size_t length);

/** Removes a set, which gets no more positions. */
void lx__greedy_remove(lx__greedy *greedy, size_t set);

/** Whether any set is left. */
bool lx__greedy_has_any(const lx__greedy *greedy);

/** Used as the count of a removed set. */
#define LX__GREEDY_REMOVED UINT64_MAX

/** Stores in @p given the number of positions assigned to each of @p count sets. */
void lx__greedy_get_counts(const lx__greedy *greedy, uint64_t *given, size_t count);

/** Restores the state in which lx__greedy_get_counts() returned @p given. */
void lx__greedy_restore(lx__greedy *greedy, uint64_t position, const double *weights,
                        const uint64_t *given, size_t count);

/** A kernel of lx__greedy_assign(). */
typedef void lx__greedy_kernel(lx__greedy *greedy, uint16_t *sets, size_t length);

/** Plain C; the reference for the other kernel. */
lx__greedy_kernel lx__greedy_assign_scalar;
#if defined(__x86_64__)
/** Requires AVX2. */
lx__greedy_kernel lx__greedy_assign_avx2;
#endif

#endif
