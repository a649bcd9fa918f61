/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A crash at a place in a trace, and the states that it may leave.
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
    bool resumed; /**< The trace is that of a job that continued after a crash. */
};

/** The state after one crash. */
struct state {
    enum crash crash;
    struct image image;
    uint64_t torn; /**< Bytes of the next event's write in the image; 0: none. */
};

bool point_is_before(const struct point *point, enum trace_kind kind);
bool point_is_behind(const struct point *point, enum trace_kind kind);

/** Makes a state of the crash in the directory, in place of an earlier one, and sets the boot. */
void point_make(const struct point *point, const char *root, enum crash crash, struct rng *rng,
                struct state *state);

/** The beginning of a job that continues with version @p found of the state. */
void point_resume(const struct point *point, const struct state *state, size_t found,
                  struct disk *disk, struct history *history);

/** Keeps the state for inspection, with the calls that led to it. */
void point_keep(const struct point *point, const struct state *state);

#endif
