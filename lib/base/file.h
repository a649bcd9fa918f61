/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The only functions that open, read and write files. Names are relative to a directory,
 * descriptors are close-on-exec, files must be regular, reads and writes transfer all bytes or
 * fail, and interrupted calls are retried.
 *
 * An open directory always belongs to a dataset; a name relative to it must not be a symbolic link.
 * In a name relative to #LX__CWD, symbolic links are followed, because the user gave that name.
 * folder.h opens files by paths of several names below a directory.
 */
#ifndef LX_BASE_FILE_H
#define LX_BASE_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <loaderx/status.h>

/** Provides the bytes of a file, or the files of a directory, that need not be on this machine. A
 * provider is a struct that begins with this one. */
typedef struct lx__provider {
    const struct lx__provider_class *class;
} lx__provider;

/**
 * An open file or directory, with its path for error messages. While it is closed, fd is -1, and
 * there is no provider.
 */
typedef struct lx__file {
    int fd; /**< -1 if there is a provider. */
    char *path;
    lx__provider *provider; /**< Owned; NULL: the file is opened by the system. */
} lx__file;

#define LX__FILE_CLOSED                                                                            \
    {                                                                                              \
        -1, NULL, NULL                                                                             \
    }

/** The functions of one kind of provider. Each may be called by any thread at any time, except
 * @ref close. Those that return a status locate their errors themselves.
 *
 * The functions below call them if an lx__file has a provider. Such a file can only be read: the
 * functions that write, lock, list or map it must not be called. */
typedef struct lx__provider_class {
    /** Returns what lx__file_network() returns: a string constant. */
    const char *(*get_network)(lx__provider *self);

    /** In a directory: opens the file or the directory @p name, for reading. A missing file may be
     * noticed only when its size or its bytes are needed.
     * @retval LX_ERR_NOT_FOUND  There is no such file. */
    lx_status (*open)(lx__provider *directory, const char *name, lx__provider **file,
                      lx_error *error);
    void (*close)(lx__provider *self);

    /** Gets the length of the file. */
    lx_status (*get_size)(lx__provider *self, uint64_t *size, lx_error *error);
    /** Tells what the length must be: exactly @p size or, if @p exact is false, at least that. May
     * report a difference later, when bytes are read: this call need not wait. If it does, because
     * the length is hard to believe, it fails as @ref get_size does.
     * @retval LX_ERR_CORRUPT  The length is known and differs. */
    lx_status (*expect_size)(lx__provider *self, uint64_t size, bool exact, lx_error *error);

    /** Reads up to @p size bytes; fewer only at the end of the file. */
    lx_status (*read)(lx__provider *self, void *data, size_t size, uint64_t offset, size_t *got,
                      lx_error *error);
    /** Starts to fetch bytes that will be read soon, without waiting for them. */
    void (*will_need)(lx__provider *self, uint64_t offset, uint64_t size);
    /** Whether reading the byte at @p offset would wait. */
    bool (*is_absent)(lx__provider *self, uint64_t offset);
    /** Fetches bytes again that were read but are not what was written, as far as they are copies.
     * Returns whether the bytes may differ now, so that they should be read again. */
    bool (*renew)(lx__provider *self, uint64_t offset, uint64_t size);
} lx__provider_class;

/** Whether the file or directory is open. */
static inline bool lx__file_is_open(const lx__file *file)
{
    return file->fd != -1 || file->provider != NULL;
}

/** Denotes the working directory: names may be relative to it or absolute. */
#define LX__CWD ((const lx__file *)0)

/** Allocates "folder/name", or a copy of @p name if @p folder is empty; NULL if out of memory. */
LX_API char *lx__path_join(const char *folder, const char *name);

/**
 * Opens the regular file @p name in @p directory with the @p flags of openat() (O_RDONLY, O_RDWR,
 * O_CREAT, O_EXCL, O_DIRECT ...); new files get mode 0666 minus the umask.
 *
 * @retval LX_ERR_NOT_FOUND  The file does not exist, and O_CREAT was not given.
 * @retval LX_ERR_EXISTS     O_EXCL was given and the file exists.
 * @retval LX_ERR_CORRUPT    The name is a symbolic link in @p directory, or not a regular file.
 * @retval LX_ERR_UNSUPPORTED  The directory has a provider, and @p flags are not O_RDONLY.
 */
