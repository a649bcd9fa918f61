/* SPDX-License-Identifier: MIT */
/* Scenarios of importers: of each format, and of an import that continues. */
#include "scenario.h"

#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/import.h>

#include "../tree.h"

/* Of a text; so that it needs several batches and commits. */
#define LINES 1100

static void write_lines(const char *path, bool whole)
{
    FILE *file = need(fopen(path, "w"));
    for (int i = 0; i < LINES; i++)
        fprintf(file, "{\"id\": %d, \"text\": \"\\u00e9 %d\", \"box\": [%d, 0.5]}\n", i, i * i, i);
    if (!whole)
        fprintf(file, "{\n");
    if (fclose(file) != 0)
        abort();
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = need(fopen(path, "w"));
    if (fwrite(data, size, 1, file) != 1 || fclose(file) != 0)
        abort();
}

/** Sets everything that can be set. */
static bool set(struct run *run, lx_importer *importer, const char *format, const char *option,
                const char *input)
{
    return TRY(run, lx_importer_set_format(importer, format, &run->error)) &&
           (option == NULL ||
            TRY(run, lx_importer_set_option(importer, option, "x", &run->error))) &&
           TRY(run, lx_importer_add_input(importer, input, &run->error)) &&
           (strcmp(format, "jsonl") != 0 ||
            TRY(run, lx_importer_set_field(importer, "box", "float32[2]", &run->error))) &&
           TRY(run, lx_importer_set_compression(importer, NULL, LX_COMPRESSION_FLATE, 1, 0,
                                                &run->error)) &&
           TRY(run, lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &run->error)) &&
           TRY(run, lx_importer_set_record_limit(importer, 100000, &run->error)) &&
           TRY(run, lx_importer_set_commit_size(importer, 20000, &run->error)) &&
           TRY(run, lx_importer_set_progress(importer, NULL, NULL, &run->error));
}

/** Imports; true if there is a dataset now. */
static bool import(struct run *run, const char *format, const char *option, const char *input,
                   const char *output)
{
    lx_importer *importer;
    bool imported = false;
    if (TRY_NEW(run, importer, lx_importer_new()) && set(run, importer, format, option, input) &&
        (imported = TRY(run, lx_importer_run(importer, output, NULL, &run->error))) &&
        TRY(run, lx_importer_set_append(importer, true, &run->error)) &&
        TRY(run,
            lx_importer_set_compression(importer, "text", LX_COMPRESSION_RAW, 0, 0, &run->error)))
        (void)TRY(run, lx_importer_set_resume(importer, true, &run->error));
    lx_importer_free(importer);
    return imported;
}

static void clean(const char *output)
{
    if (access(output, F_OK) == 0)
        tree_remove(output);
}

/** Formats whose inputs are texts. */
static void read_texts(struct run *run)
{
    char input[400], output[400];
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    write_lines(input, false);
    inject_rearm();
    (void)import(run, "jsonl", NULL, input, output);
    clean(output);
    (void)import(run, "lines", "field", input, output);
    clean(output);
    unlink(input);
}

static void write_words(const char *path)
{
    FILE *file = need(fopen(path, "w"));
    fprintf(file, "id,text\n");
    for (int i = 0; i < LINES; i++)
        fprintf(file, "%d,\"a \"\"%d\"\"\"\n", i, i * i);
    if (fclose(file) != 0)
        abort();
}

/** Adds a member with a content of four bytes. */
static void write_member(FILE *file, const char *name)
{
    char block[1024] = {0};
    unsigned sum = 0;
    snprintf(block, 100, "%s", name);
    snprintf(block + 124, 12, "%011o", 4);
    memset(block + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    memcpy(block + 512, "1234", 4);
    if (fwrite(block, sizeof block, 1, file) != 1)
        abort();
}

static void write_archive(const char *path)
{
    char name[100], zeros[1024] = {0};
    FILE *file = need(fopen(path, "w"));
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%d.cls", i);
        write_member(file, name);
        snprintf(name, sizeof name, "%d.txt", i);
        write_member(file, name);
    }
    if (fwrite(zeros, sizeof zeros, 1, file) != 1 || fclose(file) != 0)
        abort();
}

static void read_words(struct run *run)
{
    char input[400], output[400];
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    write_words(input);
    inject_rearm();
    (void)import(run, "csv", NULL, input, output);
    clean(output);
    unlink(input);
}

static void read_archive(struct run *run)
{
    char input[400], output[400];
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    write_archive(input);
    inject_rearm();
    (void)import(run, "tar", "key", input, output);
    clean(output);
    unlink(input);
}

/** Appends a folder, whose class the dataset has. */
static void append_folder(struct run *run, const char *input, const char *output)
{
    lx_importer *importer;
    if (TRY_NEW(run, importer, lx_importer_new()) &&
        TRY(run, lx_importer_set_format(importer, "folder", &run->error)) &&
        TRY(run, lx_importer_add_input(importer, input, &run->error)) &&
        TRY(run, lx_importer_set_append(importer, true, &run->error)))
        (void)TRY(run, lx_importer_run(importer, output, NULL, &run->error));
    lx_importer_free(importer);
}

