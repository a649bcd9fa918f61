/* SPDX-License-Identifier: MIT */
#include "executor/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

#define PATH_SIZE 4096
/* Machines with thousands of containers list thousands of mounts; the list is cut at this size. */
#define TEXT_SIZE ((size_t)1 << 20)
/* The kernel's limit on x86-64 is 8192 CPUs; a mask of this many takes 16 KiB. */
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

/** The quota of the control group at @p directory itself. */
static uint32_t group_quota(const char *directory, bool version2)
{
    char path[PATH_SIZE], text[128], *end;
    uint64_t quota, period;
    if (version2) { /* "max 100000" or "150000 100000" */
        if (!join(path, directory, "/cpu.max", "") || !read_text(path, text, sizeof text) ||
            !read_number(text, &end, &quota) || *end != ' ' || !read_number(end + 1, &end, &period))
            return LX__CPUS_UNLIMITED;
        return whole_cpus(quota, period);
    }
    /* Two files; a quota of -1 means unlimited. */
    if (!join(path, directory, "/cpu.cfs_quota_us", "") || !read_text(path, text, sizeof text) ||
        !read_number(text, &end, &quota) || !join(path, directory, "/cpu.cfs_period_us", "") ||
        !read_text(path, text, sizeof text) || !read_number(text, &end, &period))
        return LX__CPUS_UNLIMITED;
    return whole_cpus(quota, period);
}

/** The smallest quota from mount point + group up to the mount point. */
static uint32_t least_quota(const char *root, const char *mount_point, const char *group,
                            bool version2)
{
    char path[PATH_SIZE];
    if (!join(path, root, mount_point, group))
        return LX__CPUS_UNLIMITED;
    size_t top = strlen(root) + strlen(mount_point);
    uint32_t least = LX__CPUS_UNLIMITED;
    for (size_t length = strlen(path);; length--) {
        if (length == top || (path[length - 1] != '/' && (path[length] == '/' || !path[length]))) {
            path[length] = '\0';
            uint32_t quota = group_quota(path, version2);
            least = quota < least ? quota : least;
        }
        if (length == top)
            return least;
    }
}

/** Whether the list "a,b,c" of @p length bytes contains @p name. */
static bool has_item(const char *list, size_t length, const char *name)
{
    size_t wanted = strlen(name);
    for (const char *at = list, *end = list + length; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t item = (size_t)((comma != NULL ? comma : end) - at);
        if (item == wanted && memcmp(at, name, item) == 0)
            return true;
        at += item + 1;
    }
    return false;
}

/** Undoes the octal escapes of mountinfo ("\040" is a space) in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        unsigned a = (unsigned char)from[0] == '\\' ? (unsigned)(from[1] - '0') : 8;
        unsigned b = a < 4 ? (unsigned)(from[2] - '0') : 8;
        unsigned c = b < 8 ? (unsigned)(from[3] - '0') : 8;
        bool escaped = c < 8;
        *to++ = escaped ? (char)(a << 6 | b << 3 | c) : *from;
        from += escaped ? 4 : 1;
    }
    *to = '\0';
}

/** The relevant fields of a line of /proc/self/mountinfo. */
typedef struct mount_line {
    char *shown;   /* root of the mount within the hierarchy: "/" for all of it */
    char *point;   /* mount point */
    char *type;    /* "cgroup2", "cgroup", ... */
    char *options; /* options of the file system: the controllers, for version 1 */
} mount_line;

/** Splits a line in place: "36 35 98:0 /shown /point rw shared:1 - type device rw,cpu". */
static bool parse_mount(char *line, mount_line *mount)
{
    char *rest = NULL, *before[5], *after[3];
    char *separator = strstr(line, " - ");
    if (separator == NULL)
        return false;
    *separator = '\0';
    for (int i = 0; i < 5; i++)
        if ((before[i] = strtok_r(i == 0 ? line : NULL, " ", &rest)) == NULL)
            return false;
    for (int i = 0; i < 3; i++)
        if ((after[i] = strtok_r(i == 0 ? separator + 3 : NULL, " ", &rest)) == NULL)
            return false;
    unescape(before[3]);
    unescape(before[4]);
    *mount = (mount_line){before[3], before[4], after[0], after[2]};
    return true;
}

/** The path of group @p path below a mount whose root is @p shown; "" is the mount point itself. */
static const char *below_mount(const char *path, const char *shown)
{
    size_t length = strcmp(shown, "/") == 0 ? 0 : strlen(shown);
    if (strncmp(path, shown, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return ""; /* a container that mounts only its own group, under the name that it has on the
                      host */
    /* A group outside the namespace of the process is "/../x": it cannot be reached. */
    for (const char *at = path; (at = strstr(at, "/..")) != NULL; at += 3)
        if (at[3] == '/' || at[3] == '\0')
            return "";
    return path + length;
}

/** The quota of @p group in the first of @p mounts for its hierarchy. Modifies @p mounts. */
static uint32_t hierarchy_quota(const char *root, char *mounts, const char *group, bool version2)
{
    char *rest = NULL;
    for (char *line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        mount_line mount;
        if (!parse_mount(line, &mount) ||
            strcmp(mount.type, version2 ? "cgroup2" : "cgroup") != 0 ||
            (!version2 && !has_item(mount.options, strlen(mount.options), "cpu")))
            continue;
        const char *point = strcmp(mount.point, "/") == 0 ? "" : mount.point;
        return least_quota(root, point, below_mount(group, mount.shown), version2);
    }
    return LX__CPUS_UNLIMITED;
}

/** Reads the group of the process from /proc/self/cgroup, whose lines are "4:cpu,cpuacct:/a/b" for
 * version 1 and a single "0::/a/b" for version 2. */
static bool read_group(const char *root, char *text, bool version2, char group[PATH_SIZE])
{
    char path[PATH_SIZE], *rest = NULL;
    if (!join(path, root, "/proc/self/cgroup", "") || !read_text(path, text, TEXT_SIZE))
        return false;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':');
        char *last = list != NULL ? strchr(list + 1, ':') : NULL;
        if (last == NULL)
            continue;
        size_t length = (size_t)(last - ++list);
        if (version2 ? length == 0 && strncmp(line, "0:", 2) == 0 : has_item(list, length, "cpu"))
            return join(group, last + 1, "", "");
    }
    return false;
}

uint32_t lx__cpus_quota(const char *root)
{
    char path[PATH_SIZE], group[PATH_SIZE];
    uint32_t least = LX__CPUS_UNLIMITED;
    char *text = lx__alloc(TEXT_SIZE);
    for (int version2 = 0; version2 < 2 && text != NULL; version2++) {
        if (!read_group(root, text, version2, group) ||
            !join(path, root, "/proc/self/mountinfo", "") || !read_text(path, text, TEXT_SIZE))
            continue;
        uint32_t quota = hierarchy_quota(root, text, group, version2);
        least = quota < least ? quota : least;
    }
    lx__free(text);
    return least;
}

uint32_t lx__cpus_available(void)
{
    uint32_t allowed = lx__cpus_allowed(), quota = lx__cpus_quota("");
    return quota < allowed ? quota : allowed;
}
