/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices that a sampler gives, printed one a line or as a list of JSON.
 */
#ifndef LX_TOOLS_LISTING_H
#define LX_TOOLS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/sampler.h>

#include "mixing.h"

/** What is printed of an index. */
typedef enum listing_form {
    LISTING_LINES,       /**< A line each. */
    LISTING_LINES_SETS,  /**< The same, with a tab and the name of the set behind it. */
    LISTING_LIST,        /**< The elements of a list in JSON, without brackets. */
    LISTING_LIST_SETS    /**< Of a list of the names of the sets alone. */
} listing_form;

/** Prints up to @p count indices, fewer where the order is empty or ends. @p mixed has the sets; it
 * may be NULL in a form without. */
lx_status listing_print(lx_sampler *sampler, uint64_t count, listing_form form,
                        const mixing *mixed, lx_error *error);

#endif
