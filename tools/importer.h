/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Imports columns into a dataset in one transaction: all of their records, or none.
 */
#ifndef LX_TOOLS_IMPORTER_H
#define LX_TOOLS_IMPORTER_H

#include <loaderx/zrecord.h>

#include "column.h"
#include "progress.h"

/** An import. */
typedef struct importer {
    const char *path;           /**< The dataset. */
    bool append;                /**< Append to an existing dataset; otherwise create one. */
    bool seal;                  /**< Seal the dataset at the end. */
    lx_writer_options *options; /**< Borrowed, as is @ref executor. */
    lx_executor *executor;      /**< Its readers read the columns. */
    column *columns;            /**< Open; sorted into the order of the schema. */
    size_t count;               /**< Number of columns, at least one. */
    progress *bar;
    /* Results. */
    uint64_t first;  /**< Index of the first imported record. */
    uint64_t length; /**< Number of records in the dataset. */
    uint64_t bytes;  /**< Number of bytes read, after decompression. */
} importer;

/**
 * Runs the import. On failure, an existing dataset keeps its previous records; the files of a new
 * dataset are removed, and so is its directory if this call created it.
 *
 * @retval LX_ERR_CANCELED  A signal was received; see interrupt.h.
 * @retval LX_ERR_MISMATCH  The columns do not match each other or the dataset.
 * @return Otherwise, any status that lx_writer_create(), lx_writer_open(), column_read() or
 * lx_writer_extend() returns.
 */
lx_status importer_run(importer *self, lx_error *error);

#endif
