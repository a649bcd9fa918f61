/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The numbers of changes that readers see: doc/zrecord-format.md, 8.18.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CHANGES_H
#define LX_TESTS_FAULTS_CRASH_CHANGES_H

#include "history.h"

/**
 * Checks the numbers of a dataset that shows candidate @p found: they must be the same wherever the
 * job crashes, in the old generation and in the new one, and they must show which fields changed
 * since an earlier candidate. Returns what is wrong, or NULL.
 */
const char *changes_check(const struct history *history, size_t found, lx_dataset *dataset);

#endif
