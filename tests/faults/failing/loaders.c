/* SPDX-License-Identifier: MIT */
/* Scenarios of loaders over all kinds of sources: each delivered batch is right. */
#include "scenario.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <loaderx/loader.h>
#include <loaderx/parity/megatron.h>
#include <loaderx/packing.h>
#include <loaderx/tokens.h>
#include <loaderx/trace.h>

#include "../tree.h"
#include "../../new-sources.h"
#include "parity/megatron-options.h"

/* Records of sources without a dataset. */
#define LENGTH 96
#define BATCH 16
/* Maximum steps of next in a scenario: a failed batch is skipped. */
#define STEPS 20

/* ---- sources */

static void must_write(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd == -1 || write(fd, data, size) != (ssize_t)size)
        give_up(path);
    close(fd);
}

/** Makes a dataset, and next to it an array of the numbers 0, 1, 2 .. as PATH.npy. */
static void prepare_sources(const char *path, struct plain *plain)
{
    static const char header[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (96,), }\n";
    char name[4300];
    uint8_t bytes[10 + sizeof header - 1 + LENGTH * 8] = "\x93NUMPY\x01";
    bytes[8] = sizeof header - 1;
    memcpy(bytes + 10, header, sizeof header - 1);
    for (size_t i = 0; i < LENGTH; i++)
        bytes[10 + sizeof header - 1 + i * 8] = (uint8_t)i;
    snprintf(name, sizeof name, "%s.npy", path);
    must_write(name, bytes, sizeof bytes);
    snprintf(name, sizeof name, "%s.ds", path);
    must_write(name, bytes + 10 + sizeof header - 1, LENGTH * 8);
    prepare_dataset(path, plain, LENGTH, 20);
}

static lx_status fill_numbers(const uint64_t *indices, size_t count, const lx_target *targets,
                              void *user, lx_error *error)
{
    (void)user, (void)error;
    for (size_t i = 0; targets[0].data != NULL && i < count; i++)
        memcpy((uint8_t *)targets[0].data + i * targets[0].stride, &indices[i], 8);
    return LX_OK;
}

static lx_source *open_npy(struct run *run)
{
    char name[4300];
    lx_source *source;
    snprintf(name, sizeof name, "%s.npy", run->path);
    return TRY(run, lx_source_open(name, NULL, &source, &run->error)) ? source : NULL;
}

static lx_source *open_own(struct run *run)
{
    static const lx_column_info column = {.name = "number", .dtype = LX_UINT64};
    lx_source_options *options;
    lx_source *source = NULL;
    if (TRY_NEW(run, options, lx_source_options_new()) &&
        TRY(run, lx_source_options_set_fill(options, fill_numbers, NULL, &run->error)) &&
        TRY(run, lx_source_options_set_identity(options, "numbers", &run->error)))
        (void)TRY(run, lx_source_new(LENGTH, &column, 1, options, &source, &run->error));
    lx_source_options_free(options);
    return source;
}

static lx_source *open_dataset(struct run *run)
{
    lx_source *source;
    return TRY(run, lx_source_open(run->path, NULL, &source, &run->error)) ? source : NULL;
}

/** The three sources as one with all columns. */
static lx_source *open_zip(struct run *run)
{
    lx_source *parts[] = {open_dataset(run), open_npy(run), open_own(run)}, *source = NULL;
    static const char *const names[] = {NULL, "array", NULL};
    if (parts[0] == NULL || parts[1] == NULL || parts[2] == NULL ||
        !TRY(run, lx_source_new_zip(parts, names, 3, &source, &run->error)))
        source = NULL;
    for (size_t i = 0; i < 3; i++)
        lx_source_unref(parts[i]);
    return source;
}

/** Numbers, followed by the last three of them. */
static lx_source *open_concat(struct run *run)
{
    static const uint64_t last[] = {LENGTH - 3, LENGTH - 2, LENGTH - 1};
    lx_source *parts[] = {open_own(run), NULL}, *source = NULL;
    if (parts[0] == NULL ||
        !TRY(run, lx_source_new_subset(parts[0], last, 3, &parts[1], &run->error)) ||
        !TRY(run, lx_source_new_concat(parts, 2, &source, &run->error)))
        source = NULL;
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
    return source;
}

