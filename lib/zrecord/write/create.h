/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Creation of a dataset, and where one may be created. See doc/zrecord-format.md, 10.1.
 */
#ifndef LX_ZRECORD_CREATE_H
#define LX_ZRECORD_CREATE_H

#include "base/file.h"
#include "zrecord/format/meta.h"

/** Fails on a network file system, where nothing can be written.
 * @retval LX_ERR_UNSUPPORTED  It is one; the error names it. */
lx_status lx__check_local(const lx__file *directory, lx_error *error);

/** The same of a path, which need not be there. */
lx_status lx__check_local_path(const char *path, lx_error *error);

/** Fails in the directory of a dataset, or of its chunks, where nothing else is put.
 * @retval LX_ERR_ARGUMENT  It is one. */
lx_status lx__check_no_dataset(const lx__file *directory, lx_error *error);

/** The same of the directory in which @p path would lie. */
lx_status lx__check_outside(const char *path, lx_error *error);

/**
 * Makes or takes over the directory @p path, which may have nothing in it but what an interrupted
 * creation left, locks it, and clears it.
 * @retval LX_ERR_EXISTS  There is a dataset, or something else.
 */
lx_status lx__create_directory(const char *path, lx__file *directory, lx__file *lock,
                               lx_error *error);

/** Makes the entry of a directory durable, in the directory that holds it. */
lx_status lx__sync_parent(const lx__file *directory, lx_error *error);

/** Makes the files of an empty dataset in that directory, all durable; meta.json comes last. */
lx_status lx__create_files(const lx__file *directory, const lx__meta *meta, lx_error *error);

#endif
