/* SPDX-License-Identifier: MIT */
#include "ordering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "indices.h"
#include "number.h"
#include "report.h"

/** Those that have a number, in the order in which JSON has them. */
static const struct {
    int id;
    const char *name;
    uint64_t least;
} counted[] = {{OPTION_LENGTH, "length", 0}, {OPTION_SEED, "seed", 0},
               {OPTION_BLOCK, "block", 1},   {OPTION_WINDOW, "window", 1},
               {OPTION_STRIDE, "stride", 1}, {OPTION_SKIP, "skip", 0},
               {OPTION_TAKE, "take", 0},     {OPTION_REPEAT, "repeat", 1}};
#define COUNTED (sizeof counted / sizeof *counted)

static uint64_t number_of(const ordering *self, int option)
{
    return self->numbers[option - OPTION_LENGTH];
}

static bool is_given(const ordering *self, int option)
{
    return self->given[option - OPTION_LENGTH];
}

/* ---- the command line */

void ordering_begin(ordering *self)
{
    *self = (ordering){.kind = "sequential"};
}

static lx_status take_kind(ordering *self, const char *value, lx_error *error)
{
    static const char *const names[] = {"sequential", "random", "shuffle", "blocks", "blend"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(value, names[i]) != 0)
        i++;
    if (i == sizeof names / sizeof *names)
        return fail(error, LX_ERR_ARGUMENT,
                    "--order: '%.64s' is none of sequential, random, shuffle, blocks, blend",
                    value);
    self->kind = value;
    return LX_OK;
}

lx_status ordering_take(ordering *self, const command_option *option, char *value,
                        lx_error *error)
{
    char what[32];
    if (option->id == OPTION_ORDER)
        return take_kind(self, value, error);
    if (option->id == OPTION_SUBSET) {
        self->subset = value;
        return LX_OK;
    }
    if (option->id >= OPTION_SET)
        return mixing_take(&self->mixed, option, value, error);
    size_t at = (size_t)(option->id - OPTION_LENGTH);
    snprintf(what, sizeof what, "--%s", option->name);
    self->given[at] = true;
    return number_parse(what, value, &self->numbers[at], error);
}

/** Options that go with one order alone. */
static lx_status check_kind(const ordering *self, lx_error *error)
{
    bool sequential = strcmp(self->kind, "sequential") == 0;
    bool blocks = strcmp(self->kind, "blocks") == 0;
    bool slides = is_given(self, OPTION_WINDOW) || is_given(self, OPTION_STRIDE);
    if (sequential && is_given(self, OPTION_SEED))
        return fail(error, LX_ERR_ARGUMENT, "--seed is of no use with --order sequential");
    if (!sequential && !is_given(self, OPTION_SEED))
        return fail(error, LX_ERR_ARGUMENT, "--order %s needs a --seed", self->kind);
    if (!sequential && slides)
        return fail(error, LX_ERR_ARGUMENT, "--window and --stride go with --order sequential");
    if (blocks && !is_given(self, OPTION_BLOCK))
        return fail(error, LX_ERR_ARGUMENT, "--order blocks needs a --block");
    if (!blocks && is_given(self, OPTION_BLOCK))
        return fail(error, LX_ERR_ARGUMENT, "--block goes with --order blocks");
    return LX_OK;
}

bool ordering_is_blend(const ordering *self)
{
    return strcmp(self->kind, "blend") == 0;
}

/** Options of a mixture, and those that one has no use for. */
static lx_status check_blend(ordering *self, lx_error *error)
{
    static const int others[] = {OPTION_BLOCK, OPTION_WINDOW, OPTION_STRIDE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_given(self, others[i]))
            return fail(error, LX_ERR_ARGUMENT,
                        "--block, --window and --stride are of no use with --order blend");
    if (self->subset != NULL)
        return fail(error, LX_ERR_ARGUMENT, "--subset is of no use with --order blend");
    if (is_given(self, OPTION_LENGTH) && number_of(self, OPTION_LENGTH) == 0)
        return fail(error, LX_ERR_ARGUMENT, "--length of a blend is at least 1");
    return mixing_check(&self->mixed, number_of(self, OPTION_LENGTH), error);
}

