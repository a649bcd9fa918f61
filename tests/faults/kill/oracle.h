/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The possible contents of the dataset of a killed writer, by its reports through a pipe.
 */
#ifndef LX_TESTS_FAULTS_KILL_ORACLE_H
#define LX_TESTS_FAULTS_KILL_ORACLE_H

#include "../crash/trace.h"
#include "values.h"

/** A requested operation. */
struct requested {
    struct operation operation;
    bool may_end;    /**< A commit may end after it. */
    uint64_t digest; /**< The digest of the dataset after it; known once the oracle has applied
                      *   it. */
};

struct
try {
    uint64_t number; /**< The number of a commit, and its number of operations. */
    size_t requested;
};

struct oracle {
    uint32_t *found; /**< The content of the dataset, VALUES_FIELDS for each record. */
    uint64_t length, capacity;
    uint64_t digest;
    uint64_t first_digest; /**< Before any operation. */
    uint32_t serial;       /**< The next. */

    struct requested *requested;
    size_t requested_count, requested_capacity;
    struct try *tries;
    size_t try_count, try_capacity;
    size_t acknowledged; /**< Number of committed operations. */
    uint64_t commits;    /**< Total of acknowledged ones. */
};

void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);

/** Receives a mark of the writer. */
void oracle_hear(struct oracle *oracle, const struct mark *mark);

/** The content must be the last acknowledged commit, or a later one. The next writer begins with
 * it. @param seen  Digests that a reader saw meanwhile, in order: each must be a commit, none
 * older than the one before. */
bool oracle_settle(struct oracle *oracle, lx_dataset *dataset, const uint64_t *seen, size_t count,
                   char *why, size_t size);

/** The dataset is a new one. */
void oracle_clear(struct oracle *oracle);

#endif
