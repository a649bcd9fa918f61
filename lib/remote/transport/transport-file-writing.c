/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/atomic-file.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "remote/transport/file-connection.h"

#define PART_SIZE ((size_t)8 << 20)
/* The most folders in one another. A dataset has few; each keeps a descriptor while it is
 * listed. */
#define DEEPEST 64

/** Ends an attempt. */
static lx_status conclude(lx_status status, const lx_error *failure, lx__answer *answer,
                          lx_error *error)
{
    if (status == LX_OK)
        return LX_OK;
    answer->got = 0;
    answer->retry = lx__file_get_retry(failure);
    lx__error_propagate(error, failure);
    return status;
}

static void get_info(const struct stat *about, lx__remote_info *info)
{
    *info = (lx__remote_info){.bytes = (uint64_t)about->st_size,
                              .modified = about->st_mtime > 0 ? (uint64_t)about->st_mtime : 0};
    snprintf(info->etag, sizeof info->etag, "\"%jx.%lx-%jx-%jx\"", (intmax_t)about->st_mtime,
             about->st_mtim.tv_nsec, (intmax_t)about->st_size, (uintmax_t)about->st_ino);
}

/** Examines a file, which is opened for that: NFS clients then ask the server. */
static lx_status examine(const lx__file_place *place, lx__remote_info *info, lx_error *error)
{
    lx__file file;
    struct stat about;
    lx_status status = lx__file_open(&file, place->parent, place->name, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    if (fstat(file.fd, &about) == 0)
        get_info(&about, info);
    else
        status = lx_fail_errno(error, errno, file.path, "cannot examine");
    lx__file_close(&file);
    return status;
}

static lx_status file_stat(lx__connection *base, const char *name, lx__remote_info *info,
                           lx__answer *answer, lx_error *error)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place;
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = lx__file_place_open(connection, name, false, &place, &failure);
    if (status == LX_OK) {
        status = examine(&place, info, &failure);
        lx__file_place_close(&place);
    }
    return conclude(status, &failure, answer, error);
}

/* ---- whole files */

/** Begins a temporary file, whose name is never used again: another push may abandon it and begin to
 * send the same file, and then neither may write to that of the other, or install it. */
static lx_status begin_temporary(lx__atomic_file *file, const lx__file_place *place,
                                 lx_error *error)
{
    char name[NAME_MAX + 1];
    uint64_t number;
    *file = (lx__atomic_file){.file = LX__FILE_CLOSED};
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return lx_fail_errno(error, errno, NULL, "cannot get random bytes");
    if ((size_t)snprintf(name, sizeof name, "%s.%" PRIu64 ".new", place->name, number) >=
        sizeof name)
        return lx_fail(error, LX_ERR_ARGUMENT, "the name '%s' is too long", place->name);
    lx_status status = lx__atomic_file_begin(file, place->parent, place->name, name, error);
    return status == LX_OK ? lx__file_copy_mode(&file->file, place->parent, place->name, error)
                           : status;
}

static lx_status write_bytes(const lx__file_connection *connection, const lx__file *file,
                             const uint8_t *data, size_t size, uint64_t offset, lx__answer *answer,
                             lx_error *error)
{
    for (size_t step; answer->got < size; answer->got += step) {
        step = size - answer->got < LX__FILE_STEP ? size - answer->got : LX__FILE_STEP;
        lx_status status = lx__file_connection_check(connection, error);
        if (status == LX_OK)
            status = lx__file_write(file, data + answer->got, step, offset + answer->got, error);
        if (status != LX_OK)
            return status;
    }
    return LX_OK;
}

/** Turns a failure to find what a precondition says into #LX_ERR_STATE. */
static lx_status fail_precondition(lx_status status, lx_error *failure, lx_error *error)
{
    if (status == LX_ERR_EXISTS || status == LX_ERR_NOT_FOUND)
        failure->status = status = LX_ERR_STATE;
    if (status != LX_OK)
        lx__error_propagate(error, failure);
    return status;
}

/** Gives a file its name if the precondition is true. */
static lx_status install(lx__atomic_file *file, const lx__file_place *place,
                         lx__precondition precondition, const char *etag, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__remote_info info;
    if (precondition == LX__WRITE_IF_ABSENT)
        return fail_precondition(lx__atomic_file_finish_new(file, &failure), &failure, error);
    if (precondition == LX__WRITE_IF_MATCH) {
        lx_status status = examine(place, &info, &failure);
        if (status == LX_OK && strcmp(info.etag, etag) != 0)
            status = lx_fail(&failure, LX_ERR_STATE, "somebody else has written the file");
        if (status != LX_OK)
            return fail_precondition(status, &failure, error);
    }
    return lx__atomic_file_finish(file, error);
}

