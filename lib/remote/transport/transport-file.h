/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A transport for a directory of this machine or of a network file system.
 *
 * A connection keeps a few files open; a file that is replaced is noticed only when it is opened
 * again. Symbolic links are followed in the path of the dataset, but not within the dataset.
 *
 * A file is written under a temporary name in the same folder, NAME.0.new or the like, synced and
 * renamed, so that it is complete and durable whenever it is there. #LX__WRITE_IF_ABSENT makes the
 * name by a hard link, which fails if there is one, also for two writers on different hosts; file
 * systems without hard links are not supported for that. The ETag of #LX__WRITE_IF_MATCH is made of
 * time, length and inode, and compared right before the renaming: a file that another writer
 * renames between these two, or that an NFS client does not see yet, is replaced.
 */
#ifndef LX_REMOTE_TRANSPORT_FILE_H
#define LX_REMOTE_TRANSPORT_FILE_H

#include "remote/transport/transport.h"

/**
 * Makes a transport for the dataset in the directory @p path.
 *
 * @retval LX_ERR_NOT_FOUND  The directory does not exist.
 * @retval LX_ERR_IO         The directory cannot be opened.
 */
lx_status lx__transport_file_open(const char *path, lx__transport **transport, lx_error *error);

/** The same, but the directory need not exist: it is made with the first file that is written. */
lx_status lx__transport_file_open_for_writing(const char *path, lx__transport **transport,
                                              lx_error *error);

#endif