/* ---- batches */

static void check_numbers(struct run *run, const lx_batch *batch, const char *name)
{
    const lx_column *column = lx_batch_find_column(batch, name);
    const uint64_t *indices = lx_batch_get_indices(batch);
    for (uint64_t i = 0; column != NULL && i < column->rows; i++)
        if (memcmp((const uint8_t *)column->data + i * 8, &indices[i], 8) != 0)
            run_fail(run, "row %llu of column %s is wrong", (unsigned long long)i, name);
}

static void check_keys(struct run *run, const lx_batch *batch)
{
    uint64_t keys[BATCH][2], right[2];
    uint64_t last = lx_batch_get_row_count(batch) - 1;
    lx_batch_get_keys(batch, 42, keys[0]);
    uint64_t position = lx_batch_get_position(batch) + last; /* there is one rank */
    lx_random_get_key(42, lx_batch_get_epoch(batch), position, right);
    if (memcmp(keys[last], right, sizeof right) != 0)
        run_fail(run, "the key of row %llu is wrong", (unsigned long long)last);
}

static void check_field(struct run *run, const lx_batch *batch, enum plain_kind kind)
{
    uint8_t memory[PLAIN_VALUE];
    const lx_column *column = lx_batch_find_column(batch, run->pending.columns[kind].name);
    const uint64_t *indices = lx_batch_get_indices(batch);
    for (uint64_t i = 0; column != NULL && i < column->rows; i++) {
        const struct plain_record *record = &run->pending.records[indices[i]];
        memset(memory, 0, 16);
        (void)plain_value(kind, record->tokens[kind], memory);
        if (memcmp((const uint8_t *)column->data + i * column->size, memory,
                   (size_t)column->size) != 0)
            run_fail(run, "row %llu of column %s is wrong", (unsigned long long)i, column->name);
    }
}

static bool next(struct run *run, lx_loader *loader, lx_status *status)
{
    lx_batch *batch = NULL;
    *status = lx_loader_next(loader, &batch, &run->error);
    if (!run_took(run, "lx_loader_next(&error)", *status) || *status == LX_END)
        return false;
    check_numbers(run, batch, "data");
    check_numbers(run, batch, "array");
    check_numbers(run, batch, "number");
    check_field(run, batch, PLAIN_IMAGE);
    check_field(run, batch, PLAIN_LABEL);
    check_keys(run, batch);
    lx_batch_unref(batch);
    return true;
}

static void take_some(struct run *run, lx_loader *loader, int count)
{
    lx_status status = LX_OK;
    for (int i = 0; i < count && status != LX_END; i++)
        (void)next(run, loader, &status);
}

/** A loader can return to an earlier position. */
static void save_and_restore(struct run *run, lx_loader *loader)
{
    char text[4096];
    size_t length;
    uint64_t position = lx_loader_tell(loader), count;
    TRY(run, lx_loader_get_batch_count(loader, &count, &run->error));
    if (!TRY(run, lx_loader_save_at(loader, 0, text, sizeof text, &length, &run->error)) ||
        !TRY(run, lx_loader_save(loader, text, sizeof text, &length, &run->error)))
        return;
    if (TRY(run, lx_loader_seek(loader, 3 * BATCH, &run->error)) &&
        lx_loader_tell(loader) != 3 * BATCH)
        run_fail(run, "a seek ended elsewhere");
    take_some(run, loader, 1);
    if (TRY(run, lx_loader_restore(loader, text, &run->error)) &&
        lx_loader_tell(loader) != position)
        run_fail(run, "it was restored to another place");
}

static lx_status look_at(lx_batch *batch, void *user, lx_error *error)
{
    (void)user, (void)error;
    return lx_batch_get_row_count(batch) == BATCH ? LX_OK : LX_ERR_CALLBACK;
}

