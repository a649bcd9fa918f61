/* SPDX-License-Identifier: MIT */
/* loaderx recordio: looks into RecordIO files, makes their indexes, and merges them. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <loaderx/recordio.h>

#include "atomic-write.h"
#include "command.h"
#include "failure.h"
#include "interrupt.h"
#include "recordio-merge.h"
#include "recordio-pass.h"
#include "report.h"

enum {
    OPTION_INDEX = OPTION_OWN,
    OPTION_LABELS,
    OPTION_IMAGE,
    OPTION_SKIP,
    OPTION_FORCE,
    OPTION_RENUMBER
};

static const command_option options[] = {
    {OPTION_INDEX, "index", "FILE", "the index (FILE with .idx in place of .rec)"},
    {OPTION_LABELS, "labels", NULL, "ls: print the id and the labels of MXNet's header"},
    {OPTION_IMAGE, "image", NULL, "get: leave out MXNet's header"},
    {OPTION_SKIP, "skip", NULL, "pass over damage, and report how much at the end"},
    {OPTION_FORCE, "force", NULL, "index, merge: replace existing files"},
    {OPTION_RENUMBER, "renumber", NULL, "merge: use the numbers of the records as keys"},
    QUIET_OPTION("no progress bar and no summary"),
    JSON_OPTION("ls, verify: print the result as JSON"),
};
#define OPTION_COUNT (sizeof options / sizeof *options)

typedef struct request request;

/** One of the actions. */
typedef struct action {
    const char *name;
    lx_status (*run)(request *r, lx_error *error);
    int options[OPTION_COUNT + 1]; /* those that it takes; 0 ends them */
} action;

struct request {
    const action *action;
    const char *path;
    const char **others; /* the arguments after it */
    size_t other_count;
    const char *index;
    char *default_index; /* owned */
    bool given[OPTION_COUNT];
    bool labels, image, skip, force, renumber, quiet, json;
};

/** Reads the records of the file. */
static lx_status read_all(const request *r, recordio_pass *pass, recordio_visit *visit, void *user,
                          lx_error *error)
{
    recordio_pass_begin(pass, r->action->name, r->skip, r->quiet);
    recordio_pass_expect(pass, r->path);
    return recordio_pass_read(pass, r->path, visit, user, error);
}

/* ---- index */

static lx_status fail_write(const char *path, lx_error *error)
{
    return lx_fail_errno(error, errno, path, "cannot write");
}

/** A file that is written as text. */
typedef struct lines {
    FILE *to;
    const char *path;
} lines;

static lx_status add_line(void *user, const recordio_pass *pass, const lx_recordio_record *record,
                          lx_error *error)
{
    const lines *l = user;
    return fprintf(l->to, "%" PRIu64 "\t%" PRIu64 "\n", pass->records - 1, record->offset) > 0
               ? LX_OK
               : fail_write(l->path, error);
}

static lx_status write_index(request *r, const atomic_write *output, recordio_pass *pass,
                             lx_error *error)
{
    int copy = dup(output->file);
    lines l = {copy != -1 ? fdopen(copy, "w") : NULL, r->index};
    if (l.to == NULL) {
        if (copy != -1)
            close(copy);
        return fail_write(r->index, error);
    }
    lx_status status = read_all(r, pass, add_line, &l, error);
    if (fclose(l.to) != 0 && status == LX_OK)
        status = fail_write(r->index, error);
    return status;
}

static lx_status make_index(request *r, lx_error *error)
{
    recordio_pass pass;
    atomic_write output;
    if (!r->force && access(r->index, F_OK) == 0)
        return lx_fail(error, LX_ERR_EXISTS, "%s exists: --force replaces it", r->index);
    interrupt_catch();
    lx_status status = atomic_write_begin(&output, r->index, error);
    if (status == LX_OK)
        status = write_index(r, &output, &pass, error);
    if (status == LX_OK)
        status = atomic_write_finish(&output, error);
    atomic_write_end(&output);
    if (status == LX_OK)
        recordio_pass_print(&pass, r->path, stdout);
    return status;
}

/* ---- ls */

