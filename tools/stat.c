/* SPDX-License-Identifier: MIT */
/* loaderx stat: prints the contents and the sizes of a dataset. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dataset.h"
#include "elsewhere.h"
#include "failure.h"
#include "image-sample.h"
#include "report.h"
#include "speed.h"
#include "table.h"

enum { OPTION_CHUNKS = OPTION_OWN, OPTION_SPEED };

/** The number of bytes that each value takes up in the tables; see zrecord(5). */
enum { TABLE_BYTES = 24 };

static const command_option options[] = {
    {OPTION_CHUNKS, "chunks", NULL,
     "also print a table of the chunks and how much of each is live"},
    {OPTION_SPEED, "speed", NULL, "also measure how fast the values of each field are read"},
    JSON_OPTION("print everything, including each chunk, as JSON"),
};

/** The arguments and the results. */
typedef struct statement {
    const char *path;
    bool json, show_chunks, show_speed;
    lx_dataset *dataset;
    const lx_schema *schema;
    lx_dataset_identity identity;
    lx_access access;    /**< The access mode that the default options select. */
    const char *network; /**< Name of the network file system; NULL if the file system is local. */
    lx_card *card;
    lx_storage_stats totals;
    lx_field_stats *fields; /**< In the order of the schema. */
    double *speeds;         /**< Bytes per second, in the same order; 0 if not measured. */
    image_sample *images;   /**< In the same order; all zero for fields without images. */
    lx_chunk_stats *chunks; /**< @ref chunk_count elements, if they are shown. */
    size_t chunk_count;
    uint64_t bytes;                 /**< Bytes of all values, decompressed. */
    uint64_t inlined, inline_bytes; /**< Number and total size of the inline values of all
                                         fields. */
} statement;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    statement *s = user;
    (void)value, (void)error;
    s->json = s->json || option->id == OPTION_JSON;
    s->show_speed = s->show_speed || option->id == OPTION_SPEED;
    s->show_chunks = s->show_chunks || option->id == OPTION_CHUNKS;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    statement *s = user;
    return command_take_directory(&s->path, text, error);
}

static const char *access_name(const statement *s)
{
    return s->access == LX_ACCESS_MMAP ? "mmap" : "pread";
}

/* ---- as JSON */

/** Ratio of value bytes to bytes in chunks; null if no value is in a chunk. */
static json_t *ratio_or_null(uint64_t bytes, uint64_t stored)
{
    return stored != 0 ? json_real((double)bytes / (double)stored) : json_null();
}

static json_t *number_or_null(uint64_t number)
{
    return number != 0 ? report_number(number) : json_null();
}

static json_t *field_json(const lx_field *field, const lx_field_stats *sums, double speed,
                          const image_sample *images)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < field->ndim; i++)
        json_array_append_new(shape, field->shape[i] == LX_NONE ? json_null()
                                                                : report_number(field->shape[i]));
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "name", field->name, "dtype", lx_dtype_get_name(field->dtype), "shape", shape, "compress",
        report_compression(field->compression), "level", number_or_null((uint64_t)field->level),
        "dictionary_bytes", number_or_null(sums->dictionary_bytes), "align", (int)field->align,
        "present", report_number(sums->present), "missing", report_number(sums->missing), "inline",
        report_number(sums->inlined), "inline_bytes", report_number(sums->inline_bytes),
        "compressed", report_number(sums->compressed), "bytes", report_number(sums->logical_bytes),
        "stored_bytes", report_number(sums->stored_bytes), "ratio",
        ratio_or_null(sums->logical_bytes, sums->stored_bytes), "bytes_per_second",
        number_or_null((uint64_t)speed), "images", image_sample_json(images));
}

static json_t *chunks_json(const statement *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->chunk_count; i++) {
        const lx_chunk_stats *chunk = &s->chunks[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "id",
                                              report_number(chunk->id), "payloads",
                                              report_number(chunk->payloads), "bytes",
                                              report_number(chunk->bytes), "live_payloads",
                                              report_number(chunk->live_payloads), "live_bytes",
                                              report_number(chunk->live_bytes), "dead_bytes",
                                              report_number(chunk->dead_bytes)));
    }
    return list;
}

