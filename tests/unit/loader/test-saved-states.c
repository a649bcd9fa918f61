/* SPDX-License-Identifier: MIT */
/* Saved states of loaders of version 1, which every release must read. */
#include <loaderx/parity/megatron.h>
#include <loaderx/packing.h>
#include <loaderx/recordio.h>
#include <loaderx/tokens.h>

#include <sys/stat.h>

#include "../sampler/saved-states.h"
#include "../scratch.h"
#include "../zrecord/goldens.h"
#include "../../new-sources.h"
#include "parity/megatron-options.h"
#include "loaders.h"
#include "npy-file.h"
#include "base/bytes.h"
#include "recordio/record.h"

#define SOURCES_MAX 8
#define FIELDS_MAX 8

/** The sources of one state, made from their descriptions, in the present directory. */
struct sources {
    struct numbers numbers[SOURCES_MAX];
    size_t count;
};

static const char *word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/** A source of callbacks, with the columns label and image. */
static lx_source *own_of(struct sources *sources, const json_t *description)
{
    ck_assert_uint_lt(sources->count, SOURCES_MAX);
    const json_t *image = json_array_get(json_object_get(description, "columns"), 1);
    size_t ndim;
    uint64_t *shape = numbers_of(json_object_get(image, "shape"), &ndim);
    struct numbers *numbers = &sources->numbers[sources->count++];
    *numbers = (struct numbers){.length = number_of(description, "length"),
                                .width = shape[0],
                                .identity = word(description, "identity")};
    free(shape);
    return numbers_source(numbers);
}

/** A file of one column, as .npy or without a header. */
static lx_source *array_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    const json_t *column = json_array_get(json_object_get(description, "columns"), 0);
    size_t ndim;
    uint64_t *shape = numbers_of(json_object_get(column, "shape"), &ndim);
    uint64_t length = number_of(description, "length"), items = length;
    lx_column_info info = {.name = word(column, "name"), .ndim = ndim, .shape = shape};
    unit_ok(lx_dtype_parse(word(column, "dtype"), &info.dtype, &error));
    size_t size = lx_dtype_get_size(info.dtype);
    char header[256];
    int used = snprintf(header, sizeof header,
                        "{'descr': '<%c%zu', 'fortran_order': False, 'shape': (%d,",
                        word(column, "dtype")[0], size, (int)length);
    for (size_t i = 0; i < ndim; i++) {
        items *= shape[i];
        used += snprintf(header + used, sizeof header - (size_t)used, "%d,", (int)shape[i]);
    }
    snprintf(header + used, sizeof header - (size_t)used, ")}");
    size_t start = write_npy("array.npy", 1, header, items * size);
    if (strcmp(word(description, "kind"), "npy") == 0)
        unit_ok(lx_source_open("array.npy", NULL, &source, &error));
    else
        unit_ok(lx_source_open_flat("array.npy", &info, start, &source, &error));
    free(shape);
    ck_assert_int_eq(remove("array.npy"), 0);
    return source;
}

/** Files of one byte. */
static lx_source *files_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    const json_t *list = json_object_get(description, "file_names");
    const char *names[32];
    size_t count = json_array_size(list);
    ck_assert_uint_le(count, 32);
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_array_get(list, i));
        mkdir((char[]){names[i][0], '\0'}, 0700);
        write_bytes(names[i], "", 1);
    }
    const lx_column_info info = {.name = "image", .dtype = LX_IMAGE};
    unit_ok(lx_source_open_files(".", names, count, &info, &source, &error));
    return source;
}

/** A RecordIO file of records of equal length, which are zero. */
static lx_source *records_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    lx_source *source;
    const uint8_t zeros[256] = {0};
    size_t count = (size_t)number_of(description, "length");
    size_t size = (size_t)number_of(description, "bytes") / count - LX__RECORDIO_HEAD;
    ck_assert_uint_le(size, sizeof zeros);
    unit_ok(lx_recordio_writer_create("a.rec", NULL, false, &writer, &error));
    for (size_t i = 0; i < count; i++)
        unit_ok(lx_recordio_writer_write(writer, NULL, zeros, size, &error));
    unit_ok(lx_recordio_writer_close(writer, &error));
    unit_ok(lx_source_open_recordio("a.rec", NULL, (uint32_t)number_of(description, "label_width"),
                                    NULL, NULL, &source, &error));
    return source;
}

