/* SPDX-License-Identifier: MIT */
#include <loaderx/recordio.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "importer/input.h"
#include "recordio/record.h"

#define WORD 4

struct lx_recordio_reader {
    lx__process process; /**< The position in the file is shared with children of fork(). */
    lx__input input;
    char *path;
    bool skip;
    bool lost; /**< The next record is still to be found. */
    uint64_t limit;
    size_t stored; /**< Bytes of the last record, which are taken by the next call. */
    uint8_t *joined;
    size_t capacity;
    lx_recordio_skipped skipped;
};

static lx_status fail_forked(lx_error *error)
{
    return lx_fail(error, LX_ERR_FORKED,
                   "the reader belongs to the parent process: open another in this process");
}

static lx_status keep_waiting(void *user, lx_error *error)
{
    (void)user, (void)error;
    return LX_OK;
}

lx_status lx_recordio_reader_open(const char *path, bool skip, lx_recordio_reader **reader,
                                  lx_error *error)
{
    LX__CLEAR(reader);
    if (path == NULL || reader == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "reader");
    lx_recordio_reader *made = lx__alloc_array(1, sizeof *made);
    if (made != NULL)
        made->path = lx__path_join("", path);
    if (made == NULL || made->path == NULL) {
        lx__free(made);
        return lx__fail_memory(error, "a reader");
    }
    lx__process_record(&made->process);
    made->skip = skip;
    made->limit = LX_DEFAULT_RECORDIO_LIMIT;
    lx_status status = lx__input_open(&made->input, made->path, 0, keep_waiting, NULL, error);
    if (status == LX_OK)
        *reader = made;
    else
        lx_recordio_reader_close(made);
    return status;
}

void lx_recordio_reader_close(lx_recordio_reader *reader)
{
    if (reader == NULL)
        return;
    lx__input_close(&reader->input);
    lx__free(reader->joined);
    lx__free(reader->path);
    lx__free(reader);
}

void lx_recordio_reader_set_limit(lx_recordio_reader *reader, uint64_t limit)
{
    reader->limit = limit;
}

lx_recordio_skipped lx_recordio_reader_get_skipped(const lx_recordio_reader *reader)
{
    return reader->skipped;
}

/* ---- damage */

/** Passes over bytes up to the next place where a record may begin. */
static lx_status find_next(lx_recordio_reader *self, lx_error *error)
{
    lx__input *input = &self->input;
    for (;;) {
        lx_status status = lx__input_fill(input, LX__RECORDIO_HEAD, error);
        if (status != LX_OK)
            return status;
        size_t passed = lx__recordio_find_record(input->data, input->size);
        if (passed == input->size && !input->ended) /* keeps offsets multiples of 4 */
            passed = input->size / WORD * WORD;
        bool found = input->size - passed >= LX__RECORDIO_HEAD;
        if (!found && input->ended)
            passed = input->size;
        lx__input_take(input, passed);
        self->skipped.bytes += passed;
        if (found || input->ended)
            return LX_OK;
    }
}

/** Leaves a damaged record: the search for the next one begins after its first word. */
static lx_status leave(lx_recordio_reader *self, lx_status why, const char *what, lx_error *error)
{
    lx__input *input = &self->input;
    uint64_t offset = input->offset;
    size_t step = input->size < WORD ? input->size : WORD;
    lx__input_take(input, step);
    self->skipped.places++;
    self->skipped.bytes += step;
    self->lost = true;
    lx_fail(error, why, "the record is damaged: %s", what);
    lx_error_locate(error, self->path, NULL, LX_NONE, offset);
    return why;
}

/* ---- records */

static lx_status fail_too_long(lx_recordio_reader *self, uint64_t size, lx_error *error)
{
    char what[120];
    snprintf(what, sizeof what, "it has %" PRIu64 " bytes or more, but the limit is %" PRIu64, size,
             self->limit);
    return leave(self, LX_ERR_LIMIT, what, error);
}

/** Has a whole record in the buffer, or returns LX_END. */
static lx_status fetch(lx_recordio_reader *self, lx__recordio_extent *extent, lx_error *error)
{
    lx__input *input = &self->input;
    *extent = (lx__recordio_extent){.complete = false};
    for (uint64_t wanted = LX__RECORDIO_HEAD;;) {
        lx_status status = lx__input_fill(input, (size_t)wanted, error);
        if (status != LX_OK)
            return status;
        if (input->size == 0)
            return LX_END;
        wanted = lx__recordio_measure(input->data, input->size, extent);
        if (extent->flaw != NULL)
            return leave(self, LX_ERR_CORRUPT, extent->flaw, error);
        if (extent->size > self->limit || wanted > SIZE_MAX / 2)
            return fail_too_long(self, extent->size, error);
        if (wanted <= input->size)
            return LX_OK;
        if (input->ended)
            return leave(self, LX_ERR_CORRUPT, "the file ends within it", error);
    }
}

static lx_status deliver(lx_recordio_reader *self, const lx__recordio_extent *extent,
                         lx_recordio_record *record, lx_error *error)
{
    const uint8_t *data = self->input.data;
    *record = (lx_recordio_record){.data = data + LX__RECORDIO_HEAD,
                                   .size = (size_t)extent->size,
                                   .offset = self->input.offset};
    if (extent->parts > 1) {
        if (!lx__reserve(&self->joined, &self->capacity, (size_t)extent->size))
            return lx__fail_memory(error, "a record");
        lx__recordio_join(data, extent, self->joined);
        record->data = self->joined;
    }
    self->stored = (size_t)extent->stored;
    return LX_OK;
}

lx_status lx_recordio_reader_next(lx_recordio_reader *reader, lx_recordio_record *record,
                                  lx_error *error)
{
    if (reader == NULL || record == NULL)
        return lx__fail_null(error, reader == NULL ? "reader" : "record");
    if (!lx__process_is_this(&reader->process))
        return fail_forked(error);
    for (;;) {
        lx_error why = LX_ERROR_INIT;
        lx__recordio_extent extent;
        lx__input_take(&reader->input, reader->stored);
        reader->stored = 0;
        lx_status status = reader->lost ? find_next(reader, error) : LX_OK;
        if (status != LX_OK)
            return status;
        reader->lost = false;
        status = fetch(reader, &extent, &why);
        if (status == LX_OK)
            return deliver(reader, &extent, record, error);
        if (reader->lost && reader->skip)
            continue;
        if (status != LX_END)
            lx__error_propagate(error, &why);
        return status;
    }
}

lx_status lx_recordio_reader_seek(lx_recordio_reader *reader, uint64_t offset, lx_error *error)
{
    if (reader == NULL)
        return lx__fail_null(error, "reader");
    if (!lx__process_is_this(&reader->process))
        return fail_forked(error);
    if (offset % WORD != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "no record begins at offset %" PRIu64 ", which is not a multiple of 4",
                       offset);
    lx_status status = lx__input_seek(&reader->input, offset, error);
    if (status != LX_OK)
        return status;
    reader->stored = 0;
    reader->lost = false;
    return LX_OK;
}

uint64_t lx_recordio_reader_tell(const lx_recordio_reader *reader)
{
    return reader->input.offset + reader->stored;
}
