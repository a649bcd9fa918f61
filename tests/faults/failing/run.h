/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One run of a scenario with a fault: the possible results of each call, and the conditions
 * that must hold after the fault.
 */
#ifndef LX_TESTS_FAULTS_FAILING_RUN_H
#define LX_TESTS_FAULTS_FAILING_RUN_H

#include "inject.h"
#include "../plain.h"

/** How the failure of a call shows. */
enum seen {
    SEEN_AS_FAILURE, /**< A call may fail: it returns LX_ERR_IO and the errno, or LX_ERR_NOMEM. */
    SEEN_IF_LASTING, /**< A single failure does not show; a lasting one shows as above. */
    SEEN_NEVER       /**< It only costs speed. */
};

struct run {
    const char *path; /**< Of the dataset. */
    enum seen seen;
    struct fault fault;
    lx_error error;    /**< For the tested calls. */
    uint64_t failures; /**< Calls that failed so far. */
    bool poisoned;     /**< A writer reported that it is poisoned. */
    bool wrong;        /**< A call returned a wrong result. */
    char why[1400];

    /** The possible versions of the dataset, the newest last. */
    struct plain *versions;
    size_t count;
    size_t acknowledged;  /**< The oldest possible one. */
    bool exists;          /**< The existence of the dataset was acknowledged. */
    bool removing;        /**< It may be absent, or a remainder that can be removed. */
    struct plain pending; /**< The version that the writer would commit now. */
    uint32_t number;      /**< Of the next record. */
};

/** Continues from a dataset of this content; NULL: no dataset exists yet, or it does not matter. */
void run_begin(struct run *run, const char *path, const struct plain *plain);
void run_end(struct run *run);

/** Records the result of a call; returns true if it succeeded. @p call is its text. */
bool run_took(struct run *run, const char *call, lx_status status);

/** Makes a call with &run->error: true if it succeeded. */
#define TRY(run, call) run_took(run, #call, call)

/** The result of a call that returns no status: NULL only after a failure. */
#define TRY_NEW(run, pointer, call)                                                                \
    ((pointer) = (call), run_took(run, #call, (pointer) != NULL ? LX_OK : LX_ERR_NOMEM))

/** Reports a wrong result. */
void run_fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- actions of a writer */

/** Appends the next record to the pending version. */
const struct plain_record *run_make(struct run *run);

/** The pending version may be committed from now on; before a call that commits. */
void run_may_commit(struct run *run);

/** That call succeeded. */
void run_has_committed(struct run *run);

/** That call failed without any effect. */
void run_has_not_committed(struct run *run);

/** A rollback: the pending version becomes the last committed one. */
void run_forget(struct run *run);

/* ---- afterwards */

/** Without faults, the dataset must open, verify, be one of the possible versions, and be writable.
 * Returns false, and the reason, if not. */
bool run_check(struct run *run);

#endif
