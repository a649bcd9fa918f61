/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The number of CPUs that this process may use at once.
 */
#ifndef LX_EXECUTOR_CPUS_H
#define LX_EXECUTOR_CPUS_H

#include <stdint.h>

/** Means that no quota is set. */
#define LX__CPUS_UNLIMITED UINT32_MAX

/** Returns the number of CPUs in the affinity mask of the calling thread; at least 1. */
uint32_t lx__cpus_allowed(void);

/**
 * Returns the CPU quota of the process's control groups as a number of CPUs, rounded up and at
 * least 1. The quota is the smallest cpu.max on the path from the process's own group up to
 * /sys/fs/cgroup, or #LX__CPUS_UNLIMITED if no quota is set or readable. cgroup v1 groups are
 * ignored.
 *
 * @param root  Prefix of /proc and /sys: "" except in tests.
 *
 * Source: cgroups(7), and the kernel's cgroup-v2.rst, "CPU Interface Files".
 */
uint32_t lx__cpus_quota(const char *root);

/** Returns the smaller of lx__cpus_allowed() and lx__cpus_quota(). */
uint32_t lx__cpus_available(void);

#endif
