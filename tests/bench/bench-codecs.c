/* SPDX-License-Identifier: MIT */
/* Batches of texts of a compressed field, compared with the bare decoder over the same stored
 * records on the same threads. The dataset is made in the current folder and removed. */
#include "plain.h"

#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include <loaderx/maintenance.h>
#include <loaderx/writer.h>

#include "zrecord/read/dataset.h"
#include "zrecord/read/value-reader.h"

#define DATASET "bench-codecs.zrecord"
#define TEXTS ((uint64_t)60000)
#define TEXT_MAX 1600u
#define BATCH 256
#define BATCHES 64 /* read by a run */

/* ---- texts: words of a vocabulary, of which few are frequent and most are rare */

#define WORDS 4000u

static size_t make_word(uint64_t number, char *word)
{
    uint64_t seed = number * 77 + 5;
    size_t length = 2 + next_random(&seed) % 8;
    for (size_t i = 0; i < length; i++)
        word[i] = "etaoinshrdlucmfwypvbgkjqxz"[next_random(&seed) % (i % 2 != 0 ? 9 : 26)];
    word[length] = ' ';
    return length + 1;
}

static size_t make_text(uint64_t number, char text[TEXT_MAX])
{
    uint64_t seed = number + 1;
    size_t used = 0, wanted = 1000 + next_random(&seed) % 590;
    while (used + 10 < wanted) {
        uint64_t rank = next_random(&seed) % WORDS;
        rank = rank * (next_random(&seed) % WORDS) / WORDS;
        used += make_word(rank * (next_random(&seed) % WORDS) / WORDS, text + used);
    }
    return used;
}

/* ---- the dataset */

struct codec {
    const char *name;
    lx_compression compression;
    int level;
    uint32_t dictionary;
};

/** One thread's share of the batches, and what it needs to read them. */
struct share {
    lx_dataset *dataset;
    const uint64_t *indices;
    size_t batches;
    uint8_t *out;
    struct stored {
        const uint8_t *data;
        uint32_t size, length;
    } * stored; /* of all records, by index */
    const struct codec *codec;
    lx__inflater *inflater;
#ifdef HAVE_ZSTD
    ZSTD_DCtx *context;
    ZSTD_DDict *dictionary;
#endif
};

struct reading {
    struct share shares[THREADS_MAX];
    size_t threads;
    void *(*read)(void *share);
};

static lx_writer *create(const struct codec *codec)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    lx_schema *schema = lx_schema_new();
    must_be_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, codec->compression, &error),
               &error);
    must_be_ok(lx_schema_set_compression(schema, "text", codec->level, codec->dictionary, &error),
               &error);
    must_be_ok(lx_writer_create(DATASET, schema, NULL, &writer, &error), &error);
    lx_schema_free(schema);
    return writer;
}

static void append_texts(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    char text[TEXT_MAX];
    for (uint64_t i = 0; i < TEXTS; i++) {
        const lx_value value = {text, make_text(i, text)};
        must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
    }
    must_be_ok(lx_writer_close(writer, &error), &error);
}

static lx_dataset *open_dataset(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    must_be_ok(lx_dataset_open(DATASET, NULL, &dataset, &error), &error);
    return dataset;
}

/** Where the stored bytes of each record are mapped. */
static struct stored *locate(lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    lx__value_reader reader = lx__value_reader_of(snapshot);
    struct stored *stored = calloc(TEXTS, sizeof *stored);
    must(stored != NULL, "memory");
    for (uint64_t i = 0; i < TEXTS; i++) {
        lx__value value;
        must_be_ok(lx__value_find(&reader, 0, i, &value, &error), &error);
        must_be_ok(lx__value_fetch(&reader, 0, i, &value, NULL, &error), &error);
        stored[i] = (struct stored){value.data, value.entry.physical, value.entry.logical};
    }
    lx__value_reader_end(&reader);
    lx__snapshot_unref(snapshot); /* the dataset keeps it */
    return stored;
}

/* ---- reading */

/** Each text, by the decoder alone. */
static void *decode(void *user)
{
    const struct share *share = user;
    for (size_t batch = 0; batch < share->batches; batch++) {
        size_t at = 0;
        for (size_t i = 0; i < BATCH; i++) {
            const struct stored *one = &share->stored[share->indices[batch * BATCH + i]];
            if (one->size == one->length) {
                memcpy(share->out + at, one->data, one->size);
            } else if (share->codec->compression == LX_COMPRESSION_FLATE) {
                must(lx__inflate(share->inflater, one->data, one->size, share->out + at,
                                 one->length),
                     "inflate");
#ifdef HAVE_ZSTD
            } else if (share->dictionary != NULL) {
                must(ZSTD_decompress_usingDDict(share->context, share->out + at, one->length,
                                                one->data, one->size,
                                                share->dictionary) == one->length,
                     "zstd");
            } else {
                must(ZSTD_decompressDCtx(share->context, share->out + at, one->length, one->data,
                                         one->size) == one->length,
                     "zstd");
#endif
            }
            at += one->length;
        }
    }
    return NULL;
}

/** The same by the dataset: the sizes of a batch, then its values. */
static void *gather(void *user)
{
    const struct share *share = user;
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[BATCH + 1];
    for (size_t batch = 0; batch < share->batches; batch++) {
        const uint64_t *indices = share->indices + batch * BATCH;
        must_be_ok(lx_dataset_get_sizes(share->dataset, 0, indices, BATCH, offsets, NULL, &error),
                   &error);
        must_be_ok(
            lx_dataset_gather_bytes(share->dataset, 0, indices, BATCH, offsets, share->out, &error),
            &error);
    }
    return NULL;
}

