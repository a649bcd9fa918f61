/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Opening a dataset, with advice where that fails.
 */
#ifndef LX_TOOLS_DATASET_H
#define LX_TOOLS_DATASET_H

#include <loaderx/zrecord.h>

/**
 * Opens a dataset to read it by pread.
 * @retval LX_ERR_ARGUMENT  @p path is no directory.
 * @return Else as lx_dataset_open().
 */
lx_status dataset_open(const char *path, lx_dataset **dataset, lx_error *error);

/** As dataset_open(), for a dataset that may have damaged values. */
lx_status dataset_open_damaged(const char *path, lx_damage_policy damage, lx_dataset **dataset,
                               lx_error *error);

/** As dataset_open(), with options; NULL: the defaults. */
lx_status dataset_open_with(const char *path, const lx_dataset_options *options,
                            lx_dataset **dataset, lx_error *error);

/** Advises what to do where a dataset cannot be opened. */
void dataset_advise_open(lx_error *error);

/** Advises what to do about damage, once. */
void dataset_advise_repair(lx_error *error);

/** What a dataset is now, and how many records it has (NULL: that is not asked for). */
lx_status dataset_identify(const char *path, lx_dataset_identity *identity, uint64_t *length,
                           lx_error *error);

/** Opens a dataset for appending and sealing: as lx_writer_open(), but for what is no directory as
 * dataset_open(). @p options may be NULL. */
lx_status dataset_open_writer(const char *path, const lx_writer_options *options,
                              lx_writer **writer, lx_error *error);

#endif
