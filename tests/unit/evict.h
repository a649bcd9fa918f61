/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Removes datasets from the page cache, so that reading them waits for the disk.
 */
#ifndef LX_TESTS_EVICT_H
#define LX_TESTS_EVICT_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Number of files that stay in the page cache. */
static int evict_left;

static inline int evict_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)place;
    const char *ending = strrchr(path, '.');
    bool is_read = ending != NULL && strcmp(ending, ".json") != 0;
    if (type != FTW_F || about->st_size == 0 || !is_read)
        return 0; /* also LOG, which is read once */
    lx__file file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (fsync(file.fd) != 0 || posix_fadvise(file.fd, 0, 0, POSIX_FADV_DONTNEED) != 0 ||
        !lx__file_is_absent(&file, 0))
        evict_left++;
    close(file.fd);
    return 0;
}

/** Removes the tables and chunks of a dataset, which no process may have mapped, from the page
 * cache. Returns false, after saying why, if the file system or the kernel keeps them, as tmpfs
 * does; the caller then skips its test. */
static inline bool evict(const char *dataset)
{
    evict_left = 0;
    nftw(dataset, evict_one, 16, FTW_PHYS);
    if (evict_left != 0)
        printf("skipped: files in %s stay in the page cache\n", dataset);
    return evict_left == 0;
}

#endif
