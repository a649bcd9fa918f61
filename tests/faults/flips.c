/* SPDX-License-Identifier: MIT */
/* Flips each bit of a dataset of 64 KiB, and truncates each file at each byte, one after another.
 * With full verification, no wrong byte is ever read; no call that reads crashes or hangs. The
 * short form tries some of each. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"
#include "tree.h"

/* Longest time for one damage, in seconds; sanitizers make it ten times slower. */
#define TIMEOUT 60
/* Records of plain.h, most of them in the tables, some changed, that make about 64 KiB. */
#define RECORDS 150
#define IN_LOG 32
#define FILES 32
#define VERSIONS 64

struct flips {
    char path[300], copy[300];
    struct plain versions[VERSIONS]; /* the content after each commit */
    size_t count;
    char names[FILES][64];
    size_t file_count;
    uint64_t each; /* one in this many places is tried */
    uint64_t tried, refused, damaged, whole;
    char now[128];
};

static _Noreturn void fail(const struct flips *flips, const char *what)
{
    printf("%s: %s\n", flips->now, what);
    exit(EXIT_FAILURE);
}

static void must(lx_status status, const lx_error *error)
{
    if (status == LX_OK)
        return;
    fprintf(stderr, "it cannot be made: %s\n", error->message);
    exit(EXIT_FAILURE);
}

/* ---- the dataset */

static void add_version(struct flips *flips, const struct plain *plain)
{
    plain_init(&flips->versions[flips->count], 0);
    plain_set(&flips->versions[flips->count++], plain);
}

static void append(lx_writer *writer, struct plain *plain)
{
    lx_error error = LX_ERROR_INIT;
    struct plain_record record = plain_make(plain, (uint32_t)plain->count + 1);
    must(lx_writer_append(writer, plain_values(plain, &record), plain->column_count, NULL, &error),
         &error);
    plain_append(plain, &record);
}

/** The log alone has appended records, changed ones, and a deleted one. */
static void change(struct flips *flips, lx_writer *writer, struct plain *plain)
{
    static const size_t field = PLAIN_TEXT;
    lx_error error = LX_ERROR_INIT;
    for (uint32_t i = 0; i < IN_LOG; i++) {
        struct plain_record record = plain_make(plain, 5000 + i);
        uint64_t index = i * 11 % plain->count, moved;
        append(writer, plain);
        plain->records[index].tokens[field] = record.tokens[field];
        must(lx_writer_modify(writer, index, &field, &plain_values(plain, &record)[field], 1,
                              &error),
             &error);
        if (i % 8 == 7) {
            must(lx_writer_delete(writer, index + 1, &moved, &error), &error);
            (void)plain_delete(plain, index + 1);
        }
        must(lx_writer_commit(writer, &error), &error);
        add_version(flips, plain);
    }
}

static void make(struct flips *flips)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_writer_options *options = need(lx_writer_options_new());
    struct plain plain;
    plain_init(&plain, PLAIN_KINDS);
    add_version(flips, &plain);
    lx_schema *schema = need(plain_schema(&plain));
    must(lx_writer_options_set_durability(options, LX_DURABILITY_FULL, &error), &error);
    must(lx_writer_options_set_chunk_limits(options, 400, 40000, &error), &error);
    must(lx_writer_create(flips->path, schema, options, &writer, &error), &error);
    for (uint64_t i = 0; i < RECORDS; i++)
        append(writer, &plain);
    must(lx_writer_seal(writer, &error), &error);
    must(lx_writer_close(writer, &error), &error);
    add_version(flips, &plain);
    must(lx_dataset_unseal(flips->path, &error), &error);
    must(lx_writer_open(flips->path, options, &writer, &error), &error);
    change(flips, writer, &plain);
    must(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    plain_free(&plain);
}

static void list_files(struct flips *flips)
{
    static const char *const names[] = {
        "meta.json",   "LOG",         "image.offset", "image.check", "label.offset",
        "label.check", "text.offset", "text.check",   "blob.offset", "blob.check",
        "chunk/0.zr",  "chunk/1.zr",  "chunk/2.zr",   "LOCK"};
    char path[400];
    struct stat about;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", flips->path, names[i]);
        if (stat(path, &about) == 0 && about.st_size != 0)
            snprintf(flips->names[flips->file_count++], sizeof flips->names[0], "%s", names[i]);
    }
}

