/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A progress bar on standard error, if that is a terminal.
 */
#ifndef LX_TOOLS_PROGRESS_H
#define LX_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** One job's bar. */
typedef struct progress {
    const char *job;
    bool shown;    /**< There is a terminal, and nobody asked for silence. */
    bool drawn;    /**< A bar stands in the terminal's line. */
    double begun;  /**< Seconds of the monotonic clock. */
    double redraw; /**< When it may be drawn again. */
} progress;

/** Begins a job; @p job is a word for it. */
void progress_begin(progress *bar, const char *job, bool quiet);

/** Draws it, some ten times a second at most; @p bytes is what has been moved so far. */
void progress_update(progress *bar, uint64_t done, uint64_t total, uint64_t bytes);

/** Takes the bar away, so that something can be printed or the job is over. */
void progress_clear(progress *bar);

/** Seconds since it began. */
double progress_seconds(const progress *bar);

#endif
