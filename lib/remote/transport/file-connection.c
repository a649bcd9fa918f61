/* SPDX-License-Identifier: MIT */
#include "remote/transport/file-connection.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/error.h"
#include "base/folder.h"

/** Makes a folder, durably, unless it exists. */
static lx_status make_one(const char *path, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__directory_make(LX__CWD, path, &failure);
    if (status == LX_OK)
        status = lx__path_sync_parent(path, &failure);
    if (status == LX_ERR_EXISTS)
        return LX_OK;
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

/** Makes a folder and those above it that do not exist. Changes @p path in the meantime. */
static lx_status make_path(char *path, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = make_one(path, &failure);
    char *slash = strrchr(path, '/');
    if (status == LX_ERR_NOT_FOUND && slash != NULL && slash != path) {
        *slash = '\0';
        status = make_path(path, error);
        *slash = '/';
        return status == LX_OK ? make_one(path, error) : status;
    }
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

lx_status lx__file_connection_open_root(lx__file_connection *self, bool make, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    if (self->directory.fd != -1)
        return LX_OK;
    char *path = lx__strdup(self->base.transport->url);
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    lx_status status = lx__directory_open(&self->directory, LX__CWD, path, &failure);
    if (status == LX_ERR_NOT_FOUND && make) {
        status = make_path(path, error);
        if (status == LX_OK)
            status = lx__directory_open(&self->directory, LX__CWD, path, error);
    } else if (status != LX_OK) {
        lx__error_propagate(error, &failure);
    }
    lx__free(path);
    return status;
}

/** Makes the folders of a file, durably. */
static lx_status make_folders(const lx__file *directory, const char *path, lx_error *error)
{
    lx_status status = lx__folder_make(directory, path, error);
    if (status == LX_OK)
        status = lx__folder_sync(directory, path, error);
    return status == LX_OK ? lx__file_sync(directory, error) : status;
}

lx_status lx__file_place_open(lx__file_connection *connection, const char *path, bool make,
                              lx__file_place *place, lx_error *error)
{
    const lx__file *directory = &connection->directory;
    lx_error failure = LX_ERROR_INIT;
    *place = (lx__file_place){.parent = directory, .folder = LX__FILE_CLOSED};
    lx_status status = lx__file_connection_open_root(connection, make, error);
    if (status != LX_OK)
        return status;
    status = lx__folder_open(&place->folder, directory, path, &place->name, &failure);
    if (status == LX_ERR_NOT_FOUND && make) {
        status = make_folders(directory, path, error);
        if (status == LX_OK)
            status = lx__folder_open(&place->folder, directory, path, &place->name, error);
    } else if (status != LX_OK) {
        lx__error_propagate(error, &failure);
    }
    if (lx__file_is_open(&place->folder))
        place->parent = &place->folder;
    return status;
}

void lx__file_place_close(lx__file_place *place)
{
    lx__file_close(&place->folder);
}

lx_status lx__file_connection_check(const lx__file_connection *self, lx_error *error)
{
    const lx__file_transport *transport = (const lx__file_transport *)self->base.transport;
    return atomic_load_explicit(&transport->interrupted, memory_order_relaxed)
               ? lx_fail(error, LX_ERR_CANCELED, "the request was interrupted")
               : LX_OK;
}

lx__retry lx__file_get_retry(const lx_error *failure)
{
    if (failure->status != LX_ERR_IO)
        return LX__RETRY_NEVER;
    switch (failure->errnum) {
    case EACCES:
    case EPERM:
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOTDIR:
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EFBIG:
    case EISDIR:
    case EOPNOTSUPP:
        return LX__RETRY_NEVER;
    default: /* such as EIO, ESTALE, ETIMEDOUT, EMFILE */
        return LX__RETRY_LATER;
    }
}
