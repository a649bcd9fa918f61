/* SPDX-License-Identifier: MIT */
/* loaderx import: parses the command line; importer.c does the work. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "importer.h"
#include "interrupt.h"
#include "number.h"
#include "directory-swap.h"
#include "report.h"
#include "threads.h"

enum {
    OPTION_IDX = OPTION_OWN,
    OPTION_NPY,
    OPTION_COMPRESS,
    OPTION_DICTIONARY,
    OPTION_APPEND,
    OPTION_REPLACE,
    OPTION_SEAL,
    OPTION_THREADS,
    OPTION_LEVEL,
    OPTION_CHUNK_RECORDS,
    OPTION_CHUNK_BYTES
};

static const command_option options[] = {
    {OPTION_IDX, "idx", "F=FILE", "read field F from an IDX file; repeat for each field"},
    {OPTION_NPY, "npy", "F=FILE", "read field F from an .npy file; repeat for each field"},
    {OPTION_COMPRESS, "compress", "F=raw|flate|zstd", "how field F is stored (raw)"},
    {OPTION_DICTIONARY, "dictionary", "F[=SIZE]", "train a zstd dictionary for field F (110k)"},
    {OPTION_APPEND, "append", NULL, "append to an existing dataset"},
    {OPTION_REPLACE, "replace", NULL, "replace an existing dataset"},
    {OPTION_SEAL, "seal", NULL, "seal the dataset afterwards"},
    {OPTION_THREADS, "threads", "N", "number of threads that read files, 0 to 64 (one per CPU)"},
    {OPTION_LEVEL, "level", "[F=]N",
     "level of field F, or of all: 1 (fast) to 9, or to 22 for zstd"},
    {OPTION_CHUNK_RECORDS, "chunk-records", "N",
     "maximum number of payloads in a chunk file (1048576)"},
    {OPTION_CHUNK_BYTES, "chunk-bytes", "SIZE", "maximum size of a chunk file (1G)"},
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** The arguments. */
typedef struct request {
    const char *path;
    column *columns;
    size_t count;
    struct setting {
        const command_option *option;
        char *text;
    } * settings; /**< --compress, --dictionary and --level, as given. */
    size_t setting_count;
    bool append, replace, seal, quiet, json;
    bool chunk_given;
    char *former; /**< Path of the replaced dataset if it could not be removed. */
    threads threads;
    uint64_t chunk_records, chunk_bytes;
} request;

/* ---- the command line */

/** Splits "F=rest" at the first '=', in place: argv may be modified. */
static lx_status split(const command_option *option, char *text, const char **rest, lx_error *error)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "--%s '%.64s' is invalid: use %s", option->name,
                       text, option->value);
    *equals = '\0';
    *rest = equals + 1;
    return LX_OK;
}

