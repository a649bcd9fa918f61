/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads all batches of a loader, for the tests of reading ahead.
 */
#ifndef LX_TESTS_READ_ALL_H
#define LX_TESTS_READ_ALL_H

#include "loader/loader-private.h"

#include "../sampler/orders.h"
#include "loaders.h"

/** Reads batches up to the end of the run; returns the number of records read ahead. */
static inline uint64_t read_all(lx_source *source, struct setup setup, uint64_t *digest)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_batch *batch;
    lx_loader_options *options = make_options(setup);
    unit_ok(lx_loader_open(source, options, &loader, &error));
    *digest = 1;
    while (lx_loader_next(loader, &batch, &error) == LX_OK) {
        *digest = *digest * 31 + add_digest(14695981039346656037u, batch);
        lx_batch_unref(batch);
    }
    unit_ok(error.status);
    uint64_t requested = atomic_load(&loader->read_ahead.requested);
    lx_loader_close(loader);
    lx_loader_options_free(options);
    return requested;
}

#endif
