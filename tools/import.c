/* SPDX-License-Identifier: MIT */
/* loaderx import: parses the command line; import-request.c does the work. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "import-request.h"
#include "number.h"
#include "report.h"

enum {
    OPTION_IDX = OPTION_OWN,
    OPTION_NPY,
    OPTION_FORMAT,
    OPTION_FIELD,
    OPTION_OPTION,
    OPTION_ON_BAD,
    OPTION_RESUME,
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
    {OPTION_FORMAT, "format", "csv|folder|jsonl|lines|lmdb|mds|original|tar|tfrecord",
     "read each FILE as records"},
    {OPTION_FIELD, "field", "F=TYPE", "type of field F, such as float32[4], str, json, ignore"},
    {OPTION_OPTION, "option", "NAME=VALUE", "an option of the format"},
    {OPTION_ON_BAD, "on-bad", "stop|skip", "what to do about bad records (stop)"},
    {OPTION_RESUME, "resume", NULL, "continue an import that was interrupted"},
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

static lx_status take_column(import_request *r, const command_option *option, char *text,
                             lx_error *error)
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

/** Splits "F=VALUE", "F" or, for --level, "VALUE". */
static lx_status take_setting(import_request *r, const command_option *option, char *text,
                              lx_error *error)
{
    import_setting *more = realloc(r->settings, (r->setting_count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "an option");
    r->settings = more;
    import_setting *added = &more[r->setting_count++];
    char *equals = strchr(text, '=');
    *added = (import_setting){option, text, equals != NULL ? equals + 1 : NULL};
    if (equals != NULL)
        *equals = '\0';
    else if (option->id == OPTION_LEVEL)
        *added = (import_setting){option, NULL, text};
    return LX_OK;
}

/** Adds the NAME=VALUE of --field or --option to a list. */
static lx_status take_pair(import_pair **list, size_t *count, const command_option *option,
                           char *text, lx_error *error)
{
    import_pair *more = import_inputs_grow(*list, *count, sizeof **list);
    if (more == NULL)
        return fail_memory(error, "an option");
    *list = more;
    char *equals = strrchr(text, '='); /* the name of a field may contain one */
    if (option->id == OPTION_OPTION)
        equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "--%s '%.64s' is invalid: use %s", option->name,
                       text, option->value);
    *equals = '\0';
    more[(*count)++] = (import_pair){text, equals + 1};
    return LX_OK;
}

static lx_status take_policy(import_request *r, const char *value, lx_error *error)
{
    r->inputs.skip = strcmp(value, "skip") == 0;
    if (r->inputs.skip || strcmp(value, "stop") == 0)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "--on-bad '%.64s' is invalid: use stop or skip", value);
}

/** Takes an option that only an import with --format has. */
static lx_status take_input_option(import_request *r, const command_option *option, char *value,
                                   lx_error *error)
{
    import_inputs *inputs = &r->inputs;
    r->inputs_given = true;
    switch (option->id) {
    case OPTION_FORMAT:
        inputs->format = value;
        return LX_OK;
    case OPTION_FIELD:
        return take_pair(&inputs->fields, &inputs->field_count, option, value, error);
    case OPTION_OPTION:
        return take_pair(&inputs->options, &inputs->option_count, option, value, error);
    case OPTION_ON_BAD:
        return take_policy(r, value, error);
    default:
        inputs->resume = true;
        return LX_OK;
    }
}

static lx_status take_number(import_request *r, const command_option *option, const char *value,
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
    import_request *r = user;
    switch (option->id) {
    case OPTION_IDX:
    case OPTION_NPY:
        return take_column(r, option, value, error);
    case OPTION_FORMAT:
    case OPTION_FIELD:
    case OPTION_OPTION:
    case OPTION_ON_BAD:
    case OPTION_RESUME:
        return take_input_option(r, option, value, error);
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
    import_request *r = user;
    import_inputs *inputs = &r->inputs;
    if (r->path == NULL)
        return command_take_directory(&r->path, text, error);
    char **more = import_inputs_grow(inputs->inputs, inputs->input_count, sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a file");
    inputs->inputs = more;
    more[inputs->input_count++] = (char *)text;
    return LX_OK;
}

/* ---- checking the arguments */

static column *find_column(const import_request *r, const char *field)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->columns[i].field, field) == 0)
            return &r->columns[i];
    return NULL;
}

static lx_status fail_setting(const import_setting *setting, const char *field, const char *why,
                              lx_error *error)
{
    return lx_fail(error, LX_ERR_ARGUMENT, "--%s %.64s: %s", setting->option->name, field, why);
}

