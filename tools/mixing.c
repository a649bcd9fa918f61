/* SPDX-License-Identifier: MIT */
#include "mixing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "number.h"
#include "report.h"

static const char *const words[] = {"repeat", "stop", "redistribute"};

/* ---- the command line */

static lx_status take_set(mixing *self, char *value, lx_error *error)
{
    char what[96], *sign = strrchr(value, '=');
    if (sign == NULL || sign == value)
        return fail(error, LX_ERR_ARGUMENT,
                    "--set: '%.64s' is not NAME=LENGTH, such as text=60000", value);
    for (const char *at = value; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return fail(error, LX_ERR_ARGUMENT, "--set: a name has no control characters");
    *sign = '\0';
    mixing_set set = {.name = value};
    snprintf(what, sizeof what, "--set %.64s", value);
    lx_status status = number_parse_within(what, sign + 1, 1, UINT64_MAX, &set.records, error);
    if (status != LX_OK)
        return status;
    mixing_set *more = realloc(self->sets, (self->count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a set");
    self->sets = more;
    more[self->count++] = set;
    return LX_OK;
}

static mixing_weighting *add_weighting(mixing *self, size_t count, lx_error *error)
{
    double *weights = calloc(count, sizeof *weights);
    mixing_weighting *more =
        realloc(self->weightings, (self->weighting_count + 1) * sizeof *more);
    if (more != NULL)
        self->weightings = more;
    if (weights == NULL || more == NULL) {
        free(weights);
        fail_memory(error, "weights");
        return NULL;
    }
    more += self->weighting_count++;
    *more = (mixing_weighting){.weights = weights, .count = count};
    return more;
}

/** Reads a weight at @p *text, and moves that behind it; false if there is none. */
static bool take_weight(char **text, double *weight)
{
    size_t length = strspn(*text, "0123456789.eE+-");
    char *end;
    if (**text == '-' || **text == '+')
        return false;
    *weight = strtod(*text, &end);
    bool valid = length != 0 && end == *text + length && isfinite(*weight);
    *text = end;
    return valid;
}

static lx_status take_weights(mixing *self, char *value, lx_error *error)
{
    char *colon = strchr(value, ':'), *at = colon != NULL ? colon + 1 : value;
    size_t count = 1;
    for (const char *comma = at; (comma = strchr(comma, ',')) != NULL; comma++)
        count++;
    mixing_weighting *weighting = add_weighting(self, count, error);
    if (weighting == NULL)
        return LX_ERR_NOMEM;
    for (size_t i = 0; i < count; i++, at++) {
        char *begin = at;
        if (!take_weight(&at, &weighting->weights[i]) || *at != (i + 1 < count ? ',' : '\0'))
            return fail(error, LX_ERR_ARGUMENT,
                        "--weights: '%.*s' is no weight: numbers of 0 or more, such as 3 or 0.25, "
                        "with commas between them",
                        (int)strcspn(begin, ","), begin);
    }
    if (colon == NULL)
        return LX_OK;
    *colon = '\0';
    return number_parse("--weights: the offset", value, &weighting->begin, error);
}

lx_status mixing_take(mixing *self, const command_option *option, char *value, lx_error *error)
{
    self->given = true;
    if (option->id == OPTION_SET)
        return take_set(self, value, error);
    if (option->id == OPTION_WEIGHTS)
        return take_weights(self, value, error);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            self->exhausted = (lx_exhausted)i;
            return LX_OK;
        }
    return fail(error, LX_ERR_ARGUMENT,
                "--exhausted: '%.64s' is none of repeat, stop, redistribute", value);
}

/* ---- whether it goes together */

static int compare_names(const void *one, const void *other)
{
    return strcmp((*(const mixing_set *const *)one)->name,
                  (*(const mixing_set *const *)other)->name);
}

static lx_status check_names(const mixing *self, lx_error *error)
{
    const mixing_set **sorted = calloc(self->count, sizeof *sorted);
    lx_status status = sorted != NULL ? LX_OK : fail_memory(error, "sets");
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        sorted[i] = &self->sets[i];
    if (status == LX_OK)
        qsort(sorted, self->count, sizeof *sorted, compare_names);
    for (size_t i = 1; status == LX_OK && i < self->count; i++)
        if (compare_names(&sorted[i - 1], &sorted[i]) == 0)
            status = fail(error, LX_ERR_ARGUMENT,
                          "--set: there are two sets '%.64s': give each a name of its own",
                          sorted[i]->name);
    free(sorted);
    return status;
}

static lx_status check_sets(mixing *self, lx_error *error)
{
    if (self->count == 0)
        return fail(error, LX_ERR_ARGUMENT,
                    "--set is missing: give each set of records as --set NAME=LENGTH");
    self->together = 0;
    for (size_t i = 0; i < self->count; i++) {
        mixing_set *set = &self->sets[i];
        if (set->records > UINT64_MAX - self->together)
            return fail(error, LX_ERR_ARGUMENT,
                        "--set: the sets together have more than 2^64 - 1 records");
        set->begin = self->together;
        self->together += set->records;
    }
    return check_names(self, error);
}

/** Weights in proportion to lengths, from offset 0 on, in front of all others. */
static lx_status add_lengths(mixing *self, lx_error *error)
{
    mixing_weighting *last = add_weighting(self, self->count, error);
    if (last == NULL)
        return LX_ERR_NOMEM;
    mixing_weighting made = *last;
    for (size_t i = 0; i < self->count; i++)
        made.weights[i] = (double)self->sets[i].records;
    memmove(self->weightings + 1, self->weightings,
            (self->weighting_count - 1) * sizeof *self->weightings);
    self->weightings[0] = made;
    return LX_OK;
}

static lx_status check_weighting(const mixing *self, size_t number, lx_error *error)
{
    const mixing_weighting *weighting = &self->weightings[number];
    uint64_t before = number != 0 ? weighting[-1].begin : 0;
    bool any = false;
    if (weighting->count != self->count)
        return fail(error, LX_ERR_ARGUMENT,
                    "--weights: there are %zu weights for %zu sets: give one for each --set, in "
                    "their order",
                    weighting->count, self->count);
    if (number != 0 && weighting->begin <= before)
        return fail(error, LX_ERR_ARGUMENT,
                    "--weights: there are weights from offset %" PRIu64 " on already, and those "
                    "from %" PRIu64 " on follow: later ones are OFFSET:W,W,..., and offsets ascend",
                    before, weighting->begin);
    for (size_t i = 0; i < weighting->count; i++)
        any = any || weighting->weights[i] > 0;
    return any ? LX_OK
               : fail(error, LX_ERR_ARGUMENT,
                      "--weights: all are 0: one of them at least has to be above");
}

lx_status mixing_check(mixing *self, uint64_t length, lx_error *error)
{
    lx_status status = check_sets(self, error);
    if (status == LX_OK && (self->weighting_count == 0 || self->weightings[0].begin != 0))
        status = add_lengths(self, error);
    for (size_t i = 0; status == LX_OK && i < self->weighting_count; i++)
        status = check_weighting(self, i, error);
    if (status != LX_OK)
        return status;
    uint64_t last = self->weightings[self->weighting_count - 1].begin;
    length = length != 0 ? length : self->together;
    if (last >= length)
        return fail(error, LX_ERR_ARGUMENT,
                    "--weights: those from offset %" PRIu64 " on are behind an epoch, which has "
                    "%" PRIu64 " positions: --length makes it longer",
                    last, length);
    return LX_OK;
}

/* ---- the order */

static lx_status add_set(const mixing *self, size_t number, const uint64_t *seed,
                         lx_mixture *mixture, lx_error *error)
{
    const mixing_set *set = &self->sets[number];
    lx_order *order = NULL;
    lx_status status = seed != NULL
                           ? lx_order_new_shuffle(set->records, *seed + number, &order, error)
                           : lx_order_new_sequential(set->records, 1, 1, &order, error);
    if (status == LX_OK)
        status = lx_mixture_add(mixture, order, set->begin, self->weightings[0].weights[number],
                                error);
    lx_order_unref(order);
    return status;
}

lx_status mixing_make(const mixing *self, uint64_t length, const uint64_t *seed, lx_order **order,
                      lx_error *error)
{
    lx_mixture *mixture = lx_mixture_new();
    lx_status status = mixture != NULL ? LX_OK : fail_memory(error, "a mixture");
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = add_set(self, i, seed, mixture, error);
    for (size_t i = 1; status == LX_OK && i < self->weighting_count; i++)
        status = lx_mixture_set_weights(mixture, self->weightings[i].begin,
                                        self->weightings[i].weights, self->count, error);
    if (status == LX_OK)
        status = lx_mixture_set_length(mixture, length, error);
    if (status == LX_OK)
        status = lx_mixture_set_exhausted(mixture, self->exhausted, error);
    if (status == LX_OK)
        status = lx_order_new_blend(mixture, order, error);
    lx_mixture_free(mixture);
    return status;
}

const mixing_set *mixing_find(const mixing *self, uint64_t index)
{
    size_t low = 0, high = self->count; /* sets[low].begin <= index < sets[high].begin */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (self->sets[middle].begin <= index)
            low = middle;
        else
            high = middle;
    }
    return &self->sets[low];
}

const char *mixing_exhausted(const mixing *self)
{
    return words[self->exhausted];
}

static lx_status print_set(const mixing_set *set, const char *before, lx_error *error)
{
    printf("%s\n    {\"name\": ", before);
    lx_status status = report_print_text(set->name, error);
    printf(", \"records\": %" PRIu64 "}", set->records);
    return status;
}

lx_status mixing_print_json(const mixing *self, lx_error *error)
{
    char text[REPORT_REAL_TEXT];
    lx_status status = LX_OK;
    printf("  \"set\": [");
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = print_set(&self->sets[i], i != 0 ? "," : "", error);
    printf("],\n  \"weights\": [");
    for (size_t i = 0; i < self->weighting_count; i++) {
        printf("%s\n    {\"offset\": %" PRIu64 ", \"weights\": [", i != 0 ? "," : "",
               self->weightings[i].begin);
        for (size_t set = 0; set < self->count; set++)
            printf("%s%s", set != 0 ? ", " : "",
                   report_real(self->weightings[i].weights[set], text));
        printf("]}");
    }
    printf("],\n  \"exhausted\": \"%s\",\n", mixing_exhausted(self));
    return status;
}

void mixing_end(mixing *self)
{
    for (size_t i = 0; i < self->weighting_count; i++)
        free(self->weightings[i].weights);
    free(self->weightings);
    free(self->sets);
    *self = (mixing){0};
}