lx_status ordering_check(ordering *self, lx_error *error)
{
    if (self->mixed.given && !ordering_is_blend(self))
        return fail(error, LX_ERR_ARGUMENT,
                    "--set, --weights and --exhausted go with --order blend");
    if (!is_given(self, OPTION_LENGTH) && self->subset == NULL && !ordering_is_blend(self))
        return fail(error, LX_ERR_ARGUMENT, "--length is missing");
    for (size_t i = 0; i < COUNTED; i++)
        if (is_given(self, counted[i].id) && number_of(self, counted[i].id) < counted[i].least)
            return fail(error, LX_ERR_ARGUMENT, "--%s is at least %" PRIu64, counted[i].name,
                        counted[i].least);
    return ordering_is_blend(self) ? check_blend(self, error) : check_kind(self, error);
}

/* ---- the order */

/** Reads the file of --subset; the length is that of its array. */
static lx_status read_subset(ordering *self, lx_error *error)
{
    uint64_t count, *length = &self->numbers[0];
    if (self->subset == NULL)
        return LX_OK;
    lx_status status = indices_read(self->subset, &self->indices, &count, error);
    if (status != LX_OK)
        return status;
    if (self->given[0] && *length != count)
        return fail(error, LX_ERR_ARGUMENT,
                    "--length %" PRIu64 " is not the number of indices in %.200s, which is %" PRIu64
                    ": leave it out",
                    *length, self->subset, count);
    *length = count;
    self->given[0] = true;
    return LX_OK;
}

static lx_status make_plain(const ordering *self, lx_order **order, lx_error *error)
{
    uint64_t length = number_of(self, OPTION_LENGTH), seed = number_of(self, OPTION_SEED);
    if (ordering_is_blend(self))
        return mixing_make(&self->mixed, length, is_given(self, OPTION_SEED) ? &seed : NULL, order,
                           error);
    if (strcmp(self->kind, "random") == 0)
        return lx_order_new_random(length, seed, order, error);
    if (strcmp(self->kind, "shuffle") == 0)
        return lx_order_new_shuffle(length, seed, order, error);
    if (strcmp(self->kind, "blocks") == 0)
        return lx_order_new_blocks(length, number_of(self, OPTION_BLOCK), seed, order, error);
    return lx_order_new_sequential(length, number_of(self, OPTION_WINDOW),
                                   number_of(self, OPTION_STRIDE), order, error);
}

static lx_status slice(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    uint64_t length = lx_order_get_length(part), skip = number_of(self, OPTION_SKIP);
    skip = skip < length ? skip : length;
    length -= skip;
    if (is_given(self, OPTION_TAKE) && number_of(self, OPTION_TAKE) < length)
        length = number_of(self, OPTION_TAKE);
    return lx_order_new_slice(part, skip, length, made, error);
}

static lx_status subset(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    return lx_order_new_subset(part, self->indices, number_of(self, OPTION_LENGTH), made, error);
}

static lx_status repeat(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    return lx_order_new_repeat(part, number_of(self, OPTION_REPEAT), made, error);
}

/* The order, and then what is made of it. */
lx_status ordering_make(ordering *self, lx_order **order, lx_error *error)
{
    const struct {
        bool wanted;
        lx_status (*make)(const ordering *self, lx_order *part, lx_order **made, lx_error *error);
    } steps[] = {{self->subset != NULL, subset},
                 {is_given(self, OPTION_SKIP) || is_given(self, OPTION_TAKE), slice},
                 {is_given(self, OPTION_REPEAT), repeat}};
    lx_status status = read_subset(self, error);
    if (status == LX_OK)
        status = make_plain(self, order, error);
    for (size_t i = 0; status == LX_OK && i < sizeof steps / sizeof *steps; i++) {
        lx_order *made = NULL;
        if (steps[i].wanted)
            status = steps[i].make(self, *order, &made, error);
        if (made != NULL) {
            lx_order_unref(*order);
            *order = made;
        }
    }
    return status;
}

/* ---- what was said */

lx_status ordering_print_json(const ordering *self, lx_error *error)
{
    lx_status status = LX_OK;
    printf("  \"order\": \"%s\",\n", self->kind);
    if (self->subset != NULL) {
        printf("  \"subset\": ");
        status = report_print_text(self->subset, error);
        printf(",\n");
    }
    for (size_t i = 0; i < COUNTED; i++)
        if (is_given(self, counted[i].id))
            printf("  \"%s\": %" PRIu64 ",\n", counted[i].name, number_of(self, counted[i].id));
    return status == LX_OK && ordering_is_blend(self) ? mixing_print_json(&self->mixed, error)
                                                      : status;
}

void ordering_end(ordering *self)
{
    free(self->indices);
    mixing_end(&self->mixed);
    *self = (ordering){0};
}
