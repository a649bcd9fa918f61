/* SPDX-License-Identifier: MIT */
#include "loader/missing-values.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "loader/sources/source.h"

/* Number of records whose marks are on the stack at a time. */
#define BLOCK 256

/* ---- options */

void lx__missing_rules_clear(lx_loader_options *options)
{
    for (size_t i = 0; i < options->missing_count; i++) {
        lx__free(options->missing[i].column);
        lx__free(options->missing[i].value);
    }
    lx__free(options->missing);
}

/** Returns the rule for a column, which may be NULL; NULL if there is none. */
static lx__missing_rule *find_rule(const lx_loader_options *options, const char *column)
{
    for (size_t i = 0; i < options->missing_count; i++) {
        const char *named = options->missing[i].column;
        if (column == NULL ? named == NULL : named != NULL && strcmp(named, column) == 0)
            return &options->missing[i];
    }
    return NULL;
}

/** Adds a rule, or replaces the one for the same column. Owns the members of @p rule. */
static lx_status set_rule(lx_loader_options *options, lx__missing_rule rule, lx_error *error)
{
    lx__missing_rule *place = find_rule(options, rule.column);
    if (place != NULL) {
        lx__free(place->column);
        lx__free(place->value);
        *place = rule;
        return LX_OK;
    }
    size_t count = options->missing_count + 1;
    lx__missing_rule *rules = lx__resize_array(options->missing, count, sizeof *rules);
    if (rules == NULL) {
        lx__free(rule.column);
        lx__free(rule.value);
        return lx__fail_memory(error, "loader options");
    }
    rules[options->missing_count++] = rule;
    options->missing = rules;
    return LX_OK;
}

lx_status lx_loader_options_set_missing(lx_loader_options *options, const char *column,
                                        lx_missing_policy policy, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (policy != LX_MISSING_RAISE && policy != LX_MISSING_ZEROS && policy != LX_MISSING_MASK)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the policy for missing values must be raise, zeros or mask, not %d",
                       (int)policy);
    lx__missing_rule rule = {.policy = policy};
    if (column != NULL && (rule.column = lx__strdup(column)) == NULL)
        return lx__fail_memory(error, "loader options");
    return set_rule(options, rule, error);
}

lx_status lx_loader_options_set_missing_value(lx_loader_options *options, const char *column,
                                              const void *value, size_t size, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (column == NULL)
        return lx__fail_null(error, "column");
    if (value == NULL && size != 0)
        return lx__fail_null(error, "value");
    lx__missing_rule rule = {.policy = LX_MISSING_ZEROS,
                             .column = lx__strdup(column),
                             .value = lx__alloc_array(size != 0 ? size : 1, 1),
                             .size = size};
    if (rule.column == NULL || rule.value == NULL) {
        lx__free(rule.column);
        lx__free(rule.value);
        return lx__fail_memory(error, "loader options");
    }
    if (size != 0)
        memcpy(rule.value, value, size);
    return set_rule(options, rule, error);
}

/* ---- layout */

static const lx_column_info *column_of(const lx__layout *layout, size_t i)
{
    return lx_source_get_column(layout->source, layout->positions[i]);
}

static lx_status check_rule(const lx__layout *layout, const lx__missing_rule *rule, lx_error *error)
{
    lx_status status = LX_OK;
    size_t i = 0;
    while (i < layout->count && strcmp(column_of(layout, i)->name, rule->column) != 0)
        i++;
    if (i == layout->count)
        status = lx_fail(error, LX_ERR_NOT_FOUND,
                         "a policy for missing values is set for a column that the loader does not "
                         "read");
    else if (rule->value != NULL && column_of(layout, i)->size == LX_NONE)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "a value cannot replace missing ones, because the records of the column "
                         "vary in size: set missing to mask or zeros, with which they are empty");
    else if (rule->value != NULL && rule->size != column_of(layout, i)->size)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the replacement for missing values has %zu bytes, but a value of the "
                         "column has %llu",
                         rule->size, (unsigned long long)column_of(layout, i)->size);
    if (status != LX_OK)
        lx_error_locate(error, NULL, rule->column, LX_NONE, LX_NONE);
    return status;
}

static lx_status lay_out_column(lx__layout *layout, size_t i, const lx__missing_rule *rule,
                                lx_error *error)
{
    lx__missing_column *column = &layout->missing[i];
    column->policy = rule->policy;
    if (rule->policy == LX_MISSING_MASK)
        return lx__layout_add(layout, 1, &column->start, error);
    if (rule->value == NULL)
        return LX_OK;
    column->value = lx__alloc_array(rule->size != 0 ? rule->size : 1, 1);
    if (column->value == NULL)
        return lx__fail_memory(error, "a loader");
    memcpy(column->value, rule->value, rule->size);
    return LX_OK;
}

