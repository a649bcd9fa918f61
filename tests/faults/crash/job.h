/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a recorded child does: a life of a dataset, chosen by a seed, as a user of the public
 * interface would lead it.
 *
 * Every operation stands after its mark, and every call that may commit between two marks.
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
    bool resumes;    /**< The dataset is there already; the life is a short one. */
    enum {
        JOB_USUAL,    /**< Anything may happen, now and then. */
        JOB_SYNCS,    /**< A sync fails while records are changed. */
        JOB_FULL,     /**< The disk becomes full, has room again, and the dataset is sealed. */
        JOB_LANES,    /**< Several lanes place what many commits submit; one finds the disk full. */
        JOB_SWITCHES, /**< New generations, and other fields. */
        JOB_KINDS
    } kind;
    bool may_be_sealed; /**< A job before this one was about to. */
    bool waits;         /**< Long enough for the clock of periodic durability. */
    bool many;          /**< One append is so large that its entries go to the tables at once. */
};

/** For record(): returns the status with which the child exits. */
int job_run(void *job);

#endif
