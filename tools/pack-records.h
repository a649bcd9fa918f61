/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A RecordIO file and its index, which `loaderx pack` writes.
 *
 * Until they are complete, they have other names: FILE.pack-TAG, where the tag stands for what is
 * packed and how. After an interruption, the same command finds them by these names. The index is
 * not needed then: the header of a record has the id, which is the key.
 */
#ifndef LX_TOOLS_PACK_RECORDS_H
#define LX_TOOLS_PACK_RECORDS_H

#include <stdbool.h>

#include <loaderx/recordio.h>

#include "image-list.h"

/** What to do if there are files of the same name, complete or not. */
typedef enum pack_mode {
    PACK_NEW,    /**< Fail. */
    PACK_RESUME, /**< Continue those that are not complete; fail if they are. */
    PACK_REPLACE /**< Replace them. */
} pack_mode;

/** The files. Initialize with zeros. */
typedef struct pack_records {
    const char *path; /**< The records; borrowed. */
    char *index;      /**< Its index. */
    char *unfinished, *unfinished_index;
    lx_recordio_writer *writer;
    int lock; /**< -1: not locked. */
} pack_records;

/**
 * Names the files, and checks that they may be written; writes nothing.
 * @retval LX_ERR_EXISTS    They exist, and the mode is not to replace or to continue them.
 * @retval LX_ERR_ARGUMENT  @p path is not the name of a regular file.
 */
lx_status pack_records_name(pack_records *self, const char *path, uint32_t tag, pack_mode mode,
                            lx_error *error);

/** Keeps other processes from packing the same, until pack_records_free(). Lock the first file of
 * several. Returns #LX_ERR_BUSY if another process does so. */
lx_status pack_records_lock(pack_records *self, lx_error *error);

/**
 * Opens the files for writing.
 *
 * @param[in]  self   The files.
 * @param[in]  list   The images.
 * @param[in]  first  The first image of the file in the list.
 * @param[in]  count  The number of images of the file.
 * @param[in]  mode   Whether to continue.
 * @param[in]  gaps   Whether images may have been left out, because they are bad.
 * @param[out] done   The number of images that need not be packed again.
 * @param[out] error  The failure.
 */
lx_status pack_records_open(pack_records *self, const image_list *list, size_t first, size_t count,
                            pack_mode mode, bool gaps, size_t *done, lx_error *error);

/** Adds a record; a packer_take. */
lx_status pack_records_take(void *user, const image_entry *entry, const void *record, size_t size,
                            lx_error *error);

/** Closes the files, which are then durable, under their temporary names. Removes them if they are
 * empty and @p complete is false. */
lx_status pack_records_close(pack_records *self, bool complete, lx_error *error);

/** Gives the closed files their names. */
lx_status pack_records_install(pack_records *self, lx_error *error);

/** Releases the memory and the lock. */
void pack_records_free(pack_records *self);

#endif
