/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The processes that are killed: a writer under load, which reports its actions with marks
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
    uint64_t records; /**< The approximate maximum. */
};

/** Appends, changes, deletes and commits until it is killed or done. */
_Noreturn void load_write(const struct load *load);

/** Reads everything repeatedly, and reports it, until it is killed. */
_Noreturn void load_read(const struct load *load);

#endif
