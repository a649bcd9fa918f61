/* SPDX-License-Identifier: MIT */
/* Sealing, which turns a dataset into a plain directory that any program can read with mmap. See
 * doc/zrecord-format.md, 11.6. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/sealed.h"
#include "zrecord/table/table-file.h"
#include "zrecord/write/checkpoint.h"
#include "zrecord/write/install.h"

/** Truncates a file to its committed bytes and makes it durable. If @p seal is not NULL, also
 * computes the size and CRC of the file. */
static lx_status trim(const lx__file *file, uint64_t bytes, lx__table_seal *seal, lx_error *error)
{
    lx_status status = lx__file_truncate(file, bytes, error);
    if (status == LX_OK && !LX__FAULT(SEAL_SYNC))
        status = lx__sync_or_poison(file, error);
    if (status == LX_OK && seal != NULL)
        status = lx__file_sum(file, &seal->bytes, &seal->crc, error);
    return status;
}

static lx_status trim_tables(lx__install *next, lx__table_seal *seals, lx_error *error)
{
    const lx_writer *writer = next->writer;
    const lx__table_writer *tables = next->new_tables ? &next->tables : &writer->tables;
    uint32_t generation = next->state.table_generation;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < tables->field_count; i++) {
        const char *stem = lx__schema_field(writer->meta.schema, i)->stem;
        const lx__table_files *files = &tables->fields[i];
        lx__table_seal *offsets = &seals[2 * i], *checks = &seals[2 * i + 1];
        lx__table_name(stem, LX__OFFSET_KIND, generation, offsets->name);
        lx__table_name(stem, LX__CHECK_KIND, generation, checks->name);
        status = trim(&files->offsets, next->state.length * LX__OFFSET_ROW, offsets, error);
        if (status == LX_OK)
            status = trim(&files->checks, next->state.length * LX__CHECK_ROW, checks, error);
    }
    return status;
}

static lx_status trim_chunks(lx__install *next, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < next->state.chunk_count; i++) {
        const lx__chunk_item *chunk = &next->state.chunks[i];
        lx__file file;
        lx__chunk_name(chunk->id, name);
        /* A chunk of 0 bytes may have no file; a file that is too short must not be extended. */
        status = lx__committed_open(&file, &next->writer->chunk_directory, name, O_RDWR,
                                    chunk->bytes, false, error);
        if (status != LX_OK)
            break;
        status = trim(&file, chunk->bytes, NULL, error);
        lx__file_close(&file);
    }
    return status;
}

/** Looks for missing values in the rows of a table. */
static lx_status find_missing(const lx__table_files *files, uint64_t rows, bool *missing,
                              lx_error *error)
{
    uint8_t block[1024 * LX__OFFSET_ROW];
    lx__table_files found = {0};
    lx_status status = LX_OK;
    for (uint64_t at = 0; status == LX_OK && at < rows && !found.missing; at += 1024) {
        size_t here = rows - at < 1024 ? (size_t)(rows - at) : 1024;
        status = lx__file_read(&files->offsets, block, here * LX__OFFSET_ROW, at * LX__OFFSET_ROW,
                               error);
        if (status == LX_OK)
            lx__table_files_note_missing(&found, block, here);
    }
    *missing = found.missing;
    return status;
}

/** Stores in the new meta.json which fields are complete. The result is exact, because the log no
 * longer matters and nothing will change. A field that was complete remains so: a row of zeros in
 * it is damage, which must not turn into a missing value. */
static lx_status set_complete(lx__install *next, lx_error *error)
{
    const lx_writer *writer = next->writer;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && !next->new_tables && i < writer->tables.field_count;
         i++) {
        bool missing = false;
        if (!lx__schema_field(writer->meta.schema, i)->complete)
            status = find_missing(&writer->tables.fields[i], next->state.length, &missing, error);
        if (status == LX_OK)
            status = lx__meta_set_complete(&next->meta, i, !missing, error);
    }
    return status;
}

/** Truncates everything that the new meta.json will name to its final size, and makes it durable.
 * If there is a new generation, it has tables and a log of its own, so nothing that readers of the
 * current generation need is truncated. */
static lx_status trim_all(lx__install *next, lx__table_seal *seals, lx_error *error)
{
    lx_writer *writer = next->writer;
    lx_status status = trim_tables(next, seals, error);
    if (status == LX_OK)
        status = trim_chunks(next, error);
    if (status == LX_OK)
        status = trim(next->log.fd != -1 ? &next->log : &writer->wal.file,
                      next->state.position.offset, NULL, error);
    writer->wal.zeros_end = 0;
    return status == LX_OK ? lx__sync_or_poison(&writer->chunk_directory, error) : status;
}

static lx_status seal_into(lx__install *next, lx__table_seal *seals, size_t tables, lx_error *error)
{
    lx_writer *writer = next->writer;
    lx_status status = lx__install_begin(next, writer, error);
    if (status == LX_OK && lx__committed_has_changes(&writer->committed)) {
        status = lx__install_checkpoint(next, error);
        if (status == LX_OK)
            status = lx__install_make_log(next, NULL, error);
    }
    if (status == LX_OK)
        status = trim_all(next, seals, error);
    if (status == LX_OK)
        status = set_complete(next, error);
    if (status == LX_OK)
        status = lx__meta_seal(&next->meta, seals, tables, error);
    return status == LX_OK ? lx__install_finish(next, error) : status;
}

static lx_status seal(lx_writer *writer, void *user, lx_error *error)
{
    lx__install next;
    lx_status whole = lx__meta_check_imported(&writer->meta, error);
    lx_error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
    if (whole != LX_OK)
        return whole;
    size_t tables = 2 * writer->tables.field_count;
    lx__table_seal *seals = lx__alloc_array(tables, sizeof *seals);
    (void)user;
    if (seals == NULL)
        return lx__fail_memory(error, "sealing");
    next.writer = writer;
    lx_status status = seal_into(&next, seals, tables, error);
    lx__install_end(&next);
    lx__free(seals);
    return status;
}

lx_status lx_writer_seal(lx_writer *writer, lx_error *error)
{
    return lx__install_call(writer, seal, NULL, error);
}
