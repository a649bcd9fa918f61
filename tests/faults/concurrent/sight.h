/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records of a dataset, read as copies or views, which may be held and checked again.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_SIGHT_H
#define LX_TESTS_FAULTS_CONCURRENT_SIGHT_H

#include "reading.h"

struct sight {
    struct reading reading;
    lx_view *views[FIELDS + 1];
    uint8_t *copies[FIELDS + 1];
    size_t copy_sizes[FIELDS + 1];
    uint64_t *offsets; /**< Of texts, and whether each is present. */
    uint8_t *present;
    size_t capacity;
};

void sight_free(struct sight *sight);

/** Releases the views. */
void sight_release(struct sight *sight);

/** Reads one field of the records from @p first on. */
lx_status sight_gather(struct sight *sight, lx_dataset *dataset, size_t field, size_t first,
                       size_t count, lx_error *error);
lx_status sight_view(struct sight *sight, lx_dataset *dataset, size_t field, lx_error *error);

/** Reads all fields that the handle shows. */
lx_status sight_gather_all(struct sight *sight, lx_dataset *dataset, lx_error *error);
lx_status sight_view_all(struct sight *sight, lx_dataset *dataset, lx_error *error);

#endif
