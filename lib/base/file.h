/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Files, opened and moved in one way only: relative to a directory, close-on-exec, regular
 * files only, whole transfers with interruptions retried.
 *
 * A name within a directory that is at hand (a dataset's) must not be a symbolic link; one that
 * starts from #LX__HERE was typed by the user, and links are followed.
 */
#ifndef LX_BASE_FILE_H
#define LX_BASE_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <loaderx/status.h>

/**
 * An open file or directory, with the path that errors name. Closed: fd is -1.
 */
typedef struct lx__file {
    int fd;
    char *path;
} lx__file;

#define LX__FILE_CLOSED {-1, NULL}

/** Where relative names start when there is no directory at hand. */
#define LX__HERE ((const lx__file *)0)

/**
 * Opens the regular file @p name in @p directory with openat's @p flags (O_RDONLY, O_RDWR,
 * O_CREAT, O_EXCL, O_DIRECT ...); new ones get mode 0666 less the umask.
 *
 * @retval LX_ERR_NOT_FOUND  There is none, and O_CREAT was not given.
 * @retval LX_ERR_EXISTS     O_EXCL was given and there is one.
 * @retval LX_ERR_CORRUPT    It is a link within a directory, a FIFO, or anything else but a
 *                           regular file.
 */
LX_API lx_status lx__file_open(lx__file *file, const lx__file *directory, const char *name,
                               int flags, lx_error *error);

/** Opens a directory, with the same answers. */
LX_API lx_status lx__directory_open(lx__file *file, const lx__file *directory, const char *name,
                                    lx_error *error);

/** Whether @p name in @p directory is a symbolic link, which no file or directory is opened by. */
LX_API bool lx__file_is_link(const lx__file *directory, const char *name);

/** Makes a directory; LX_ERR_EXISTS if anything of that name is there. */
LX_API lx_status lx__directory_make(const lx__file *directory, const char *name, lx_error *error);

/** Called for a name in a directory; a failure ends the walk. */
typedef lx_status (*lx__visit)(void *user, const char *name, lx_error *error);

/** Calls @p visit for each name in a directory, in no order, without "." and "..". A name may be
 * removed from within; whether one that is made meanwhile is visited is not known. */
LX_API lx_status lx__directory_each(const lx__file *directory, lx__visit visit, void *user,
                                    lx_error *error);

/** Closes; the file may be closed already. */
LX_API void lx__file_close(lx__file *file);

/** Length in bytes. */
LX_API lx_status lx__file_size(const lx__file *file, uint64_t *size, lx_error *error);

/** Asks for @p size bytes at @p offset to be in memory soon. */
LX_API void lx__file_will_need(const lx__file *file, uint64_t offset, uint64_t size);

/** Reads up to @p size bytes at @p offset by one call: fewer need not mean that the file ends. */
LX_API lx_status lx__file_read_once(const lx__file *file, void *data, size_t size, uint64_t offset,
                                    size_t *got, lx_error *error);

/** Whether the disk did not return bytes of a file that was open: a bad sector. */
LX_API bool lx__file_is_unreadable(const lx_error *error);

/** Reads up to @p size bytes at @p offset; fewer only at the end of the file. */
LX_API lx_status lx__file_read_some(const lx__file *file, void *data, size_t size, uint64_t offset,
                                    size_t *got, lx_error *error);

/** Reads exactly @p size bytes at @p offset; LX_ERR_CORRUPT where the file ends before. */
LX_API lx_status lx__file_read(const lx__file *file, void *data, size_t size, uint64_t offset,
                               lx_error *error);

/**
 * Reads a whole file into new memory with a NUL behind it, for lx__free(). One of more than
 * @p limit bytes is LX_ERR_LIMIT, whatever its length turns out to be while it is read.
 */
LX_API lx_status lx__file_read_all(const lx__file *file, size_t limit, char **data, size_t *size,
                                   lx_error *error);

/** Writes exactly @p size bytes at @p offset, or fails with some of them written. */
LX_API lx_status lx__file_write(const lx__file *file, const void *data, size_t size,
                                uint64_t offset, lx_error *error);

/** Cuts or extends to @p size bytes. */
LX_API lx_status lx__file_truncate(const lx__file *file, uint64_t size, lx_error *error);

/** Has @p size bytes from @p offset on (0: all behind it) on their way to the disk, where the system
 * can, for a sync that comes soon. It waits for none of them, and tells of no failure: that does. */
LX_API void lx__file_start_sync(const lx__file *file, uint64_t offset, uint64_t size);

/** Makes the file's data durable (fdatasync: with the length, without the times). Never retry a
 * failed one: the kernel may have dropped what could not be written. */
LX_API lx_status lx__file_sync_data(const lx__file *file, lx_error *error);

/** Makes a directory's entries, or a file with all that belongs to it, durable (fsync). */
LX_API lx_status lx__file_sync(const lx__file *file, lx_error *error);

/** Renames within a directory, replacing what has the new name. */
LX_API lx_status lx__file_rename(const lx__file *directory, const char *from, const char *to,
                          lx_error *error);

/** Whether a name is that of a regular file, not of a link to one; nothing is there: it is not. */
LX_API lx_status lx__file_is_regular(const lx__file *directory, const char *name, bool *regular,
                                     lx_error *error);

/** Removes a file; one that is not there is fine. */
LX_API lx_status lx__file_remove(const lx__file *directory, const char *name, lx_error *error);

/** Removes a directory that is empty; one that is not there is fine. */
LX_API lx_status lx__directory_remove(const lx__file *directory, const char *name,
                                      lx_error *error);

/**
 * Locks @p size bytes at @p offset of the file for this handle (an open file description lock:
 * it goes with the last descriptor, also when the process is killed).
 *
 * @retval LX_ERR_BUSY  Another handle holds a lock that excludes this one.
 */
LX_API lx_status lx__file_lock(const lx__file *file, bool exclusive, uint64_t offset,
                               uint64_t size, lx_error *error);

/** Gives locks back now, whoever else has descriptors of the handle: children of fork() do. A size
 * of 0 is all from @p offset on. */
LX_API void lx__file_unlock(const lx__file *file, uint64_t offset, uint64_t size);

#endif
