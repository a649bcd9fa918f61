/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The file "PATH.import" next to a dataset, from which an interrupted import continues.
 *
 * The number of records in the dataset says how far the import got; this file says how many records
 * the dataset had after each input, and how many bad ones were skipped up to there. It is written
 * before the commit that it describes, so for each state in which the dataset can be found, the
 * file has all that came before. What it says about commits that were lost is ignored: those
 * lengths are larger than the length of the dataset.
 *
 * The first line is a JSON object; each further line has, for the next input, the length of the
 * dataset after it, a space, and the number of bad records. A last line without its line feed was
 * never needed.
 */
#ifndef LX_IMPORTER_IMPORT_STATE_H
#define LX_IMPORTER_IMPORT_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

/** What the import had done after an input. */
typedef struct lx__import_done {
    uint64_t length; /**< Of the dataset. */
    uint64_t bad;    /**< Records of all inputs so far that were skipped. */
} lx__import_done;

typedef struct lx__import_state {
    char *path;
    lx__file file;         /**< Closed: there is no such file. It is locked while it is open. */
    json_t *header;        /**< Of a file that was read; NULL: no import was interrupted. */
    uint64_t first;        /**< Length of the dataset before the import. */
    lx__import_done *done; /**< For each completed input; neither number decreases. */
    size_t count, capacity;
    size_t synced;       /**< Number of inputs in the file. */
    uint64_t file_size;  /**< Up to and including the last of these. */
    uint64_t header_end; /**< Size of the first line. */
} lx__import_state;

/**
 * Reads the file of the dataset @p path, if it exists. Call lx__import_state_close() afterwards,
 * even on failure.
 *
 * @retval LX_ERR_BUSY     Another import into the dataset is running.
 * @retval LX_ERR_CORRUPT  The file is damaged.
 */
lx_status lx__import_state_open(lx__import_state *self, const char *path, lx_error *error);

/** Closes the file. */
void lx__import_state_close(lx__import_state *self);

/**
 * Creates the file, or overwrites the one that was read, durably; @p header gets the member "first".
 *
 * @retval LX_ERR_BUSY  Another import created the file meanwhile, which is left as it is.
 */
lx_status lx__import_state_create(lx__import_state *self, json_t *header, uint64_t first,
                                  lx_error *error);

/** Forgets the inputs after which the dataset was longer than @p length, its length now. */
lx_status lx__import_state_trim(lx__import_state *self, uint64_t length, lx_error *error);

/** Notes that an input is complete; it is stored by the next lx__import_state_sync(). */
lx_status lx__import_state_add(lx__import_state *self, lx__import_done done, lx_error *error);

/** The last completed input; if there is none, the state before the import. */
lx__import_done lx__import_state_last(const lx__import_state *self);

/** Makes everything that was added durable. */
lx_status lx__import_state_sync(lx__import_state *self, lx_error *error);

/** Removes the file: the import is complete, or was not begun. */
lx_status lx__import_state_remove(lx__import_state *self, lx_error *error);

#endif