static lx_status list_labels(const request *r, const lx_recordio_record *record, lx_error *error)
{
    lx_recordio_label label;
    lx_status status = lx_recordio_label_read(record->data, record->size, &label, error);
    if (status != LX_OK) {
        lx_error_locate(error, r->path, NULL, LX_NONE, record->offset);
        return status;
    }
    printf(r->json ? ", \"id\": %" PRIu64 ", \"labels\": [" : "\t%" PRIu64 "\t", label.id);
    for (uint32_t i = 0; i == 0 || i < label.count; i++) {
        double value = (double)lx_recordio_label_get(&label, i);
        if (i != 0)
            fputs(r->json ? ", " : " ", stdout);
        if (r->json && !isfinite(value))
            fputs("null", stdout); /* JSON has no such numbers */
        else
            printf("%.9g", value);
    }
    if (r->json)
        putchar(']');
    return LX_OK;
}

static lx_status list_record(void *user, const recordio_pass *pass,
                             const lx_recordio_record *record, lx_error *error)
{
    const request *r = user;
    lx_status status = LX_OK;
    printf(r->json ? "%s\n  {\"offset\": %" PRIu64 ", \"bytes\": %zu" : "%s%" PRIu64 "\t%zu",
           r->json && pass->records > 1 ? "," : "", record->offset, record->size);
    if (r->labels)
        status = list_labels(r, record, error);
    if (r->json)
        putchar('}');
    else
        putchar('\n');
    return status;
}

static lx_status list(request *r, lx_error *error)
{
    recordio_pass pass;
    if (r->json)
        putchar('[');
    lx_status status = read_all(r, &pass, list_record, r, error);
    if (r->json)
        printf("\n]\n");
    if (status == LX_OK && pass.skipped.places != 0)
        recordio_pass_print(&pass, r->path, stderr);
    return status;
}

/* ---- get */

static lx_status find(const request *r, const lx_recordio_index *index, const char *key,
                      uint64_t *offset, lx_error *error)
{
    uint64_t position;
    if (!lx_recordio_index_find(index, key, &position))
        return lx_fail(error, LX_ERR_NOT_FOUND, "%s has no key '%.100s'", r->index, key);
    *offset = lx_recordio_index_get_offset(index, position);
    return LX_OK;
}

static lx_status print_record(const request *r, const lx_recordio_record *record, lx_error *error)
{
    const void *data = record->data;
    size_t size = record->size;
    lx_recordio_label label;
    if (r->image) {
        lx_status status = lx_recordio_label_read(data, size, &label, error);
        if (status != LX_OK)
            return status;
        data = label.data;
        size = label.size;
    }
    return fwrite(data, 1, size, stdout) == size ? LX_OK : fail_write(NULL, error);
}

static lx_status get_records(const request *r, const lx_recordio_index *index,
                             lx_recordio_reader *reader, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < r->other_count; i++) {
        lx_recordio_record record;
        uint64_t offset = 0;
        status = find(r, index, r->others[i], &offset, error);
        if (status == LX_OK)
            status = lx_recordio_reader_seek(reader, offset, error);
        if (status == LX_OK)
            status = lx_recordio_reader_next(reader, &record, error);
        if (status == LX_END)
            status =
                lx_fail(error, LX_ERR_MISMATCH,
                        "the file ends before offset %" PRIu64
                        ", where the record of key '%.100s' should begin: make the index again",
                        offset, r->others[i]);
        if (status == LX_OK)
            status = print_record(r, &record, error);
    }
    return status;
}

static lx_status get(request *r, lx_error *error)
{
    lx_recordio_index *index = NULL;
    lx_recordio_reader *reader = NULL;
    if (r->other_count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "KEY is missing");
    lx_status status = lx_recordio_index_open(r->index, &index, error);
    advise(error, LX_ERR_NOT_FOUND, "'loaderx recordio index' makes an index");
    if (status == LX_OK)
        status = lx_recordio_reader_open(r->path, false, NULL, NULL, &reader, error);
    if (status == LX_OK)
        status = get_records(r, index, reader, error);
    lx_recordio_reader_close(reader);
    lx_recordio_index_free(index);
    return status;
}

/* ---- verify */

/* Places of damage in JSON: a file that is damaged everywhere must not fill the memory. */
#define DAMAGES_MAX 1000

/** What was found in a file; the offsets are those of its index, sorted. */
typedef struct comparison {
    uint64_t *offsets;
    uint64_t count, found;
    json_t *damages; /* NULL: they are printed as text */
} comparison;

