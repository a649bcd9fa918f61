/* SPDX-License-Identifier: MIT */
/* loaderx get: prints records of one field, or writes them to a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "dataset.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "number.h"
#include "value.h"

enum { OPTION_FIELD = OPTION_OWN, OPTION_HEX, OPTION_RAW, OPTION_NPY };

static const command_option options[] = {
    {OPTION_FIELD, "field", "F", "the field; may be omitted if there is only one"},
    {OPTION_HEX, "hex", NULL, "print the bytes of the records in hexadecimal"},
    {OPTION_RAW, "raw", NULL, "write the bytes of the records, concatenated"},
    {OPTION_NPY, "npy", "FILE", "write the records as one array to an .npy file"},
};

/** The arguments. */
typedef struct request {
    const char *path;
    const char *field_name;
    const char *npy_path;
    bool hex, raw;
    index_range *ranges;
    size_t count;
} request;

/** The state of a running request. */
typedef struct getting {
    const request *request;
    lx_dataset *dataset;
    size_t position; /**< Position of the field. */
    const lx_field *field;
    FILE *to;
    bool labelled; /**< More than one record may be printed, so each begins with its index. */
    char *buffer;  /**< Holds one record. */
    size_t capacity;
} getting;

/* ---- the command line */

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    if (option->id == OPTION_FIELD)
        r->field_name = value;
    r->hex = r->hex || option->id == OPTION_HEX;
    r->raw = r->raw || option->id == OPTION_RAW;
    if (option->id == OPTION_NPY)
        r->npy_path = value;
    if (r->hex + r->raw + (r->npy_path != NULL) > 1)
        return lx_fail(error, LX_ERR_ARGUMENT, "--hex, --raw and --npy are mutually exclusive");
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    if (r->path == NULL)
        return command_take_directory(&r->path, text, error);
    index_range *more = realloc(r->ranges, (r->count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "an index");
    r->ranges = more;
    return index_range_parse(text, &more[r->count++], error);
}

static lx_status check_request(const request *r, lx_error *error)
{
    lx_status status = command_need_directory(r->path, error);
    if (status == LX_OK && r->count == 0)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "INDEX is missing: use, for example, 5, -1 for the last record, or 10:20");
    return status;
}

/* ---- one record */

static lx_status reserve(getting *g, uint64_t size, lx_error *error)
{
    if (size <= g->capacity && g->buffer != NULL)
        return LX_OK;
    char *larger = size < SIZE_MAX ? realloc(g->buffer, (size_t)size + 1) : NULL;
    if (larger == NULL)
        return fail_memory(error, "a record");
    g->buffer = larger;
    g->capacity = (size_t)size;
    return LX_OK;
}

/** Reads a record into the buffer. @p size is #LX_NONE if the record is missing. */
static lx_status read_record(getting *g, uint64_t index, uint64_t *size, lx_error *error)
{
    uint64_t offsets[2];
    uint8_t present;
    lx_status status = lx_dataset_get_sizes(g->dataset, g->position, &index, 1, offsets, &present,
                                            error);
    if (status == LX_OK)
        status = reserve(g, offsets[1], error);
    if (status == LX_OK)
        status = lx_dataset_gather_bytes(g->dataset, g->position, &index, 1, offsets, g->buffer,
                                         error);
    *size = status == LX_OK && present ? offsets[1] : LX_NONE;
    return status;
}

/** Raw bytes cannot distinguish a missing record from an empty one, or from zeros. */
static lx_status fail_missing(const getting *g, uint64_t index, lx_error *error)
{
    lx_status status =
        lx_fail(error, LX_ERR_MISMATCH,
                "the value is missing, which %s cannot represent: exclude this record",
                g->request->raw ? "--raw" : "--npy");
    lx_error_locate(error, g->request->path, g->field->name, index, LX_NONE);
    return status;
}

static lx_status write_record(getting *g, uint64_t index, uint64_t size, lx_error *error)
{
    if (size == LX_NONE)
        return fail_missing(g, index, error);
    if (fwrite(g->buffer, 1, (size_t)size, g->to) == size)
        return LX_OK;
    return lx_fail_errno(error, errno, g->request->npy_path, "cannot write");
}

