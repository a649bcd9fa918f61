/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Creates a dataset, and checks where that is allowed. See doc/zrecord-format.md, 10.1.
 */
#ifndef LX_ZRECORD_CREATE_H
#define LX_ZRECORD_CREATE_H

#include "base/file.h"
#include "zrecord/format/meta.h"
#include "zrecord/wal/replay.h"

/**
 * Fails if the directory is on a network file system, where writing is not safe.
 * @retval LX_ERR_UNSUPPORTED  The directory is on a network file system, which the error names.
 */
lx_status lx__check_local(const lx__file *directory, lx_error *error);

/** Like lx__check_local(), for a path that does not have to exist. */
lx_status lx__check_local_path(const char *path, lx_error *error);

/**
 * Fails if the directory is that of a dataset or of its chunks, where no other files may be
 * created.
 * @retval LX_ERR_ARGUMENT  The directory is that of a dataset or of its chunks.
 */
lx_status lx__check_no_dataset(const lx__file *directory, lx_error *error);

/** Like lx__check_no_dataset(), for the directory that would contain @p path. */
lx_status lx__check_outside(const char *path, lx_error *error);

/**
 * Creates the directory @p path, or reuses a directory that contains only files left by an
 * interrupted creation. Locks the directory and clears it.
 * @retval LX_ERR_EXISTS  The directory contains a dataset or other files.
 */
lx_status lx__create_directory(const char *path, lx__file *directory, lx__file *lock,
                               lx_error *error);

/**
 * Like lx__create_directory(), for a dataset that is joined from @p count parts: their folders
 * @p parts, which are relative to @p path, may be there. Files left by an interrupted join are
 * removed; its meta.json.new, which must be the first file that a join writes, marks them.
 */
lx_status lx__create_joined_directory(const char *path, const char *const *parts, uint64_t count,
                                      lx__file *directory, lx__file *lock, lx_error *error);

/** Makes a directory's entry in its parent directory durable. */
lx_status lx__sync_parent(const lx__file *directory, lx_error *error);

/** Makes a directory a dataset: renames its meta.json.new to meta.json, once all names are durable.
 * All other files must be. If this fails, there is still only meta.json.new. */
lx_status lx__create_finish(const lx__file *directory, lx_error *error);

/** Creates the WAL of the generation in @p meta, with a snapshot frame of @p state, which must not
 * be in a log yet and must have no updates. Makes everything durable except the directory entry. */
lx_status lx__create_log(const lx__file *directory, const lx__meta *meta, const lx__state *state,
                         lx_error *error);

/** Creates the files of an empty dataset, meta.json last, and makes all of them durable. */
lx_status lx__create_files(const lx__file *directory, const lx__meta *meta, lx_error *error);

#endif
