/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The writer's knowledge of the dataset: the identity and version of each record, and the
 * expected sums of the root and the anchors.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_LEDGER_H
#define LX_TESTS_FAULTS_CONCURRENT_LEDGER_H

#include "record.h"

struct ledger {
    struct record *records;
    uint64_t length, capacity, floor;
    uint64_t commit; /**< The one in progress. */
    uint64_t next_identity;
    uint64_t sums[BUCKETS], total;
    bool touched[BUCKETS]; /**< Changed by this commit. */
};

/** Including the root and the anchors. */
void ledger_init(struct ledger *ledger, uint64_t floor);
void ledger_free(struct ledger *ledger);

/** Adds a record; the pointer is valid until the next one. */
const struct record *ledger_append(struct ledger *ledger);

/** Gives some fields of a record, one bit each, a new version. */
const struct record *ledger_modify(struct ledger *ledger, uint64_t index, unsigned fields);

/** Deletes by swap: the last record takes the place. */
void ledger_delete(struct ledger *ledger, uint64_t index);

/** Stores the sum of the anchor or the root, and the commit, in the record. */
const struct record *ledger_close_bucket(struct ledger *ledger, uint64_t bucket);
const struct record *ledger_close(struct ledger *ledger);

#endif
