/* SPDX-License-Identifier: MIT */
#include "remote/transport/transport-file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

/* Network file systems need one request under way for each thread that waits for them. */
#define CONNECTIONS 16

/* A dataset is read from one chunk and one table for each field at a time, or few more. */
#define OPEN_FILES 8

/* Bytes to read between two looks at whether reading was interrupted. */
#define STEP ((size_t)1 << 20)

/* How often a read is repeated because the file grew during it. */
#define TRIES 3

typedef struct file_transport {
    lx__transport base;
    atomic_bool interrupted;
} file_transport;

/** A file that a connection keeps open. */
typedef struct open_file {
    lx__file file;
    char *name; /* relative to the dataset; NULL: none is open here */
    uint64_t used;
} open_file;

typedef struct file_connection {
    lx__connection base;
    lx__file directory; /* closed until it is needed */
    open_file files[OPEN_FILES];
    uint64_t clock; /* incremented at each use of a file */
} file_connection;

static void close_file(open_file *open)
{
    lx__file_close(&open->file);
    lx__free(open->name);
    open->name = NULL;
}

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

/** Opens a file by one folder after the other, because the system would follow symbolic links in
 * the path of a folder. */
static lx_status open_below(const lx__file *dataset, const char *path, lx__file *file,
                            lx_error *error)
{
    char component[256];
    lx__file folder = LX__FILE_CLOSED, next;
    const lx__file *parent = dataset;
    for (const char *rest = path;; rest++) {
        rest = split(rest, component, sizeof component);
        if (rest == NULL) {
            lx__file_close(&folder);
            return lx_fail(error, LX_ERR_ARGUMENT, "'%s' is not the path of a file of a dataset",
                           path);
        }
        if (*rest == '\0')
            break;
        lx_status status = lx__directory_open(&next, parent, component, error);
        lx__file_close(&folder);
        if (status != LX_OK)
            return status;
        folder = next;
        parent = &folder;
    }
    lx_status status = lx__file_open(file, parent, component, O_RDONLY, error);
    lx__file_close(&folder);
    return status;
}

/** Returns the file @p name, opening it if it is not open; NULL on failure. */
static open_file *find_file(file_connection *connection, const char *name, lx_error *error)
{
    open_file *oldest = connection->files;
    for (size_t i = 0; i < OPEN_FILES; i++) {
        open_file *open = &connection->files[i];
        if (open->name != NULL && strcmp(open->name, name) == 0)
            return open;
        if (open->used < oldest->used)
            oldest = open;
    }
    close_file(oldest);
    if (connection->directory.fd == -1 &&
        lx__directory_open(&connection->directory, LX__CWD, connection->base.transport->url,
                           error) != LX_OK)
        return NULL;
    if (open_below(&connection->directory, name, &oldest->file, error) != LX_OK)
        return NULL;
    oldest->name = lx__strdup(name);
    if (oldest->name != NULL)
        return oldest;
    close_file(oldest);
    lx__fail_memory(error, "the name of a file");
    return NULL;
}

/** Reads until the range or the file ends. */
static lx_status read_some(const file_transport *transport, const lx__file *file, uint64_t offset,
                           size_t size, uint8_t *data, size_t *got, lx_error *error)
{
    for (size_t moved = 1; *got < size && moved != 0; *got += moved) {
        if (atomic_load_explicit(&transport->interrupted, memory_order_relaxed))
            return lx_fail(error, LX_ERR_CANCELED, "reading was interrupted");
        size_t step = size - *got < STEP ? size - *got : STEP;
        lx_error failure = LX_ERROR_INIT;
        if (lx__file_read_once(file, data + *got, step, offset + *got, &moved, &failure) != LX_OK) {
            /* Not the message of base/file.h, which marks a bad sector of a local file: that would
             * be damage, but this may be an outage. */
            lx_status status = lx_fail_errno(error, failure.errnum, file->path,
                                             "cannot read %zu bytes", size);
            lx_error_locate(error, NULL, NULL, LX_NONE, offset);
            return status;
        }
    }
    return LX_OK;
}