LX_API lx_status lx__file_open(lx__file *file, const lx__file *directory, const char *name,
                               int flags, lx_error *error);

/** Turns LX_ERR_NOT_FOUND, the result of a call for a file that must exist, into LX_ERR_CORRUPT. */
LX_API lx_status lx__file_must_exist(lx_status status, lx_error *error);

/** Whether a read failed although a provider tried for as long as it is patient, so that another
 * attempt would only take as long again. Such a failure says nothing about the bytes. */
static inline bool lx__file_gave_up(const lx__file *file, lx_status status)
{
    return file->provider != NULL && status != LX_OK && status != LX_ERR_CORRUPT;
}

/** Opens a directory; fails like lx__file_open(). */
LX_API lx_status lx__directory_open(lx__file *file, const lx__file *directory, const char *name,
                                    lx_error *error);

/** Whether @p name in @p directory is a symbolic link, which cannot be opened there. */
LX_API bool lx__file_is_link(const lx__file *directory, const char *name);

/** Creates a directory; returns LX_ERR_EXISTS if the name is in use. */
LX_API lx_status lx__directory_make(const lx__file *directory, const char *name, lx_error *error);

/** The same, but only the user can list the directory or change what is in it. */
LX_API lx_status lx__directory_make_private(const lx__file *directory, const char *name,
                                            lx_error *error);

/** Called for each name in a directory; a failure ends the iteration. */
typedef lx_status (*lx__visit)(void *user, const char *name, lx_error *error);

/** Calls @p visit for each name in a directory except "." and "..", in no particular order. The
 * callback may remove the name; a name created during the iteration may or may not be visited. */
LX_API lx_status lx__directory_each(const lx__file *directory, lx__visit visit, void *user,
                                    lx_error *error);

/** Closes the file; does nothing if it is already closed. */
LX_API void lx__file_close(lx__file *file);

/** Gets the length of the file in bytes. */
LX_API lx_status lx__file_size(const lx__file *file, uint64_t *size, lx_error *error);

/** Checks that the file has @p size bytes or, if @p exact is false, at least that many. Does not
 * wait for a provider unless @p size is extremely large, so a later read may report that the length
 * is wrong.
 * @retval LX_ERR_CORRUPT  The length is wrong, or the file is missing.
 * @retval LX_ERR_IO       The length cannot be found out. */
LX_API lx_status lx__file_expect_size(const lx__file *file, uint64_t size, bool exact,
                                      lx_error *error);

/** After a read returned bytes that are not what was written: replaces copies of these bytes that
 * are on this machine. Returns whether the bytes may differ now; false if there are no copies. */
LX_API bool lx__file_renew(const lx__file *file, uint64_t offset, uint64_t size);

/** Starts reading @p size bytes at @p offset into the page cache. */
LX_API void lx__file_will_need(const lx__file *file, uint64_t offset, uint64_t size);

/** Whether the byte at @p offset is not in the page cache, so that reading it would wait for the
 * disk. False if the system cannot tell. */
LX_API bool lx__file_is_absent(const lx__file *file, uint64_t offset);

/** Reads up to @p size bytes at @p offset with one call; a short read does not necessarily mean the
 * end of the file. Returns LX_ERR_CORRUPT if a provider finds only now that the file is missing. */
LX_API lx_status lx__file_read_once(const lx__file *file, void *data, size_t size, uint64_t offset,
                                    size_t *got, lx_error *error);

/** Whether a read failed because of the disk, for example at a bad sector. */
LX_API bool lx__file_is_unreadable(const lx_error *error);

/** Reads up to @p size bytes at @p offset; a short read means the end of the file. */
LX_API lx_status lx__file_read_some(const lx__file *file, void *data, size_t size, uint64_t offset,
                                    size_t *got, lx_error *error);

