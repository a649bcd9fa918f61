/* SPDX-License-Identifier: MIT */
/* Makes datasets with the library's writer, and for each its expected contents, in DIR.txt in the
 * canonical form of dump.h.
 *
 * Usage: make-golden NAME DIR         one of the goldens of tests/data/zrecord
 *        make-golden random SEED DIR  another dataset for each seed
 *
 * The goldens are frozen: a uuid is random, and a frame contains the boot in which it was written.
 * A new golden is made by name and added; an existing one never changes. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"

/** The longest value. */
#define VALUE_MAX 6000

enum schema { ONE, MIXED, BYTES, FLATE, DTYPES, ZSTD, TYPES, SCHEMAS };

/** The final state of a dataset. */
enum end { CLOSED, SEALED, UNSEALED, KILLED, ENDS };

struct plan {
    const char *name;
    enum schema schema;
    enum end end;
    uint64_t length;
    uint64_t step;          /**< Records per commit. */
    uint64_t more;          /**< Records appended after the unsealing, or unsynced at the kill. */
    uint64_t longest;       /**< Bytes of a value. */
    uint64_t chunk_records; /**< 0: the default, for bytes too. */
    lx_durability durability;
    uint64_t seed;
};

static const struct plan plans[] = {
    {.name = "empty", .schema = MIXED, .step = 1},
    {.name = "one-field", .schema = ONE, .length = 5, .step = 5},
    {.name = "dtypes", .schema = DTYPES, .length = 5, .step = 2, .seed = 1},
    {.name = "bytes", .schema = BYTES, .length = 40, .step = 40, .longest = 100, .seed = 2},
    {.name = "flate", .schema = FLATE, .length = 18, .step = 7, .longest = 3000, .seed = 3},
    {.name = "chunks",
     .schema = MIXED,
     .length = 30,
     .step = 10,
     .longest = VALUE_MAX,
     .chunk_records = 20,
     .seed = 4},
    {.name = "commits", .schema = MIXED, .length = 24, .step = 1, .longest = 60, .seed = 5},
    {.name = "rows",
     .schema = MIXED,
     .end = UNSEALED,
     .length = 50,
     .step = 50,
     .more = 9,
     .longest = 200,
     .seed = 6},
    {.name = "sealed",
     .schema = MIXED,
     .end = SEALED,
     .length = 60,
     .step = 20,
     .longest = 200,
     .chunk_records = 70,
     .seed = 7},
    {.name = "sealed-empty", .schema = MIXED, .end = SEALED, .step = 1},
    {.name = "not-synced",
     .schema = MIXED,
     .end = KILLED,
     .length = 6,
     .step = 3,
     .more = 5,
     .longest = 60,
     .durability = LX_DURABILITY_NONE,
     .seed = 8},
    {.name = "types", .schema = TYPES, .length = 20, .step = 6, .longest = 300, .seed = 9},
};

/** A dataset under construction. */
struct golden {
    struct plan plan;
    const char *path;
    lx_schema *schema;
    lx_writer *writer;
    FILE *text; /**< The lines of its final values. */
    char *lines;
    size_t size;
    uint64_t length; /**< Its final number of records. */
    lx_error error;
};

static void need(const struct golden *golden, lx_status status)
{
    char text[2048];
    if (status == LX_OK)
        return;
    lx_error_describe(&golden->error, text, sizeof text);
    fprintf(stderr, "make-golden: %s: %s\n", lx_status_get_name(status), text);
    exit(1);
}

static void need_system(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "make-golden: %s: %s\n", what, strerror(errno));
    exit(1);
}

/** SplitMix64 (Steele, Lea, Flood 2014): a pseudorandom function. */
static uint64_t mix(uint64_t of)
{
    of += 0x9e3779b97f4a7c15u;
    of = (of ^ of >> 30) * 0xbf58476d1ce4e5b9u;
    of = (of ^ of >> 27) * 0x94d049bb133111ebu;
    return of ^ of >> 31;
}

