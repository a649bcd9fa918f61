/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The folders of a cache, one for each dataset.
 *
 * A folder is named after the uuid of its dataset. Whoever uses it holds a shared lock on byte 0 of
 * its file `use`, the time of which is when a process began to use it last. Whoever removes it
 * holds the exclusive lock, and renames the folder to .gone-<uuid> before it removes the files: so
 * a removal that is interrupted can be completed by any process, and nobody uses half a folder.
 */
#ifndef LX_REMOTE_CACHE_DATASETS_H
#define LX_REMOTE_CACHE_DATASETS_H

#include <time.h>

#include "base/file.h"
#include "zrecord/format/uuid.h"

/** The file with the lock. */
#define LX__CACHE_USE_NAME "use"

/** What is known about a folder. */
typedef struct lx__cache_folder {
    char uuid[LX__UUID_TEXT + 1];
    struct timespec last_use;
} lx__cache_folder;

/** The folders of a cache, the one that was used least recently first. */
typedef struct lx__cache_list {
    lx__cache_folder *folders;
    size_t count, capacity;
} lx__cache_list;

/**
 * Refuses a directory that contains files that do not belong to a cache.
 *
 * @param fresh  The directory is not known to be a cache: refuses folders of datasets, too.
 * @retval LX_ERR_STATE  It contains such files.
 */
lx_status lx__cache_check_names(const lx__file *directory, bool fresh, lx_error *error);

/**
 * Opens the folder of a dataset, makes it if it is absent, and locks it for use.
 *
 * @param use  Receives the file with the lock.
 * @retval LX_ERR_BUSY  It was being removed, or listed, for several seconds.
 */
lx_status lx__cache_folder_use(const lx__file *directory, const char *uuid, lx__file *folder,
                               lx__file *use, lx_error *error);

/**
 * Examines a folder.
 *
 * @param[out] bytes   How many bytes its files occupy.
 * @param[out] in_use  Whether a process uses it.
 * @param[out] url     Receives the dataset's URL, which is empty if it is unknown. Unprintable
 *                     bytes are replaced with '?'.
 */
lx_status lx__cache_folder_examine(const lx__file *directory, const lx__cache_folder *folder,
                                   uint64_t *bytes, bool *in_use, char *url, size_t url_size,
                                   lx_error *error);

/** Notes where the dataset is, for people. */
void lx__cache_folder_set_url(const lx__file *folder, const char *url);

/**
 * Renames the folder of a dataset that nobody uses, so that lx__cache_sweep() will remove it.
 *
 * @retval LX_ERR_BUSY       A process uses it.
 * @retval LX_ERR_NOT_FOUND  There is no such folder.
 */
lx_status lx__cache_folder_retire(const lx__file *directory, const char *uuid, lx_error *error);

/** Removes folders that were renamed. Adds to @p bytes how many bytes they occupied. */
lx_status lx__cache_sweep(const lx__file *directory, uint64_t *bytes, lx_error *error);

/** Adds to @p bytes how many bytes all folders occupy, including those that were renamed. */
lx_status lx__cache_count_bytes(const lx__file *directory, uint64_t *bytes, lx_error *error);

/** Lists the folders; free the list with lx__free(list->folders), also on failure. */
lx_status lx__cache_list_folders(const lx__file *directory, lx__cache_list *list, lx_error *error);

#endif
