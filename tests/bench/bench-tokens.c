/* SPDX-License-Identifier: MIT */
/* Samples of tokens compared with plain loops that copy the same tokens, and packing documents
 * compared with reading their lengths. Files are made in the current folder and removed. */
#include "plain.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <loaderx/packing.h>
#include <loaderx/maintenance.h>
#include <loaderx/writer.h>

#include "base/bytes.h"
#include "../new-sources.h"

#define TOKENS ((uint64_t)96 << 20) /* of 4 bytes, token i being i; several times the cache */
#define LENGTH 4096
#define BATCH 32
#define BATCHES 4 /* read by a run */

/* ---- documents: many short ones, few long ones */

static uint64_t draw_length(uint64_t *seed)
{
    uint64_t part = next_random(seed) % 1000;
    return 200000 / (part + 60);
}

/** Writes the ends of documents, at most @p documents of them, up to @p tokens; returns the number
 * of tokens. */
static uint64_t write_index(const char *name, uint64_t documents, uint64_t tokens)
{
    uint64_t seed = 1, end = 0;
    uint8_t word[8];
    FILE *file = fopen(name, "wb");
    must(file != NULL, name);
    for (uint64_t i = 0; i < documents && end < tokens; i++) {
        end += draw_length(&seed);
        end = end < tokens ? end : tokens;
        lx__store_le64(word, end);
        must(fwrite(word, sizeof word, 1, file) == 1, name);
    }
    must(fclose(file) == 0, name);
    return end;
}

static lx_tokens *open_tokens(const char *name)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens = NULL;
    must_be_ok(lx_tokens_open(name, LX_UINT32, &tokens, &error), &error);
    return tokens;
}

/* ---- the same as a field of a dataset */

#define DATASET "bench-tokens.zrecord"
#define FIELD "tokens"

static lx_writer *create_dataset(lx_compression compression)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    lx_schema *schema = lx_schema_new();
    must_be_ok(lx_schema_add_field(schema, FIELD, LX_BYTES, NULL, 0, compression, &error), &error);
    must_be_ok(lx_writer_create(DATASET, schema, NULL, &writer, &error), &error);
    lx_schema_free(schema);
    return writer;
}

static lx_dataset *open_dataset(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    must_be_ok(lx_writer_close(writer, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, NULL, &dataset, &error), &error);
    return dataset;
}

static void remove_dataset(void)
{
    lx_error error = LX_ERROR_INIT;
    must_be_ok(lx_dataset_remove(DATASET, &error), &error);
}

static lx_tokens *open_field(lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens = NULL;
    must_be_ok(lx_tokens_new_field(dataset, 0, LX_UINT32, &tokens, &error), &error);
    return tokens;
}

/** Makes a record of each document of @p tokens, whose bytes are at @p map. */
static lx_tokens *copy_to_field(const lx_tokens *tokens, const uint32_t *map,
                                lx_compression compression)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create_dataset(compression);
    uint64_t documents = lx_tokens_get_document_count(tokens), first, length;
    for (uint64_t i = 0; i < documents; i++) {
        must_be_ok(lx_tokens_get_document(tokens, i, &first, &length, &error), &error);
        const lx_value value = {map + first, (size_t)(4 * length)};
        must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
    }
    lx_dataset *dataset = open_dataset(writer);
    lx_tokens *made = open_field(dataset);
    lx_dataset_close(dataset);
    return made;
}

static void open_fields(void *context)
{
    lx_tokens_unref(open_field(context));
}

struct lengths {
    lx_dataset *dataset;
    uint64_t documents;
};

/** The lengths, read by a plain loop. */
static void measure_records(void *context)
{
    const struct lengths *lengths = context;
    lx_error error = LX_ERROR_INIT;
    static uint64_t records[4096], offsets[4097];
    volatile uint64_t total = 0;
    for (uint64_t done = 0; done < lengths->documents; done += 4096) {
        uint64_t left = lengths->documents - done;
        size_t count = left < 4096 ? (size_t)left : 4096;
        for (size_t i = 0; i < count; i++)
            records[i] = done + i;
        must_be_ok(lx_dataset_get_sizes(lengths->dataset, 0, records, count, offsets, NULL, &error),
                   &error);
        total = total + offsets[count];
    }
}

