/* SPDX-License-Identifier: MIT */
#include "pack-plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/split.h>

#include "failure.h"

/** Where piece @p piece of @p pieces begins among @p count images. */
static size_t begin_piece(size_t count, uint64_t piece, uint64_t pieces)
{
    uint64_t quotient = count / pieces, rest = count % pieces;
    return (size_t)(quotient * piece + (piece < rest ? piece : rest));
}

/** Makes the name of a file: "train.rec" becomes "train_SET_CHUNK.rec". */
static char *name_file(const char *output, const char *set, uint64_t chunk, uint64_t chunks)
{
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/')
        length--;
    size_t stem = length, size = length + (set != NULL ? strlen(set) : 0) + 32;
    if (length > 4 && (strncmp(output + length - 4, ".rec", 4) == 0 ||
                       strncmp(output + length - 4, ".lst", 4) == 0))
        stem = length - 4;
    char number[24] = "", *name = malloc(size);
    if (chunks > 1)
        snprintf(number, sizeof number, "_%" PRIu64, chunk);
    if (name != NULL)
        snprintf(name, size, "%.*s%s%s%s%.*s", (int)stem, output, set != NULL ? "_" : "",
                 set != NULL ? set : "", number, (int)(length - stem), output + stem);
    return name;
}

/** Cuts the @p count images of a set into files. */
static lx_status add_files(pack_plan *self, const pack_cut *cut, const char *output,
                           const char *set, size_t first, size_t count, lx_error *error)
{
    for (uint64_t chunk = 0; chunk < cut->chunks; chunk++) {
        size_t begin = begin_piece(count, chunk, cut->chunks);
        size_t images = begin_piece(count, chunk + 1, cut->chunks) - begin;
        size_t from = begin_piece(images, cut->part - 1, cut->parts);
        size_t until = begin_piece(images, cut->part, cut->parts);
        char *path = name_file(output, set, chunk, cut->chunks);
        if (path == NULL)
            return fail_memory(error, "a path");
        self->files[self->count++] = (pack_file){path, first + begin + from, until - from};
        self->images += until - from;
    }
    return LX_OK;
}

/** Appends the images of a set to @p sorted. */
static lx_status find_set(const image_list *list, const uint64_t *ids, const pack_cut *cut,
                          size_t set, uint64_t *indices, image_entry *sorted, size_t *count,
                          lx_error *error)
{
    const fraction *sets = cut->sets.sets;
    uint64_t found = 0;
    lx_split_options *chosen = lx_split_options_new();
    if (chosen == NULL)
        return fail_memory(error, "options");
    lx_status status = lx_split_options_set_seed(chosen, cut->seed, error);
    if (status == LX_OK)
        status = lx_split_options_set_range(chosen, sets[set].begin, sets[set].end, error);
    if (status == LX_OK)
        status = lx_split_indices(ids, list->count, chosen, indices, &found, error);
    lx_split_options_free(chosen);
    for (uint64_t i = 0; status == LX_OK && i < found; i++)
        sorted[i] = list->entries[indices[i]];
    *count = (size_t)found;
    return status;
}

/** The set of an image depends only on its id and the seed. */
static lx_status add_sets(pack_plan *self, image_list *list, const pack_cut *cut,
                          const char *output, lx_error *error)
{
    size_t first = 0, count = 0;
    uint64_t *ids = calloc(list->count + 1, sizeof *ids);
    uint64_t *indices = calloc(list->count + 1, sizeof *indices);
    image_entry *sorted = calloc(list->count + 1, sizeof *sorted);
    lx_status status = LX_OK;
    if (ids == NULL || indices == NULL || sorted == NULL)
        status = fail_memory(error, "the sets");
    for (size_t i = 0; status == LX_OK && i < list->count; i++)
        ids[i] = list->entries[i].id;
    for (size_t set = 0; status == LX_OK && set < cut->sets.count; set++) {
        status = find_set(list, ids, cut, set, indices, sorted + first, &count, error);
        if (status == LX_OK)
            status = add_files(self, cut, output, cut->sets.sets[set].name, first, count, error);
        first += count;
    }
    if (status == LX_OK) {
        memcpy(list->entries, sorted, first * sizeof *sorted);
        list->count = first;
    }
    free(ids);
    free(indices);
    free(sorted);
    return status;
}

lx_status pack_plan_make(pack_plan *self, image_list *list, const pack_cut *cut, const char *output,
                         lx_error *error)
{
    size_t sets = cut->sets.count;
    self->files = calloc((sets != 0 ? sets : 1) * (size_t)cut->chunks, sizeof *self->files);
    if (self->files == NULL)
        return fail_memory(error, "the files");
    return sets != 0 ? add_sets(self, list, cut, output, error)
                     : add_files(self, cut, output, NULL, 0, list->count, error);
}

void pack_plan_free(pack_plan *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->files[i].path);
    free(self->files);
    *self = (pack_plan){0};
}
