/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Removes datasets from the page cache, so that reading them waits for the disk.
 */
#ifndef LX_TESTS_EVICT_H
#define LX_TESTS_EVICT_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Number of files that stay in the page cache. */
static int evict_left;

/** Whether pages of a file are in the page cache: those of @p size bytes from the page of @p offset.
 * Asking does not change that, while preadv2() with RWF_NOWAIT starts to read, also ahead. */
static bool evict_is_resident(int fd, uint64_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
    unsigned char *states = calloc(pages, 1);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)(offset / page * page));
    bool resident = states == NULL || map == MAP_FAILED || mincore(map, size, states) != 0;
    for (size_t i = 0; i < pages && !resident; i++)
        resident = (states[i] & 1) != 0;
    if (map != MAP_FAILED)
        munmap(map, size);
    free(states);
    return resident;
}

#ifdef RWF_NOWAIT
/** Replaces that of the system, so that a page which nobody has requested yet is always on disk: the
 * kernel may read a small file while preadv2() asks for its first page. */
ssize_t preadv2(int fd, const struct iovec *to, int count, off_t offset, int flags)
{
    if (flags == RWF_NOWAIT && !evict_is_resident(fd, (uint64_t)offset, 1)) {
        errno = EAGAIN;
        return -1;
    }
    return preadv(fd, to, count, offset);
}
#endif

static inline int evict_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)place;
    const char *ending = strrchr(path, '.');
    bool is_read = ending != NULL && strcmp(ending, ".json") != 0;
    if (type != FTW_F || about->st_size == 0 || !is_read)
        return 0; /* also LOG, which is read once */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    /* fsync() does nothing in tests that include syncs.h. */
    if (syscall(SYS_fsync, fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0 ||
        evict_is_resident(fd, 0, (size_t)about->st_size))
        evict_left++;
    close(fd);
    return 0;
}

/** Removes the tables and chunks of a dataset, which no process may have mapped, from the page
 * cache. Returns false, after saying why, if the file system or the kernel keeps them, as tmpfs
 * does, or if the library cannot ask where pages are; the caller then skips its test. */
static inline bool evict(const char *dataset)
{
#ifndef RWF_NOWAIT
    printf("skipped: this C library has no RWF_NOWAIT\n");
    return false;
#endif
    evict_left = 0;
    nftw(dataset, evict_one, 16, FTW_PHYS);
    if (evict_left != 0)
        printf("skipped: files in %s stay in the page cache\n", dataset);
    return evict_left == 0;
}

#endif
