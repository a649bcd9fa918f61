/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An allocator of batch memory that counts, fails on request, and overwrites what it
 * releases, for the tests of the loader.
 */
#ifndef LX_TESTS_SUPPLY_H
#define LX_TESTS_SUPPLY_H

#include <stdlib.h>

#include "loaders.h"

struct supply {
    atomic_uint allocated, released;
    unsigned limit;   /* allocations from this number on fail; 0: none fails */
    lx_status status; /* of a failure */
    size_t offset;    /* of memory that is not aligned */
};

static inline lx_status supply_allocate(size_t size, void *user, lx_memory *memory, lx_error *error)
{
    struct supply *self = user;
    unsigned number = atomic_fetch_add(&self->allocated, 1);
    ck_assert_uint_ne(size, 0);
    ck_assert_uint_eq(memory->size, size);
    if (self->limit != 0 && number >= self->limit) {
        atomic_fetch_sub(&self->allocated, 1);
        memory->size = 7; /* the library ignores it */
        return lx_fail(error, self->status, "the supply is exhausted");
    }
    uint8_t *block = aligned_alloc(64, (size + 127) / 64 * 64);
    ck_assert_ptr_nonnull(block);
    memset(block, 0xa5, size + 1);
    memory->owner = block;
    memory->data = block + self->offset;
    return LX_OK;
}

static inline void supply_release(const lx_memory *memory, void *user)
{
    struct supply *self = user;
    atomic_fetch_add(&self->released, 1);
    memset(memory->data, 0xdd, memory->size);
    free(memory->owner);
}

/** A loader whose batches are in memory of @p supply. */
static inline lx_loader *open_supplied(lx_source *source, struct setup setup, struct supply *supply,
                                       bool keep)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = make_options(setup);
    unit_ok(lx_loader_options_set_memory(options, supply_allocate, supply_release, supply, keep,
                                         &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    lx_loader_options_free(options);
    return loader;
}

/** Whether the column of a batch is in memory that the supply allocated. */
static inline bool is_supplied(const lx_batch *batch, size_t position, size_t size)
{
    const lx_memory *memory = lx_batch_get_memory(batch, position);
    const uint8_t *data = lx_batch_get_column(batch, position)->data;
    const uint8_t *start = memory != NULL ? memory->data : NULL;
    return memory != NULL && memory->owner == memory->data && data >= start &&
           data + size <= start + memory->size;
}

#endif