/* ---- reading */

static lx_status open_as(const struct flips *flips, lx_verify_policy verify, lx_dataset **dataset)
{
    lx_dataset_options *options = need(lx_dataset_options_new());
    must(lx_dataset_options_set_verify_policy(options, verify, NULL), NULL);
    lx_status status = lx_dataset_open(flips->path, options, dataset, NULL);
    lx_dataset_options_free(options);
    return status;
}

/** Reads a value by itself. */
static bool is_right(struct plain *plain, lx_dataset *dataset, size_t field, uint64_t index,
                     bool *failed)
{
    char why[512];
    lx_status status;
    bool right = plain_check_values(plain, dataset, field, &index, 1, &status, why, sizeof why);
    *failed = *failed || status != LX_OK;
    return right || status != LX_OK;
}

/** Whether all readable values are of this version. */
static bool is_version(struct plain *plain, lx_dataset *dataset, bool *failed)
{
    *failed = false;
    if (lx_dataset_get_length(dataset) != plain->count ||
        lx_schema_get_field_count(lx_dataset_get_schema(dataset)) != plain->column_count)
        return false;
    for (size_t field = 0; field < plain->column_count; field++)
        for (uint64_t i = 0; i < plain->count; i++)
            if (!is_right(plain, dataset, field, i, failed))
                return false;
    return true;
}

/** Everything that is read is of one version: the last, unless the log has lost its end. */
static void check_verified(struct flips *flips, bool may_be_older)
{
    lx_dataset *dataset;
    bool right = false, failed = false;
    if (open_as(flips, LX_VERIFY_ALWAYS, &dataset) != LX_OK) {
        flips->refused++;
        return;
    }
    for (size_t i = flips->count; !right && i-- > (may_be_older ? 0 : flips->count - 1);)
        right = is_version(&flips->versions[i], dataset, &failed);
    if (!right)
        fail(flips, "what is read is not what was written");
    flips->damaged += failed;
    flips->whole += !failed;
    lx_dataset_close(dataset);
}

/** Reads without checking the values. */
static void read_carelessly(struct flips *flips)
{
    lx_dataset *dataset;
    lx_storage_stats totals;
    uint8_t out[RECORDS * 2 * 12];
    uint64_t indices[RECORDS * 2];
    if (open_as(flips, LX_VERIFY_NEVER, &dataset) != LX_OK)
        return;
    uint64_t length = lx_dataset_get_length(dataset);
    for (uint64_t i = 0; i < RECORDS * 2; i++)
        indices[i] = length != 0 ? i % length : 0;
    (void)lx_dataset_gather(dataset, PLAIN_IMAGE, indices, RECORDS * 2, out, 12, NULL);
    (void)lx_dataset_gather(dataset, PLAIN_LABEL, indices, RECORDS * 2, out, 8, NULL);
    for (uint64_t i = 0; i < length && i < RECORDS * 2; i++) {
        lx_slice slice;
        lx_view *view;
        volatile uint8_t last = 0;
        if (lx_dataset_view(dataset, PLAIN_BLOB, &i, 1, &slice, &view, NULL) != LX_OK)
            continue;
        if (slice.data != NULL && slice.size != 0)
            last = ((const uint8_t *)slice.data)[slice.size - 1];
        (void)last;
        lx_view_free(view);
    }
    (void)lx_dataset_stat(dataset, &totals, NULL, NULL);
    (void)lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, NULL);
    lx_dataset_close(dataset);
}

/** A writer rejects the dataset, or keeps everything that can be read. */
static void write_to_copy(struct flips *flips)
{
    lx_writer *writer;
    lx_dataset *dataset;
    tree_copy(flips->path, flips->copy);
    if (lx_writer_open(flips->copy, NULL, &writer, NULL) == LX_OK &&
        lx_writer_close(writer, NULL) == LX_OK) {
        if (lx_dataset_open(flips->copy, NULL, &dataset, NULL) != LX_OK)
            fail(flips, "a writer left what cannot be opened");
        lx_dataset_close(dataset);
    }
    tree_remove(flips->copy);
}

