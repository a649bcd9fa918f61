/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A place in a trace at which there is a crash, and the states that it may leave.
 */
#ifndef LX_TESTS_FAULTS_CRASH_POINT_H
#define LX_TESTS_FAULTS_CRASH_POINT_H

#include "check.h"
#include "loss.h"

/** Before event number prefix. */
struct point {
    const struct trace *trace;
    size_t prefix;
    const struct disk *disk;       /**< After the events before it, */
    const struct history *history; /**< as is this. */
    uint64_t boot;
    bool resumed; /**< The trace is that of a job that went on after a crash. */
};

/** What one crash left. */
struct state {
    enum crash crash;
    struct image image;
    uint64_t torn; /**< So much of the next event's write is in the image; 0: nothing. */
};

bool point_is_before(const struct point *point, enum trace_kind kind);
bool point_is_behind(const struct point *point, enum trace_kind kind);

/** Makes a state of the crash in the directory, where there was another, and sets the boot. */
void point_make(const struct point *point, const char *root, enum crash crash, struct dice *dice,
                struct state *state);

/** Where a job that continues with version @p found of the state begins. */
void point_resume(const struct point *point, const struct state *state, size_t found,
                  struct disk *disk, struct history *history);

/** Leaves the state where it can be looked at, with the calls that led to it. */
void point_keep(const struct point *point, const struct state *state);

#endif
