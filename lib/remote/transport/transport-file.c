/* SPDX-License-Identifier: MIT */
#include "remote/transport/transport-file.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "remote/transport/file-connection.h"

/* Network file systems need one request under way for each thread that waits for them. */
#define CONNECTIONS 16

/* How often a read is repeated because the file grew during it. */
#define TRIES 3

static void close_file(lx__open_file *open)
{
    lx__file_close(&open->file);
    lx__free(open->name);
    open->name = NULL;
}

/** Opens a file for reading. */
static lx_status open_file(lx__file_connection *connection, const char *name, lx__file *file,
                           lx_error *error)
{
    lx__file_place place;
    lx_status status = lx__file_place_open(connection, name, false, &place, error);
    if (status != LX_OK)
        return status;
    status = lx__file_open(file, place.parent, place.name, O_RDONLY, error);
    lx__file_place_close(&place);
    return status;
}

/** Returns the file @p name, opening it if it is not open; NULL on failure. */
static lx__open_file *find_file(lx__file_connection *connection, const char *name, lx_error *error)
{
    lx__open_file *oldest = connection->files;
    for (size_t i = 0; i < LX__OPEN_FILES; i++) {
        lx__open_file *open = &connection->files[i];
        if (open->name != NULL && strcmp(open->name, name) == 0)
            return open;
        if (open->used < oldest->used)
            oldest = open;
    }
    close_file(oldest);
    if (open_file(connection, name, &oldest->file, error) != LX_OK)
        return NULL;
    oldest->name = lx__strdup(name);
    if (oldest->name != NULL)
        return oldest;
    close_file(oldest);
    lx__fail_memory(error, "the name of a file");
    return NULL;
}

/** Reads until the range or the file ends. */
static lx_status read_some(const lx__file_connection *connection, const lx__file *file,
                           uint64_t offset, size_t size, uint8_t *data, size_t *got,
                           lx_error *error)
{
    for (size_t moved = 1; *got < size && moved != 0; *got += moved) {
        if (lx__file_connection_check(connection, error) != LX_OK)
            return LX_ERR_CANCELED;
        size_t step = size - *got < LX__FILE_STEP ? size - *got : LX__FILE_STEP;
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
static lx_status read_file(const lx__file_connection *connection, const lx__file *file,
                           uint64_t offset, size_t size, uint8_t *data, lx__answer *answer,
                           lx_error *error)
{
    for (int tries = 0; tries < TRIES; tries++) {
        lx_status status = read_some(connection, file, offset, size, data, &answer->got, error);
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

static lx_status read_range(lx__connection *base, const char *name, uint64_t offset, size_t size,
                            uint8_t *data, lx__answer *answer, lx_error *error)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    lx_error failure = LX_ERROR_INIT;
    *answer = (lx__answer){.total = LX_NONE};
    lx__open_file *open = find_file(connection, name, &failure);
    if (open != NULL) {
        open->used = ++connection->clock;
        lx_status status = read_file(connection, &open->file, offset, size, data, answer, &failure);
        if (status != LX_OK || lx__transport_may_replace(name))
            close_file(open);
        if (status == LX_OK)
            return LX_OK;
    }
    answer->retry = lx__file_get_retry(&failure);
    lx__error_propagate(error, &failure);
    return failure.status;
}

static void close_connection(lx__connection *base)
{
    lx__file_connection *connection = (lx__file_connection *)base;
    for (size_t i = 0; i < LX__OPEN_FILES; i++)
        close_file(&connection->files[i]);
    lx__file_close(&connection->directory);
    lx__free(connection);
}

static lx_status open_connection(lx__transport *transport, lx__connection **connection,
                                 lx_error *error)
{
    lx__file_connection *made = lx__alloc_array(1, sizeof *made);
    *connection = NULL;
    if (made == NULL)
        return lx__fail_memory(error, "a connection");
    made->base.transport = transport;
    made->directory = (lx__file)LX__FILE_CLOSED;
    for (size_t i = 0; i < LX__OPEN_FILES; i++)
        made->files[i].file = (lx__file)LX__FILE_CLOSED;
    *connection = &made->base;
    return LX_OK;
}

static void interrupt(lx__transport *self)
{
    atomic_store_explicit(&((lx__file_transport *)self)->interrupted, true, memory_order_relaxed);
}

static void close_transport(lx__transport *self)
{
    lx__free(self->url);
    lx__free(self);
}

static const lx__transport_class class = {
    .network = "file",
    .writing = &lx__file_writing,
    .connections = CONNECTIONS,
    .connect = open_connection,
    .disconnect = close_connection,
    .read = read_range,
    .interrupt = interrupt,
    .close = close_transport,
};

lx_status lx__transport_file_open_for_writing(const char *path, lx__transport **transport,
                                              lx_error *error)
{
    lx__file_transport *made = lx__alloc_array(1, sizeof *made);
    char *url = lx__strdup(path);
    *transport = NULL;
    if (made == NULL || url == NULL) {
        lx__free(made);
        lx__free(url);
        return lx__fail_memory(error, "a transport");
    }
    for (size_t length = strlen(url); length > 1 && url[length - 1] == '/'; length--)
        url[length - 1] = '\0';
    made->base = (lx__transport){.class = &class, .url = url};
    atomic_init(&made->interrupted, false);
    *transport = &made->base;
    return LX_OK;
}

lx_status lx__transport_file_open(const char *path, lx__transport **transport, lx_error *error)
{
    lx__file directory;
    *transport = NULL;
    lx_status status = lx__directory_open(&directory, LX__CWD, path, error);
    if (status != LX_OK)
        return status;
    lx__file_close(&directory);
    return lx__transport_file_open_for_writing(path, transport, error);
}
