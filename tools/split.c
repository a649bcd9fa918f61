/* SPDX-License-Identifier: MIT */
/* loaderx split: assigns records to sets, such as training and validation. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <loaderx/split.h>
#include <loaderx/zrecord.h>

#include "atomic-write.h"
#include "command.h"
#include "failure.h"
#include "fractions.h"
#include "interrupt.h"
#include "number.h"
#include "report.h"
#include "table.h"
#include "vector.h"

/* Records are processed one by one: a larger length is likely a mistake, and would take hours. */
#define LENGTH_MAX ((uint64_t)1 << 40)

enum {
    OPTION_LENGTH = OPTION_OWN,
    OPTION_KEYS,
    OPTION_FRACTIONS,
    OPTION_SEED,
    OPTION_FORMULA,
    OPTION_OUT
};

static const command_option options[] = {
    {OPTION_LENGTH, "length", "N", "the number of records"},
    {OPTION_KEYS, "keys", "FILE", "hash the integers in this .npy file, one per record"},
    {OPTION_FRACTIONS, "fractions", "NAME=F,...", "the sets and their fractions of all records"},
    {OPTION_SEED, "seed", "S", "the seed of the assignment (0)"},
    {OPTION_FORMULA, "formula", "N", "1: the sets of 1.0.0-rc1, which depend on their order (2)"},
    {OPTION_OUT, "out", "FOLDER", "write the indices of each set to FOLDER/NAME.npy"},
    JSON_OPTION("print the result as JSON"),
};

/** The arguments. */
typedef struct request {
    bool length_given;
    uint64_t length, seed, formula;
    const char *keys_path, *out;
    bool json;
    fractions sets;
    vector keys;
    uint64_t *counts; /**< For each set. */
} request;

/* ---- the command line */

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_LENGTH:
        r->length_given = true;
        return number_parse_within("--length", value, 0, LENGTH_MAX, &r->length, error);
    case OPTION_KEYS:
        r->keys_path = value;
        return LX_OK;
    case OPTION_FRACTIONS:
        return fractions_parse(&r->sets, value, error);
    case OPTION_SEED:
        return number_parse("--seed", value, &r->seed, error);
    case OPTION_FORMULA:
        return number_parse_within("--formula", value, 1, 2, &r->formula, error);
    case OPTION_OUT:
        r->out = value;
        return LX_OK;
    default:
        r->json = true;
        return LX_OK;
    }
}

static lx_status check_request(const request *r, lx_error *error)
{
    if (!r->length_given && r->keys_path == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "--length or --keys is missing");
    if (r->sets.count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--fractions is missing: use, for example, train=0.9,validation=0.1");
    if (r->out != NULL && r->out[0] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "--out is empty: use . for the current directory");
    return LX_OK;
}

static lx_status read_keys(request *r, lx_error *error)
{
    if (r->keys_path == NULL)
        return LX_OK;
    lx_status status = vector_read(&r->keys, VECTOR_KEYS, r->keys_path, error);
    if (status == LX_OK && r->length_given && r->length != r->keys.count)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "--length %" PRIu64
                         " is not the number of keys in %.200s, which is %" PRIu64
                         ": omit --length",
                         r->length, r->keys_path, r->keys.count);
    r->length = r->keys.count;
    return status;
}

/* ---- the sets */

static lx_status find(const request *r, size_t set, uint64_t *indices, uint64_t *count,
                      lx_error *error)
{
    const fraction *sets = r->sets.sets;
    lx_split_options *chosen = lx_split_options_new();
    if (chosen == NULL)
        return fail_memory(error, "options");
    lx_status status = lx_split_options_set_seed(chosen, r->seed, error);
    if (status == LX_OK)
        status = lx_split_options_set_range(chosen, sets[set].begin, sets[set].end, error);
    if (status == LX_OK)
        status = lx_split_indices(r->keys.words, r->length, chosen, indices, count, error);
    lx_split_options_free(chosen);
    return status;
}

/** Allocates the path FOLDER/NAME.npy; returns NULL when out of memory. */
static char *path_of(const request *r, size_t set)
{
    const char *name = r->sets.sets[set].name;
    size_t size = strlen(r->out) + strlen(name) + sizeof "/.npy";
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s.npy", r->out, name);
    return path;
}

/** Writes an array of indices; .npy files are little-endian. */
static lx_status write_npy(int file, const char *path, uint64_t *indices, uint64_t count,
                           lx_error *error)
{
    static const lx_field field = {.dtype = LX_UINT64};
    char header[LX_MAX_NPY_HEADER];
    size_t size = lx_npy_format_header(&field, count, header);
    FILE *to = fdopen(dup(file), "wb");
    if (to == NULL)
        return lx_fail_errno(error, errno, path, "cannot write the file");
    for (uint64_t i = 0; i < count; i++) {
        unsigned char bytes[sizeof *indices];
        for (size_t byte = 0; byte < sizeof bytes; byte++)
            bytes[byte] = (unsigned char)(indices[i] >> (8 * byte));
        memcpy(&indices[i], bytes, sizeof bytes);
    }
    bool written = fwrite(header, 1, size, to) == size &&
                   fwrite(indices, sizeof *indices, (size_t)count, to) == count;
    int errnum = errno;
    if (fclose(to) == 0 && written)
        return LX_OK;
    return lx_fail_errno(error, written ? errno : errnum, path, "cannot write the file");
}

