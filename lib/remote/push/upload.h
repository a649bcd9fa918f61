/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sends files of a snapshot to a target, one after the other, and each in parts that are
 * under way at the same time.
 *
 * The threads of the target's queue read the parts, each into a buffer for as long as its attempt
 * takes: the memory is that of as many parts as there are connections. The next file begins when all
 * parts of the one before it are queued, so that the link is never idle, and few files are
 * unfinished at any time.
 */
#ifndef LX_REMOTE_UPLOAD_H
#define LX_REMOTE_UPLOAD_H

#include "remote/push/file-list.h"
#include "remote/push/target.h"

/** Called on the thread that called lx__upload_files(): @p bytes more were sent. */
typedef void lx__sent(void *user, uint64_t bytes);

/** Files to send. */
typedef struct lx__upload {
    lx__target *target;
    const lx__snapshot *snapshot;
    const lx__file_list *files; /**< Those are sent whose @c wanted is set. */
    lx__sent *sent;
    void *user;
} lx__upload;

/**
 * Sends files. After a failure, the target is canceled; what was sent completely stays.
 *
 * @retval LX_ERR_CORRUPT  A file is missing, is too short, or is a table with a wrong checksum.
 */
lx_status lx__upload_files(const lx__upload *upload, lx_error *error);

#endif
