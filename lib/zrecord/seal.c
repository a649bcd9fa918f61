/* SPDX-License-Identifier: MIT */
/* Sealing: a dataset becomes a plain directory. See doc/zrecord-format.md, 11.6. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/names.h"
#include "zrecord/sealed.h"
#include "zrecord/table.h"
#include "zrecord/writer.h"

/** Makes a file or directory durable. A failure is for good: what a second sync says means nothing,
 * and files that are longer than meta.json says would be damage. */
static lx_status sync_or_poison(const lx__file *file, lx_error *error)
{
    return lx__file_sync(file, error) == LX_OK ? LX_OK : LX_ERR_POISONED;
}

/** Cuts a file to what is committed, makes it durable, and takes its CRC if @p seal is there. */
static lx_status trim(const lx__file *file, uint64_t bytes, lx__table_seal *seal, lx_error *error)
{
    lx_status status = lx__file_truncate(file, bytes, error);
    if (status == LX_OK && !LX__FAULT(SEAL_SYNC))
        status = sync_or_poison(file, error);
    if (status == LX_OK && seal != NULL)
        status = lx__file_sum(file, &seal->bytes, &seal->crc, error);
    return status;
}

static lx_status trim_tables(lx_writer *writer, lx__table_seal *seals, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < writer->rows.field_count; i++) {
        const char *stem = lx__schema_field(writer->meta.schema, i)->stem;
        const lx__table_files *files = &writer->rows.fields[i];
        lx__table_seal *offsets = &seals[2 * i], *checks = &seals[2 * i + 1];
        lx__table_name(stem, LX__OFFSET_KIND, writer->state.table_generation, offsets->name);
        lx__table_name(stem, LX__CHECK_KIND, writer->state.table_generation, checks->name);
        status = trim(&files->offsets, writer->length * LX__OFFSET_ROW, offsets, error);
        if (status == LX_OK)
            status = trim(&files->checks, writer->length * LX__CHECK_ROW, checks, error);
    }
    return status;
}

static lx_status trim_chunks(lx_writer *writer, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < writer->state.chunk_count; i++) {
        const lx__chunk_item *chunk = &writer->state.chunks[i];
        lx__file file;
        lx__chunk_name(chunk->id, name);
        /* One of 0 bytes may never have been made; one that is too short must not be filled up. */
        status = lx__committed_open(&file, &writer->chunk_directory, name, O_RDWR, chunk->bytes,
                                    false, error);
        if (status != LX_OK)
            break;
        status = trim(&file, chunk->bytes, NULL, error);
        lx__file_close(&file);
    }
    return status;
}

/** What meta.json will say, all of it durable and of its final size. */
static lx_status trim_all(lx_writer *writer, lx__table_seal *seals, lx_error *error)
{
    lx_status status = trim_tables(writer, seals, error);
    if (status == LX_OK)
        status = trim_chunks(writer, error);
    if (status == LX_OK)
        status = trim(&writer->log, writer->state.place.offset, NULL, error);
    if (status == LX_OK)
        status = sync_or_poison(&writer->chunk_directory, error);
    if (status == LX_OK)
        status = sync_or_poison(&writer->directory, error);
    return status;
}

/** After a failure to replace meta.json: whether the one that is there now says sealed. */
static bool is_sealed(const lx_writer *writer)
{
    lx__file file;
    lx__meta meta;
    lx_status status = lx__file_open(&file, &writer->directory, LX__META_NAME, O_RDONLY, NULL);
    if (status == LX_OK) {
        status = lx__meta_read(&meta, &file, NULL);
        lx__file_close(&file);
    }
    if (status != LX_OK)
        return true; /* not known: nothing may be appended */
    bool sealed = meta.sealed;
    lx__meta_free(&meta);
    return sealed;
}

/** Whether entries of the tables are not what counts. */
static bool needs_fold(const lx_writer *writer)
{
    bool needs = writer->state.rows > writer->state.length;
    for (size_t i = 0; i < writer->live.count; i++)
        needs = needs || writer->live.list[i].index < writer->state.length;
    return needs;
}

static lx_status seal(lx_writer *writer, lx_error *error)
{
    size_t tables = 2 * writer->rows.field_count;
    lx_status status = lx__writer_commit(
        writer, writer->calls, LX__COMMIT_SYNCED | LX__COMMIT_ROWS | LX__COMMIT_ALONE, error);
    if (status != LX_OK)
        return status;
    if (needs_fold(writer))
        return lx__fail(error, LX_ERR_UNSUPPORTED,
                        "the log holds changes of records that are in the tables already; this "
                        "version cannot fold them into new tables");
    lx__table_seal *seals = lx__alloc_array(tables, sizeof *seals);
    if (seals == NULL)
        return lx__fail_memory(error, "sealing");
    status = trim_all(writer, seals, error);
    if (status == LX_OK)
        status = lx__meta_seal(&writer->meta, writer->length, writer->state.chunks,
                               writer->state.chunk_count, seals, tables, error);
    if (status == LX_OK) {
        status = lx__meta_replace(&writer->meta, &writer->directory, error);
        writer->meta.sealed = status == LX_OK || is_sealed(writer);
    }
    lx__free(seals);
    return status;
}

lx_status lx_writer_seal(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter_alone(writer, error);
    if (status != LX_OK)
        return status;
    status = lx__writer_usable(writer, error);
    if (status == LX_OK && writer->transaction)
        status = lx__fail(error, LX_ERR_STATE, "a transaction is open: end it first");
    if (status == LX_OK) {
        lx_error failure = LX_ERROR_INIT;
        status = seal(writer, &failure);
        if (status == LX_ERR_UNSUPPORTED)
            lx__error_pass(error, &failure); /* nothing was changed, and appending may go on */
        else
            lx__writer_note(writer, 0, status, &failure, error);
    }
    lx__writer_leave(writer);
    return status;
}
