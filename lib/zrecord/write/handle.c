/* SPDX-License-Identifier: MIT */
#include "zrecord/write/handle.h"

#include <sys/stat.h>

#include "base/error.h"
#include "executor/executor.h"

lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_STATE,
                               "the dataset is sealed: unseal it to allow changes");
    lx_error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status enter(lx_writer *writer, bool alone, lx_error *error)
{
    if (writer == NULL)
        return lx__fail_null(error, "writer");
    if (lx__executor_check(writer->executor, NULL) != LX_OK)
        return lx_fail(error, LX_ERR_FORKED,
                       "this writer belongs to the parent process: open a new one after fork()");
    lx__write_mutex_lock(&writer->mutex, alone);
    return LX_OK;
}

lx_status lx__writer_enter(lx_writer *writer, lx_error *error)
{
    return enter(writer, false, error);
}

lx_status lx__writer_enter_alone(lx_writer *writer, lx_error *error)
{
    return enter(writer, true, error);
}

void lx__writer_leave(lx_writer *writer)
{
    lx__write_mutex_unlock(&writer->mutex);
}

bool lx__writer_is_at_rest(lx_writer *writer)
{
    if (!lx__write_mutex_try_lock(&writer->mutex))
        return false;
    bool rests = !lx__write_mutex_is_busy(&writer->mutex) &&
                 pthread_mutex_trylock(&writer->flush.mutex) == 0;
    if (rests)
        pthread_mutex_unlock(&writer->flush.mutex);
    lx__write_mutex_unlock(&writer->mutex);
    return rests && lx__flush_is_idle(&writer->flush);
}

lx_status lx__writer_usable(lx_writer *writer, lx_error *error)
{
    if (writer->meta.sealed)
        return lx__writer_fail_sealed(writer, error);
    return lx__calls_check(&writer->calls, error);
}

lx_status lx__writer_check_lock(lx_writer *writer, lx_error *error)
{
    struct stat about;
    lx_error failure = LX_ERROR_INIT;
    if (!writer->lock_linked || fstat(writer->lock.fd, &about) == -1 || about.st_nlink != 0)
        return LX_OK;
    (void)lx_fail(&failure, LX_ERR_POISONED,
                  "LOCK was removed, so another writer may have opened the dataset, and this "
                  "writer can no longer commit: close this writer and open the dataset again");
    lx_error_locate(&failure, writer->lock.path, NULL, LX_NONE, LX_NONE);
    return lx__calls_poison(&writer->calls, &failure, error);
}
