/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Prints the indices of a sampler, one per line or as a JSON list.
 */
#ifndef LX_TOOLS_LISTING_H
#define LX_TOOLS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/sampler.h>

#include "mixing.h"

/** How an index is printed. */
typedef enum listing_form {
    LISTING_LINES,      /**< One per line. */
    LISTING_LINES_SETS, /**< One per line, followed by a tab and the name of its set. */
    LISTING_LIST,       /**< The elements of a JSON list, without brackets. */
    LISTING_LIST_SETS   /**< The names of the indices' sets, in the same form. */
} listing_form;

/** Prints up to @p count indices (fewer if the order is empty or ends). @p mixed contains the sets;
 * it may be NULL for the forms without sets. */
lx_status listing_print(lx_sampler *sampler, uint64_t count, listing_form form, const mixing *mixed,
                        lx_error *error);

#endif
