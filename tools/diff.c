/* SPDX-License-Identifier: MIT */
/* loaderx diff: reports what differs between two datasets. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"
#include "threads.h"

enum { OPTION_THREADS = OPTION_OWN };

static const command_option options[] = {
    {OPTION_THREADS, "threads", "N", "number of threads that compare, 0 to 64 (one per CPU)"},
    QUIET_OPTION("suppress the progress bar; print nothing if the datasets are the same"),
    JSON_OPTION("print the differences as JSON"),
};

/** One of the two datasets. */
typedef struct side {
    const char *path;
    lx_dataset *dataset;
    const lx_schema *schema;
    lx_card *card;
    uint64_t length;
} side;

typedef struct comparison {
    side sides[2];
    size_t path_count;
    threads threads;
    bool quiet, json;
    progress bar;
    bool order;            /**< The fields that both have are in a different order. */
    lx_field_diff *fields; /**< Those that both have, in the order of the first dataset, with the
                                same dtype and shape. */
    size_t count;
    bool differ;
} comparison;

/* ---- the command line */

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    comparison *c = user;
    if (option->id == OPTION_THREADS)
        return threads_parse(&c->threads, value, error);
    c->quiet = c->quiet || option->id == 'q';
    c->json = c->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    comparison *c = user;
    if (c->path_count == 2)
        return lx_fail(error, LX_ERR_ARGUMENT, "unexpected argument '%.200s'", text);
    c->sides[c->path_count++].path = text;
    return LX_OK;
}

/* ---- comparing */

static bool same_form(const lx_field *a, const lx_field *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           (a->ndim == 0 || memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0);
}

/** Finds the field of the other dataset with the same name; NULL if there is none. */
static const lx_field *find_other(const side *other, const lx_field *field, size_t *position)
{
    if (lx_schema_find_field(other->schema, field->name, position, NULL) != LX_OK)
        return NULL;
    return lx_schema_get_field(other->schema, *position);
}

/** Lists the fields whose values can be compared. */
static lx_status match_fields(comparison *c, lx_error *error)
{
    const side *a = &c->sides[0], *b = &c->sides[1];
    size_t here = lx_schema_get_field_count(a->schema), last = 0, matched = 0;
    c->fields = calloc(here, sizeof *c->fields);
    if (c->fields == NULL)
        return fail_memory(error, "a comparison");
    for (size_t i = 0; i < here; i++) {
        size_t there;
        const lx_field *field = lx_schema_get_field(a->schema, i),
                       *other = find_other(b, field, &there);
        if (other == NULL)
            continue;
        c->order = c->order || (matched++ != 0 && there < last);
        last = there;
        if (same_form(field, other))
            c->fields[c->count++] = (lx_field_diff){.a = i, .b = there};
    }
    c->differ = c->order || c->count != here || lx_schema_get_field_count(b->schema) != here ||
                a->length != b->length;
    return LX_OK;
}

static bool has_entry(const lx_card *card, const lx_card_entry *entry)
{
    const char *text = lx_card_get_text(card, entry->key);
    return text != NULL && strcmp(text, entry->text) == 0;
}

static bool cards_differ(const lx_card *a, const lx_card *b)
{
    bool differ = lx_card_get_count(a) != lx_card_get_count(b);
    for (size_t i = 0; !differ && i < lx_card_get_count(a); i++)
        differ = !has_entry(b, lx_card_get_entry(a, i));
    return differ;
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    progress_update(user, done, total, 0);
    return interrupt_check(error);
}

static lx_status compare(comparison *c, lx_error *error)
{
    lx_status status = match_fields(c, error);
    if (status != LX_OK)
        return status;
    interrupt_catch();
    progress_begin(&c->bar, "diff", c->quiet);
    status = lx_dataset_diff(c->sides[0].dataset, c->sides[1].dataset, c->fields, c->count,
                             advanced, &c->bar, error);
    progress_clear(&c->bar);
    dataset_advise_repair(error);
    for (size_t i = 0; i < c->count; i++)
        c->differ = c->differ || c->fields[i].count != 0;
    c->differ = c->differ || cards_differ(c->sides[0].card, c->sides[1].card);
    return status;
}

