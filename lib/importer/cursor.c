/* SPDX-License-Identifier: MIT */
#include "importer/cursor.h"

#include <string.h>

#include "base/error.h"

/* Bytes of the inputs between two reports of progress. */
#define REPORT_STEP ((uint64_t)4 << 20)

void lx__cursor_init(lx__cursor *self, lx_importer *importer, const lx__class_labels *labels,
                     uint64_t total)
{
    *self =
        (lx__cursor){.importer = importer, .labels = labels, .input = {.fd = -1}, .total = total};
}

uint64_t lx__cursor_place(const lx__cursor *self)
{
    return self->reader != NULL && self->importer->format->opens_paths ? self->reader->read
                                                                       : self->input.offset;
}

static uint64_t bytes_read(const lx__cursor *self)
{
    uint64_t read = self->reader != NULL && self->importer->format->opens_paths
                        ? self->reader->read
                        : self->input.file_read;
    return self->before + read;
}

static lx_status report(void *user, lx_error *error)
{
    lx__cursor *self = user;
    const lx_importer *importer = self->importer;
    uint64_t done = bytes_read(self);
    self->next = done + REPORT_STEP;
    return importer->progress == NULL
               ? LX_OK
               : lx__error_return(error,
                                  importer->progress(done, self->total, importer->user, error),
                                  "progress");
}

/** Whether a failure concerns only a record or an input. */
static bool is_bad(lx_status status)
{
    return status == LX_ERR_CORRUPT || status == LX_ERR_LIMIT || status == LX_ERR_UNSUPPORTED ||
           status == LX_ERR_MISMATCH || status == LX_ERR_NOT_FOUND;
}

lx_status lx__cursor_refuse(lx__cursor *self, lx_error *why, lx_error *error)
{
    lx_error_locate(why, self->path, NULL, self->number - 1, self->record.offset);
    /* What was sampled of an overfull input is lost: to pass over it would lose good records. */
    if (!is_bad(why->status) || self->importer->policy != LX_BAD_SKIP || self->input.overfull) {
        lx__error_propagate(error, why);
        return why->status;
    }
    if (self->purpose == LX__CURSOR_IMPORT)
        return lx__importer_note_bad(self->importer, why, error);
    if (self->bad++ == 0)
        self->first_bad = *why;
    return LX_OK;
}

static lx_status open_reader(lx__cursor *self, lx_error *error)
{
    const lx_importer *importer = self->importer;
    self->reader = importer->format->create();
    if (self->reader == NULL)
        return lx__fail_memory(error, "a reader");
    self->reader->source = (lx__import_source){
        .path = self->path,
        .input = importer->format->opens_paths ? NULL : &self->input,
        .record_limit = importer->record_limit,
        .options = (const char *const *)importer->options,
        .labels = self->labels,
    };
    return importer->format->open(self->reader, error);
}

lx_status lx__cursor_open(lx__cursor *self, size_t input, lx__cursor_purpose purpose,
                          lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = LX_OK;
    uint64_t keep = purpose == LX__CURSOR_SAMPLE
                        ? self->importer->record_limit + LX__CURSOR_SAMPLE_BYTES
                        : 0;
    self->purpose = purpose;
    self->path = self->importer->inputs[input];
    self->number = 0; /* a failure concerns no record */
    self->record = (lx__import_record){.offset = LX_NONE};
    if (self->opened && self->number_opened != input) {
        lx__input_close(&self->input);
        self->opened = false;
    }
    if (!self->importer->format->opens_paths && !self->opened)
        status = lx__input_open(&self->input, self->path, keep, report, self, &why);
    self->opened = false;
    self->number_opened = input;
    if (status == LX_OK && !self->importer->format->opens_paths) {
        self->number = 1; /* what precedes the first record counts as a part of it */
        self->record.offset = 0;
    }
    if (status == LX_OK)
        status = open_reader(self, &why);
    if (status == LX_OK) {
        self->number = 0;
        return LX_OK;
    }
    if (self->reader != NULL)
        self->reader->lost = true;
    self->input.failed = true;
    return lx__cursor_refuse(self, &why, error);
}

lx_status lx__cursor_next(lx__cursor *self, lx_error *error)
{
    while (self->reader != NULL && !self->reader->lost && !self->input.failed) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = LX_OK;
        if (self->purpose == LX__CURSOR_IMPORT && bytes_read(self) >= self->next)
            status = report(self, error);
        if (status != LX_OK)
            return status;
        self->record.count = 0;
        status = self->importer->format->next(self->reader, &self->record, &why);
        if (status == LX_END)
            return LX_END;
        self->number++;
        if (status == LX_OK)
            return LX_OK;
        status = lx__cursor_refuse(self, &why, error);
        if (status != LX_OK)
            return status;
    }
    return LX_END;
}

static void close_reader(lx__cursor *self)
{
    if (self->reader != NULL)
        self->importer->format->close(self->reader);
    self->reader = NULL;
}

void lx__cursor_close(lx__cursor *self)
{
    if (self->purpose == LX__CURSOR_IMPORT)
        self->before = bytes_read(self);
    if (self->purpose == LX__CURSOR_IMPORT && self->reader != NULL)
        self->hidden += self->reader->hidden;
    close_reader(self);
    if (self->purpose == LX__CURSOR_SAMPLE && self->input.fd != -1 && self->input.once &&
        !self->input.failed) {
        lx__input_rewind(&self->input);
        self->opened = true;
        return;
    }
    lx__input_close(&self->input);
}

void lx__cursor_free(lx__cursor *self)
{
    close_reader(self);
    lx__input_close(&self->input);
}
