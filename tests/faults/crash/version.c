/* SPDX-License-Identifier: MIT */
#include "version.h"

#include "content.h"

void version_free(struct version *version)
{
    free(version->cells);
    *version = (struct version){0};
}

/** Reserves space for @p length records of @p fields fields. */
static void reserve(struct version *version, uint64_t length, size_t fields)
{
    size_t cells = (size_t)length * fields + 1;
    version->cells = need(realloc(version->cells, cells * sizeof *version->cells));
}

void version_set(struct version *version, const struct version *from)
{
    size_t cells = (size_t)from->length * from->columns.count;
    reserve(version, from->length, from->columns.count);
    if (cells != 0)
        memcpy(version->cells, from->cells, cells * sizeof *from->cells);
    version->columns = from->columns;
    version->length = from->length;
    version->digest = from->digest;
}

bool version_equals(const struct version *left, const struct version *right)
{
    const struct columns *a = &left->columns, *b = &right->columns;
    size_t cells = (size_t)left->length * a->count;
    if (left->length != right->length || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].kind != b->list[i].kind || a->list[i].name != b->list[i].name)
            return false;
    return cells == 0 || memcmp(left->cells, right->cells, cells * sizeof *left->cells) == 0;
}

uint64_t version_digest(struct version *version, struct records *records)
{
    if (version->digest == 0)
        version->digest = content_digest_of(version, records);
    return version->digest;
}

/* ---- operations on a version */

static uint32_t *cell(struct version *version, uint64_t index, size_t field)
{
    return &version->cells[(size_t)index * version->columns.count + field];
}

static void append(struct version *version, const struct operation *operation)
{
    size_t fields = version->columns.count;
    reserve(version, version->length + operation->count, fields);
    for (uint64_t i = 0; i < operation->count; i++) {
        version->length++;
        for (size_t field = 0; field < fields; field++)
            *cell(version, version->length - 1, field) = (uint32_t)(operation->first + i);
    }
}

static void modify(struct version *version, const struct operation *operation)
{
    for (uint64_t i = 0; i < operation->count; i++) {
        uint64_t index = operation_index(operation, i, version->length);
        for (size_t field = 0; field < version->columns.count; field++)
            if (operation->fields >> field & 1)
                *cell(version, index, field) = (uint32_t)(operation->first + i);
    }
}

static void move_last(struct version *version, uint64_t index)
{
    version->length--;
    for (size_t field = 0; field < version->columns.count; field++)
        *cell(version, index, field) = *cell(version, version->length, field);
}

/** The column of that name, or the number of columns. */
static size_t find(const struct columns *columns, struct column wanted)
{
    size_t i = 0;
    while (i < columns->count &&
           (columns->list[i].kind != wanted.kind || columns->list[i].name != wanted.name))
        i++;
    return i;
}

static void copy(struct version *version, const struct operation *operation,
                 const struct version *from)
{
    size_t fields = version->columns.count;
    reserve(version, version->length + operation->count, fields);
    for (uint64_t i = 0; i < operation->count; i++) {
        uint64_t index = operation_index(operation, i, from->length);
        version->length++;
        for (size_t field = 0; field < fields; field++) {
            size_t other = find(&from->columns, version->columns.list[field]);
            const size_t width = from->columns.count;
            *cell(version, version->length - 1, field) =
                other == width ? RECORDS_MISSING : from->cells[(size_t)index * width + other];
        }
    }
}

/** Gives the version other columns; one without an origin has the serial @p added in each record.
 */
static void set_columns(struct version *version, const struct columns *columns, uint32_t added)
{
    struct version old = *version;
    *version = (struct version){.columns = *columns, .length = old.length};
    reserve(version, old.length, columns->count);
    for (size_t field = 0; field < columns->count; field++) {
        size_t other = find(&old.columns, columns->list[field]);
        for (uint64_t i = 0; i < old.length; i++)
            *cell(version, i, field) = other == old.columns.count ? added : *cell(&old, i, other);
    }
    free(old.cells);
}

static void change_columns(struct version *version, const struct operation *operation)
{
    struct columns columns = version->columns;
    size_t index = (size_t)operation->index;
    if (operation->kind == OPERATION_RENAME) {
        version->columns.list[index].name++;
        return;
    }
    if (operation->kind == OPERATION_ADD)
        columns.list[columns.count++] = (struct column){(uint8_t)index, 0};
    else
        for (columns.count--; index < columns.count; index++)
            columns.list[index] = columns.list[index + 1];
    set_columns(version, &columns,
                operation->count != 0 ? (uint32_t)operation->first : RECORDS_MISSING);
}

bool version_allows(const struct version *version, const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_MODIFY:
    case OPERATION_DELETE:
        return operation->index < version->length;
    case OPERATION_TRUNCATE:
        return operation->index <= version->length;
    default:
        return true;
    }
}

void version_apply(struct version *version, const struct operation *operation,
                   const struct version *from)
{
    if (operation->kind < OPERATION_CHECKPOINT)
        version->digest = 0;
    switch (operation->kind) {
    case OPERATION_APPEND:
        append(version, operation);
        break;
    case OPERATION_MODIFY:
        modify(version, operation);
        break;
    case OPERATION_DELETE:
        move_last(version, operation->index);
        break;
    case OPERATION_TRUNCATE:
        version->length = operation->index;
        break;
    case OPERATION_COPY:
        copy(version, operation, from);
        break;
    case OPERATION_ADD:
    case OPERATION_DROP:
    case OPERATION_RENAME:
        change_columns(version, operation);
        break;
    default:
        break;
    }
}
