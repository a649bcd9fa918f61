/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The chunks of a joined dataset that are in its parts, which are folders below its own
 * directory: the key "parts" of meta.json.
 */
#ifndef LX_ZRECORD_PARTS_H
#define LX_ZRECORD_PARTS_H

#include "base/json.h"

/** The feature that a dataset with chunks in parts requires. */
#define LX__FEATURE_PARTS "parts"
#define LX__KEY_PARTS "parts"

/** Consecutive chunks of a joined dataset that are in one of its parts: the chunk first + k is the
 * file first_there + k of the part. */
typedef struct lx__chunk_run {
    uint32_t first, first_there, count;
    const char *part; /**< Path of the part, relative to the dataset. */
} lx__chunk_run;

/**
 * Reads the runs from the value of the key, which may be hostile.
 *
 * @param[out] runs       Receives the runs, in ascending order of first. They and their paths are
 *                        one block of memory: release it with lx__free().
 * @retval LX_ERR_CORRUPT  A value has the wrong form, a path could lead out of the dataset, or a
 *                         chunk or a file is there twice.
 */
lx_status lx__parts_read(const json_t *parts, lx__chunk_run **runs, size_t *count, lx_error *error);

/** Makes the value of the key from one or more runs in any order. Returns NULL when out of
 * memory. */
json_t *lx__parts_document(const lx__chunk_run *runs, size_t count);

/** Finds the run that contains the chunk @p id; NULL if the chunk is in no part. The runs must be
 * in ascending order of first. */
const lx__chunk_run *lx__parts_find(const lx__chunk_run *runs, size_t count, uint32_t id);

#endif
