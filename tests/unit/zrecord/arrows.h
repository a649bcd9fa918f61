/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Arrow tables made by hand, on the stack, and what a dataset makes of them.
 */
#ifndef LX_TESTS_ARROWS_H
#define LX_TESTS_ARROWS_H

#include "records.h"

#define ARROWS_COLUMNS 4
#define ARROWS_DEPTH 4
#define ARROWS_BUFFERS 5

/** A type and an array; children are the next nodes of a column. */
struct arrows_node {
    struct ArrowSchema schema, *schema_child, *part_schemas[2];
    struct ArrowArray array, *array_child, *part_arrays[2];
    const void *buffers[ARROWS_BUFFERS];
};

struct arrows {
    struct ArrowSchema schema, *schemas[ARROWS_COLUMNS];
    struct ArrowArray array, *arrays[ARROWS_COLUMNS];
    const void *buffers[1];
    struct arrows_node nodes[ARROWS_COLUMNS][ARROWS_DEPTH];
};

/* Borrowed structs are never released by the library. */
static inline void arrows_release_schema(struct ArrowSchema *schema)
{
    (void)schema;
    ck_abort_msg("a borrowed schema was released");
}

static inline void arrows_release_array(struct ArrowArray *array)
{
    (void)array;
    ck_abort_msg("a borrowed array was released");
}

static inline void arrows_init(struct arrows *t, int64_t rows)
{
    memset(t, 0, sizeof *t);
    t->schema.format = "+s";
    t->schema.children = t->schemas;
    t->schema.release = arrows_release_schema;
    t->array.length = rows;
    t->array.n_buffers = 1;
    t->array.buffers = t->buffers;
    t->array.children = t->arrays;
    t->array.release = arrows_release_array;
}

/** Adds a column of as many values as the table has rows, or the child of the last node of the last
 * column, of @p length values. */
static inline struct arrows_node *arrows_fill(struct arrows_node *node, const char *name,
                                              const char *format, int64_t length, int buffers,
                                              const void *const *from)
{
    node->schema.format = format;
    node->schema.name = name;
    node->schema.children = &node->schema_child;
    node->schema.release = arrows_release_schema;
    node->array.length = length;
    node->array.null_count = -1;
    node->array.n_buffers = buffers;
    node->array.buffers = node->buffers;
    node->array.children = &node->array_child;
    node->array.release = arrows_release_array;
    for (int i = 0; i < buffers; i++)
        node->buffers[i] = from[i];
    return node;
}

#define arrows_add(t, name, format, ...)                                                           \
    arrows_add_column(t, name, format, (const void *const[]){__VA_ARGS__},                         \
                      (int)(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)))

static inline struct arrows_node *arrows_add_column(struct arrows *t, const char *name,
                                                    const char *format, const void *const *buffers,
                                                    int count)
{
    int64_t column = t->schema.n_children++;
    struct arrows_node *node = t->nodes[column];
    t->array.n_children++;
    t->schemas[column] = &node->schema;
    t->arrays[column] = &node->array;
    return arrows_fill(node, name, format, t->array.length, count, buffers);
}

/** Adds the child of a list. */
static inline struct arrows_node *arrows_child(struct arrows_node *parent, const char *format,
                                               int64_t length, const void *valid, const void *data)
{
    struct arrows_node *node = parent + 1;
    const void *const buffers[] = {valid, data};
    parent->schema.n_children = parent->array.n_children = 1;
    parent->schema_child = &node->schema;
    parent->array_child = &node->array;
    return arrows_fill(node, "item", format, length, format[0] == '+' ? 1 : 2, buffers);
}

/** Makes the column one of structs of bytes and paths; returns it. */
static inline struct arrows_node *arrows_file(struct arrows_node *column, struct arrows_node *bytes,
                                              struct arrows_node *path)
{
    struct arrows_node *parts[] = {bytes, path};
    for (size_t i = 0; i < 2; i++) {
        column->part_schemas[i] = &parts[i]->schema;
        column->part_arrays[i] = &parts[i]->array;
    }
    column->schema.children = column->part_schemas;
    column->array.children = column->part_arrays;
    column->schema.n_children = column->array.n_children = 2;
    return column;
}

/** Makes the column a dictionary-encoded one: its array has the indices. */
static inline struct arrows_node *arrows_dictionary(struct arrows_node *column, const char *format,
                                                    int64_t length, int buffers,
                                                    const void *const *from)
{
    struct arrows_node *node = column + 1;
    column->schema.dictionary = &node->schema;
    column->array.dictionary = &node->array;
    return arrows_fill(node, "", format, length, buffers, from);
}

/** Creates a dataset at "d" with a field "f"; the call takes one extent, or -1. */
static inline lx_writer *arrows_writer(lx_dtype dtype, const uint64_t *shape, size_t ndim)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "f", dtype, shape, ndim, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    return writer;
}

/** Appends the table and closes the writer; the values of field 0 must be those of @p right, of
 * @p size bytes each; NULL: missing. */
static inline void arrows_expect(lx_writer *writer, const struct arrows *t,
                                 const void *const *right, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first = LX_NONE;
    unit_ok(lx_writer_append_arrow(writer, &t->schema, &t->array, &first, &error));
    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(lx_writer_get_length(writer), (uint64_t)t->array.length);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    for (int64_t i = 0; i < t->array.length; i++) {
        uint8_t value[VALUE_MAX];
        uint64_t got;
        bool there;
        unit_ok(read_value(dataset, 0, (uint64_t)i, value, &got, &there, &error));
        ck_assert_msg(there == (right[i] != NULL), "row %d: is it there?", (int)i);
        if (!there)
            continue;
        size_t wanted = size != 0 ? size : strlen(right[i]);
        ck_assert_uint_eq(got, wanted);
        ck_assert_msg(memcmp(value, right[i], wanted) == 0, "row %d is wrong", (int)i);
    }
    lx_dataset_close(dataset);
}

/** Appending the table must fail, and append nothing. @p said is in the message. */
#define arrows_refused(writer, t, expected, said, where)                                           \
    do {                                                                                           \
        lx_error refused = LX_ERROR_INIT;                                                          \
        lx_status got_ = lx_writer_append_arrow(writer, &(t)->schema, &(t)->array, NULL,           \
                                                &refused);                                         \
        ck_assert_msg(got_ == (expected), "%s instead of %s: %s", lx_status_get_name(got_),        \
                      lx_status_get_name(expected), refused.message);                              \
        ck_assert_msg(strstr(refused.message, said) != NULL, "'%s' is not in: %s", said,           \
                      refused.message);                                                            \
        ck_assert_str_eq(refused.field, where);                                                    \
        ck_assert_uint_eq(lx_writer_get_length(writer), 0);                                        \
    } while (0)

#endif
