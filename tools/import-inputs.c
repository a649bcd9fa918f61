/* SPDX-License-Identifier: MIT */
#include "import-inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "report.h"

/* Bad records that are printed; --json lists more. */
#define PRINTED 20

void *import_inputs_grow(void *list, size_t count, size_t size)
{
    return realloc(list, (count + 1) * size);
}

static lx_status show_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    const import_inputs *self = user;
    progress_update(self->bar, done, total, done);
    return interrupt_check(error);
}

static lx_status set_up(import_inputs *self, lx_error *error)
{
    lx_importer *importer = self->importer;
    lx_status status = lx_importer_set_format(importer, self->format, error);
    for (size_t i = 0; status == LX_OK && i < self->option_count; i++)
        status = lx_importer_set_option(importer, self->options[i].name, self->options[i].value,
                                        error);
    for (size_t i = 0; status == LX_OK && i < self->input_count; i++)
        status = lx_importer_add_input(importer, self->inputs[i], error);
    for (size_t i = 0; status == LX_OK && i < self->field_count; i++)
        status = lx_importer_set_field(importer, self->fields[i].name, self->fields[i].value,
                                       error);
    for (size_t i = 0; status == LX_OK && i < self->column_count; i++) {
        const column *from = &self->columns[i];
        status = lx_importer_set_compression(
            importer, strcmp(from->field, "*") != 0 ? from->field : NULL, from->compression,
            from->level, from->dictionary, error);
    }
    if (status == LX_OK)
        status = lx_importer_set_bad_policy(importer, self->skip ? LX_BAD_SKIP : LX_BAD_STOP,
                                            error);
    if (status == LX_OK)
        status = lx_importer_set_append(importer, self->append, error);
    if (status == LX_OK)
        status = lx_importer_set_resume(importer, self->resume, error);
    if (status == LX_OK)
        status = lx_importer_set_progress(importer, show_progress, self, error);
    return status;
}

static lx_status seal(const import_inputs *self, const lx_writer_options *options, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(self->path, options, &writer, error);
    if (status == LX_OK)
        status = lx_writer_seal(writer, error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

/** Says how to go on after a failure. */
static void advise_resume(const import_inputs *self, lx_error *error)
{
    bool begun = false;
    lx_dataset *dataset = NULL;
    bool bad = error->record != LX_NONE; /* to continue without a change would fail again */
    if (!self->replace && lx_dataset_open(self->path, NULL, &dataset, NULL) == LX_OK)
        begun = dataset_is_incomplete(dataset);
    lx_dataset_close(dataset);
    if (error->status == LX_ERR_STATE)
        advise(error, LX_ERR_STATE, "the option is --resume");
    else if (begun && bad)
        advise(error, error->status,
               "to continue, mend the record and use --resume, or add --on-bad skip");
    else if (begun && error->status != LX_ERR_MISMATCH && error->status != LX_ERR_CORRUPT)
        advise(error, error->status, "continue with --resume");
}

lx_status import_inputs_run(import_inputs *self, const lx_writer_options *options, lx_error *error)
{
    self->importer = lx_importer_new();
    if (self->importer == NULL)
        return fail_memory(error, "an importer");
    lx_status status = set_up(self, error);
    if (status == LX_OK) {
        status = lx_importer_run(self->importer, self->path, options, error);
        if (status != LX_OK)
            advise_resume(self, error);
    }
    lx_importer_get_result(self->importer, &self->result);
    return status == LX_OK && self->seal ? seal(self, options, error) : status;
}

json_t *import_inputs_list_bad(const import_inputs *self)
{
    const lx_error *bad;
    json_t *list = json_array();
    for (size_t i = 0; (bad = lx_importer_get_bad(self->importer, i)) != NULL; i++)
        if (json_array_append_new(
                list,
                json_pack("{s:o, s:o, s:o, s:o, s:o}", "path", report_text(bad->path), "record",
                          bad->record != LX_NONE ? report_number(bad->record) : json_null(),
                          "offset",
                          bad->offset != LX_NONE ? report_number(bad->offset) : json_null(),
                          "field", *bad->field != '\0' ? report_text(bad->field) : json_null(),
                          "message", report_text(bad->message))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

void import_inputs_print_bad(const import_inputs *self)
{
    char line[2048];
    const lx_error *bad;
    size_t i;
    for (i = 0; i < PRINTED && (bad = lx_importer_get_bad(self->importer, i)) != NULL; i++) {
        lx_error_describe(bad, line, sizeof line);
        fprintf(stderr, "loaderx import: skipped: %s\n", line);
    }
    if (self->result.bad > i)
        fprintf(stderr, "loaderx import: skipped %" PRIu64 " more%s\n", self->result.bad - i,
                i == PRINTED ? "; --json lists them" : " before the interruption");
}

void import_inputs_end(import_inputs *self)
{
    lx_importer_free(self->importer);
    free(self->inputs);
    free(self->fields);
    free(self->options);
}
