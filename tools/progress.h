/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A progress bar on standard error, if standard error is a terminal.
 */
#ifndef LX_TOOLS_PROGRESS_H
#define LX_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** The progress bar of an operation. */
typedef struct progress {
    const char *job;
    bool shown;    /**< Standard error is a terminal, and --quiet was not given. */
    bool drawn;    /**< The bar is on the screen. */
    double begun;  /**< Start time, in seconds of the monotonic clock. */
    double redraw; /**< Earliest time of the next update. */
} progress;

/** Starts an operation, whose name is @p job. */
void progress_begin(progress *bar, const char *job, bool quiet);

/** Updates the bar, at most about ten times a second; @p bytes is the amount processed so far. If
 * @p total is UINT64_MAX, it is unknown, and @p done is a number of bytes. */
void progress_update(progress *bar, uint64_t done, uint64_t total, uint64_t bytes);

/** Removes the bar, before other output or at the end. */
void progress_clear(progress *bar);

/** Returns the number of seconds since the start. */
double progress_seconds(const progress *bar);

#endif