static void add(struct golden *golden, const char *name, lx_dtype dtype, size_t ndim, uint64_t a,
                uint64_t b, lx_compression compression)
{
    const uint64_t shape[] = {a, b};
    need(golden, lx_schema_add_field(golden->schema, name, dtype, shape, ndim, compression,
                                     &golden->error));
}

static void add_fields(struct golden *golden)
{
    switch (golden->plan.schema) {
    case ONE:
        add(golden, "x", LX_UINT8, 1, 28, 0, LX_COMPRESSION_RAW);
        break;
    case BYTES:
        add(golden, "raw", LX_BYTES, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "flate", LX_BYTES, 0, 0, 0, LX_COMPRESSION_FLATE);
        break;
    case FLATE:
        add(golden, "wave", LX_INT32, 1, 64, 0, LX_COMPRESSION_FLATE);
        add(golden, "text", LX_BYTES, 0, 0, 0, LX_COMPRESSION_FLATE);
        break;
    case ZSTD:
        add(golden, "wave", LX_INT32, 1, 64, 0, LX_COMPRESSION_ZSTD);
        add(golden, "text", LX_BYTES, 0, 0, 0, LX_COMPRESSION_ZSTD);
        add(golden, "flate", LX_BYTES, 0, 0, 0, LX_COMPRESSION_FLATE);
        need(golden, lx_schema_set_compression(golden->schema, "text",
                                               (int)(golden->plan.seed % 20), 0, &golden->error));
        break;
    case DTYPES:
        for (int dtype = LX_BOOL; dtype <= LX_COMPLEX128; dtype++)
            add(golden, lx_dtype_get_name((lx_dtype)dtype), (lx_dtype)dtype, (size_t)dtype % 3, 2,
                3, dtype % 4 == 3 ? LX_COMPRESSION_FLATE : LX_COMPRESSION_RAW);
        add(golden, "nothing", LX_FLOAT64, 2, 0, 7, LX_COMPRESSION_RAW);
        break;
    case TYPES:
        add(golden, "bfloat16", LX_BFLOAT16, 1, 9, 0, LX_COMPRESSION_RAW);
        add(golden, "e4m3fn", LX_FLOAT8_E4M3FN, 2, 3, 5, LX_COMPRESSION_FLATE);
        add(golden, "e5m2", LX_FLOAT8_E5M2, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "day", LX_DATETIME64_D, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "second", LX_DATETIME64_S, 1, 2, 0, LX_COMPRESSION_RAW);
        add(golden, "ms", LX_DATETIME64_MS, 0, 0, 0, LX_COMPRESSION_FLATE);
        add(golden, "us", LX_DATETIME64_US, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "ns", LX_DATETIME64_NS, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "text", LX_STR, 0, 0, 0, LX_COMPRESSION_FLATE);
        add(golden, "json", LX_JSON, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "image", LX_IMAGE, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "boxes", LX_FLOAT32, 2, LX_NONE, 4, LX_COMPRESSION_RAW);
        add(golden, "tokens", LX_UINT16, 1, LX_NONE, 0, LX_COMPRESSION_FLATE);
        add(golden, "halves", LX_BFLOAT16, 2, LX_NONE, 3, LX_COMPRESSION_RAW);
        break;
    default:
        add(golden, "image", LX_UINT8, 2, 3, 4, LX_COMPRESSION_RAW);
        add(golden, "label", LX_INT64, 0, 0, 0, LX_COMPRESSION_RAW);
        add(golden, "wave", LX_INT32, 1, 16, 0, LX_COMPRESSION_FLATE);
        add(golden, "caption", LX_BYTES, 0, 0, 0, LX_COMPRESSION_FLATE);
        add(golden, "blob", LX_BYTES, 0, 0, 0, LX_COMPRESSION_RAW);
    }
}

/** The size of a value: dense values are sometimes missing; values that vary in size alternate
 * between all kinds. */
