/* SPDX-License-Identifier: MIT */
/* See doc/zrecord-format.md, 11.7. */
#include "zrecord/maintenance/unseal.h"

#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/table/table-file.h"
#include "zrecord/write/create.h"

#include <loaderx/maintenance.h>

lx_status lx__unseal(const lx__file *directory, lx_error *error)
{
    lx__meta meta;
    lx_status status = lx__meta_load(&meta, directory, error);
    if (status != LX_OK)
        return status;
    status = lx__meta_check_whole(&meta, error);
    lx_error_locate(error, directory->path, NULL, LX_NONE, LX_NONE);
    if (status == LX_OK && meta.sealed) {
        status = lx__meta_unseal(&meta, error);
        /* A copy that came from an object store has none if the dataset has no chunks. */
        if (status == LX_OK)
            status = lx__chunk_directory_make(directory, error);
        if (status == LX_OK)
            status = lx__meta_replace(&meta, directory, error);
        if (status == LX_ERR_POISONED)
            status = LX_ERR_IO; /* there is no writer to poison */
    } else if (status == LX_OK) {
        /* The process that removed the seal may have died before it synced the directory. */
        status = lx__file_sync(directory, error);
    }
    lx__meta_free(&meta);
    return status;
}

lx_status lx_dataset_unseal(const char *path, lx_error *error)
{
    if (path == NULL)
        return lx__fail_null(error, "path");
    lx__file directory, lock = LX__FILE_CLOSED;
    lx__meta meta;
    lx_status status = lx__directory_open(&directory, LX__CWD, path, error);
    if (status != LX_OK)
        return status;
    /* Read meta.json before locking, so that no LOCK is created where there is no dataset. */
    status = lx__meta_load(&meta, &directory, error);
    if (status == LX_OK)
        status = lx__check_local(&directory, error);
    if (status == LX_OK)
        status = lx__writer_lock(&directory, &lock, error);
    if (status == LX_OK)
        status = lx__unseal(&directory, error);
    lx__meta_free(&meta);
    lx__file_close(&directory);
    lx__writer_unlock(&lock);
    return status;
}
