/* SPDX-License-Identifier: MIT */
/* Makes changed datasets with the library's writer: records were modified and deleted, fields added
 * and dropped, logs and tables replaced by later generations. A model in memory has the expected
 * contents, which are written to DIR.txt in the canonical form of dump.h.
 *
 * Usage: make-changed NAME DIR         one of the goldens of tests/data/zrecord
 *        make-changed random SEED DIR  other changes for each seed
 *
 * The goldens are frozen, as are those of make-golden.c. */
#include <stdbool.h>
#include <string.h>

#include <loaderx/maintenance.h>

#include "dump.h"

#define FIELDS_MAX 16
#define RECORDS_MAX 4096
#define VALUE_MAX 600

/** A value; size LX_NONE means missing. */
struct held {
    uint64_t size;
    uint8_t data[VALUE_MAX];
};

/** A dataset, and its expected contents: records with a value for each field. */
struct changed {
    const char *path;
    lx_writer *writer;
    lx_writer_options *options;
    lx_error error;
    uint64_t random; /**< The state of the random generator. */
    size_t fields;
    uint64_t length;
    struct held *records[RECORDS_MAX];
    unsigned names; /**< Number of field names so far. */
};

static void need(const struct changed *d, lx_status status)
{
    char text[2048];
    if (status == LX_OK)
        return;
    lx_error_describe(&d->error, text, sizeof text);
    fprintf(stderr, "make-changed: %s: %s\n", lx_status_get_name(status), text);
    exit(1);
}

static void need_system(bool done, const char *what)
{
    if (done)
        return;
    perror(what);
    exit(1);
}

/** SplitMix64 (Steele, Lea, Flood 2014): the next number, below @p limit. */
static uint64_t draw(struct changed *d, uint64_t limit)
{
    uint64_t of = d->random += 0x9e3779b97f4a7c15u;
    of = (of ^ of >> 30) * 0xbf58476d1ce4e5b9u;
    of = (of ^ of >> 27) * 0x94d049bb133111ebu;
    return (of ^ of >> 31) % limit;
}

/* ---- values and records */

static const lx_field *field_at(const struct changed *d, size_t position)
{
    return lx_schema_get_field(lx_writer_get_schema(d->writer), position);
}

/** A value of any kind: missing, empty, short, or longer; half of them compress well. */
static void draw_value(struct changed *d, size_t position, struct held *value)
{
    const lx_field *field = field_at(d, position);
    static const uint64_t longest[] = {1, 9, 40, VALUE_MAX};
    uint8_t first = (uint8_t)draw(d, 256), step = (uint8_t)draw(d, 2);
    if (draw(d, 8) == 0)
        value->size = LX_NONE;
    else if (field->size != LX_NONE)
        value->size = field->size;
    else
        value->size = draw(d, longest[draw(d, 4)]) / field->item_size * field->item_size;
    for (uint64_t i = 0; value->size != LX_NONE && i < value->size; i++)
        value->data[i] = step != 0 ? (uint8_t)draw(d, 256) : first;
}

static struct held *new_record(struct changed *d)
{
    struct held *record = calloc(FIELDS_MAX, sizeof *record);
    need_system(record != NULL, "a record");
    for (size_t i = 0; i < d->fields; i++)
        draw_value(d, i, &record[i]);
    return record;
}

static void append(struct changed *d, uint64_t count)
{
    for (uint64_t i = 0; i < count && d->length < RECORDS_MAX; i++) {
        lx_value values[FIELDS_MAX];
        struct held *record = new_record(d);
        for (size_t k = 0; k < d->fields; k++)
            values[k] = (lx_value){record[k].data, record[k].size};
        need(d, lx_writer_append(d->writer, values, d->fields, NULL, &d->error));
        d->records[d->length++] = record;
    }
}

/** Gives some fields of records new values. */
static void modify(struct changed *d, uint64_t count)
{
    for (uint64_t i = 0; i < count && d->length != 0; i++) {
        uint64_t index = draw(d, d->length);
        size_t fields[FIELDS_MAX], changed = 0;
        lx_value values[FIELDS_MAX];
        for (size_t k = 0; k < d->fields; k++) {
            struct held *value = &d->records[index][k];
            if (draw(d, 2) == 0)
                continue;
            draw_value(d, k, value);
            fields[changed] = k;
            values[changed++] = (lx_value){value->data, value->size};
        }
        need(d, lx_writer_modify(d->writer, index, fields, values, changed, &d->error));
    }
}

