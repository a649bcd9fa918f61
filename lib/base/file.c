/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork-guard.h"

/* The only loop that retries a system call. Because of the limit, a broken file system that always
 * returns EINTR causes an error rather than a hang. */
#define RETRIES 1000
#define RETRY(result, call)                                                                        \
    do {                                                                                           \
        int left = RETRIES;                                                                        \
        do                                                                                         \
            (result) = (call);                                                                     \
        while ((result) == -1 && errno == EINTR && --left > 0);                                    \
    } while (0)

/* The kernel ignores read-ahead beyond the device's limit. */
#define ADVICE ((uint64_t)128 << 10)

/* Bytes per call: a round number below 0x7ffff000, the most that the kernel transfers at once. */
#define TRANSFER ((size_t)1 << 30)

static int open_between_forks(int directory, const char *name, int flags)
{
    int fd;
    lx__fork_guard_enter();
    RETRY(fd, openat(directory, name, flags, 0666));
    int errnum = errno;
    lx__fork_guard_leave();
    errno = errnum;
    return fd;
}

/* ---- names */

static int directory_fd(const lx__file *directory)
{
    assert(directory == LX__CWD || directory->provider == NULL);
    return directory != LX__CWD ? directory->fd : AT_FDCWD;
}

char *lx__path_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = lx__alloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, *folder != '\0' ? "/" : "", name);
    return path;
}

/** Allocates "directory/name". */
static char *join(const lx__file *directory, const char *name)
{
    return lx__path_join(directory != LX__CWD ? directory->path : "", name);
}

/** Reports the system call that has just set errno, with the path directory/name. */
static lx_status fail_name(lx_error *error, const lx__file *directory, const char *name,
                           const char *what)
{
    int errnum = errno;
    lx_status status = lx_fail_errno(error, errnum, NULL, "cannot %s", what);
    char *path = join(directory, name);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__free(path);
    return status;
}

