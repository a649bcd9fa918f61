/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief States of loaders, for tests of the sources that accept them.
 */
#ifndef LX_TESTS_TOKENS_STATES_H
#define LX_TESTS_TOKENS_STATES_H

#include <loaderx/loader.h>

#include "../../unit.h"

/** A loader that shuffles the source; takes over the reference. */
static inline lx_loader *open_shuffled(lx_source *source)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_shuffle(options, 3, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    lx_loader_options_free(options);
    lx_source_unref(source);
    return loader;
}

/** The state of a new loader of the source; drops the reference. */
static inline void save_state(lx_source *source, char *state, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader = open_shuffled(source);
    unit_ok(lx_loader_save(loader, state, size, NULL, &error));
    lx_loader_close(loader);
}

/** The result of loading a state in a loader of the source; drops the reference. */
static inline lx_status restore(lx_source *source, const char *state)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader = open_shuffled(source);
    lx_status status = lx_loader_restore(loader, state, &error);
    lx_error_clear(&error);
    lx_loader_close(loader);
    return status;
}

#endif
