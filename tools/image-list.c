/* SPDX-License-Identifier: MIT */
#include "image-list.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <loaderx/order.h>
#include <loaderx/sampler.h>

#include "atomic-write.h"
#include "failure.h"

/* Labels of an image; more are a mistake. */
#define LABELS_MAX ((uint32_t)1 << 20)

/* ---- the list */

/** Makes room for @p more elements of a size. */
static bool reserve(void **list, size_t count, size_t *capacity, size_t more, size_t size)
{
    if (*list != NULL && more <= *capacity - count)
        return true;
    size_t wanted = count + more > 2 * *capacity ? count + more : 2 * *capacity;
    void *grown = wanted <= SIZE_MAX / size ? realloc(*list, wanted * size) : NULL;
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = wanted;
    return true;
}

lx_status image_list_add_label(image_list *self, float label, lx_error *error)
{
    void *labels = self->labels;
    if (!reserve(&labels, self->label_count, &self->label_capacity, 1, sizeof label))
        return fail_memory(error, "the labels");
    self->labels = labels;
    self->labels[self->label_count++] = label;
    return LX_OK;
}

lx_status image_list_add(image_list *self, uint64_t id, uint32_t labels, const char *path,
                         size_t size, lx_error *error)
{
    void *entries = self->entries, *text = self->text;
    if (!reserve(&text, self->text_size, &self->text_capacity, size + 1, 1))
        return fail_memory(error, "the paths");
    self->text = text;
    if (!reserve(&entries, self->count, &self->capacity, 1, sizeof *self->entries))
        return fail_memory(error, "the list");
    self->entries = entries;
    self->entries[self->count++] = (image_entry){id, self->text_size, self->label_count - labels,
                                                 labels};
    memcpy(self->text + self->text_size, path, size);
    self->text[self->text_size + size] = '\0';
    self->text_size += size + 1;
    return LX_OK;
}

const char *image_list_path(const image_list *self, const image_entry *entry)
{
    return self->text + entry->path;
}

void image_list_free(image_list *self)
{
    free(self->entries);
    free(self->labels);
    free(self->text);
    *self = (image_list){0};
}

lx_status image_list_shuffle(image_list *self, uint64_t seed, lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t taken = 0, *indices = calloc(self->count + 1, sizeof *indices);
    image_entry *shuffled = calloc(self->count + 1, sizeof *shuffled);
    lx_status status = LX_OK;
    if (indices == NULL || shuffled == NULL)
        status = fail_memory(error, "the list");
    if (status == LX_OK)
        status = lx_order_new_shuffle(self->count, seed, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, self->count, indices, &taken, error);
    for (uint64_t i = 0; i < taken; i++)
        shuffled[i] = self->entries[indices[i]];
    if (status == LX_OK)
        memcpy(self->entries, shuffled, self->count * sizeof *shuffled);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    free(shuffled);
    free(indices);
    return status;
}

/* ---- reading */

static lx_status take_id(const char *field, size_t size, uint64_t *id, size_t line, lx_error *error)
{
    bool valid = size != 0;
    *id = 0;
    for (size_t i = 0; valid && i < size; i++) {
        uint64_t digit = (uint64_t)((unsigned char)field[i] - '0');
        valid = digit <= 9 && *id <= (UINT64_MAX - digit) / 10;
        *id = *id * 10 + digit;
    }
    return valid ? LX_OK
                 : lx_fail(error, LX_ERR_CORRUPT,
                           "line %zu, field 1: the index '%.*s' is not a number from 0 to 2^64 - 1",
                           line, (int)(size < 64 ? size : 64), field);
}

static lx_status take_label(image_list *self, const char *field, size_t size, size_t line,
                            uint32_t position, lx_error *error)
{
    char text[64], *end = text;
    float label = 0;
    if (size != 0 && size < sizeof text && strspn(field, "0123456789.eE+-") >= size) {
        memcpy(text, field, size);
        text[size] = '\0';
        label = strtof(text, &end);
    }
    if (end == text || *end != '\0' || !isfinite(label))
        return lx_fail(error, LX_ERR_CORRUPT,
                       "line %zu, field %" PRIu32 ": the label '%.*s' is not a number that a float "
                       "can hold",
                       line, position, (int)(size < 64 ? size : 64), field);
    return image_list_add_label(self, label, error);
}

