/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The words of --order: what each takes, and how it is made.
 */
#ifndef LX_TOOLS_ORDERING_KINDS_H
#define LX_TOOLS_ORDERING_KINDS_H

#include "ordering.h"

typedef struct ordering_kind {
    const char *name;
    uint64_t takes; /**< Bits of the options that only some take: those of use. */
    uint64_t needs; /**< Bits of those that must be given; they are of use, too. */
    lx_status (*make)(ordering *self, lx_order **order, lx_error *error);
    bool is_tabled; /**< Of no sets, it has a table; of torch-distributed, with a seed. */
} ordering_kind;

/** The kind of that name; NULL: there is none. */
const ordering_kind *ordering_kind_find(const char *name);

/** Says that there is none of that name, and which there are. */
lx_status ordering_kind_fail(const char *name, lx_error *error);

#endif
