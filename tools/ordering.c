/* SPDX-License-Identifier: MIT */
#include "ordering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "number.h"
#include "ordering-types.h"
#include "report.h"

/** The type of an option's value; the mixture prints its own options. */
typedef enum form { NUMBER, PATH, FLAG, MIXED } form;

/** The options, in the order of the JSON output. */
static const struct {
    int id;
    const char *name;
    form form;
    uint64_t least;
} rows[] = {{OPTION_SUBSET, "subset", PATH, 0},
            {OPTION_LENGTH, "length", NUMBER, 0},
            {OPTION_SEED, "seed", NUMBER, 0},
            {OPTION_LANES, "lanes", NUMBER, 1},
            {OPTION_BLOCK, "block", NUMBER, 1},
            {OPTION_WINDOW, "window", NUMBER, 1},
            {OPTION_STRIDE, "stride", NUMBER, 1},
            {OPTION_WEIGHTS_FILE, "weights-file", PATH, 0},
            {OPTION_CLASSES, "classes", PATH, 0},
            {OPTION_LENGTHS, "lengths", PATH, 0},
            {OPTION_BATCH, "batch", NUMBER, 1},
            {OPTION_BUCKET, "bucket", NUMBER, 1},
            {OPTION_SAMPLES, "samples", NUMBER, 1},
            {OPTION_REPLACEMENT, "replacement", FLAG, 0},
            {OPTION_REPLICAS, "replicas", NUMBER, 1},
            {OPTION_DROP_LAST, "drop-last", FLAG, 0},
            {OPTION_UNDIVIDED, "undivided", FLAG, 0},
            {OPTION_SKIP, "skip", NUMBER, 0},
            {OPTION_TAKE, "take", NUMBER, 0},
            {OPTION_REPEAT, "repeat", NUMBER, 1},
            {OPTION_PADDED, "padded", NUMBER, 1},
            {OPTION_COSTS, "costs", PATH, 0},
            {OPTION_BUDGET, "budget", NUMBER, 1},
            {OPTION_ROWS, "rows", NUMBER, 1},
            {OPTION_PAD_COSTS, "pad-costs", FLAG, 0},
            {OPTION_TABLES, "tables", PATH, 0},
            {OPTION_SET, "set", MIXED, 0},
            {OPTION_WEIGHTS, "weights", MIXED, 0},
            {OPTION_EXHAUSTED, "exhausted", MIXED, 0},
            {OPTION_METHOD, "method", MIXED, 0}};
#define ROWS (sizeof rows / sizeof *rows)

/* Options that cut any order into batches. */
#define CUTS                                                                                       \
    (ORDERING_BIT(OPTION_COSTS) | ORDERING_BIT(OPTION_BUDGET) | ORDERING_BIT(OPTION_ROWS) |        \
     ORDERING_BIT(OPTION_PAD_COSTS))

/* Options of every order. */
#define COMMON                                                                                     \
    (ORDERING_BIT(OPTION_LENGTH) | ORDERING_BIT(OPTION_ORDER) | ORDERING_BIT(OPTION_SKIP) |        \
     ORDERING_BIT(OPTION_TAKE) | ORDERING_BIT(OPTION_REPEAT) | ORDERING_BIT(OPTION_PADDED) |       \
     ORDERING_BIT(OPTION_TABLES) | CUTS)

/* Options for files with one number per record. */
#define FILES                                                                                      \
    (ORDERING_BIT(OPTION_SUBSET) | ORDERING_BIT(OPTION_WEIGHTS_FILE) |                             \
     ORDERING_BIT(OPTION_CLASSES) | ORDERING_BIT(OPTION_LENGTHS) | ORDERING_BIT(OPTION_COSTS))

bool ordering_is_cut(const ordering *self)
{
    return ordering_said(self, OPTION_BUDGET);
}

bool ordering_has_sets(const ordering *self)
{
    return ((self->type->takes | self->type->needs) & ORDERING_BIT(OPTION_SET)) != 0;
}

/* ---- the command line */

void ordering_begin(ordering *self)
{
    *self = (ordering){.type = ordering_type_find("sequential"), .world = 1};
}

static form form_of(int option)
{
    size_t i = 0;
    while (rows[i].id != option)
        i++;
    return rows[i].form;
}

lx_status ordering_take(ordering *self, const command_option *option, char *value, lx_error *error)
{
    char what[32];
    self->said |= ORDERING_BIT(option->id);
    if (option->id == OPTION_ORDER) {
        self->type = ordering_type_find(value);
        return self->type != NULL ? LX_OK : ordering_type_fail(value, error);
    }
    switch (form_of(option->id)) {
    case MIXED:
        return mixing_take(&self->mixed, option, value, error);
    case PATH:
        self->paths[option->id - OPTION_LENGTH] = value;
        return LX_OK;
    case NUMBER:
        snprintf(what, sizeof what, "--%s", option->name);
        return number_parse(what, value, &self->numbers[option->id - OPTION_LENGTH], error);
    case FLAG:
        break;
    }
    return LX_OK;
}

