/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records jobs, and crashes them: at each prefix of each trace, a few times.
 */
#ifndef LX_TESTS_FAULTS_CRASH_EXPLORE_H
#define LX_TESTS_FAULTS_CRASH_EXPLORE_H

#include "recorder.h"

/** What is to be done, and what was. */
struct exploration {
    uint64_t seed;
    uint64_t states;  /**< How many to look at. */
    uint64_t first;   /**< The number of the first job, */
    uint64_t step;    /**< and from one to the next; 0: 1. The kind of a job goes by its number. */
    const char *only; /**< One state by its name, and it is kept; NULL: all. */
    bool keeps;       /**< A state that is wrong is kept: threads make every run another one. */
    unsigned thin;    /**< Only one in so many of the points at which little happens; 0: all. More
                            jobs are seen. */

    uint64_t done;       /**< States that were looked at, */
    uint64_t of_power;   /**< of these after a loss of power, */
    uint64_t of_cache;   /**< or of the cache alone, */
    uint64_t of_resumed; /**< and after a second crash, in the recovery from a first. */
    uint64_t jobs;
    uint64_t events;
    bool wrong;     /**< A state was wrong, and the exploration ended there. */
    char name[128]; /**< Of that state, for only. */
    char why[1200];
};

/** Explores until the states are done or one is wrong. */
enum recording explore(struct exploration *exploration);

#endif
