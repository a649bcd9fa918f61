/* SPDX-License-Identifier: MIT */
#include "executor/cpus.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include "../scratch.h"
#include "../unit.h"
#include "executor/clock.h"

/** Writes a file below the scratch directory, with the directories it needs. */
static void put(const char *path, const char *text)
{
    char name[4096];
    snprintf(name, sizeof name, "%s", path);
    for (char *at = name; (at = strchr(at, '/')) != NULL; *at++ = '/') {
        *at = '\0';
        ck_assert(mkdir(name, 0700) == 0 || errno == EEXIST);
    }
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static uint32_t quota_here(void)
{
    char root[4096];
    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    return lx__cpus_quota(root);
}

START_TEST(counts_the_cpus_of_this_machine)
{
    cpu_set_t mask;
    ck_assert_int_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    ck_assert_uint_eq(lx__cpus_allowed(), (uint32_t)CPU_COUNT(&mask));
    ck_assert_uint_ge(lx__cpus_quota(""), 1);
    ck_assert_uint_ge(lx__cpus_available(), 1);
    ck_assert_uint_le(lx__cpus_available(), lx__cpus_allowed());

    /* A process that is bound to one CPU has one. */
    int cpu = 0;
    while (!CPU_ISSET(cpu, &mask))
        cpu++;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    ck_assert_int_eq(sched_setaffinity(0, sizeof mask, &mask), 0);
    ck_assert_uint_eq(lx__cpus_available(), 1);
}
END_TEST

START_TEST(version_2_takes_the_smallest_quota_of_the_ancestors)
{
    char *scratch = scratch_make();
    put("proc/self/cgroup", "0::/user.slice/job.scope\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    put("sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    put("sys/fs/cgroup/user.slice/job.scope/cpu.max", "350000 100000\n");
    ck_assert_uint_eq(quota_here(), 4);
    put("sys/fs/cgroup/user.slice/cpu.max", "200000 100000\n");
    ck_assert_uint_eq(quota_here(), 2);
    put("sys/fs/cgroup/cpu.max", "1000 100000\n");
    ck_assert_uint_eq(quota_here(), 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(version_1_is_ignored)
{
    char *scratch = scratch_make();
    put("proc/self/cgroup", "4:cpu,cpuacct:/a\n0::/b\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    put("sys/fs/cgroup/b/cpu.max", "500000 100000\n");
    ck_assert_uint_eq(quota_here(), 5);
    put("proc/self/cgroup", "4:cpu,cpuacct:/b\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_container_finds_its_own_group)
{
    char *scratch = scratch_make();
    /* Without a cgroup namespace the path is the host's: the mount is the container's own group. */
    put("proc/self/cgroup", "0::/docker/0123\n");
    put("sys/fs/cgroup/cpu.max", "300000 100000\n");
    ck_assert_uint_eq(quota_here(), 3);

    /* With a namespace, but a group outside of it. */
    put("proc/self/cgroup", "0::/../../other\n");
    put("sys/fs/cgroup/cpu.max", "700000 100000\n");
    put("sys/other/cpu.max", "100000 100000\n");
    put("other/cpu.max", "100000 100000\n");
    ck_assert_uint_eq(quota_here(), 7);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_damaged_quotas)
{
    static const char *const texts[] = {
        "",
        "max",
        "100000",
        "100000\n",
        "100000 0\n",
        "-5 100000\n",
        " 100000 100000\n",
        "99999999999999999999999999 100000\n",
        "100000 99999999999999999999999999\n",
        "18446744073709551615 1\n",
        "0x10 100000\n",
        "one two\n",
    };
    char *scratch = scratch_make();
    put("proc/self/cgroup", "0::/a\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("sys/fs/cgroup/a/cpu.max", texts[i]);
        ck_assert_msg(quota_here() == LX__CPUS_UNLIMITED, "'%s'", texts[i]);
    }
    put("sys/fs/cgroup/a/cpu.max", "0 100000\n");
    ck_assert_uint_eq(quota_here(), 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_damaged_lists)
{
    static const char *const groups[] = {
        "",      "\n\n\n", ":",         "::",   "0:",     "0::",    "0::a",
        "4:cpu", "4:cpu:", "4:cpus:/a", "0:::", "4:,:/a", "0::/a/", "0:://a",
    };
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        put("proc/self/cgroup", groups[i]);
        ck_assert_msg(quota_here() == LX__CPUS_UNLIMITED, "'%s'", groups[i]);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(huge_lists_are_bounded)
{
    enum { SIZE = 3 << 20 };
    char *scratch = scratch_make(), *text = malloc(SIZE + 1);
    uint64_t before = lx__clock_now();

    for (int i = 0; i < SIZE; i++)
        text[i] = "0::/a\n"[i % 6];
    text[SIZE] = '\0';
    put("proc/self/cgroup", text);
    put("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    ck_assert_uint_eq(quota_here(), 2);

    /* An unterminated line, and a path of two thousand groups. */
    memset(text, '/', SIZE);
    memcpy(text, "0::", 3);
    put("proc/self/cgroup", text);
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    for (int i = 3; i < 3800; i++)
        text[i] = "/a"[(i - 3) % 2];
    text[3800] = '\0';
    put("proc/self/cgroup", text);
    ck_assert_uint_eq(quota_here(), 2);
    ck_assert_uint_lt(lx__clock_now() - before, 20000000000);
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(works_without_files_to_read)
{
    char *scratch = scratch_make();
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    put("proc/self/cgroup", "0::/a\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    ck_assert_uint_eq(lx__cpus_quota("/nowhere at all"), LX__CPUS_UNLIMITED);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("executor/cpus", counts_the_cpus_of_this_machine,
          version_2_takes_the_smallest_quota_of_the_ancestors, version_1_is_ignored,
          a_container_finds_its_own_group, ignores_damaged_quotas, ignores_damaged_lists,
          huge_lists_are_bounded, works_without_files_to_read)