/** One of the datasets of tests/data. */
static lx_source *dataset_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    golden_copy(word(description, "dataset"));
    unit_ok(lx_source_open(word(description, "dataset"), NULL, &source, &error));
    return source;
}

/** Tokens in a file, all zero. */
static lx_tokens *file_of(const json_t *description)
{
    lx_tokens *tokens;
    lx_error error = LX_ERROR_INIT;
    size_t count = (size_t)number_of(description, "tokens");
    lx_dtype dtype;
    unit_ok(lx_dtype_parse(word(description, "dtype"), &dtype, &error));
    uint8_t *zeros = calloc(count, lx_dtype_get_size(dtype));
    write_bytes("tokens", zeros, count * lx_dtype_get_size(dtype));
    free(zeros);
    unit_ok(lx_tokens_open("tokens", dtype, &tokens, &error));
    ck_assert_int_eq(remove("tokens"), 0);
    return tokens;
}

/** Tokens in a field of one of the datasets of tests/data. */
static lx_tokens *field_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_tokens *tokens;
    size_t position;
    golden_copy(word(description, "dataset"));
    unit_ok(lx_dataset_open(word(description, "dataset"), NULL, &dataset, &error));
    unit_ok(lx_schema_find_field(lx_dataset_get_schema(dataset), word(description, "column"),
                                 &position, &error));
    unit_ok(lx_tokens_new_field(dataset, position, LX_BYTES, &tokens, &error));
    lx_dataset_close(dataset);
    return tokens;
}

/** Samples of tokens. */
static lx_source *tokens_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_tokens *tokens = json_object_get(description, "dataset") != NULL ? field_of(description)
                                                                        : file_of(description);
    unit_ok(new_tokens(tokens, number_of(description, "sequence_length"), LX_INT32, 0, &source,
                       &error));
    lx_tokens_unref(tokens);
    return source;
}

/** Documents of tokens that are all zero. */
static lx_tokens *open_documents(const json_t *description, const char *key)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    size_t count;
    uint64_t end = 0, *ends = numbers_of(json_object_get(description, key), &count);
    lx_dtype dtype;
    unit_ok(lx_dtype_parse(word(description, "dtype"), &dtype, &error));
    for (size_t i = 0; i < count; i++) {
        end += ends[i];
        lx__store_le64(&ends[i], end);
    }
    uint8_t *zeros = calloc(end, lx_dtype_get_size(dtype));
    write_bytes("tokens.ds", zeros, end * lx_dtype_get_size(dtype));
    write_bytes("tokens.ds.index", (const uint8_t *)ends, 8 * count);
    free(zeros);
    free(ends);
    unit_ok(lx_tokens_open("tokens.ds", dtype, &tokens, &error));
    ck_assert_int_eq(remove("tokens.ds") | remove("tokens.ds.index"), 0);
    return tokens;
}

/** Samples of documents. */
static lx_source *documents_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_tokens *tokens = open_documents(description, "document_lengths");
    if (strcmp(word(description, "kind"), "packed") == 0)
        unit_ok(new_packed_tokens(tokens, number_of(description, "capacity"), LX_INT32, 0, 0, 0,
                                  &source, &error));
    else
        unit_ok(new_joined_tokens(tokens, number_of(description, "sequence_length"), LX_INT32, 0,
                                  (int64_t)number_of(description, "separator"), 0, &source,
                                  &error));
    lx_tokens_unref(tokens);
    return source;
}