static void print_record(const getting *g, uint64_t index, uint64_t size)
{
    lx_dtype dtype = g->field->dtype;
    bool bytes = g->request->hex || dtype == LX_BYTES || dtype == LX_IMAGE;
    bool short_text = size == LX_NONE || size == 0 || (g->field->ndim == 0 && !bytes);
    if (g->labelled)
        fprintf(g->to, "%" PRIu64 ":%c", index, short_text ? ' ' : '\n');
    if (size == LX_NONE)
        fputs("missing\n", g->to);
    else if (size == 0)
        fputs("empty\n", g->to);
    else if (bytes)
        value_dump(g->buffer, size, g->to);
    else if (lx_dtype_is_bytes(dtype))
        value_print_text(g->buffer, size, g->to);
    else
        value_print(g->field, g->buffer, size, g->to);
}

/* ---- several records */

static lx_status get_range(getting *g, uint64_t first, uint64_t end, lx_error *error)
{
    bool whole = g->request->raw || g->request->npy_path != NULL;
    lx_status status = LX_OK;
    for (uint64_t index = first; status == LX_OK && index < end; index++) {
        uint64_t size;
        status = read_record(g, index, &size, error);
        if (status == LX_OK && whole)
            status = write_record(g, index, size, error);
        else if (status == LX_OK)
            print_record(g, index, size);
        if (ferror(g->to))
            break; /* the error is reported at the end of the program */
    }
    return status;
}

static lx_status get_all(getting *g, lx_error *error)
{
    uint64_t length = lx_dataset_get_length(g->dataset), first, end;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < g->request->count; i++) {
        status = index_range_resolve(&g->request->ranges[i], length, &first, &end, error);
        lx_error_locate(error, g->request->path, NULL, LX_NONE, LX_NONE);
        if (status == LX_OK)
            status = get_range(g, first, end, error);
    }
    return status;
}