static lx_status file_put(lx__connection *base, const char *name, const uint8_t *data, size_t size,
                          lx__precondition precondition, const char *etag, lx__answer *answer,
                          lx_error *error)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place;
    lx__atomic_file file;
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = lx__file_place_open(connection, name, true, &place, &failure);
    if (status == LX_OK) {
        status = begin_temporary(&file, &place, &failure);
        if (status == LX_OK)
            status = write_bytes(connection, &file.file, data, size, 0, answer, &failure);
        if (status == LX_OK)
            status = install(&file, &place, precondition, etag, &failure);
        lx__atomic_file_end(&file);
        lx__file_place_close(&place);
    }
    return conclude(status, &failure, answer, error);
}

/* ---- files in parts: the name of an upload is that of its temporary file in the same folder */

static size_t file_get_part_size(const lx__transport *self, uint64_t bytes)
{
    (void)self, (void)bytes;
    return PART_SIZE;
}

static lx_status file_begin(lx__connection *base, const char *name, uint64_t bytes,
                            char upload[LX__UPLOAD_SIZE], lx__answer *answer, lx_error *error)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place;
    lx__atomic_file file;
    (void)bytes;
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = lx__file_place_open(connection, name, true, &place, &failure);
    if (status == LX_OK) {
        status = begin_temporary(&file, &place, &failure);
        if (status == LX_OK) {
            snprintf(upload, LX__UPLOAD_SIZE, "%s", file.temporary);
            file.created = false; /* it stays until it is completed or abandoned */
        }
        lx__atomic_file_end(&file);
        lx__file_place_close(&place);
    }
    return conclude(status, &failure, answer, error);
}

/** Opens the temporary file of an upload, and its folder. */
static lx_status open_upload(lx__file_connection *connection, const char *name, const char *upload,
                             lx__file_place *place, lx__file *file, lx_error *error)
{
    lx_status status = lx__file_place_open(connection, name, false, place, error);
    if (status != LX_OK)
        return status;
    status = lx__file_open(file, place->parent, upload, O_RDWR, error);
    if (status != LX_OK)
        lx__file_place_close(place);
    return status;
}

/* Each part is synced: NFS reports a failed write only once, when the file is next synced or closed. */
static lx_status file_put_part(lx__connection *base, const char *name, const char *upload,
                               uint32_t number, uint64_t offset, const uint8_t *data, size_t size,
                               lx__uploaded_part *part, lx__answer *answer, lx_error *error)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place;
    lx__file file;
    (void)number;
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = open_upload(connection, name, upload, &place, &file, &failure);
    if (status == LX_OK) {
        status = write_bytes(connection, &file, data, size, offset, answer, &failure);
        if (status == LX_OK)
            status = lx__file_sync_data(&file, &failure);
        *part = (lx__uploaded_part){.crc = lx__crc32c(0, data, size)};
        lx__file_close(&file);
        lx__file_place_close(&place);
    }
    return conclude(status, &failure, answer, error);
}

static lx_status file_complete(lx__connection *base, const char *name, const char *upload,
                               const lx__uploaded_part *parts, uint32_t count,
                               lx__precondition precondition, const char *etag, lx__answer *answer,
                               lx_error *error)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place;
    lx__atomic_file file = {.temporary = (char *)(uintptr_t)upload};
    (void)parts, (void)count;
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = open_upload(connection, name, upload, &place, &file.file, &failure);
    if (status == LX_OK) {
        file.directory = place.parent;
        file.name = (char *)(uintptr_t)place.name;
        status = install(&file, &place, precondition, etag, &failure);
        lx__file_close(&file.file);
        if (status == LX_OK && precondition == LX__WRITE_IF_ABSENT) /* it has two names then */
            (void)lx__file_remove(place.parent, upload, NULL);
        lx__file_place_close(&place);
    }
    return conclude(status, &failure, answer, error);
}

/* ---- all files */

/** A walk through a folder and those below it, without following links. */
struct walk {
    const lx__file_connection *connection;
    const lx__file *folder; /* where it is */
    char path[PATH_MAX];    /* of the folder, relative to that of the transport */
    unsigned depth;
    lx__visit_remote *visit; /* for files; NULL: removes those of uploads */
    void *user;
    uint64_t before; /* which uploads */
    lx__is_ours *is_ours;
    const void *owner; /* who is asked */
};

/** Returns how long the name is for which lx__atomic_file_begin() has made this one, which then ends
 * with ".N.new"; 0 if it has not. */
