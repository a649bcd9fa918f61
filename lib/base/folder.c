/* SPDX-License-Identifier: MIT */
#include "base/folder.h"

#include <string.h>

#include "base/error.h"

/* The longest name that file systems accept, with a NUL. */
#define NAME_SIZE 256

/** What to do with each folder on the way. */
typedef enum action { OPEN, MAKE, SYNC } action;

/** Copies the component at @p path; fails if it is not the name of an entry. */
static lx_status split(const char *path, size_t length, char name[NAME_SIZE], lx_error *error)
{
    if (length != 0 && length < NAME_SIZE) {
        memcpy(name, path, length);
        name[length] = '\0';
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            return LX_OK;
    }
    return lx_fail(error, LX_ERR_ARGUMENT, "a component of the path '%.200s' is not a name", path);
}

/** Takes one step down: opens the folder @p name, and closes the one above. */
static lx_status descend(lx__file *folder, const lx__file *parent, const char *name, action what,
                         lx_error *error)
{
    lx__file next;
    lx_error why = LX_ERROR_INIT;
    lx_status status = what == MAKE ? lx__directory_make(parent, name, &why) : LX_OK;
    if (status != LX_OK && status != LX_ERR_EXISTS) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__directory_open(&next, parent, name, error);
    if (status == LX_OK && what == SYNC)
        status = lx__file_sync(&next, error);
    lx__file_close(folder);
    if (status == LX_OK)
        *folder = next;
    else
        lx__file_close(&next);
    return status;
}

static lx_status walk(lx__file *folder, const lx__file *directory, const char *path, action what,
                      const char **name, lx_error *error)
{
    char component[NAME_SIZE];
    lx_status status = LX_OK;
    const char *slash;
    *folder = (lx__file)LX__FILE_CLOSED;
    while (status == LX_OK && (slash = strchr(path, '/')) != NULL) {
        status = split(path, (size_t)(slash - path), component, error);
        if (status == LX_OK)
            status = descend(folder, lx__file_is_open(folder) ? folder : directory, component, what,
                             error);
        path = slash + 1;
    }
    if (status == LX_OK)
        status = split(path, strlen(path), component, error);
    if (status != LX_OK)
        lx__file_close(folder);
    *name = path;
    return status;
}

lx_status lx__folder_open(lx__file *folder, const lx__file *directory, const char *path,
                          const char **name, lx_error *error)
{
    return walk(folder, directory, path, OPEN, name, error);
}

lx_status lx__folder_open_file(lx__file *file, const lx__file *directory, const char *path,
                               int flags, lx_error *error)
{
    lx__file folder;
    const char *name;
    if (directory->provider != NULL || strchr(path, '/') == NULL)
        return lx__file_open(file, directory, path, flags, error);
    *file = (lx__file)LX__FILE_CLOSED;
    lx_status status = lx__folder_open(&folder, directory, path, &name, error);
    if (status == LX_OK)
        status = lx__file_open(file, &folder, name, flags, error);
    lx__file_close(&folder);
    return status;
}

/** Does something with all folders of the file at @p path. */
static lx_status visit(const lx__file *directory, const char *path, action what, lx_error *error)
{
    lx__file folder;
    const char *name;
    lx_status status = walk(&folder, directory, path, what, &name, error);
    lx__file_close(&folder);
    return status;
}

lx_status lx__folder_make(const lx__file *directory, const char *path, lx_error *error)
{
    return visit(directory, path, MAKE, error);
}

lx_status lx__folder_sync(const lx__file *directory, const char *path, lx_error *error)
{
    return visit(directory, path, SYNC, error);
}

void lx__folder_remove(const lx__file *directory, char *path)
{
    char *slash;
    while ((slash = strrchr(path, '/')) != NULL) {
        *slash = '\0';
        if (lx__directory_remove(directory, path, NULL) != LX_OK)
            return;
    }
}

bool lx__folder_is_shared(const char *one, const char *other)
{
    const char *slash = strrchr(one, '/');
    size_t length = slash != NULL ? (size_t)(slash - one) + 1 : 0;
    return strncmp(one, other, length) == 0 && strchr(other + length, '/') == NULL;
}
