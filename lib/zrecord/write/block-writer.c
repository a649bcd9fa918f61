/* SPDX-License-Identifier: MIT */
#include "zrecord/write/block-writer.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"

static void write_bytes(lx__block_writer *output)
{
    output->error = (lx_error)LX_ERROR_INIT;
    output->status = lx__file_write(output->file, output->written, output->size, output->start,
                                    &output->error);
    /* Writeback starts while the next bytes are prepared, so that the final sync is short. */
    if (output->status == LX_OK)
        lx__file_start_sync(output->file, output->start, output->size);
}

static lx__block_writer *output_of(lx__task *task)
{
    return (lx__block_writer *)((char *)task - offsetof(lx__block_writer, task));
}

static void run(lx__task *task, size_t part)
{
    (void)part;
    write_bytes(output_of(task));
}

static void finish(lx__task *task, bool canceled)
{
    lx__block_writer *output = output_of(task);
    if (canceled)
        write_bytes(output); /* the executor is being closed, and the closing thread helps */
    pthread_mutex_lock(&output->mutex);
    output->under_way = false;
    pthread_cond_signal(&output->over);
    pthread_mutex_unlock(&output->mutex);
}

lx_status lx__block_writer_open(lx__block_writer *output, lx_executor *executor, lx_error *error)
{
    *output = (lx__block_writer){.executor = executor};
    pthread_mutex_init(&output->mutex, NULL);
    pthread_cond_init(&output->over, NULL);
    lx__task_init(&output->task, run, finish, 1);
    output->data = lx__alloc(LX__BLOCK_WRITER_BYTES);
    output->written = lx__alloc(LX__BLOCK_WRITER_BYTES);
    return output->data != NULL && output->written != NULL ? LX_OK
                                                           : lx__fail_memory(error, "writing");
}

lx_status lx__block_writer_wait(lx__block_writer *output, lx_error *error)
{
    /* In a child of fork() the thread that was writing does not exist. */
    lx_status status = lx__executor_check(output->executor, error);
    if (status != LX_OK)
        return status;
    /* All threads of the queue may be waiting, perhaps for this thread. */
    lx__executor_help(output->executor, &output->task);
    pthread_mutex_lock(&output->mutex);
    while (output->under_way)
        pthread_cond_wait(&output->over, &output->mutex);
    pthread_mutex_unlock(&output->mutex);
    status = output->status;
    if (status != LX_OK)
        lx__error_propagate(error, &output->error);
    output->status = LX_OK;
    return status;
}

lx_status lx__block_writer_write(lx__block_writer *output, const lx__file *file, uint64_t start,
                                 lx_error *error)
{
    lx_status status = lx__block_writer_wait(output, error);
    size_t size = output->used;
    output->used = 0;
    if (status != LX_OK || size == 0)
        return status;
    uint8_t *data = output->data;
    output->data = output->written;
    output->written = data;
    output->size = size;
    output->file = file;
    output->start = start;
    output->under_way = true;
    if (lx__executor_submit(output->executor, LX_QUEUE_WRITE, &output->task, NULL) != LX_OK)
        finish(&output->task, true); /* no other thread is available: this one writes */
    return LX_OK;
}

void lx__block_writer_close(lx__block_writer *output)
{
    if (output->executor == NULL)
        return;
    (void)lx__block_writer_wait(output, NULL);
    lx__free(output->data);
    lx__free(output->written);
    pthread_cond_destroy(&output->over);
    pthread_mutex_destroy(&output->mutex);
}
