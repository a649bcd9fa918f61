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
#define LX__OUTPUT_BYTES ((size_t)8 << 20)

/** Used by one thread. */
typedef struct lx__output {
    uint8_t *data; /**< The next bytes, */
    size_t used;   /**< and how many there are, at most LX__OUTPUT_BYTES. */

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
} lx__output;

/** Takes memory. It is to be closed whatever comes of that. */
lx_status lx__output_open(lx__output *output, lx_executor *executor, lx_error *error);

/** Has the bytes written at @p start of @p file, which stays open until lx__output_wait(). Fails if
 * those before could not be written. */
lx_status lx__output_write(lx__output *output, const lx__file *file, uint64_t start,
                           lx_error *error);

/** Waits until all that lx__output_write() was given is written; a failure is told once. */
lx_status lx__output_wait(lx__output *output, lx_error *error);

/** Ends it, when what is under way is over. One that was never opened must be zero. */
void lx__output_close(lx__output *output);

#endif
