/* SPDX-License-Identifier: MIT */
#include "remote/push/file-list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/table/table-file.h"

/* The folder of the datasets that a joined one was made of. */
#define PARTS "part/"

typedef struct making {
    lx__file_list *list;
    const lx__meta *meta;
} making;

static lx_status add(void *user, const lx__snapshot_file *file, lx_error *error)
{
    const making *self = user;
    lx__file_list *list = self->list;
    lx__table_seal seal = {.crc = 0};
    lx_status status = LX_OK;
    if (file->is_table)
        status = lx__meta_get_table(self->meta, file->path, &seal, error);
    if (status != LX_OK)
        return status;
    lx__listed_file *grown = lx__grow_array(list->files, list->count, &list->capacity,
                                            sizeof *grown);
    if (grown == NULL)
        return lx__fail_memory(error, "a list of files");
    list->files = grown;
    char *path = lx__strdup(file->path);
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    list->files[list->count++] = (lx__listed_file){.path = path,
                                                   .is_chunk = file->is_chunk,
                                                   .is_table = file->is_table,
                                                   .bytes = file->bytes,
                                                   .crc = seal.crc,
                                                   .there = LX_NONE};
    list->bytes += file->bytes;
    return LX_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp((*(lx__listed_file *const *)a)->path, (*(lx__listed_file *const *)b)->path);
}

lx_status lx__file_list_make(lx__file_list *list, const lx__snapshot *snapshot, lx_error *error)
{
    *list = (lx__file_list){0};
    lx_status status = lx__snapshot_each_file(snapshot, add,
                                              &(making){list, &snapshot->store->meta}, error);
    if (status == LX_OK &&
        (list->sorted = lx__alloc_array(list->count, sizeof *list->sorted)) == NULL)
        status = lx__fail_memory(error, "a list of files");
    if (status != LX_OK) {
        lx__file_list_free(list);
        return status;
    }
    for (size_t i = 0; i < list->count; i++)
        list->sorted[i] = &list->files[i];
    qsort(list->sorted, list->count, sizeof(lx__listed_file *), compare);
    return LX_OK;
}

void lx__file_list_free(lx__file_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        lx__free(list->files[i].path);
        lx__free(list->files[i].etag);
    }
    lx__free(list->files);
    lx__free(list->sorted);
    *list = (lx__file_list){0};
}

lx__listed_file *lx__file_list_find(const lx__file_list *list, const char *path)
{
    const lx__listed_file wanted = {.path = (char *)(uintptr_t)path}, *key = &wanted;
    if (list->count == 0)
        return NULL;
    lx__listed_file **found = bsearch(&key, list->sorted, list->count, sizeof *found, compare);
    return found != NULL ? *found : NULL;
}

bool lx__file_list_has_folder(const lx__file_list *list, const char *path, size_t length)
{
    size_t begin = 0, end = list->count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        int order = strncmp(list->sorted[middle]->path, path, length);
        if (order == 0)
            return true;
        if (order < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

lx_status lx__listed_file_open(const lx__listed_file *file, const lx__snapshot *snapshot,
                               lx__file *opened, lx_error *error)
{
    return lx__committed_open(opened, &snapshot->store->directory, file->path, O_RDONLY,
                              file->bytes, false, error);
}

/** Whether the folder of @p size bytes, with the slash at its end, can be that of a part. */
static bool is_in_parts(const char *path, size_t size)
{
    char folder[LX__PART_PATH_MAX + 1];
    if (strncmp(path, PARTS, strlen(PARTS)) != 0 || size > sizeof folder)
        return false;
    memcpy(folder, path, size - 1);
    folder[size - 1] = '\0';
    return lx__part_path_valid(folder);
}

bool lx__path_is_of_dataset(const char *path, size_t *owner)
{
    char stem[LX__NAME_SIZE];
    uint64_t number;
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t folder = (size_t)(name - path), chunks = sizeof LX__CHUNK_DIRECTORY;
    bool in_chunks = folder >= chunks &&
                     strncmp(name - chunks, LX__CHUNK_DIRECTORY "/", chunks) == 0 &&
                     (folder == chunks || name[-(ptrdiff_t)chunks - 1] == '/');
    *owner = in_chunks ? folder - chunks : folder;
    if (*owner != 0 && !is_in_parts(path, *owner))
        return false;
    if (in_chunks)
        return lx__name_is_chunk(name, &number);
    if (strcmp(name, LX__META_NAME) == 0)
        return *owner != 0;
    return strcmp(name, LX__META_NEW_NAME) == 0 || lx__name_is_log(name, &number) ||
           lx__name_split_table(name, stem, &number) || lx__name_split_dict(name, stem);
}
