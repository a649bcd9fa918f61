/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The work of a recorded child: the sessions of a dataset, chosen by a seed, through the
 * public interface.
 *
 * A mark precedes every operation, and every call that may commit is between two marks.
 */
#ifndef LX_TESTS_FAULTS_CRASH_JOB_H
#define LX_TESTS_FAULTS_CRASH_JOB_H

#include "records.h"

struct job {
    const char *path; /**< Of the dataset. */
    uint64_t seed;
    struct records *records;
    uint64_t serial; /**< Of the next value. */
    uint64_t commit; /**< Commits so far. */
    bool resumes;    /**< The dataset exists already; the job is short. */
    enum {
        JOB_USUAL,    /**< All kinds of operations. */
        JOB_SYNCS,    /**< A sync fails during changes of records. */
        JOB_FULL,     /**< The disk becomes full, has space again, and the dataset is sealed. */
        JOB_WORKERS,  /**< Several flush tasks write for many submitted commits; one finds the
                       *   disk full. */
        JOB_INSTALLS, /**< New generations, and changes of the schema. */
        JOB_KINDS
    } kind;
    bool may_be_sealed; /**< A job before this one may have sealed. */
    bool waits;         /**< Long enough for the timer of periodic durability. */
    bool many;          /**< One append is so large that its entries go to the tables. */
};

/** For record(): returns the exit status of the child. */
int job_run(void *job);

#endif
