/* SPDX-License-Identifier: MIT */
#include "zrecord/snapshot/lock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "zrecord/format/names.h"

/* How many times to retry if LOCK is replaced while it is being locked. */
#define LOCK_TRIES 100

/** Whether @p lock is still the file named LOCK in the directory. */
static lx_status is_current(const lx__file *directory, const lx__file *lock, bool *current,
                            lx_error *error)
{
    struct stat held, now;
    if (fstat(lock->fd, &held) == -1)
        return lx_fail_errno(error, errno, lock->path, "cannot stat");
    *current = fstatat(directory->fd, LX__LOCK_NAME, &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*current && errno != ENOENT)
        return lx_fail_errno(error, errno, lock->path, "cannot stat");
    *current = *current && held.st_dev == now.st_dev && held.st_ino == now.st_ino;
    return LX_OK;
}

/* ---- the writer's lock */

/** Whether a process is gone. If so, a child that inherited its lock now holds it. */
static bool is_gone(const char *pid)
{
    return kill((pid_t)strtol(pid, NULL, 10), 0) == -1 && errno == ESRCH;
}

static lx_status fail_busy(const lx__file *lock, lx_error *error)
{
    char pid[24] = "";
    size_t got = 0;
    if (lx__file_read_some(lock, pid, sizeof pid - 1, 0, &got, NULL) != LX_OK)
        got = 0;
    pid[got] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    lx_status status;
    if (pid[0] == '\0')
        status = lx_fail(error, LX_ERR_BUSY, "the dataset is being written by another process");
    else if (is_gone(pid))
        status = lx_fail(error, LX_ERR_BUSY,
                         "the dataset was written by process %s, which has ended; a process "
                         "forked from it still has the dataset open and must end first",
                         pid);
    else
        status = lx_fail(error, LX_ERR_BUSY, "the dataset is being written by process %s", pid);
    lx_error_locate(error, lock->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status write_pid(const lx__file *lock, lx_error *error)
{
    char pid[24];
    int size = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    lx_status status = lx__file_truncate(lock, 0, error);
    return status != LX_OK ? status : lx__file_write(lock, pid, (size_t)size, 0, error);
}

lx_status lx__writer_lock(const lx__file *directory, lx__file *lock, lx_error *error)
{
    bool current = false;
    lx_status status = lx__file_open(lock, directory, LX__LOCK_NAME, O_RDWR | O_CREAT, error);
    if (status != LX_OK)
        return status;
    status = lx__file_lock(lock, true, LX__LOCK_WRITER, 1, NULL);
    if (status == LX_ERR_BUSY)
        status = fail_busy(lock, error);
    else if (status != LX_OK)
        status = lx_fail_errno(error, errno, lock->path, "cannot lock");
    /* Another process may have replaced LOCK after it was opened and before it was locked. */
    if (status == LX_OK)
        status = is_current(directory, lock, &current, error);
    if (status == LX_OK && !current)
        status = lx_fail(error, LX_ERR_BUSY,
                         "LOCK was replaced while it was being locked: try again");
    if (status == LX_OK)
        status = write_pid(lock, error);
    if (status != LX_OK)
        lx__writer_unlock(lock);
    return status;
}

void lx__writer_unlock(lx__file *lock)
{
    lx__file_unlock(lock, LX__LOCK_WRITER, 0);
    lx__file_close(lock);
}

/* ---- readers' locks */

lx_status lx__reader_lock(const lx__file *directory, uint64_t generation, lx__file *lock,
                          lx_error *error)
{
    bool current = false;
    for (int tries = 0; !current && tries < LOCK_TRIES; tries++) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = lx__file_open(lock, directory, LX__LOCK_NAME, O_RDONLY, &why);
        if (status == LX_ERR_NOT_FOUND)
            return LX_OK;
        if (status == LX_OK)
            status = lx__file_lock(lock, false, LX__LOCK_READERS + generation, 1, &why);
        if (status == LX_OK)
            status = is_current(directory, lock, &current, &why);
        if (!current)
            lx__file_close(lock);
        if (status != LX_OK) {
            lx__error_propagate(error, &why);
            return status;
        }
    }
    return current ? LX_OK
                   : lx_fail(error, LX_ERR_IO,
                             "cannot lock LOCK: it is being replaced continually: try again");
}

lx_status lx__reader_locks_find(const lx__file *lock, uint64_t *first, uint64_t *end, bool *present,
                                lx_error *error)
{
    *present = false;
    if (*first >= *end) /* a length of 0 would mean "up to the end of the file" */
        return LX_OK;
    struct flock probe = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)(LX__LOCK_READERS + *first),
                          .l_len = (off_t)(*end - *first)};
    if (fcntl(lock->fd, F_OFD_GETLK, &probe) == -1)
        return lx_fail_errno(error, errno, lock->path, "cannot check for readers");
    if (probe.l_type == F_UNLCK)
        return LX_OK;
    uint64_t start = (uint64_t)probe.l_start, after = start + (uint64_t)probe.l_len;
    *present = true;
    if (start > LX__LOCK_READERS + *first)
        *first = start - LX__LOCK_READERS;
    if (probe.l_len != 0 && after < LX__LOCK_READERS + *end)
        *end = after - LX__LOCK_READERS;
    return LX_OK;
}

lx_status lx__reader_locks_present(const lx__file *lock, uint64_t first, uint64_t end,
                                   bool *present, lx_error *error)
{
    return lx__reader_locks_find(lock, &first, &end, present, error);
}