static lx_status take_damage(void *user, const lx_error *damage, lx_error *error)
{
    comparison *c = user;
    char line[sizeof damage->path + sizeof damage->message + 512];
    if (c->damages == NULL) {
        lx_error_describe(damage, line, sizeof line);
        printf("%s\n", line);
        return LX_OK;
    }
    json_t *offset = damage->offset != LX_NONE ? report_number(damage->offset) : json_null();
    json_t *item = json_pack("{s:o, s:s}", "offset", offset, "message", damage->message);
    if (json_array_size(c->damages) == DAMAGES_MAX)
        json_decref(item);
    else if (json_array_append_new(c->damages, item) != 0)
        return fail_memory(error, "the report");
    return LX_OK;
}

static lx_status match_offset(void *user, const recordio_pass *pass,
                              const lx_recordio_record *record, lx_error *error)
{
    comparison *c = user;
    (void)pass, (void)error;
    if (c->found < c->count && c->offsets[c->found] < record->offset)
        c->found = c->count + 1; /* no record begins there */
    else if (c->found < c->count && c->offsets[c->found] == record->offset)
        c->found++;
    return LX_OK;
}

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/** Loads the offsets of the index; there are none if it does not exist and was not asked for. */
static lx_status load_offsets(const request *r, comparison *c, lx_error *error)
{
    lx_recordio_index *index = NULL;
    if (r->index == r->default_index && access(r->index, F_OK) != 0)
        return LX_OK;
    lx_status status = lx_recordio_index_open(r->index, &index, error);
    if (status != LX_OK)
        return status;
    c->count = lx_recordio_index_get_count(index);
    c->offsets = calloc((size_t)c->count + 1, sizeof *c->offsets);
    for (uint64_t i = 0; c->offsets != NULL && i < c->count; i++)
        c->offsets[i] = lx_recordio_index_get_offset(index, i);
    lx_recordio_index_free(index);
    if (c->offsets == NULL)
        return fail_memory(error, "an index");
    qsort(c->offsets, (size_t)c->count, sizeof *c->offsets, compare_offsets);
    return LX_OK;
}

static lx_status judge(const request *r, const comparison *c, const recordio_pass *pass,
                       lx_error *error)
{
    if (pass->skipped.places != 0)
        return lx_fail(error, LX_ERR_CORRUPT, "%s is damaged", r->path);
    if (c->offsets != NULL && (c->found != c->count || c->count != pass->records))
        return lx_fail(error, LX_ERR_MISMATCH,
                       "%s does not describe the %" PRIu64
                       " records of %s: 'loaderx recordio index "
                       "--force' makes it again",
                       r->index, pass->records, r->path);
    return LX_OK;
}

static lx_status print_json(const request *r, const comparison *c, const recordio_pass *pass,
                            lx_error *error)
{
    return report_print(json_pack("{s:o, s:o, s:o, s:o, s:O, s:o, s:o, s:o}", "path",
                                  report_text(r->path), "records", report_number(pass->records),
                                  "bytes", report_number(pass->bytes), "damaged",
                                  report_number(pass->skipped.places), "damages", c->damages,
                                  "skipped_bytes", report_number(pass->skipped.bytes), "rest_lost",
                                  json_boolean(pass->skipped.rest), "index",
                                  c->offsets != NULL ? report_text(r->index) : json_null()),
                        error);
}

static lx_status verify(request *r, lx_error *error)
{
    recordio_pass pass;
    comparison c = {.damages = r->json ? json_array() : NULL};
    lx_status status = load_offsets(r, &c, error);
    recordio_pass_begin(&pass, "verify", false, r->quiet);
    recordio_pass_expect(&pass, r->path);
    pass.damaged = take_damage;
    if (status == LX_OK)
        status = recordio_pass_read(&pass, r->path, match_offset, &c, error);
    if (status == LX_OK && r->json)
        status = print_json(r, &c, &pass, error);
    else if (status == LX_OK)
        recordio_pass_print(&pass, r->path, stdout);
    if (status == LX_OK)
        status = judge(r, &c, &pass, error);
    free(c.offsets);
    json_decref(c.damages);
    return status;
}

/* ---- the command line */

static lx_status merge(request *r, lx_error *error)
{
    const recordio_merge m = {.path = r->path,
                              .index = r->index,
                              .inputs = r->others,
                              .input_count = r->other_count,
                              .renumber = r->renumber,
                              .skip = r->skip,
                              .replace = r->force,
                              .quiet = r->quiet};
    if (r->other_count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "IN is missing");
    return recordio_merge_run(&m, error);
}