/** Reads a range, and gets the length of the file, which must agree with where the range ends. */
static lx_status read_file(const file_transport *transport, const lx__file *file, uint64_t offset,
                           size_t size, uint8_t *data, lx__answer *answer, lx_error *error)
{
    for (int tries = 0; tries < TRIES; tries++) {
        lx_status status = read_some(transport, file, offset, size, data, &answer->got, error);
        if (status == LX_OK)
            status = lx__file_size(file, &answer->total, error);
        if (status != LX_OK)
            return status;
        uint64_t end = offset + answer->got;
        if (answer->got == size && answer->total < end) /* truncated since */
            answer->total = end;
        if (answer->got == size || answer->total <= end)
            return LX_OK;
    }
    lx_status status = lx_fail(error, LX_ERR_IO,
                               "the file has %" PRIu64 " bytes, but could not be read to its end",
                               answer->total);
    lx_error_locate(error, file->path, NULL, LX_NONE, offset + answer->got);
    return status;
}

/** Says whether to repeat an attempt that has failed. */
static lx__retry get_retry(lx_status status, int errnum)
{
    if (status != LX_ERR_IO)
        return LX__RETRY_NEVER;
    switch (errnum) {
    case EACCES:
    case EPERM:
    case EINVAL:
    case ENAMETOOLONG:
        return LX__RETRY_NEVER;
    default: /* such as EIO, ESTALE, ETIMEDOUT, EMFILE */
        return LX__RETRY_LATER;
    }
}

static lx_status read_range(lx__connection *base, const char *name, uint64_t offset, size_t size,
                            uint8_t *data, lx__answer *answer, lx_error *error)
{
    file_connection *connection = (file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    *answer = (lx__answer){.total = LX_NONE};
    open_file *open = find_file(connection, name, &failure);
    if (open != NULL) {
        open->used = ++connection->clock;
        if (read_file((const file_transport *)base->transport, &open->file, offset, size, data,
                      answer, &failure) == LX_OK)
            return LX_OK;
        close_file(open);
    }
    answer->retry = get_retry(failure.status, failure.errnum);
    lx__error_propagate(error, &failure);
    return failure.status;
}

static void close_connection(lx__connection *base)
{
    file_connection *connection = (file_connection *)base;
    for (size_t i = 0; i < OPEN_FILES; i++)
        close_file(&connection->files[i]);
    lx__file_close(&connection->directory);
    lx__free(connection);
}

static lx_status open_connection(lx__transport *transport, lx__connection **connection,
                                 lx_error *error)
{
    file_connection *made = lx__alloc_array(1, sizeof *made);
    *connection = NULL;
    if (made == NULL)
        return lx__fail_memory(error, "a connection");
    made->base.transport = transport;
    made->directory = (lx__file)LX__FILE_CLOSED;
    for (size_t i = 0; i < OPEN_FILES; i++)
        made->files[i].file = (lx__file)LX__FILE_CLOSED;
    *connection = &made->base;
    return LX_OK;
}

static void interrupt(lx__transport *self)
{
    atomic_store_explicit(&((file_transport *)self)->interrupted, true, memory_order_relaxed);
}

static void close_transport(lx__transport *self)
{
    lx__free(self->url);
    lx__free(self);
}

static const lx__transport_class class = {
    .network = "file",
    .connections = CONNECTIONS,
    .connect = open_connection,
    .disconnect = close_connection,
    .read = read_range,
    .interrupt = interrupt,
    .close = close_transport,
};

lx_status lx__transport_file_open(const char *path, lx__transport **transport, lx_error *error)
{
    lx__file directory;
    *transport = NULL;
    lx_status status = lx__directory_open(&directory, LX__CWD, path, error);
    if (status != LX_OK)
        return status;
    lx__file_close(&directory);
    file_transport *made = lx__alloc_array(1, sizeof *made);
    char *url = lx__strdup(path);
    if (made == NULL || url == NULL) {
        lx__free(made);
        lx__free(url);
        return lx__fail_memory(error, "a transport");
    }
    for (size_t length = strlen(url); length > 1 && url[length - 1] == '/'; length--)
        url[length - 1] = '\0';
    made->base = (lx__transport){&class, url};
    atomic_init(&made->interrupted, false);
    *transport = &made->base;
    return LX_OK;
}