static uint64_t value_size(const struct golden *golden, const lx_field *field, uint64_t index,
                           uint64_t random)
{
    if (field->size != LX_NONE)
        return random % 8 == 0 ? LX_NONE : field->size;
    switch ((index + field->id) % 5) {
    case 0:
        return LX_NONE;
    case 1:
        return 0;
    case 2:
        return 1 + random % 8;
    case 3:
        return 9 + random % 30;
    default:
        return random % (golden->plan.longest + 1);
    }
}

/** Makes a text of letters and two-byte characters. */
static void make_text(uint64_t random, uint8_t *memory, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        bool wide = mix(random + i) % 5 == 0 && i + 1 < size;
        memory[i] = wide ? 0xc3 : (uint8_t)('a' + mix(random + i) % 26);
        if (wide)
            memory[++i] = 0xa4; /* U+00E4 */
    }
}

/** Makes an array of digits, with a space after the last one if the size is even. */
static void make_json(uint64_t random, uint8_t *memory, uint64_t size)
{
    uint64_t end = size - (size % 2 == 0);
    memory[size - 1] = ' ';
    if (end == 1) {
        memory[0] = (uint8_t)('0' + random % 10);
        return;
    }
    for (uint64_t i = 0; i < end; i++)
        memory[i] = i % 2 == 1 ? (uint8_t)('0' + mix(random + i) % 10) : ',';
    memory[0] = '[';
    memory[end - 1] = ']';
}

/** Makes the value of a field of record @p index. Half of them compress well. */
static lx_value make_value(const struct golden *golden, const lx_field *field, uint64_t index,
                           uint8_t *memory)
{
    uint64_t random = mix(mix(golden->plan.seed * 1000 + field->id) + index);
    uint64_t size = value_size(golden, field, index, random);
    bool dull = random & 1u << 20;
    if (size != LX_NONE && field->size == LX_NONE)
        size -= size % field->item_size;
    if (size == 0 && field->dtype == LX_JSON)
        size = LX_NONE;
    if (size != LX_NONE && (field->dtype == LX_STR || field->dtype == LX_JSON)) {
        (field->dtype == LX_STR ? make_text : make_json)(random, memory, size);
        return (lx_value){memory, size};
    }
    if (field->dtype == LX_IMAGE && size != LX_NONE && size < 3)
        size = LX_NONE;
    for (uint64_t i = 0; size != LX_NONE && i < size; i++)
        memory[i] = dull ? (uint8_t)(index + i / 16) : (uint8_t)mix(random + i);
    if (field->dtype == LX_IMAGE && size != LX_NONE)
        memcpy(memory, "\xff\xd8\xff", 3); /* writers of the golden datasets stored any bytes */
    return (lx_value){memory, size};
}

/** Appends records and commits after each step. Adds them to the expected contents if @p stay. */
static void append(struct golden *golden, uint64_t count, bool stay)
{
    static uint8_t memory[16][VALUE_MAX];
    size_t fields = lx_schema_get_field_count(golden->schema);
    for (uint64_t i = 0; i < count; i++) {
        lx_value values[16];
        uint64_t index = lx_writer_get_length(golden->writer);
        for (size_t k = 0; k < fields; k++) {
            const lx_field *field = lx_schema_get_field(golden->schema, k);
            values[k] = make_value(golden, field, index, memory[k]);
            if (stay)
                dump_value(golden->text, index, field->name, values[k].data, values[k].size);
        }
        need(golden, lx_writer_append(golden->writer, values, fields, NULL, &golden->error));
        if ((i + 1) % golden->plan.step == 0)
            need(golden, lx_writer_commit(golden->writer, &golden->error));
    }
    golden->length += stay ? count : 0;
}

/** Trains dictionaries on the values so far, if they have enough in common. */
static void train(struct golden *golden)
{
    for (size_t i = 0; i < 2; i++) {
        lx_error error = LX_ERROR_INIT;
        const char *field = lx_schema_get_field(golden->schema, i)->name;
        lx_status status = lx_writer_train_dictionary(golden->writer, field, NULL, &error);
        if (status != LX_ERR_STATE && status != LX_ERR_UNSUPPORTED)
            need(golden, status);
    }
}