static lx_status map_memory(size_t size, void *user, lx_memory *memory, lx_error *error)
{
    (void)user;
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return lx_fail(error, LX_ERR_NOMEM, "no memory is left");
    memory->data = data;
    return LX_OK;
}

static void unmap_memory(const lx_memory *memory, void *user)
{
    (void)user;
    munmap(memory->data, memory->size);
}

static lx_loader *open_loader(struct run *run, lx_source *source, uint32_t threads)
{
    static const char *const fields[] = {"image", "label"};
    static const uint64_t label = 0;
    lx_loader_options *options;
    lx_loader *loader = NULL;
    if (!TRY_NEW(run, options, lx_loader_options_new()))
        return NULL;
    bool dataset = lx_source_get_column_count(source) == PLAIN_KINDS;
    if (!TRY(run, lx_loader_options_set_batch_size(options, BATCH, &run->error)) ||
        !TRY(run, lx_loader_options_set_shuffle(options, 7, &run->error)) ||
        !TRY(run, lx_loader_options_set_epoch_count(options, 1, &run->error)) ||
        !TRY(run, lx_loader_options_set_first_epoch(options, 3, &run->error)) ||
        !TRY(run, lx_loader_options_set_start(options, 0, &run->error)) ||
        !TRY(run, lx_loader_options_add_skipped(options, 8, 9, &run->error)) ||
        !TRY(run, lx_loader_options_set_reader_count(options, threads, &run->error)) ||
        !TRY(run, lx_loader_options_set_damage_policy(options, LX_DAMAGE_RAISE, &run->error)) ||
        !TRY(run, lx_loader_options_set_missing(options, NULL, LX_MISSING_MASK, &run->error)) ||
        (dataset && !TRY(run, lx_loader_options_set_missing_value(options, "label", &label, 8,
                                                                  &run->error))) ||
        !TRY(run, lx_loader_options_set_transform(options, threads != 0 ? look_at : NULL, NULL,
                                                  &run->error)) ||
        !TRY(run, lx_loader_options_set_memory(options, threads != 0 ? map_memory : NULL,
                                               threads != 0 ? unmap_memory : NULL, NULL, false,
                                               &run->error)) ||
        (dataset && !TRY(run, lx_loader_options_set_columns(options, fields, 2, &run->error))) ||
        !TRY(run, lx_loader_open(source, options, &loader, &run->error)))
        loader = NULL;
    lx_loader_options_free(options);
    return loader;
}

/** Takes some batches, and writes a trace of that. */
static void take_traced(struct run *run, lx_loader *loader)
{
    char name[4300];
    lx_trace *trace;
    snprintf(name, sizeof name, "%s.trace", run->path);
    if (!TRY(run, lx_trace_new(&trace, &run->error)))
        return;
    if (TRY(run, lx_loader_set_trace(loader, trace, &run->error)))
        take_some(run, loader, 2);
    if (TRY(run, lx_trace_write(trace, name, &run->error)) && unlink(name) != 0)
        run_fail(run, "the trace is missing");
    TRY(run, lx_loader_set_trace(loader, NULL, &run->error));
    lx_trace_unref(trace);
}

static void load(struct run *run, lx_source *source, uint32_t threads)
{
    if (source == NULL)
        return;
    lx_loader *loader = open_loader(run, source, threads);
    lx_source_unref(source);
    if (loader == NULL)
        return;
    take_traced(run, loader);
    save_and_restore(run, loader);
    take_some(run, loader, STEPS);
    lx_loader_next_epoch(loader);
    take_some(run, loader, 1);
    lx_loader_cancel(loader);
    lx_loader_close(loader);
}

/** A column of variable size cannot be loaded: request only the others. */
static lx_source *open_columns(struct run *run)
{
    lx_source *parts[] = {open_npy(run), open_own(run)}, *source = NULL;
    if (parts[0] == NULL || parts[1] == NULL ||
        !TRY(run, lx_source_new_zip(parts, NULL, 2, &source, &run->error)))
        source = NULL;
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
    return source;
}

