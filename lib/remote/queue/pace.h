/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How often attempts may begin, found by additive increase and multiplicative decrease.
 * Times are those of executor/clock.h.
 *
 * There is no limit until the server asks for fewer requests. From then on the pace is a rate, not
 * a number of requests under way: servers limit rates, and one request at a time can be too many if
 * the round trip is short.
 */
#ifndef LX_REMOTE_PACE_H
#define LX_REMOTE_PACE_H

#include <stdint.h>

typedef struct lx__pace {
    double rate;      /**< Attempts a second; 0: no limit. */
    double served;    /**< Attempts that have succeeded, weighted by their age. */
    double weight;    /**< The time over which they did, in seconds, weighted likewise. */
    uint64_t aged;    /**< When these weights were right. */
    uint64_t next;    /**< When the next attempt may begin. */
    uint64_t lowered; /**< When the rate was lowered last. */
} lx__pace;

/** Begins an attempt, which the caller must not do before @ref lx__pace::next. */
void lx__pace_begin(lx__pace *pace, uint64_t now);

/** Takes an attempt back that was begun but not made. */
void lx__pace_take_back(lx__pace *pace);

/** Reports an attempt that has succeeded. */
void lx__pace_succeed(lx__pace *pace, uint64_t now);

/**
 * Reports that the server asked for fewer requests.
 *
 * @param started      When this attempt began.
 * @param under_way    Number of attempts that are under way, including this one.
 * @param retry_after  How long the server asks to wait, in nanoseconds; 0: it did not. At most 20 s
 *                     of that hold up other attempts.
 */
void lx__pace_slow_down(lx__pace *pace, uint64_t started, uint64_t now, unsigned under_way,
                        uint64_t retry_after);

#endif
