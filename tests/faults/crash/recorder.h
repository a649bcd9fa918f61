/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Runs a job in a child process and records its calls on files with ptrace: from outside the
 * library, however it writes.
 */
#ifndef LX_TESTS_FAULTS_CRASH_RECORDER_H
#define LX_TESTS_FAULTS_CRASH_RECORDER_H

#include "trace.h"

enum recording {
    RECORDED,
    RECORDING_REFUSED, /**< The system does not permit tracing: the result is unknown. */
    RECORDING_FAILED   /**< The job failed, or made changes that the trace lacks. */
};

/**
 * Runs @p job in a child. Calls that concern files happen one at a time, in the order of the trace.
 *
 * @param root  The directory whose changes are recorded; an absolute path without links.
 * @param job   Returns the child's exit status; it may start threads. The child exits without
 *              running atexit() handlers.
 * @param why   The error, unless it returns RECORDED.
 */
enum recording record(const char *root, int (*job)(void *), void *user, struct trace *trace,
                      char *why, size_t size);

#endif
