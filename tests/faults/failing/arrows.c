/* SPDX-License-Identifier: MIT */
#include "arrows.h"

#include <errno.h>

/** A column; an image is a list of lists of bytes. */
struct column {
    struct ArrowSchema schemas[3], *schema_children[3];
    struct ArrowArray arrays[3], *array_children[3];
    const void *buffers[3][3];
    uint8_t *valid;
};

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

/** Makes part @p depth of a column: the column itself, or what its lists contain. */
static void fill(struct column *column, size_t depth, const char *format, int64_t length,
                 int64_t buffers)
{
    column->schemas[depth] = (struct ArrowSchema){.format = format,
                                                  .name = "",
                                                  .children = &column->schema_children[depth],
                                                  .release = keep_schema};
    column->arrays[depth] = (struct ArrowArray){.length = length,
                                                .null_count = -1,
                                                .n_buffers = buffers,
                                                .buffers = column->buffers[depth],
                                                .children = &column->array_children[depth],
                                                .release = keep_array};
    if (depth == 0)
        return;
    column->schemas[depth - 1].n_children = column->arrays[depth - 1].n_children = 1;
    column->schema_children[depth - 1] = &column->schemas[depth];
    column->array_children[depth - 1] = &column->arrays[depth];
}

static void make_column(struct column *column, const struct plain_column *about,
                        const lx_values *values, uint64_t count)
{
    int64_t rows = (int64_t)count;
    memset(column, 0, sizeof *column);
    column->valid = need(calloc((size_t)count / 8 + 1, 1));
    for (uint64_t i = 0; i < count; i++)
        column->valid[i / 8] |= (uint8_t)((values->present[i] != 0) << (i % 8));
    column->buffers[0][0] = column->valid;
    if (about->kind == PLAIN_IMAGE) {
        fill(column, 0, "+w:3", rows, 1);
        fill(column, 1, "+w:4", 3 * rows, 1);
        fill(column, 2, "C", 12 * rows, 2);
        column->buffers[2][1] = values->data;
    } else if (about->kind == PLAIN_LABEL) {
        fill(column, 0, "l", rows, 2);
        column->buffers[0][1] = values->data;
    } else {
        fill(column, 0, "Z", rows, 3);
        column->buffers[0][1] = values->offsets;
        column->buffers[0][2] = values->data;
    }
    column->schemas[0].name = about->name;
}

bool arrows_append(struct run *run, lx_writer *writer, uint64_t count)
{
    const struct plain *plain = &run->pending;
    lx_values values[PLAIN_COLUMNS];
    struct column columns[PLAIN_COLUMNS];
    struct ArrowSchema *schemas[PLAIN_COLUMNS];
    struct ArrowArray *arrays[PLAIN_COLUMNS];
    const void *no_bitmap = NULL;
    uint64_t first = plain->count - count, index;
    plain_columns(plain, first, count, values);
    for (size_t i = 0; i < plain->column_count; i++) {
        make_column(&columns[i], &plain->columns[i], &values[i], count);
        schemas[i] = &columns[i].schemas[0];
        arrays[i] = &columns[i].arrays[0];
    }
    const struct ArrowSchema schema = {.format = "+s",
                                       .n_children = (int64_t)plain->column_count,
                                       .children = schemas,
                                       .release = keep_schema};
    const struct ArrowArray array = {.length = (int64_t)count,
                                     .n_buffers = 1,
                                     .n_children = schema.n_children,
                                     .buffers = &no_bitmap,
                                     .children = arrays,
                                     .release = keep_array};
    bool done = TRY(run, lx_writer_append_arrow(writer, &schema, &array, &index, &run->error));
    if (done && index != first)
        run_fail(run, "append_arrow gave index %llu", (unsigned long long)index);
    for (size_t i = 0; i < plain->column_count; i++)
        free(columns[i].valid);
    plain_columns_free(plain, values);
    return done;
}

/** The status for what a function of a stream returned. */
static lx_status status_of(struct run *run, int errnum)
{
    if (errnum == 0)
        return LX_OK;
    return errnum == ENOMEM ? lx_fail(&run->error, LX_ERR_NOMEM, "the stream failed")
                            : lx_fail_errno(&run->error, run->fault.errnum, NULL,
                                            "the stream failed with errno %d", errnum);
}

static void check_labels(struct run *run, const struct ArrowArray *rows, uint64_t first)
{
    const struct ArrowArray *labels = rows->children[PLAIN_LABEL];
    const uint8_t *valid = labels->buffers[0];
    for (uint64_t i = 0; i < (uint64_t)labels->length; i++) {
        uint8_t memory[PLAIN_VALUE];
        lx_value right = plain_value(PLAIN_LABEL,
                                     run->pending.records[first + i].tokens[PLAIN_LABEL], memory);
        bool present = valid == NULL || (valid[i / 8] >> (i % 8) & 1) != 0;
        if (present ? right.size != 8 || memcmp((const int64_t *)labels->buffers[1] + i, memory, 8)
                    : right.size != LX_NONE)
            run_fail(run, "label %llu is wrong in Arrow", (unsigned long long)(first + i));
    }
}

/** Reads the arrays of a stream. */
static void read_rows(struct run *run, struct ArrowArrayStream *stream)
{
    struct ArrowArray rows;
    uint64_t first = 0;
    while (TRY(run, status_of(run, stream->get_next(stream, &rows))) && rows.release != NULL) {
        check_labels(run, &rows, first);
        first += (uint64_t)rows.length;
        rows.release(&rows);
    }
}

void arrows_read(struct run *run, lx_dataset *dataset)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema columns;
    lx_schema *schema = NULL;
    if (!TRY(run, lx_dataset_to_arrow(dataset, NULL, 0, NULL, LX_NONE, 8000, &stream, &run->error)))
        return;
    if (TRY(run, status_of(run, stream.get_schema(&stream, &columns)))) {
        if (TRY_NEW(run, schema, lx_schema_new()))
            TRY(run, lx_schema_add_arrow(schema, &columns, LX_COMPRESSION_RAW, &run->error));
        lx_schema_free(schema);
        columns.release(&columns);
    }
    read_rows(run, &stream);
    stream.release(&stream);
}
