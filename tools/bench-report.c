/* SPDX-License-Identifier: MIT */
/* The results of 'loaderx bench', as a table, as JSON and in words. The words are those of
 * loader.stats() in Python. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "report.h"
#include "table.h"

/* A loader that reaches this share of a reference is limited by it. */
#define REACHED .75
/* Gains below this are noise. */
#define GAIN 1.15
#define GAIN_IF_CROWDED 2.
/* Processors that are busy for this share of the time leave nothing to gain. */
#define BUSY .85
/* If more than this share of the records comes from the disk, the disk takes most of the time. */
#define ON_DISK .1
/* The time to copy a record of fewer bytes hardly depends on their number. */
#define SMALL_RECORD 256

static const bench_measure *find(const bench *b, bench_kind kind)
{
    for (size_t i = 0; i < b->measure_count; i++)
        if (b->measures[i].kind == kind && b->measures[i].count != 0)
            return &b->measures[i];
    return NULL;
}

/** How many times as fast one measurement is as another; 0 if one is missing. */
static double ratio(const bench_measure *a, const bench_measure *b)
{
    return a != NULL && b != NULL && b->rate > 0 ? a->rate / b->rate : 0;
}

/* ---- what limits the loader */

static double field_share(const bench *b, size_t field)
{
    double all = 0;
    for (size_t i = 0; i < b->field_count; i++)
        all += b->field_seconds[i];
    return all > 0 ? b->field_seconds[field] / all : 0;
}

static const lx_field *field_of(const bench *b, size_t field)
{
    return lx_schema_get_field(lx_dataset_get_schema(b->dataset), b->fields[field]);
}

/** Returns the time that decompression takes, as a share of that of copying, and the compressed
 * field that takes the longest. */
static double codec_share(const bench *b, size_t *longest)
{
    double share = 0, most = 0;
    for (size_t i = 0; i < b->field_count; i++) {
        if (field_of(b, i)->compression == LX_COMPRESSION_RAW)
            continue;
        share += field_share(b, i);
        if (field_share(b, i) > most) {
            most = field_share(b, i);
            *longest = i;
        }
    }
    return share;
}

static bool any_compressed(const bench *b)
{
    for (size_t i = 0; i < b->field_count; i++)
        if (field_of(b, i)->compression != LX_COMPRESSION_RAW)
            return true;
    return false;
}

/** What the loader waits for. */
typedef struct verdict {
    const char *name; /**< For JSON. */
    char text[1024];
} verdict;

static void say(verdict *v, const char *format, ...) LX_PRINTF(2, 3);

static void say(verdict *v, const char *format, ...)
{
    size_t used = strlen(v->text);
    va_list args;
    va_start(args, format);
    vsnprintf(v->text + used, sizeof v->text - used, format, args);
    va_end(args);
}

static const char for_disk[] = "Fewer fields, compression, more memory or a faster disk may help.";