static size_t measure_stem(const char *name)
{
    size_t size = strlen(name), digits = 0;
    if (size < 4 || strcmp(name + size - 4, ".new") != 0)
        return 0;
    for (size -= 4; size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9'; size--)
        digits++;
    return digits > 0 && size > 1 && name[size - 1] == '.' ? size - 1 : 0;
}

/** Removes the temporary file of an upload, whose name has a stem of @p stem bytes. */
static lx_status abandon(const struct walk *walk, const char *name, size_t stem,
                         const lx__remote_info *info, lx_error *error)
{
    char path[PATH_MAX];
    size_t length = strlen(walk->path) - strlen(name) + stem;
    snprintf(path, sizeof path, "%.*s", (int)length, walk->path);
    return (info->modified < walk->before || walk->before == LX_NONE) &&
                   walk->is_ours(walk->owner, path)
               ? lx__file_remove(walk->folder, name, error)
               : LX_OK;
}

static lx_status visit_file(const struct walk *walk, const char *name, const struct stat *about,
                            lx_error *error)
{
    lx__remote_info info;
    size_t stem = measure_stem(name);
    get_info(about, &info);
    if (walk->visit != NULL)
        return stem != 0 ? LX_OK : walk->visit(walk->user, walk->path, &info, error);
    return stem != 0 ? abandon(walk, name, stem, &info, error) : LX_OK;
}

static lx_status visit_entry(void *user, const char *name, lx_error *error);

/** Visits a folder of the current folder, if it still exists. */
static lx_status visit_folder(struct walk *walk, const char *name, lx_error *error)
{
    const lx__file *parent = walk->folder;
    lx_error failure = LX_ERROR_INIT;
    lx__file folder;
    if (walk->depth == DEEPEST)
        return lx_fail(error, LX_ERR_LIMIT, "folders are more than %d deep", DEEPEST);
    lx_status status = lx__directory_open(&folder, parent, name, &failure);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status != LX_OK) {
        lx__error_propagate(error, &failure);
        return status;
    }
    walk->folder = &folder;
    walk->depth++;
    status = lx__directory_each(&folder, visit_entry, walk, error);
    walk->depth--;
    walk->folder = parent;
    lx__file_close(&folder);
    return status;
}

/** Visits an entry of the current folder. Another process may have removed it. */
static lx_status visit_entry(void *user, const char *name, lx_error *error)
{
    struct walk *walk = user;
    struct stat about;
    size_t length = strlen(walk->path);
    lx_status status = lx__file_connection_check(walk->connection, error);
    if (status != LX_OK)
        return status;
    if (fstatat(walk->folder->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT
                   ? LX_OK
                   : lx_fail_errno(error, errno, walk->folder->path, "cannot examine a file");
    if (length + strlen(name) + 2 > sizeof walk->path)
        return lx_fail(error, LX_ERR_LIMIT, "the path of a file is too long");
    snprintf(walk->path + length, sizeof walk->path - length, "%s%s", length > 0 ? "/" : "", name);
    if (S_ISREG(about.st_mode))
        status = visit_file(walk, name, &about, error);
    else if (S_ISDIR(about.st_mode))
        status = visit_folder(walk, name, error);
    walk->path[length] = '\0';
    return status;
}

/** Walks through the folder @p name, "" for that of the transport. None if there is none. */
static lx_status walk_below(struct walk *walk, lx__file_connection *connection, const char *name,
                            lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place = {.folder = LX__FILE_CLOSED};
    lx_status status;
    *answer = (lx__answer){.total = LX_NONE};
    walk->connection = connection;
    if (*name == '\0')
        status = lx__file_connection_open_root(connection, false, &failure);
    else if ((size_t)snprintf(walk->path, sizeof walk->path, "%s", name) >= sizeof walk->path)
        status = lx_fail(&failure, LX_ERR_LIMIT, "the path of a folder is too long");
    else
        status = lx__file_place_open(connection, name, false, &place, &failure);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    walk->folder = *name == '\0' ? &connection->directory : place.parent;
    if (status == LX_OK)
        status = *name == '\0' ? lx__directory_each(walk->folder, visit_entry, walk, &failure)
                               : visit_folder(walk, place.name, &failure);
    lx__file_place_close(&place);
    return conclude(status, &failure, answer, error);
}

static lx_status file_abandon_all(lx__connection *base, uint64_t before, lx__is_ours *is_ours,
                                  const void *user, lx__answer *answer, lx_error *error)
{
    struct walk walk = {.before = before, .is_ours = is_ours, .owner = user};
    return walk_below(&walk, (lx__file_connection *)base, "", answer, error);
}

static lx_status file_list(lx__connection *base, const char *name, lx__visit_remote *visit,
                           void *user, lx__answer *answer, lx_error *error)
{
    struct walk walk = {.visit = visit, .user = user};
    return walk_below(&walk, (lx__file_connection *)base, name, answer, error);
}

static lx_status file_remove(lx__connection *base, const char *name, lx__answer *answer,
                             lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__file_place place;
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = lx__file_place_open((lx__file_connection *)base, name, false, &place,
                                           &failure);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status == LX_OK) {
        status = lx__file_remove(place.parent, place.name, &failure);
        lx__file_place_close(&place);
    }
    return conclude(status, &failure, answer, error);
}

const lx__transport_writing lx__file_writing = {
    .stat = file_stat,
    .put = file_put,
    .get_part_size = file_get_part_size,
    .begin = file_begin,
    .put_part = file_put_part,
    .complete = file_complete,
    .abandon_all = file_abandon_all,
    .list = file_list,
    .remove = file_remove,
};
