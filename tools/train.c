/* SPDX-License-Identifier: MIT */
/* loaderx train: trains the dictionary of a zstd field on its records. */
#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "number.h"
#include "progress.h"
#include "report.h"

enum { OPTION_FIELD = OPTION_OWN, OPTION_FROM, OPTION_SIZE };

static const command_option options[] = {
    {OPTION_FIELD, "field", "F", "the field, which is compressed by zstd"},
    {OPTION_FROM, "from", "SOURCE", "train on the records of this dataset (DIR)"},
    {OPTION_SIZE, "size", "SIZE", "maximum size of the dictionary, up to 16M (110k)"},
    QUIET_OPTION("suppress the summary"),
    JSON_OPTION("print the summary as JSON"),
};

typedef struct request {
    const char *path, *field, *from;
    uint64_t size; /**< 0: not given. */
    bool quiet, json;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_FIELD:
        r->field = value;
        return LX_OK;
    case OPTION_FROM:
        r->from = value;
        return LX_OK;
    case OPTION_JSON:
        r->json = true;
        return LX_OK;
    case OPTION_SIZE:
        break;
    default:
        r->quiet = true;
        return LX_OK;
    }
    lx_status status = number_parse_size("--size", value, &r->size, error);
    if (status == LX_OK && (r->size == 0 || r->size > LX_MAX_DICTIONARY))
        status = lx_fail(error, LX_ERR_ARGUMENT, "--size %.64s is out of range: use up to 16M",
                         value);
    return status;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

static lx_status train(const request *r, lx_writer *writer, lx_dataset *from, lx_error *error)
{
    size_t position;
    const lx_schema *schema = lx_writer_get_schema(writer);
    lx_status status = lx_schema_find_field(schema, r->field, &position, error);
    if (status == LX_OK && r->size != 0)
        status = lx_writer_set_compression(writer, r->field,
                                           lx_schema_get_field(schema, position)->level,
                                           (uint32_t)r->size, error);
    return status == LX_OK ? lx_writer_train_dictionary(writer, r->field, from, error) : status;
}

static lx_status print_result(const request *r, double seconds, lx_error *error)
{
    if (r->json)
        return report_print(json_pack("{s:o, s:s, s:f}", "path", report_text(r->path), "field",
                                      r->field, "seconds", seconds),
                            error);
    if (!r->quiet)
        printf("%s: field '%s' has a dictionary, which new values use; %.1f s\n", r->path, r->field,
               seconds);
    return LX_OK;
}

static lx_status do_request(const request *r, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_dataset *from = NULL;
    progress bar = {0};
    progress_begin(&bar, "train", true);
    lx_status status = dataset_open_writer(r->path, NULL, &writer, error);
    if (status != LX_OK)
        return status;
    if (r->from != NULL)
        status = dataset_open_with(r->from, NULL, &from, error);
    if (status == LX_OK)
        status = train(r, writer, from, error);
    lx_dataset_close(from);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    if (status == LX_OK)
        status = closed;
    return status == LX_OK ? print_result(r, progress_seconds(&bar), error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&train_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK && r.field == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT, "no field is given: use --field F");
    return status == LX_OK ? do_request(&r, error) : status;
}

const command train_command = {
    .name = "train",
    .arguments = "DIR --field F [OPTION...]",
    .summary = "train the zstd dictionary of a field on its records",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "New values of the field are compressed with the dictionary, which cannot be changed\n"
        "later. Existing values stay as they are: to compress them too, copy the dataset with\n"
        "'loaderx copy', which trains a dictionary for the copy before it copies records.\n",
    .examples = "  loaderx train texts --field text\n"
                "  loaderx train new --field text --from old --size 64k\n",
    .run = run};