/** Deletes records: the last one takes the place. */
static void delete (struct changed *d, uint64_t count)
{
    for (uint64_t i = 0; i < count && d->length != 0; i++) {
        uint64_t index = draw(d, d->length);
        need(d, lx_writer_delete(d->writer, index, NULL, &d->error));
        free(d->records[index]);
        d->records[index] = d->records[--d->length];
    }
}

static void truncate_to(struct changed *d, uint64_t length)
{
    need(d, lx_writer_truncate(d->writer, length, &d->error));
    while (d->length > length)
        free(d->records[--d->length]);
}

static void commit(struct changed *d)
{
    need(d, lx_writer_commit(d->writer, &d->error));
}

/** Some operations of each kind, and a commit. */
static void change(struct changed *d, uint64_t count)
{
    append(d, count);
    modify(d, count);
    delete (d, count / 2);
    commit(d);
}

/* ---- fields */

static void add_field(struct changed *d, const char *name, lx_dtype dtype,
                      lx_compression compression)
{
    static const uint64_t shape[] = {3, 4};
    size_t ndim = dtype == LX_UINT8 ? 2 : 0;
    need(d, lx_writer_add_field(d->writer, name, dtype, shape, ndim, compression, &d->error));
    for (uint64_t i = 0; i < d->length; i++)
        d->records[i][d->fields].size = LX_NONE;
    d->fields++;
}

/** Adds a field of a list of pairs. */
static void add_ragged(struct changed *d, const char *name)
{
    static const uint64_t shape[] = {LX_NONE, 2};
    need(d,
         lx_writer_add_field(d->writer, name, LX_INT16, shape, 2, LX_COMPRESSION_RAW, &d->error));
    for (uint64_t i = 0; i < d->length; i++)
        d->records[i][d->fields].size = LX_NONE;
    d->fields++;
}

/** Adds a field whose value is the same in all records, and has @p size bytes. */
static void add_default(struct changed *d, const char *name, uint64_t size,
                        lx_compression compression)
{
    struct held held = {.size = size};
    for (uint64_t i = 0; i < size; i++)
        held.data[i] = (uint8_t)draw(d, 256);
    const lx_value value = {held.data, size};
    need(d, lx_writer_add_field_default(d->writer, name, LX_BYTES, NULL, 0, compression, &value,
                                        &d->error));
    for (uint64_t i = 0; i < d->length; i++)
        d->records[i][d->fields] = held;
    d->fields++;
}

/** The values that a conversion has made. */
struct converted {
    uint8_t *data;
    uint64_t offsets[4097];
    uint8_t present[4096];
};

/** Appends a byte to each value, and removes the values of every seventh record. */
static lx_status lengthen(const lx_values *values, uint64_t count, lx_values *made, void *user,
                          lx_error *error)
{
    struct converted *to = user;
    (void)error;
    free(to->data);
    to->data = malloc(values->offsets[count] + count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t size = values->offsets[i + 1] - values->offsets[i];
        to->present[i] = values->present[i] && size % 7 != 3;
        size = to->present[i] ? size : 0;
        memcpy(to->data + to->offsets[i], (const uint8_t *)values->data + values->offsets[i], size);
        if (to->present[i])
            to->data[to->offsets[i] + size++] = 0x5a;
        to->offsets[i + 1] = to->offsets[i] + size;
    }
    *made = (lx_values){to->data, to->offsets, to->present};
    return LX_OK;
}

/** Converts a field to bytes, which are one longer. */
static void convert_field(struct changed *d, size_t position)
{
    struct converted made = {0};
    for (uint64_t i = 0; i < d->length; i++)
        if (d->records[i][position].size == VALUE_MAX)
            return; /* no room for another byte */
    need(d, lx_writer_convert_field(d->writer, field_at(d, position)->name, LX_BYTES, NULL, 0,
                                    lengthen, &made, &d->error));
    free(made.data);
    for (uint64_t i = 0; i < d->length; i++) {
        struct held *value = &d->records[i][position];
        if (value->size == LX_NONE)
            continue;
        if (value->size % 7 == 3)
            value->size = LX_NONE;
        else
            value->data[value->size++] = 0x5a;
    }
}

static void drop_field(struct changed *d, const char *name)
{
    size_t position;
    need(d, lx_schema_find_field(lx_writer_get_schema(d->writer), name, &position, &d->error));
    need(d, lx_writer_drop_field(d->writer, name, &d->error));
    d->fields--;
    for (uint64_t i = 0; i < d->length; i++)
        memmove(&d->records[i][position], &d->records[i][position + 1],
                (d->fields - position) * sizeof *d->records[i]);
}