static void load_dataset(struct run *run)
{
    load(run, open_dataset(run), 0);
}

static void load_dataset_by_threads(struct run *run)
{
    load(run, open_dataset(run), 2);
}

static void load_columns(struct run *run)
{
    load(run, open_columns(run), 0);
}

static void load_columns_by_threads(struct run *run)
{
    load(run, open_columns(run), 2);
}

/** A loader with data can continue at the position of one without data. */
static void pass_state(struct run *run, lx_loader *idle, lx_loader *reading)
{
    char text[4096];
    lx_batch *batch = NULL;
    if (TRY(run, lx_loader_next(idle, &batch, &run->error)) &&
        lx_batch_get_column_count(batch) != 0)
        run_fail(run, "a batch without data has columns");
    lx_batch_unref(batch);
    if (TRY(run, lx_loader_save(idle, text, sizeof text, NULL, &run->error)) &&
        TRY(run, lx_loader_restore_changed(reading, text, &run->error)) &&
        lx_loader_tell(reading) != lx_loader_tell(idle))
        run_fail(run, "it was restored to another place");
}

/** The identity of a source matches the source. */
static void identify(struct run *run, lx_source *source)
{
    char text[4096];
    if (TRY(run, lx_source_save(source, text, sizeof text, NULL, &run->error)))
        TRY(run, lx_source_match(source, text, false, &run->error));
}

static void load_nothing(struct run *run)
{
    lx_source *source = open_columns(run), *null = NULL;
    lx_loader *idle = NULL, *reading = NULL;
    if (source != NULL && TRY(run, lx_source_new_null(source, &null, &run->error))) {
        identify(run, source);
        idle = open_loader(run, null, 0);
        reading = open_loader(run, source, 0);
        lx_source_unref(null);
    }
    if (idle != NULL && reading != NULL)
        pass_state(run, idle, reading);
    lx_loader_close(idle);
    lx_loader_close(reading);
    lx_source_unref(source);
}

/** Reads texts of a dataset. */
static void fill_texts(struct run *run, lx_source *source)
{
    uint64_t indices[BATCH], offsets[BATCH + 1];
    uint8_t *out = malloc(BATCH * PLAIN_VALUE);
    for (uint64_t i = 0; i < BATCH; i++)
        indices[i] = i * 5 % LENGTH;
    const lx_samples samples = {.count = BATCH, .indices = indices, .positions = indices};
    if (TRY(run, lx_source_get_sizes(source, PLAIN_TEXT, indices, BATCH, offsets, &run->error)) &&
        TRY(run,
            lx_source_fill_bytes(source, PLAIN_TEXT, indices, BATCH, offsets, out, &run->error)))
        TRY(run,
            lx_source_fill_sample_bytes(source, PLAIN_TEXT, &samples, offsets, out, &run->error));
    free(out);
}

/** Batches without a loader. */
static void fill(struct run *run)
{
    uint64_t indices[BATCH], numbers[3][BATCH * 2];
    uint8_t labels[BATCH], *present[PLAIN_KINDS + 2] = {[PLAIN_LABEL] = labels};
    lx_dataset *dataset;
    lx_source *source = open_zip(run);
    if (source != NULL) {
        lx_target targets[PLAIN_KINDS + 2] = {{NULL, 0}};
        for (size_t i = 0; i < 3; i++)
            targets[i == 0 ? PLAIN_LABEL : PLAIN_KINDS + i - 1] = (lx_target){numbers[i], 8};
        for (uint64_t i = 0; i < BATCH; i++)
            indices[i] = i * 5 % LENGTH;
        const lx_samples samples = {.count = BATCH, .indices = indices, .positions = indices};
        if (TRY(run, lx_source_fill_present(source, &samples, targets, present, &run->error)) &&
            memcmp(numbers[1], numbers[2], BATCH * 8) != 0)
            run_fail(run, "two columns that are equal are not");
        lx_source_unref(source);
    }
    if (!TRY(run, lx_dataset_open(run->path, NULL, &dataset, &run->error)))
        return;
    if (TRY(run, lx_source_new_dataset(dataset, &source, &run->error))) {
        fill_texts(run, source);
        lx_source_unref(source);
    }
    lx_dataset_close(dataset);
}

