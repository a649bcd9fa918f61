/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A job that is under way: job.c has its sessions, steps.c what happens in one, reader.c its
 * readers, share.c its commits that nobody waits for at once.
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
    bool void_;      /**< Something failed since: it need not be kept. */
};

struct life {
    const struct job *job;
    struct dice dice;
    uint64_t serial;
    uint64_t commits;
    lx_durability durability;
    lx_executor *executor; /**< NULL: the writer has one of its own. */
    lx_writer *writer;
    lx_dataset *pinned; /**< A reader that stays; or NULL. */
    uint64_t pinned_digest;
    struct promise promises[LIFE_TICKETS];
    size_t promised;
    bool many;
    unsigned sessions; /**< So far. */
    bool fails;        /**< A sync of this session is to fail, or has. */
    bool full;         /**< The disk is to become full in this session. */
    bool filled;       /**< It was, and is not now. */
    bool seals;        /**< Sealing was tried: after a failure it is open whether it is sealed. */
    bool over;         /**< It is. */
};

/* ---- steps.c */

/** Ends the job: what it met must not happen. */
_Noreturn void life_refuse(const char *what, const lx_error *error);

/**
 * Whether a call has worked. Only a session in which a sync fails, or the disk is full, may see one
 * fail. After a sync the writer is done with, and closed; after the other, all that is not
 * committed, and it is undone.
 */
bool life_worked(struct life *life, lx_status status, const char *what, const lx_error *error);

/** Asks for an operation that fits. */
struct operation life_choose(struct life *life);

/** Marks an operation and does it; the caller looks at the outcome. */
lx_status life_do(struct life *life, uint32_t flags, const struct operation *operation,
                  lx_error *error);

/** One step of a session. False when the writer cannot be used any more, or was rolled back. */
bool life_step(struct life *life);

/** Fold, rebalance, other fields: new files in place of old ones, while readers have those. */
bool life_switch(struct life *life);

/** MARK_DURABLE if a commit of this writer is durable. */
uint32_t life_durable(const struct life *life);

/* ---- reader.c */

/** The digest of what a new reader sees. */
uint64_t life_look(struct life *life);

/** Another reader that stays. What it has not read yet it must be able to read later. */
void life_pin(struct life *life);

/** The reader that stays must see what it saw. */
void life_check_pinned(struct life *life);

/** Ends it, if there is one. */
void life_unpin(struct life *life);

/* ---- share.c */

/** Submits a few commits, each with something new. */
bool life_submit(struct life *life);

/** Waits for all that was submitted. */
bool life_wait(struct life *life);

/** Two threads ask and commit. */
bool life_share(struct life *life);

/** Something has failed: what was submitted need not be committed. */
void life_void_promises(struct life *life);

#endif
