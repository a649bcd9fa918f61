/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A transport for a directory of this machine or of a network file system.
 *
 * A connection keeps a few files open; a file that is replaced is noticed only when it is opened
 * again. Symbolic links are followed in the path of the dataset, but not within the dataset.
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

#endif