static lx_status take_column(request *r, const command_option *option, char *text, lx_error *error)
{
    column added = {.kind = option->id == OPTION_IDX ? COLUMN_IDX : COLUMN_NPY};
    lx_status status = split(option, text, &added.path, error);
    added.field = text;
    for (size_t i = 0; status == LX_OK && i < r->count; i++)
        if (strcmp(r->columns[i].field, added.field) == 0)
            status = lx_fail(error, LX_ERR_ARGUMENT, "field '%.64s' is given twice", added.field);
    if (status != LX_OK)
        return status;
    column *more = realloc(r->columns, (r->count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a field");
    r->columns = more;
    more[r->count++] = added;
    return LX_OK;
}

static lx_status take_setting(request *r, const command_option *option, char *text, lx_error *error)
{
    struct setting *more = realloc(r->settings, (r->setting_count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "an option");
    r->settings = more;
    more[r->setting_count++] = (struct setting){option, text};
    return LX_OK;
}

static lx_status take_number(request *r, const command_option *option, const char *value,
                             lx_error *error)
{
    switch (option->id) {
    case OPTION_THREADS:
        return threads_parse(&r->threads, value, error);
    case OPTION_CHUNK_RECORDS:
        r->chunk_given = true;
        return number_parse("--chunk-records", value, &r->chunk_records, error);
    default:
        r->chunk_given = true;
        return number_parse_size("--chunk-bytes", value, &r->chunk_bytes, error);
    }
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_IDX:
    case OPTION_NPY:
        return take_column(r, option, value, error);
    case OPTION_COMPRESS:
    case OPTION_DICTIONARY:
    case OPTION_LEVEL:
        return take_setting(r, option, value, error);
    case OPTION_APPEND:
        r->append = true;
        return LX_OK;
    case OPTION_REPLACE:
        r->replace = true;
        return LX_OK;
    case OPTION_SEAL:
        r->seal = true;
        return LX_OK;
    case OPTION_JSON:
        r->json = true;
        return LX_OK;
    case 'q':
        r->quiet = true;
        return LX_OK;
    default:
        return take_number(r, option, value, error);
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

/* ---- checking the arguments */

static column *find_column(const request *r, const char *field)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->columns[i].field, field) == 0)
            return &r->columns[i];
    return NULL;
}

static lx_status fail_setting(const struct setting *setting, const char *field, const char *why,
                              lx_error *error)
{
    return lx_fail(error, LX_ERR_ARGUMENT, "--%s %.64s: %s", setting->option->name, field, why);
}

static lx_status apply_compress(const struct setting *setting, column *to, const char *how,
                                lx_error *error)
{
    for (int i = LX_COMPRESSION_RAW; how != NULL && i <= LX_COMPRESSION_ZSTD; i++) {
        if (strcmp(how, report_compression((lx_compression)i)) != 0)
            continue;
        to->compression = (lx_compression)i;
        return LX_OK;
    }
    return fail_setting(setting, to->field, "use F=raw, F=flate or F=zstd", error);
}

static lx_status apply_dictionary(const struct setting *setting, column *to, const char *size,
                                  lx_error *error)
{
    uint64_t bytes = LX_DEFAULT_DICTIONARY;
    if (size != NULL && number_parse_size("--dictionary", size, &bytes, error) != LX_OK)
        return LX_ERR_ARGUMENT;
    if (bytes == 0 || bytes > LX_MAX_DICTIONARY)
        return fail_setting(setting, to->field, "use a size up to 16M", error);
    if (to->compression != LX_COMPRESSION_ZSTD)
        return fail_setting(setting, to->field, "requires --compress F=zstd", error);
    to->dictionary = (uint32_t)bytes;
    return LX_OK;
}

static lx_status set_level(const char *text, column *to, lx_error *error)
{
    uint64_t level, most = to->compression == LX_COMPRESSION_ZSTD ? 22 : 9;
    lx_status status = number_parse_within("--level", text, 1, most, &level, error);
    if (status == LX_OK)
        to->level = (int)level;
    return status;
}

/** Applies a level without a field to all compressed fields. */
static lx_status apply_level_to_all(request *r, const char *text, lx_error *error)
{
    lx_status status = LX_OK;
    size_t count = 0;
    for (size_t i = 0; status == LX_OK && i < r->count; i++) {
        if (r->columns[i].compression == LX_COMPRESSION_RAW)
            continue;
        status = set_level(text, &r->columns[i], error);
        count++;
    }
    if (status == LX_OK && count == 0)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--level requires --compress F=flate or F=zstd");
    return status;
}

static lx_status apply_setting(request *r, const struct setting *setting, lx_error *error)
{
    char *equals = strchr(setting->text, '='), *value = equals != NULL ? equals + 1 : NULL;
    if (setting->option->id == OPTION_LEVEL && value == NULL)
        return apply_level_to_all(r, setting->text, error);
    if (equals != NULL)
        *equals = '\0';
    column *to = find_column(r, setting->text);
    if (to == NULL)
        return fail_setting(setting, setting->text, "no file is given for this field", error);
    if (setting->option->id == OPTION_COMPRESS)
        return apply_compress(setting, to, value, error);
    if (setting->option->id == OPTION_DICTIONARY)
        return apply_dictionary(setting, to, value, error);
    if (to->compression == LX_COMPRESSION_RAW)
        return fail_setting(setting, to->field, "requires --compress F=flate or F=zstd", error);
    return set_level(value, to, error);
}

/** Applies the settings: first the compressions, then the levels of all fields, which the levels of
 * single fields override. */
static lx_status apply_settings(request *r, lx_error *error)
{
    lx_status status = LX_OK;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; status == LX_OK && i < r->setting_count; i++) {
            const struct setting *setting = &r->settings[i];
            bool all = setting->option->id == OPTION_LEVEL && strchr(setting->text, '=') == NULL;
            if (turn == (setting->option->id == OPTION_COMPRESS ? 0 : all ? 1 : 2))
                status = apply_setting(r, setting, error);
        }
    }
    return status;
}

static lx_status check_request(request *r, lx_error *error)
{
    lx_status status = command_need_directory(r->path, error);
    if (status == LX_OK && r->count == 0)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "no field is given: use --idx F=FILE or --npy F=FILE");
    if (status == LX_OK && r->append && r->replace)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--append and --replace are mutually exclusive");
    if (status == LX_OK && r->append && (r->setting_count != 0 || r->chunk_given))
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "%s cannot be set with --append: it is fixed when a dataset is created",
                         r->chunk_given ? "the chunk size" : "compression");
    return status == LX_OK ? apply_settings(r, error) : status;
}

/* ---- importing */

static lx_status fill_writer_options(const request *r, const importer *job, lx_error *error)
{
    /* The single commit at the end must be durable when success is reported. */
    lx_status status = lx_writer_options_set_durability(job->options, LX_DURABILITY_FULL, error);
    if (status == LX_OK && r->chunk_given)
        status = lx_writer_options_set_chunk_limits(job->options, r->chunk_records, r->chunk_bytes,
                                                    error);
    if (status == LX_OK)
        status = lx_writer_options_set_executor(job->options, job->executor, error);
    return status;
}

