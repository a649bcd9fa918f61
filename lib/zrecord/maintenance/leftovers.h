/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Counts the bytes in the files of a dataset that no record of a snapshot uses, and that the
 * next writer frees.
 */
#ifndef LX_ZRECORD_LEFTOVERS_H
#define LX_ZRECORD_LEFTOVERS_H

#include "zrecord/snapshot/snapshot.h"

/** Returns how many bytes of tables and chunks are beyond what is committed, or in files of other
 * generations. The result is 0 if the dataset is remote, since its files cannot be listed, or
 * sealed, since its files have exact lengths. */
uint64_t lx__leftovers_count(const lx__snapshot *snapshot);

#endif