/** Resolves all indices and counts their records, before anything is written. */
static lx_status count_records(const getting *g, uint64_t *count, lx_error *error)
{
    uint64_t length = lx_dataset_get_length(g->dataset), first, end;
    lx_status status = LX_OK;
    *count = 0;
    for (size_t i = 0; status == LX_OK && i < g->request->count; i++) {
        status = index_range_resolve(&g->request->ranges[i], length, &first, &end, error);
        *count += status == LX_OK ? end - first : 0;
    }
    lx_error_locate(error, g->request->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Lists the records of all indices in order. */
static lx_status list_records(const getting *g, uint64_t count, uint64_t **indices, lx_error *error)
{
    uint64_t length = lx_dataset_get_length(g->dataset), first, end, used = 0;
    *indices = count < SIZE_MAX / sizeof **indices ? malloc((size_t)(count + 1) * sizeof **indices)
                                                   : NULL;
    if (*indices == NULL)
        return fail_memory(error, "the indices");
    for (size_t i = 0; i < g->request->count; i++) {
        (void)index_range_resolve(&g->request->ranges[i], length, &first, &end, error);
        while (first < end)
            (*indices)[used++] = first++;
    }
    return LX_OK;
}

/** Checks that all records have a value: in the library's array, missing ones would be zeros. */
static lx_status check_present(const getting *g, const uint64_t *indices, uint64_t count,
                               lx_error *error)
{
    enum { MOST = 1024 };
    uint64_t offsets[MOST + 1];
    uint8_t present[MOST];
    lx_status status = LX_OK;
    for (uint64_t at = 0; status == LX_OK && at < count; at += MOST) {
        size_t some = count - at < MOST ? (size_t)(count - at) : MOST;
        status = lx_dataset_get_sizes(g->dataset, g->position, indices + at, some, offsets, present,
                                      error);
        for (size_t i = 0; status == LX_OK && i < some; i++)
            if (!present[i])
                status = fail_missing(g, indices[at + i], error);
    }
    return status;
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)done, (void)total, (void)user;
    return interrupt_check(error);
}

/** Writes a file: the library replaces it atomically, and refuses to replace files of a dataset. */
static lx_status write_file(const getting *g, const char *path, uint64_t count, lx_error *error)
{
    uint64_t *indices;
    lx_status status = list_records(g, count, &indices, error);
    if (status != LX_OK)
        return status;
    interrupt_catch();
    lx_export_options *chosen = lx_export_options_new();
    status = chosen != NULL ? check_present(g, indices, count, error)
                            : fail_memory(error, "options");
    if (status == LX_OK)
        status = lx_export_options_set_indices(chosen, indices, count, error);
    if (status == LX_OK)
        status = lx_export_options_set_progress(chosen, advanced, NULL, error);
    if (status == LX_OK)
        status = lx_dataset_export_npy(g->dataset, g->position, path, chosen, NULL, error);
    lx_export_options_free(chosen);
    free(indices);
    return status;
}

/** Writes to a pipe or a device, which cannot be replaced. */
static lx_status write_stream(getting *g, const char *path, uint64_t count, lx_error *error)
{
    char header[LX_MAX_NPY_HEADER];
    size_t size = lx_npy_format_header(g->field, count, header);
    g->to = fopen(path, "wb");
    if (g->to == NULL)
        return lx_fail_errno(error, errno, path, "cannot open for writing");
    lx_status status = fwrite(header, 1, size, g->to) == size
                           ? get_all(g, error)
                           : lx_fail_errno(error, errno, path, "cannot write");
    errno = 0;
    if (fclose(g->to) != 0 && status == LX_OK)
        status = lx_fail_errno(error, errno, path, "cannot write");
    return status;
}

static lx_status get_npy(getting *g, lx_error *error)
{
    const char *path = g->request->npy_path;
    struct stat about;
    uint64_t count;
    if (g->field->size == LX_NONE)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "the records of field '%s' vary in length and do not form an array: use --raw",
            g->field->name);
    lx_status status = count_records(g, &count, error);
    if (status == LX_OK)
        status = directory_check_parent(path, error);
    if (status != LX_OK)
        return status;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return write_stream(g, path, count, error);
    /* Replaces the target of a symbolic link, and keeps the link. */
    char *target = lstat(path, &about) == 0 && S_ISLNK(about.st_mode) ? realpath(path, NULL) : NULL;
    status = write_file(g, target != NULL ? target : path, count, error);
    free(target);
    return status;
}

static lx_status find_field(getting *g, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(g->dataset);
    lx_status status = LX_OK;
    if (g->request->field_name != NULL)
        status = lx_schema_find_field(schema, g->request->field_name, &g->position, error);
    else if (lx_schema_get_field_count(schema) != 1)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the dataset has %zu fields: choose one with --field",
                         lx_schema_get_field_count(schema));
    lx_error_locate(error, g->request->path, NULL, LX_NONE, LX_NONE);
    g->field = lx_schema_get_field(schema, g->position);
    return status;
}

static lx_status get(const request *r, lx_error *error)
{
    getting g = {.request = r, .to = stdout, .labelled = r->count > 1 || !r->ranges[0].single};
    lx_status status = dataset_open(r->path, &g.dataset, error);
    if (status == LX_OK)
        status = find_field(&g, error);
    if (status == LX_OK)
        status = r->npy_path != NULL ? get_npy(&g, error) : get_all(&g, error);
    dataset_advise_repair(error);
    lx_dataset_close(g.dataset);
    free(g.buffer);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&get_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = get(&r, error);
    free(r.ranges);
    return status;
}

const command get_command = {
    .name = "get",
    .arguments = "DIR INDEX... --field F [--hex|--raw|--npy FILE]",
    .summary = "print records of one field, or write them to a file",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "INDEX is a number, counted from the end if negative, or a range A:B that excludes\n"
             "B, as in Python. A single number is printed in decimal, an array with one line per\n"
             "row of its last axis, str and json as text, and bytes and images in hexadecimal.\n",
    .examples = "  loaderx get fashion 0 --field label\n"
                "  loaderx get fashion -3: --field data --hex\n"
                "  loaderx get fashion 0:1000 --field data --npy first.npy\n",
    .fetches = true,
    .run = run};