static void bench_opening(bench_run *bench)
{
    enum { DOCUMENTS = 1000000 };
    lx_error error = LX_ERROR_INIT;
    uint64_t seed = 1;
    static const uint32_t text[64];
    lx_writer *writer = create_dataset(LX_COMPRESSION_RAW);
    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        const lx_value value = {text, (size_t)(4 * (next_random(&seed) % 64))};
        must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
    }
    struct lengths lengths = {open_dataset(writer), DOCUMENTS};
    const bench_case cases[] = {{"reading their lengths", measure_records, &lengths, DOCUMENTS},
                                {"opening the field", open_fields, lengths.dataset, DOCUMENTS}};
    bench_compare(bench, "a field of 1,000,000 documents", "document", cases, 2);
    lx_dataset_close(lengths.dataset);
    remove_dataset();
}

/* ---- packing */

struct packing {
    lx_tokens *tokens;
    uint64_t capacity;
};

static void read_lengths(void *context)
{
    const struct packing *packing = context;
    volatile uint64_t total = 0;
    uint64_t documents = lx_tokens_get_document_count(packing->tokens), first, length;
    for (uint64_t i = 0; i < documents; i++) {
        if (lx_tokens_get_document(packing->tokens, i, &first, &length, NULL) != LX_OK)
            abort();
        total = total + length;
    }
}

static void pack(void *context)
{
    const struct packing *packing = context;
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    must_be_ok(
        new_packed_tokens(packing->tokens, packing->capacity, LX_INT32, 0, 0, 0, &source, &error),
        &error);
    lx_source_unref(source);
}

static void bench_packing(bench_run *bench)
{
    enum { DOCUMENTS = 1000000 };
    uint64_t tokens = write_index("bench-many.ds.index", DOCUMENTS, UINT64_MAX);
    int file = open("bench-many.ds", O_RDWR | O_CREAT | O_TRUNC, 0666);
    must(file != -1, "open");
    must(ftruncate(file, (off_t)(4 * tokens)) == 0, "ftruncate"); /* never read */
    close(file);
    lx_tokens *opened = open_tokens("bench-many.ds");
    struct packing packings[] = {
        {opened, 0}, {opened, 512}, {opened, 2048}, {opened, 8192}, {opened, 131072}};
    const bench_case cases[] = {{"reading their lengths", read_lengths, &packings[0], DOCUMENTS},
                                {"samples of 512", pack, &packings[1], DOCUMENTS},
                                {"samples of 2,048", pack, &packings[2], DOCUMENTS},
                                {"samples of 8,192", pack, &packings[3], DOCUMENTS},
                                {"samples of 131,072", pack, &packings[4], DOCUMENTS}};
    bench_compare(bench, "packing 1,000,000 documents", "document", cases, 5);
    lx_tokens_unref(opened);
    unlink("bench-many.ds");
    unlink("bench-many.ds.index");
}

/* ---- samples */

/** Consecutive tokens. */
struct piece {
    uint64_t first;
    uint32_t length;
};

struct reading {
    lx_source *source;
    const uint32_t *map;
    struct piece *pieces; /* the input of the plain loop */
    uint64_t *starts;     /* of each sample's pieces */
    uint64_t seed;
    int32_t *out;
};

static void fill_batches(void *context)
{
    struct reading *reading = context;
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[BATCH], length = lx_source_get_length(reading->source);
    size_t width = (size_t)lx_source_get_column(reading->source, 0)->size;
    lx_target targets[3];
    for (size_t i = 0; i < 3; i++)
        targets[i] = (lx_target){(uint8_t *)reading->out + i * BATCH * width, width};
    for (int i = 0; i < BATCHES; i++) {
        for (int k = 0; k < BATCH; k++)
            indices[k] = next_random(&reading->seed) % length;
        must_be_ok(lx_source_fill(reading->source, indices, BATCH, targets, &error), &error);
    }
}

static void copy_batches(void *context)
{
    struct reading *reading = context;
    uint64_t length = lx_source_get_length(reading->source);
    for (int i = 0; i < BATCHES; i++) {
        uint64_t next = next_random(&reading->seed) % length;
        for (int k = 0; k < BATCH; k++) {
            uint64_t now = next;
            uint8_t *out = (uint8_t *)(reading->out + (size_t)k * (LENGTH + 1));
            next = next_random(&reading->seed) % length;
            for (uint64_t p = reading->starts[next]; p < reading->starts[next + 1]; p++)
                kick((const uint8_t *)(reading->map + reading->pieces[p].first),
                     4 * reading->pieces[p].length);
            for (uint64_t p = reading->starts[now]; p < reading->starts[now + 1]; p++) {
                const struct piece *piece = &reading->pieces[p];
                memcpy(out, reading->map + piece->first, 4 * piece->length);
                out += 4 * piece->length;
            }
        }
    }
}

