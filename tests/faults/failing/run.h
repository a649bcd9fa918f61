/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One run of a scenario in which something fails: what each call may answer, and what must
 * hold once nothing fails any more.
 */
#ifndef LX_TESTS_FAULTS_FAILING_RUN_H
#define LX_TESTS_FAULTS_FAILING_RUN_H

#include "inject.h"
#include "../plain.h"

/** How the failure of a call is seen. */
enum seen {
    SEEN_AS_FAILURE, /**< A call may fail of it: then it says so, by LX_ERR_IO and the errno, or by
                          LX_ERR_NOMEM. */
    SEEN_IF_LASTING, /**< Once, it is not seen at all; from then on, as the above. */
    SEEN_NEVER       /**< It costs speed alone. */
};

struct run {
    const char *path; /**< Of the dataset. */
    enum seen seen;
    struct fault fault;
    lx_error error;    /**< For the calls that are tried. */
    uint64_t failures; /**< Calls that failed so far. */
    bool poisoned;     /**< A writer said that it is. */
    bool wrong;        /**< A call answered what it must not. */
    char why[1400];

    /** What there is, and what may be: the dataset is one of these, the newest last. */
    struct plain *versions;
    size_t count;
    size_t acknowledged;  /**< The oldest that it may be. */
    bool exists;          /**< That there is a dataset was acknowledged. */
    bool removing;        /**< It may be gone, or be a remainder that can be removed. */
    struct plain pending; /**< What the writer would commit now. */
    uint32_t number;      /**< Of the next record. */
};

/** Continues from a dataset of these contents; NULL: none exists yet, or it does not count. */
void run_begin(struct run *run, const char *path, const struct plain *plain);
void run_end(struct run *run);

/** Notes how a call answered; true if it did what it says. @p call is its text. */
bool run_took(struct run *run, const char *call, lx_status status);

/** Tries a call that gets &run->error: true if it did what it says. */
#define TRY(run, call) run_took(run, #call, call)

/** What a call that returns no status gives: NULL may only come of a failure. */
#define TRY_NEW(run, pointer, call)                                                                \
    ((pointer) = (call), run_took(run, #call, (pointer) != NULL ? LX_OK : LX_ERR_NOMEM))

/** Something is not as it must be. */
void run_fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- what a writer does */

/** The next record, put after the pending ones. */
const struct plain_record *run_make(struct run *run);

/** What is pending may be there from now on; before a call that commits. */
void run_may_commit(struct run *run);

/** That call succeeded. */
void run_has_committed(struct run *run);

/** It failed in a way that leaves things as they were. */
void run_has_not_committed(struct run *run);

/** A rollback: what is pending is what was committed last. */
void run_forget(struct run *run);

/* ---- afterwards */

/** Nothing fails now: the dataset opens, verifies, is one of the versions that it may be, and can
 * be written on. False, and why, if not. */
bool run_check(struct run *run);

#endif
