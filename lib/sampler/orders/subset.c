/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/error.h"
#include "sampler/core/order-options.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/inner-order.h"
#include "sampler/core/saved-state.h"

struct subset {
    lx_order order;
    lx__inner_order part;
    lx__index_table table;
};

static lx_status subset_read(const lx_order *order, void *scratch, uint64_t *positions,
                             size_t count, lx_error *error)
{
    const struct subset *self = (const struct subset *)order;
    lx_status status = lx__inner_order_map(&self->part, scratch, positions, count, error);
    if (status == LX_OK)
        status = lx__index_table_map(&self->table, positions, count, error);
    return status;
}

static int subset_describe(const lx_order *order, json_t *object)
{
    const struct subset *self = (const struct subset *)order;
    int failed = json_object_set_new(object, "count", lx__state_number(self->table.count));
    failed |= json_object_set_new(object, "indices", lx__index_table_to_json(&self->table));
    failed |= json_object_set_new(object, "part", lx__inner_order_to_json(&self->part));
    return failed;
}

static void subset_dispose(lx_order *order)
{
    struct subset *self = (struct subset *)order;
    lx__inner_order_clear(&self->part);
    lx__index_table_free(&self->table);
}

static const lx__order_class subset_class = {.kind = "subset",
                                             .formula = 1,
                                             .scratch_size = sizeof(lx__scratch *),
                                             .clear_scratch = lx__inner_order_clear_scratch,
                                             .read = subset_read,
                                             .describe = subset_describe,
                                             .dispose = subset_dispose};

struct given {
    const uint64_t *indices;
    const lx__index_table *table; /* has the count, bound and checksum of the indices */
};

static int describe_table(const void *user, json_t *what)
{
    const lx__index_table *table = ((const struct given *)user)->table;
    return lx__index_table_describe(what, "subset", table->count, "indices", table->crc);
}

static lx_status fill_table(void *user, lx__index_table *table, lx_error *error)
{
    return lx__index_table_fill(((const struct given *)user)->indices, table, error);
}

static lx_status make_table(const uint64_t *indices, uint64_t count, const char *tables,
                            lx__index_table *table, lx_error *error)
{
    static const lx__index_table_maker maker = {"subset", describe_table, fill_table};
    struct given given = {indices, table};
    lx_status status = lx__index_table_measure(indices, count, table, error);
    return status == LX_OK ? lx__index_table_cache_get(tables, &maker, &given, table, error)
                           : status;
}

lx_status lx_order_new_subset(lx_order *part, const uint64_t *indices, uint64_t count,
                              const lx_order_options *options, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    lx__index_table table;
    lx_status status = lx__order_options_take(options, LX__ORDER_TABLES, &how, error);
    if (status == LX_OK)
        status = lx__inner_order_check(part, order, error);
    if (status != LX_OK)
        return status;
    if (indices == NULL && count != 0)
        return lx__fail_null(error, "indices");
    if (part->bound > count)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the order needs at least %" PRIu64
                       " indices to choose from, but only %" PRIu64 " were passed",
                       part->bound, count);
    status = make_table(indices, count, how.tables, &table, error);
    if (status != LX_OK)
        return status;
    status = lx__order_new(&subset_class, sizeof(struct subset), part->length, table.bound, order,
                           error);
    if (status != LX_OK) {
        lx__index_table_free(&table);
        return status;
    }
    struct subset *self = (struct subset *)*order;
    self->table = table;
    lx__inner_order_init(&self->part, part, *order);
    return LX_OK;
}
