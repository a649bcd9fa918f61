/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A running job: job.c has its sessions, steps.c their steps, reader.c the readers, share.c
 * submitted and shared commits.
 */
#ifndef LX_TESTS_FAULTS_CRASH_LIFE_H
#define LX_TESTS_FAULTS_CRASH_LIFE_H

#include "job.h"
#include "trace.h"

/** Commits that were submitted and not yet waited for. */
#define LIFE_TICKETS 8

struct promise {
    lx_ticket *ticket;
    uint64_t number; /**< Of the commit. */
    bool void_;      /**< A later call failed: the commit may be lost. */
};

struct life {
    const struct job *job;
    struct rng rng;
    uint64_t serial;
    uint64_t commits;
    lx_durability durability;
    lx_executor *executor; /**< NULL: the writer has its own. */
    lx_writer *writer;
    lx_dataset *pinned; /**< A pinned reader, or NULL. */
    uint64_t pinned_digest;
    struct promise promises[LIFE_TICKETS];
    size_t promised;
    bool many;
    unsigned sessions; /**< So far. */
    bool fails;        /**< A sync of this session will fail, or has failed. */
    bool full;         /**< The disk becomes full in this session. */
    bool filled;       /**< It was full, and has space again. */
    bool seals;        /**< Sealing was tried: after a failure, the dataset may or may not be
                        *   sealed. */
    bool over;         /**< The dataset is sealed. */
};

/* ---- steps.c */

/** Ends the job with an error. */
_Noreturn void life_refuse(const char *what, const lx_error *error);

/** Whether a call succeeded. Only a session with a failing sync or a full disk may see a failure.
 * After a failed sync the writer is closed; after a full disk, all uncommitted operations are
 * rolled back. */
bool life_worked(struct life *life, lx_status status, const char *what, const lx_error *error);

/** Chooses an operation that is possible. */
struct operation life_choose(struct life *life);

/** Marks an operation and performs it; the caller checks the result. */
lx_status life_do(struct life *life, uint32_t flags, const struct operation *operation,
                  lx_error *error);

/** One step of a session. Returns false if the writer was closed or rolled back. */
bool life_step(struct life *life);

/** Checkpoint, rebalance or a change of the schema, while readers use the old files. */
bool life_switch(struct life *life);

/** MARK_DURABLE if commits of this writer are durable. */
uint32_t life_durable(const struct life *life);

/* ---- reader.c */

/** The digest of the content that a new reader sees. */
uint64_t life_look(struct life *life);

/** Opens a pinned reader, which must be able to read later what it has not read yet. */
void life_pin(struct life *life);

/** The pinned reader must see the same content. */
void life_check_pinned(struct life *life);

/** Closes the pinned reader, if there is one. */
void life_unpin(struct life *life);

/* ---- share.c */

/** Submits a few commits, each with new operations. */
bool life_submit(struct life *life);

/** Waits for all submitted commits. */
bool life_wait(struct life *life);

/** Two threads operate and commit. */
bool life_share(struct life *life);

/** A call failed: submitted commits may be lost. */
void life_void_promises(struct life *life);

#endif