static void run(void *context)
{
    struct reading *reading = context;
    run_on_threads(reading->read, reading->shares, sizeof *reading->shares, reading->threads);
}

/* ---- the comparison of one codec */

#ifdef HAVE_ZSTD
static ZSTD_DDict *load_dictionary(void)
{
    char data[1 << 20];
    FILE *file = fopen(DATASET "/text.dict", "rb");
    if (file == NULL)
        return NULL;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    return ZSTD_createDDict(data, size);
}
#endif

static void begin(struct reading *reading, const struct codec *codec, lx_dataset *dataset,
                  struct stored *stored, const uint64_t *indices)
{
    for (size_t i = 0; i < reading->threads; i++) {
        struct share *share = &reading->shares[i];
        *share = (struct share){.dataset = dataset,
                                .indices = indices + i * BATCHES * BATCH,
                                .batches = BATCHES,
                                .out = malloc(BATCH * TEXT_MAX),
                                .stored = stored,
                                .codec = codec,
                                .inflater = lx__inflater_new(&lx__flate)};
#ifdef HAVE_ZSTD
        share->context = ZSTD_createDCtx();
        share->dictionary = codec->dictionary != 0 ? load_dictionary() : NULL;
#endif
    }
}

static void end(struct reading *reading)
{
    for (size_t i = 0; i < reading->threads; i++) {
        lx__inflater_free(reading->shares[i].inflater);
        free(reading->shares[i].out);
#ifdef HAVE_ZSTD
        ZSTD_freeDCtx(reading->shares[i].context);
        ZSTD_freeDDict(reading->shares[i].dictionary);
#endif
    }
}

static void bench_threads(bench_run *bench, const struct codec *codec, lx_dataset *dataset,
                          struct stored *stored, const uint64_t *indices, size_t threads)
{
    struct reading plain = {.threads = threads, .read = decode};
    begin(&plain, codec, dataset, stored, indices);
    struct reading ours = plain;
    ours.read = gather;
    const double work = (double)(threads * BATCHES * BATCH);
    const bench_case cases[] = {{"the decoder alone", run, &plain, work},
                                {"batches of 256", run, &ours, work}};
    lx_storage_stats totals;
    lx_field_stats field;
    lx_error error = LX_ERROR_INIT;
    char title[120];
    must_be_ok(lx_dataset_stat(dataset, &totals, &field, &error), &error);
    snprintf(title, sizeof title, "texts of 1.3 KB, %s (ratio %.2f), %zu thread%s", codec->name,
             (double)field.logical_bytes / (double)field.stored_bytes, threads,
             threads == 1 ? "" : "s");
    bench_compare(bench, title, "text", cases, 2);
    end(&plain);
}

static void bench_codec(bench_run *bench, const struct codec *codec, const uint64_t *indices)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create(codec);
    if (codec->dictionary != 0) { /* so that all texts are compressed with it */
        const struct codec without = {.compression = codec->compression};
        append_texts(writer);
        must(rename(DATASET, DATASET ".old") == 0, DATASET);
        writer = create(&without);
        must_be_ok(
            lx_writer_set_compression(writer, "text", codec->level, codec->dictionary, &error),
            &error);
        lx_dataset *old = NULL;
        must_be_ok(lx_dataset_open(DATASET ".old", NULL, &old, &error), &error);
        must_be_ok(lx_writer_train_dictionary(writer, "text", old, &error), &error);
        lx_dataset_close(old);
        must_be_ok(lx_dataset_remove(DATASET ".old", &error), &error);
    }
    append_texts(writer);
    lx_dataset *dataset = open_dataset();
    struct stored *stored = locate(dataset);
    for (size_t threads = 1; threads <= THREADS_MAX; threads++)
        bench_threads(bench, codec, dataset, stored, indices, threads);
    free(stored);
    lx_dataset_close(dataset);
    must_be_ok(lx_dataset_remove(DATASET, &error), &error);
}

void bench_codecs(bench_run *bench)
{
    static const struct codec codecs[] = {
        {"raw", LX_COMPRESSION_RAW, 0, 0},
        {"flate, level 6", LX_COMPRESSION_FLATE, 6, 0},
#ifdef HAVE_ZSTD
        {"zstd, level 1", LX_COMPRESSION_ZSTD, 1, 0},
        {"zstd, level 3", LX_COMPRESSION_ZSTD, 3, 0},
        {"zstd, level 9", LX_COMPRESSION_ZSTD, 9, 0},
        {"zstd, level 3, dictionary", LX_COMPRESSION_ZSTD, 3, LX_DEFAULT_DICTIONARY},
        {"zstd, level 9, dictionary", LX_COMPRESSION_ZSTD, 9, LX_DEFAULT_DICTIONARY},
#endif
    };
    uint64_t seed = 1, *indices = malloc(THREADS_MAX * BATCHES * BATCH * sizeof *indices);
    must(indices != NULL, "memory");
    for (size_t i = 0; i < THREADS_MAX * BATCHES * BATCH; i++)
        indices[i] = next_random(&seed) % TEXTS;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        bench_codec(bench, &codecs[i], indices);
    free(indices);
}
