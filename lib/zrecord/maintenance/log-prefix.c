/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/log-prefix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/write/create.h"

/* Bytes of a tail that are copied at once. */
#define STEP ((size_t)1 << 20)
/* Files of earlier repairs that may be there. */
#define TAILS_MAX 10000

/* ---- reading it */

static lx_status replay(lx__log_prefix *prefix, lx__log_reader *log, const lx_schema *schema,
                        lx_error *error)
{
    const lx__log_position start = {0};
    lx__log_scan scan;
    lx_status status = lx__log_scan_from(log, &start, log->boot, &scan, &prefix->damage);
    prefix->damaged = status == LX_ERR_CORRUPT;
    if (status != LX_OK && !prefix->damaged) {
        lx__error_propagate(error, &prefix->damage);
        return status;
    }
    uint64_t end = prefix->damaged ? scan.valid.offset : scan.valid_in_boot.offset;
    status = end != 0 ? lx__state_replay_to(&prefix->state, log, schema, end, error)
                      : lx__log_fail_first(log, error);
    if (status == LX_OK && prefix->damaged)
        prefix->lost_bytes = lx__log_find_end(log, end) - end;
    return status;
}

/** What is left to do about a log without a valid frame. */
static void advise(lx_error *error)
{
    if (error->status != LX_ERR_CORRUPT)
        return;
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used,
             ": it alone says which records there are; replace it by that of a backup, or the "
             "dataset by the backup");
}

lx_status lx__log_prefix_read(lx__log_prefix *prefix, const lx__file *directory,
                              const lx__meta *meta, lx_error *error)
{
    lx__log_reader log;
    lx_error why = LX_ERROR_INIT;
    *prefix = (lx__log_prefix){.damage = LX_ERROR_INIT};
    prefix->identity.generation = meta->generation;
    memcpy(prefix->identity.uuid, meta->uuid, sizeof prefix->identity.uuid);
    lx_status status = lx__log_open(&log, directory, &prefix->identity, &why);
    if (status == LX_OK) {
        status = replay(prefix, &log, meta->schema, &why);
        lx__log_close(&log);
    }
    advise(&why);
    lx__error_propagate(error, &why);
    return status;
}

void lx__log_prefix_free(lx__log_prefix *prefix)
{
    lx__state_free(&prefix->state);
}

/* ---- cutting off the rest */

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

/** The path of a directory without links, so that the tail lies beside the dataset itself and not
 * beside a link to it. For free(). */
static char *real_path(const lx__file *directory)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory->fd);
    char *path = realpath(link, NULL);
    return path != NULL ? path : realpath(directory->path, NULL);
}

/** Creates the file for the tail; its path goes to @p path. */
static lx_status create_tail(const lx__file *directory, lx__file *file, char **path,
                             lx_error *error)
{
    char *base = real_path(directory);
    if (base == NULL)
        return lx__fail_errno(error, errno, directory->path, "cannot look at");
    size_t size = strlen(base) + 32;
    *path = lx__alloc(size);
    lx_error why = LX_ERROR_INIT;
    lx_status status = *path != NULL ? LX_ERR_EXISTS : lx__fail_memory(&why, "a path");
    for (int i = 1; status == LX_ERR_EXISTS && i <= TAILS_MAX; i++) {
        snprintf(*path, size, "%s.log-tail-%d", base, i);
        lx_error_clear(&why);
        status = lx__file_open(file, LX__CWD, *path, O_WRONLY | O_CREAT | O_EXCL, &why);
    }
    free(base);
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

static lx_status copy_tail(const lx__file *log, const lx__file *to, uint64_t start, uint64_t bytes,
                           lx_error *error)
{
    uint8_t *buffer = lx__alloc(STEP);
    lx_status status = buffer != NULL ? LX_OK : lx__fail_memory(error, "the tail of a log");
    for (uint64_t at = 0; status == LX_OK && at < bytes; at += STEP) {
        size_t step = bytes - at < STEP ? (size_t)(bytes - at) : STEP;
        status = lx__file_read(log, buffer, step, start + at, error);
        if (status == LX_OK)
            status = lx__file_write(to, buffer, step, at, error);
    }
    lx__free(buffer);
    return status == LX_OK ? lx__file_sync(to, error) : status;
}

/** Copies the tail to a file of its own, and makes that durable. */
static lx_status keep_tail(const lx__log_prefix *prefix, const lx__file *directory,
                           const lx__file *log, char **path, lx_error *error)
{
    lx__file file;
    lx_status status = create_tail(directory, &file, path, error);
    if (status == LX_OK) {
        status = copy_tail(log, &file, prefix->state.position.offset, prefix->lost_bytes, error);
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

lx_status lx__log_append_synced(const lx__file *log, const lx__state *state,
                                const lx__log_identity *identity, lx_error *error)
{
    lx__frame_builder builder = {0};
    lx__frame frame = {.sequence = state->position.sequence,
                       .length = state->length,
                       .rows = state->rows,
                       .previous_crc = state->position.crc,
                       .flags = LX__FRAME_SYNCED,
                       .boot = lx__boot_id(),
                       .table_generation = state->table_generation,
                       .next_chunk = state->next_chunk};
    lx_status status = lx__frame_begin(&builder, 0, 0, error);
    if (status != LX_OK)
        return status;
    lx__frame_finish(&builder, &frame, identity);
    status = lx__file_write(log, builder.data, builder.size, state->position.offset, error);
    if (status == LX_OK)
        status = lx__file_sync(log, error);
    lx__frame_builder_free(&builder);
    return status;
}

/** The synced frame comes before the cut: without a later frame that was synced, a power loss
 * would take the frames of an earlier boot that are not. It is the smallest frame there is, so it
 * does not overwrite any but the invalid one. */
static lx_status cut(lx__log_prefix *prefix, const lx__file *log, const lx__file *chunks,
                     lx_error *error)
{
    lx_status status = lx__chunk_ids_above(chunks, &prefix->state.next_chunk, error);
    if (status == LX_OK)
        status = lx__log_append_synced(log, &prefix->state, &prefix->identity, error);
    if (status == LX_OK)
        status = lx__file_truncate(log, prefix->state.position.offset + lx__frame_size(0, 0),
                                   error);
    return status == LX_OK ? lx__file_sync(log, error) : status;
}

lx_status lx__log_prefix_cut(lx__log_prefix *prefix, const lx__file *directory,
                             const lx__file *chunks, char **tail, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file log;
    *tail = NULL;
    lx__log_name(prefix->identity.generation, name);
    lx_status status = lx__file_open(&log, directory, name, O_RDWR, error);
    if (status != LX_OK)
        return status;
    status = keep_tail(prefix, directory, &log, tail, error);
    if (status == LX_OK)
        status = cut(prefix, &log, chunks, error);
    lx__file_close(&log);
    return status;
}
