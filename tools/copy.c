/* SPDX-License-Identifier: MIT */
/* loaderx copy: copies stored records from one or more datasets to another. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dataset.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "number.h"
#include "progress.h"
#include "report.h"
#include "vector.h"

/* Number of records between two checks for a signal. */
#define SLICE 1024

enum { OPTION_FIELD = OPTION_OWN, OPTION_RANGE, OPTION_INDICES, OPTION_APPEND, OPTION_SEAL };

static const command_option options[] = {
    {OPTION_FIELD, "field", "F", "a field to copy; can be repeated (all)"},
    {OPTION_RANGE, "range", "A:B", "records A up to but not including B of each SOURCE (all)"},
    {OPTION_INDICES, "indices", "FILE",
     "the records that FILE lists: an .npy file, or one index per line"},
    {OPTION_APPEND, "append", NULL, "append to an existing dataset"},
    {OPTION_SEAL, "seal", NULL, "seal the dataset afterwards"},
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** The arguments and the results. */
typedef struct request {
    const char **paths; /* sources, then the destination */
    size_t path_count;
    const char **fields;
    size_t field_count;
    const char *indices_path;
    index_range range;
    bool range_given, append, seal, quiet, json;
    uint64_t *indices; /* of --indices */
    uint64_t index_count;
    progress bar;
    uint64_t records, length;
} request;

/* ---- the command line */

static lx_status add_text(const char ***list, size_t *count, const char *text, lx_error *error)
{
    const char **more = realloc(*list, (*count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "an argument");
    *list = more;
    more[(*count)++] = text;
    return LX_OK;
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_FIELD:
        return add_text(&r->fields, &r->field_count, value, error);
    case OPTION_RANGE:
        r->range_given = true;
        return index_range_parse_option("--range", value, &r->range, error);
    case OPTION_INDICES:
        r->indices_path = value;
        return LX_OK;
    default:
        r->append = r->append || option->id == OPTION_APPEND;
        r->seal = r->seal || option->id == OPTION_SEAL;
        r->quiet = r->quiet || option->id == 'q';
        r->json = r->json || option->id == OPTION_JSON;
        return LX_OK;
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return add_text(&r->paths, &r->path_count, text, error);
}

static lx_status check_request(const request *r, lx_error *error)
{
    if (r->path_count < 2)
        return lx_fail(error, LX_ERR_ARGUMENT, "SOURCE or DIR is missing");
    if (r->range_given && r->indices_path != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "--range and --indices are mutually exclusive");
    return LX_OK;
}

/** Adds a line number, counted from 1. */
static void locate_line(lx_error *error, const char *path, uint64_t line)
{
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, " (line %" PRIu64 ")", line);
    lx_error_locate(error, strcmp(path, "-") == 0 ? "standard input" : path, NULL, LX_NONE,
                    LX_NONE);
}

/** Takes the indices of an .npy file, such as the command split writes. */
static lx_status read_vector(request *r, lx_error *error)
{
    vector found = {0};
    lx_status status = vector_read(&found, VECTOR_INDICES, r->indices_path, error);
    r->indices = found.words;
    r->index_count = found.count;
    return status;
}

static lx_status read_lines(request *r, FILE *from, lx_error *error)
{
    char *line = NULL;
    size_t size = 0, capacity = 0;
    lx_status status = LX_OK;
    while (status == LX_OK && getline(&line, &size, from) != -1) {
        line[strcspn(line, "\r\n")] = '\0';
        if (r->index_count == capacity) {
            capacity = capacity < 1024 ? 1024 : capacity * 2;
            uint64_t *more = realloc(r->indices, capacity * sizeof *more);
            if (more == NULL) {
                status = fail_memory(error, "the indices");
                break;
            }
            r->indices = more;
        }
        status = number_parse("--indices", line, &r->indices[r->index_count], error);
        if (status == LX_OK)
            r->index_count++;
        else
            locate_line(error, r->indices_path, r->index_count + 1);
    }
    if (status == LX_OK && ferror(from))
        status = lx_fail_errno(error, errno, r->indices_path, "cannot read");
    free(line);
    return status;
}

static lx_status read_indices(request *r, lx_error *error)
{
    static const int npy = 0x93; /* the first byte of an .npy file */
    if (r->indices_path == NULL)
        return LX_OK;
    FILE *from = strcmp(r->indices_path, "-") == 0 ? stdin : fopen(r->indices_path, "r");
    if (from == NULL)
        return lx_fail_errno(error, errno, r->indices_path, "cannot open");
    int first = getc(from);
    ungetc(first, from);
    lx_status status = first == npy && from != stdin ? read_vector(r, error)
                                                     : read_lines(r, from, error);
    if (from != stdin)
        fclose(from);
    return status;
}

/* ---- copying from one source */

/** The records of a source: a borrowed list, or an allocated one in @p made. */
static lx_status choose_records(const request *r, lx_dataset *source, uint64_t **made,
                                uint64_t *count, lx_error *error)
{
    uint64_t first = 0, end = lx_dataset_get_length(source);
    *made = NULL;
    if (r->indices_path != NULL) {
        *count = r->index_count;
        return LX_OK;
    }
    if (r->range_given) {
        lx_status status = index_range_resolve(&r->range, end, &first, &end, error);
        lx_error_locate(error, lx_dataset_get_path(source), NULL, LX_NONE, LX_NONE);
        if (status != LX_OK)
            return status;
    }
    *count = end - first;
    *made = malloc((size_t)(*count + 1) * sizeof **made);
    if (*made == NULL)
        return fail_memory(error, "the indices");
    for (uint64_t i = 0; i < *count; i++)
        (*made)[i] = first + i;
    return LX_OK;
}

/** Finds the requested fields in a source, which need not have all of them. Without a request, all
 * fields of the source are copied, and @p fields stays NULL. */
static lx_status choose_fields(const request *r, lx_dataset *source, size_t **fields, size_t *count,
                               lx_error *error)
{
    if (r->field_count == 0)
        return LX_OK;
    *fields = malloc(r->field_count * sizeof **fields);
    if (*fields == NULL)
        return fail_memory(error, "the fields");
    for (size_t i = 0; i < r->field_count; i++)
        *count += lx_schema_find_field(lx_dataset_get_schema(source), r->fields[i],
                                       &(*fields)[*count], NULL) == LX_OK;
    return LX_OK;
}

static lx_status copy_source(request *r, lx_dataset *source, lx_writer *writer, lx_error *error)
{
    uint64_t *made, count = 0;
    size_t *fields = NULL, field_count = 0;
    lx_status status = choose_records(r, source, &made, &count, error);
    const uint64_t *indices = made != NULL ? made : r->indices;
    if (status == LX_OK)
        status = choose_fields(r, source, &fields, &field_count, error);
    /* Even without records, the copy checks the names and types of the fields. */
    if (status == LX_OK && count == 0)
        status = lx_writer_copy(writer, source, fields, field_count, NULL, 0, NULL, error);
    for (uint64_t done = 0; status == LX_OK && done < count;) {
        uint64_t slice = count - done < SLICE ? count - done : SLICE;
        status = lx_writer_copy(writer, source, fields, field_count, indices + done, slice, NULL,
                                error);
        done += slice;
        progress_update(&r->bar, done, count, 0);
        if (status == LX_OK)
            status = interrupt_check(error);
    }
    r->records += status == LX_OK ? count : 0;
    free(made);
    free(fields);
    return status;
}

static lx_status copy_all(request *r, lx_dataset **sources, lx_writer *writer, lx_error *error)
{
    lx_status status = lx_writer_begin_transaction(writer, error);
    for (size_t i = 0; status == LX_OK && i + 1 < r->path_count; i++) {
        progress_begin(&r->bar, "copy", r->quiet);
        status = copy_source(r, sources[i], writer, error);
        progress_clear(&r->bar);
        dataset_advise_repair(error);
    }
    if (status == LX_OK)
        status = lx_writer_end_transaction(writer, error);
    r->length = lx_writer_get_length(writer);
    if (status == LX_OK && r->seal)
        status = lx_writer_seal(writer, error);
    advise(error, LX_ERR_CANCELED, "nothing was copied");
    return status;
}

/* ---- the destination */

static lx_status add_field(lx_schema *schema, const lx_field *field, lx_error *error)
{
    lx_status status = lx_schema_add_field(schema, field->name, field->dtype, field->shape,
                                           field->ndim, field->compression, error);
    if (status == LX_OK)
        status = lx_schema_set_compression(schema, field->name, field->level, field->dictionary,
                                           error);
    return status;
}

/** Adds the fields of a source that the schema lacks. */
static lx_status add_fields(lx_schema *schema, const lx_schema *from, lx_error *error)
{
    lx_status status = LX_OK;
    size_t position;
    for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(from); i++) {
        const lx_field *field = lx_schema_get_field(from, i);
        if (lx_schema_find_field(schema, field->name, &position, NULL) != LX_OK)
            status = add_field(schema, field, error);
    }
    return status;
}

