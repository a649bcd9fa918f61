/* SPDX-License-Identifier: MIT */
#include "remote/transport/file-connection.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/error.h"

/** Copies the component of a path at @p path; returns the rest, or NULL if the component is not the
 * name of an entry. */
static const char *split(const char *path, char *component, size_t size)
{
    size_t length = strcspn(path, "/");
    if (length == 0 || length >= size)
        return NULL;
    memcpy(component, path, length);
    component[length] = '\0';
    if (strcmp(component, ".") == 0 || strcmp(component, "..") == 0)
        return NULL;
    return path + length;
}

/** Makes the folder @p name in @p parent, durably, unless it exists. */
static lx_status make_in(const lx__file *parent, const char *name, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__directory_make(parent, name, &failure);
    if (status == LX_OK)
        status = parent == LX__CWD ? lx__path_sync_parent(name, &failure)
                                   : lx__file_sync(parent, &failure);
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
    lx_status status = make_in(LX__CWD, path, &failure);
    char *slash = strrchr(path, '/');
    if (status == LX_ERR_NOT_FOUND && slash != NULL && slash != path) {
        *slash = '\0';
        status = make_path(path, error);
        *slash = '/';
        return status == LX_OK ? make_in(LX__CWD, path, error) : status;
    }
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

/** Opens a folder. A link in the path of the transport's folder is followed; others are not. */
static lx_status enter(const lx__file *parent, char *name, bool make, lx__file *folder,
                       lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__directory_open(folder, parent, name, &failure);
    if (status == LX_ERR_NOT_FOUND && make) {
        status = parent == LX__CWD ? make_path(name, error) : make_in(parent, name, error);
        return status == LX_OK ? lx__directory_open(folder, parent, name, error) : status;
    }
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

lx_status lx__file_connection_open_root(lx__file_connection *self, bool make, lx_error *error)
{
    if (self->directory.fd != -1)
        return LX_OK;
    char *path = lx__strdup(self->base.transport->url);
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    lx_status status = enter(LX__CWD, path, make, &self->directory, error);
    lx__free(path);
    return status;
}

lx_status lx__file_place_open(lx__file_connection *connection, const char *path, bool make,
                              lx__file_place *place, lx_error *error)
{
    char component[256];
    lx__file next;
    *place = (lx__file_place){.parent = &connection->directory, .folder = LX__FILE_CLOSED};
    lx_status status = lx__file_connection_open_root(connection, make, error);
    for (const char *rest = path; status == LX_OK; rest++) {
        place->name = rest;
        rest = split(rest, component, sizeof component);
        if (rest == NULL)
            status = lx_fail(error, LX_ERR_ARGUMENT, "'%s' is not the path of a file of a dataset",
                             path);
        else if (*rest == '\0')
            return LX_OK;
        else
            status = enter(place->parent, component, make, &next, error);
        if (status == LX_OK) {
            lx__file_close(&place->folder);
            place->folder = next;
            place->parent = &place->folder;
        }
    }
    lx__file_place_close(place);
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