static void rename_field(struct changed *d, const char *name, const char *to)
{
    need(d, lx_writer_rename_field(d->writer, name, to, &d->error));
}

/* ---- the dataset as a whole */

static void open_again(struct changed *d)
{
    need(d, lx_writer_close(d->writer, &d->error));
    need(d, lx_writer_open(d->path, d->options, &d->writer, &d->error));
}

static void checkpoint(struct changed *d)
{
    need(d, lx_writer_checkpoint(d->writer, &d->error));
}

static void rebalance(struct changed *d)
{
    need(d, lx_writer_rebalance(d->writer, NULL, NULL, NULL, &d->error));
}

/** Moves everything to the tables. */
static void seal_and_unseal(struct changed *d)
{
    need(d, lx_writer_seal(d->writer, &d->error));
    need(d, lx_writer_close(d->writer, &d->error));
    need(d, lx_dataset_unseal(d->path, &d->error));
    need(d, lx_writer_open(d->path, d->options, &d->writer, &d->error));
}

static uint64_t generation(struct changed *d)
{
    lx_dataset *dataset;
    lx_dataset_identity identity;
    need(d, lx_dataset_open(d->path, NULL, &dataset, &d->error));
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    return identity.generation;
}

/** Changes the numbers of two records until the log is long enough to be rotated. */
static void restart(struct changed *d)
{
    const size_t label = 1;
    uint64_t before = generation(d);
    for (uint64_t i = 1; i % 1000 != 0 || generation(d) == before; i++) {
        struct held *value = &d->records[i % 2][label];
        const lx_value number = {value->data, 8};
        value->size = 8;
        memcpy(value->data, &i, sizeof i);
        need(d, lx_writer_modify(d->writer, i % 2, &label, &number, 1, &d->error));
        commit(d);
    }
}

/* ---- the goldens */

static void make_changed(struct changed *d)
{
    append(d, 12);
    seal_and_unseal(d);
    for (int i = 0; i < 4; i++)
        change(d, 6);
}

static void make_folded(struct changed *d)
{
    make_changed(d);
    checkpoint(d);
    change(d, 5);
    checkpoint(d);
    change(d, 5);
}

static void make_rebalanced(struct changed *d)
{
    make_changed(d);
    rebalance(d);
    change(d, 8);
    rebalance(d);
    change(d, 5);
}

static void make_restarted(struct changed *d)
{
    append(d, 8);
    seal_and_unseal(d);
    restart(d);
    change(d, 3);
}

static void make_fields(struct changed *d)
{
    append(d, 7);
    commit(d);
    add_field(d, "late", LX_BYTES, LX_COMPRESSION_FLATE);
    add_field(d, "score", LX_FLOAT64, LX_COMPRESSION_RAW);
    change(d, 5);
    drop_field(d, "label");
    change(d, 4);
    checkpoint(d);
    add_field(d, "label", LX_UINT8, LX_COMPRESSION_RAW); /* the same name gets another stem */
    rename_field(d, "late", "latest");
    change(d, 5);
    drop_field(d, "score");
    add_field(d, "late", LX_INT64, LX_COMPRESSION_RAW);
    change(d, 4);
}

static void make_unsealed(struct changed *d)
{
    make_changed(d);
    seal_and_unseal(d);
    change(d, 5);
    seal_and_unseal(d);
    change(d, 4);
}

static void make_sealed(struct changed *d)
{
    make_changed(d);
    need(d, lx_writer_seal(d->writer, &d->error));
}

static void make_emptied(struct changed *d)
{
    append(d, 9);
    seal_and_unseal(d);
    change(d, 4);
    truncate_to(d, 0);
    commit(d);
    append(d, 3); /* below rows */
    commit(d);
}

static void make_defaults(struct changed *d)
{
    append(d, 9);
    commit(d);
    add_default(d, "short", 5, LX_COMPRESSION_RAW);
    add_default(d, "long", 70, LX_COMPRESSION_FLATE);
    add_ragged(d, "pairs");
    change(d, 6);
    rebalance(d);
    convert_field(d, 1);
    change(d, 5);
    convert_field(d, 4);
    add_default(d, "later", 9, LX_COMPRESSION_RAW);
    change(d, 4);
}

