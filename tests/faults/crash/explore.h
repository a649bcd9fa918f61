/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records jobs, and crashes them at each prefix of each trace, a few times.
 */
#ifndef LX_TESTS_FAULTS_CRASH_EXPLORE_H
#define LX_TESTS_FAULTS_CRASH_EXPLORE_H

#include "recorder.h"

/** The parameters and results of an exploration. */
struct exploration {
    uint64_t seed;
    uint64_t states;  /**< Number of states to check. */
    uint64_t first;   /**< The number of the first job, */
    uint64_t step;    /**< The step to the next one; 0: 1. The kind of a job depends on its
                       *   number. */
    const char *only; /**< Check and keep only the state of this name; NULL: all. */
    bool keeps;       /**< Keep a wrong state: with threads, every run differs. */
    unsigned thin;    /**< Check only one in this many of the points with few events, and try more
                       *   jobs; 0: check all. */

    uint64_t done;       /**< States that were checked, */
    uint64_t of_power;   /**< of these after a power loss, */
    uint64_t of_cache;   /**< or after a loss of the cache, */
    uint64_t of_resumed; /**< and after a second crash, in the recovery from a first. */
    uint64_t jobs;
    uint64_t events;
    bool wrong;     /**< A state was wrong, which ended the exploration. */
    char name[128]; /**< The name of that state, for only. */
    char why[1200];
};

/** Explores until all states are checked or one is wrong. */
enum recording explore(struct exploration *exploration);

#endif