lx_status lx__missing_lay_out(lx__layout *layout, const lx_loader_options *options, lx_error *error)
{
    static const lx__missing_rule by_default = {.policy = LX_MISSING_RAISE};
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < options->missing_count; i++)
        if (options->missing[i].column != NULL)
            status = check_rule(layout, &options->missing[i], error);
    for (size_t i = 0; status == LX_OK && i < layout->count; i++) {
        const lx__missing_rule *rule = find_rule(options, column_of(layout, i)->name);
        if (rule == NULL)
            rule = find_rule(options, NULL);
        status = lay_out_column(layout, i, rule != NULL ? rule : &by_default, error);
    }
    return status;
}

/* ---- finding */

/** Called with the row of a record that lacks a value, and with its index. */
typedef lx_status (*missing_function)(void *user, uint64_t row, uint64_t index, lx_error *error);

/** The values of a column: of the records @ref indices or, if it is NULL, of the first ones. */
typedef struct column_values {
    lx_source *source;
    size_t position;
    const uint64_t *indices;
    uint64_t count;
} column_values;

static lx_status each_missing(const column_values *values, missing_function found, void *user,
                              lx_error *error)
{
    uint8_t present[BLOCK];
    uint64_t first[BLOCK];
    lx_status status = LX_OK;
    for (uint64_t at = 0, here; status == LX_OK && at < values->count; at += here) {
        const uint64_t *indices = values->indices != NULL ? values->indices + at : first;
        here = values->count - at < BLOCK ? values->count - at : BLOCK;
        for (size_t i = 0; values->indices == NULL && i < here; i++)
            first[i] = at + i;
        status = lx__source_mark_present(values->source, values->position, indices, (size_t)here,
                                         present, error);
        const uint8_t *next = present;
        while (status == LX_OK &&
               (next = memchr(next, 0, (size_t)(present + here - next))) != NULL) {
            uint64_t i = (uint64_t)(next++ - present);
            status = found(user, at + i, indices[i], error);
        }
    }
    return status;
}

/* ---- rejecting */

static lx_status reject(void *user, uint64_t row, uint64_t index, lx_error *error)
{
    const column_values *values = user;
    (void)row;
    lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                               "the column has missing values, which would read as zeros: set a "
                               "policy for missing values (mask, zeros or a replacement), or use a "
                               "subset without these records");
    lx_error_locate(error, NULL, lx_source_get_column(values->source, values->position)->name,
                    index, LX_NONE);
    return status;
}

lx_status lx__missing_check(const lx__layout *layout, lx_error *error)
{
    lx_source *source;
    lx_status status = lx__source_pin(layout->source, &source, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; status == LX_OK && i < layout->count; i++) {
        column_values values = {source, layout->positions[i], NULL, lx_source_get_length(source)};
        if (layout->missing[i].policy == LX_MISSING_RAISE &&
            lx__source_may_be_missing(source, layout->positions[i]))
            status = each_missing(&values, reject, &values, error);
    }
    lx_source_unref(source);
    return status;
}

/* ---- batches */

/** Where to replace values: those of a column of a batch. */
typedef struct replacement {
    uint8_t *rows;
    size_t size;
    const uint8_t *value;
} replacement;

static lx_status replace(void *user, uint64_t row, uint64_t index, lx_error *error)
{
    const replacement *self = user;
    (void)index;
    (void)error;
    memcpy(self->rows + row * self->size, self->value, self->size);
    return LX_OK;
}

static lx_status apply_column(lx_source *source, lx_batch *batch, size_t i, lx_error *error)
{
    const lx__layout *layout = &batch->batch_pool->layout;
    const lx__missing_column *column = &layout->missing[i];
    column_values values = {source, layout->positions[i], batch->indices, batch->rows};
    if (column->policy == LX_MISSING_MASK)
        return lx__source_mark_present(source, values.position, values.indices, (size_t)batch->rows,
                                       lx__batch_at(batch, column->start), error);
    if (!lx__source_may_be_missing(source, values.position))
        return LX_OK;
    if (column->value != NULL) {
        replacement with = {lx__batch_at(batch, layout->starts[i]), (size_t)batch->columns[i].size,
                            column->value};
        return each_missing(&values, replace, &with, error);
    }
    if (column->policy == LX_MISSING_RAISE && layout->source->live)
        return each_missing(&values, reject, &values, error); /* again: a live dataset changes */
    return LX_OK;
}

lx_status lx__missing_apply(lx_source *source, lx_batch *batch, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < batch->batch_pool->layout.count; i++)
        status = apply_column(source, batch, i, error);
    return status;
}
