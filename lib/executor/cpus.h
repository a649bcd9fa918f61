/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How many CPUs this process may use at a time.
 */
#ifndef LX_EXECUTOR_CPUS_H
#define LX_EXECUTOR_CPUS_H

#include <stdint.h>

/** No limit is set. */
#define LX__CPUS_UNLIMITED UINT32_MAX

/** CPUs that the affinity of the calling thread allows; at least 1. */
uint32_t lx__cpus_allowed(void);

/**
 * CPUs' worth of time, rounded up and at least 1, that the control groups of the process grant:
 * the least quota on the way from its own group to the root of what is mounted, in version 2
 * (cpu.max) and version 1 (cpu.cfs_quota_us); #LX__CPUS_UNLIMITED where there is none, or none
 * that can be read.
 *
 * @param root  Where /proc and the mount points are looked for: "" but for tests.
 *
 * Source: cgroups(7), proc_pid_mountinfo(5), and the kernel's cgroup-v2.rst, "CPU Interface Files".
 */
uint32_t lx__cpus_quota(const char *root);

/** The lesser of both. */
uint32_t lx__cpus_available(void);

#endif
