/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files of a store that are read by pread: a few of them stay open.
 *
 * A dataset may have more files than a process may have descriptors. What is not in use is closed
 * when there are many, or when the system has no more, and opened again by its name: as long as a
 * reader's lock is held, the files of its generation stay where they are.
 */
#ifndef LX_ZRECORD_FILES_H
#define LX_ZRECORD_FILES_H

#include "zrecord/store/store.h"

/** Files of one store that stay open while nobody reads them; where only upkeep reads so, fewer. */
#define LX__FILES_MAX 64
#define LX__FILES_MAPPED_MAX 4

typedef enum lx__part { LX__PART_OFFSETS, LX__PART_CHECKS, LX__PART_CHUNK } lx__part;

/** Which file. */
typedef struct lx__file_name {
    lx__part part;
    uint32_t number;     /**< Position of the field, or id of the chunk. */
    uint32_t generation; /**< Of a table. */
    uint64_t bytes;      /**< Of a chunk: those that are committed; it is opened with them there. */
} lx__file_name;

/** An open one. */
typedef struct lx__open_file {
    lx__file file;
    lx__part part;
    uint32_t number;
    size_t users;  /**< The rest is under the store's mutex. */
    uint64_t used; /**< When, as the store counts. */
    struct lx__open_file *next;
} lx__open_file;

/** Opens the file, or finds it open; to be given back.
 * @retval LX_ERR_CORRUPT  It is absent, or a chunk that is too short. */
lx_status lx__files_take(lx__store *store, const lx__file_name *name, lx__open_file **file,
                         lx_error *error);

/** Gives it back; NULL is nothing. */
void lx__files_give(lx__store *store, lx__open_file *file);

/** Closes all, at the end of the store. */
void lx__files_close(lx__store *store);

#endif
