/* SPDX-License-Identifier: MIT */
#include "importer/import-state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/error.h"
#include "base/json.h"

#define SUFFIX ".import"
#define STATE_VERSION 1
/* Two numbers of 20 digits. */
#define LINE_SIZE 48
/* A larger file cannot come from an import: 2^24 inputs. */
#define SIZE_LIMIT ((size_t)LINE_SIZE << 24)

static lx_status fail_damaged(const lx__import_state *self, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                               "the record of an interrupted import is damaged: remove it and the "
                               "dataset, and import again");
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx__import_done lx__import_state_last(const lx__import_state *self)
{
    return self->count != 0 ? self->done[self->count - 1] : (lx__import_done){self->first, 0};
}

lx_status lx__import_state_add(lx__import_state *self, lx__import_done done, lx_error *error)
{
    void *more = lx__grow_array(self->done, self->count, &self->capacity, sizeof *self->done);
    if (more == NULL)
        return lx__fail_memory(error, "the state of an import");
    self->done = more;
    self->done[self->count++] = done;
    return LX_OK;
}

/** Reads a number that ends with @p end, and passes it. */
static bool read_number(const char **at, char end, uint64_t *number)
{
    char *after;
    bool digit = **at >= '0' && **at <= '9';
    *number = strtoull(*at, &after, 10);
    bool valid = digit && *after == end;
    *at = after + 1;
    return valid;
}

static lx_status read_inputs(lx__import_state *self, const char *at, const char *end,
                             lx_error *error)
{
    const char *stop;
    for (; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1) {
        const char *text = at;
        lx__import_done done, last = lx__import_state_last(self);
        if (!read_number(&text, ' ', &done.length) || !read_number(&text, '\n', &done.bad) ||
            text != stop + 1 || done.length < last.length || done.bad < last.bad)
            return fail_damaged(self, error);
        lx_status status = lx__import_state_add(self, done, error);
        if (status != LX_OK)
            return status;
        self->file_size += (uint64_t)(stop + 1 - at);
    }
    self->synced = self->count;
    return LX_OK;
}

static lx_status read_file(lx__import_state *self, const char *text, size_t size, lx_error *error)
{
    uint64_t version;
    const char *end = memchr(text, '\n', size);
    if (end == NULL) /* the import was interrupted before it changed anything */
        return LX_OK;
    self->header_end = self->file_size = (uint64_t)(end + 1 - text);
    lx_status status = lx__json_parse(text, (size_t)(end - text), &self->header, error);
    if (status == LX_OK)
        status = lx__json_get_integer(self->header, "version", 0, INT64_MAX, &version, error);
    if (status == LX_OK && version != STATE_VERSION)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "a newer version of the library began this import: continue with it");
    if (status == LX_OK)
        status = lx__json_get_integer(self->header, "first", 0, INT64_MAX, &self->first, error);
    if (status == LX_OK)
        status = read_inputs(self, end + 1, text + size, error);
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static char *name_file(const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    char *name = lx__alloc(size + sizeof SUFFIX);
    if (name != NULL) {
        memcpy(name, path, size);
        memcpy(name + size, SUFFIX, sizeof SUFFIX);
    }
    return name;
}

static lx_status fail_busy(const lx__import_state *self, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_BUSY, "another import into the dataset is running");
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Keeps out other imports into the dataset, until the file is closed. */
static lx_status lock(lx__import_state *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    struct stat about;
    lx_status status = lx__file_lock(&self->file, true, 0, 1, &why);
    if (status == LX_ERR_BUSY)
        return fail_busy(self, error);
    lx__error_propagate(error, &why);
    if (status == LX_OK && fstat(self->file.fd, &about) == -1)
        return lx_fail_errno(error, errno, self->path, "cannot examine");
    /* The import that held the lock may have removed the file. */
    return status == LX_OK && about.st_nlink == 0 ? fail_busy(self, error) : status;
}