static const action actions[] = {
    {"index", make_index, {OPTION_INDEX, OPTION_SKIP, OPTION_FORCE, 'q'}},
    {"ls", list, {OPTION_LABELS, OPTION_SKIP, OPTION_JSON, 'q'}},
    {"get", get, {OPTION_INDEX, OPTION_IMAGE}},
    {"verify", verify, {OPTION_INDEX, OPTION_JSON, 'q'}},
    {"merge", merge, {OPTION_INDEX, OPTION_SKIP, OPTION_FORCE, OPTION_RENUMBER, 'q'}}};
#define ACTIONS (sizeof actions / sizeof *actions)

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    bool *const flags[] = {[OPTION_LABELS - OPTION_LABELS] = &r->labels,
                           [OPTION_IMAGE - OPTION_LABELS] = &r->image,
                           [OPTION_SKIP - OPTION_LABELS] = &r->skip,
                           [OPTION_FORCE - OPTION_LABELS] = &r->force,
                           [OPTION_RENUMBER - OPTION_LABELS] = &r->renumber};
    (void)error;
    r->given[option - options] = true;
    if (option->id == OPTION_INDEX)
        r->index = value;
    else if (option->id == OPTION_JSON)
        r->json = true;
    else if (option->id == 'q')
        r->quiet = true;
    else
        *flags[option->id - OPTION_LABELS] = true;
    return LX_OK;
}

static lx_status take_action(request *r, const char *text, lx_error *error)
{
    for (size_t i = 0; i < ACTIONS; i++)
        if (strcmp(actions[i].name, text) == 0)
            r->action = &actions[i];
    return r->action != NULL
               ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT,
                         "unknown action '%.64s': the actions are index, ls, get, verify and merge",
                         text);
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    if (r->action == NULL)
        return take_action(r, text, error);
    if (r->path == NULL) {
        r->path = text;
        return LX_OK;
    }
    if (r->action->run != get && r->action->run != merge)
        return lx_fail(error, LX_ERR_ARGUMENT, "unexpected argument '%.64s'", text);
    const char **others = realloc(r->others, (r->other_count + 1) * sizeof *others);
    if (others == NULL)
        return fail_memory(error, "an argument");
    r->others = others;
    others[r->other_count++] = text;
    return LX_OK;
}

/** Refuses the options of other actions. */
static lx_status check_options(const request *r, lx_error *error)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const int *taken = r->action->options;
        while (*taken != 0 && *taken != options[i].id)
            taken++;
        if (r->given[i] && *taken == 0)
            return lx_fail(error, LX_ERR_ARGUMENT, "the action %s does not take --%s",
                           r->action->name, options[i].name);
    }
    return LX_OK;
}

static lx_status name_index(request *r, lx_error *error)
{
    if (r->index != NULL)
        return LX_OK;
    r->index = r->default_index = recordio_name_index(r->path);
    return r->index != NULL ? LX_OK : fail_memory(error, "a path");
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&recordio_command, argc, argv, &line, error);
    if (status == LX_OK && r.path == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT, "%s is missing",
                         r.action == NULL ? "ACTION" : "FILE");
    if (status == LX_OK)
        status = check_options(&r, error);
    if (status == LX_OK)
        status = name_index(&r, error);
    if (status == LX_OK)
        status = r.action->run(&r, error);
    free(r.default_index);
    free(r.others);
    return status;
}

const command recordio_command = {
    .name = "recordio",
    .arguments = "ACTION FILE [KEY|IN...] [OPTION...]",
    .summary = "list, read, verify, index and merge RecordIO files of MXNet",
    .options = options,
    .option_count = OPTION_COUNT,
    .notes =
        "Actions:\n"
        "  index   make the index of FILE: the offset of each record, by its number\n"
        "  ls      print the offset and the length of each record\n"
        "  get     write the records of the KEYs to the standard output, one after another\n"
        "  verify  read all records, print where the file is damaged, and compare the index\n"
        "  merge   make FILE and its index of the records of the files IN, whose keys it keeps\n"
        "FILE and IN may be - for the standard input, and may be compressed with gzip or zstd;\n"
        "not the FILE of get and merge.\n",
    .examples = "  loaderx recordio index train.rec\n"
                "  loaderx recordio ls train.rec --labels | head\n"
                "  loaderx recordio get train.rec 17 --image >17.jpg\n"
                "  loaderx recordio merge train.rec train-1.rec train-2.rec\n",
    .run = run};
