/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Whether what a crash left is a dataset that was committed, and can be written on.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CHECK_H
#define LX_TESTS_FAULTS_CRASH_CHECK_H

#include "history.h"

/** How what is there came about. */
enum crash {
    CRASH_KILL,  /**< The process ended; the kernel has all that it wrote. */
    CRASH_POWER, /**< The power was lost; a new boot. */
    CRASH_CACHE  /**< The same, but the boot continues: a disk pulled out and put back. */
};

struct check {
    const char *path; /**< Of the dataset. */
    enum crash crash;
    const struct history *history;
    lx_executor *executor; /**< For writers. */
    struct dice *dice;
    size_t found; /**< Result: the candidate that is there. */
    bool absent;  /**< Result: none exists yet. */
    bool lossy;   /**< Result: values of it are damaged. */
    char why[1024];
};

/** As a reader sees it. False, and the reason in why, if that was never committed. */
bool check_reader(struct check *check);

/** As a writer sees it, who then changes it, commits, and perhaps seals; readers see that. */
bool check_writer(struct check *check);

#endif