static lx_writer_options *writer_options(struct golden *golden)
{
    const struct plan *plan = &golden->plan;
    lx_writer_options *options = lx_writer_options_new();
    need_system(options != NULL, "options");
    need(golden, lx_writer_options_set_durability(options, plan->durability, &golden->error));
    if (plan->chunk_records != 0)
        need(golden, lx_writer_options_set_chunk_limits(options, plan->chunk_records, 4096,
                                                        &golden->error));
    return options;
}

static void seal(struct golden *golden)
{
    need(golden, lx_writer_seal(golden->writer, &golden->error));
    need(golden, lx_writer_close(golden->writer, &golden->error));
    golden->writer = NULL;
}

static void write_text(struct golden *golden)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.txt", golden->path);
    FILE *file = fopen(path, "w");
    need_system(file != NULL && fflush(golden->text) == 0, path);
    dump_head(file, golden->schema, golden->length);
    fwrite(golden->lines, 1, golden->size, file);
    need_system(fclose(file) == 0, path);
}

static void make(const struct plan *plan, const char *path)
{
    struct golden golden = {
        .plan = *plan, .path = path, .schema = lx_schema_new(), .error = LX_ERROR_INIT};
    golden.text = open_memstream(&golden.lines, &golden.size);
    need_system(golden.schema != NULL && golden.text != NULL, path);
    add_fields(&golden);
    lx_writer_options *options = writer_options(&golden);
    need(&golden, lx_writer_create(path, golden.schema, options, &golden.writer, &golden.error));
    uint64_t before = plan->schema == ZSTD ? plan->length / 2 : 0;
    append(&golden, before, true);
    if (before != 0)
        train(&golden);
    append(&golden, plan->length - before, true);
    if (plan->end == SEALED || plan->end == UNSEALED)
        seal(&golden);
    if (plan->end == UNSEALED) {
        need(&golden, lx_dataset_unseal(path, &golden.error));
        need(&golden, lx_writer_open(path, options, &golden.writer, &golden.error));
        append(&golden, plan->more, true);
    }
    if (plan->end == KILLED) {
        need(&golden, lx_writer_sync(golden.writer, &golden.error));
        append(&golden, plan->more, false);
        need(&golden, lx_writer_commit(golden.writer, &golden.error));
    }
    write_text(&golden);
    if (plan->end == KILLED)
        _exit(0); /* unsynced commits stay unsynced */
    need(&golden, lx_writer_close(golden.writer, &golden.error));
    lx_writer_options_free(options);
    lx_schema_free(golden.schema);
    fclose(golden.text);
    free(golden.lines);
}

/** Every fifth seed makes so many records that commits move them to the tables. */
static struct plan random_plan(uint64_t seed)
{
    bool large = seed % 5 == 4;
    struct plan plan = {.schema = large ? ONE : (enum schema)(mix(seed) % SCHEMAS),
                        .end = (enum end)(mix(seed + 1) % KILLED),
                        .length = large ? 16384 + mix(seed + 2) % 2000 : mix(seed + 2) % 100,
                        .more = mix(seed + 3) % 20,
                        .longest = mix(seed + 4) % VALUE_MAX,
                        .chunk_records = mix(seed + 5) % 3 * 50,
                        .durability = (lx_durability)(mix(seed + 6) % 3),
                        .seed = seed};
#ifndef HAVE_ZSTD
    if (plan.schema == ZSTD)
        plan.schema = FLATE;
#endif
    plan.step = large ? plan.length : 1 + mix(seed + 7) % (plan.length + 1);
    return plan;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "random") == 0) {
        struct plan plan = random_plan(strtoull(argv[2], NULL, 10));
        make(&plan, argv[3]);
        return 0;
    }
    for (size_t i = 0; argc == 3 && i < sizeof plans / sizeof *plans; i++) {
        if (strcmp(argv[1], plans[i].name) == 0) {
            make(&plans[i], argv[2]);
            return 0;
        }
    }
    fputs("usage: make-golden NAME DIR, or make-golden random SEED DIR\n", stderr);
    return 2;
}