/** Checks that the options match the order, and that the required ones are given. */
static lx_status check_options(const ordering *self, lx_error *error)
{
    const ordering_type *type = self->type;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t bit = ORDERING_BIT(rows[i].id);
        bool said = (self->said & bit) != 0;
        if (said && ((COMMON | type->takes | type->needs) & bit) == 0)
            return lx_fail(error, LX_ERR_ARGUMENT, "--%s cannot be used with --order %s",
                           rows[i].name, type->name);
        if (!said && (type->needs & bit) != 0)
            return lx_fail(error, LX_ERR_ARGUMENT, "--order %s requires --%s", type->name,
                           rows[i].name);
        if (said && rows[i].form == NUMBER && ordering_number(self, rows[i].id) < rows[i].least)
            return lx_fail(error, LX_ERR_ARGUMENT, "--%s must be at least %" PRIu64, rows[i].name,
                           rows[i].least);
        if (said && (CUTS & bit) != 0 && !ordering_is_cut(self))
            return lx_fail(error, LX_ERR_ARGUMENT, "--%s requires --budget", rows[i].name);
    }
    if (ordering_is_cut(self) && !ordering_said(self, OPTION_COSTS))
        return lx_fail(error, LX_ERR_ARGUMENT, "--budget requires --costs");
    return LX_OK;
}

static lx_status check_nanoset(ordering *self, lx_error *error)
{
    if (ordering_said(self, OPTION_LENGTH))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--length cannot be used with --order nanoset: the sets determine it");
    if (ordering_said(self, OPTION_SEED) && ordering_number(self, OPTION_SEED) > UINT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--seed must be less than 2^32 with --order nanoset");
    if (ordering_said(self, OPTION_UNDIVIDED) && !ordering_said(self, OPTION_WEIGHTS))
        return lx_fail(error, LX_ERR_ARGUMENT, "--undivided requires --weights");
    lx_status status = mixing_check(&self->mixed, 0, error);
    if (status == LX_OK && self->mixed.weighting_count > 1)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "--weights: --order nanoset does not support offsets");
    return status;
}

static lx_status check_sets(ordering *self, lx_error *error)
{
    if ((ORDERING_BIT(OPTION_METHOD) & self->type->takes) == 0)
        return check_nanoset(self, error);
    if (ordering_said(self, OPTION_LENGTH) && ordering_number(self, OPTION_LENGTH) == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--length must be at least 1 with --order blend");
    return mixing_check(&self->mixed, ordering_number(self, OPTION_LENGTH), error);
}

/** Whether the order has a table: some orders always have one, and so do all orders with a
 * subset. */
static bool has_table(const ordering *self)
{
    if (ordering_has_sets(self))
        return (ORDERING_BIT(OPTION_METHOD) & self->type->takes) == 0 ||
               self->mixed.method != MIXING_CLOSED;
    bool is_shuffled = (self->type->takes & ORDERING_BIT(OPTION_REPLICAS)) == 0 ||
                       ordering_said(self, OPTION_SEED);
    return (self->type->is_tabled && is_shuffled) || ordering_said(self, OPTION_SUBSET);
}

static lx_status check_tables(const ordering *self, lx_error *error)
{
    if (!ordering_said(self, OPTION_TABLES) || has_table(self))
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "--tables: this %s order has no table",
                   self->type->name);
}

void ordering_default_length(ordering *self, uint64_t length)
{
    if (ordering_said(self, OPTION_LENGTH) || ordering_has_sets(self) || (self->said & FILES) != 0)
        return;
    self->said |= ORDERING_BIT(OPTION_LENGTH);
    self->numbers[0] = length;
}

lx_status ordering_check(ordering *self, lx_error *error)
{
    lx_status status = check_options(self, error);
    if (status == LX_OK)
        status = check_tables(self, error);
    if (status != LX_OK)
        return status;
    if (ordering_has_sets(self))
        return check_sets(self, error);
    if (!ordering_said(self, OPTION_LENGTH) && (self->said & FILES) == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--length is missing");
    return LX_OK;
}

/* ---- output */

static lx_status print_row(const ordering *self, size_t row, lx_error *error)
{
    lx_status status = LX_OK;
    if (rows[row].form == MIXED || !ordering_said(self, rows[row].id))
        return LX_OK;
    printf("  \"%s\": ", rows[row].name);
    if (rows[row].form == PATH)
        status = report_print_text(ordering_path(self, rows[row].id), error);
    else if (rows[row].form == FLAG)
        printf("true");
    else
        printf("%" PRIu64, ordering_number(self, rows[row].id));
    printf(",\n");
    return status;
}

lx_status ordering_print_json(const ordering *self, lx_error *error)
{
    lx_status status = LX_OK;
    printf("  \"order\": \"%s\",\n", self->type->name);
    for (size_t i = 0; status == LX_OK && i < ROWS; i++)
        status = print_row(self, i, error);
    if (status == LX_OK && ordering_has_sets(self))
        status = mixing_print_json(&self->mixed, error);
    if (status == LX_OK && (self->type->takes & ORDERING_BIT(OPTION_METHOD)) != 0)
        printf("  \"exhausted\": \"%s\",\n  \"method\": \"%s\",\n", mixing_exhausted(&self->mixed),
               mixing_method(&self->mixed));
    return status;
}

void ordering_end(ordering *self)
{
    vector_free(&self->subset);
    vector_free(&self->costs);
    mixing_end(&self->mixed);
    *self = (ordering){0};
}