static void look(struct flips *flips, const char *name)
{
    alarm(TIMEOUT);
    check_verified(flips, strcmp(name, "LOG") == 0);
    read_carelessly(flips);
    if (flips->tried++ % 16 == 0)
        write_to_copy(flips);
    alarm(0);
}

/* ---- damages */

static void write_at(const char *path, const uint8_t *data, size_t size, uint64_t offset)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd == -1 || pwrite(fd, data, size, (off_t)offset) != (ssize_t)size)
        give_up(path);
    close(fd);
}

static bool is_chosen(const struct flips *flips, struct rng *rng)
{
    return flips->each == 1 || rng_once_in(rng, flips->each);
}

static void flip_bits(struct flips *flips, const char *name, const char *path, const uint8_t *data,
                      size_t size)
{
    struct rng rng = {rng_mix(1, size)};
    for (uint64_t bit = 0; bit < (uint64_t)size * 8; bit++) {
        uint8_t byte = (uint8_t)(data[bit / 8] ^ 1u << bit % 8);
        if (!is_chosen(flips, &rng))
            continue;
        snprintf(flips->now, sizeof flips->now, "%s, bit %" PRIu64, name, bit);
        write_at(path, &byte, 1, bit / 8);
        look(flips, name);
        write_at(path, &data[bit / 8], 1, bit / 8);
    }
}

static void cut(struct flips *flips, const char *name, const char *path, const uint8_t *data,
                size_t size)
{
    struct rng rng = {rng_mix(2, size)};
    for (uint64_t end = size; end-- > 0;) {
        if (!is_chosen(flips, &rng))
            continue;
        snprintf(flips->now, sizeof flips->now, "%s, cut at %" PRIu64, name, end);
        if (truncate(path, (off_t)end) == -1)
            give_up(path);
        look(flips, name);
        write_at(path, data + end, (size_t)(size - end), end);
    }
}

static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1 || fstat(fd, &about) == -1)
        give_up(path);
    *size = (size_t)about.st_size;
    uint8_t *data = need(malloc(*size + 1));
    if (read(fd, data, *size) != (ssize_t)*size)
        give_up(path);
    close(fd);
    return data;
}

/** The opening fails for every damage of meta.json. */
static void check_meta_refused(const struct flips *flips, uint64_t refused_before,
                               uint64_t tried_before)
{
    if (flips->refused - refused_before != flips->tried - tried_before)
        fail(flips, "a damaged meta.json was not refused");
}

static size_t damage_file(struct flips *flips, const char *name)
{
    char path[400];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", flips->path, name);
    uint8_t *data = read_file(path, &size);
    uint64_t refused = flips->refused, tried = flips->tried;
    flip_bits(flips, name, path, data, size);
    cut(flips, name, path, data, size);
    if (strcmp(name, "meta.json") == 0)
        check_meta_refused(flips, refused, tried);
    free(data);
    return size;
}

int main(int count, char **arguments)
{
    struct flips flips = {.each = FLIPS_EACH};
    size_t bytes = 0;
    if (count == 3 && strcmp(arguments[1], "--each") == 0)
        flips.each = strtoull(arguments[2], NULL, 10);
    else if (count != 1 || flips.each == 0) {
        fprintf(stderr, "usage: flips [--each N]\none place of N is tried; 1: all of them\n");
        return 2;
    }
    char *root = tree_scratch();
    snprintf(flips.path, sizeof flips.path, "%s/data", root);
    snprintf(flips.copy, sizeof flips.copy, "%s/copy", root);
    make(&flips);
    list_files(&flips);
    snprintf(flips.now, sizeof flips.now, "unharmed");
    look(&flips, "meta.json");
    if (flips.whole != 1)
        fail(&flips, "it cannot be read");
    for (size_t i = 0; i < flips.file_count; i++)
        bytes += damage_file(&flips, flips.names[i]);
    for (size_t i = 0; i < flips.count; i++)
        plain_free(&flips.versions[i]);
    tree_remove(root);
    free(root);
    printf("%" PRIu64 " damages of %zu bytes: %" PRIu64 " refused at opening, %" PRIu64
           " at reading, %" PRIu64 " without an effect\n",
           flips.tried, bytes, flips.refused, flips.damaged, flips.whole);
    printf("# flips: %zu passed, 0 failed, 0 skipped\n", flips.file_count);
    return EXIT_SUCCESS;
}