static lx_status print_json(const request *r, const importer *job, double seconds, lx_error *error)
{
    json_t *fields = json_array();
    for (size_t i = 0; i < job->count; i++)
        json_array_append_new(fields, json_string(job->columns[i].field));
    return report_print(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:b, s:o}", "path", report_text(job->path),
                  "records", report_number(job->length - job->first), "length",
                  report_number(job->length), "fields", fields, "bytes", report_number(job->bytes),
                  "seconds", seconds, "sealed", r->seal, "former",
                  r->former != NULL ? report_text(r->former) : json_null()),
        error);
}

static lx_status print_summary(const request *r, const importer *job, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    double seconds = progress_seconds(job->bar);
    if (r->json)
        return print_json(r, job, seconds, error);
    if (r->quiet)
        return LX_OK;
    printf("%s: imported %" PRIu64 " records (%s) in %.1f s", job->path, job->length - job->first,
           report_size(job->bytes, size), seconds);
    if (r->append)
        printf("; %" PRIu64 " in total", job->length);
    printf("%s\n", r->seal ? "; sealed" : "");
    return LX_OK;
}

/** The import has succeeded and must not be repeated: if the old dataset could not be removed, this
 * causes only a warning. */
static lx_status warn(request *r, const directory_swap *other, lx_error *error)
{
    bool read = other->why.status == LX_ERR_BUSY;
    fprintf(stderr, "loaderx import: warning: %s: the replaced dataset was moved here %s%s\n",
            other->former, read ? "because it is in use" : "because it could not be removed: ",
            read ? "; when it is no longer in use, remove it with 'rm -r'" : other->why.message);
    r->former = strdup(other->former);
    return r->former != NULL ? LX_OK : fail_memory(error, "a name");
}

/** Imports into a new directory, then swaps it with the dataset. */
static lx_status replace(request *r, importer *job, lx_error *error)
{
    directory_swap other;
    const char *path = job->path;
    lx_status status = directory_swap_begin(&other, path, error);
    if (status == LX_OK) {
        job->path = other.made;
        status = importer_run(job, error);
        job->path = path;
    }
    if (status == LX_OK)
        status = directory_swap_finish(&other, error);
    progress_clear(job->bar);
    if (status == LX_OK && other.kept)
        status = warn(r, &other, error);
    directory_swap_end(&other);
    return status;
}

static lx_status do_request(request *r, lx_error *error)
{
    progress bar;
    importer job = {.path = r->path,
                    .append = r->append,
                    .seal = r->seal,
                    .columns = r->columns,
                    .count = r->count,
                    .bar = &bar};
    lx_status status = LX_OK;
    interrupt_catch();
    progress_begin(&bar, "import", r->quiet);
    for (size_t i = 0; status == LX_OK && i < r->count; i++)
        status = column_open(&r->columns[i], error);
    if (status == LX_OK)
        status = threads_open(&r->threads, &job.executor, error);
    if (status == LX_OK && (job.options = lx_writer_options_new()) == NULL)
        status = fail_memory(error, "a writer");
    if (status == LX_OK)
        status = fill_writer_options(r, &job, error);
    if (status == LX_OK)
        status = r->replace ? replace(r, &job, error) : importer_run(&job, error);
    progress_clear(&bar);
    advise(error, LX_ERR_CANCELED, "nothing was imported");
    if (status == LX_OK)
        status = print_summary(r, &job, error);
    lx_writer_options_free(job.options);
    lx_executor_close(job.executor);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.chunk_records = (uint64_t)1 << 20, .chunk_bytes = (uint64_t)1 << 30};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&import_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = do_request(&r, error);
    for (size_t i = 0; i < r.count; i++)
        column_close(&r.columns[i]);
    free(r.columns);
    free(r.settings);
    free(r.former);
    return status;
}

const command import_command = {
    .name = "import",
    .arguments = "DIR --idx F=FILE | --npy F=FILE ... [OPTION...]",
    .summary = "import arrays from files into a dataset",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "Each array has one record per element of its first axis, and all files must have the\n"
        "same number of records. Either all records are imported, durably, or none are. DIR\n"
        "must not exist or must be empty, unless --append or --replace is used. --append\n"
        "requires an existing dataset; --replace creates the new dataset as DIR.new, which\n"
        "replaces an existing dataset when it is complete. Files may be gzipped, regardless of\n"
        "their names, and may be pipes.\n",
    .examples =
        "  loaderx import fashion --idx data=train-images.gz --idx label=train-labels.gz\n"
        "  loaderx import faces --npy pixels=faces.npy --compress pixels=flate --seal\n"
        "  loaderx import tokens --npy ids=ids.npy --compress ids=zstd --level 9 --dictionary ids\n"
        "  loaderx import fashion --append --idx data=more-images.gz --idx label=more-labels.gz\n",
    .run = run};