static lx_status print_json(const statement *s, lx_error *error)
{
    const lx_storage_stats *t = &s->totals;
    json_t *fields = json_array();
    for (size_t i = 0; i < lx_schema_get_field_count(s->schema); i++)
        json_array_append_new(fields, field_json(lx_schema_get_field(s->schema, i), &s->fields[i],
                                                 s->speeds[i], &s->images[i]));
    return report_print(
        json_pack(
            "{s:o, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
            "s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s?, s:o, s:s?}",
            "path", report_text(s->path), "uuid", s->identity.uuid, "generation",
            report_number(s->identity.generation), "sequence", report_number(s->identity.sequence),
            "sealed", s->identity.sealed, "length", report_number(t->length), "fields", fields,
            "bytes", report_number(s->bytes), "ratio", ratio_or_null(s->bytes, t->live_bytes),
            "inline", report_number(s->inlined), "inline_bytes", report_number(s->inline_bytes),
            "chunk_records", report_number(t->chunk_records), "chunk_limit",
            report_number(t->chunk_limit), "payloads", report_number(t->payloads), "live_payloads",
            report_number(t->live_payloads), "chunk_bytes", report_number(t->chunk_bytes),
            "live_bytes", report_number(t->live_bytes), "dead_bytes", report_number(t->dead_bytes),
            "live_ratio", t->live_ratio, "utilisation", t->utilisation, "table_bytes",
            report_number(t->table_bytes), "log_bytes", report_number(t->log_bytes), "log_entries",
            report_number(t->log_entries), "leftover_bytes", report_number(t->leftover_bytes),
            "parts", report_number(t->parts), "chunks", chunks_json(s), "access", access_name(s),
            "network", s->network, "card", report_card_json(s->card), "import",
            dataset_is_incomplete(s->dataset) ? "incomplete" : NULL),
        error);
}

/* ---- as text */

/** Describes how the values are stored, for example "zstd 9, dictionary". */
static void describe_storage(const lx_field *field, const lx_field_stats *sums,
                             char text[TABLE_CELL])
{
    const char *dictionary = sums->dictionary_bytes != 0 ? ", dictionary"
                             : field->dictionary != 0    ? ", no dictionary yet"
                                                         : "";
    int used = snprintf(text, TABLE_CELL, "%s", report_compression(field->compression));
    if (field->level != 0)
        used += snprintf(text + used, (size_t)(TABLE_CELL - used), " %d", field->level);
    snprintf(text + used, (size_t)(TABLE_CELL - used), "%s", dictionary);
}

static lx_status add_field(table *t, const lx_field *field, const lx_field_stats *sums,
                           double speed, lx_error *error)
{
    const uint64_t counts[] = {sums->present, sums->missing, sums->inlined, sums->compressed};
    char size[REPORT_SIZE_TEXT], (*cells)[TABLE_CELL] = table_add(t, error);
    if (cells == NULL)
        return LX_ERR_NOMEM;
    snprintf(cells[0], TABLE_CELL, "%s", field->name);
    snprintf(cells[1], TABLE_CELL, "%s", lx_dtype_get_name(field->dtype));
    if (!lx_dtype_is_bytes(field->dtype))
        report_shape(field, cells[2], TABLE_CELL);
    else
        snprintf(cells[2], TABLE_CELL, "varies");
    describe_storage(field, sums, cells[3]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        snprintf(cells[4 + i], TABLE_CELL, "%" PRIu64, counts[i]);
    snprintf(cells[8], TABLE_CELL, "%s", report_size(sums->logical_bytes, size));
    snprintf(cells[9], TABLE_CELL, "%s", report_size(sums->stored_bytes, size));
    if (sums->stored_bytes != 0)
        snprintf(cells[10], TABLE_CELL, "%.2f",
                 (double)sums->logical_bytes / (double)sums->stored_bytes);
    else
        snprintf(cells[10], TABLE_CELL, "-");
    snprintf(cells[11], TABLE_CELL, speed != 0 ? "%s/s" : "-", report_size((uint64_t)speed, size));
    return LX_OK;
}

static lx_status print_fields(const statement *s, lx_error *error)
{
    static const char *const headings[] = {"FIELD",   "DTYPE",   "SHAPE",  "KEPT",
                                           "PRESENT", "MISSING", "INLINE", "COMPRESSED",
                                           "BYTES",   "STORED",  "RATIO",  "SPEED"};
    table t;
    size_t columns = sizeof headings / sizeof *headings - !s->show_speed;
    lx_status status = table_begin(&t, headings, columns, 4, error);
    for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(s->schema); i++)
        status = add_field(&t, lx_schema_get_field(s->schema, i), &s->fields[i], s->speeds[i],
                           error);
    if (status == LX_OK)
        table_print(&t);
    table_free(&t);
    return status;
}