bool lx__file_is_link(const lx__file *directory, const char *name)
{
    struct stat about;
    return fstatat(directory_fd(directory), name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(about.st_mode);
}

static lx_status fail_open(lx_error *error, const lx__file *directory, const char *name,
                           bool is_directory)
{
    lx_status status;
    switch (errno) {
    case ENOENT:
        status = lx_fail(error, LX_ERR_NOT_FOUND, "%s not found",
                         is_directory ? "directory" : "file");
        break;
    case EEXIST:
        status = lx_fail(error, LX_ERR_EXISTS, "the file already exists");
        break;
    case ELOOP:
        status = lx_fail(error, LX_ERR_CORRUPT, "symbolic links are not followed here");
        break;
    case ENOTDIR:
        /* If the user gave the path, it simply does not exist; within a dataset, the directory has
         * been replaced with something else. */
        status = lx_fail(error,
                         is_directory && directory != LX__CWD ? LX_ERR_CORRUPT : LX_ERR_NOT_FOUND,
                         directory != LX__CWD && lx__file_is_link(directory, name)
                             ? "symbolic links are not followed here"
                             : "not a directory");
        break;
    case EISDIR: /* opened for writing */
    case ENXIO:  /* a socket, or a FIFO without a reader */
        status = lx_fail(error, LX_ERR_CORRUPT, "not a regular file");
        break;
    default:
        return fail_name(error, directory, name, "open");
    }
    char *path = join(directory, name);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__free(path);
    return status;
}

/** Opens a file of any type, then checks that the type is the expected one. */
static lx_status open_as(lx__file *file, const lx__file *directory, const char *name, int flags,
                         mode_t type, lx_error *error)
{
    *file = (lx__file)LX__FILE_CLOSED;
    /* O_NONBLOCK: opening a FIFO without a writer would hang; the flag has no effect on a regular
     * file. */
    flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (directory != LX__CWD ? O_NOFOLLOW : 0);
    int fd = open_between_forks(directory_fd(directory), name, flags);
    if (fd == -1)
        return fail_open(error, directory, name, S_ISDIR(type));

    struct stat about;
    file->path = join(directory, name);
    lx_status status = LX_OK;
    if (file->path == NULL)
        status = lx__fail_memory(error, "a path");
    else if (fstat(fd, &about) == -1)
        status = fail_name(error, directory, name, "examine");
    else if ((about.st_mode & S_IFMT) != type)
        status = lx_fail(error, LX_ERR_CORRUPT, "not a %s",
                         S_ISDIR(type) ? "directory" : "regular file");
    if (status != LX_OK) {
        lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
        lx__free(file->path);
        close(fd);
        if ((flags & O_EXCL) != 0) /* this call created the file */
            (void)unlinkat(directory_fd(directory), name, 0);
        *file = (lx__file)LX__FILE_CLOSED;
        return status;
    }
    file->fd = fd;
    return LX_OK;
}

/** Opens a file or a directory of a directory that has a provider. */
static lx_status open_provided(lx__file *file, const lx__file *directory, const char *name,
                               lx_error *error)
{
    *file = (lx__file)LX__FILE_CLOSED;
    char *path = join(directory, name);
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    lx_status status = directory->provider->class->open(directory->provider, name, &file->provider,
                                                        error);
    if (status == LX_OK)
        file->path = path;
    else
        lx__free(path);
    return status;
}

lx_status lx__file_open(lx__file *file, const lx__file *directory, const char *name, int flags,
                        lx_error *error)
{
    if (directory != LX__CWD && directory->provider != NULL && flags == O_RDONLY)
        return open_provided(file, directory, name, error);
    if (directory != LX__CWD && directory->provider != NULL) {
        *file = (lx__file)LX__FILE_CLOSED;
        lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED, "the file can only be read here");
        lx_error_locate(error, directory->path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    return open_as(file, directory, name, flags, S_IFREG, error);
}

lx_status lx__directory_open(lx__file *file, const lx__file *directory, const char *name,
                             lx_error *error)
{
    if (directory != LX__CWD && directory->provider != NULL)
        return open_provided(file, directory, name, error);
    return open_as(file, directory, name, O_RDONLY | O_DIRECTORY, S_IFDIR, error);
}

static lx_status make_directory(const lx__file *directory, const char *name, mode_t mode,
                                lx_error *error)
{
    if (mkdirat(directory_fd(directory), name, mode) == 0)
        return LX_OK;
    if (name[0] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "path is empty");
    if (errno != EEXIST && (errno != ENOENT || directory != LX__CWD))
        return fail_name(error, directory, name, "create the directory");
    lx_status status = errno == EEXIST
                           ? lx_fail(error, LX_ERR_EXISTS, "it already exists")
                           : lx_fail(error, LX_ERR_NOT_FOUND,
                                     "the parent directory does not exist: create it first");
    char *path = join(directory, name);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__free(path);
    return status;
}

lx_status lx__directory_make(const lx__file *directory, const char *name, lx_error *error)
{
    return make_directory(directory, name, 0777, error);
}

lx_status lx__directory_make_private(const lx__file *directory, const char *name, lx_error *error)
{
    return make_directory(directory, name, 0700, error);
}

void lx__file_close(lx__file *file)
{
    if (file->provider != NULL)
        file->provider->class->close(file->provider);
    if (file->fd >= 0)
        close(file->fd); /* not retried: on Linux the descriptor is closed even after EINTR */
    lx__free(file->path);
    *file = (lx__file)LX__FILE_CLOSED;
}

lx_status lx__file_size(const lx__file *file, uint64_t *size, lx_error *error)
{
    struct stat about;
    if (file->provider != NULL)
        return file->provider->class->get_size(file->provider, size, error);
    if (fstat(file->fd, &about) == -1)
        return lx_fail_errno(error, errno, file->path, "cannot get the file size");
    *size = (uint64_t)about.st_size;
    return LX_OK;
}

lx_status lx__file_expect_size(const lx__file *file, uint64_t size, bool exact, lx_error *error)
{
    uint64_t present;
    if (file->provider != NULL)
        return lx__file_must_exist(
            file->provider->class->expect_size(file->provider, size, exact, error), error);
    lx_status status = lx__file_size(file, &present, error);
    if (status == LX_OK && (present < size || (exact && present != size))) {
        status = lx_fail(error, LX_ERR_CORRUPT, "the file has %llu bytes, but %llu are committed",
                         (unsigned long long)present, (unsigned long long)size);
        lx_error_locate(error, file->path, NULL, LX_NONE, present < size ? present : size);
    }
    return status;
}

bool lx__file_renew(const lx__file *file, uint64_t offset, uint64_t size)
{
    return file->provider != NULL && file->provider->class->renew(file->provider, offset, size);
}

void lx__file_will_need(const lx__file *file, uint64_t offset, uint64_t size)
{
    if (file->provider != NULL) {
        file->provider->class->will_need(file->provider, offset, size);
        return;
    }
    for (uint64_t done = 0; done < size; done += ADVICE) {
        uint64_t step = size - done < ADVICE ? size - done : ADVICE;
        (void)posix_fadvise(file->fd, (off_t)(offset + done), (off_t)step, POSIX_FADV_WILLNEED);
    }
}

bool lx__file_is_absent(const lx__file *file, uint64_t offset)
{
    if (file->provider != NULL)
        return file->provider->class->is_absent(file->provider, offset);
#ifdef RWF_NOWAIT
    uint8_t byte;
    struct iovec to = {&byte, 1};
    return preadv2(file->fd, &to, 1, (off_t)offset, RWF_NOWAIT) == -1 && errno == EAGAIN;
#else
    (void)file, (void)offset;
    return false;
#endif
}

void lx__file_start_writeback(const lx__file *file, uint64_t offset, uint64_t size)
{
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(file->fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
#else
    (void)file, (void)offset, (void)size;
#endif
}

#define CANNOT_READ "cannot read"

bool lx__file_is_unreadable(const lx_error *error)
{
    return error->status == LX_ERR_IO && error->errnum == EIO &&
           strcmp(error->message, CANNOT_READ) == 0;
}

lx_status lx__file_must_exist(lx_status status, lx_error *error)
{
    if (status != LX_ERR_NOT_FOUND)
        return status;
    if (error != NULL && error->status == status)
        error->status = LX_ERR_CORRUPT;
    return LX_ERR_CORRUPT;
}

/** Reads from a provider. The file was opened, so it counts as damaged if it is missing. */
static lx_status read_provided(const lx__file *file, void *data, size_t size, uint64_t offset,
                               size_t *got, lx_error *error)
{
    lx_status status = file->provider->class->read(file->provider, data, size, offset, got, error);
    return lx__file_must_exist(status, error);
}

lx_status lx__file_read_once(const lx__file *file, void *data, size_t size, uint64_t offset,
                             size_t *got, lx_error *error)
{
    if (file->provider != NULL)
        return read_provided(file, data, size, offset, got, error);
    ssize_t moved;
    RETRY(moved, pread(file->fd, data, size < TRANSFER ? size : TRANSFER, (off_t)offset));
    if (moved == -1) {
        lx_status status = lx_fail_errno(error, errno, file->path, CANNOT_READ);
        lx_error_locate(error, NULL, NULL, LX_NONE, offset);
        return status;
    }
    *got = (size_t)moved;
    return LX_OK;
}

lx_status lx__file_read_some(const lx__file *file, void *data, size_t size, uint64_t offset,
                             size_t *got, lx_error *error)
{
    size_t done = 0, moved = 1;
    while (done < size && moved != 0) {
        lx_status status = lx__file_read_once(file, (char *)data + done, size - done, offset + done,
                                              &moved, error);
        if (status != LX_OK)
            return status;
        done += moved;
    }
    *got = done;
    return LX_OK;
}

lx_status lx__file_read(const lx__file *file, void *data, size_t size, uint64_t offset,
                        lx_error *error)
{
    size_t got;
    lx_status status = lx__file_read_some(file, data, size, offset, &got, error);
    if (status != LX_OK || got == size)
        return status;
    status = lx_fail(error, LX_ERR_CORRUPT, "the file is truncated: %zu bytes are missing",
                     size - got);
    lx_error_locate(error, file->path, NULL, LX_NONE, offset + got);
    return status;
}

lx_status lx__file_read_all(const lx__file *file, size_t limit, char **data, size_t *size,
                            lx_error *error)
{
    uint64_t length;
    lx_status status = lx__file_size(file, &length, error);
    if (status != LX_OK)
        return status;
    if (length > limit) {
        status = lx_fail(error, LX_ERR_LIMIT, "the file is larger than the limit of %zu bytes",
                         limit);
        lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    char *text = lx__alloc((size_t)length + 1);
    if (text == NULL)
        return lx__fail_memory(error, "the contents of a file");
    status = lx__file_read(file, text, (size_t)length, 0, error);
    if (status != LX_OK) {
        lx__free(text);
        return status;
    }
    text[length] = '\0';
    *data = text;
    *size = (size_t)length;
    return LX_OK;
}

lx_status lx__file_write(const lx__file *file, const void *data, size_t size, uint64_t offset,
                         lx_error *error)
{
    size_t done = 0;
    while (done < size) {
        size_t wanted = size - done < TRANSFER ? size - done : TRANSFER;
        ssize_t moved;
        RETRY(moved, pwrite(file->fd, (const char *)data + done, wanted, (off_t)(offset + done)));
        if (moved <= 0) {
            /* A write of 0 bytes without an error: treat it as a full file system. */
            lx_status status = lx_fail_errno(error, moved == 0 ? ENOSPC : errno, file->path,
                                             "cannot write");
            lx_error_locate(error, NULL, NULL, LX_NONE, offset + done);
            return status;
        }
        done += (size_t)moved;
    }
    return LX_OK;
}

lx_status lx__file_truncate(const lx__file *file, uint64_t size, lx_error *error)
{
    int result;
    RETRY(result, ftruncate(file->fd, (off_t)size));
    return result == 0 ? LX_OK
                       : lx_fail_errno(error, errno, file->path, "cannot set the file size");
}

void lx__file_trim(const lx__file *file, uint64_t size)
{
    struct stat about;
    if (fstat(file->fd, &about) == 0 && about.st_nlink <= 1 && (uint64_t)about.st_size > size)
        (void)lx__file_truncate(file, size, NULL);
}

lx_status lx__file_sync_data(const lx__file *file, lx_error *error)
{
    /* EINTR is not retried: POSIX does not say whether the pages are still dirty after it. */
    return fdatasync(file->fd) == 0 ? LX_OK
                                    : lx_fail_errno(error, errno, file->path, "cannot sync");
}

lx_status lx__file_sync(const lx__file *file, lx_error *error)
{
    return fsync(file->fd) == 0 ? LX_OK : lx_fail_errno(error, errno, file->path, "cannot sync");
}

lx_status lx__file_rename(const lx__file *directory, const char *from, const char *to,
                          lx_error *error)
{
    int fd = directory_fd(directory);
    return renameat(fd, from, fd, to) == 0 ? LX_OK : fail_name(error, directory, from, "rename");
}

/** Determines whether @p name has a type of S_IFMT. */
static lx_status has_type(const lx__file *directory, const char *name, mode_t type, bool *has,
                          lx_error *error)
{
    struct stat about = {0};
    int result = fstatat(directory_fd(directory), name, &about, AT_SYMLINK_NOFOLLOW);
    *has = result == 0 && (about.st_mode & S_IFMT) == type;
    return result == 0 || errno == ENOENT ? LX_OK : fail_name(error, directory, name, "examine");
}

lx_status lx__file_is_regular(const lx__file *directory, const char *name, bool *regular,
                              lx_error *error)
{
    return has_type(directory, name, S_IFREG, regular, error);
}

lx_status lx__file_is_directory(const lx__file *directory, const char *name, bool *is_directory,
                                lx_error *error)
{
    return has_type(directory, name, S_IFDIR, is_directory, error);
}

lx_status lx__file_leads_to_directory(const lx__file *directory, const char *name, bool *leads,
                                      lx_error *error)
{
    struct stat about;
    if (fstatat(directory_fd(directory), name, &about, 0) != 0)
        return has_type(directory, name, S_IFDIR, leads, error); /* or a link that leads nowhere */
    *leads = S_ISDIR(about.st_mode);
    return LX_OK;
}

lx_status lx__file_copy_mode(const lx__file *file, const lx__file *directory, const char *name,
                             lx_error *error)
{
    struct stat about;
    if (fstatat(directory_fd(directory), name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? LX_OK : fail_name(error, directory, name, "examine");
    if (S_ISLNK(about.st_mode)) /* its permissions, which are all, mean nothing */
        return LX_OK;
    return fchmod(file->fd, about.st_mode & 0777) == 0
               ? LX_OK
               : lx_fail_errno(error, errno, file->path, "cannot set the permissions");
}

lx_status lx__file_remove(const lx__file *directory, const char *name, lx_error *error)
{
    if (unlinkat(directory_fd(directory), name, 0) == 0 || errno == ENOENT)
        return LX_OK;
    return fail_name(error, directory, name, "remove");
}

lx_status lx__directory_remove(const lx__file *directory, const char *name, lx_error *error)
{
    if (unlinkat(directory_fd(directory), name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return LX_OK;
    return fail_name(error, directory, name, "remove");
}

lx_status lx__directory_each(const lx__file *directory, lx__visit visit, void *user,
                             lx_error *error)
{
    lx_status status = LX_OK;
    /* Opens a separate descriptor, because closedir() closes the one that it uses. */
    int fd;
    RETRY(fd, openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *list = fd != -1 ? fdopendir(fd) : NULL;
    if (list == NULL) {
        status = lx_fail_errno(error, errno, directory->path, "cannot list");
        if (fd != -1)
            close(fd);
        return status;
    }
    while (status == LX_OK) {
        errno = 0; /* readdir() leaves errno unchanged at the end of the directory */
        const struct dirent *entry = readdir(list);
        if (entry == NULL && errno != 0)
            status = lx_fail_errno(error, errno, directory->path, "cannot list");
        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = visit(user, entry->d_name, error);
    }
    closedir(list);
    return status;
}

lx_status lx__file_lock(const lx__file *file, bool exclusive, uint64_t offset, uint64_t size,
                        lx_error *error)
{
    struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)offset,
                         .l_len = (off_t)size};
    int result;
    RETRY(result, fcntl(file->fd, F_OFD_SETLK, &lock));
    if (result == 0)
        return LX_OK;
    if (errno != EAGAIN && errno != EACCES)
        return lx_fail_errno(error, errno, file->path, "cannot lock");
    lx_status status = lx_fail(error, LX_ERR_BUSY, "the lock is held by another handle");
    lx_error_locate(error, file->path, NULL, LX_NONE, offset);
    return status;
}

void lx__file_unlock(const lx__file *file, uint64_t offset, uint64_t size)
{
    struct flock lock = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = (off_t)size};
    (void)fcntl(file->fd, F_OFD_SETLK, &lock); /* a closed file has no locks */
}
