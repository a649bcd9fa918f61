/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The option --threads, of which several subcommands have the same.
 */
#ifndef LX_TOOLS_THREADS_H
#define LX_TOOLS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/executor.h>

/** What --threads was given. */
typedef struct threads {
    bool given; /**< Else one for each processor. */
    uint64_t count;
} threads;

/** Takes the option's value. */
lx_status threads_parse(threads *wanted, const char *value, lx_error *error);

/** An executor with so many readers, to be closed. */
lx_status threads_open(const threads *wanted, lx_executor **executor, lx_error *error);

#endif
