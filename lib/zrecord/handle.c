/* SPDX-License-Identifier: MIT */
/* Whose turn it is with a writer, and what has failed in it. */
#include "base/error.h"
#include "zrecord/writer.h"

lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error)
{
    lx_status status =
        lx__fail(error, LX_ERR_STATE, "the dataset is sealed: nothing can be appended");
    lx__error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__writer_enter(lx_writer *writer, lx_error *error)
{
    if (writer == NULL)
        return lx__fail_null(error, "writer");
    if (lx__executor_check(writer->executor, NULL) != LX_OK)
        return lx__fail(error, LX_ERR_FORKED,
                        "this writer belongs to the parent process: open one after fork");
    pthread_mutex_lock(&writer->mutex);
    return LX_OK;
}

void lx__writer_leave(lx_writer *writer)
{
    pthread_mutex_unlock(&writer->mutex);
}

lx_status lx__writer_usable(lx_writer *writer, lx_error *error)
{
    if (writer->meta.sealed)
        return lx__writer_fail_sealed(writer, error);
    if (writer->failure.status != LX_OK)
        lx__error_pass(error, &writer->failure);
    return writer->failure.status;
}

lx_status lx__writer_note(lx_writer *writer, lx_status status, const lx_error *failure,
                          lx_error *error)
{
    if (status == LX_OK)
        return LX_OK;
    if (writer->failure.status == LX_OK || status == LX_ERR_POISONED)
        writer->failure = *failure;
    lx__error_pass(error, failure);
    return status;
}
