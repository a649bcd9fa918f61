/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The versions that a dataset may have, computed from the marks of a job.
 */
#ifndef LX_TESTS_FAULTS_CRASH_HISTORY_H
#define LX_TESTS_FAULTS_CRASH_HISTORY_H

#include "trace.h"

/** The number of changes of each field, by the id of the field; see changes.h. */
struct changes {
    size_t count; /**< 0: not seen yet. */
    struct {
        uint32_t field;
        uint64_t number;
    } list[RECORDS_FIELDS];
};

struct candidate {
    struct version version;
    uint64_t commit; /**< The last commit that requests no more than this. */
    struct changes changes;
};

struct history {
    struct records *records;
    struct candidate *list; /**< Each version that may be found, oldest first; the first is
                             *   empty. */
    size_t count;
    size_t capacity;
    size_t visible;         /**< The newest acknowledged one: the oldest that may be found after
                             *   a kill. */
    size_t durable;         /**< The newest one that was acknowledged as durable. */
    struct version pending; /**< The version of the next commit. */
    struct version pinned;  /**< The version that a reader of the job sees. */
    uint64_t serials;       /**< All serial numbers so far are below this. */
    uint64_t commits;       /**< All commits so far are at or below this. */
    bool copies;            /**< Records were copied, so changed records may have equal values. */
    bool created, sealing, sealed;
    /** The dataset can be absent or present until another one is created: the end of a removal is
     * not synced. */
    bool removing;
    const char *wrong; /**< A content that the job saw although it was never committed; NULL:
                        *   none. */
};

void history_init(struct history *history, struct records *records);
void history_free(struct history *history);
void history_copy(struct history *copy, const struct history *history);

void history_apply(struct history *history, const struct mark *mark);

/** Candidate @p found was found, and survives the next power loss. */
void history_settle(struct history *history, size_t found);

/** Candidate @p found was found, and is kept at least until the next power loss. */
void history_reach(struct history *history, size_t found);

/** Whether another candidate has the content of candidate @p found. */
bool history_is_ambiguous(const struct history *history, size_t found);

/** The newest candidate from @p first on with that digest; the number of candidates if none has
 * it. */
size_t history_find(const struct history *history, size_t first, uint64_t digest);

#endif