/** Adds a requested field, as defined by the first source that has it. */
static lx_status add_named(const request *r, lx_dataset **sources, const char *name,
                           lx_schema *schema, lx_error *error)
{
    size_t position, count = r->path_count - 1;
    for (size_t i = 0; i < count; i++) {
        const lx_schema *from = lx_dataset_get_schema(sources[i]);
        lx_error *why = i + 1 < count ? NULL : error;
        lx_status status = lx_schema_find_field(from, name, &position, why);
        if (status == LX_OK)
            return add_field(schema, lx_schema_get_field(from, position), error);
    }
    lx_error_locate(error, r->paths[count - 1], NULL, LX_NONE, LX_NONE);
    return LX_ERR_NOT_FOUND;
}

/** Adds the requested fields, or all fields of the sources. */
static lx_status fill_schema(const request *r, lx_dataset **sources, lx_schema *schema,
                             lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; r->field_count == 0 && status == LX_OK && i + 1 < r->path_count; i++)
        status = add_fields(schema, lx_dataset_get_schema(sources[i]), error);
    for (size_t i = 0; status == LX_OK && i < r->field_count; i++)
        status = add_named(r, sources, r->fields[i], schema, error);
    return status;
}

/** Whether all sources have this entry in their cards. */
static bool agreed(lx_card **cards, size_t count, const lx_card_entry *entry)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = lx_card_get_text(cards[i], entry->key);
        if (text == NULL || strcmp(text, entry->text) != 0)
            return false;
    }
    return true;
}

