/* SPDX-License-Identifier: MIT */
/* See doc/zrecord-format.md, 11.5. */
#include "zrecord/write/field-filler.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/write/codec-settings.h"
#include "zrecord/write/value.h"

/* How many rows to write at a time. */
#define ROWS ((size_t)65536)

/* ---- tables */

/** Makes a table of zeros, in which every value is missing. */
static lx_status make_table(const lx__install *install, const char *stem, const char *kind,
                            uint64_t bytes, lx__file *file, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__table_name(stem, kind, install->state.table_generation, name);
    lx_status status = lx__file_open(file, &install->writer->directory, name,
                                     O_RDWR | O_CREAT | O_EXCL, error);
    return status == LX_OK ? lx__file_truncate(file, bytes, error) : status;
}

lx_status lx__field_filler_open(lx__field_filler *filler, lx__install *install,
                                const lx__field *field, lx_error *error)
{
    lx_writer *writer = install->writer;
    uint64_t rows = install->state.rows;
    *filler = (lx__field_filler){.writer = writer,
                                 .field = field,
                                 .rules = lx__field_rules(field, writer->meta.uuid),
                                 .offsets = LX__FILE_CLOSED,
                                 .checks = LX__FILE_CLOSED,
                                 .length = install->state.length,
                                 .rows = rows,
                                 .output = lx__install_output(install)};
    if (filler->rules.codec != NULL)
        filler->level = lx__codec_settings_level(writer, &field->shown);
    lx_status status = lx__chunk_output_open(&filler->output, error);
    if (status == LX_OK)
        status = make_table(install, field->stem, LX__OFFSET_KIND, rows * LX__OFFSET_ROW,
                            &filler->offsets, error);
    if (status == LX_OK)
        status = make_table(install, field->stem, LX__CHECK_KIND, rows * LX__CHECK_ROW,
                            &filler->checks, error);
    return status;
}

void lx__field_filler_close(lx__field_filler *filler)
{
    lx__chunk_output_close(&filler->output);
    lx__file_close(&filler->offsets);
    lx__file_close(&filler->checks);
    lx__deflater_free(filler->deflater);
    lx__free(filler->compressed);
    lx__free(filler->buffer);
}

static lx_status write_rows(lx__field_filler *filler, lx_error *error)
{
    size_t count = filler->count;
    if (count == 0)
        return LX_OK;
    lx_status status = lx__file_write(&filler->offsets, filler->buffer, count * LX__OFFSET_ROW,
                                      filler->first * LX__OFFSET_ROW, error);
    if (status == LX_OK)
        status = lx__file_write(&filler->checks, filler->buffer + ROWS * LX__OFFSET_ROW,
                                count * LX__CHECK_ROW, filler->first * LX__CHECK_ROW, error);
    filler->first += count;
    filler->count = 0;
    return status;
}

/** Adds a row. The CRC of @p entry does not include the index CRC; a missing value has none. */
static lx_status add_row(lx__field_filler *filler, const lx__entry *entry, lx_error *error)
{
    if (filler->buffer == NULL)
        filler->buffer = lx__alloc_array(ROWS, LX__ENTRY_BYTES);
    if (filler->buffer == NULL)
        return lx__fail_memory(error, "table rows");
    lx__entry row = *entry;
    if (lx__entry_is_missing(entry))
        filler->missing = true;
    else
        row.crc ^= lx__index_crc(filler->first + filler->count);
    lx__entry_store(&row, filler->buffer + filler->count * LX__OFFSET_ROW,
                    filler->buffer + ROWS * LX__OFFSET_ROW + filler->count * LX__CHECK_ROW);
    return ++filler->count == ROWS ? write_rows(filler, error) : LX_OK;
}

/* ---- values */

/** Compresses a value if that makes it smaller; @p stored is then the result. */
static lx_status compress(lx__field_filler *filler, const lx_value *value, lx__entry *entry,
                          const uint8_t **stored, lx_error *error)
{
    const lx__codec *codec = filler->rules.codec;
    if (codec == NULL || codec->deflate == NULL)
        return LX_OK;
    if (filler->deflater == NULL)
        filler->deflater = lx__deflater_new(codec, filler->level);
    if (filler->deflater == NULL ||
        !lx__reserve(&filler->compressed, &filler->capacity, value->size - 1))
        return lx__fail_memory(error, "compression");
    size_t size = lx__deflate(filler->deflater, value->data, value->size, filler->compressed,
                              value->size - 1);
    if (size == LX__DEFLATE_NOMEM)
        return lx__fail_memory(error, "compression");
    if (size != 0) {
        entry->physical = (uint32_t)size;
        *stored = filler->compressed;
    }
    return LX_OK;
}

/** Stores a value, and makes its entry, without the index CRC. */
static lx_status store(lx__field_filler *filler, const lx_value *value, lx__entry *entry,
                       lx_error *error)
{
    const uint8_t *stored = value->data;
    *entry = (lx__entry){0};
    if (value->size == LX_NONE)
        return LX_OK;
    lx__value_log_format(filler->writer, &filler->field->shown, value);
    entry->physical = entry->logical = (uint32_t)value->size;
    if (value->size <= LX__INLINE_MAX) {
        entry->chunk = LX__CHUNK_INLINE;
        for (size_t i = value->size; i-- != 0;)
            entry->offset = entry->offset << 8 | stored[i];
        lx__entry_complete_inline(entry, &filler->rules);
        return LX_OK;
    }
    lx_status status = compress(filler, value, entry, &stored, error);
    if (status == LX_OK)
        status = lx__chunk_output_place(&filler->output, entry->physical, filler->rules.align,
                                        entry, error);
    if (status == LX_OK)
        status = lx__chunk_output_append(&filler->output, entry, stored, error);
    if (status == LX_OK)
        entry->crc = lx__entry_crc(entry, &filler->rules, stored);
    return status;
}

lx_status lx__field_filler_add(lx__field_filler *filler, const lx_value *value, lx_error *error)
{
    lx__entry entry;
    lx_status status = store(filler, value, &entry, error);
    return status == LX_OK ? add_row(filler, &entry, error) : status;
}

lx_status lx__field_filler_repeat(lx__field_filler *filler, const lx_value *value, lx_error *error)
{
    lx__entry entry;
    if (filler->first + filler->count == filler->length)
        return LX_OK;
    lx_status status = store(filler, value, &entry, error);
    if (status == LX_OK && !lx__entry_is_inline(&entry) && !lx__entry_is_missing(&entry))
        filler->shared = (lx__shared){entry.chunk, entry.physical, entry.offset};
    while (status == LX_OK && filler->first + filler->count < filler->length)
        status = add_row(filler, &entry, error);
    return status;
}

lx_status lx__field_filler_finish(lx__field_filler *filler, lx_error *error)
{
    filler->missing = filler->missing || filler->first + filler->count < filler->rows;
    lx_status status = write_rows(filler, error);
    if (status == LX_OK && !LX__FAULT(FIELD_SYNC))
        status = lx__sync_or_poison(&filler->offsets, error);
    if (status == LX_OK && !LX__FAULT(FIELD_SYNC))
        status = lx__sync_or_poison(&filler->checks, error);
    return status == LX_OK ? lx__chunk_output_finish(&filler->output, error) : status;
}
