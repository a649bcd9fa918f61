/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Verifies a random sample of the records of a dataset.
 */
#ifndef LX_TOOLS_VERIFY_SAMPLE_H
#define LX_TOOLS_VERIFY_SAMPLE_H

#include <loaderx/maintenance.h>

typedef struct verify_sample {
    double part; /**< Of all records; 0: no sample, but everything. */
    uint64_t seed;
} verify_sample;

/** Parses a fraction, such as 0.01, or a percentage, such as 1%: more than 0, at most all. */
lx_status verify_sample_parse(verify_sample *self, char *text, lx_error *error);

/** Verifies the first records of a shuffle with the seed, at least one, in ascending order. Like
 * lx_dataset_verify(), but does not count bytes, and damages do not tell what is wrong. */
lx_status verify_sample_run(const verify_sample *self, lx_dataset *dataset,
                            lx_damage_function damaged, lx_progress_function progress, void *user,
                            lx_verify_result *result, lx_error *error);

#endif
