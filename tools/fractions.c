/* SPDX-License-Identifier: MIT */
#include "fractions.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "number.h"

/* A sum this close to 1 counts as 1. */
#define ROUNDING 1e-9

static lx_status check_name(const fractions *self, const char *name, lx_error *error)
{
    if (name[0] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "--fractions: the name of a set is empty");
    for (const char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F || *at == '/')
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "--fractions: a name must not contain slashes or control characters");
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->sets[i].name, name) == 0)
            return lx_fail(error, LX_ERR_ARGUMENT, "--fractions: set '%.64s' is given twice", name);
    return LX_OK;
}

/** Parses NAME=F, which is all of @p text. */
static lx_status take_set(fractions *self, char *text, lx_error *error)
{
    char *sign = strrchr(text, '='), *at = sign != NULL ? sign + 1 : text;
    fraction set = {.name = text};
    if (sign == NULL || !number_take_real(&at, &set.part) || *at != '\0' || set.part > 1)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--fractions: '%.64s' is invalid: use NAME=F, where F is from 0 to 1, such "
                       "as train=0.9",
                       text);
    *sign = '\0';
    lx_status status = check_name(self, text, error);
    if (status == LX_OK)
        self->sets[self->count++] = set;
    return status;
}

static int compare_names(const void *a, const void *b)
{
    const fraction *const *first = a, *const *second = b;
    return strcmp((*first)->name, (*second)->name);
}

/** Computes the parts: prefix sums, with compensation for the rounding errors. */
static lx_status add_up(fraction **sets, size_t count, lx_error *error)
{
    double sum = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        double part = sets[i]->part, next = sum + part, added = next - sum;
        lost += (sum - (next - added)) + (part - added);
        sum = next;
        sets[i]->end = sum + lost;
    }
    double whole = sum + lost;
    if (whole > 1 + ROUNDING)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--fractions: the sum is %.9g, but must be at most 1", whole);
    for (size_t i = 0; i < count; i++) {
        if (sets[i]->end > 1 || (whole >= 1 - ROUNDING && sets[i]->end >= whole))
            sets[i]->end = 1;
        sets[i]->begin = i != 0 ? sets[i - 1]->end : 0;
    }
    return LX_OK;
}

lx_status fractions_place(fractions *self, uint64_t formula, lx_error *error)
{
    fraction **sets = malloc(self->count * sizeof *sets);
    if (sets == NULL)
        return fail_memory(error, "sets");
    for (size_t i = 0; i < self->count; i++)
        sets[i] = &self->sets[i];
    if (formula != 1)
        qsort(sets, self->count, sizeof *sets, compare_names);
    lx_status status = add_up(sets, self->count, error);
    free(sets);
    return status;
}

lx_status fractions_parse(fractions *self, char *text, lx_error *error)
{
    size_t most = 1;
    lx_status status = LX_OK;
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
        most++;
    fractions_free(self);
    self->sets = calloc(most, sizeof *self->sets);
    if (self->sets == NULL)
        return fail_memory(error, "sets");
    for (char *next; status == LX_OK && text != NULL; text = next) {
        next = strchr(text, ',');
        if (next != NULL)
            *next++ = '\0';
        status = take_set(self, text, error);
    }
    return status;
}

void fractions_free(fractions *self)
{
    free(self->sets);
    *self = (fractions){0};
}
