/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The values of the kill test: each reports the serial number that it was made of, and
 * differs from what it should be if any byte does.
 */
#ifndef LX_TESTS_FAULTS_KILL_VALUES_H
#define LX_TESTS_FAULTS_KILL_VALUES_H

#include <loaderx/zrecord.h>

#include "../support.h"

#define VALUES_FIELDS 3
/** Most bytes of a value. */
#define VALUES_SIZE 512

/** What a value is that is missing, and one that nobody wrote. */
#define VALUES_MISSING UINT32_MAX
#define VALUES_DAMAGED (UINT32_MAX - 1)

lx_schema *values_schema(void);

/** What is to be read where serial number @p serial was written: it, or VALUES_MISSING. */
uint32_t values_expected(uint32_t serial, size_t field);

/** Makes a value; its bytes are at @p data. */
lx_value values_make(uint32_t serial, size_t field, uint8_t data[VALUES_SIZE]);

/** Which serial number a value has that was read: VALUES_MISSING, or VALUES_DAMAGED, perhaps. */
uint32_t values_parse(size_t field, lx_value value);

/** The part of a dataset's digest that one value is. Digests are sums of these. */
static inline uint64_t values_digest(uint64_t index, size_t field, uint32_t found)
{
    return dice_mix(dice_mix(index, found), field);
}

/** All values of a dataset, record by record; NULL, and the reason in @p why, if one cannot be read
 * or is damaged. */
uint32_t *values_read(lx_dataset *dataset, uint64_t *digest, char *why, size_t size);

#endif
