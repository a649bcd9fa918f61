/* SPDX-License-Identifier: MIT */
/* A join compared with copying the tables, in memory and as files. A part of 4 million values is
 * made in the current folder and removed. */
#include "plain.h"

#include <string.h>

#include <loaderx/maintenance.h>
#include <loaderx/zrecord.h>

#include "zrecord/maintenance/renumber.h"

#define VALUES ((size_t)4 << 20)
#define PART "bench-join/part"

static const lx__chunk_item chunks[] = {{.id = 0, .records = 1, .bytes = 1ull << 40}};
static const lx__entry_rules from = {.uuid = {1}, .align = 1, .size = LX_NONE};
static const lx__entry_rules to = {.uuid = {2}, .align = 1, .size = LX_NONE};

/** The tables of a part, and those of the joined dataset. */
typedef struct tables {
    uint8_t *rows, *joined;
} tables;

/** Values of up to @p longest bytes; 0: of 1000 bytes. */
static tables make_tables(uint32_t longest)
{
    tables made = {malloc(VALUES * LX__ENTRY_BYTES), malloc(VALUES * LX__ENTRY_BYTES)};
    uint64_t state = 1, offset = 0;
    must(made.rows != NULL && made.joined != NULL, "malloc");
    for (size_t i = 0; i < VALUES; i++) {
        uint32_t size = longest == 0 ? 1000 : 9 + (uint32_t)(next_random(&state) % longest);
        const lx__entry entry = {.physical = size, .logical = size, .offset = offset, .crc = 1};
        lx__entry_store(&entry, made.rows + i * LX__OFFSET_ROW,
                        made.rows + VALUES * LX__OFFSET_ROW + i * LX__CHECK_ROW);
        offset += size;
    }
    return made;
}

static void copy_tables(void *context)
{
    const tables *t = context;
    memcpy(t->joined, t->rows, VALUES * LX__ENTRY_BYTES);
}

static void renumber_tables(void *context)
{
    const tables *t = context;
    lx_error error = LX_ERROR_INIT;
    lx__renumber rows = {.chunks = chunks,
                         .chunk_count = 1,
                         .first_chunk = 5,
                         .first_index = 1000,
                         .from = &from,
                         .to = &to};
    size_t done;
    copy_tables(context);
    lx__renumber_begin(&rows);
    must_be_ok(lx__renumber_rows(&rows, 0, t->joined, t->joined + VALUES * LX__OFFSET_ROW, VALUES,
                                 &done, &error),
               &error);
}

/* ---- files */

/** Makes a part of values of 16 bytes. */
static void make_part(void)
{
    static const uint8_t value[16];
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    const lx_value values[] = {{value, sizeof value}};
    must(system("rm -rf bench-join && mkdir bench-join") == 0, "mkdir");
    must_be_ok(lx_schema_add_field(schema, "x", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error),
               &error);
    must_be_ok(lx_writer_create(PART, schema, NULL, &writer, &error), &error);
    for (size_t i = 0; i < VALUES; i++)
        must_be_ok(lx_writer_append(writer, values, 1, NULL, &error), &error);
    must_be_ok(lx_writer_seal(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_schema_free(schema);
}

static void clear(void)
{
    must(system("cd bench-join && rm -rf chunk LOCK LOG meta.json* x.*") == 0, "rm");
}

static void copy_files(void *context)
{
    (void)context;
    must(system("cp " PART "/x.* bench-join && sync -d bench-join/x.*") == 0, "cp");
    clear();
}

static void join_files(void *context)
{
    static const char *const path = "part";
    lx_error error = LX_ERROR_INIT;
    lx_dataset *part;
    (void)context;
    must_be_ok(lx_dataset_open(PART, NULL, &part, &error), &error);
    must_be_ok(lx_dataset_join("bench-join", &part, &path, 1, NULL, NULL, &error), &error);
    lx_dataset_close(part);
    clear();
}

void bench_join(bench_run *bench)
{
    tables equal = make_tables(0), varying = make_tables(100000);
    const bench_case in_memory[] = {
        {"memcpy of the tables", copy_tables, &equal, (double)VALUES},
        {"renumbered, equal lengths", renumber_tables, &equal, (double)VALUES},
        {"renumbered, lengths up to 100,000", renumber_tables, &varying, (double)VALUES}};
    bench_compare(bench, "tables of a join in memory", "value", in_memory, 3);
    free(equal.rows);
    free(equal.joined);
    free(varying.rows);
    free(varying.joined);
    make_part();
    const bench_case with_files[] = {
        {"cp and sync of the tables", copy_files, NULL, (double)VALUES},
        {"join", join_files, NULL, (double)VALUES}};
    bench_compare(bench, "a join of files", "value", with_files, 2);
    must(system("rm -rf bench-join") == 0, "rm");
}
