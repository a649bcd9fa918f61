/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Merging RecordIO files, and their indexes, into one.
 */
#ifndef LX_TOOLS_RECORDIO_MERGE_H
#define LX_TOOLS_RECORDIO_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/status.h>

/** What to merge. */
typedef struct recordio_merge {
    const char *path, *index; /**< The files to make. */
    const char *const *inputs;
    size_t input_count;
    bool renumber; /**< The keys are the numbers of the records, and the inputs need no index. */
    bool skip;     /**< Passes over damage. */
    bool replace;  /**< Replaces existing files. */
    bool quiet;
} recordio_merge;

/**
 * Copies the records of the inputs. The files appear when they are complete, the index last.
 *
 * @retval LX_ERR_CORRUPT   An input is damaged or was cut.
 * @retval LX_ERR_EXISTS    A file exists, and is not to be replaced; or a key is in two inputs.
 * @retval LX_ERR_MISMATCH  The index of an input does not describe it.
 */
lx_status recordio_merge_run(const recordio_merge *self, lx_error *error);

#endif
