/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the dataset of a writer that was killed may hold: what it said before, through a
 * pipe.
 */
#ifndef LX_TESTS_FAULTS_KILL_ORACLE_H
#define LX_TESTS_FAULTS_KILL_ORACLE_H

#include "../crash/trace.h"
#include "values.h"

/** An operation that was asked for. */
struct asked {
    struct operation operation;
    bool may_end;    /**< A commit may end after it. */
    uint64_t digest; /**< Of the dataset with it; known once the oracle has come there. */
};

struct
try {
    uint64_t number; /**< Of a commit, and what it takes: so many operations. */
    size_t asked;
};

struct oracle {
    uint32_t *found; /**< What the dataset holds, VALUES_FIELDS for each record. */
    uint64_t length, capacity;
    uint64_t digest;
    uint64_t first_digest; /**< Before anything was asked for. */
    uint32_t serial;       /**< The next. */

    struct asked *asked;
    size_t asked_count, asked_capacity;
    struct try *tries;
    size_t try_count, try_capacity;
    size_t acknowledged; /**< So many operations are committed. */
    uint64_t commits;    /**< Acknowledged ones, in all. */
};

void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);

/** Takes what the writer says. */
void oracle_hear(struct oracle *oracle, const struct mark *mark);

/**
 * What there is must be the last acknowledged commit, or a later one. Then it is what the next
 * writer begins with.
 * @param seen  Digests that a reader saw meanwhile, one after another: each a commit, none older
 *              than the one before.
 */
bool oracle_settle(struct oracle *oracle, lx_dataset *dataset, const uint64_t *seen, size_t count,
                   char *why, size_t size);

/** There is a new dataset. */
void oracle_restart(struct oracle *oracle);

#endif