/* ---- as JSON */

static json_t *form_json(const lx_field *field)
{
    json_t *shape = json_array();
    if (field == NULL) {
        json_decref(shape);
        return json_null();
    }
    for (size_t i = 0; i < field->ndim; i++)
        json_array_append_new(shape, report_number(field->shape[i]));
    return json_pack("{s:s, s:o}", "dtype", lx_dtype_get_name(field->dtype), "shape", shape);
}

static const lx_field_diff *find_values(const comparison *c, size_t position)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->fields[i].a == position)
            return &c->fields[i];
    return NULL;
}

/** @p values may be NULL: the values were not compared. */
static json_t *field_json(const char *name, const lx_field *a, const lx_field *b,
                          const lx_field_diff *values)
{
    json_t *first = json_array();
    for (uint64_t i = 0; values != NULL && i < values->count && i < LX_DIFF_FIRST; i++)
        json_array_append_new(first, report_number(values->first[i]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", name, "a", form_json(a), "b",
                     form_json(b), "records",
                     values != NULL ? report_number(values->count) : json_null(), "first", first);
}

static json_t *fields_json(const comparison *c)
{
    const side *a = &c->sides[0], *b = &c->sides[1];
    json_t *list = json_array();
    size_t position;
    for (size_t i = 0; i < lx_schema_get_field_count(a->schema); i++) {
        const lx_field *field = lx_schema_get_field(a->schema, i);
        json_array_append_new(list, field_json(field->name, field, find_other(b, field, &position),
                                               find_values(c, i)));
    }
    for (size_t i = 0; i < lx_schema_get_field_count(b->schema); i++) {
        const lx_field *field = lx_schema_get_field(b->schema, i);
        if (find_other(a, field, &position) == NULL)
            json_array_append_new(list, field_json(field->name, NULL, field, NULL));
    }
    return list;
}

static lx_status print_json(const comparison *c, lx_error *error)
{
    const side *a = &c->sides[0], *b = &c->sides[1];
    return report_print(json_pack("{s:b, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:b, s:o}", "same",
                                  !c->differ, "a", "path", report_text(a->path), "length",
                                  report_number(a->length), "card", report_card_json(a->card), "b",
                                  "path", report_text(b->path), "length", report_number(b->length),
                                  "card", report_card_json(b->card), "same_order", !c->order,
                                  "fields", fields_json(c)),
                        error);
}

/* ---- as text */

static void print_form(const lx_field *field)
{
    char shape[32 * LX_MAX_NDIM];
    printf("%s", lx_dtype_get_name(field->dtype));
    if (field->ndim != 0)
        printf(" %s", report_shape(field, shape, sizeof shape));
}

/** Reports the fields of one dataset that the other lacks, or that have another form there. */
static void print_schema(const side *here, const side *there, bool forms)
{
    for (size_t i = 0; i < lx_schema_get_field_count(here->schema); i++) {
        size_t position;
        const lx_field *field = lx_schema_get_field(here->schema, i),
                       *other = find_other(there, field, &position);
        if (other == NULL) {
            printf("field '%s' is only in %s\n", field->name, here->path);
        } else if (forms && !same_form(field, other)) {
            printf("field '%s' is ", field->name);
            print_form(field);
            printf(" in %s, and ", here->path);
            print_form(other);
            printf(" in %s\n", there->path);
        }
    }
}

static void print_values(const comparison *c)
{
    const side *a = &c->sides[0], *b = &c->sides[1];
    uint64_t compared = a->length < b->length ? a->length : b->length;
    for (size_t i = 0; i < c->count; i++) {
        const lx_field_diff *values = &c->fields[i];
        if (values->count == 0)
            continue;
        printf("field '%s' differs in %" PRIu64 " of %" PRIu64 " records:",
               lx_schema_get_field(a->schema, values->a)->name, values->count, compared);
        for (uint64_t k = 0; k < values->count && k < LX_DIFF_FIRST; k++)
            printf(" %" PRIu64, values->first[k]);
        printf(values->count > LX_DIFF_FIRST ? " ...\n" : "\n");
    }
}

static void print_card(const side *here, const side *there)
{
    for (size_t i = 0; i < lx_card_get_count(here->card); i++) {
        const lx_card_entry *entry = lx_card_get_entry(here->card, i);
        if (lx_card_get_text(there->card, entry->key) == NULL)
            printf("the entry '%s' of the card is only in %s\n", entry->key, here->path);
        else if (here < there && !has_entry(there->card, entry))
            printf("the entry '%s' of the card differs\n", entry->key);
    }
}

static void print_text(const comparison *c)
{
    const side *a = &c->sides[0], *b = &c->sides[1];
    if (!c->differ && !c->quiet)
        printf("%s and %s have the same %" PRIu64 " records, fields and card\n", a->path, b->path,
               a->length);
    if (a->length != b->length)
        printf("%s has %" PRIu64 " records, and %s has %" PRIu64 "\n", a->path, a->length, b->path,
               b->length);
    if (c->order)
        printf("the fields are in a different order\n");
    print_schema(a, b, true);
    print_schema(b, a, false);
    print_values(c);
    print_card(a, b);
    print_card(b, a);
}

/* ---- the whole operation */

static lx_status open_side(side *s, lx_executor *executor, lx_error *error)
{
    lx_dataset_options *made = lx_dataset_options_new();
    if (made == NULL)
        return fail_memory(error, "options");
    lx_status status = lx_dataset_options_set_executor(made, executor, error);
    if (status == LX_OK)
        status = dataset_open_with(s->path, made, &s->dataset, error);
    lx_dataset_options_free(made);
    if (status != LX_OK)
        return status;
    s->schema = lx_dataset_get_schema(s->dataset);
    s->length = lx_dataset_get_length(s->dataset);
    return lx_dataset_read_card(s->dataset, &s->card, error);
}

static lx_status compare_opened(comparison *c, lx_executor *executor, lx_error *error)
{
    lx_status status = open_side(&c->sides[0], executor, error);
    if (status == LX_OK)
        status = open_side(&c->sides[1], executor, error);
    if (status == LX_OK)
        status = compare(c, error);
    if (status == LX_OK && c->json)
        status = print_json(c, error);
    else if (status == LX_OK)
        print_text(c);
    for (size_t i = 0; i < 2; i++) {
        lx_card_free(c->sides[i].card);
        lx_dataset_close(c->sides[i].dataset);
    }
    free(c->fields);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    comparison c = {0};
    lx_executor *executor = NULL;
    const command_line line = {take_option, take_argument, &c};
    lx_status status = command_parse(&diff_command, argc, argv, &line, error);
    if (status == LX_OK && c.path_count != 2)
        status = lx_fail(error, LX_ERR_ARGUMENT, "two datasets are needed: A and B");
    if (status != LX_OK)
        return status;
    status = threads_open(&c.threads, &executor, error);
    if (status == LX_OK)
        status = compare_opened(&c, executor, error);
    lx_executor_close(executor);
    return status == LX_OK && c.differ ? LX_ERR_MISMATCH : status;
}

const command diff_command = {
    .name = "diff",
    .arguments = "A B [OPTION...]",
    .summary = "report what differs between two datasets",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Compares the fields, the values of the records that both have, the numbers of\n"
             "records and the cards, however the values are stored. The exit status is 0 if all\n"
             "are the same, 1 if anything differs, and 2 if the comparison failed.\n",
    .examples = "  loaderx diff fashion copy\n"
                "  loaderx diff fashion copy --json | jq '.fields[].records'\n",
    .compares = true,
    .fetches = true,
    .run = run};