static lx_status write_set(const request *r, size_t set, uint64_t *indices, lx_error *error)
{
    atomic_write made = {.file = -1};
    char *path = path_of(r, set);
    lx_status status = path != NULL ? atomic_write_begin(&made, path, error)
                                    : fail_memory(error, "a name");
    if (status == LX_OK)
        status = write_npy(made.file, path, indices, r->counts[set], error);
    if (status == LX_OK)
        status = interrupt_check(error);
    if (status == LX_OK)
        status = atomic_write_finish(&made, error);
    atomic_write_end(&made);
    free(path);
    return status;
}

/** Computes the sets, and writes them if requested. */
static lx_status split(request *r, lx_error *error)
{
    uint64_t *indices = NULL;
    lx_status status = LX_OK;
    r->counts = calloc(r->sets.count, sizeof *r->counts);
    if (r->counts == NULL)
        return fail_memory(error, "sets");
    if (r->out != NULL) {
        indices = r->length < SIZE_MAX / sizeof *indices
                      ? malloc((size_t)(r->length + 1) * sizeof *indices)
                      : NULL;
        if (indices == NULL)
            return fail_memory(error, "the indices");
        interrupt_catch();
    }
    for (size_t i = 0; status == LX_OK && i < r->sets.count; i++) {
        status = find(r, i, indices, &r->counts[i], error);
        if (status == LX_OK && r->out != NULL)
            status = write_set(r, i, indices, error);
    }
    free(indices);
    return status;
}

/* ---- output */

static lx_status print_table(const request *r, lx_error *error)
{
    static const char *const headings[] = {"set", "fraction", "records", "share"};
    table sets;
    lx_status status = table_begin(&sets, headings, 4, 1, error);
    for (size_t i = 0; status == LX_OK && i < r->sets.count; i++) {
        char(*row)[TABLE_CELL] = table_add(&sets, error);
        if (row == NULL) {
            status = LX_ERR_NOMEM;
            break;
        }
        snprintf(row[0], TABLE_CELL, "%s", r->sets.sets[i].name);
        snprintf(row[1], TABLE_CELL, "%.6g", r->sets.sets[i].part);
        snprintf(row[2], TABLE_CELL, "%" PRIu64, r->counts[i]);
        if (r->length != 0)
            snprintf(row[3], TABLE_CELL, "%.2f%%", 100 * (double)r->counts[i] / (double)r->length);
        else
            snprintf(row[3], TABLE_CELL, "-");
    }
    if (status == LX_OK)
        table_print(&sets);
    table_free(&sets);
    return status;
}

static lx_status print_json(const request *r, lx_error *error)
{
    char real[REPORT_REAL_TEXT];
    lx_status status = LX_OK;
    printf("{\n  \"length\": %" PRIu64 ",\n  \"seed\": %" PRIu64 ",\n  \"formula\": %" PRIu64
           ",\n  \"sets\": [",
           r->length, r->seed, r->formula);
    for (size_t i = 0; status == LX_OK && i < r->sets.count; i++) {
        char *path = r->out != NULL ? path_of(r, i) : NULL;
        printf("%s\n    {\"name\": ", i != 0 ? "," : "");
        status = report_print_text(r->sets.sets[i].name, error);
        printf(", \"fraction\": %s, \"records\": %" PRIu64 ", \"path\": ",
               report_real(r->sets.sets[i].part, real), r->counts[i]);
        if (path == NULL)
            printf("null");
        else if (status == LX_OK)
            status = report_print_text(path, error);
        printf("}");
        free(path);
    }
    printf("]\n}\n");
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.formula = 2};
    const command_line line = {take_option, command_take_nothing, &r};
    lx_status status = command_parse(&split_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = fractions_place(&r.sets, r.formula, error);
    if (status == LX_OK)
        status = read_keys(&r, error);
    if (status == LX_OK)
        status = split(&r, error);
    if (status == LX_OK)
        status = r.json ? print_json(&r, error) : print_table(&r, error);
    free(r.counts);
    vector_free(&r.keys);
    fractions_free(&r.sets);
    return status;
}

const command split_command = {
    .name = "split",
    .arguments = "--length N|--keys FILE --fractions NAME=F,... [OPTION...]",
    .summary = "split records into sets, for training and validation",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "A hash of a record's index or key selects its set: records with the same key are in\n"
             "the same set. The set does not depend on the number of records: appending records\n"
             "does not move existing ones. The size of a set is close to its fraction, but not\n"
             "exact; if the fractions sum to less than 1, some records are in no set.\n"
             "Use 'loaderx sample --subset' to read the files.\n",
    .examples = "  loaderx split --length 60000 --fractions train=0.9,validation=0.1 --out .\n"
                "  loaderx split --keys patient.npy --fractions train=0.8,test=0.2\n",
    .run = run};
