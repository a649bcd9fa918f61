/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A part of a verification: a range of records, or a file, checked on any thread.
 *
 * The files are numbered: the dictionary of each field, of a sealed dataset both tables of each
 * field, and the chunks.
 */
#ifndef LX_ZRECORD_VERIFY_JOB_H
#define LX_ZRECORD_VERIFY_JOB_H

#include <loaderx/maintenance.h>

#include "zrecord/read/checker.h"

/** The most findings that a job keeps. Then it returns, and continues after they are reported. */
#define LX__FOUND_MAX 64
/** Not a file: the job is a range of records. */
#define LX__NO_FILE SIZE_MAX

/** A finding, and the results of its job up to then. */
typedef struct lx__found {
    lx_error error;
    size_t file;    /**< The file's number; LX__NO_FILE: it is the value */
    size_t field;   /**< of this field */
    uint64_t index; /**< in this record. */
    lx_verify_result sums;
} lx__found;

/** A job. Zero all members but the first ones. */
typedef struct lx__verify_job {
    lx__checker checker;        /**< Of the snapshot. */
    const lx__state *committed; /**< What files are compared with, */
    bool sealed;                /**< and with the seal. */
    size_t file;                /**< Number of a file, or LX__NO_FILE. */
    uint64_t index, end;        /**< The records that are left. */
    lx__found *found;           /**< NULL, or room for LX__FOUND_MAX; the caller frees it. */

    size_t field; /**< Of record @ref index, where it continues. */
    size_t found_count;
    lx_verify_result sums; /**< Of all runs so far; without damages. */
    lx_error failure;      /**< Why it could not continue. */
} lx__verify_job;

/** The number of files to check. */
size_t lx__verify_files(const lx__snapshot *snapshot, bool sealed);

/** The number of the first chunk's file; the others follow in the order of the snapshot. */
size_t lx__verify_first_chunk(const lx__snapshot *snapshot, bool sealed);

/**
 * Checks what is left, to the end or until #LX__FOUND_MAX damages are found; those of the last run
 * are dropped. It is at its end where index is.
 * @return The status of a failure that is not a damage, which @ref lx__verify_job.failure reports.
 *         A value that the disk does not return (EIO) is a damage.
 */
lx_status lx__verify_run(lx__verify_job *job);

#endif
