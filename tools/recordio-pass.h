/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A pass over the records of RecordIO files: its progress, and what it has read.
 */
#ifndef LX_TOOLS_RECORDIO_PASS_H
#define LX_TOOLS_RECORDIO_PASS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <loaderx/recordio.h>

#include "progress.h"

/** Called for a damaged place. */
typedef lx_status recordio_damaged(void *user, const lx_error *damage, lx_error *error);

/** A pass over one or more files. */
typedef struct recordio_pass {
    bool skip, quiet;
    recordio_damaged *damaged;   /**< Takes each damage, so that the pass continues; initially
                                      NULL. */
    const char *advice;          /**< About damage; initially, to use --skip. */
    lx_recordio_reader *reader;  /**< Of the current file. */
    uint64_t records, bytes;     /**< What was read of all files. */
    lx_recordio_skipped skipped; /**< What was passed over in them. */
    uint64_t before, total;      /**< Bytes of the files before, and of all; UINT64_MAX: unknown. */
    progress bar;
} recordio_pass;

/** Starts a pass, whose name is @p job; @p skip says whether it passes over damage. */
void recordio_pass_begin(recordio_pass *self, const char *job, bool skip, bool quiet);

/** Adds a file to the expected progress. */
void recordio_pass_expect(recordio_pass *self, const char *path);

/** Called for each record; @c records of the pass includes it. */
typedef lx_status recordio_visit(void *user, const recordio_pass *pass,
                                 const lx_recordio_record *record, lx_error *error);

/** Reads the records of a file; a signal ends the call, if signals are caught. */
lx_status recordio_pass_read(recordio_pass *self, const char *path, recordio_visit *visit,
                             void *user, lx_error *error);

/** Prints a line that says what the pass has read, or written to @p path, unless it is quiet. */
void recordio_pass_print(const recordio_pass *self, const char *path, FILE *to);

/** Makes the name of the index of a file: .idx in place of .rec. Free it with free(). Returns NULL
 * if memory runs out. */
char *recordio_name_index(const char *path);

/** Fails if @p path cannot be the name of a file that appears when it is complete, or if it exists
 * and is not to be replaced. */
lx_status recordio_check_output(const char *path, bool replace, lx_error *error);

#endif
