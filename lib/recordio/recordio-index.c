/* SPDX-License-Identifier: MIT */
#include "recordio/recordio-index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

/* Far more than any index has. */
#define LIMIT (SIZE_MAX > UINT32_MAX ? (uint64_t)16 << 30 : UINT32_MAX / 2)

typedef struct entry {
    const char *key;
    uint64_t offset;
} entry;

struct lx_recordio_index {
    char *text; /* in which the keys end with NUL */
    entry *entries;
    size_t count, capacity;
};

/** Parses the number that ends a line; false if it is not a multiple of 4. */
static bool parse_offset(const char *from, const char *end, uint64_t *offset)
{
    uint64_t value = 0;
    if (from == end)
        return false;
    for (; from < end; from++) {
        uint64_t digit = (uint64_t)(*from - '0');
        if (*from < '0' || *from > '9' || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *offset = value;
    return value % 4 == 0;
}

/** Adds the line in [from, end), and ends its key. */
static lx_status add_line(lx_recordio_index *index, char *from, char *end, lx_error *error)
{
    char *tab = memchr(from, '\t', (size_t)(end - from));
    uint64_t offset;
    if (end > from && end[-1] == '\r')
        end--;
    if (tab == NULL || tab == from || memchr(from, '\0', (size_t)(tab - from)) != NULL ||
        !parse_offset(tab + 1, end, &offset))
        return lx_fail(error, LX_ERR_CORRUPT,
                       "line %zu is not a key, a tab, and an offset that is a multiple of 4",
                       index->count + 1);
    entry *entries = lx__grow_array(index->entries, index->count, &index->capacity,
                                    sizeof *entries);
    if (entries == NULL)
        return lx__fail_memory(error, "an index");
    *tab = '\0';
    index->entries = entries;
    entries[index->count++] = (entry){from, offset};
    return LX_OK;
}

static lx_status parse(lx_recordio_index *index, size_t size, lx_error *error)
{
    lx_status status = LX_OK;
    char *at = index->text, *limit = at + size;
    while (status == LX_OK && at < limit) {
        char *end = memchr(at, '\n', (size_t)(limit - at));
        if (end == NULL)
            end = limit;
        status = add_line(index, at, end, error);
        at = end + 1;
    }
    return status;
}

lx_status lx_recordio_index_open(const char *path, lx_recordio_index **index, lx_error *error)
{
    LX__CLEAR(index);
    lx__file file = LX__FILE_CLOSED;
    size_t size;
    if (path == NULL || index == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "index");
    lx_recordio_index *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "an index");
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_read_all(&file, (size_t)LIMIT, &made->text, &size, error);
    lx__file_close(&file);
    if (status == LX_OK)
        status = parse(made, size, error);
    if (status == LX_OK) {
        *index = made;
        return LX_OK;
    }
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx_recordio_index_free(made);
    return status;
}

void lx_recordio_index_free(lx_recordio_index *index)
{
    if (index == NULL)
        return;
    lx__free(index->text);
    lx__free(index->entries);
    lx__free(index);
}

uint64_t lx_recordio_index_get_count(const lx_recordio_index *index)
{
    return index->count;
}

const char *lx_recordio_index_get_key(const lx_recordio_index *index, uint64_t position)
{
    return index->entries[position].key;
}

uint64_t lx_recordio_index_get_offset(const lx_recordio_index *index, uint64_t position)
{
    return index->entries[position].offset;
}

bool lx_recordio_index_find(const lx_recordio_index *index, const char *key, uint64_t *position)
{
    for (size_t i = index->count; i-- > 0;) {
        if (strcmp(index->entries[i].key, key) == 0) {
            *position = i;
            return true;
        }
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void lx__recordio_sort_offsets(uint64_t *offsets, size_t count)
{
    qsort(offsets, count, sizeof *offsets, compare);
}

lx_status lx__recordio_load_offsets(const char *path, uint64_t **offsets, size_t *count,
                                    lx_error *error)
{
    lx_recordio_index *index;
    lx_status status = lx_recordio_index_open(path, &index, error);
    if (status != LX_OK)
        return status;
    *count = index->count;
    *offsets = lx__alloc_array(index->count + 1, sizeof **offsets);
    for (size_t i = 0; *offsets != NULL && i < index->count; i++)
        (*offsets)[i] = index->entries[i].offset;
    lx_recordio_index_free(index);
    return *offsets != NULL ? LX_OK : lx__fail_memory(error, "an index");
}