/** Reads exactly @p size bytes at @p offset; returns LX_ERR_CORRUPT if the file ends earlier. */
LX_API lx_status lx__file_read(const lx__file *file, void *data, size_t size, uint64_t offset,
                               lx_error *error);

/**
 * Reads a whole file into new memory, followed by a NUL; release it with lx__free(). Returns
 * LX_ERR_LIMIT if the file has more than @p limit bytes. Bytes appended during the read are
 * ignored.
 */
LX_API lx_status lx__file_read_all(const lx__file *file, size_t limit, char **data, size_t *size,
                                   lx_error *error);

/** Writes exactly @p size bytes at @p offset; on failure, some of them may have been written. */
LX_API lx_status lx__file_write(const lx__file *file, const void *data, size_t size,
                                uint64_t offset, lx_error *error);

/** Truncates or extends the file to @p size bytes. */
LX_API lx_status lx__file_truncate(const lx__file *file, uint64_t size, lx_error *error);

/** Truncates a file that is longer than @p size, to free what was not committed; a failure is
 * harmless. Leaves a file with several names alone: another dataset may have committed the bytes. */
LX_API void lx__file_trim(const lx__file *file, uint64_t size);

/** Starts writing @p size bytes at @p offset to disk ahead of a sync, where the system supports
 * that; a @p size of 0 means everything up to the end of the file. This function neither waits nor
 * reports failures; the sync does both. */
LX_API void lx__file_start_writeback(const lx__file *file, uint64_t offset, uint64_t size);

/** Makes the file's data durable (fdatasync: includes the length, excludes the times). Never retry
 * a failed sync: the kernel may have dropped the pages that it could not write. */
LX_API lx_status lx__file_sync_data(const lx__file *file, lx_error *error);

/** Makes the entries of a directory, or a file with all its metadata, durable (fsync). */
LX_API lx_status lx__file_sync(const lx__file *file, lx_error *error);

/** Renames a file within a directory, replacing any file with the new name. */
LX_API lx_status lx__file_rename(const lx__file *directory, const char *from, const char *to,
                                 lx_error *error);

/** Determines whether @p name is a regular file, as opposed to a link to one; false if it does not
 * exist. */
LX_API lx_status lx__file_is_regular(const lx__file *directory, const char *name, bool *regular,
                                     lx_error *error);

/** Determines whether @p name is a directory, as opposed to a link to one; false if it does not
 * exist. */
LX_API lx_status lx__file_is_directory(const lx__file *directory, const char *name,
                                       bool *is_directory, lx_error *error);

/** The same, but a link to a directory counts as one, and a link that leads nowhere does not. */
LX_API lx_status lx__file_leads_to_directory(const lx__file *directory, const char *name,
                                             bool *leads, lx_error *error);

/** Gives an open file the permissions of the file @p name; does nothing if that does not exist. */
LX_API lx_status lx__file_copy_mode(const lx__file *file, const lx__file *directory,
                                    const char *name, lx_error *error);

/** Removes a file; does nothing if it does not exist. */
LX_API lx_status lx__file_remove(const lx__file *directory, const char *name, lx_error *error);

/** Removes an empty directory; does nothing if it does not exist. */
LX_API lx_status lx__directory_remove(const lx__file *directory, const char *name, lx_error *error);

/**
 * Locks @p size bytes at @p offset of the file for this handle, with an open file description lock.
 * The lock is released when the last descriptor is closed, which also happens if the process is
 * killed.
 *
 * @retval LX_ERR_BUSY  Another handle holds a conflicting lock.
 */
LX_API lx_status lx__file_lock(const lx__file *file, bool exclusive, uint64_t offset, uint64_t size,
                               lx_error *error);

/** Releases locks now, even if other descriptors of the handle exist, such as those in forked
 * children. A @p size of 0 means everything from @p offset to the end. */
LX_API void lx__file_unlock(const lx__file *file, uint64_t offset, uint64_t size);

#endif