/** Reads the beginning of an .npy file as a file of a folder. */
static void read_files(struct run *run, const char *path)
{
    static const lx_column_info column = {.name = "data", .dtype = LX_BYTES};
    const uint64_t index = 1;
    uint64_t offsets[2];
    char folder[4300];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    const char *const names[] = {"absent", slash + 1};
    lx_source *source;
    if (!TRY(run, lx_source_open_files(folder, names, 2, &column, &source, &run->error)))
        return;
    if (TRY(run, lx_source_get_sizes(source, 0, &index, 1, offsets, &run->error))) {
        char *out = malloc((size_t)offsets[1]);
        if (TRY(run, lx_source_fill_bytes(source, 0, &index, 1, offsets, out, &run->error)) &&
            memcmp(out + 1, "NUMPY", 5) != 0)
            run_fail(run, "a file of a folder is wrong");
        free(out);
    }
    lx_source_unref(source);
}

static void fill_concat(struct run *run)
{
    static const lx_column_info column = {.name = "byte", .dtype = LX_UINT8};
    const uint64_t indices[] = {LENGTH + 2, 0, LENGTH, 3};
    uint64_t numbers[4];
    char name[4300];
    lx_source *source = open_concat(run);
    if (source != NULL &&
        TRY(run, lx_source_fill(source, indices, 4, &(lx_target){numbers, 8}, &run->error)) &&
        (numbers[0] != LENGTH - 1 || numbers[1] != 0 || numbers[2] != LENGTH - 3 ||
         numbers[3] != 3))
        run_fail(run, "numbers of two sources are wrong");
    lx_source_unref(source);
    snprintf(name, sizeof name, "%s.npy", run->path);
    if (TRY(run, lx_source_open_flat(name, &column, 0, &source, &run->error)))
        lx_source_unref(source);
    read_files(run, name);
}

/** The tokens 0, 1 .. of an array, followed by those of a file with an index. */
static void fill_tokens(struct run *run)
{
    const uint64_t indices[] = {5, 0, 10};
    uint32_t samples[3][17];
    uint64_t first, length;
    char name[4300];
    lx_tokens *parts[2] = {NULL}, *all = NULL, *raw = NULL;
    lx_source *source = NULL, *blocks = NULL;
    snprintf(name, sizeof name, "%s.npy", run->path);
    if (!TRY(run, lx_tokens_open(name, LX_BYTES, &parts[0], &run->error)))
        return;
    snprintf(name, sizeof name, "%s.ds", run->path);
    if (TRY(run, lx_tokens_open_raw(name, LX_UINT8, &raw, &run->error)) &&
        lx_tokens_get_length(raw) <= LENGTH)
        run_fail(run, "raw tokens lack bytes");
    lx_tokens_unref(raw);
    if (TRY(run, lx_tokens_open(name, LX_INT64, &parts[1], &run->error)) &&
        TRY(run, lx_tokens_new_concat(parts, 2, &all, &run->error)) &&
        TRY(run, lx_tokens_get_document(all, 1, &first, &length, &run->error)) &&
        TRY(run, lx_tokens_read(all, first, 2, LX_INT32, samples, &run->error)) &&
        TRY(run, new_tokens(all, 16, LX_INT32, 0, &source, &run->error)))
        if (first != LENGTH || length != LENGTH || samples[0][1] != 1 ||
            lx_tokens_get_length(all) != 2 * LENGTH || lx_tokens_get_dtype(all) != LX_INT64 ||
            lx_tokens_get_document_count(all) != 2)
            run_fail(run, "documents of two files are wrong");
    if (source != NULL && TRY(run, new_token_blocks(all, 16, LX_INT32, 0, &blocks, &run->error)) &&
        lx_source_get_length(blocks) != 2 * LENGTH / 16)
        run_fail(run, "there are other blocks of tokens");
    if (source != NULL) {
        lx_target target = {samples, sizeof samples[0]};
        if (TRY(run, lx_source_fill(source, indices, 3, &target, &run->error)) &&
            (samples[0][16] != 0 || samples[1][3] != 3 || samples[2][0] != 64))
            run_fail(run, "samples of tokens are wrong");
    }
    lx_tokens_unref(lx_tokens_ref(all));
    lx_source_unref(blocks);
    lx_source_unref(source);
    lx_tokens_unref(all);
    lx_tokens_unref(parts[1]);
    lx_tokens_unref(parts[0]);
}

