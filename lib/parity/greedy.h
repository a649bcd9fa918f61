/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The greedy way to mix sets, as Megatron does, number for number: each position goes to the
 * set that lags furthest behind its weight.
 *
 * Set i has had count[i] of k positions; the next one is given to that for which
 * weight[i] * max(k, 1) - count[i] is greatest, the first of those that are equal. It takes going
 * through all positions; lx__split finds any at once.
 */
#ifndef LX_PARITY_GREEDY_H
#define LX_PARITY_GREEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Sets that are looked at together: arrays of them are filled up to a multiple. */
#define LX__GREEDY_LANES 16

/** Where it stands. */
typedef struct lx__greedy {
    size_t used;       /**< Sets. */
    size_t count;      /**< The same, filled up. */
    size_t left;       /**< Of these are not taken out. */
    uint64_t position; /**< The next one. */
    double *weights;   /**< Of each set; 0 of one that is taken out. */
    double *given;     /**< To each set: a whole number below 2^53, or infinite. */
    double *lags;      /**< Room for what each lags. */
} lx__greedy;

/** Most sets. */
#define LX__GREEDY_SETS_MAX 65535u
/** Most positions: what is given stays exact in doubles. */
#define LX__GREEDY_POSITIONS_MAX (UINT64_C(1) << 53)

/**
 * Stands before the first position.
 *
 * @retval LX_ERR_NOMEM  There is no memory for it.
 */
lx_status lx__greedy_new(const double *weights, size_t count, lx__greedy *greedy, lx_error *error);

void lx__greedy_free(lx__greedy *greedy);

/** Gives the next @p length positions away, to @p sets: one a position. */
void lx__greedy_give(lx__greedy *greedy, uint16_t *sets, size_t length);

/** Takes a set out: it gets no more. */
void lx__greedy_drop(lx__greedy *greedy, size_t set);

/** Whether any set is left. */
bool lx__greedy_has_any(const lx__greedy *greedy);

/** Of a set that was taken out, in the place of what was given to it. */
#define LX__GREEDY_DROPPED UINT64_MAX

/** Tells what was given to each set, of which there are @p count. */
void lx__greedy_tell(const lx__greedy *greedy, uint64_t *given, size_t count);

/** Stands where it was when this was told. */
void lx__greedy_go_to(lx__greedy *greedy, uint64_t position, const double *weights,
                      const uint64_t *given, size_t count);

/** A kernel: what lx__greedy_give() does. */
typedef void lx__greedy_kernel(lx__greedy *greedy, uint16_t *sets, size_t length);

/** In plain C: the reference for the other one. */
lx__greedy_kernel lx__greedy_give_scalar;
#if defined(__x86_64__)
/** By AVX2; only where the processor has it. */
lx__greedy_kernel lx__greedy_give_avx2;
#endif

#endif
