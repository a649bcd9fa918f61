/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/restamp.h"

#include <string.h>

#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/wal/wal.h"

static lx_status read_named(lx__meta *meta, const lx__file *directory, const char *name,
                            lx__meta_checksum trust)
{
    lx__file file;
    lx_status status = lx__file_open(&file, directory, name, O_RDONLY, NULL);
    if (status != LX_OK)
        return status;
    status = lx__meta_read(meta, &file, trust, NULL);
    lx__file_close(&file);
    return status;
}

/** Adds advice to the error about a missing or damaged meta.json. */
static void advise(const lx__file *directory, lx_error *error)
{
    lx__meta next = {0};
    if (error->status != LX_ERR_CORRUPT && error->status != LX_ERR_NOT_FOUND)
        return;
    if (read_named(&next, directory, LX__META_NEW_NAME, LX__META_CHECK) == LX_OK)
        lx__error_append(error, "; meta.json.new is complete and was about to replace it: rename "
                                "meta.json.new to meta.json");
    else
        lx__error_append(error, "; replace it with the meta.json from a backup of this dataset, or "
                                "replace the whole dataset with the backup");
    lx__meta_free(&next);
}

/** Whether the log starts with a valid frame, whose CRC covers the UUID and the generation. */
static bool has_log(const lx__meta *meta, const lx__file *directory)
{
    const lx__wal_position start = {0};
    lx__wal_identity identity = {.generation = meta->generation};
    lx__wal_reader log;
    lx__wal_scan scan = {0};
    memcpy(identity.uuid, meta->uuid, sizeof identity.uuid);
    if (lx__wal_open(&log, directory, &identity, NULL) != LX_OK)
        return false;
    (void)lx__wal_scan_from(&log, &start, 0, &scan, NULL);
    lx__wal_close(&log);
    return scan.valid.offset != 0;
}

lx_status lx__restamp_load(lx__meta *meta, const lx__file *directory, lx_error *damage,
                           lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__meta_load(meta, directory, &why);
    if (status == LX_ERR_CORRUPT) {
        lx_status other = read_named(meta, directory, LX__META_NAME, LX__META_ANY_CHECKSUM);
        if (other == LX_ERR_NOMEM)
            return lx__fail_memory(error, LX__META_NAME);
        if (other == LX_OK && has_log(meta, directory)) {
            *damage = why;
            return LX_OK;
        }
        lx__meta_free(meta);
    }
    advise(directory, &why);
    lx__error_propagate(error, &why);
    return status;
}