/** The tokens 0, 1 .. of an array, twice: two documents. */
/** Reads all bytes of a field, which must be @p tokens, unless the call reports a failure. */
static void check_field_tokens(struct run *run, lx_tokens *tokens, enum plain_kind kind)
{
    static int32_t text[LENGTH * PLAIN_VALUE];
    uint8_t memory[PLAIN_VALUE];
    uint64_t at = 0, length = lx_tokens_get_length(tokens);
    if (!TRY(run, lx_tokens_read(tokens, 0, length, LX_INT32, text, &run->error)))
        return;
    for (uint64_t i = 0; i < LENGTH; i++) {
        const lx_value value = plain_value(kind, run->pending.records[i].tokens[kind], memory);
        const uint8_t *bytes = value.data;
        for (uint64_t k = 0; value.size != LX_NONE && k < value.size; k++, at++)
            if (at == length || text[at] != bytes[k]) {
                run_fail(run, "token %llu of a field is wrong", (unsigned long long)at);
                return;
            }
    }
    if (at != length)
        run_fail(run, "a field has more tokens than it should");
}

static void fill_fields(struct run *run)
{
    static const enum plain_kind kinds[] = {PLAIN_IMAGE, PLAIN_TEXT, PLAIN_BLOB};
    lx_dataset *dataset;
    if (!TRY(run, lx_dataset_open(run->path, NULL, &dataset, &run->error)))
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        lx_tokens *tokens;
        if (!TRY(run, lx_tokens_new_field(dataset, kinds[i], LX_UINT8, &tokens, &run->error)))
            continue;
        check_field_tokens(run, tokens, kinds[i]);
        lx_tokens_unref(tokens);
    }
    lx_dataset_close(dataset);
}

static lx_tokens *open_twice(struct run *run)
{
    char name[4300];
    lx_tokens *part = NULL, *all = NULL;
    snprintf(name, sizeof name, "%s.npy", run->path);
    if (!TRY(run, lx_tokens_open(name, LX_BYTES, &part, &run->error)))
        return NULL;
    lx_tokens *const twice[] = {part, part};
    (void)TRY(run, lx_tokens_new_concat(twice, 2, &all, &run->error));
    lx_tokens_unref(part);
    return all;
}

/** Each document is a full piece and a remainder; the remainders share a bin. */
static void fill_packed(struct run *run)
{
    const uint64_t indices[] = {2, 0, 1};
    uint32_t rows[3][3][64];
    const lx_column segments = {.dtype = LX_INT32,
                                .ndim = 1,
                                .shape = (const uint64_t[]){64},
                                .rows = 1,
                                .data = rows[0][1]};
    lx_segment_sizes sizes;
    int32_t places[3];
    uint64_t padding, total;
    lx_source *source = NULL;
    lx_tokens *all = open_twice(run);
    if (all != NULL &&
        TRY(run,
            new_packed_tokens(all, 64, LX_INT32, 0, 0, LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS,
                              &source, &run->error)) &&
        TRY(run, lx_source_get_padding(source, &padding, &total, &run->error))) {
        const lx_target targets[] = {{rows[0][0], sizeof rows[0]},
                                     {rows[0][1], sizeof rows[0]},
                                     {rows[0][2], sizeof rows[0]}};
        if (padding != 0 || total != 2 * LENGTH)
            run_fail(run, "the padding is wrong");
        if (TRY(run, lx_source_fill(source, indices, 3, targets, &run->error)) &&
            TRY(run, lx_segments_get_sizes(&segments, true, places, 3, &sizes, &run->error)) &&
            (rows[0][0][33] != 65 || rows[0][1][33] != 2 || rows[0][2][33] != 1 ||
             rows[2][0][63] != 63 || sizes.count != 3 || sizes.longest != 32 || places[1] != 32))
            run_fail(run, "packed samples are wrong");
    }
    lx_source_unref(source);
    lx_tokens_unref(all);
}

