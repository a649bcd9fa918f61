/* SPDX-License-Identifier: MIT */
/*
 * A program that was built with the libraries of the first record: it runs with these.
 *
 * An executable does not belong in the sources, and would only run on one processor. All that it
 * has of the headers are names, sizes, offsets, numbers and parameters. So this program includes
 * none of our headers: it has its own copy of what they declared at the first record, and is linked
 * with the libraries of the build. Never adapt the copy: if it no longer fits, programs break.
 *
 * check-record.sh compares all that the headers declare. This program shows that the libraries also
 * do what they did: they fill no more than the old structs, and understand the old numbers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the headers, as they were */

enum { LX_OK = 0, LX_END = 1, LX_ERR_NOT_FOUND = -5 };
enum { LX_INT64 = 5, LX_FLOAT32 = 11, LX_STR = 23 };
enum { LX_COMPRESSION_RAW = 0, LX_COMPRESSION_FLATE = 1 };

typedef int lx_status; /* enums have the size of an int */

typedef struct lx_error {
    lx_status status;
    int32_t errnum;
    uint64_t record;
    uint64_t offset;
    uint64_t reserved[4];
    char field[72];
    char path[512];
    char message[512];
} lx_error;

typedef struct lx_value {
    const void *data;
    uint64_t size;
} lx_value;

typedef struct lx_dataset_identity {
    char uuid[40];
    uint64_t generation;
    uint64_t sequence;
    uint32_t checksum;
    bool sealed;
    uint64_t reserved[4];
} lx_dataset_identity;

typedef struct lx_column_info {
    const char *name;
    int dtype;
    size_t ndim;
    const uint64_t *shape;
    uint64_t size;
    uint64_t item_size;
} lx_column_info;

typedef struct lx_column {
    const char *name;
    int dtype;
    size_t ndim;
    const uint64_t *shape;
    uint64_t rows;
    void *data;
    uint64_t size;
    const uint64_t *offsets;
    uint64_t item_size;
} lx_column;

typedef struct lx_samples {
    size_t count;
    const uint64_t *indices;
    const uint64_t *positions;
    uint64_t epoch;
} lx_samples;

typedef struct lx_target {
    void *data;
    size_t stride;
} lx_target;

typedef struct lx_loader_stats {
    uint64_t batches;
    uint64_t records;
    uint64_t others[11];
    uint64_t reserved[3];
} lx_loader_stats;

typedef struct lx_remote_stats {
    uint64_t requests;
    uint64_t bytes;
    uint64_t others[7];
    uint64_t reserved[7];
} lx_remote_stats;

typedef struct lx_schema lx_schema;
typedef struct lx_writer lx_writer;
typedef struct lx_dataset lx_dataset;
typedef struct lx_source lx_source;
typedef struct lx_source_options lx_source_options;
typedef struct lx_loader lx_loader;
typedef struct lx_loader_options lx_loader_options;
typedef struct lx_batch lx_batch;
typedef lx_status (*lx_map_function)(const lx_samples *, const lx_column *, const lx_target *,
                                     void *, void *, lx_error *);

void lx_error_clear(lx_error *);
const char *lx_status_get_name(lx_status);

lx_schema *lx_schema_new(void);
lx_status lx_schema_add_field(lx_schema *, const char *, int, const uint64_t *, size_t, int,
                              lx_error *);
void lx_schema_free(lx_schema *);
lx_status lx_writer_create(const char *, const lx_schema *, const void *, lx_writer **, lx_error *);
lx_status lx_writer_append(lx_writer *, const lx_value *, size_t, uint64_t *, lx_error *);
lx_status lx_writer_seal(lx_writer *, lx_error *);
lx_status lx_writer_close(lx_writer *, lx_error *);
lx_status lx_dataset_gather(lx_dataset *, size_t, const uint64_t *, size_t, void *, size_t,
                            lx_error *);
void lx_dataset_get_identity(lx_dataset *, lx_dataset_identity *);
uint64_t lx_dataset_get_length(lx_dataset *);
lx_status lx_dataset_open(const char *, const void *, lx_dataset **, lx_error *);
void lx_dataset_close(lx_dataset *);

lx_status lx_remote_open(const char *, const void *, const void *, lx_dataset **, lx_error *);
lx_status lx_remote_get_stats(lx_dataset *, lx_remote_stats *, lx_error *);

