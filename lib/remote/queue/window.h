/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How many bytes may be requested at a time: enough to fill the link, and little enough that
 * what is requested next does not wait long.
 *
 * By Little's law, a link is full if the bytes under way are its rate times the latency. The window
 * is three times the product of the rate that was reached and the shortest latency that was seen.
 * While the link is not full, the rate grows with the window, and so the window grows.
 */
#ifndef LX_REMOTE_WINDOW_H
#define LX_REMOTE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/** The smallest window, unless four requests are larger. */
#define LX__WINDOW_MIN ((uint64_t)8 << 20)

typedef struct lx__window {
    uint64_t bytes;     /**< The window; 0: #LX__WINDOW_MIN. */
    uint64_t under_way; /**< Bytes that are requested now. */
    uint64_t shortest;  /**< The shortest latency, in nanoseconds; 0: unknown. */
    /** @name Since the window was computed last */
    /** @{ */
    uint64_t since;
    uint64_t arrived; /**< Bytes. */
    bool filled;      /**< The window was full: a larger one might have given a higher rate. */
    /** @} */
} lx__window;

/** Whether a request of @p size bytes, less than 2^60, must wait. The first one never does. */
bool lx__window_is_full(lx__window *window, uint64_t size);

/** Begins a request. */
void lx__window_begin(lx__window *window, uint64_t size, uint64_t now);

/** Ends a request of @p size bytes that began at @p began; @p got of them have arrived. */
void lx__window_end(lx__window *window, uint64_t size, uint64_t got, uint64_t began, uint64_t now);

#endif
