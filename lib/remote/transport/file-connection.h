/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The transport for directories and its connections: what its files that read and write have
 * in common.
 */
#ifndef LX_REMOTE_FILE_CONNECTION_H
#define LX_REMOTE_FILE_CONNECTION_H

#include <stdatomic.h>

#include "base/file.h"
#include "remote/transport/transport-writing.h"

/* A dataset is read from one chunk and one table for each field at a time, or few more. */
#define LX__OPEN_FILES 8

/** Bytes to move between two looks at whether a transport was interrupted. */
#define LX__FILE_STEP ((size_t)1 << 20)

typedef struct lx__file_transport {
    lx__transport base;
    atomic_bool interrupted;
} lx__file_transport;

/** A file that a connection keeps open. */
typedef struct lx__open_file {
    lx__file file;
    char *name; /* relative to the dataset; NULL: none is open here */
    uint64_t used;
} lx__open_file;

typedef struct lx__file_connection {
    lx__connection base;
    lx__file directory; /* closed until it is needed */
    lx__open_file files[LX__OPEN_FILES];
    uint64_t clock; /* incremented at each use of a file */
} lx__file_connection;

/** Where a file is: in an open folder. Must not be moved. */
typedef struct lx__file_place {
    const lx__file *parent;
    const char *name; /* in the folder */
    lx__file folder;  /* the parent, unless that is the folder of the transport */
} lx__file_place;

/**
 * Opens the folder of the file @p path, one folder after the other, because the system would follow
 * symbolic links in the path of a folder.
 *
 * @param make   Makes the folders that do not exist, that of the transport included.
 * @param place  Refers to @p path. Closed on failure.
 * @retval LX_ERR_ARGUMENT   The path is not that of a file below the transport's folder.
 * @retval LX_ERR_NOT_FOUND  A folder does not exist.
 */
lx_status lx__file_place_open(lx__file_connection *connection, const char *path, bool make,
                              lx__file_place *place, lx_error *error);
void lx__file_place_close(lx__file_place *place);

/** Opens the folder of the transport, if it is not open. */
lx_status lx__file_connection_open_root(lx__file_connection *self, bool make, lx_error *error);

/** Fails with #LX_ERR_CANCELED if the transport was interrupted. */
lx_status lx__file_connection_check(const lx__file_connection *self, lx_error *error);

/** Says whether to repeat an attempt that has failed. */
lx__retry lx__file_get_retry(const lx_error *failure);

/** The functions that write: transport-file-writing.c. */
extern const lx__transport_writing lx__file_writing;

#endif
