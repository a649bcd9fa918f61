/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Finds records whose members are in two places, such as the image of a key in one archive
 * and its label in another: each place alone would give an incomplete record.
 *
 * Only incomplete records are remembered, in a table of fixed size in which a newer one may displace
 * an older one: a complete record has all of its members, and its key may come again.
 */
#ifndef LX_IMPORTER_SPLIT_RECORDS_H
#define LX_IMPORTER_SPLIT_RECORDS_H

#include "importer/fields.h"

/** Number of incomplete records that are remembered, which take 32 MiB. */
#define LX__SPLIT_RECORDS ((size_t)1 << 20)

typedef struct lx__split_record lx__split_record;

typedef struct lx__split_records {
    lx__split_record *table; /**< NULL: no record was incomplete yet. */
} lx__split_records;

/**
 * Remembers a record if it is incomplete.
 *
 * @param inputs  The paths of all inputs.
 * @param input   The number of the input of the record.
 * @retval LX_ERR_MISMATCH  An incomplete record has the same key, and no member of the same field:
 *                          the two are one.
 */
lx_status lx__split_records_add(lx__split_records *self, const lx__import_fields *fields,
                                const lx__import_record *record, char *const *inputs, size_t input,
                                lx_error *error);

void lx__split_records_free(lx__split_records *self);

#endif
