/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file that is made beside its place, and takes it when it is whole.
 */
#ifndef LX_TOOLS_BESIDE_H
#define LX_TOOLS_BESIDE_H

#include <loaderx/status.h>

typedef struct beside {
    const char *path; /**< Its place; the caller's text. */
    char *name;       /**< Where it is made. */
    int file;         /**< Open for writing; -1: none. */
} beside;

/** Begins one. beside_end() is due in any case. */
lx_status beside_begin(beside *self, const char *path, lx_error *error);

/** Puts it into its place, where another file may be, which it replaces. */
lx_status beside_finish(beside *self, lx_error *error);

/** Ends it; one that was not finished is gone. */
void beside_end(beside *self);

#endif
