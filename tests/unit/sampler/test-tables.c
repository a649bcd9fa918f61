/* SPDX-License-Identifier: MIT */
/* Tables in files, for every kind of order that has one. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../scratch.h"
#include "../../new-orders.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "sampler/core/order-json.h"
#include "tabled.h"

/* The offset of the numbers in each file here. */
#define DATA 4096
#define BLOCK 16384
#define SOME 1000

static lx_order *make(const struct tabled *kind, const char *tables)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(kind->make(tables, &order, &error));
    return order;
}

/** Reads some indices of an epoch, also from an order that may fail. */
static lx_status read_some(lx_order *order, uint64_t *indices, lx_error *error)
{
    lx__scratch *scratch;
    uint64_t step = (lx_order_get_length(order) - 1) / SOME;
    ck_assert_int_eq(lx__scratch_new(order, &scratch, error), LX_OK);
    lx_status status = lx__order_read(order, scratch, 0, step, SOME, indices, error);
    lx__scratch_free(scratch);
    return status;
}

/** Files of a folder; the name of one of them, whose name has @p part. */
static int list(const char *folder, const char *part, char name[300])
{
    int count = 0;
    DIR *listed = opendir(folder);
    ck_assert_ptr_nonnull(listed);
    for (struct dirent *entry; (entry = readdir(listed)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (strstr(entry->d_name, part) != NULL)
            snprintf(name, 300, "%s/%s", folder, entry->d_name);
    }
    closedir(listed);
    return count;
}

static size_t read_file(const char *name, uint8_t **bytes)
{
    struct stat about;
    FILE *file = fopen(name, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fstat(fileno(file), &about), 0);
    *bytes = malloc((size_t)about.st_size);
    ck_assert_uint_eq(fread(*bytes, 1, (size_t)about.st_size, file), (size_t)about.st_size);
    fclose(file);
    return (size_t)about.st_size;
}

/** Replaces a file, which may be mapped. */
static void replace_file(const char *name, const uint8_t *bytes, size_t size)
{
    ck_assert_int_eq(unlink(name), 0);
    FILE *file = fopen(name, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static void expect_the_same(const struct tabled *kind)
{
    char name[300];
    char *scratch = scratch_make();
    static uint64_t right[SOME], indices[SOME];
    lx_error error = LX_ERROR_INIT;
    lx_order *memory = make(kind, NULL);
    unit_ok(read_some(memory, right, &error));
    for (int round = 0; round < 3; round++) { /* the first one makes the files */
        lx_order *order = make(kind, "tables");
        unit_ok(read_some(order, indices, &error));
        ck_assert_mem_eq(indices, right, sizeof right);
        if (round == 0)
            ck_assert_int_eq(list("tables", "", name), kind->files);
        json_t *json = lx__order_to_json(memory);
        unit_ok(lx__order_match_json(order, json, &error)); /* states are the same */
        json_decref(json);
        if (round == 1)
            expect_order(order, 5);
        for (uint64_t k = 0; k < 50; k++)
            ck_assert_uint_eq(index_at(order, k * 997), index_at(memory, k * 997));
        for (size_t i = 0; i < lx_order_get_part_count(order); i++) {
            uint64_t counts[3], expected[3];
            unit_ok(lx_order_get_part_lengths(memory, 5, 40001, expected, &error));
            unit_ok(lx_order_get_part_lengths(order, 5, 40001, counts, &error));
            ck_assert_mem_eq(counts, expected, sizeof counts);
        }
        lx_order_unref(order);
    }
    lx_order_unref(memory);
    scratch_remove(scratch);
}

START_TEST(each_kind_of_order_is_the_same_from_a_file)
{
    tabled_begin();
    for (size_t i = 0; i < TABLED; i++)
        expect_the_same(&tabled[i]);
}
END_TEST

/** Makes the order from the present files, and reads it: the indices are right, or it fails. */
static lx_status try(const struct tabled *kind, const uint64_t *right)
{
    static uint64_t indices[SOME];
    lx_error error = LX_ERROR_INIT;
    lx_order *order = NULL;
    lx_status status = kind->make("tables", &order, &error);
    if (status == LX_OK)
        status = read_some(order, indices, &error);
    if (status == LX_OK && right != NULL)
        ck_assert_mem_eq(indices, right, sizeof indices);
    for (size_t i = 0; status == LX_OK && i < SOME; i++)
        ck_assert_uint_lt(indices[i], lx__order_get_bound(order));
    if (status != LX_OK)
        ck_assert_msg(error.status == status && strstr(error.path, "tables/") != NULL, "%s, %s: %s",
                      error.path, lx_status_get_name(error.status), error.message);
    lx_order_unref(order);
    return status;
}

static void flip_bits(const struct tabled *kind)
{
    static uint64_t right[SOME];
    char *scratch = scratch_make(), name[300];
    lx_error error = LX_ERROR_INIT;
    uint8_t *bytes;
    int failures = 0;
    lx_order *order = make(kind, "tables");
    unit_ok(read_some(order, right, &error));
    lx_order_unref(order);
    list("tables", "", name);
    size_t size = read_file(name, &bytes);
    for (size_t at = 0; at < size; at += at < 48 ? 1 : 997) {
        bytes[at] ^= (uint8_t)(1u << at % 8);
        replace_file(name, bytes, size);
        lx_status status = try(kind, right);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED);
        ck_assert(status != LX_OK || at >= DATA); /* a block that is not read */
        failures += status != LX_OK;
        bytes[at] ^= (uint8_t)(1u << at % 8);
    }
    ck_assert_int_ge(failures, 48 + (DATA - 48) / 997);
    for (size_t cut = 0; cut < size; cut += cut < 48 ? 5 : 997) {
        replace_file(name, bytes, cut);
        ck_assert_int_eq(try(kind, NULL), LX_ERR_CORRUPT);
    }
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    replace_file(name, bytes, size + 1);
    ck_assert_int_eq(try(kind, NULL), LX_ERR_CORRUPT);
    replace_file(name, bytes, size);
    ck_assert_int_eq(try(kind, right), LX_OK);
    free(bytes);
    scratch_remove(scratch);
}

START_TEST(reports_a_flipped_bit)
{
    tabled_begin();
    for (size_t i = 0; i < TABLED; i++)
        flip_bits(&tabled[i]);
}
END_TEST

/** Restamps the checksums of changed numbers. */
static void make_crcs(uint8_t *bytes, size_t size)
{
    size_t data = DATA, blocks = (size - DATA + BLOCK + 3) / (BLOCK + 4);
    size_t crcs = size - 4 * blocks;
    for (size_t i = 0; i < blocks; i++, data += BLOCK)
        lx__store_le32(bytes + crcs + 4 * i,
                       lx__crc32c(0, bytes + data, crcs - data < BLOCK ? crcs - data : BLOCK));
}

static void write_numbers(const struct tabled *kind)
{
    char *scratch = scratch_make(), name[300];
    uint8_t *bytes, *hostile;
    uint64_t state = 11;
    int refused = 0;
    ck_assert_int_eq(try(kind, NULL), LX_OK);
    list("tables", "", name);
    size_t size = read_file(name, &bytes);
    hostile = malloc(size);
    for (int round = 0; round < 20; round++) {
        memcpy(hostile, bytes, size);
        for (size_t i = DATA; i < size; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if (round == 0)
                hostile[i] = 0xFF;
            else if (round == 1)
                hostile[i] = 0;
            else if (round < 10 || (state >> 40) % 100 == 0)
                hostile[i] = (uint8_t)(state >> 33);
        }
        make_crcs(hostile, size);
        replace_file(name, hostile, size);
        lx_status status = try(kind, NULL);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT);
        refused += status != LX_OK;
    }
    ck_assert_int_ge(refused, 2);
    make_crcs(bytes, size); /* they are as the library writes them */
    replace_file(name, bytes, size);
    ck_assert_int_eq(try(kind, NULL), LX_OK);
    free(bytes);
    free(hostile);
    scratch_remove(scratch);
}

START_TEST(reports_hostile_numbers)
{
    tabled_begin();
    for (size_t i = 0; i < TABLED; i++)
        write_numbers(&tabled[i]);
}
END_TEST

/* ---- folders */

START_TEST(rejects_another_table_in_its_place)
{
    const struct tabled *nanoset = &tabled[3];
    char *scratch = scratch_make(), name[300], other[300] = "";
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_order_unref(make(nanoset, "tables"));
    list("tables", "", name);
    ck_assert_int_eq(rename(name, "kept"), 0);
    unit_ok(
        new_nanoset((uint64_t[]){3000, 2000, 4500}, NULL, 3, true, 6, "tables", &order, &error));
    lx_order_unref(order);
    list("tables", "", other);
    ck_assert_str_ne(name, other);
    ck_assert_int_eq(rename(other, name), 0);
    ck_assert_int_eq(nanoset->make("tables", &order, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_null(order);
    ck_assert_msg(strstr(error.message, "\"seed\":6") != NULL &&
                      strstr(error.message, "\"seed\":5") != NULL,
                  "%s", error.message);
    /* A folder, a link and a pipe are not tables, and no call hangs. */
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(mkdir(name, 0777), 0);
    ck_assert_int_eq(try(nanoset, NULL), LX_ERR_CORRUPT);
    ck_assert_int_eq(rmdir(name), 0);
    ck_assert_int_eq(symlink("../kept", name), 0);
    ck_assert_int_eq(try(nanoset, NULL), LX_ERR_CORRUPT);
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(mkfifo(name, 0666), 0);
    ck_assert_int_eq(try(nanoset, NULL), LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_folders)
{
    const struct tabled *nanoset = &tabled[3], *torch = &tabled[8];
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    FILE *file = fopen("file", "w");
    fclose(file);
    ck_assert_int_eq(nanoset->make("no/tables", &order, &error), LX_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "directory"));
    lx_error_clear(&error);
    ck_assert_int_eq(torch->make("no/tables", &order, &error), LX_ERR_NOT_FOUND);
    lx_error_clear(&error);
    ck_assert_int_eq(nanoset->make("file", &order, &error), LX_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.path, "file"));
    lx_error_clear(&error);
    ck_assert_int_eq(nanoset->make("", &order, &error), LX_ERR_ARGUMENT);
    if (geteuid() != 0) { /* permissions do not apply to root */
        lx_error_clear(&error);
        ck_assert_int_eq(mkdir("closed", 0555), 0);
        ck_assert_int_eq(nanoset->make("closed", &order, &error), LX_ERR_IO);
        ck_assert_int_eq(chmod("closed", 0777), 0);
        lx_order_unref(make(nanoset, "closed"));
        ck_assert_int_eq(chmod("closed", 0555), 0);
        lx_order_unref(make(nanoset, "closed")); /* existing files can be read */
        ck_assert_int_eq(chmod("closed", 0777), 0);
    }
    scratch_remove(scratch);
}
END_TEST

static void fill_disk(const struct tabled *kind)
{
    static uint64_t indices[SOME];
    char *scratch = scratch_make(), name[300];
    lx_error error = LX_ERROR_INIT;
    lx_order *order = NULL;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    for (rlim_t bytes = 0; bytes < 8000; bytes += DATA) { /* within the header; after it */
        small.rlim_cur = bytes;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        lx_status status = kind->make("tables", &order, &error);
        if (status == LX_OK)
            status = read_some(order, indices, &error);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
        if (strncmp(kind->name, "greedy", 6) != 0 || bytes == 0) { /* a few numbers are no more */
            ck_assert_int_eq(status, LX_ERR_IO);
            ck_assert_int_eq(list("tables", "", name), 0); /* no file remains */
        }
        lx_order_unref(order);
        lx_error_clear(&error);
    }
    ck_assert_int_eq(try(kind, NULL), LX_OK);
    scratch_remove(scratch);
}

START_TEST(survives_a_full_disk)
{
    tabled_begin();
    for (size_t i = 0; i < TABLED; i++)
        fill_disk(&tabled[i]);
}
END_TEST

START_TEST(processes_make_one_table_together)
{
    const struct tabled *nanoset = &tabled[3];
    static uint64_t right[SOME], indices[SOME];
    char *scratch = scratch_make(), name[300];
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make(nanoset, NULL);
    unit_ok(read_some(order, right, &error));
    lx_order_unref(order);
    for (int round = 0; round < 3; round++) {
        pid_t children[4];
        for (int i = 0; i < 4; i++)
            if ((children[i] = fork()) == 0) {
                bool fine = nanoset->make("tables", &order, &error) == LX_OK &&
                            read_some(order, indices, &error) == LX_OK &&
                            memcmp(indices, right, sizeof right) == 0;
                _exit(!fine);
            }
        for (int i = 0; i < 4; i++) {
            int how;
            ck_assert_int_eq(waitpid(children[i], &how, 0), children[i]);
            ck_assert_int_eq(how, 0);
        }
        ck_assert_int_eq(list("tables", "", name), 1);
        ck_assert_int_eq(unlink(name), 0);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(replaces_files_of_a_killed_process)
{
    const struct tabled *nanoset = &tabled[3];
    char *scratch = scratch_make(), name[300], left[310];
    lx_order_unref(make(nanoset, "tables"));
    list("tables", "", name);
    snprintf(left, sizeof left, "%s.0.new", name);
    ck_assert_int_eq(rename(name, left), 0);
    ck_assert_int_eq(truncate(left, 100), 0);
    lx_order_unref(make(nanoset, "tables"));
    ck_assert_int_eq(access(name, F_OK), 0);
    ck_assert_int_eq(list("tables", "", name), 2);
    scratch_remove(scratch);
}
END_TEST

/* ---- epochs */

START_TEST(makes_and_removes_files_of_epochs)
{
    const struct tabled *torch = &tabled[8];
    char *scratch = scratch_make(), name[300];
    tabled_begin();
    lx_order *order = make(torch, "tables"), *memory = make(torch, NULL);
    ck_assert_int_eq(chdir("/"), 0); /* the folder is still the same */
    for (uint64_t epoch = 0; epoch < 6; epoch++)
        for (uint64_t k = 0; k < 7000; k += 500)
            ck_assert_uint_eq(index_at(order, epoch * 7000 + k),
                              index_at(memory, epoch * 7000 + k));
    ck_assert_int_eq(chdir(scratch), 0);
    ck_assert_int_eq(list("tables", "", name), 2);
    /* Another one moves back, and forward from there. */
    lx_order *again = make(torch, "tables");
    for (uint64_t epoch = 3; epoch < 6; epoch++)
        ck_assert_uint_eq(index_at(again, epoch * 7000 + 77), index_at(memory, epoch * 7000 + 77));
    ck_assert_int_le(list("tables", "torch-", name), 3);
    lx_order_unref(again);
    lx_order_unref(order);
    lx_order_unref(memory);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("sampler/tables", each_kind_of_order_is_the_same_from_a_file, reports_a_flipped_bit,
          reports_hostile_numbers, rejects_another_table_in_its_place, rejects_invalid_folders,
          survives_a_full_disk, processes_make_one_table_together,
          replaces_files_of_a_killed_process, makes_and_removes_files_of_epochs)