/** The folder is the one that contains the archive. */
static void read_folder(struct run *run)
{
    char input[400], inside[450], output[400];
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(inside, sizeof inside, "%s/class", input);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    if (mkdir(input, 0777) != 0 || mkdir(inside, 0777) != 0)
        abort();
    snprintf(inside, sizeof inside, "%s/class/a.x", input);
    write_archive(inside);
    inject_rearm();
    if (import(run, "folder", "extensions", input, output))
        append_folder(run, input, output);
    clean(output);
    tree_remove(input);
}

/** A TFRecord file with one tf.Example. */
static void read_examples(struct run *run)
{
    /* Written by tfrecord 1.14.6: {"label": 300}. */
    static const uint8_t example[] = {0x13, 0,    0,    0,    0,    0,    0,    0,    0x0c,
                                      0x91, 0x32, 0x1b, 0x0a, 0x11, 0x0a, 0x0f, 0x0a, 0x05,
                                      'l',  'a',  'b',  'e',  'l',  0x12, 0x06, 0x1a, 0x04,
                                      0x0a, 0x02, 0xac, 0x02, 0x9e, 0x22, 0xed, 0x85};
    char input[400], output[400];
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    write_file(input, example, sizeof example);
    inject_rearm();
    (void)import(run, "tfrecord", "lists", input, output);
    clean(output);
    unlink(input);
}

/** A folder of Mosaic MDS with one column of arrays. */
static void read_shards(struct run *run)
{
    static const uint8_t shard[] = {1, 0, 0, 0, 12, 0, 0, 0,    22, 0,   0,
                                    0, 6, 0, 0, 0,  8, 8, 0x02, 1,  'z', 'z'};
    static const char index[] =
        "{\"version\": 2, \"shards\": [{\"version\": 2, \"format\": \"mds\", \"samples\": 1, "
        "\"column_names\": [\"a\"], \"column_encodings\": [\"ndarray\"], \"column_sizes\": "
        "[null], \"raw_data\": {\"basename\": \"shard.00000.mds\", \"bytes\": 22}}]}";
    char input[400], inside[450], output[400];
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    if (mkdir(input, 0777) != 0)
        abort();
    snprintf(inside, sizeof inside, "%s/index.json", input);
    write_file(inside, index, sizeof index - 1);
    snprintf(inside, sizeof inside, "%s/shard.00000.mds", input);
    write_file(inside, shard, sizeof shard);
    inject_rearm();
    (void)import(run, "mds", NULL, input, output);
    clean(output);
    tree_remove(input);
}

/** A directory of one store of loaderx 2.8, with one record. */
static void read_store(struct run *run)
{
    static const char schema[] = "{\"dtype\": \"int8\", \"ndim\": 2}";
    static const uint8_t record[] = {1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b'};
    uint8_t meta[4096 + 16] = {1, 0, 0, 0, 0, 0, 0, 0, sizeof schema - 1, 0, 1};
    char input[400], inside[450], output[400];
    memcpy(meta + 2056, schema, sizeof schema - 1);
    meta[16] = meta[4096 + 8] = meta[4096 + 12] = sizeof record;
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    snprintf(inside, sizeof inside, "%s/a", input);
    inject_disarm();
    if (mkdir(input, 0777) != 0 || mkdir(inside, 0777) != 0)
        abort();
    snprintf(inside, sizeof inside, "%s/a/meta.zr", input);
    write_file(inside, meta, sizeof meta);
    snprintf(inside, sizeof inside, "%s/a/data_0.zr", input);
    write_file(inside, record, sizeof record);
    inject_rearm();
    (void)import(run, "original", NULL, input, output);
    clean(output);
    tree_remove(input);
}

/** An LMDB database with one key. */
static void read_database(struct run *run)
{
    uint8_t file[3 * 512] = {0};
    char input[400], output[400];
    for (size_t page = 0; page < 2; page++) {
        static const uint8_t magic[] = {0xde, 0xc0, 0xef, 0xbe, 1};
        uint8_t *at = file + page * 512;
        at[0] = at[144] = (uint8_t)page;
        at[10] = 8;
        memcpy(at + 16, magic, sizeof magic);
        at[41] = 2; /* a page has 512 bytes */
        at[94] = at[120] = 1;
        at[128] = 2;
    }
    uint8_t *leaf = file + 2 * 512;
    leaf[0] = leaf[10] = 2;
    leaf[12] = 18;
    leaf[14] = leaf[16] = 0xf4; /* the entry is at 500 */
    leaf[15] = leaf[17] = 1;
    leaf[500] = 1;
    leaf[506] = 1;
    leaf[508] = 'k';
    leaf[509] = 'v';
    snprintf(input, sizeof input, "%s.input", run->path);
    snprintf(output, sizeof output, "%s.imported", run->path);
    inject_disarm();
    write_file(input, file, sizeof file);
    inject_rearm();
    (void)import(run, "lmdb", NULL, input, output);
    clean(output);
    unlink(input);
}

const struct scenario import_scenarios[] = {
    {"import-texts", NULL, false, read_texts},
    {"import-words", NULL, false, read_words},
    {"import-archive", NULL, false, read_archive},
    {"import-folder", NULL, false, read_folder},
    {"import-examples", NULL, false, read_examples},
    {"import-shards", NULL, false, read_shards},
    {"import-store", NULL, false, read_store},
    {"import-database", NULL, false, read_database},
    {NULL, NULL, false, NULL},
};
