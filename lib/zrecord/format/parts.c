/* SPDX-License-Identifier: MIT */
#include "zrecord/format/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/entry.h"
#include "zrecord/format/names.h"

/* ---- reading */

/** Counts the runs, and the bytes of all paths. Checks the type of each value but the numbers.
 * Neither sum overflows, because the text of meta.json is limited. */
static lx_status measure(const json_t *parts, size_t *count, size_t *bytes, lx_error *error)
{
    const char *path, *former = "";
    json_t *chunks;
    *count = *bytes = 0;
    if (json_array_size(parts) == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "\"parts\" must not be empty");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        if (!json_is_object(part))
            return lx_fail(error, LX_ERR_CORRUPT, "a part must be an object");
        lx_status status = lx__json_get_text(part, "path", &path, error);
        if (status == LX_OK)
            status = lx__json_get(part, "chunks", JSON_ARRAY, &chunks, error);
        if (status != LX_OK)
            return status;
        if (!lx__part_path_valid(path))
            return lx_fail(error, LX_ERR_CORRUPT,
                           "the path '%.200s' of a part is invalid: it must be 1 to %d names "
                           "joined by slashes, at most %d bytes together",
                           path, LX__PART_DEPTH_MAX, LX__PART_PATH_MAX);
        if (strcmp(former, path) >= 0)
            return lx_fail(error, LX_ERR_CORRUPT,
                           "\"parts\" must be in ascending order of the paths, but '%s' follows "
                           "'%s'",
                           path, former);
        if (json_array_size(chunks) == 0)
            return lx_fail(error, LX_ERR_CORRUPT, "part '%s' has no \"chunks\"", path);
        former = path;
        *count += json_array_size(chunks);
        *bytes += strlen(path) + 1;
    }
    return LX_OK;
}

/** Reads one run, whose first file must be at least @p least. */
static lx_status read_run(const json_t *list, uint64_t least, lx__chunk_run *run, lx_error *error)
{
    uint64_t numbers[3];
    bool good = json_array_size(list) == 3;
    for (size_t i = 0; good && i < 3; i++) {
        const json_t *number = json_array_get(list, i);
        good = i == 2 ? lx__json_is_integer_in(number, 1, UINT32_MAX)
                      : lx__json_is_integer_in(number, 0, LX__CHUNK_ID_MAX);
        numbers[i] = (uint64_t)json_integer_value(number);
    }
    if (!good || numbers[0] + numbers[2] - 1 > LX__CHUNK_ID_MAX ||
        numbers[1] + numbers[2] - 1 > LX__CHUNK_ID_MAX)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the \"chunks\" of part '%s' must be a list of [first, first there, count] "
                       "of chunk ids",
                       run->part);
    if (numbers[1] < least)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the \"chunks\" of part '%s' must be in ascending order of the files, none "
                       "of which may be there twice",
                       run->part);
    run->first = (uint32_t)numbers[0];
    run->first_there = (uint32_t)numbers[1];
    run->count = (uint32_t)numbers[2];
    return LX_OK;
}

/** Reads the runs in the order of the text. Copies the paths to @p text. */
static lx_status read_runs(const json_t *parts, lx__chunk_run *runs, char *text, lx_error *error)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        const json_t *chunks = json_object_get(part, "chunks");
        const char *path = strcpy(text, json_string_value(json_object_get(part, "path")));
        uint64_t least = 0;
        text += strlen(text) + 1;
        for (size_t k = 0; k < json_array_size(chunks); k++, runs++) {
            runs->part = path;
            lx_status status = read_run(json_array_get(chunks, k), least, runs, error);
            if (status != LX_OK)
                return status;
            least = (uint64_t)runs->first_there + runs->count;
        }
    }
    return LX_OK;
}

static int compare_first(const void *left, const void *right)
{
    const lx__chunk_run *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/** Sorts the runs. No chunk may be in two of them. */
static lx_status sort_runs(lx__chunk_run *runs, size_t count, lx_error *error)
{
    qsort(runs, count, sizeof *runs, compare_first);
    for (size_t i = 1; i < count; i++)
        if (runs[i].first - runs[i - 1].first < runs[i - 1].count)
            return lx_fail(error, LX_ERR_CORRUPT, "chunk %u is in the parts '%s' and '%s'",
                           runs[i].first, runs[i - 1].part, runs[i].part);
    return LX_OK;
}

lx_status lx__parts_read(const json_t *parts, lx__chunk_run **runs, size_t *count, lx_error *error)
{
    size_t bytes;
    *runs = NULL;
    lx_status status = measure(parts, count, &bytes, error);
    if (status != LX_OK)
        return status;
    lx__chunk_run *read = lx__alloc(*count * sizeof *read + bytes);
    if (read == NULL)
        return lx__fail_memory(error, LX__META_NAME);
    status = read_runs(parts, read, (char *)(read + *count), error);
    if (status == LX_OK)
        status = sort_runs(read, *count, error);
    if (status == LX_OK)
        *runs = read;
    else
        lx__free(read);
    return status;
}

const lx__chunk_run *lx__parts_find(const lx__chunk_run *runs, size_t count, uint32_t id)
{
    size_t low = 0, high = count; /* the runs before low begin at or below id, those from high on
                                     above it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs[middle].first <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && id - runs[low - 1].first < runs[low - 1].count ? &runs[low - 1] : NULL;
}

/* ---- writing */

static int compare_files(const void *left, const void *right)
{
    const lx__chunk_run *a = left, *b = right;
    int order = strcmp(a->part, b->part);
    return order != 0 ? order
                      : (a->first_there > b->first_there) - (a->first_there < b->first_there);
}

/** Appends the runs at @p runs that are in the same part. Returns how many they are; 0 when out of
 * memory. */
static size_t append_part(json_t *parts, const lx__chunk_run *runs, size_t count)
{
    json_t *chunks = json_array();
    int failed =
        json_array_append_new(parts, json_pack("{s:s, s:O}", "path", runs->part, "chunks", chunks));
    size_t used = 0;
    for (; failed == 0 && used < count && strcmp(runs[used].part, runs->part) == 0; used++)
        failed = json_array_append_new(chunks, json_pack("[I, I, I]", (json_int_t)runs[used].first,
                                                         (json_int_t)runs[used].first_there,
                                                         (json_int_t)runs[used].count));
    json_decref(chunks);
    return failed == 0 ? used : 0;
}

json_t *lx__parts_document(const lx__chunk_run *runs, size_t count)
{
    json_t *parts = json_array();
    lx__chunk_run *sorted = lx__alloc(count * sizeof *sorted);
    size_t done = 0, used = parts != NULL && sorted != NULL ? 1 : 0;
    if (used != 0) {
        memcpy(sorted, runs, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_files);
    }
    for (; used != 0 && done < count; done += used)
        used = append_part(parts, sorted + done, count - done);
    lx__free(sorted);
    if (used != 0)
        return parts;
    json_decref(parts);
    return NULL;
}
