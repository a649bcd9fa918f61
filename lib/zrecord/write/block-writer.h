/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writes to a file: a thread of the executor writes one block while the next is prepared.
 */
#ifndef LX_ZRECORD_BLOCK_WRITER_H
#define LX_ZRECORD_BLOCK_WRITER_H

#include <pthread.h>

#include "base/file.h"
#include "executor/task.h"

/** Bytes written at once. */
#define LX__BLOCK_WRITER_BYTES ((size_t)8 << 20)

/** Used by one thread. */
typedef struct lx__block_writer {
    uint8_t *data; /**< The next bytes. */
    size_t used;   /**< Number of bytes in data, at most LX__BLOCK_WRITER_BYTES. */

    /* The block being written; the task uses it while under_way. */
    uint8_t *written;
    size_t size;
    const lx__file *file;
    uint64_t start;
    lx_status status;
    lx_error error;

    lx_executor *executor; /**< Borrowed. */
    lx__task task;
    pthread_mutex_t mutex; /**< Protects under_way. A leaf lock. */
    pthread_cond_t over;
    bool under_way;
} lx__block_writer;

/** Allocates memory. Call lx__block_writer_close() even after a failure. */
lx_status lx__block_writer_open(lx__block_writer *output, lx_executor *executor, lx_error *error);

/** Writes the bytes at @p start of @p file, which must stay open until lx__block_writer_wait().
 * Fails if earlier bytes could not be written. */
lx_status lx__block_writer_write(lx__block_writer *output, const lx__file *file, uint64_t start,
                                 lx_error *error);

/** Waits until everything is written. A failure is reported once. */
lx_status lx__block_writer_wait(lx__block_writer *output, lx_error *error);

/** Closes the writer after waiting for its task. One that was never opened must be zero. */
void lx__block_writer_close(lx__block_writer *output);

#endif
