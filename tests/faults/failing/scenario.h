/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The calls that are made with faults: small programs over the public interface.
 *
 * A new public function needs a step in one of them, or its own scenario: tests/house/check-
 * failing.sh finds functions that no scenario calls.
 */
#ifndef LX_TESTS_FAULTS_FAILING_SCENARIO_H
#define LX_TESTS_FAULTS_FAILING_SCENARIO_H

#include "run.h"

struct scenario {
    const char *name;
    /** Makes the dataset without faults, and @p plain its content; NULL: no dataset. A scenario may
     * make other files next to it: its path with a suffix. */
    void (*prepare)(const char *path, struct plain *plain);
    bool changes; /**< Each run gets its own copy. */
    void (*act)(struct run *run);
};

/** Each list ends with an entry without a name. */
extern const struct scenario writer_scenarios[];
extern const struct scenario reader_scenarios[];
extern const struct scenario loader_scenarios[];
extern const struct scenario order_scenarios[];
extern const struct scenario executor_scenarios[];
extern const struct scenario import_scenarios[];
extern const struct scenario map_scenarios[];
extern const struct scenario recordio_scenarios[];
extern const struct scenario elsewhere_scenarios[];
#ifdef HAVE_IMAGES
extern const struct scenario image_scenarios[];
extern const struct scenario pixel_scenarios[];
#endif

/* ---- for preparations: a failure ends the test */

/** Makes a dataset of @p count records; at most @p in_log of them are only in the log. */
void prepare_dataset(const char *path, struct plain *plain, uint64_t count, uint64_t in_log);

/** The same, sealed. */
void prepare_sealed(const char *path, struct plain *plain, uint64_t count);

/** Ends the test unless @p status is #LX_OK. */
void must(lx_status status, const char *what, const lx_error *error);

#endif
