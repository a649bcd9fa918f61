/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief System calls as a tracer sees them, and their events.
 *
 * Every call is in the table of calls.c. An unlisted call, or one that would write without an
 * event, ends the recording: a trace is complete or absent.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CALLS_H
#define LX_TESTS_FAULTS_CRASH_CALLS_H

#include <sys/types.h>

#include "trace.h"

/** A call of one thread, between its entry and its exit. */
struct call {
    pid_t process;
    pid_t thread;
    uint64_t number;
    uint64_t arguments[6];
    int64_t result;
};

/** Whether the call may concern files: such calls run one at a time. */
bool call_concerns_files(const struct call *call);

/** Adds the event of a finished call, if it has one. @return False, and the reason in @p why, if
 * the effect of the call is unknown. */
bool call_record(const struct call *call, const char *root, struct trace *trace, char *why,
                 size_t size);

#endif