/** Takes a line: the id, labels and the path. */
static lx_status take_line(image_list *self, const char *at, const char *end, size_t line,
                           lx_error *error)
{
    uint64_t id = 0;
    uint32_t fields = 1;
    const char *tab = memchr(at, '\t', (size_t)(end - at));
    if (memchr(at, '\0', (size_t)(end - at)) != NULL)
        return lx_fail(error, LX_ERR_CORRUPT, "line %zu has a NUL byte: this is not a list", line);
    lx_status status = take_id(at, (size_t)((tab != NULL ? tab : end) - at), &id, line, error);
    while (status == LX_OK && tab != NULL) {
        at = tab + 1;
        tab = memchr(at, '\t', (size_t)(end - at));
        if (tab == NULL)
            break;
        if (fields > LABELS_MAX)
            return lx_fail(error, LX_ERR_CORRUPT, "line %zu has more than %" PRIu32 " labels", line,
                           LABELS_MAX);
        status = take_label(self, at, (size_t)(tab - at), line, ++fields, error);
    }
    if (status != LX_OK)
        return status;
    if (fields < 2 || at == end)
        return lx_fail(error, LX_ERR_CORRUPT,
                       fields < 2 ? "line %zu must have an index, one or more labels and a path, "
                                    "separated by tabs"
                                  : "line %zu: the path, its last field, is empty",
                       line);
    return image_list_add(self, id, fields - 1, at, (size_t)(end - at), error);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

const uint64_t *image_list_find_repeated(uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        if (ids[i] == ids[i - 1])
            return &ids[i];
    return NULL;
}

static lx_status check_ids(const image_list *self, lx_error *error)
{
    uint64_t *ids = calloc(self->count + 1, sizeof *ids);
    lx_status status = LX_OK;
    if (ids == NULL)
        return fail_memory(error, "the list");
    for (size_t i = 0; i < self->count; i++)
        ids[i] = self->entries[i].id;
    const uint64_t *repeated = image_list_find_repeated(ids, self->count);
    if (repeated != NULL)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the index %" PRIu64 ", the first field, is in two lines: each line needs "
                         "its own",
                         *repeated);
    free(ids);
    return status;
}

/** Passes the byte order mark at the beginning of a list, if it has one. */
static const char *skip_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, strlen(mark)) == 0 ? text + strlen(mark) : text;
}

static lx_status take_lines(image_list *self, FILE *from, const char *path, lx_error *error)
{
    char *text = NULL;
    size_t capacity = 0, line = 0;
    ssize_t size = 0;
    lx_status status = LX_OK;
    while (status == LX_OK && (size = getline(&text, &capacity, from)) != -1) {
        line++;
        while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
            size--;
        const char *at = line == 1 ? skip_mark(text) : text, *end = text + size;
        if (at < end)
            status = take_line(self, at, end, line, error);
    }
    if (status == LX_OK && !feof(from))
        status = lx_fail_errno(error, errno, path, "cannot read the list");
    free(text);
    if (status == LX_OK && self->count == 0)
        status = lx_fail(error, LX_ERR_CORRUPT, "the list has no images");
    return status == LX_OK ? check_ids(self, error) : status;
}

lx_status image_list_read(image_list *self, const char *path, lx_error *error)
{
    FILE *from = fopen(path, "r");
    if (from == NULL)
        return lx_fail_errno(error, errno, path, "cannot open the list");
    lx_status status = take_lines(self, from, path, error);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    fclose(from);
    return status;
}

/* ---- writing */

static void write_entry(const image_list *self, const image_entry *entry, FILE *to)
{
    fprintf(to, "%" PRIu64, entry->id);
    for (uint32_t i = 0; i < entry->labels; i++) {
        char text[32];
        float label = self->labels[entry->label + i];
        snprintf(text, sizeof text, "%.6g", (double)label);
        if (strtof(text, NULL) != label)
            snprintf(text, sizeof text, "%.9g", (double)label);
        fprintf(to, "\t%s", text);
    }
    fprintf(to, "\t%s\n", image_list_path(self, entry));
}

lx_status image_list_write(const image_list *self, size_t first, size_t count, const char *path,
                           lx_error *error)
{
    atomic_write output;
    lx_status status = atomic_write_begin(&output, path, error);
    int copy = status == LX_OK ? dup(output.file) : -1;
    FILE *to = copy != -1 ? fdopen(copy, "w") : NULL;
    if (status == LX_OK && to == NULL)
        status = lx_fail_errno(error, errno, path, "cannot write the list");
    for (size_t i = first; status == LX_OK && i < first + count; i++)
        write_entry(self, &self->entries[i], to);
    if (to != NULL) {
        bool failed = ferror(to) != 0;
        if ((fclose(to) != 0 || failed) && status == LX_OK)
            status = lx_fail_errno(error, errno, path, "cannot write the list");
    } else if (copy != -1) {
        close(copy);
    }
    if (status == LX_OK)
        status = atomic_write_finish(&output, error);
    atomic_write_end(&output);
    return status;
}
