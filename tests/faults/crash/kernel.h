/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The part of the kernel that a test must have in hand: the boot's id, and calls that fail.
 *
 * The library is linked into the test; its calls of openat(), pwrite(), fsync() and fdatasync()
 * come here.
 */
#ifndef LX_TESTS_FAULTS_CRASH_KERNEL_H
#define LX_TESTS_FAULTS_CRASH_KERNEL_H

#include <stdint.h>

/** What /proc/sys/kernel/random/boot_id says from now on. */
void kernel_boot(uint64_t boot);

/** Syncs are made from now on; otherwise they do nothing. */
void kernel_make_syncs(void);

/** Sync number @p count from now on is not made and answers EIO; those after it are made. 0: none
 * fails. */
void kernel_fail_sync(unsigned count);

/** Of the write number @p count from now on only a part fits on the disk, and of @p more after it
 * nothing. A count of 0: there is room again. */
void kernel_fill_disk(unsigned count, unsigned more);

#endif
