/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Puts columns into a dataset, as one transaction: all of their records, or none.
 */
#ifndef LX_TOOLS_IMPORTER_H
#define LX_TOOLS_IMPORTER_H

#include <loaderx/zrecord.h>

#include "column.h"
#include "progress.h"

/** What is to be done. */
typedef struct importer {
    const char *path;            /**< The dataset. */
    bool append;                 /**< It is there; else it is made. */
    bool seal;                   /**< At the end. */
    lx_writer_options *options;  /**< Owned by the caller, as is @ref executor. */
    lx_executor *executor;       /**< Its readers read the columns. */
    column *columns;             /**< Opened; brought into the dataset's order. */
    size_t count;                /**< Of columns, at least one. */
    progress *bar;
    /* What was done. */
    uint64_t first;  /**< Index of the first record. */
    uint64_t length; /**< Records of the dataset. */
    uint64_t bytes;  /**< That were read, inflated. */
} importer;

/**
 * Does it. A failure leaves a dataset that is appended to with the records that it had, and nothing
 * of a new one; its directory goes if it was made here.
 *
 * @retval LX_ERR_CANCELED  A signal came; see interrupt.h.
 * @retval LX_ERR_MISMATCH  The columns do not fit each other, or the dataset.
 * @return Else as lx_writer_create() or lx_writer_open(), column_read(), and lx_writer_extend().
 */
lx_status importer_run(importer *self, lx_error *error);

#endif