/** The last token of sample 1 is the separator after the first document. */
static void fill_joined(struct run *run)
{
    const uint64_t indices[] = {1, 0};
    uint32_t rows[2][2][49];
    lx_source *source = NULL;
    lx_tokens *all = open_twice(run);
    if (all != NULL && TRY(run, new_joined_tokens(all, 48, LX_INT32, 0, 777, LX_PACKED_SEGMENTS,
                                                  &source, &run->error))) {
        const lx_target targets[] = {{rows[0][0], sizeof rows[0]}, {rows[0][1], sizeof rows[0]}};
        if (TRY(run, lx_source_fill(source, indices, 2, targets, &run->error)) &&
            (rows[0][0][47] != 95 || rows[0][0][48] != 777 || rows[0][1][48] != 1 ||
             rows[1][0][48] != 48))
            run_fail(run, "joined samples are wrong");
    }
    lx_source_unref(source);
    lx_tokens_unref(all);
}

/** Tables in memory, then written to a file, then read from it. The mask is requested without the
 * tokens. */
static void fill_megatron_in(struct run *run, lx_tokens *all, const char *folder)
{
    static const uint64_t first = 0;
    lx_source *source = NULL;
    float mask[48];
    uint64_t number = 7, length;
    lx_megatron_options *how;
    if (!TRY_NEW(run, how, lx_megatron_options_new()))
        return;
    how->sequence_length = 48;
    how->columns = LX_MEGATRON_LOSS_MASK;
    if (TRY(run, lx_megatron_options_set_tables(how, folder, &run->error)) &&
        TRY(run, lx_source_new_megatron(all, how, &source, &run->error))) {
        const lx_target targets[] = {{NULL, 0}, {mask, sizeof mask}};
        if (TRY(run, lx_source_fill(source, &first, 1, targets, &run->error)) &&
            TRY(run, lx_source_read_megatron_index(source, LX_MEGATRON_DOCUMENTS, 1, 1, &number,
                                                   &length, &run->error)) &&
            (mask[0] != 1 || mask[47] != 1 || number > 1 || length != 2))
            run_fail(run, "the samples of Megatron's are wrong");
    }
    lx_megatron_options_free(how);
    lx_source_unref(source);
}

static void fill_megatron(struct run *run)
{
    char folder[4400];
    lx_tokens *all = open_twice(run);
    if (all == NULL)
        return;
    snprintf(folder, sizeof folder, "%s.tables", run->path);
    fill_megatron_in(run, all, NULL);
    for (int i = 0; i < 2; i++)
        fill_megatron_in(run, all, folder);
    if (access(folder, F_OK) == 0)
        tree_remove(folder);
    lx_tokens_unref(all);
}

const struct scenario loader_scenarios[] = {
    {"load", prepare_sources, false, load_dataset},
    {"load-threads", prepare_sources, false, load_dataset_by_threads},
    {"load-columns", prepare_sources, false, load_columns},
    {"load-columns-threads", prepare_sources, false, load_columns_by_threads},
    {"load-nothing", prepare_sources, false, load_nothing},
    {"fill", prepare_sources, false, fill},
    {"fill-concat", prepare_sources, false, fill_concat},
    {"fill-tokens", prepare_sources, false, fill_tokens},
    {"fill-fields", prepare_sources, false, fill_fields},
    {"fill-packed", prepare_sources, false, fill_packed},
    {"fill-joined", prepare_sources, false, fill_joined},
    {"fill-megatron", prepare_sources, false, fill_megatron},
    {NULL, NULL, false, NULL},
};
