/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/wal-prefix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/wal/wal-writer.h"
#include "zrecord/write/create.h"

/* Maximum number of files from earlier repairs to skip. */
#define TAILS_MAX 10000

/* ---- reading the prefix */

static lx_status replay(lx__wal_prefix *prefix, lx__wal_reader *log, const lx_schema *schema,
                        lx_error *error)
{
    const lx__wal_position start = {0};
    lx__wal_scan scan;
    lx_status status = lx__wal_scan_from(log, &start, log->boot, &scan, &prefix->damage);
    prefix->damaged = status == LX_ERR_CORRUPT;
    if (status != LX_OK && !prefix->damaged) {
        lx__error_propagate(error, &prefix->damage);
        return status;
    }
    uint64_t end = prefix->damaged ? scan.valid.offset : scan.valid_in_boot.offset;
    status = end != 0 ? lx__state_replay_to(&prefix->state, log, schema, end, error)
                      : lx__wal_fail_first(log, error);
    if (status == LX_OK && prefix->damaged)
        prefix->lost_bytes = lx__wal_find_end(log, end) - end;
    return status;
}

void lx__wal_prefix_advise(lx_error *error)
{
    if (error != NULL && error->status == LX_ERR_CORRUPT)
        lx__error_append(error,
                         "; without the log, the records cannot be found: replace it with the log "
                         "from a backup, or replace the whole dataset with the backup");
}

lx_status lx__wal_prefix_read(lx__wal_prefix *prefix, const lx__file *directory,
                              const lx__meta *meta, lx_error *error)
{
    lx__wal_reader log;
    *prefix = (lx__wal_prefix){.damage = LX_ERROR_INIT};
    prefix->identity.generation = meta->generation;
    memcpy(prefix->identity.uuid, meta->uuid, sizeof prefix->identity.uuid);
    lx_status status = lx__wal_open(&log, directory, &prefix->identity, error);
    if (status != LX_OK)
        return status;
    status = replay(prefix, &log, meta->schema, error);
    lx__wal_close(&log);
    return status;
}

void lx__wal_prefix_free(lx__wal_prefix *prefix)
{
    lx__state_free(&prefix->state);
}

/* ---- truncating the rest */

static lx_status find_chunk(void *user, const char *name, lx_error *error)
{
    uint64_t id, *next = user;
    (void)error;
    if (lx__name_is_chunk(name, &id) && id >= *next)
        *next = id + 1;
    return LX_OK;
}

lx_status lx__chunk_ids_above(const lx__file *chunks, uint32_t *next, lx_error *error)
{
    uint64_t found = *next;
    lx_status status = lx__directory_each(chunks, find_chunk, &found, error);
    *next = found <= LX__CHUNK_ID_MAX ? (uint32_t)found : UINT32_MAX;
    return status;
}

/** Creates the file for the tail and sets @p path to its path. The file is placed next to the
 * dataset itself, even if the dataset was opened through a link. */
static lx_status create_tail(const lx__file *directory, lx__file *file, char **path,
                             lx_error *error)
{
    char *base = realpath(directory->path, NULL);
    if (base == NULL)
        return lx_fail_errno(error, errno, directory->path, "cannot resolve the path");
    size_t size = strlen(base) + 32;
    *path = lx__alloc(size);
    lx_error why = LX_ERROR_INIT;
    lx_status status = *path != NULL ? LX_ERR_EXISTS : lx__fail_memory(&why, "a path");
    for (int i = 1; status == LX_ERR_EXISTS && i <= TAILS_MAX; i++) {
        snprintf(*path, size, "%s.log-tail-%d", base, i);
        lx_error_clear(&why);
        status = lx__file_open(file, LX__CWD, *path, O_RDWR | O_CREAT | O_EXCL, &why);
    }
    free(base);
    lx__error_propagate(error, &why);
    return status;
}

/** Copies the tail to a file of its own, and makes this file durable. */
static lx_status keep_tail(const lx__wal_prefix *prefix, const lx__file *directory,
                           const lx__file *log, char **path, lx_error *error)
{
    lx__file file;
    lx_status status = create_tail(directory, &file, path, error);
    if (status == LX_OK) {
        status = lx__file_copy(log, prefix->state.position.offset, &file, 0, prefix->lost_bytes,
                               error);
        if (status == LX_OK)
            status = lx__file_sync(&file, error);
        if (status == LX_OK)
            status = lx__sync_parent(directory, error);
        if (status != LX_OK)
            (void)lx__file_remove(LX__CWD, *path, NULL);
        lx__file_close(&file);
    }
    if (status != LX_OK) {
        lx__free(*path);
        *path = NULL;
    }
    return status;
}

/** Replaces the invalid frame with a synced one, and then truncates the log after it. Without a
 * later synced frame, a power loss would drop unsynced frames of an earlier boot. The new frame has
 * no items, so it is no longer than the frame that it overwrites. */
static lx_status cut(lx__wal_prefix *prefix, const lx__file *log, const lx__file *chunks,
                     lx_error *error)
{
    lx_status status = lx__chunk_ids_above(chunks, &prefix->state.next_chunk, error);
    if (status == LX_OK)
        status = lx__wal_write_synced(log, &prefix->identity, &prefix->state, error);
    if (status == LX_OK)
        status = lx__file_truncate(log, prefix->state.position.offset + lx__frame_size(0, 0),
                                   error);
    return status == LX_OK ? lx__file_sync(log, error) : status;
}

lx_status lx__wal_prefix_cut(lx__wal_prefix *prefix, const lx__file *directory,
                             const lx__file *chunks, char **tail, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file log;
    *tail = NULL;
    lx__wal_name(prefix->identity.generation, name);
    lx_status status = lx__file_open(&log, directory, name, O_RDWR, error);
    if (status != LX_OK)
        return status;
    status = keep_tail(prefix, directory, &log, tail, error);
    if (status == LX_OK)
        status = cut(prefix, &log, chunks, error);
    lx__file_close(&log);
    return status;
}
