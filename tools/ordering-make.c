/* SPDX-License-Identifier: MIT */
/* Creates the order that the options describe. */
#include <inttypes.h>

#include <loaderx/batching.h>

#include "failure.h"
#include "ordering-types.h"

static lx_status read_subset(ordering *self, lx_error *error)
{
    if (!ordering_said(self, OPTION_SUBSET))
        return LX_OK;
    lx_status status = vector_read(&self->subset, VECTOR_INDICES,
                                   ordering_path(self, OPTION_SUBSET), error);
    if (status == LX_OK)
        status = ordering_settle(self, OPTION_SUBSET, self->subset.count, "indices", error);
    return status;
}

/** Reads the costs, one for each index of the source, regardless of subsets. They determine the
 * number of records if no other option does. */
static lx_status read_costs(ordering *self, lx_error *error)
{
    if (!ordering_said(self, OPTION_COSTS))
        return LX_OK;
    lx_status status = vector_read(&self->costs, VECTOR_COSTS, ordering_path(self, OPTION_COSTS),
                                   error);
    bool others = ordering_said(self, OPTION_LENGTH) || ordering_said(self, OPTION_SUBSET) ||
                  ordering_said(self, OPTION_WEIGHTS_FILE) || ordering_said(self, OPTION_CLASSES) ||
                  ordering_said(self, OPTION_LENGTHS);
    if (status == LX_OK && !others && !ordering_has_sets(self))
        status = ordering_settle(self, OPTION_COSTS, self->costs.count, "costs", error);
    return status;
}

static lx_status slice(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    uint64_t length = lx_order_get_length(part), skip = ordering_number(self, OPTION_SKIP);
    skip = skip < length ? skip : length;
    length -= skip;
    if (ordering_said(self, OPTION_TAKE) && ordering_number(self, OPTION_TAKE) < length)
        length = ordering_number(self, OPTION_TAKE);
    return lx_order_new_slice(part, skip, length, made, error);
}

static lx_status subset(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    lx_order_options *options = lx_order_options_new();
    lx_status status = options != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK)
        status = lx_order_options_set_tables(options, ordering_path(self, OPTION_TABLES), error);
    if (status == LX_OK)
        status = lx_order_new_subset(part, self->subset.words, self->subset.count, options, made,
                                     error);
    lx_order_options_free(options);
    return status;
}

static lx_status repeat(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    return lx_order_new_repeat(part, ordering_number(self, OPTION_REPEAT), made, error);
}

static lx_status pad(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    return lx_order_new_padded(part, ordering_number(self, OPTION_PADDED), made, error);
}

static lx_status cut(const ordering *self, lx_order *part, lx_order **made, lx_error *error)
{
    lx_order_options *options = lx_order_options_new();
    lx_status status = options != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK)
        status = lx_order_options_set_max_batch_size(options, ordering_number(self, OPTION_ROWS),
                                                     error);
    if (status == LX_OK)
        status = lx_order_options_set_padded(options, ordering_said(self, OPTION_PAD_COSTS), error);
    if (status == LX_OK)
        status = lx_order_new_budgeted(part, self->costs.words, self->costs.count,
                                       ordering_number(self, OPTION_BUDGET), options, made, error);
    lx_order_options_free(options);
    if (status == LX_ERR_ARGUMENT || status == LX_ERR_MISMATCH)
        lx_error_locate(error, ordering_path(self, OPTION_COSTS), NULL, LX_NONE, LX_NONE);
    return status;
}

/* Creates the order, then applies the options that modify it. */
lx_status ordering_make(ordering *self, lx_order **order, lx_error *error)
{
    bool is_of_places = (self->type->takes & ORDERING_BIT(OPTION_SUBSET)) != 0;
    const struct {
        bool wanted;
        lx_status (*make)(const ordering *self, lx_order *part, lx_order **made, lx_error *error);
    } steps[] = {{ordering_said(self, OPTION_SUBSET) && is_of_places, subset},
                 {ordering_said(self, OPTION_SKIP) || ordering_said(self, OPTION_TAKE), slice},
                 {ordering_said(self, OPTION_REPEAT), repeat},
                 {ordering_said(self, OPTION_PADDED), pad},
                 {ordering_is_cut(self), cut}};
    lx_status status = read_subset(self, error);
    if (status == LX_OK)
        status = read_costs(self, error);
    if (status == LX_OK)
        status = self->type->make(self, order, error);
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
