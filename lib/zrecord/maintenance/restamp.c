/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/restamp.h"

#include <string.h>

#include "base/error.h"
#include "zrecord/write/create.h"
#include "zrecord/wal/wal.h"
#include "zrecord/format/meta-file.h"

/** Reads meta.json, whatever checksum it has. */
static lx_status load_unchecked(lx__meta *meta, const lx__file *directory, lx_error *error)
{
    lx__file file;
    lx_status status = lx__file_open(&file, directory, LX__META_NAME, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__meta_read(meta, &file, LX__META_ANY_CHECKSUM, error);
    lx__file_close(&file);
    return status;
}

/** Whether the log begins with a valid frame: its CRC covers the uuid and the generation. */
static bool has_log(const lx__meta *meta, const lx__file *directory)
{
    const lx__log_place start = {0};
    lx__log_identity identity = {.generation = meta->generation};
    lx__log_reader log;
    lx__log_scan scan = {0};
    memcpy(identity.uuid, meta->uuid, sizeof identity.uuid);
    if (lx__log_open(&log, directory, &identity, NULL) != LX_OK)
        return false;
    (void)lx__log_scan_from(&log, &start, 0, &scan, NULL);
    lx__log_close(&log);
    return scan.valid.offset != 0;
}

lx_status lx__restamp_look(const lx__file *directory, lx_error *damage, lx_error *error)
{
    lx__meta meta = {0};
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__meta_load(&meta, directory, &why);
    lx__meta_free(&meta);
    if (status != LX_ERR_CORRUPT)
        return LX_OK; /* the caller opens the dataset next, and reports what is wrong */
    status = load_unchecked(&meta, directory, NULL);
    if (status == LX_ERR_NOMEM)
        return lx__fail_memory(error, LX__META_NAME);
    if (status == LX_OK && has_log(&meta, directory))
        *damage = why;
    lx__meta_free(&meta);
    return LX_OK;
}

lx_status lx__restamp_apply(const lx__file *directory, lx_error *error)
{
    lx__meta meta = {0};
    lx__file lock = LX__FILE_CLOSED;
    lx_status status = lx__check_local(directory, error);
    if (status == LX_OK)
        status = lx__writer_lock(directory, &lock, error);
    if (status == LX_OK)
        status = load_unchecked(&meta, directory, error);
    if (status == LX_OK)
        status = lx__meta_replace(&meta, directory, error);
    lx__meta_free(&meta);
    lx__writer_unlock(&lock);
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer that could be */
}
