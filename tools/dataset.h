/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Opens datasets, with advice in the error if opening fails.
 */
#ifndef LX_TOOLS_DATASET_H
#define LX_TOOLS_DATASET_H

#include <loaderx/zrecord.h>

/**
 * Opens a dataset for reading with pread.
 * @retval LX_ERR_ARGUMENT  @p path is not a directory.
 * @return Otherwise, any status that lx_dataset_open() returns.
 */
lx_status dataset_open(const char *path, lx_dataset **dataset, lx_error *error);

/** Like dataset_open(), for a dataset that may have damaged values. */
lx_status dataset_open_damaged(const char *path, lx_damage_policy damage, lx_dataset **dataset,
                               lx_error *error);

/** Like dataset_open(), with options; NULL: the defaults. The path may be a URL. */
lx_status dataset_open_with(const char *path, const lx_dataset_options *options,
                            lx_dataset **dataset, lx_error *error);

/** Whether an import into the dataset is not complete. */
bool dataset_is_incomplete(lx_dataset *dataset);

/** What to print about such a dataset. */
#define DATASET_INCOMPLETE "an import into the dataset is not complete, so records may be missing"

/** Adds advice about damage, unless the error already contains it. */
void dataset_advise_repair(lx_error *error);

/** Gets the identity of a dataset, and its number of records unless @p length is NULL. */
lx_status dataset_identify(const char *path, lx_dataset_identity *identity, uint64_t *length,
                           lx_error *error);

/** Opens a dataset for appending and sealing: like lx_writer_open(), but fails like dataset_open()
 * if @p path is not a directory. @p options may be NULL. */
lx_status dataset_open_writer(const char *path, const lx_writer_options *options,
                              lx_writer **writer, lx_error *error);

#endif
