/* SPDX-License-Identifier: MIT */
#include "executor/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define PATH_SIZE 4096
/* Enough for the cgroup v1 lines and the longest cgroup v2 line after them; longer text is cut
 * off. */
#define TEXT_SIZE 16384
#define MOUNT_POINT "/sys/fs/cgroup"
/* The kernel's limit on x86-64 is 8192 CPUs; a mask for MOST_CPUS takes 16 KiB. */
#define MOST_CPUS (1 << 17)

uint32_t lx__cpus_allowed(void)
{
    /* The kernel rejects a mask smaller than its own without reporting the required size. */
    for (int count = 1024; count <= MOST_CPUS; count *= 2) {
        cpu_set_t *mask = CPU_ALLOC((size_t)count);
        if (mask == NULL)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)count);
        bool known = sched_getaffinity(0, size, mask) == 0;
        bool small = !known && errno == EINVAL;
        int allowed = known ? CPU_COUNT_S(size, mask) : 0;
        CPU_FREE(mask);
        if (allowed > 0)
            return (uint32_t)allowed;
        if (!small)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

/** Reads as much of a file as fits; false if it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    lx__file file;
    size_t got;
    if (lx__file_open(&file, LX__CWD, path, O_RDONLY, NULL) != LX_OK)
        return false;
    bool done = lx__file_read_some(&file, text, size - 1, 0, &got, NULL) == LX_OK;
    lx__file_close(&file);
    text[done ? got : 0] = '\0';
    return done;
}

/** Concatenates three strings; false if they do not fit. */
static bool join(char path[PATH_SIZE], const char *a, const char *b, const char *c)
{
    int length = snprintf(path, PATH_SIZE, "%s%s%s", a, b, c);
    return length > 0 && length < PATH_SIZE;
}

/** Reads the decimal number at @p at; false if it is missing or overflows. */
static bool read_number(const char *at, char **end, uint64_t *number)
{
    if (*at < '0' || *at > '9')
        return false;
    errno = 0;
    *number = strtoull(at, end, 10);
    return errno == 0;
}

static uint32_t whole_cpus(uint64_t quota, uint64_t period)
{
    if (period == 0)
        return LX__CPUS_UNLIMITED;
    uint64_t cpus = quota / period + (quota % period != 0);
    if (cpus == 0)
        return 1;
    return cpus < LX__CPUS_UNLIMITED ? (uint32_t)cpus : LX__CPUS_UNLIMITED;
}

/** The quota of the control group at @p directory itself: "max 100000" or "150000 100000". */
static uint32_t group_quota(const char *directory)
{
    char path[PATH_SIZE], text[128], *end;
    uint64_t quota, period;
    if (!join(path, directory, "/cpu.max", "") || !read_text(path, text, sizeof text) ||
        !read_number(text, &end, &quota) || *end != ' ' || !read_number(end + 1, &end, &period))
        return LX__CPUS_UNLIMITED;
    return whole_cpus(quota, period);
}

/** Whether @p group is a path below the mount point; "/../x" is outside the process's namespace. */
static bool is_below_mount(const char *group)
{
    for (const char *at = group; (at = strstr(at, "/..")) != NULL; at += 3)
        if (at[3] == '/' || at[3] == '\0')
            return false;
    return group[0] == '/';
}

/** Reads the control group of the process from the line "0::/a/b" of /proc/self/cgroup and stores
 * its path, including the mount point, in @p path; false if there is no such line. */
static bool read_group(const char *root, char path[PATH_SIZE])
{
    char text[TEXT_SIZE], *rest = NULL;
    if (!join(path, root, "/proc/self/cgroup", "") || !read_text(path, text, sizeof text))
        return false;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "0::", 3) == 0)
            return join(path, root, MOUNT_POINT, is_below_mount(line + 3) ? line + 3 : "");
    return false;
}

uint32_t lx__cpus_quota(const char *root)
{
    char path[PATH_SIZE];
    if (!read_group(root, path))
        return LX__CPUS_UNLIMITED;
    size_t top = strlen(root) + strlen(MOUNT_POINT);
    uint32_t least = LX__CPUS_UNLIMITED;
    for (size_t length = strlen(path);; length--) {
        if (length == top || (path[length - 1] != '/' && (path[length] == '/' || !path[length]))) {
            path[length] = '\0';
            uint32_t quota = group_quota(path);
            least = quota < least ? quota : least;
        }
        if (length == top)
            return least;
    }
}

uint32_t lx__cpus_available(void)
{
    uint32_t allowed = lx__cpus_allowed(), quota = lx__cpus_quota("");
    return quota < allowed ? quota : allowed;
}
