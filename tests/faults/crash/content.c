/* SPDX-License-Identifier: MIT */
#include "content.h"

#include <inttypes.h>

/* ---- reading */

/** Reads a field value by value, since some may be damaged. */
static lx_status read_lossy(struct content *content, lx_dataset *dataset, size_t field,
                            lx_error *error)
{
    uint64_t *offsets = content->offsets[field], end = 0;
    size_t count = (size_t)content->length;
    free(content->data[field]);
    content->data[field] = NULL;
    offsets[0] = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t sizes[2] = {0};
        uint8_t *present = &content->present[field][i];
        lx_error_clear(error);
        lx_status status = lx_dataset_get_sizes(dataset, field, &i, 1, sizes, present, error);
        uint64_t size = status == LX_OK ? sizes[1] : 0;
        uint8_t *data = need(realloc(content->data[field], (size_t)(end + size) + 1));
        content->data[field] = data;
        if (status == LX_OK)
            status = lx_dataset_gather_bytes(dataset, field, &i, 1, sizes, data + end, error);
        if (status != LX_OK && status != LX_ERR_CORRUPT)
            return status;
        if (status != LX_OK) {
            *present = CONTENT_LOST;
            content->lost++;
            size = 0;
        }
        end += size;
        offsets[i + 1] = end;
    }
    lx_error_clear(error);
    return LX_OK;
}

static lx_status read_field(struct content *content, lx_dataset *dataset, size_t field,
                            const uint64_t *indices, lx_error *error)
{
    size_t count = (size_t)content->length;
    uint64_t *offsets = content->offsets[field] = need(malloc((count + 1) * sizeof *offsets));
    content->present[field] = need(malloc(count + 1));
    lx_status status = lx_dataset_get_sizes(dataset, field, indices, count, offsets,
                                            content->present[field], error);
    if (status != LX_OK)
        return status;
    content->data[field] = need(malloc((size_t)offsets[count] + 1));
    return lx_dataset_gather_bytes(dataset, field, indices, count, offsets, content->data[field],
                                   error);
}

bool content_read(struct content *content, lx_dataset *dataset, bool lossy, char *why, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_OK;
    *content = (struct content){.length = lx_dataset_get_length(dataset)};
    if (!records_columns(lx_dataset_get_schema(dataset), &content->columns)) {
        snprintf(why, size, "a field has an unknown name");
        return false;
    }
    uint64_t *indices = need(malloc((size_t)(content->length + 1) * sizeof *indices));
    for (uint64_t i = 0; i < content->length; i++)
        indices[i] = i;
    for (size_t i = 0; status == LX_OK && i < content->columns.count; i++) {
        status = read_field(content, dataset, i, indices, &error);
        if (status == LX_ERR_CORRUPT && lossy)
            status = read_lossy(content, dataset, i, &error);
    }
    free(indices);
    if (status != LX_OK)
        lx_error_describe(&error, why, size);
    return status == LX_OK;
}

void content_free(struct content *content)
{
    for (size_t i = 0; i < RECORDS_FIELDS; i++) {
        free(content->present[i]);
        free(content->offsets[i]);
        free(content->data[i]);
    }
    *content = (struct content){0};
}

static lx_value value_of(const struct content *content, size_t field, uint64_t index)
{
    const uint64_t *offsets = content->offsets[field];
    if (content->present[field][index] == 0)
        return (lx_value){NULL, LX_NONE};
    return (lx_value){content->data[field] + offsets[index], offsets[index + 1] - offsets[index]};
}

/* ---- digests */

static uint64_t mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ (digest >> 29);
}

static uint64_t mix_value(uint64_t digest, lx_value value)
{
    uint64_t word = 0, size = value.size != LX_NONE ? value.size : 0, at = 0;
    const uint8_t *data = value.data;
    digest = mix(digest, value.size);
    for (; size - at >= sizeof word; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        digest = mix(digest, word);
    }
    word = 0;
    if (at != size)
        memcpy(&word, data + at, (size_t)(size - at));
    return mix(digest, word);
}