static void judge_cold(const bench *b, const bench_measure *loader, verdict *v)
{
    double reached = ratio(loader, find(b, BENCH_DISK));
    if (loader->busy > BUSY * (double)b->processors) {
        v->name = "processors";
        say(v, "The processors are the bottleneck, not the disk: %.1f of %" PRIu64 " were busy.",
            loader->busy, b->processors);
    } else if (reached >= REACHED) {
        v->name = "disk";
        say(v, "The disk is the bottleneck: the loader reaches %.0f%% of %d reads at a time. %s",
            100 * reached, BENCH_READS, for_disk);
    } else {
        v->name = any_compressed(b) ? "decompression" : "loader";
        say(v, "The %s is the bottleneck: it reaches only %.0f%% of %d reads at a time.",
            any_compressed(b) ? "loader, which also decompresses," : "loader", 100 * reached,
            BENCH_READS);
        if (any_compressed(b))
            say(v, " Without --cold, decompression is measured alone.");
        if (b->sequential)
            say(v, " If many records were changed, they are scattered, and 'loaderx rebalance' "
                   "stores them in sequence.");
    }
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/** Whether other processes kept the processors from making copies. */
static bool is_crowded(const bench *b, const bench_measure *copy)
{
    uint64_t most = copy->threads < b->processors ? copy->threads : b->processors;
    return copy->busy < BUSY * (double)(most != 0 ? most : 1);
}

/** Says how long the decompression of a field takes. */
static void say_codec(const bench *b, size_t field, verdict *v)
{
    const lx_field *slow = field_of(b, field);
    say(v, " Decompressing field '%s' (%s", slow->name, report_compression(slow->compression));
    if (slow->level != 0)
        say(v, " %d", slow->level);
    say(v, ") takes %.0f%% of the time of the copies.", 100 * field_share(b, field));
}

static void judge_warm(const bench *b, const bench_measure *loader, verdict *v)
{
    const bench_measure *copy = find(b, BENCH_COPY), *others = find(b, BENCH_THREADS);
    const bench_measure *batches = find(b, BENCH_BATCHES);
    size_t field = 0;
    double codec = codec_share(b, &field), reached = ratio(loader, copy);
    double on_disk = reached < REACHED && loader->on_disk > copy->on_disk ? loader->on_disk
                                                                          : copy->on_disk;
    bool crowded = is_crowded(b, copy);
    double gain = crowded ? GAIN_IF_CROWDED : GAIN;
    if (on_disk > ON_DISK) {
        v->name = "disk";
        say(v, "The disk is the bottleneck: %.0f%% of the records were not in memory. %s",
            100 * on_disk, for_disk);
    } else if (ratio(batches, loader) >= gain && ratio(batches, loader) >= ratio(others, loader)) {
        v->name = "batches";
        say(v,
            "The batch size is the bottleneck: with %" PRIu64
            " records, loading is %.1f times as fast.",
            batches->batch_size, ratio(batches, loader));
    } else if (ratio(others, loader) >= gain && (others->threads > loader->threads || !crowded)) {
        v->name = "threads";
        if (others->threads > loader->threads)
            say(v,
                "The threads are the bottleneck: with %" PRIu64 " thread%s, loading is %.1f times "
                "as fast.",
                others->threads, plural(others->threads), ratio(others, loader));
        else
            say(v,
                "The threads get in each other's way: with 1 thread, loading is %.1f times as "
                "fast.",
                ratio(others, loader));
    } else if (codec > .5) {
        v->name = "decompression";
        say(v, "Decompression is the bottleneck: more processors, or raw values, would help.");
    } else if (loader->bytes < SMALL_RECORD && reached >= REACHED) {
        v->name = "values";
        say(v,
            "The number of values is the bottleneck: each takes %.0f ns, and the size of values "
            "hardly matters. Fewer fields would help.",
            1e9 / loader->rate / (double)b->field_count);
    } else if (reached >= REACHED) {
        v->name = "memory";
        say(v,
            "The memory is the bottleneck: the loader reaches %.0f%% of plain copies. Fewer or "
            "smaller fields would help.",
            100 * reached);
    } else {
        v->name = "loader";
        say(v, "The loader is the bottleneck: it reaches only %.0f%% of plain copies.",
            100 * reached);
        if (loader->bytes < SMALL_RECORD)
            say(v, " Each value takes %.0f ns, whatever its size: fewer fields would help.",
                1e9 / loader->rate / (double)b->field_count);
    }
    if (codec > .5)
        say_codec(b, field, v);
    if (crowded && on_disk <= ON_DISK)
        say(v,
            " Other processes kept the processors busy: copies on %" PRIu64
            " thread%s got only %.1f of them.",
            copy->threads, plural(copy->threads), copy->busy);
}

/** Images are the values that a training run does more with than to copy them. */
static void say_images(const bench *b, verdict *v)
{
    for (size_t i = 0; i < b->field_count; i++)
        if (field_of(b, i)->dtype == LX_IMAGE) {
            say(v, " The images of field '%s' were not decoded, which takes much longer.",
                field_of(b, i)->name);
            return;
        }
}

static void judge(const bench *b, verdict *v)
{
    const bench_measure *loader = find(b, BENCH_LOADER);
    *v = (verdict){.name = "loader"};
    if (b->cold)
        judge_cold(b, loader, v);
    else
        judge_warm(b, loader, v);
    double batch = loader->rows / loader->rate;
    say(v, " A consumer that takes more than %.3g %s for a batch is the bottleneck itself.",
        batch * (batch < 1e-3 ? 1e6 : 1e3), batch < 1e-3 ? "us" : "ms");
    say_images(b, v);
}

/* ---- output */

static void describe(const bench_measure *m, char text[TABLE_CELL])
{
    switch (m->kind) {
    case BENCH_COPY:
        snprintf(text, TABLE_CELL, "copies without a loader");
        break;
    case BENCH_DISK:
        snprintf(text, TABLE_CELL, "reads without a loader");
        break;
    case BENCH_BATCHES:
        snprintf(text, TABLE_CELL, "loader, larger batches");
        break;
    default:
        snprintf(text, TABLE_CELL, "loader");
    }
}

static lx_status print_table(const bench *b, lx_error *error)
{
    static const char *const headings[] = {"MEASURED",  "THREADS", "BATCH", "RECORDS/S",
                                           "BATCHES/S", "BYTES/S", "BUSY",  "RATIO"};
    const bench_measure *loader = find(b, BENCH_LOADER);
    table t;
    lx_status status = table_begin(&t, headings, sizeof headings / sizeof *headings, 1, error);
    for (size_t i = 0; status == LX_OK && i < b->measure_count; i++) {
        const bench_measure *m = &b->measures[i];
        char size[REPORT_SIZE_TEXT], (*cells)[TABLE_CELL] = table_add(&t, error);
        if (cells == NULL) {
            status = LX_ERR_NOMEM;
            break;
        }
        describe(m, cells[0]);
        snprintf(cells[1], TABLE_CELL, "%" PRIu64, m->threads);
        snprintf(cells[2], TABLE_CELL, "%" PRIu64, m->batch_size);
        snprintf(cells[3], TABLE_CELL, "%.0f", m->rate);
        snprintf(cells[4], TABLE_CELL, "%.0f", m->rate / m->rows);
        snprintf(cells[5], TABLE_CELL, "%s/s", report_size((uint64_t)(m->rate * m->bytes), size));
        snprintf(cells[6], TABLE_CELL, "%.1f", m->busy);
        snprintf(cells[7], TABLE_CELL, "%.2f", ratio(m, loader));
    }
    if (status == LX_OK)
        table_print(&t);
    table_free(&t);
    return status;
}

static json_t *measures_json(const bench *b)
{
    static const char *const names[] = {"loader", "copies", "threads", "batches", "reads"};
    json_t *list = json_array();
    for (size_t i = 0; i < b->measure_count; i++) {
        const bench_measure *m = &b->measures[i];
        json_t *rounds = json_array();
        for (size_t k = 0; k < m->count; k++)
            json_array_append_new(rounds,
                                  json_real((double)m->turns[k].records / m->turns[k].seconds));
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:f, s:f, s:f, s:f, s:o}", "name",
                                              names[m->kind], "threads", report_number(m->threads),
                                              "batch_size", report_number(m->batch_size),
                                              "records_per_second", m->rate, "bytes_per_second",
                                              m->rate * m->bytes, "busy", m->busy, "on_disk",
                                              m->on_disk, "rounds", rounds));
    }
    return list;
}

