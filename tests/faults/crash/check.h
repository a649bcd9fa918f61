/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Whether a crash left a dataset that was committed and can be written to.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CHECK_H
#define LX_TESTS_FAULTS_CRASH_CHECK_H

#include "history.h"

/** The cause of the state. */
enum crash {
    CRASH_KILL,  /**< The process ended; the kernel has all its writes. */
    CRASH_POWER, /**< Power loss: a new boot. */
    CRASH_CACHE  /**< The same within one boot: the disk was removed and attached again. */
};

struct check {
    const char *path; /**< Of the dataset. */
    enum crash crash;
    const struct history *history;
    lx_executor *executor; /**< For writers. */
    struct rng *rng;
    size_t found; /**< Result: the candidate that was found. */
    bool absent;  /**< Result: no dataset exists yet. */
    bool lossy;   /**< Result: some values are damaged. */
    char why[1024];
};

/** Checks it as a reader. Returns false, and the reason in why, if it was never committed. */
bool check_reader(struct check *check);

/** Checks it as a writer, which then changes it, commits, and perhaps seals; readers check that,
 * too. */
bool check_writer(struct check *check);

#endif
