/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of a source that uses the caller's functions.
 */
#ifndef LX_LOADER_SOURCE_OPTIONS_H
#define LX_LOADER_SOURCE_OPTIONS_H

#include <loaderx/map.h>

struct lx_source_options {
    lx_fill_function fill;       /**< NULL until it is set. */
    lx_release_function release; /**< May be NULL. */
    lx_sizes_function sizes;     /**< NULL unless columns may vary in size. */
    lx_fill_bytes_function fill_bytes;
    lx_map_function map;               /**< Only for a map; NULL until it is set. */
    lx_new_worker_function new_worker; /**< NULL: the map has no workers. */
    lx_free_worker_function free_worker;
    void *user;
    const char *identity; /**< NULL for "". */
};

#endif
