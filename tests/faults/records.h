/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The records of a job. What each holds follows from the seed and its serial number,
 * which no two appended records share.
 */
#ifndef LX_TESTS_FAULTS_RECORDS_H
#define LX_TESTS_FAULTS_RECORDS_H

#include <loaderx/zrecord.h>

#include "support.h"

#define RECORDS_FIELDS 5

struct records {
    uint64_t seed;
    lx_schema *schema;
    size_t fields;
    lx_value *values; /**< fields for each serial; made when they are asked for. */
    uint64_t made;    /**< Serials that have values. */
};

/** Chooses a schema. With @p small all values are inline, so that there may be many. */
void records_init(struct records *records, uint64_t seed, bool small);
void records_free(struct records *records);

/** The values of a record, valid until the next call. */
const lx_value *records_get(struct records *records, uint64_t serial);

/** Appends records with serials from @p first on in one call. */
lx_status records_extend(struct records *records, lx_writer *writer, uint64_t first,
                         uint64_t count, lx_error *error);

/** Reads every value of a dataset and compares it. False, and the reason in @p why, if one differs
 * or cannot be read. */
bool records_compare(struct records *records, lx_dataset *dataset, const uint32_t *serials,
                     uint64_t count, char *why, size_t size);

#endif
