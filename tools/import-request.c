/* SPDX-License-Identifier: MIT */
#include "import-request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "directory-swap.h"
#include "failure.h"
#include "interrupt.h"
#include "report.h"

static lx_status fill_writer_options(const import_request *r, const importer *job, lx_error *error)
{
    /* What is committed must be durable when success is reported. */
    lx_status status = lx_writer_options_set_durability(job->options, LX_DURABILITY_FULL, error);
    if (status == LX_OK && r->chunk_given)
        status = lx_writer_options_set_chunk_limits(job->options, r->chunk_records, r->chunk_bytes,
                                                    error);
    if (status == LX_OK)
        status = lx_writer_options_set_executor(job->options, job->executor, error);
    return status;
}

/** Keys that only an import with --format has. */
static lx_status add_inputs(const import_inputs *inputs, json_t *summary, lx_error *error)
{
    json_t *more = json_pack("{s:o, s:o, s:o}", "resumed", report_number(inputs->result.resumed),
                             "bad", report_number(inputs->result.bad), "skipped",
                             import_inputs_list_bad(inputs));
    int failed = more == NULL || json_object_update(summary, more) != 0;
    json_decref(more);
    return failed ? fail_memory(error, "the summary") : LX_OK;
}

/** The names of the fields, in the order of the dataset. */
static lx_status list_fields(const import_request *r, const importer *job, json_t *fields,
                             lx_error *error)
{
    lx_dataset *dataset = NULL;
    for (size_t i = 0; r->inputs.format == NULL && i < job->count; i++)
        json_array_append_new(fields, json_string(job->columns[i].field));
    if (r->inputs.format == NULL)
        return LX_OK;
    lx_status status = dataset_open(job->path, &dataset, error);
    if (status != LX_OK)
        return status;
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++)
        json_array_append_new(fields, json_string(lx_schema_get_field(schema, i)->name));
    lx_dataset_close(dataset);
    return LX_OK;
}

static lx_status print_json(const import_request *r, const importer *job, double seconds,
                            lx_error *error)
{
    json_t *fields = json_array();
    lx_status status = list_fields(r, job, fields, error);
    if (status != LX_OK) {
        json_decref(fields);
        return status;
    }
    json_t *summary = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:f, s:b, s:o}", "path", report_text(job->path), "records",
        report_number(job->length - job->first), "length", report_number(job->length), "fields",
        fields, "bytes", report_number(job->bytes), "seconds", seconds, "sealed", r->seal, "former",
        r->former != NULL ? report_text(r->former) : json_null());
    if (summary != NULL && r->inputs.format != NULL &&
        add_inputs(&r->inputs, summary, error) != LX_OK) {
        json_decref(summary);
        return LX_ERR_NOMEM;
    }
    return report_print(summary, error);
}

static lx_status print_summary(const import_request *r, const importer *job, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    double seconds = progress_seconds(job->bar);
    if (r->json)
        return print_json(r, job, seconds, error);
    if (r->quiet)
        return LX_OK;
    printf("%s: imported %" PRIu64 " records (%s) in %.1f s", job->path, job->length - job->first,
           report_size(job->bytes, size), seconds);
    if (r->append || r->inputs.result.resumed != 0)
        printf("; %" PRIu64 " in total", job->length);
    if (r->inputs.result.bad != 0)
        printf("; %" PRIu64 " bad records skipped", r->inputs.result.bad);
    printf("%s\n", r->seal ? "; sealed" : "");
    if (r->inputs.result.bad != 0)
        import_inputs_print_bad(&r->inputs);
    return LX_OK;
}

/** The import has succeeded and must not be repeated: if the old dataset could not be removed, this
 * causes only a warning. */
static lx_status warn(import_request *r, const directory_swap *other, lx_error *error)
{
    bool read = other->why.status == LX_ERR_BUSY;
    fprintf(stderr, "loaderx import: warning: %s: the replaced dataset was moved here %s%s\n",
            other->former, read ? "because it is in use" : "because it could not be removed: ",
            read ? "; when it is no longer in use, remove it with 'rm -r'" : other->why.message);
    r->former = strdup(other->former);
    return r->former != NULL ? LX_OK : fail_memory(error, "a name");
}

/** Imports into job->path. */
static lx_status import(import_request *r, importer *job, lx_error *error)
{
    import_inputs *inputs = &r->inputs;
    if (inputs->format == NULL)
        return importer_run(job, error);
    inputs->path = job->path;
    lx_status status = import_inputs_run(inputs, job->options, error);
    job->bytes = inputs->result.bytes;
    job->length = inputs->result.length;
    job->first = job->length - inputs->result.records;
    return status;
}

/** Imports into a new directory, then swaps it with the dataset. */
static lx_status replace(import_request *r, importer *job, lx_error *error)
{
    directory_swap other;
    const char *path = job->path;
    lx_status status = directory_swap_begin(&other, path, error);
    if (status == LX_OK) {
        job->path = other.made;
        status = import(r, job, error);
        job->path = path;
        if (status != LX_OK && r->inputs.format != NULL)
            (void)lx_dataset_remove(other.made, NULL);
    }
    if (status == LX_OK)
        status = directory_swap_finish(&other, error);
    progress_clear(job->bar);
    if (status == LX_OK && other.kept)
        status = warn(r, &other, error);
    directory_swap_end(&other);
    return status;
}

/** Opens the columns, or passes what is common on to the import of inputs. */
static lx_status prepare(import_request *r, importer *job, lx_error *error)
{
    lx_status status = LX_OK;
    r->inputs.columns = r->columns;
    r->inputs.column_count = r->count;
    r->inputs.append = r->append;
    r->inputs.seal = r->seal;
    r->inputs.replace = r->replace;
    r->inputs.bar = job->bar;
    for (size_t i = 0; status == LX_OK && r->inputs.format == NULL && i < r->count; i++)
        status = column_open(&r->columns[i], error);
    if (status == LX_OK)
        status = threads_open(&r->threads, &job->executor, error);
    if (status == LX_OK && (job->options = lx_writer_options_new()) == NULL)
        status = fail_memory(error, "a writer");
    return status == LX_OK ? fill_writer_options(r, job, error) : status;
}

lx_status import_request_run(import_request *r, lx_error *error)
{
    progress bar;
    importer job = {.path = r->path,
                    .append = r->append,
                    .seal = r->seal,
                    .columns = r->columns,
                    .count = r->count,
                    .bar = &bar};
    interrupt_catch();
    progress_begin(&bar, "import", r->quiet);
    lx_status status = prepare(r, &job, error);
    if (status == LX_OK)
        status = r->replace ? replace(r, &job, error) : import(r, &job, error);
    progress_clear(&bar);
    if (r->inputs.format == NULL || r->replace)
        advise(error, LX_ERR_CANCELED, "nothing was imported");
    if (status == LX_OK)
        status = print_summary(r, &job, error);
    lx_writer_options_free(job.options);
    lx_executor_close(job.executor);
    return status;
}

void import_request_end(import_request *r)
{
    for (size_t i = 0; i < r->count; i++)
        column_close(&r->columns[i]);
    import_inputs_end(&r->inputs);
    free(r->columns);
    free(r->settings);
    free(r->former);
}