/** Gives the new dataset those entries of the cards in which all sources agree. */
static lx_status merge_cards(lx_card **cards, size_t count, lx_writer_options *made,
                             lx_error *error)
{
    lx_card_entry entries[LX_MAX_CARD_ENTRIES];
    size_t used = 0;
    for (size_t i = 0; i < lx_card_get_count(cards[0]); i++) {
        const lx_card_entry *entry = lx_card_get_entry(cards[0], i);
        if (agreed(cards, count, entry))
            entries[used++] = *entry;
    }
    return lx_writer_options_set_card(made, entries, used, error);
}

static lx_status copy_card(const request *r, lx_dataset **sources, lx_writer_options *made,
                           lx_error *error)
{
    size_t count = r->path_count - 1;
    lx_card **cards = calloc(count, sizeof *cards);
    lx_status status = cards != NULL ? LX_OK : fail_memory(error, "the cards");
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = lx_dataset_read_card(sources[i], &cards[i], error);
    if (status == LX_OK)
        status = merge_cards(cards, count, made, error);
    for (size_t i = 0; cards != NULL && i < count; i++)
        lx_card_free(cards[i]);
    free(cards);
    return status;
}

/** Trains the dictionary of a new field on the first source that has the field. */
static lx_status train(const request *r, lx_dataset **sources, lx_writer *writer, const char *name,
                       lx_error *error)
{
    size_t position;
    lx_error why = LX_ERROR_INIT;
    for (size_t i = 0; i + 1 < r->path_count; i++) {
        if (lx_schema_find_field(lx_dataset_get_schema(sources[i]), name, &position, NULL) != LX_OK)
            continue;
        lx_status status = lx_writer_train_dictionary(writer, name, sources[i], &why);
        if (status == LX_ERR_STATE) /* the values are not suitable: copy them without one */
            return LX_OK;
        if (status != LX_OK && error != NULL)
            *error = why;
        return status;
    }
    return LX_OK;
}

static lx_status train_all(const request *r, lx_dataset **sources, lx_writer *writer,
                           lx_error *error)
{
    const lx_schema *schema = lx_writer_get_schema(writer);
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(schema); i++)
        if (lx_schema_get_field(schema, i)->dictionary != 0)
            status = train(r, sources, writer, lx_schema_get_field(schema, i)->name, error);
    return status;
}

