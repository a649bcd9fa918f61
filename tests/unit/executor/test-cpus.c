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

#define MOUNT_V2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_V1                                                                                   \
    "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                            \
    "32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup cgroup "                \
    "rw,cpu,cpuacct\n"

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
    put("proc/self/mountinfo", "22 1 254:0 / / rw - ext4 /dev/root rw\n" MOUNT_V2);
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

START_TEST(version_1_takes_the_smallest_quota_of_the_ancestors)
{
    char *scratch = scratch_make();
    put("proc/self/cgroup", "5:memory:/elsewhere\n4:cpu,cpuacct:/a/b\n3:cpuset:/c\n0::/d\n");
    put("proc/self/mountinfo", MOUNT_V1);
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED);
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "750000\n");
    ck_assert_uint_eq(quota_here(), LX__CPUS_UNLIMITED); /* its period is unknown */
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n");
    ck_assert_uint_eq(quota_here(), 15);
    put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "600000\n");
    ck_assert_uint_eq(quota_here(), 6);
    scratch_remove(scratch);
}
END_TEST

START_TEST(both_versions_count)
{
    char *scratch = scratch_make();
    put("proc/self/cgroup", "4:cpu:/a\n0::/b\n");
    put("proc/self/mountinfo", MOUNT_V2 MOUNT_V1);
    put("sys/fs/cgroup/b/cpu.max", "500000 100000\n");
    ck_assert_uint_eq(quota_here(), 5);
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota_here(), 3);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_container_finds_its_own_group)
{
    char *scratch = scratch_make();
    /* Without a cgroup namespace the path is the host's, and the mount shows a part of it. */
    put("proc/self/cgroup", "4:cpu,cpuacct:/docker/0123/inner\n");
    put("proc/self/mountinfo",
        "40 2 0:9 /docker/0123 /sys/fs/cgroup/my\\040cpu ro - cgroup cgroup rw,cpuacct,cpu\n");
    put("sys/fs/cgroup/my cpu/inner/cpu.cfs_quota_us", "200000\n");
    put("sys/fs/cgroup/my cpu/inner/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota_here(), 2);

    /* The host's path of another part: the mount is the container's own. */
    put("proc/self/cgroup", "4:cpu,cpuacct:/docker/01234\n");
    put("sys/fs/cgroup/my cpu/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/my cpu/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota_here(), 3);

    /* With a namespace, but a group outside of it. */
    put("proc/self/cgroup", "0::/../../other\n");
    put("proc/self/mountinfo", MOUNT_V2);
    put("sys/fs/cgroup/cpu.max", "700000 100000\n");
    put("sys/other/cpu.max", "100000 100000\n");
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
    put("proc/self/mountinfo", MOUNT_V2);
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
    static const char *const mounts[] = {
        "",
        "\n",
        " - ",
        " - cgroup2",
        "1 2 3 4 - cgroup2 x rw\n",
        "1 2 3 / /nowhere rw - cgroup2 x rw\n",
        "1 2 3 / /x\\ rw - cgroup2 x rw\n",
        "1 2 3 / /x\\7 rw - cgroup2 x rw\n",
        "1 2 3 / /x\\777 rw - cgroup2 x rw\n",
        "1 2 3 / /x\\000y rw - cgroup2 x rw\n",
        "1 2 3 / /x\\04",
        "1 2 3 / / rw - cgroup x cpu\n1 2 3 / / rw - cgroup2 x x\n",
    };
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        put("proc/self/cgroup", groups[i]);
        for (size_t j = 0; j < sizeof mounts / sizeof *mounts; j++) {
            put("proc/self/mountinfo", mounts[j]);
            ck_assert_msg(quota_here() == LX__CPUS_UNLIMITED, "'%s' '%s'", groups[i], mounts[j]);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(huge_lists_are_bounded)
{
    enum { SIZE = 3 << 20 };
    char *scratch = scratch_make(), *text = malloc(SIZE + 1);
    uint64_t before = lx__clock_now();
    put("proc/self/mountinfo", MOUNT_V2);

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

    for (int i = 0; i < SIZE; i++)
        text[i] = MOUNT_V2[(size_t)i % (sizeof MOUNT_V2 - 1)];
    put("proc/self/mountinfo", text);
    put("proc/self/cgroup", "0::/a\n");
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
          version_2_takes_the_smallest_quota_of_the_ancestors,
          version_1_takes_the_smallest_quota_of_the_ancestors, both_versions_count,
          a_container_finds_its_own_group, ignores_damaged_quotas, ignores_damaged_lists,
          huge_lists_are_bounded, works_without_files_to_read)
