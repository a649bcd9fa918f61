/* SPDX-License-Identifier: MIT */
/* Records that leave the library as Arrow arrays. */
#include <errno.h>

#include "../arrows.h"
#include "../harm.h"

/** Opens a stream; NULL: all records. */
static struct ArrowArrayStream open_stream(lx_dataset *dataset, const uint64_t *indices,
                                           uint64_t count, uint64_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    struct ArrowArrayStream stream;
    unit_ok(lx_dataset_to_arrow(dataset, NULL, 0, indices, count, bytes, &stream, &error));
    return stream;
}

/** Appends everything in the stream to a new dataset "copy", and returns the number of arrays. */
static int copy_stream(struct ArrowArrayStream *stream)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    struct ArrowSchema columns;
    int count = 0;
    ck_assert_int_eq(stream->get_schema(stream, &columns), 0);
    unit_ok(lx_schema_add_arrow(schema, &columns, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("copy", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (;; count++) {
        struct ArrowArray rows;
        ck_assert_int_eq(stream->get_next(stream, &rows), 0);
        if (rows.release == NULL)
            break;
        unit_ok(lx_writer_append_arrow(writer, &columns, &rows, NULL, &error));
        rows.release(&rows);
        ck_assert_ptr_null(rows.release);
    }
    columns.release(&columns);
    ck_assert_ptr_null(columns.release);
    stream->release(stream);
    ck_assert_ptr_null(stream->release);
    close_writer(writer);
    return count;
}

START_TEST(exports_what_was_appended)
{
    static const uint64_t sizes[] = {LX_NONE, 0, 2000, 1 << 20};
    char *scratch = scratch_make();
    records_make("d", 150, 60);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        lx_dataset *dataset = open_dataset("d");
        struct ArrowArrayStream stream = open_stream(dataset, NULL, LX_NONE, sizes[k]);
        lx_dataset_close(dataset); /* the stream does not need it */
        int arrays = copy_stream(&stream);
        if (sizes[k] == LX_NONE || sizes[k] == 1 << 20)
            ck_assert_int_eq(arrays, 1);
        else
            ck_assert_int_ge(arrays, sizes[k] == 0 ? 210 : 10);
        expect_dataset("copy", 210);
        lx_error error = LX_ERROR_INIT;
        unit_ok(lx_dataset_remove("copy", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(exports_chosen_records_and_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 10);
    lx_dataset *dataset = open_dataset("d");
    uint64_t indices[] = {29, 3, 3};
    size_t fields[] = {BLOB, LABEL};
    struct ArrowArrayStream stream;
    unit_ok(lx_dataset_to_arrow(dataset, fields, 2, indices, 3, LX_NONE, &stream, &error));
    memset(indices, 0xff, sizeof indices);
    memset(fields, 0xff, sizeof fields); /* both are copies */
    struct ArrowSchema schema;
    struct ArrowArray array;
    ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
    ck_assert_str_eq(schema.format, "+s");
    ck_assert_int_eq(schema.n_children, 2);
    ck_assert_str_eq(schema.children[0]->name, "blob");
    ck_assert_str_eq(schema.children[0]->format, "Z");
    ck_assert_str_eq(schema.children[1]->format, "l");
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    ck_assert_int_eq(array.length, 3);
    const int64_t *labels = array.children[1]->buffers[1];
    uint8_t right[VALUE_MAX];
    ck_assert_uint_eq(record_value(LABEL, 29, right), 8);
    ck_assert_mem_eq(&labels[0], right, 8);
    ck_assert_int_eq(labels[1], labels[2]);
    ck_assert_int_eq(array.children[1]->null_count, 0);
    ck_assert_ptr_null(array.children[1]->buffers[0]);
    ck_assert_uint_eq((uintptr_t)labels % 64, 0);

    struct ArrowArray moved = *array.children[1]; /* a consumer may keep one column */
    array.children[1]->release = NULL;
    array.release(&array);
    ck_assert_mem_eq(moved.buffers[1], right, 8);
    moved.release(&moved);
    struct ArrowSchema moved_schema = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    ck_assert_str_eq(moved_schema.name, "blob");
    moved_schema.release(&moved_schema);
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    ck_assert_ptr_null(array.release);
    stream.release(&stream);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(exports_bits)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t shape[] = {3};
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "f", LX_BOOL, shape, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    static const uint8_t data[] = {1, 0, 1, 0, 0, 0, 1, 1, 0}, present[] = {1, 0, 1};
    const lx_values column = {data, NULL, present};
    unit_ok(lx_writer_extend(writer, 3, &column, 1, NULL, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    struct ArrowArrayStream stream = open_stream(dataset, NULL, LX_NONE, LX_NONE);
    struct ArrowArray array;
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    const struct ArrowArray *list = array.children[0], *bits = list->children[0];
    ck_assert_int_eq(list->length, 3);
    ck_assert_int_eq(list->null_count, 1);
    ck_assert_uint_eq(*(const uint8_t *)list->buffers[0], 0x05);
    ck_assert_int_eq(bits->length, 9);
    ck_assert_uint_eq(((const uint8_t *)bits->buffers[1])[0], 0xc5);
    ck_assert_uint_eq(((const uint8_t *)bits->buffers[1])[1], 0x00);
    array.release(&array);
    stream.release(&stream);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_empty_stream_has_one_array)
{
    char *scratch = scratch_make();
    records_make("d", 5, 0);
    lx_dataset *dataset = open_dataset("d");
    for (int all = 0; all < 2; all++) {
        struct ArrowArrayStream stream = open_stream(dataset, NULL, 0, all ? LX_NONE : 100);
        struct ArrowArray array;
        ck_assert_int_eq(stream.get_next(&stream, &array), 0);
        ck_assert_ptr_nonnull(array.release);
        ck_assert_int_eq(array.length, 0);
        ck_assert_int_eq(array.n_children, FIELDS);
        array.release(&array);
        ck_assert_int_eq(stream.get_next(&stream, &array), 0);
        ck_assert_ptr_null(array.release);
        stream.release(&stream);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_the_snapshot_of_the_call)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 0);
    lx_dataset_options *options = lx_dataset_options_new();
    lx_dataset *dataset;
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    lx_dataset_options_free(options);
    struct ArrowArrayStream stream = open_stream(dataset, NULL, LX_NONE, 0);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 7);
    close_writer(writer);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 17);
    lx_dataset_close(dataset);
    ck_assert_int_eq(copy_stream(&stream), 10);
    expect_dataset("copy", 10);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 0);
    harm_entry("d", "image", 7, &harms[0]);
    lx_dataset *dataset = open_dataset("d");
    struct ArrowArrayStream stream = open_stream(dataset, NULL, LX_NONE, LX_NONE);
    struct ArrowArray array;
    ck_assert_int_eq(stream.get_next(&stream, &array), EIO);
    ck_assert_ptr_null(array.release);
    const char *said = stream.get_last_error(&stream);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "field 'image', record 7"));
    struct ArrowSchema schema;
    ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
    ck_assert_ptr_null(stream.get_last_error(&stream));
    schema.release(&schema);
    stream.release(&stream);
    lx_dataset_close(dataset);

    lx_dataset_options *options = lx_dataset_options_new(); /* as missing */
    unit_ok(lx_dataset_options_set_damage_policy(options, LX_DAMAGE_ZEROS, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    lx_dataset_options_free(options);
    stream = open_stream(dataset, NULL, LX_NONE, LX_NONE);
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    ck_assert_int_eq(array.children[IMAGE]->null_count, 2); /* record 6 is missing anyway */
    ck_assert_uint_eq(*(const uint8_t *)array.children[IMAGE]->buffers[0], 0x3f);
    array.release(&array);
    stream.release(&stream);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_invalid_arguments)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 0);
    lx_dataset *dataset = open_dataset("d");
    struct ArrowArrayStream stream;
    const uint64_t index = 5;
    const size_t field = FIELDS;
    unit_fails(lx_dataset_to_arrow(dataset, NULL, 0, &index, 1, 0, &stream, &error), LX_ERR_RANGE);
    unit_fails(lx_dataset_to_arrow(dataset, NULL, 0, NULL, 6, 0, &stream, &error), LX_ERR_RANGE);
    unit_fails(lx_dataset_to_arrow(dataset, &field, 1, NULL, 1, 0, &stream, &error),
               LX_ERR_ARGUMENT);
    ck_assert_ptr_null(stream.release);
    unit_refuses_null(lx_dataset_to_arrow(NULL, NULL, 0, NULL, 0, 0, &stream, &error), "dataset");
    unit_refuses_null(lx_dataset_to_arrow(dataset, NULL, 0, NULL, 0, 0, NULL, &error), "stream");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_numbers_that_arrow_lacks)
{
    static const lx_dtype dtypes[] = {LX_COMPLEX64, LX_BFLOAT16, LX_FLOAT8_E5M2, LX_FLOAT8_E8M0FNU};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        char *scratch = scratch_make();
        char said[64];
        lx_error error = LX_ERROR_INIT;
        struct ArrowArrayStream stream;
        close_writer(arrows_writer(dtypes[k], NULL, 0));
        lx_dataset *dataset = open_dataset("d");
        lx_status status = lx_dataset_to_arrow(dataset, NULL, 0, NULL, 0, 0, &stream, &error);
        ck_assert_str_eq(error.field, "f");
        snprintf(said, sizeof said, "no type for %s", lx_dtype_get_name(dtypes[k]));
        expect_error(status, LX_ERR_UNSUPPORTED, said, "d");
        lx_dataset_close(dataset);
        scratch_remove(scratch);
    }
}
END_TEST

