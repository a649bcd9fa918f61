/* SPDX-License-Identifier: MIT */
#include "sampler/order/epochs.h"

#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"

struct lx__epochs {
    lx__epoch_fill *fill;
    size_t count;
    pthread_mutex_t lock;
    lx__epoch *kept[2]; /* the last one first */
};

lx__epochs *lx__epochs_new(lx__epoch_fill *fill, size_t count)
{
    lx__epochs *epochs = lx__alloc_array(1, sizeof *epochs);
    if (epochs == NULL)
        return NULL;
    epochs->fill = fill;
    epochs->count = count;
    if (pthread_mutex_init(&epochs->lock, NULL) != 0) {
        lx__free(epochs);
        return NULL;
    }
    return epochs;
}

/** Under the lock. */
static void drop(lx__epoch *epoch)
{
    if (epoch != NULL && --epoch->holders == 0)
        lx__free(epoch);
}

void lx__epochs_free(lx__epochs *epochs)
{
    if (epochs == NULL)
        return;
    for (size_t i = 0; i < 2; i++) {
        assert(epochs->kept[i] == NULL || epochs->kept[i]->holders == 1);
        drop(epochs->kept[i]);
    }
    pthread_mutex_destroy(&epochs->lock);
    lx__free(epochs);
}

/** Under the lock, so that nobody makes it twice. */
static lx_status make(lx__epochs *epochs, const lx_order *order, uint64_t number,
                      lx__epoch **made, lx_error *error)
{
    size_t most = (SIZE_MAX - sizeof(lx__epoch)) / sizeof(uint32_t);
    lx__epoch *epoch =
        epochs->count <= most
            ? lx__alloc_array(1, sizeof *epoch + epochs->count * sizeof(uint32_t))
            : NULL;
    if (epoch == NULL)
        return lx__fail_memory(error, "the table of an epoch");
    epoch->owner = epochs;
    epoch->number = number;
    lx_status status = epochs->fill(order, number, epoch->indices, epochs->count, error);
    if (status != LX_OK) {
        lx__free(epoch);
        return status;
    }
    *made = epoch;
    return LX_OK;
}

/** Under the lock: makes it the last one that was entered. */
static void keep(lx__epochs *epochs, lx__epoch *epoch)
{
    if (epochs->kept[0] == epoch)
        return;
    if (epochs->kept[1] != epoch) {
        drop(epochs->kept[1]);
        epoch->holders++;
    }
    epochs->kept[1] = epochs->kept[0];
    epochs->kept[0] = epoch;
}

lx_status lx__epochs_enter(lx__epochs *epochs, const lx_order *order, uint64_t number,
                           lx__epoch **held, lx_error *error)
{
    lx__epoch *epoch = NULL;
    lx_status status = LX_OK;
    if (*held != NULL && (*held)->number == number)
        return LX_OK;
    pthread_mutex_lock(&epochs->lock);
    drop(*held);
    *held = NULL;
    for (size_t i = 0; i < 2 && epoch == NULL; i++)
        if (epochs->kept[i] != NULL && epochs->kept[i]->number == number)
            epoch = epochs->kept[i];
    if (epoch == NULL)
        status = make(epochs, order, number, &epoch, error);
    if (status == LX_OK) {
        keep(epochs, epoch);
        epoch->holders++;
        *held = epoch;
    }
    pthread_mutex_unlock(&epochs->lock);
    return status;
}

void lx__epoch_clear_scratch(void *scratch)
{
    lx__epoch **held = scratch;
    if (*held == NULL)
        return;
    lx__epochs *owner = (*held)->owner;
    pthread_mutex_lock(&owner->lock);
    drop(*held);
    pthread_mutex_unlock(&owner->lock);
    *held = NULL;
}

lx_status lx__epochs_read(lx__epochs *epochs, const lx_order *order, void *scratch,
                          uint64_t *places, size_t count, lx_error *error)
{
    lx__epoch **held = scratch;
    lx_status status = LX_OK;
    for (size_t done = 0, here; status == LX_OK && done < count; done += here) {
        uint64_t number = lx__order_split_epoch(order, places + done, count - done, &here);
        status = lx__epochs_enter(epochs, order, number, held, error);
        for (size_t i = done; status == LX_OK && i < done + here; i++)
            places[i] = (*held)->indices[places[i]];
    }
    return status;
}