/** In the manner of Megatron, for one sample of the last epoch. */
static lx_source *megatron_of(const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_tokens *tokens = open_documents(description, "all_lengths");
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    uint64_t before = (number_of(description, "epochs") - 1) * number_of(description, "tokens");
    how.first_document = number_of(description, "first");
    how.document_count = number_of(description, "count");
    how.sequence_length = number_of(description, "sequence_length");
    how.num_samples = (before - 1) / how.sequence_length + 1;
    how.seed = number_of(description, "seed");
    unit_ok(lx_source_new_megatron(tokens, &how, &source, &error));
    lx_tokens_unref(tokens);
    return source;
}

static lx_source *source_of(struct sources *sources, const json_t *description);

static lx_status map_nothing(const lx_samples *samples, const lx_column *inputs,
                             const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    (void)samples, (void)inputs, (void)outputs, (void)worker, (void)user, (void)error;
    return LX_OK;
}

/** A map with one input and one output. */
static lx_source *map_of(lx_source *part, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    const char *input =
        json_string_value(json_array_get(json_object_get(description, "inputs"), 0));
    const json_t *column = json_array_get(json_object_get(description, "outputs"), 0);
    lx_source_options options = {.map = map_nothing, .identity = word(description, "identity")};
    lx_column_info output = {.name = word(column, "name")};
    uint64_t *shape = numbers_of(json_object_get(column, "shape"), &output.ndim);
    output.shape = shape;
    unit_ok(lx_dtype_parse(word(column, "dtype"), &output.dtype, &error));
    unit_ok(lx_source_new_map(part, &input, 1, &output, 1, &options, &source, &error));
    free(shape);
    return source;
}

/** Sources made from other sources. */
static lx_source *made_of(struct sources *sources, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    const char *kind = word(description, "kind");
    const json_t *array = json_object_get(description, "sources");
    size_t count = json_array_size(array), entries;
    lx_source *parts[SOURCES_MAX], *source;
    ck_assert_uint_le(count, SOURCES_MAX);
    for (size_t i = 0; i < count; i++)
        parts[i] = source_of(sources, json_array_get(array, i));
    uint64_t *table = numbers_of(json_object_get(description, "table"), &entries);
    if (strcmp(kind, "concat") == 0)
        unit_ok(lx_source_new_concat(parts, count, &source, &error));
    else if (strcmp(kind, "zip") == 0)
        unit_ok(lx_source_new_zip(parts, NULL, count, &source, &error));
    else if (strcmp(kind, "subset") == 0)
        unit_ok(lx_source_new_subset(parts[0], table, entries, &source, &error));
    else if (strcmp(kind, "map") == 0)
        source = map_of(parts[0], description);
    else
        ck_abort_msg("this test makes no sources of the kind %s", kind);
    free(table);
    for (size_t i = 0; i < count; i++)
        lx_source_unref(parts[i]);
    return source;
}

static lx_source *source_of(struct sources *sources, const json_t *description)
{
    const char *kind = word(description, "kind");
    if (json_object_get(description, "sources") != NULL)
        return made_of(sources, description);
    if (strcmp(kind, "zrecord") == 0)
        return dataset_of(description);
    if (strcmp(kind, "files") == 0)
        return files_of(description);
    if (strcmp(kind, "recordio") == 0)
        return records_of(description);
    if (strcmp(kind, "tokens") == 0)
        return tokens_of(description);
    if (strcmp(kind, "packed") == 0 || strcmp(kind, "joined") == 0)
        return documents_of(description);
    if (strcmp(kind, "megatron") == 0)
        return megatron_of(description);
    return strcmp(kind, "own") == 0 ? own_of(sources, description) : array_of(description);
}

/** The possible columns of batches. */
static size_t fields_of(const lx_source *source, const char **fields)
{
    size_t count = 0;
    for (size_t i = 0; i < lx_source_get_column_count(source); i++) {
        const lx_column_info *column = lx_source_get_column(source, i);
        ck_assert_uint_lt(count, FIELDS_MAX);
        if (column->dtype != LX_BYTES)
            fields[count++] = column->name;
    }
    return count;
}

