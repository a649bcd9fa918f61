/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a dataset may be found as: made of the marks of a job, one after another.
 */
#ifndef LX_TESTS_FAULTS_HISTORY_H
#define LX_TESTS_FAULTS_HISTORY_H

#include "trace.h"

/** Records by their serials, in the order of their indices. */
struct version {
    uint32_t *serials;
    uint64_t length;
};

struct history {
    struct version *versions; /**< Each that may be found, oldest first; the first is empty. */
    size_t count;
    size_t capacity;
    size_t visible; /**< The newest acknowledged: what a kill must leave at least. */
    size_t durable; /**< The newest acknowledged to be durable. */
    struct version pending; /**< What is committed next. */
    uint64_t serials;       /**< All serials so far are below. */
    bool created, sealing, sealed;
    /** Whatever is there, it can be removed: until another dataset is made, since the end of a
     * removal is not synced. */
    bool removing;
    bool wrong; /**< A writer opened what was never committed. */
};

void history_init(struct history *history);
void history_free(struct history *history);
void history_copy(struct history *copy, const struct history *history);

void history_apply(struct history *history, const struct mark *mark);

/** Version @p found is what is there, also after the next loss of power. */
void history_settle(struct history *history, size_t found);

/** Version @p found is what is there, until the next loss of power at least. */
void history_reach(struct history *history, size_t found);

#endif