static uint64_t begin_digest(const struct columns *columns, uint64_t length)
{
    uint64_t digest = mix(columns->count, length);
    for (size_t i = 0; i < columns->count; i++)
        digest = mix(digest, (uint64_t)columns->list[i].kind << 32 | columns->list[i].name);
    return digest;
}

static uint64_t end_digest(uint64_t digest)
{
    return digest != 0 ? digest : 1;
}

uint64_t content_digest(const struct content *content)
{
    uint64_t digest = begin_digest(&content->columns, content->length);
    for (size_t field = 0; field < content->columns.count; field++)
        for (uint64_t i = 0; i < content->length; i++)
            digest = mix_value(digest, value_of(content, field, i));
    return end_digest(digest);
}

static lx_value expected(const struct version *version, struct records *records, size_t field,
                         uint64_t index)
{
    const struct columns *columns = &version->columns;
    return records_get(records, version->cells[(size_t)index * columns->count + field],
                       columns->list[field].kind);
}

uint64_t content_digest_of(const struct version *version, struct records *records)
{
    uint64_t digest = begin_digest(&version->columns, version->length);
    for (size_t field = 0; field < version->columns.count; field++)
        for (uint64_t i = 0; i < version->length; i++)
            digest = mix_value(digest, expected(version, records, field, i));
    return end_digest(digest);
}

/* ---- differences */

bool content_equal_values(lx_value left, lx_value right)
{
    return left.size == right.size && (left.size == LX_NONE || left.size == 0 ||
                                       memcmp(left.data, right.data, (size_t)left.size) == 0);
}

static bool is_lost(const struct content *content, size_t field, uint64_t index)
{
    return content->present[field][index] == CONTENT_LOST;
}

/** Whether both have the same fields, by kinds and names, and the same number of records. */
static bool are_alike(const struct columns *left, uint64_t left_length, const struct columns *right,
                      uint64_t right_length)
{
    return begin_digest(left, left_length) == begin_digest(right, right_length);
}

bool content_agrees(const struct content *content, const struct version *version,
                    struct records *records)
{
    if (!are_alike(&content->columns, content->length, &version->columns, version->length))
        return false;
    for (size_t field = 0; field < content->columns.count; field++)
        for (uint64_t i = 0; i < content->length; i++)
            if (!is_lost(content, field, i) &&
                !content_equal_values(value_of(content, field, i),
                                      expected(version, records, field, i)))
                return false;
    return true;
}

bool content_keeps(const struct content *before, const struct content *after)
{
    if (!are_alike(&before->columns, before->length, &after->columns, after->length))
        return false;
    for (size_t field = 0; field < before->columns.count; field++)
        for (uint64_t i = 0; i < before->length; i++)
            if (!is_lost(before, field, i) &&
                (is_lost(after, field, i) ||
                 !content_equal_values(value_of(before, field, i), value_of(after, field, i))))
                return false;
    return true;
}

void content_tell(const struct content *content, const struct version *version,
                  struct records *records, char *why, size_t size)
{
    const struct columns *columns = &version->columns;
    if (content->length != version->length || content->columns.count != columns->count) {
        snprintf(why, size,
                 "%" PRIu64 " records of %zu fields, where %" PRIu64 " of %zu were expected",
                 content->length, content->columns.count, version->length, columns->count);
        return;
    }
    for (size_t field = 0; field < columns->count; field++)
        for (uint64_t i = 0; i < content->length; i++)
            if (!is_lost(content, field, i) &&
                !content_equal_values(value_of(content, field, i),
                                      expected(version, records, field, i))) {
                snprintf(why, size,
                         "record %" PRIu64 " of %" PRIu64 ", field %zu, is not serial %" PRIu32, i,
                         content->length, field,
                         version->cells[(size_t)i * columns->count + field]);
                return;
            }
    snprintf(why, size, "the values are those of that candidate, or its fields have other names");
}
