/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The option --threads of several subcommands.
 */
#ifndef LX_TOOLS_THREADS_H
#define LX_TOOLS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/executor.h>

/** The value of --threads. */
typedef struct threads {
    bool given; /**< If false, use one thread per processor. */
    uint64_t count;
} threads;

/** Parses the value of the option. */
lx_status threads_parse(threads *wanted, const char *value, lx_error *error);

/** Opens an executor with that many readers; the caller closes it. */
lx_status threads_open(const threads *wanted, lx_executor **executor, lx_error *error);

#endif