/** Calls @p check with a loader like the one that saved the state. */
static void with_loader(const struct saved_state *kept, struct setup setup,
                        void (*check)(lx_source *source, lx_loader *loader,
                                      const struct saved_state *kept))
{
    char *scratch = scratch_make();
    struct sources sources = {0};
    lx_source *source = source_of(&sources, json_object_get(kept->file, "source"));
    setup.order = described_order(json_object_get(kept->file, "order"));
    setup.endless = true;
    setup.missing = LX_MISSING_ZEROS;
    const char *fields[FIELDS_MAX];
    setup.field_count = fields_of(source, fields);
    setup.fields = fields;
    lx_loader *loader = open_loader(source, setup);
    check(source, loader, kept);
    lx_loader_close(loader);
    lx_order_unref(setup.order);
    lx_source_unref(source);
    scratch_remove(scratch);
}

static void expect_indices(lx_source *source, lx_loader *loader, const struct saved_state *kept)
{
    (void)source;
    lx_error error = LX_ERROR_INIT;
    uint64_t count = 0;
    lx_status status = lx_loader_restore(loader, kept->text, &error);
    ck_assert_msg(status == LX_OK, "%s: %s", kept->name, error.message);
    while (count < KEPT_INDICES) {
        lx_batch *batch = next_batch(loader);
        ck_assert_ptr_nonnull(batch);
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch) && count < KEPT_INDICES;
             i++, count++)
            ck_assert_msg(lx_batch_get_indices(batch)[i] == kept->indices[count], "%s: index %d",
                          kept->name, (int)count);
        lx_batch_unref(batch);
    }
}

static void loads(const struct saved_state *kept)
{
    with_loader(kept, (struct setup){.batch_size = 7, .threads = 1}, expect_indices);
}

START_TEST(loads_states_of_version_1)
{
    saved_states_each("loaders", 16, loads);
}
END_TEST

static void expect_text(lx_source *source, lx_loader *loader, const struct saved_state *kept)
{
    (void)source;
    lx_error error = LX_ERROR_INIT;
    char text[4096];
    const json_t *state = json_object_get(kept->file, "state");
    unit_ok(lx_loader_seek(loader, number_of(state, "position"), &error));
    unit_ok(lx_loader_save(loader, text, sizeof text, NULL, &error));
    saved_state_is(kept, text);
}

static void is_written(const struct saved_state *kept)
{
    const json_t *state = json_object_get(kept->file, "state");
    struct setup setup = {.batch_size = number_of(state, "batch_size"),
                          .world = number_of(state, "world"),
                          .threads = (uint32_t)number_of(state, "threads")};
    with_loader(kept, setup, expect_text);
}

START_TEST(saves_the_states_of_version_1)
{
    saved_states_each("loaders", 16, is_written);
}
END_TEST

/** A rank without data has the same states: it loads this one, and saves it again. */
static void is_of_the_null_one(lx_source *source, lx_loader *loader, const struct saved_state *kept)
{
    (void)loader;
    lx_error error = LX_ERROR_INIT;
    lx_source *null;
    const json_t *state = json_object_get(kept->file, "state");
    struct setup setup = {.batch_size = number_of(state, "batch_size"),
                          .world = number_of(state, "world"),
                          .threads = (uint32_t)number_of(state, "threads"),
                          .endless = true,
                          .order = described_order(json_object_get(kept->file, "order"))};
    unit_ok(lx_source_new_null(source, &null, &error));
    lx_loader *other = open_loader(null, setup);
    unit_ok(lx_loader_restore(other, kept->text, &error));
    expect_text(source, other, kept);
    lx_loader_close(other);
    lx_source_unref(null);
    lx_order_unref(setup.order);
}

static void is_of_the_null_ones(const struct saved_state *kept)
{
    with_loader(kept, (struct setup){.batch_size = 1}, is_of_the_null_one);
}

START_TEST(ranks_without_data_have_the_same_states)
{
    saved_states_each("loaders", 16, is_of_the_null_ones);
}
END_TEST

UNIT_MAIN("loader/saved-states", loads_states_of_version_1, saves_the_states_of_version_1,
          ranks_without_data_have_the_same_states)
