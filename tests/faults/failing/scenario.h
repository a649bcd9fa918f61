/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the library is asked to do while something fails: small programs over its public
 * interface. A new public function joins as a step of one of them, or as a scenario of its own:
 * tests/house/check-failing.sh finds those that are called in none.
 */
#ifndef LX_TESTS_FAULTS_FAILING_SCENARIO_H
#define LX_TESTS_FAULTS_FAILING_SCENARIO_H

#include "run.h"

struct scenario {
    const char *name;
    /** Makes the dataset, and @p plain what it holds, before anything fails; NULL: it is absent.
     * A scenario may make other files next to it: its path with a suffix. */
    void (*prepare)(const char *path, struct plain *plain);
    bool changes; /**< Each run gets a copy of its own. */
    void (*act)(struct run *run);
};

/** Each ends with one that has no name. */
extern const struct scenario writer_scenarios[];
extern const struct scenario reader_scenarios[];
extern const struct scenario loader_scenarios[];
extern const struct scenario order_scenarios[];
extern const struct scenario executor_scenarios[];

/* ---- for preparations: what fails here ends the test */

/** Makes a dataset of @p count records; at most @p in_log of them are in the log alone. */
void prepare_dataset(const char *path, struct plain *plain, uint64_t count, uint64_t in_log);

/** The same, sealed. */
void prepare_sealed(const char *path, struct plain *plain, uint64_t count);

/** Ends the test unless @p status is #LX_OK. */
void must(lx_status status, const char *what, const lx_error *error);

#endif
