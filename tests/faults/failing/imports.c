/* SPDX-License-Identifier: MIT */
/* Scenarios of importers: of each format, and of an import that continues. */
#include "scenario.h"

#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/import.h>

#include "../tree.h"

/* Of a text; so that it needs several batches and commits. */
#define LINES 3000

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

/** Sets everything that can be set. */
static bool set(struct run *run, lx_importer *importer, const char *format, const char *option,
                const char *input)
{
    return TRY(run, lx_importer_set_format(importer, format, &run->error)) &&
           (option == NULL ||
            TRY(run, lx_importer_set_option(importer, option, "x", &run->error))) &&
           TRY(run, lx_importer_add_input(importer, input, &run->error)) &&
           TRY(run, lx_importer_set_field(importer, "extra", "float32[2]", &run->error)) &&
           TRY(run, lx_importer_set_compression(importer, NULL, LX_COMPRESSION_FLATE, 1, 0,
                                                &run->error)) &&
           TRY(run, lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &run->error)) &&
           TRY(run, lx_importer_set_record_limit(importer, 100000, &run->error)) &&
           TRY(run, lx_importer_set_commit_size(importer, 50000, &run->error)) &&
           TRY(run, lx_importer_set_progress(importer, NULL, NULL, &run->error));
}

static void import(struct run *run, const char *format, const char *option, const char *input,
                   const char *output)
{
    lx_importer *importer;
    if (TRY_NEW(run, importer, lx_importer_new()) && set(run, importer, format, option, input) &&
        TRY(run, lx_importer_run(importer, output, NULL, &run->error)) &&
        TRY(run, lx_importer_set_append(importer, true, &run->error)) &&
        TRY(run,
            lx_importer_set_compression(importer, "text", LX_COMPRESSION_RAW, 0, 0, &run->error)))
        (void)TRY(run, lx_importer_set_resume(importer, true, &run->error));
    lx_importer_free(importer);
}

static void clean(const char *output)
{
    char state[450];
    snprintf(state, sizeof state, "%s.import", output);
    unlink(state);
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
    import(run, "jsonl", NULL, input, output);
    clean(output);
    import(run, "lines", "field", input, output);
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
    import(run, "csv", NULL, input, output);
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
    import(run, "tar", "key", input, output);
    clean(output);
    unlink(input);
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
    import(run, "folder", "extensions", input, output);
    clean(output);
    tree_remove(input);
}

const struct scenario import_scenarios[] = {
    {"import-texts", NULL, false, read_texts},
    {"import-words", NULL, false, read_words},
    {"import-archive", NULL, false, read_archive},
    {"import-folder", NULL, false, read_folder},
    {NULL, NULL, false, NULL},
};
