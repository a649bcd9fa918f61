/* SPDX-License-Identifier: MIT */
#include "mixing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "number.h"
#include "report.h"

static const char *const exhausted_words[] = {"repeat", "stop", "redistribute"};
static const char *const method_words[] = {"closed", "greedy", "exhaustive"};

/* ---- the command line */

static lx_status take_set(mixing *self, char *value, lx_error *error)
{
    char what[96], *sign = strrchr(value, '=');
    if (sign == NULL || sign == value)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--set: '%.64s' is invalid: use NAME=LENGTH, such as text=60000", value);
    for (const char *at = value; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "--set: a name must not contain control characters");
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
    mixing_weighting *more = realloc(self->weightings, (self->weighting_count + 1) * sizeof *more);
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
        if (!number_take_real(&at, &weighting->weights[i]) || *at != (i + 1 < count ? ',' : '\0'))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "--weights: '%.*s' is not a weight: use nonnegative numbers, such as 3 "
                           "or 0.25, separated by commas",
                           (int)strcspn(begin, ","), begin);
    }
    if (colon == NULL)
        return LX_OK;
    *colon = '\0';
    return number_parse("--weights: the offset", value, &weighting->begin, error);
}

lx_status mixing_take(mixing *self, const command_option *option, char *value, lx_error *error)
{
    if (option->id == OPTION_SET)
        return take_set(self, value, error);
    if (option->id == OPTION_WEIGHTS)
        return take_weights(self, value, error);
    const char *const *words = option->id == OPTION_METHOD ? method_words : exhausted_words;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, words[i]) == 0) {
            if (option->id == OPTION_METHOD)
                self->method = (mixing_way)i;
            else
                self->exhausted = (lx_exhausted_policy)i;
            return LX_OK;
        }
    return lx_fail(error, LX_ERR_ARGUMENT, "--%s: invalid value '%.64s': use %s, %s or %s",
                   option->name, value, words[0], words[1], words[2]);
}

/* ---- checking the options */

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
            status = lx_fail(error, LX_ERR_ARGUMENT,
                             "--set: set '%.64s' is given twice: use a different name for each",
                             sorted[i]->name);
    free(sorted);
    return status;
}

static lx_status check_sets(mixing *self, lx_error *error)
{
    if (self->count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--set is missing: use --set NAME=LENGTH for each set of records");
    self->together = 0;
    for (size_t i = 0; i < self->count; i++) {
        mixing_set *set = &self->sets[i];
        if (set->records > UINT64_MAX - self->together)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "--set: the sets have more than 2^64 - 1 records in total");
        set->begin = self->together;
        self->together += set->records;
    }
    return check_names(self, error);
}

/** Inserts weights that are proportional to the lengths and take effect at offset 0, before all
 * other weights. */
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
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--weights: %zu weights are given for %zu sets: give one for each --set, in "
                       "the same order",
                       weighting->count, self->count);
    if (number != 0 && weighting->begin <= before)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--weights: offset %" PRIu64 " is followed by "
                       "%" PRIu64 ": use OFFSET:W,W,... with increasing offsets",
                       before, weighting->begin);
    for (size_t i = 0; i < weighting->count; i++)
        any = any || weighting->weights[i] > 0;
    return any ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT,
                         "--weights: all weights are 0: at least one must be positive");
}

/** Rejects options that Megatron's methods do not use. */
static lx_status check_method(const mixing *self, uint64_t length, lx_error *error)
{
    size_t weightings = self->weighting_count;
    if (self->method == MIXING_CLOSED)
        return LX_OK;
    if ((length != 0 ? length : self->together) > (uint64_t)1 << 53)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--method %s: an epoch would have more than 2^53 positions, which is too "
                       "many to compute one by one: use --method closed",
                       mixing_method(self));
    if (weightings > 0 && self->weightings[weightings - 1].begin != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--weights: an offset requires --method closed");
    if (self->method == MIXING_GREEDY)
        return LX_OK;
    if (weightings > 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--weights cannot be used with --method exhaustive");
    if (length != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--length cannot be used with --method exhaustive");
    if (self->exhausted == LX_EXHAUSTED_STOP)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--exhausted stop cannot be used with --method exhaustive");
    return LX_OK;
}

lx_status mixing_check(mixing *self, uint64_t length, lx_error *error)
{
    lx_status status = check_sets(self, error);
    if (status == LX_OK)
        status = check_method(self, length, error);
    if (status == LX_OK && self->method == MIXING_EXHAUSTIVE)
        self->exhausted = LX_EXHAUSTED_REDISTRIBUTE;
    if (status == LX_OK && (self->weighting_count == 0 || self->weightings[0].begin != 0))
        status = add_lengths(self, error);
    for (size_t i = 0; status == LX_OK && i < self->weighting_count; i++)
        status = check_weighting(self, i, error);
    if (status != LX_OK)
        return status;
    uint64_t last = self->weightings[self->weighting_count - 1].begin;
    length = length != 0 ? length : self->together;
    if (last >= length)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--weights: offset %" PRIu64 " is not within an epoch, which has "
                       "%" PRIu64 " positions: increase --length",
                       last, length);
    return LX_OK;
}

/* ---- output */

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
    return exhausted_words[self->exhausted];
}

const char *mixing_method(const mixing *self)
{
    return method_words[self->method];
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
    printf("],\n");
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
