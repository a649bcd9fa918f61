/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The values of the kill test: each contains the serial number from which it was made, and
 * any wrong byte shows.
 */
#ifndef LX_TESTS_FAULTS_KILL_VALUES_H
#define LX_TESTS_FAULTS_KILL_VALUES_H

#include <loaderx/zrecord.h>

#include "../support.h"

#define VALUES_FIELDS 3
/** Maximum size of a value. */
#define VALUES_SIZE 512

/** A missing value, and one that was never written. */
#define VALUES_MISSING UINT32_MAX
#define VALUES_DAMAGED (UINT32_MAX - 1)

lx_schema *values_schema(void);

/** The value that a reader sees where @p serial was written: @p serial, or VALUES_MISSING. */
uint32_t values_expected(uint32_t serial, size_t field);

/** Makes a value; its bytes are at @p data. */
lx_value values_make(uint32_t serial, size_t field, uint8_t data[VALUES_SIZE]);

/** The serial number of a value that was read, or VALUES_MISSING or VALUES_DAMAGED. */
uint32_t values_parse(size_t field, lx_value value);

/** The contribution of one value to a dataset's digest, which is the sum of all. */
static inline uint64_t values_digest(uint64_t index, size_t field, uint32_t found)
{
    return rng_mix(rng_mix(index, found), field);
}

/** All values of a dataset, record by record; NULL, and the reason in @p why, if one cannot be read
 * or is damaged. */
uint32_t *values_read(lx_dataset *dataset, uint64_t *digest, char *why, size_t size);

#endif
