/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the writer knows of the dataset: which version of what each record is, and the sums
 * that the root and the anchors are to have.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_LEDGER_H
#define LX_TESTS_FAULTS_CONCURRENT_LEDGER_H

#include "record.h"

struct ledger {
    struct record *records;
    uint64_t length, capacity, floor;
    uint64_t commit; /**< That is being made. */
    uint64_t next_identity;
    uint64_t sums[BUCKETS], total;
    bool touched[BUCKETS]; /**< By this commit. */
};

/** With the root and the anchors. */
void ledger_init(struct ledger *ledger, uint64_t floor);
void ledger_free(struct ledger *ledger);

/** Adds a record; the pointer is valid until the next one. */
const struct record *ledger_append(struct ledger *ledger);

/** Gives some fields of a record, a bit each, a new version. */
const struct record *ledger_modify(struct ledger *ledger, uint64_t index, unsigned fields);

/** Puts the last record in its place. */
void ledger_delete(struct ledger *ledger, uint64_t index);

/** Takes the anchor's sum, or the root's, and the commit into the record. */
const struct record *ledger_close_bucket(struct ledger *ledger, uint64_t bucket);
const struct record *ledger_close(struct ledger *ledger);

#endif