/** One random step. */
static void any_step(struct changed *d)
{
    char name[16];
    switch (draw(d, 16)) {
    case 0:
        checkpoint(d);
        break;
    case 1:
        rebalance(d);
        break;
    case 2:
        seal_and_unseal(d);
        break;
    case 3:
        open_again(d);
        break;
    case 4:
        truncate_to(d, draw(d, 4) == 0 ? 0 : d->length - draw(d, d->length / 4 + 1));
        break;
    case 5:
        if (d->fields < FIELDS_MAX) {
            snprintf(name, sizeof name, "new-%u", d->names++);
            lx_compression compression = (lx_compression)draw(d, 2);
            add_field(d, name, draw(d, 2) == 0 ? LX_BYTES : LX_UINT8, compression);
        }
        break;
    case 6:
        if (d->fields > 1)
            drop_field(d, field_at(d, draw(d, d->fields))->name);
        break;
    case 7:
        snprintf(name, sizeof name, "other-%u", d->names++);
        rename_field(d, field_at(d, draw(d, d->fields))->name, name);
        break;
    case 8:
        append(d, draw(d, 300)); /* not committed yet */
        break;
    case 9:
        if (d->fields < FIELDS_MAX) {
            snprintf(name, sizeof name, "pairs-%u", d->names++);
            add_ragged(d, name);
        }
        break;
    case 10:
    case 11:
        if (d->fields < FIELDS_MAX) {
            snprintf(name, sizeof name, "same-%u", d->names++);
            lx_compression compression = (lx_compression)draw(d, 2);
            add_default(d, name, draw(d, 40), compression);
        }
        break;
    case 12:
        convert_field(d, draw(d, d->fields));
        break;
    default:
        change(d, draw(d, 40));
    }
}

static void make_random(struct changed *d)
{
    for (uint64_t steps = draw(d, 30); steps != 0; steps--)
        any_step(d);
}

/** Makes the dataset of that name. */
static const struct plan {
    const char *name;
    void (*make)(struct changed *d);
    uint64_t seed;
} plans[] = {
    {"changed", make_changed, 21},       {"folded", make_folded, 22},
    {"rebalanced", make_rebalanced, 23}, {"restarted", make_restarted, 24},
    {"fields", make_fields, 25},         {"unsealed", make_unsealed, 26},
    {"sealed-changed", make_sealed, 27}, {"emptied", make_emptied, 28},
    {"defaults", make_defaults, 29},
};

static void create(struct changed *d)
{
    static const uint64_t shape[] = {3, 4};
    lx_schema *schema = lx_schema_new();
    d->options = lx_writer_options_new();
    need_system(schema != NULL && d->options != NULL, d->path);
    need(d,
         lx_schema_add_field(schema, "image", LX_UINT8, shape, 2, LX_COMPRESSION_RAW, &d->error));
    need(d, lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &d->error));
    need(d, lx_schema_add_field(schema, "caption", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE,
                                &d->error));
    d->fields = 3;
    /* There are no power losses here, so no sync is needed. */
    need(d, lx_writer_options_set_durability(d->options, LX_DURABILITY_NONE, &d->error));
    need(d, lx_writer_options_set_chunk_limits(d->options, 30, 4096, &d->error));
    need(d, lx_writer_create(d->path, schema, d->options, &d->writer, &d->error));
    lx_schema_free(schema);
}

static void write_text(struct changed *d)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.txt", d->path);
    FILE *file = fopen(path, "w");
    need_system(file != NULL, path);
    dump_head(file, lx_writer_get_schema(d->writer), d->length);
    for (uint64_t i = 0; i < d->length; i++)
        for (size_t k = 0; k < d->fields; k++)
            dump_value(file, i, field_at(d, k)->name, d->records[i][k].data, d->records[i][k].size);
    need_system(fclose(file) == 0, path);
}

static void make(void (*how)(struct changed *d), uint64_t seed, const char *path)
{
    static struct changed changed;
    struct changed *d = &changed;
    *d = (struct changed){.path = path, .random = seed, .error = LX_ERROR_INIT};
    create(d);
    how(d);
    write_text(d);
    need(d, lx_writer_close(d->writer, &d->error));
    lx_writer_options_free(d->options);
    while (d->length != 0)
        free(d->records[--d->length]);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "random") == 0) {
        make(make_random, strtoull(argv[2], NULL, 10), argv[3]);
        return 0;
    }
    for (size_t i = 0; argc == 3 && i < sizeof plans / sizeof *plans; i++) {
        if (strcmp(argv[1], plans[i].name) == 0) {
            make(plans[i].make, plans[i].seed, argv[2]);
            return 0;
        }
    }
    fputs("usage: make-changed NAME DIR, or make-changed random SEED DIR\n", stderr);
    return 2;
}
