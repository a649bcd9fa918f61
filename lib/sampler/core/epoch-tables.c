/* SPDX-License-Identifier: MIT */
#include "sampler/core/epoch-tables.h"

#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/order-json.h"
#include "sampler/core/saved-state.h"

struct lx__epoch_tables {
    lx__epoch_table_fill *fill;
    size_t count;
    char *tables; /* the folder of the tables; NULL if they are in memory */
    pthread_mutex_t lock;
    lx__epoch_table *kept[2]; /* most recent first */
};

lx_status lx__epoch_tables_new(lx__epoch_table_fill *fill, size_t count, const char *tables,
                               lx__epoch_tables **epochs, lx_error *error)
{
    lx_status status = LX_OK;
    lx__epoch_tables *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "epoch tables");
    made->fill = fill;
    made->count = count;
    if (tables != NULL)
        status = lx__index_table_cache_folder(tables, &made->tables, error);
    if (status == LX_OK && pthread_mutex_init(&made->lock, NULL) != 0)
        status = lx__fail_memory(error, "epoch tables");
    if (status == LX_OK) {
        *epochs = made;
        return LX_OK;
    }
    lx__free(made->tables);
    lx__free(made);
    return status;
}

/** The caller holds the lock. */
static void drop_holder(lx__epoch_table *epoch)
{
    if (epoch == NULL || --epoch->holders != 0)
        return;
    lx__index_table_free(&epoch->table);
    lx__free(epoch);
}

void lx__epoch_tables_free(lx__epoch_tables *epochs)
{
    if (epochs == NULL)
        return;
    for (size_t i = 0; i < 2; i++) {
        assert(epochs->kept[i] == NULL || epochs->kept[i]->holders == 1);
        drop_holder(epochs->kept[i]);
    }
    pthread_mutex_destroy(&epochs->lock);
    lx__free(epochs->tables);
    lx__free(epochs);
}

/* ---- making tables */

/** A table to make. */
struct wanted {
    lx__epoch_tables *epochs;
    const lx_order *order;
    uint64_t number;
};

static int describe(const void *user, json_t *what)
{
    const struct wanted *wanted = user;
    int failed = lx__order_describe(wanted->order, what);
    failed |= json_object_set_new(what, "epoch", lx__state_number(wanted->number));
    return failed;
}

static lx__index_table_maker maker_of(const lx_order *order);

/** Fills a table in memory. Also removes the file from two epochs before; otherwise, the folder
 * would grow with every epoch. */
static lx_status fill(void *user, lx__index_table *table, lx_error *error)
{
    const struct wanted *wanted = user;
    size_t count = wanted->epochs->count;
    uint32_t *indices = lx__alloc_array(count, sizeof *indices);
    if (indices == NULL)
        return lx__fail_memory(error, "an epoch table");
    table->narrow = indices;
    lx_status status = wanted->epochs->fill(wanted->order, wanted->number, indices, count, error);
    if (status == LX_OK && wanted->number >= 2) {
        struct wanted outdated = {wanted->epochs, wanted->order, wanted->number - 2};
        lx__index_table_maker maker = maker_of(wanted->order);
        lx__index_table_cache_remove(wanted->epochs->tables, &maker, &outdated);
    }
    return status;
}

static lx__index_table_maker maker_of(const lx_order *order)
{
    return (lx__index_table_maker){order->class->kind, describe, fill};
}

/** The caller holds the lock, so each table is made only once. */
static lx_status make(lx__epoch_tables *epochs, const lx_order *order, uint64_t number,
                      lx__epoch_table **made, lx_error *error)
{
    struct wanted wanted = {epochs, order, number};
    lx__index_table_maker maker = maker_of(order);
    lx__epoch_table *epoch = lx__alloc_array(1, sizeof *epoch);
    if (epoch == NULL)
        return lx__fail_memory(error, "an epoch table");
    epoch->owner = epochs;
    epoch->number = number;
    epoch->table = (lx__index_table){.count = epochs->count, .bound = order->bound};
    lx_status status = lx__index_table_cache_get(epochs->tables, &maker, &wanted, &epoch->table,
                                                 error);
    if (status != LX_OK) {
        lx__free(epoch);
        return status;
    }
    *made = epoch;
    return LX_OK;
}

/* ---- entering an epoch */

/** Makes the epoch the most recent one. The caller holds the lock. */
static void cache(lx__epoch_tables *epochs, lx__epoch_table *epoch)
{
    if (epochs->kept[0] == epoch)
        return;
    if (epochs->kept[1] != epoch) {
        drop_holder(epochs->kept[1]);
        epoch->holders++;
    }
    epochs->kept[1] = epochs->kept[0];
    epochs->kept[0] = epoch;
}

lx_status lx__epoch_tables_get(lx__epoch_tables *epochs, const lx_order *order, uint64_t number,
                               lx__epoch_table **held, lx_error *error)
{
    lx__epoch_table *epoch = NULL;
    lx_status status = LX_OK;
    if (*held != NULL && (*held)->number == number)
        return LX_OK;
    pthread_mutex_lock(&epochs->lock);
    drop_holder(*held);
    *held = NULL;
    for (size_t i = 0; i < 2 && epoch == NULL; i++)
        if (epochs->kept[i] != NULL && epochs->kept[i]->number == number)
            epoch = epochs->kept[i];
    if (epoch == NULL)
        status = make(epochs, order, number, &epoch, error);
    if (status == LX_OK) {
        cache(epochs, epoch);
        epoch->holders++;
        *held = epoch;
    }
    pthread_mutex_unlock(&epochs->lock);
    return status;
}

void lx__epoch_table_clear_scratch(void *scratch)
{
    lx__epoch_table **held = scratch;
    if (*held == NULL)
        return;
    lx__epoch_tables *owner = (*held)->owner;
    pthread_mutex_lock(&owner->lock);
    drop_holder(*held);
    pthread_mutex_unlock(&owner->lock);
    *held = NULL;
}

lx_status lx__epoch_tables_read(lx__epoch_tables *epochs, const lx_order *order, void *scratch,
                                uint64_t *positions, size_t count, lx_error *error)
{
    lx__epoch_table **held = scratch;
    lx_status status = LX_OK;
    for (size_t done = 0, here; status == LX_OK && done < count; done += here) {
        uint64_t number = lx__order_split_epoch(order, positions + done, count - done, &here);
        status = lx__epoch_tables_get(epochs, order, number, held, error);
        if (status == LX_OK)
            status = lx__index_table_map(&(*held)->table, positions + done, here, error);
    }
    return status;
}