lx_source_options *lx_source_options_new(void);
lx_status lx_source_options_set_map(lx_source_options *, lx_map_function, void *, lx_error *);
void lx_source_options_free(lx_source_options *);
lx_status lx_source_new_dataset(lx_dataset *, lx_source **, lx_error *);
lx_status lx_source_new_map(lx_source *, const char *const *, size_t, const lx_column_info *,
                            size_t, const lx_source_options *, lx_source **, lx_error *);
void lx_source_unref(lx_source *);
lx_loader_options *lx_loader_options_new(void);
lx_status lx_loader_options_set_batch_size(lx_loader_options *, uint64_t, lx_error *);
lx_status lx_loader_options_set_rank(lx_loader_options *, uint64_t, uint64_t, lx_error *);
lx_status lx_loader_options_set_reader_count(lx_loader_options *, uint32_t, lx_error *);
lx_status lx_loader_options_set_shuffle(lx_loader_options *, uint64_t, lx_error *);
void lx_loader_options_free(lx_loader_options *);
lx_status lx_loader_open(lx_source *, const lx_loader_options *, lx_loader **, lx_error *);
lx_status lx_loader_next(lx_loader *, lx_batch **, lx_error *);
lx_status lx_loader_save(const lx_loader *, char *, size_t, size_t *, lx_error *);
lx_status lx_loader_restore(lx_loader *, const char *, lx_error *);
void lx_loader_get_stats(const lx_loader *, lx_loader_stats *);
void lx_loader_close(lx_loader *);
const lx_column *lx_batch_find_column(const lx_batch *, const char *);
void lx_batch_unref(lx_batch *);

/* ---- the program */

enum { RECORDS = 100, BATCH = 8, STOP = 3, GUARD = 0x5a };

/* What the library fills, with memory behind it that it must leave alone. */
#define GUARDED(type)                                                                              \
    struct {                                                                                       \
        type filled;                                                                               \
        unsigned char guard[64];                                                                   \
    }
#define PROTECT(object) memset(&(object), GUARD, sizeof(object))
#define IS_INTACT(object) is_intact((object).guard, sizeof(object).guard)

static bool is_intact(const unsigned char *guard, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (guard[i] != GUARD)
            return false;
    return true;
}

static lx_status write_records(lx_error *error)
{
    lx_writer *writer = NULL;
    lx_schema *schema = lx_schema_new();
    lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, error);
    lx_schema_add_field(schema, "text", LX_STR, NULL, 0, LX_COMPRESSION_FLATE, error);
    lx_status status = lx_writer_create("records", schema, NULL, &writer, error);
    lx_schema_free(schema);
    for (int64_t i = 0; status == LX_OK && i < RECORDS; i++) {
        const lx_value values[] = {{&i, sizeof i}, {"text", 4}};
        status = lx_writer_append(writer, values, 2, NULL, error);
    }
    if (status == LX_OK)
        status = lx_writer_seal(writer, error);
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

/* Reads the records, and fills the old struct of the identity. */
static bool read_records(lx_error *error)
{
    GUARDED(lx_dataset_identity) identity;
    lx_dataset *dataset = NULL;
    const uint64_t wanted[] = {99, 0, 50};
    int64_t labels[3];
    PROTECT(identity);
    if (lx_dataset_open("records", NULL, &dataset, error) != LX_OK ||
        lx_dataset_gather(dataset, 0, wanted, 3, labels, sizeof *labels, error) != LX_OK)
        return false;
    lx_dataset_get_identity(dataset, &identity.filled);
    bool right = labels[0] == 99 && labels[1] == 0 && labels[2] == 50 && identity.filled.sealed &&
                 strlen(identity.filled.uuid) == 36 && lx_dataset_get_length(dataset) == RECORDS;
    lx_dataset_close(dataset);
    return right && IS_INTACT(identity);
}

/* A failure has the old number, and a description in the old struct. */
static bool fail_to_read(void)
{
    GUARDED(lx_error) error;
    lx_dataset *dataset = NULL;
    PROTECT(error);
    lx_error_clear(&error.filled);
    return lx_dataset_open("nothing", NULL, &dataset, &error.filled) == LX_ERR_NOT_FOUND &&
           error.filled.status == LX_ERR_NOT_FOUND && error.filled.message[0] != '\0' &&
           strcmp(error.filled.path, "nothing") == 0 && IS_INTACT(error);
}

