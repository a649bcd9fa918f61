/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records that were read by any calls, and the check that they are of one committed
 * snapshot.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_READING_H
#define LX_TESTS_FAULTS_CONCURRENT_READING_H

#include "record.h"

/** The records to read: a bucket with its anchor, or all; the root is first. */
#define READ_ALL UINT64_MAX

struct reading {
    uint64_t floor, bucket;
    uint64_t *indices;
    size_t count, capacity;
    lx_slice *slices[FIELDS + 1]; /**< One for each record, of each field. */
    bool has[FIELDS + 1];         /**< The fields that were read; the heads always are. */
};

void reading_free(struct reading *reading);

/** Chooses the records of a bucket below the floor. */
void reading_choose(struct reading *reading, uint64_t floor, uint64_t bucket);

/** Chooses all records. */
void reading_choose_all(struct reading *reading, uint64_t floor, uint64_t length);

/** Whether everything that was read is of one snapshot; if not, the reason is in @p why. @p commit
 * receives the last commit of the snapshot. */
bool reading_judge(const struct reading *reading, uint64_t *commit, char *why, size_t size);

#endif
