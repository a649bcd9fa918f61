/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Bytes on their way to a file: while a thread of the executor writes some, the next are put
 * together.
 */
#ifndef LX_ZRECORD_BLOCK_WRITER_H
#define LX_ZRECORD_BLOCK_WRITER_H

#include <pthread.h>

#include "base/file.h"
#include "executor/task.h"

/** What is written at once. */
#define LX__BLOCK_WRITER_BYTES ((size_t)8 << 20)

/** Used by one thread. */
typedef struct lx__block_writer {
    uint8_t *data; /**< The next bytes, */
    size_t used;   /**< and how many there are, at most LX__BLOCK_WRITER_BYTES. */

    /* Those that are being written; the task's while it is under way. */
    uint8_t *written;
    size_t size;
    const lx__file *file;
    uint64_t start;
    lx_status status;
    lx_error error;

    lx_executor *executor; /**< Borrowed. */
    lx__task task;
    pthread_mutex_t mutex; /**< For under_way. A leaf. */
    pthread_cond_t over;
    bool under_way;
} lx__block_writer;

/** Takes memory. It is to be closed whatever comes of that. */
lx_status lx__block_writer_open(lx__block_writer *output, lx_executor *executor, lx_error *error);

/** Has the bytes written at @p start of @p file, which stays open until lx__block_writer_wait().
 * Fails if those before could not be written. */
lx_status lx__block_writer_write(lx__block_writer *output, const lx__file *file, uint64_t start,
                                 lx_error *error);

/** Waits until all that lx__block_writer_write() was given is written; a failure is told once. */
lx_status lx__block_writer_wait(lx__block_writer *output, lx_error *error);

/** Ends it, when what is under way is over. One that was never opened must be zero. */
void lx__block_writer_close(lx__block_writer *output);

#endif