static lx_status halve(const lx_samples *samples, const lx_column *inputs, const lx_target *outputs,
                       void *worker, void *user, lx_error *error)
{
    (void)worker, (void)user, (void)error;
    const int64_t *labels = inputs[0].data;
    for (size_t i = 0; i < samples->count; i++) {
        float half = (float)labels[i] / 2;
        memcpy((char *)outputs[0].data + i * outputs[0].stride, &half, sizeof half);
    }
    return labels[0] == (int64_t)samples->indices[0] ? LX_OK : LX_ERR_NOT_FOUND;
}

/* The labels, read by a URL and halved by a map. */
static lx_status open_source(lx_dataset **dataset, lx_source **source, lx_error *error)
{
    char folder[3000], url[4000];
    const char *const inputs[] = {"label"};
    const lx_column_info output = {.name = "half", .dtype = LX_FLOAT32};
    lx_source *labels = NULL;
    snprintf(url, sizeof url, "file://%s/records", getcwd(folder, sizeof folder));
    lx_source_options *options = lx_source_options_new();
    lx_status status = lx_source_options_set_map(options, halve, NULL, error);
    if (status == LX_OK)
        status = lx_remote_open(url, NULL, NULL, dataset, error);
    if (status == LX_OK)
        status = lx_source_new_dataset(*dataset, &labels, error);
    if (status == LX_OK)
        status = lx_source_new_map(labels, inputs, 1, &output, 1, options, source, error);
    lx_source_unref(labels);
    lx_source_options_free(options);
    return status;
}

static lx_status open_loader(lx_source *source, lx_loader **loader, lx_error *error)
{
    lx_loader_options *options = lx_loader_options_new();
    lx_loader_options_set_batch_size(options, BATCH, error);
    lx_loader_options_set_rank(options, 1, 2, error);
    lx_loader_options_set_reader_count(options, 2, error);
    lx_loader_options_set_shuffle(options, 42, error);
    lx_status status = lx_loader_open(source, options, loader, error);
    lx_loader_options_free(options);
    return status;
}

/* The sum of some batches, in which the order of their records counts. */
static lx_status add_batches(lx_loader *loader, int most, double *sum, lx_error *error)
{
    lx_batch *batch = NULL;
    lx_status status = LX_OK;
    for (int i = 0; i < most && (status = lx_loader_next(loader, &batch, error)) == LX_OK; i++) {
        const lx_column *half = lx_batch_find_column(batch, "half");
        for (uint64_t row = 0; row < half->rows; row++)
            *sum = *sum * .75 + ((const float *)half->data)[row];
        lx_batch_unref(batch);
    }
    return status == LX_END ? LX_OK : status;
}

/* Trains with the loader, and again from a state in the middle of the epoch. */
static bool train(lx_error *error)
{
    GUARDED(lx_loader_stats) loaded;
    GUARDED(lx_remote_stats) remote;
    lx_dataset *dataset = NULL;
    lx_source *source = NULL;
    lx_loader *first = NULL, *second = NULL;
    char state[4096];
    double begun = 0, whole = 0, resumed = 0;
    PROTECT(loaded);
    PROTECT(remote);
    if (open_source(&dataset, &source, error) != LX_OK ||
        open_loader(source, &first, error) != LX_OK ||
        open_loader(source, &second, error) != LX_OK ||
        add_batches(first, STOP, &begun, error) != LX_OK ||
        lx_loader_save(first, state, sizeof state, NULL, error) != LX_OK ||
        add_batches(first, RECORDS, &whole, error) != LX_OK ||
        lx_loader_restore(second, state, error) != LX_OK ||
        add_batches(second, RECORDS, &resumed, error) != LX_OK ||
        lx_remote_get_stats(dataset, &remote.filled, error) != LX_OK)
        return false;
    lx_loader_get_stats(first, &loaded.filled);
    lx_loader_close(first);
    lx_loader_close(second);
    lx_source_unref(source);
    lx_dataset_close(dataset);
    return begun != 0 && whole != 0 && whole == resumed && remote.filled.requests != 0 &&
           loaded.filled.records == RECORDS / 2 && IS_INTACT(loaded) && IS_INTACT(remote);
}

int main(void)
{
    lx_error error = {.record = UINT64_MAX, .offset = UINT64_MAX}; /* as LX_ERROR_INIT was */
    const char *failed = write_records(&error) != LX_OK ? "write_records"
                         : !read_records(&error)        ? "read_records"
                         : !fail_to_read()              ? "fail_to_read"
                         : !train(&error)               ? "train"
                                                        : NULL;
    if (failed != NULL)
        printf("%s: %s: %s\n", failed, lx_status_get_name(error.status), error.message);
    return failed != NULL;
}