static lx_status append(request *r, lx_dataset **sources, lx_writer_options *made, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(r->paths[r->path_count - 1], made, &writer, error);
    advise(error, LX_ERR_NOT_FOUND, "omit --append to create a new dataset");
    if (status != LX_OK)
        return status;
    status = copy_all(r, sources, writer, error);
    if (status != LX_OK)
        (void)lx_writer_rollback(writer, NULL); /* if this fails, nothing was committed */
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

static void close_sources(const request *r, lx_dataset **sources)
{
    for (size_t i = 0; sources != NULL && i < r->path_count; i++) {
        lx_dataset_close(sources[i]);
        sources[i] = NULL;
    }
}

/** Removes the new dataset. Closes the descriptors of the sources first, because removal requires
 * exclusive use. */
static void discard(const request *r, lx_dataset **sources, bool made, bool locked)
{
    close_sources(r, sources);
    directory_discard(r->paths[r->path_count - 1], made, locked);
}

static lx_status create(request *r, lx_dataset **sources, const lx_schema *schema,
                        lx_writer_options *options_made, lx_error *error)
{
    bool made = false;
    const char *path = r->paths[r->path_count - 1];
    lx_writer *writer = NULL;
    lx_status status = copy_card(r, sources, options_made, error);
    if (status == LX_OK)
        status = directory_make(path, &made, error);
    if (status == LX_OK) {
        status = lx_writer_create(path, schema, options_made, &writer, error);
        advise(error, LX_ERR_EXISTS, "use --append to add to a dataset, or another DIR");
    }
    if (writer == NULL) {
        if (made)
            discard(r, sources, made, false);
        return status;
    }
    status = train_all(r, sources, writer, error);
    if (status == LX_OK)
        status = copy_all(r, sources, writer, error);
    if (status != LX_OK) {
        (void)lx_writer_rollback(writer, NULL);
        discard(r, sources, made, true); /* while the writer still holds the lock */
    }
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

/* ---- the whole operation */

static lx_status print_result(const request *r, lx_error *error)
{
    const char *path = r->paths[r->path_count - 1];
    double seconds = progress_seconds(&r->bar);
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:o, s:f, s:b}", "path", report_text(path),
                                      "records", report_number(r->records), "length",
                                      report_number(r->length), "seconds", seconds, "sealed",
                                      r->seal),
                            error);
    if (!r->quiet)
        printf("%s: copied %" PRIu64 " records, %" PRIu64 " in total%s\n", path, r->records,
               r->length, r->seal ? "; sealed" : "");
    return LX_OK;
}

static lx_status do_request(request *r, lx_error *error)
{
    lx_writer_options *made = lx_writer_options_new();
    lx_dataset **sources = calloc(r->path_count, sizeof *sources);
    lx_schema *schema = lx_schema_new();
    lx_status status = made != NULL && sources != NULL && schema != NULL
                           ? LX_OK
                           : fail_memory(error, "the datasets");
    /* The single commit at the end must be durable when success is reported. */
    if (status == LX_OK)
        status = lx_writer_options_set_durability(made, LX_DURABILITY_FULL, error);
    if (status == LX_OK)
        status = read_indices(r, error);
    for (size_t i = 0; status == LX_OK && i + 1 < r->path_count; i++)
        status = dataset_open(r->paths[i], &sources[i], error);
    interrupt_catch();
    progress_begin(&r->bar, "copy", r->quiet);
    if (status == LX_OK)
        status = fill_schema(r, sources, schema, error);
    if (status == LX_OK)
        status = r->append ? append(r, sources, made, error)
                           : create(r, sources, schema, made, error);
    close_sources(r, sources);
    lx_schema_free(schema);
    free(sources);
    lx_writer_options_free(made);
    return status == LX_OK ? print_result(r, error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&copy_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = do_request(&r, error);
    free(r.paths);
    free(r.fields);
    free(r.indices);
    return status;
}

const command copy_command = {
    .name = "copy",
    .arguments = "SOURCE... DIR [OPTION...]",
    .summary = "copy records from one or more datasets to another",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "Compressed values are copied as stored. DIR must not exist or must be empty, and is\n"
        "created with the fields of all SOURCEs; with --append, DIR is an existing dataset. If\n"
        "a SOURCE lacks a field, its records have no values in that field; if an existing DIR\n"
        "lacks one, name the fields to copy with --field. Either everything is copied, or\n"
        "nothing is. The card of a new DIR has the entries that the cards of all SOURCEs have\n"
        "in common. To extract a subset, use --range or --indices; to split a\n"
        "dataset, do so several times; to merge datasets, name several SOURCEs.\n",
    .examples = "  loaderx copy fashion train --range :50000\n"
                "  loaderx copy fashion test --range 50000: --seal\n"
                "  loaderx copy part-0 part-1 part-2 whole\n"
                "  loaderx sample --length 60000 --order shuffle --seed 42 --count 100 |\n"
                "      loaderx copy fashion hundred --indices -\n",
    .fetches = true,
    .run = run};
