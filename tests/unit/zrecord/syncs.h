/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief fsync() and fdatasync() of a test: they do nothing, count, and wait or fail on request.
 *
 * A unit test cannot show a power loss; the crash test checks their place in the order of system
 * calls. Doing nothing makes the tests of zrecord twenty times faster.
 */
#ifndef LX_TESTS_SYNCS_H
#define LX_TESTS_SYNCS_H

#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/** The number of calls. */
static atomic_uint syncs;
/** The number of the first failing call, from 1; 0: none fails. */
static atomic_uint sync_fails_at;
/** How they fail. */
static atomic_int sync_errno = EIO;

/** While set, each call waits at its beginning. */
static atomic_bool sync_waits;
/** The number of calls that have begun. */
static atomic_uint syncs_begun;
/** The duration of each call, in microseconds. */
static atomic_uint sync_takes;

/** An inode, and how often it was synced; 0: none. */
static atomic_ulong sync_watched;
static atomic_uint watched_syncs;

static void wait_for_the_disk(void)
{
    atomic_fetch_add(&syncs_begun, 1);
    if (atomic_load(&sync_takes) != 0)
        usleep(atomic_load(&sync_takes));
    while (atomic_load(&sync_waits))
        usleep(500);
}

static int pretend_to_sync(void)
{
    wait_for_the_disk();
    unsigned fails_at = atomic_load(&sync_fails_at);
    if (atomic_fetch_add(&syncs, 1) + 1 < fails_at || fails_at == 0)
        return 0;
    errno = atomic_load(&sync_errno);
    return -1;
}

int fsync(int fd)
{
    struct stat about;
    if (atomic_load(&sync_watched) != 0 && fstat(fd, &about) == 0 &&
        about.st_ino == atomic_load(&sync_watched))
        atomic_fetch_add(&watched_syncs, 1);
    return pretend_to_sync();
}

int fdatasync(int fd)
{
    (void)fd;
    return pretend_to_sync();
}

#endif
