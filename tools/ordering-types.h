/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The orders of --order: the options of each order, and the function that creates it.
 */
#ifndef LX_TOOLS_ORDERING_TYPES_H
#define LX_TOOLS_ORDERING_TYPES_H

#include "ordering.h"

typedef struct ordering_type {
    const char *name;
    uint64_t takes; /**< Bits of the allowed options, among those that only some orders use. */
    uint64_t needs; /**< Bits of the required options. */
    lx_status (*make)(ordering *self, lx_order **order, lx_error *error);
    bool is_tabled; /**< The order has a table unless it uses sets; torch-distributed has a table
                         only with a seed. */
} ordering_type;

/** Sets the length to @p count, the number of entries in an option's file, and checks that this
 * matches --length and the other files. Error messages call the entries @p several. */
lx_status ordering_settle(ordering *self, int option, uint64_t count, const char *several,
                          lx_error *error);

/** Returns the order with this name, or NULL. */
const ordering_type *ordering_type_find(const char *name);

/** Reports an unknown name, with a list of the known names. */
lx_status ordering_type_fail(const char *name, lx_error *error);

#endif