lx_status lx__import_state_open(lx__import_state *self, const char *path, lx_error *error)
{
    *self = (lx__import_state){.path = name_file(path), .file = LX__FILE_CLOSED};
    if (self->path == NULL)
        return lx__fail_memory(error, "a path");
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__file_open(&self->file, LX__CWD, self->path, O_RDWR, &why);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    char *text = NULL;
    size_t size;
    lx__error_propagate(error, &why);
    if (status == LX_OK)
        status = lock(self, error);
    if (status == LX_OK)
        status = lx__file_read_all(&self->file, SIZE_LIMIT, &text, &size, error);
    if (status == LX_OK)
        status = read_file(self, text, size, error);
    lx__free(text);
    return status;
}

void lx__import_state_close(lx__import_state *self)
{
    lx__file_close(&self->file);
    json_decref(self->header);
    lx__free(self->done);
    lx__free(self->path);
    *self = (lx__import_state){.file = LX__FILE_CLOSED};
}

/** Creates the file unless it is open, and empties it. */
static lx_status begin_file(lx__import_state *self, lx_error *error)
{
    if (self->file.fd != -1)
        return lx__file_truncate(&self->file, 0, error);
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__file_open(&self->file, LX__CWD, self->path, O_RDWR | O_CREAT | O_EXCL,
                                     &why);
    if (status == LX_ERR_EXISTS)
        return fail_busy(self, error); /* another import has just created it */
    lx__error_propagate(error, &why);
    if (status == LX_ERR_NOT_FOUND)
        lx__error_append(error, ": create the directory that is to contain it first");
    return status == LX_OK ? lock(self, error) : status;
}

lx_status lx__import_state_create(lx__import_state *self, json_t *header, uint64_t first,
                                  lx_error *error)
{
    if (json_object_set_new(header, "version", json_integer(STATE_VERSION)) != 0 ||
        json_object_set_new(header, "first", json_integer((json_int_t)first)) != 0)
        return lx__fail_memory(error, "the record of an import");
    char *text = lx__json_text(header, JSON_COMPACT);
    if (text == NULL)
        return lx__fail_memory(error, "the record of an import");
    size_t size = strlen(text);
    text[size++] = '\n'; /* in place of the NUL */
    lx_status status = begin_file(self, error);
    if (status == LX_OK)
        status = lx__file_write(&self->file, text, size, 0, error);
    if (status == LX_OK)
        status = lx__file_sync_data(&self->file, error);
    if (status == LX_OK)
        status = lx__path_sync_parent(self->path, error);
    lx__free(text);
    self->first = first;
    self->header_end = self->file_size = size;
    self->count = self->synced = 0;
    return status;
}

static size_t print_line(const lx__import_done *done, char line[LINE_SIZE])
{
    return (size_t)snprintf(line, LINE_SIZE, "%" PRIu64 " %" PRIu64 "\n", done->length, done->bad);
}

lx_status lx__import_state_trim(lx__import_state *self, uint64_t length, lx_error *error)
{
    char line[LINE_SIZE];
    size_t count = 0;
    uint64_t size = self->header_end;
    if (length < self->first)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the dataset has fewer records than before the interrupted import");
    for (; count < self->count && self->done[count].length <= length; count++)
        size += print_line(&self->done[count], line);
    self->count = self->synced = count;
    self->file_size = size;
    return lx__file_truncate(&self->file, size, error);
}

lx_status lx__import_state_sync(lx__import_state *self, lx_error *error)
{
    lx_status status = LX_OK;
    if (self->synced == self->count)
        return LX_OK;
    for (; status == LX_OK && self->synced < self->count; self->synced++) {
        char line[LINE_SIZE];
        size_t size = print_line(&self->done[self->synced], line);
        status = lx__file_write(&self->file, line, size, self->file_size, error);
        self->file_size += size;
    }
    return status == LX_OK ? lx__file_sync_data(&self->file, error) : status;
}

lx_status lx__import_state_remove(lx__import_state *self, lx_error *error)
{
    lx_status status = lx__file_remove(LX__CWD, self->path, error);
    lx__file_close(&self->file);
    return status;
}
