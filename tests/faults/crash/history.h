/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a dataset may be found as: made of the marks of a job, one after another.
 */
#ifndef LX_TESTS_FAULTS_CRASH_HISTORY_H
#define LX_TESTS_FAULTS_CRASH_HISTORY_H

#include "trace.h"

struct candidate {
    struct version version;
    uint64_t commit; /**< The last commit that asked for no more than this. */
};

struct history {
    struct records *records;
    struct candidate *list; /**< Each that may be found, oldest first; the first is empty. */
    size_t count;
    size_t capacity;
    size_t visible;         /**< The newest acknowledged: what a kill must leave at least. */
    size_t durable;         /**< The newest acknowledged to be durable. */
    struct version pending; /**< What is committed next. */
    struct version pinned;  /**< What a reader of the job sees. */
    uint64_t serials;       /**< All serials so far are below. */
    uint64_t commits;       /**< All commits so far are at or below. */
    bool created, sealing, sealed;
    /** Whatever is there, it can be removed: until another dataset is made, since the end of a
     * removal is not synced. */
    bool removing;
    const char *wrong; /**< What the job saw, and never was; NULL: nothing. */
};

void history_init(struct history *history, struct records *records);
void history_free(struct history *history);
void history_copy(struct history *copy, const struct history *history);

void history_apply(struct history *history, const struct mark *mark);

/** Candidate @p found is what is there, also after the next loss of power. */
void history_settle(struct history *history, size_t found);

/** Candidate @p found is what is there, until the next loss of power at least. */
void history_reach(struct history *history, size_t found);

/** The newest candidate of those from @p first on with that digest; their number if none has it. */
size_t history_find(const struct history *history, size_t first, uint64_t digest);

#endif