/** Creates a dataset of @p count values of a field "f", and opens a stream of all of them. */
static struct ArrowArrayStream stream_of(lx_dtype dtype, const uint64_t *shape, size_t ndim,
                                         const lx_values *column, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = arrows_writer(dtype, shape, ndim);
    unit_ok(lx_writer_extend(writer, count, column, 1, NULL, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    struct ArrowArrayStream stream = open_stream(dataset, NULL, LX_NONE, LX_NONE);
    lx_dataset_close(dataset);
    return stream;
}

START_TEST(exports_ragged_fields_as_lists)
{
    static const uint64_t shape[] = {LX_NONE, 2}, offsets[] = {0, 12, 12, 12, 16};
    static const uint8_t present[] = {1, 1, 0, 1};
    static const int16_t items[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const lx_values column = {items, offsets, present};
    char *scratch = scratch_make();
    struct ArrowArrayStream stream = stream_of(LX_INT16, shape, 2, &column, 4);
    struct ArrowSchema schema;
    struct ArrowArray array;
    ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
    ck_assert_str_eq(schema.children[0]->format, "+L");
    ck_assert_str_eq(schema.children[0]->children[0]->format, "+w:2");
    ck_assert_str_eq(schema.children[0]->children[0]->children[0]->format, "s");
    schema.release(&schema);
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    const struct ArrowArray *list = array.children[0], *pairs = list->children[0];
    ck_assert_int_eq(list->null_count, 1);
    ck_assert_uint_eq(*(const uint8_t *)list->buffers[0], 0x0b);
    ck_assert_mem_eq(list->buffers[1], ((const int64_t[]){0, 3, 3, 3, 4}), 40);
    ck_assert_int_eq(pairs->length, 4);
    ck_assert_int_eq(pairs->children[0]->length, 8);
    ck_assert_mem_eq(pairs->children[0]->buffers[1], items, sizeof items);
    array.release(&array);
    ck_assert_int_eq(copy_stream(&stream), 0); /* which has ended, but has a type */
    lx_dataset *copy = open_dataset("copy");
    const lx_field *field = lx_schema_get_field(lx_dataset_get_schema(copy), 0);
    ck_assert_int_eq(field->dtype, LX_INT16);
    ck_assert_uint_eq(field->ndim, 2);
    ck_assert_mem_eq(field->shape, shape, sizeof shape);
    lx_dataset_close(copy);
    scratch_remove(scratch);
}
END_TEST

START_TEST(exports_ragged_bits)
{
    static const uint64_t shape[] = {LX_NONE}, offsets[] = {0, 0, 9};
    static const uint8_t flags[] = {1, 0, 1, 0, 0, 0, 1, 1, 1};
    const lx_values column = {flags, offsets, NULL};
    char *scratch = scratch_make();
    struct ArrowArrayStream stream = stream_of(LX_BOOL, shape, 1, &column, 2);
    struct ArrowArray array;
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    const struct ArrowArray *bits = array.children[0]->children[0];
    ck_assert_int_eq(bits->length, 9);
    ck_assert_uint_eq(((const uint8_t *)bits->buffers[1])[0], 0xc5);
    ck_assert_uint_eq(((const uint8_t *)bits->buffers[1])[1], 0x01);
    array.release(&array);
    stream.release(&stream);
    scratch_remove(scratch);
}
END_TEST

START_TEST(exports_times)
{
    static const int64_t times[] = {5, INT64_MIN, -1, 7};
    static const uint8_t present[] = {1, 1, 1, 0};
    static const struct {
        lx_dtype dtype;
        const char *format;
    } types[] = {{LX_DATETIME64_D, "tdD"},
                 {LX_DATETIME64_S, "tss:"},
                 {LX_DATETIME64_MS, "tsm:"},
                 {LX_DATETIME64_US, "tsu:"},
                 {LX_DATETIME64_NS, "tsn:"}};
    const lx_values column = {times, NULL, present};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        char *scratch = scratch_make();
        struct ArrowArrayStream stream = stream_of(types[k].dtype, NULL, 0, &column, 4);
        struct ArrowSchema schema;
        struct ArrowArray array;
        ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
        ck_assert_str_eq(schema.children[0]->format, types[k].format);
        schema.release(&schema);
        ck_assert_int_eq(stream.get_next(&stream, &array), 0);
        const struct ArrowArray *got = array.children[0];
        ck_assert_int_eq(got->null_count, 2); /* NaT, too */
        ck_assert_uint_eq(*(const uint8_t *)got->buffers[0], 0x05);
        const int32_t *days = got->buffers[1];
        const int64_t *moments = got->buffers[1];
        ck_assert_int_eq(k == 0 ? days[0] : moments[0], 5);
        ck_assert_int_eq(k == 0 ? days[2] : moments[2], -1);
        array.release(&array);
        stream.release(&stream);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(exports_arrays_of_times)
{
    static const uint64_t shape[] = {2};
    static const int64_t days[] = {5, INT64_MIN, -1, 7}, far[] = {0, INT32_MAX + 1ll};
    const lx_values column = {days, NULL, NULL}, later = {far, NULL, NULL};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct ArrowArrayStream stream = stream_of(LX_DATETIME64_D, shape, 1, &column, 2);
    struct ArrowArray array;
    ck_assert_int_eq(stream.get_next(&stream, &array), 0);
    const struct ArrowArray *list = array.children[0], *got = list->children[0];
    ck_assert_int_eq(list->null_count, 0);
    ck_assert_int_eq(got->null_count, 1);
    ck_assert_uint_eq(*(const uint8_t *)got->buffers[0], 0x0d);
    ck_assert_int_eq(((const int32_t *)got->buffers[1])[3], 7);
    array.release(&array);
    stream.release(&stream);
    unit_ok(lx_dataset_remove("d", &error));
    stream = stream_of(LX_DATETIME64_D, shape, 1, &later, 1);
    ck_assert_int_eq(stream.get_next(&stream, &array), EINVAL);
    ck_assert_ptr_nonnull(strstr(stream.get_last_error(&stream), "field 'f'"));
    ck_assert_ptr_nonnull(strstr(stream.get_last_error(&stream), "day 2147483648"));
    stream.release(&stream);
    scratch_remove(scratch);
}
END_TEST

START_TEST(exports_texts)
{
    static const lx_dtype dtypes[] = {LX_STR, LX_JSON, LX_IMAGE};
    static const char *const texts[] = {"121", "121", "GIF87aGIF89a"};
    static const uint64_t ends[][3] = {{0, 2, 3}, {0, 2, 3}, {0, 6, 12}};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        const uint64_t *offsets = ends[k];
        const lx_values column = {texts[k], offsets, NULL};
        char *scratch = scratch_make();
        struct ArrowArrayStream stream = stream_of(dtypes[k], NULL, 0, &column, 2);
        struct ArrowSchema schema;
        struct ArrowArray array;
        ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
        ck_assert_str_eq(schema.children[0]->format, dtypes[k] == LX_IMAGE ? "Z" : "U");
        schema.release(&schema);
        ck_assert_int_eq(stream.get_next(&stream, &array), 0);
        ck_assert_mem_eq(array.children[0]->buffers[1], offsets, sizeof ends[k]);
        ck_assert_mem_eq(array.children[0]->buffers[2], texts[k], offsets[2]);
        array.release(&array);
        stream.release(&stream);
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("zrecord/read/arrow-export", exports_what_was_appended, exports_chosen_records_and_fields,
          exports_bits, an_empty_stream_has_one_array, reads_the_snapshot_of_the_call,
          reports_damage, refuses_invalid_arguments, refuses_numbers_that_arrow_lacks,
          exports_ragged_fields_as_lists, exports_ragged_bits, exports_times,
          exports_arrays_of_times, exports_texts)
