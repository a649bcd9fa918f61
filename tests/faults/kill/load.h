/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The processes that are killed: a writer under load, which says what it does with marks
 * (trace.h), and a concurrent reader.
 */
#ifndef LX_TESTS_FAULTS_KILL_LOAD_H
#define LX_TESTS_FAULTS_KILL_LOAD_H

#include "../crash/trace.h"
#include "values.h"

struct load {
    const char *path;
    uint64_t seed;
    uint32_t serial;
    uint64_t records; /**< About so many at most. */
};

/** Appends, changes, deletes and commits until it is killed, or has done enough. */
_Noreturn void load_write(const struct load *load);

/** Reads all there is, again and again, and says what it saw, until it is killed. */
_Noreturn void load_read(const struct load *load);

#endif