/** Returns a percentage; 100 if the whole is 0. */
static double per_cent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100 * (double)part / (double)whole : 100;
}

static lx_status print_chunks(const statement *s, lx_error *error)
{
    static const char *const headings[] = {"CHUNK",      "PAYLOADS",   "LIVE",  "BYTES",
                                           "LIVE BYTES", "DEAD BYTES", "LIVE %"};
    table t;
    lx_status status = table_begin(&t, headings, sizeof headings / sizeof *headings, 0, error);
    for (size_t i = 0; status == LX_OK && i < s->chunk_count; i++) {
        const lx_chunk_stats *chunk = &s->chunks[i];
        const uint64_t numbers[] = {chunk->id,    chunk->payloads,   chunk->live_payloads,
                                    chunk->bytes, chunk->live_bytes, chunk->dead_bytes};
        char(*cells)[TABLE_CELL] = table_add(&t, error);
        if (cells == NULL) {
            status = LX_ERR_NOMEM;
            break;
        }
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            snprintf(cells[k], TABLE_CELL, "%" PRIu64, numbers[k]);
        snprintf(cells[6], TABLE_CELL, "%.1f", per_cent(chunk->live_bytes, chunk->bytes));
    }
    putchar('\n');
    if (status == LX_OK)
        table_print(&t);
    table_free(&t);
    return status;
}

static void print_totals(const statement *s)
{
    const lx_storage_stats *t = &s->totals;
    char a[REPORT_SIZE_TEXT], b[REPORT_SIZE_TEXT], c[REPORT_SIZE_TEXT], d[REPORT_SIZE_TEXT];
    uint64_t used = t->live_bytes + t->dead_bytes; /* in a damaged dataset, values may overlap */
    uint64_t padding = t->chunk_bytes > used ? t->chunk_bytes - used : 0;
    printf("chunks       %" PRIu64 ", each full at %" PRIu64 " payloads or %s\n", t->chunks,
           t->chunk_records, report_size(t->chunk_limit, a));
    printf("stored       %s in chunks, %.1f%% of it live, %s padding and %s dead, for %s of values",
           report_size(t->chunk_bytes, a), t->live_ratio * 100, report_size(padding, c),
           report_size(t->dead_bytes, d), report_size(s->bytes, b));
    if (t->live_bytes != 0)
        printf(": ratio %.2f", (double)s->bytes / (double)t->live_bytes);
    printf("\nutilisation  %.1f%% of the payload capacity of the chunks\n", t->utilisation * 100);
    printf("inline       %" PRIu64 " values, %s in total, not in chunks\n", s->inlined,
           report_size(s->inline_bytes, a));
    printf("tables       %s", report_size(t->table_bytes, a));
    if (t->table_bytes != 0)
        printf(": %d bytes for each value", TABLE_BYTES);
    if (t->table_bytes != 0 && s->bytes != 0)
        printf(", and %.1f%% of the size of all values", per_cent(t->table_bytes, s->bytes));
    putchar('\n');
    printf("log          %s, %" PRIu64 " entries not in the tables\n", report_size(t->log_bytes, a),
           t->log_entries);
    if (t->leftover_bytes != 0)
        printf("leftovers    %s " REPORT_LEFTOVERS "\n", report_size(t->leftover_bytes, a));
    if (elsewhere_is(s->path))
        printf("access       %s, because the dataset is remote (%s)\n", access_name(s), s->network);
    else
        printf("access       %s, because the dataset is on %s%s\n", access_name(s),
               s->network != NULL ? s->network : "a local file system",
               s->network != NULL ? ", a network file system" : "");
}