static lx_status apply_compress(const import_setting *setting, column *to, const char *how,
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

static lx_status apply_dictionary(const import_setting *setting, column *to, const char *size,
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
static lx_status apply_level_to_all(import_request *r, const char *text, lx_error *error)
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

static lx_status apply_setting(import_request *r, const import_setting *setting, lx_error *error)
{
    if (setting->field == NULL)
        return apply_level_to_all(r, setting->value, error);
    column *to = find_column(r, setting->field);
    if (to == NULL)
        return fail_setting(setting, setting->field,
                            r->inputs.format != NULL ? "requires --compress for this field"
                                                     : "no file is given for this field",
                            error);
    if (setting->option->id == OPTION_COMPRESS)
        return apply_compress(setting, to, setting->value, error);
    if (setting->option->id == OPTION_DICTIONARY)
        return apply_dictionary(setting, to, setting->value, error);
    if (to->compression == LX_COMPRESSION_RAW)
        return fail_setting(setting, to->field, "requires --compress F=flate or F=zstd", error);
    return set_level(setting->value, to, error);
}

/** Applies the settings: first the compressions, then the levels of all fields, which the levels of
 * single fields override. */
static lx_status apply_settings(import_request *r, lx_error *error)
{
    lx_status status = LX_OK;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; status == LX_OK && i < r->setting_count; i++) {
            const import_setting *setting = &r->settings[i];
            if (turn == (setting->option->id == OPTION_COMPRESS ? 0
                         : setting->field == NULL               ? 1
                                                                : 2))
                status = apply_setting(r, setting, error);
        }
    }
    return status;
}

/** With --format, the fields are not known yet: --compress names those that get settings. */
static lx_status name_columns(import_request *r, lx_error *error)
{
    for (size_t i = 0; i < r->setting_count; i++) {
        const import_setting *setting = &r->settings[i];
        if (setting->option->id != OPTION_COMPRESS || find_column(r, setting->field) != NULL)
            continue;
        column *more = realloc(r->columns, (r->count + 1) * sizeof *more);
        if (more == NULL)
            return fail_memory(error, "a field");
        r->columns = more;
        more[r->count++] = (column){.field = setting->field};
    }
    return LX_OK;
}

static lx_status check_inputs(import_request *r, lx_error *error)
{
    const import_inputs *inputs = &r->inputs;
    if (r->count != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--format cannot be combined with --idx and --npy");
    if (inputs->input_count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "no FILE is given after DIR");
    if (inputs->resume && r->replace)
        return lx_fail(error, LX_ERR_ARGUMENT, "--resume and --replace are mutually exclusive");
    return name_columns(r, error);
}

static lx_status check_arrays(import_request *r, lx_error *error)
{
    if (r->inputs.input_count != 0 && !r->inputs_given)
        return command_take_directory(&r->path, r->inputs.inputs[0], error); /* a second one */
    if (r->inputs_given)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--field, --option, --on-bad and --resume require --format");
    if (r->count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "no field is given: use --idx F=FILE, --npy F=FILE, or --format and files");
    return LX_OK;
}

static lx_status check_request(import_request *r, lx_error *error)
{
    lx_status status = command_need_directory(r->path, error);
    if (status == LX_OK)
        status = r->inputs.format != NULL ? check_inputs(r, error) : check_arrays(r, error);
    if (status == LX_OK && r->append && r->replace)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--append and --replace are mutually exclusive");
    if (status == LX_OK && r->append && (r->setting_count != 0 || r->chunk_given))
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "%s cannot be set with --append: it is fixed when a dataset is created",
                         r->chunk_given ? "the chunk size" : "compression");
    return status == LX_OK ? apply_settings(r, error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    import_request r = {.chunk_records = (uint64_t)1 << 20, .chunk_bytes = (uint64_t)1 << 30};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&import_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = import_request_run(&r, error);
    import_request_end(&r);
    return status;
}

const command import_command = {
    .name = "import",
    .arguments = "DIR --idx F=FILE | --npy F=FILE ... [OPTION...]\n"
                 "       loaderx import DIR --format FORMAT FILE... [OPTION...]",
    .summary = "import files into a dataset",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "--idx and --npy: each array has one record per element of its first axis, and all files\n"
        "must have the same number of records. Either all records are imported, durably, or\n"
        "none are.\n\n"
        "--format: each FILE has many records, whose fields are found in the first ones; - is\n"
        "the standard input. The import commits from time to time: after an interruption,\n"
        "--resume continues. F=* of --compress is each field of bytes.\n\n"
        "DIR must not exist or must be empty, unless --append or --replace is used. --append\n"
        "requires an existing dataset; --replace creates the new dataset as DIR.new, which\n"
        "replaces an existing dataset when it is complete. Files may be gzipped, regardless of\n"
        "their names, and may be pipes. With --format, they may also be compressed with zstd.\n",
    .examples =
        "  loaderx import fashion --idx data=train-images.gz --idx label=train-labels.gz\n"
        "  loaderx import faces --npy pixels=faces.npy --compress pixels=flate --seal\n"
        "  loaderx import tokens --npy ids=ids.npy --compress ids=zstd --level 9 --dictionary ids\n"
        "  loaderx import fashion --append --idx data=more-images.gz --idx label=more-labels.gz\n"
        "  loaderx import reviews --format jsonl reviews-*.jsonl.gz --field stars=float32\n"
        "  loaderx import photos --format tar shard-*.tar --on-bad skip --resume\n"
        "  loaderx import examples --format tfrecord train-*.tfrecord.gz\n",
    .run = run};
