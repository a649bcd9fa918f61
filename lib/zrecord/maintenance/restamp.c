/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/restamp.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/wal/wal.h"

static lx_status read_named(lx__meta *meta, const lx__file *directory, const char *name,
                            lx__meta_trust trust, lx_error *error)
{
    lx__file file;
    lx_status status = lx__file_open(&file, directory, name, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__meta_read(meta, &file, trust, error);
    lx__file_close(&file);
    return status;
}

lx_status lx__restamp_load(lx__meta *meta, const lx__file *directory, lx_error *error)
{
    return read_named(meta, directory, LX__META_NAME, LX__META_ANY_CHECKSUM, error);
}

void lx__restamp_advise(const lx__file *directory, lx_error *error)
{
    lx__meta next = {0};
    if (error == NULL || (error->status != LX_ERR_CORRUPT && error->status != LX_ERR_NOT_FOUND))
        return;
    bool whole = read_named(&next, directory, LX__META_NEW_NAME, LX__META_CHECK, NULL) == LX_OK;
    lx__meta_free(&next);
    if (error->status == LX_ERR_NOT_FOUND)
        lx__copy_tail(error->message, sizeof error->message,
                      "this directory is not a dataset: it has no meta.json");
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, "; %s",
             whole ? "meta.json.new beside it is complete and was to replace it: rename it"
                   : "replace it by the meta.json of a backup of this dataset, or the dataset by "
                     "the backup");
}

/** Whether the log begins with a valid frame: its CRC covers the uuid and the generation. */
static bool has_log(const lx__meta *meta, const lx__file *directory)
{
    const lx__log_position start = {0};
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
    status = lx__restamp_load(&meta, directory, NULL);
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
    lx_status status = lx__restamp_load(&meta, directory, error);
    if (status == LX_OK)
        status = lx__meta_replace(&meta, directory, error);
    lx__meta_free(&meta);
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer */
}
