/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files of a snapshot, and which of them are at a URL.
 */
#ifndef LX_REMOTE_FILE_LIST_H
#define LX_REMOTE_FILE_LIST_H

#include <string.h>

#include "zrecord/maintenance/snapshot-files.h"

typedef struct lx__listed_file {
    char *path; /**< Relative to the dataset. */
    bool is_chunk, is_table;
    uint64_t bytes;
    uint32_t crc;   /**< Of a table. */
    uint64_t there; /**< The number of bytes at the URL; LX_NONE: there is no such file. */
    char *etag;     /**< Of the one there; owned; NULL if there is none. */
    bool wanted;    /**< To be sent. */
} lx__listed_file;

typedef struct lx__file_list {
    lx__listed_file *files; /**< In the order of lx__snapshot_each_file(). */
    size_t count, capacity;
    lx__listed_file **sorted; /**< By path. */
    uint64_t bytes;           /**< Of all files. */
} lx__file_list;

/** Lists the files of a snapshot, except meta.json. */
lx_status lx__file_list_make(lx__file_list *list, const lx__snapshot *snapshot, lx_error *error);

/** Frees a list; does nothing if it is zeroed. */
void lx__file_list_free(lx__file_list *list);

/** Finds a file by its path; NULL if it is not in the list. */
lx__listed_file *lx__file_list_find(const lx__file_list *list, const char *path);

/** Whether a file of the list is below the folder whose path is the first @p length characters of
 * @p path, which end in a slash. */
bool lx__file_list_has_folder(const lx__file_list *list, const char *path, size_t length);

/** Whether a chunk is in the folder of the dataset's own chunks, not in a part. */
static inline bool lx__chunk_is_own(const char *path)
{
    return strncmp(path, LX__CHUNK_DIRECTORY "/", sizeof LX__CHUNK_DIRECTORY) == 0;
}

/** Whether a path has the form of one of a dataset in the folder whose name has @p owner bytes: that
 * of the URL, or one of its parts. Never that of the current meta.json, nor LOCK. */
bool lx__path_is_of_dataset(const char *path, size_t *owner);

/** Opens a file of the list, which must have its committed bytes. */
lx_status lx__listed_file_open(const lx__listed_file *file, const lx__snapshot *snapshot,
                               lx__file *opened, lx_error *error);

#endif