/** Lists the pieces of the samples of a source: each token is its own position. */
static void list_pieces(struct reading *reading)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t length = lx_source_get_length(reading->source), count = 0;
    size_t width = (size_t)lx_source_get_column(reading->source, 0)->size / 4, room = 0;
    int32_t *row = malloc(3 * 4 * width);
    reading->starts = malloc((length + 1) * sizeof *reading->starts);
    reading->pieces = NULL;
    for (uint64_t i = 0; i < length; i++) {
        const lx_target targets[] = {{row, 4 * width}, {NULL, 0}, {NULL, 0}};
        must_be_ok(lx_source_fill(reading->source, &i, 1, targets, &error), &error);
        reading->starts[i] = count;
        for (size_t k = 0; k < width && row[k] >= 0; k++) {
            if (k == 0 || row[k] != row[k - 1] + 1) {
                if (count == room)
                    reading->pieces = realloc(reading->pieces,
                                              (room = 2 * room + 1000) * sizeof *reading->pieces);
                reading->pieces[count++] = (struct piece){(uint64_t)row[k], 0};
            }
            reading->pieces[count - 1].length++;
        }
    }
    reading->starts[length] = count;
    free(row);
}

static lx_source *make_source(lx_tokens *tokens, int kind, unsigned columns)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = NULL;
    lx_status status = kind == 0   ? new_tokens(tokens, LENGTH, LX_INT32, 0, &source, &error)
                       : kind == 1 ? new_joined_tokens(tokens, LENGTH, LX_INT32, 0,
                                                       LX_SEPARATOR_NONE, columns, &source, &error)
                                   : new_packed_tokens(tokens, LENGTH, LX_INT32, 0, -1, columns,
                                                       &source, &error);
    must_be_ok(status, &error);
    return source;
}

/** A plain loop and the library, over the same samples in the same order. */
static void bench_kind(bench_run *bench, const char *title, lx_tokens *tokens, int kind,
                       const uint32_t *map)
{
    static const char *const names[] = {"memcpy loop", "tokens", "tokens and segments",
                                        "tokens, segments and positions"};
    struct reading readings[4];
    bench_case cases[4];
    int count = kind == 0 ? 2 : 4;
    for (int i = 0; i < count; i++) {
        unsigned columns = i < 2 ? 0 : i == 2 ? LX_PACKED_SEGMENTS : 3;
        readings[i] = (struct reading){.source = make_source(tokens, kind, columns),
                                       .map = map,
                                       .seed = 42,
                                       .out = malloc(3 * BATCH * 4 * (LENGTH + 1))};
        cases[i] = (bench_case){names[i], i == 0 ? copy_batches : fill_batches, &readings[i],
                                BATCHES * BATCH};
    }
    list_pieces(&readings[0]);
    bench_compare(bench, title, "sample", cases, (size_t)count);
    for (int i = 0; i < count; i++) {
        lx_source_unref(readings[i].source);
        free(readings[i].out);
    }
    free(readings[0].pieces);
    free(readings[0].starts);
}

static void bench_samples(bench_run *bench)
{
    write_index("bench-tokens.ds.index", UINT64_MAX, TOKENS);
    int file = open("bench-tokens.ds", O_RDWR | O_CREAT | O_TRUNC, 0666);
    must(file != -1, "open");
    must(ftruncate(file, 4 * TOKENS) == 0, "ftruncate");
    uint32_t *map = mmap(NULL, 4 * TOKENS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(map != MAP_FAILED, "mmap");
    for (uint64_t i = 0; i < TOKENS; i++)
        map[i] = LX__LE32((uint32_t)i);
    lx_tokens *tokens = open_tokens("bench-tokens.ds");
    bench_kind(bench, "samples of 4,096 tokens", tokens, 0, map);
    bench_kind(bench, "samples of documents one after the other", tokens, 1, map);
    bench_kind(bench, "samples of packed documents", tokens, 2, map);
    lx_tokens *field = copy_to_field(tokens, map, LX_COMPRESSION_RAW);
    bench_kind(bench, "samples of 4,096 tokens, of a field", field, 0, map);
    bench_kind(bench, "samples of documents of a field, one after the other", field, 1, map);
    bench_kind(bench, "samples of packed documents of a field", field, 2, map);
    lx_tokens_unref(field);
    remove_dataset();
    field = copy_to_field(tokens, map, LX_COMPRESSION_FLATE);
    bench_kind(bench, "samples of 4,096 tokens, of a compressed field", field, 0, map);
    lx_tokens_unref(field);
    remove_dataset();
    lx_tokens_unref(tokens);
    munmap(map, 4 * TOKENS);
    close(file);
    unlink("bench-tokens.ds");
    unlink("bench-tokens.ds.index");
}

void bench_tokens(bench_run *bench)
{
    bench_opening(bench);
    bench_packing(bench);
    bench_samples(bench);
}
