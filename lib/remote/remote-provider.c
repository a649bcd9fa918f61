/* SPDX-License-Identifier: MIT */
#include "remote/remote-provider.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/remote-read.h"
#include "zrecord/format/names.h"

/** A directory if @ref file is NULL. */
typedef struct provider {
    lx__provider base; /* must be first */
    lx__place *place;
    lx__remote_file *file; /* owned by the place */
    bool is_chunks;        /* the directory with the chunks */
} provider;

static provider *self_of(lx__provider *base)
{
    return (provider *)base;
}

static lx_status new_provider(lx__place *place, lx__remote_file *file, bool is_chunks,
                              lx__provider **made, lx_error *error);

/** Whether all of a file is fetched when it is opened. Tables and chunks are not: their lengths are
 * in other files. Only chunks are in folders. */
static bool is_fetched_at_once(const char *path)
{
    char stem[LX__NAME_SIZE];
    uint64_t generation;
    return strchr(path, '/') == NULL && !lx__name_split_table(path, stem, &generation);
}

static lx_status open_file(lx__provider *directory, const char *name, lx__provider **file,
                           lx_error *error)
{
    provider *self = self_of(directory);
    lx__remote_file *found;
    uint64_t size;
    char path[2 * LX__NAME_SIZE];
    lx__place_check_process(self->place);
    if (strcmp(name, LX__CHUNK_DIRECTORY) == 0 || strcmp(name, ".") == 0)
        return new_provider(self->place, NULL, name[0] != '.' || self->is_chunks, file, error);
    int length = snprintf(path, sizeof path, "%s%s", self->is_chunks ? LX__CHUNK_DIRECTORY "/" : "",
                          name);
    if (length < 0 || (size_t)length >= sizeof path)
        return lx_fail(error, LX_ERR_NOT_FOUND, "file not found: its name is too long");
    lx_status status = lx__place_find_file(self->place, path, &found, error);
    if (status == LX_OK && is_fetched_at_once(path)) {
        status = lx__remote_file_get_size(found, &size, error);
        if (status == LX_OK)
            lx__remote_file_will_need(found, 0, size);
    }
    return status == LX_OK ? new_provider(self->place, found, false, file, error) : status;
}

static void close_provider(lx__provider *base)
{
    provider *self = self_of(base);
    lx__place_check_process(self->place);
    if (self->file != NULL)
        lx__remote_file_leave(self->file);
    lx__place_unref(self->place);
    lx__free(self);
}

static lx_status get_size(lx__provider *base, uint64_t *size, lx_error *error)
{
    lx__place_check_process(self_of(base)->place);
    return lx__remote_file_get_size(self_of(base)->file, size, error);
}

static lx_status expect_size(lx__provider *base, uint64_t size, bool exact, lx_error *error)
{
    lx__place_check_process(self_of(base)->place);
    return lx__remote_file_expect_size(self_of(base)->file, size, exact, error);
}

static lx_status read_bytes(lx__provider *base, void *data, size_t size, uint64_t offset,
                            size_t *got, lx_error *error)
{
    lx__place_check_process(self_of(base)->place);
    return lx__remote_file_read(self_of(base)->file, data, size, offset, got, error);
}

static void will_need(lx__provider *base, uint64_t offset, uint64_t size)
{
    lx__place_check_process(self_of(base)->place);
    lx__remote_file_will_need(self_of(base)->file, offset, size);
}

static bool is_absent(lx__provider *base, uint64_t offset)
{
    lx__place_check_process(self_of(base)->place);
    return lx__remote_file_is_absent(self_of(base)->file, offset);
}

static bool renew(lx__provider *base, uint64_t offset, uint64_t size)
{
    lx__place_check_process(self_of(base)->place);
    return lx__remote_file_renew(self_of(base)->file, offset, size);
}

static const char *get_network(lx__provider *base)
{
    return self_of(base)->place->network;
}

static const lx__provider_class file_class = {.get_network = get_network,
                                              .open = open_file,
                                              .close = close_provider,
                                              .get_size = get_size,
                                              .expect_size = expect_size,
                                              .read = read_bytes,
                                              .will_need = will_need,
                                              .is_absent = is_absent,
                                              .renew = renew};

static lx_status new_provider(lx__place *place, lx__remote_file *file, bool is_chunks,
                              lx__provider **made, lx_error *error)
{
    provider *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return lx__fail_memory(error, "a remote file");
    self->base.class = &file_class;
    self->place = lx__place_ref(place);
    self->file = file;
    self->is_chunks = is_chunks;
    if (file != NULL)
        lx__remote_file_use(file);
    *made = &self->base;
    return LX_OK;
}

lx_status lx__remote_directory_open(lx__place *place, lx__file *directory, lx_error *error)
{
    *directory = (lx__file)LX__FILE_CLOSED;
    char *path = lx__strdup(place->url);
    lx_status status = path != NULL ? new_provider(place, NULL, false, &directory->provider, error)
                                    : lx__fail_memory(error, "a path");
    if (status == LX_OK)
        directory->path = path;
    else
        lx__free(path);
    return status;
}

lx__place *lx__remote_directory_get_place(const lx__file *directory)
{
    if (directory->provider == NULL || directory->provider->class != &file_class)
        return NULL;
    return self_of(directory->provider)->place;
}