static lx_status print_text(const statement *s, lx_error *error)
{
    size_t count = lx_schema_get_field_count(s->schema);
    printf("%s: %" PRIu64 " records of %zu field%s%s", s->path, s->totals.length, count,
           count == 1 ? "" : "s", s->identity.sealed ? ", sealed" : "");
    if (s->totals.parts != 0)
        printf(", joined from %" PRIu64 " part%s", s->totals.parts,
               s->totals.parts == 1 ? "" : "s");
    putchar('\n');
    printf("uuid %s, generation %" PRIu64 ", sequence number %" PRIu64 "\n\n", s->identity.uuid,
           s->identity.generation, s->identity.sequence);
    if (dataset_is_incomplete(s->dataset))
        printf(DATASET_INCOMPLETE "\n\n");
    lx_status status = print_fields(s, error);
    putchar('\n');
    print_totals(s);
    for (size_t i = 0; i < count; i++)
        image_sample_print(&s->images[i], lx_schema_get_field(s->schema, i)->name,
                           s->totals.length);
    if (lx_card_get_count(s->card) != 0)
        putchar('\n');
    report_card(s->card);
    if (status == LX_OK && s->show_chunks)
        status = print_chunks(s, error);
    return status;
}

/* ---- collecting */

static lx_status collect_chunks(statement *s, lx_error *error)
{
    lx_status status = lx_dataset_stat_chunks(s->dataset, NULL, 0, &s->chunk_count, error);
    if (status != LX_OK)
        return status;
    s->chunks = calloc(s->chunk_count + 1, sizeof *s->chunks);
    if (s->chunks == NULL)
        return fail_memory(error, "statistics");
    return lx_dataset_stat_chunks(s->dataset, s->chunks, s->chunk_count, &s->chunk_count, error);
}

static lx_status collect(statement *s, lx_error *error)
{
    lx_status status = dataset_open_with(s->path, NULL, &s->dataset, error);
    if (status != LX_OK)
        return status;
    s->access = lx_dataset_get_access(s->dataset);
    s->network = lx_dataset_get_network(s->dataset);
    s->schema = lx_dataset_get_schema(s->dataset);
    lx_dataset_get_identity(s->dataset, &s->identity);
    status = lx_dataset_read_card(s->dataset, &s->card, error);
    if (status != LX_OK)
        return status;
    size_t count = lx_schema_get_field_count(s->schema);
    s->fields = calloc(count, sizeof *s->fields);
    s->speeds = calloc(count, sizeof *s->speeds);
    s->images = calloc(count, sizeof *s->images);
    if (s->fields == NULL || s->speeds == NULL || s->images == NULL)
        return fail_memory(error, "statistics");
    status = lx_dataset_stat(s->dataset, &s->totals, s->fields, error);
    if (status == LX_OK && (s->json || s->show_chunks))
        status = collect_chunks(s, error);
    for (size_t i = 0; s->show_speed && status == LX_OK && i < count; i++)
        status = speed_measure(s->dataset, i, &s->speeds[i], error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        if (lx_schema_get_field(s->schema, i)->dtype == LX_IMAGE)
            status = image_sample_take(s->dataset, i, &s->images[i], error);
    dataset_advise_repair(error);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        s->bytes += s->fields[i].logical_bytes;
        s->inlined += s->fields[i].inlined;
        s->inline_bytes += s->fields[i].inline_bytes;
    }
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    statement s = {0};
    const command_line line = {take_option, take_argument, &s};
    lx_status status = command_parse(&stat_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(s.path, error);
    if (status == LX_OK)
        status = collect(&s, error);
    if (status == LX_OK)
        status = s.json ? print_json(&s, error) : print_text(&s, error);
    free(s.fields);
    free(s.speeds);
    free(s.images);
    free(s.chunks);
    lx_card_free(s.card);
    lx_dataset_close(s.dataset);
    return status;
}

const command stat_command = {.name = "stat",
                              .arguments = "DIR [OPTION...]",
                              .summary = "print the length, fields, chunks and sizes of a dataset",
                              .options = options,
                              .option_count = sizeof options / sizeof *options,
                              .notes =
                                  "Reads all tables, a sample of the images and, for --speed,\n"
                                  "some records.\n",
                              .examples = "  loaderx stat fashion\n"
                                          "  loaderx stat fashion --chunks\n"
                                          "  loaderx stat fashion --json | jq .length\n",
                              .fetches = true,
                              .run = run};
