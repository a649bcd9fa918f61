/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The part of the kernel that the test controls: the boot id, and failing calls.
 *
 * The library is linked into the test; its calls of openat(), pwrite(), fsync() and fdatasync()
 * come here.
 */
#ifndef LX_TESTS_FAULTS_CRASH_KERNEL_H
#define LX_TESTS_FAULTS_CRASH_KERNEL_H

#include <stdint.h>

/** Sets the content of /proc/sys/kernel/random/boot_id from now on. */
void kernel_boot(uint64_t boot);

/** Performs syncs from now on; otherwise they do nothing. */
void kernel_make_syncs(void);

/** Sync number @p count from now on is not performed and returns EIO; later ones are performed. 0:
 * no failure. */
void kernel_fail_sync(unsigned count);

/** Only a part of write number @p count from now on fits on the disk, and nothing of @p more writes
 * after it. A count of 0: there is space again. */
void kernel_fill_disk(unsigned count, unsigned more);

#endif