static json_t *fields_json(const bench *b)
{
    json_t *list = json_array();
    for (size_t i = 0; i < b->field_count; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o}", "name", field_of(b, i)->name, "compress",
                                        report_compression(field_of(b, i)->compression), "share",
                                        b->cold ? json_null() : json_real(field_share(b, i))));
    return list;
}

lx_status bench_report(const bench *b, lx_error *error)
{
    verdict v;
    if (find(b, BENCH_LOADER) == NULL || (!b->cold && find(b, BENCH_COPY) == NULL))
        return lx_fail(error, LX_ERR_STATE, "no records were read");
    judge(b, &v);
    if (b->json)
        return report_print(json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:s, s:s}", "path",
                                      report_text(b->path), "length", report_number(b->length),
                                      "order", b->sequential ? "sequential" : "shuffle", "cold",
                                      b->cold, "processors", report_number(b->processors), "fields",
                                      fields_json(b), "measured", measures_json(b), "bottleneck",
                                      v.name, "summary", v.text),
                            error);
    printf("%s: %" PRIu64 " records, %s, values %s, %" PRIu64 " processor%s\n\n", b->path,
           b->length, b->sequential ? "in sequence" : "shuffled",
           b->cold ? "on the disk" : "in memory if they fit", b->processors, plural(b->processors));
    lx_status status = print_table(b, error);
    if (status == LX_OK)
        printf("\n%s\n", v.text);
    return status;
}
