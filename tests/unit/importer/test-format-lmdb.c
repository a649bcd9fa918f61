/* SPDX-License-Identifier: MIT */
/* The format "lmdb", with files that are made here byte by byte. */
#include <sys/stat.h>

#include "base/bytes.h"
#include "importer/lmdb-tree.h"

#include "imports.h"

/* Pages: two that describe the state, a branch, two leaves, and a large value of two pages. */
#define PAGE 512
enum { BRANCH = 2, LEFT, RIGHT, LARGE, PAGES = LARGE + 2 };
#define LARGE_SIZE 900

static uint8_t file[PAGES * PAGE];

static void put16(size_t at, unsigned value)
{
    file[at] = (uint8_t)value;
    file[at + 1] = (uint8_t)(value >> 8);
}

static void put64(size_t at, uint64_t value)
{
    value = LX__LE64(value);
    memcpy(file + at, &value, 8);
}

static void begin_page(size_t page, unsigned kind)
{
    put64(page * PAGE, page);
    put16(page * PAGE + 10, kind);
    put16(page * PAGE + 12, 16);
    put16(page * PAGE + 14, PAGE);
}

/** Adds an entry to a page; returns its offset in the file. */
static size_t add_node(size_t page, uint64_t low, unsigned flags, const char *key,
                       const void *value, size_t size)
{
    size_t base = page * PAGE, key_size = strlen(key);
    unsigned lower = file[base + 12] | (unsigned)file[base + 13] << 8;
    unsigned upper = file[base + 14] | (unsigned)file[base + 15] << 8;
    upper -= (unsigned)(8 + key_size + size + 1) & ~1u;
    put16(base + lower, upper);
    put16(base + 12, lower + 2);
    put16(base + 14, upper);
    lx__store_le32(file + base + upper, (uint32_t)low);
    put16(base + upper + 4, flags);
    put16(base + upper + 6, (unsigned)key_size);
    memcpy(file + base + upper + 8, key, key_size);
    if (size != 0)
        memcpy(file + base + upper + 8 + key_size, value, size);
    return base + upper;
}

static void put_root(size_t at, unsigned flags, unsigned depth, uint64_t entries, uint64_t root)
{
    put16(at + 4, flags);
    put16(at + 6, depth);
    put64(at + 32, entries);
    put64(at + 40, root);
}

/** Makes a file with the keys a, b and c, the last of which has a large value. */
static void make(void)
{
    memset(file, 0, sizeof file);
    for (size_t page = 0; page < 2; page++) {
        begin_page(page, 8);
        lx__store_le32(file + page * PAGE + 16, 0xbeefc0de);
        lx__store_le32(file + page * PAGE + 20, 1);
        lx__store_le32(file + page * PAGE + 40, PAGE);
        put_root(page * PAGE + 40, 0, 0, 0, UINT64_MAX);
        put64(page * PAGE + 136, PAGES - 1);
        put64(page * PAGE + 144, page + 1);
    }
    put_root(88, 0, 0, 0, UINT64_MAX);
    put_root(PAGE + 88, 0, 2, 3, BRANCH);
    begin_page(BRANCH, 1);
    add_node(BRANCH, LEFT, 0, "", NULL, 0);
    add_node(BRANCH, RIGHT, 0, "b", NULL, 0);
    begin_page(LEFT, 2);
    add_node(LEFT, 3, 0, "a", "one", 3);
    begin_page(RIGHT, 2);
    add_node(RIGHT, 0, 0, "b", NULL, 0);
    const uint64_t number = LX__LE64((uint64_t)LARGE);
    add_node(RIGHT, LARGE_SIZE, 1, "c", &number, 8);
    put64(LARGE * PAGE, LARGE);
    put16(LARGE * PAGE + 10, 4);
    lx__store_le32(file + LARGE * PAGE + 12, 2);
    memset(file + LARGE * PAGE + 16, 'z', LARGE_SIZE);
}

static void put_file(void)
{
    put_bytes("input", file, sizeof file);
}

START_TEST(keys_and_values_are_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make();
    put_file();
    lx_importer *importer = importer_of("lmdb", "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "key:bytes value:bytes");
    expect_length("d", 3);
    expect_text("d", 0, "key", "a");
    expect_text("d", 0, "value", "one");
    expect_text("d", 1, "value", "");
    expect_text("d", 2, "key", "c");
    expect_bytes("d", 2, "value", file + LARGE * PAGE + 16, LARGE_SIZE);
    lx_importer_free(importer);
    mkdir("folder", 0777);
    put_bytes("folder/data.mdb", file, sizeof file);
    importer = importer_of("lmdb", "folder");
    unit_ok(lx_importer_run(importer, "e", NULL, &error));
    expect_length("e", 3);
    ck_assert_int_eq(access("folder/lock.mdb", F_OK), -1);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_named_database_is_selected)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t root[48];
    make();
    put_root(PAGE + 88, 0, 2, 3, BRANCH);
    memcpy(root, file + PAGE + 88, sizeof root);
    /* The main database is the left leaf, and contains the whole tree. */
    begin_page(LARGE, 2);
    add_node(LARGE, sizeof root, 2, "inner", root, sizeof root);
    add_node(LARGE, 2, 0, "x", "yz", 2);
    put_root(PAGE + 88, 0, 1, 2, LARGE);
    begin_page(RIGHT, 2); /* now without the large value */
    add_node(RIGHT, 1, 0, "b", "2", 1);
    add_node(RIGHT, 1, 0, "c", "3", 1);
    put_file();
    lx_importer *importer = importer_of("lmdb", "input");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_UNSUPPORTED);
    unit_ok(lx_importer_set_option(importer, "database", "none", &error));
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "no database named 'none'"));
    ck_assert(error.record == LX_NONE && error.offset == LX_NONE);
    lx_error_clear(&error);
    unit_ok(lx_importer_set_option(importer, "database", "inner", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 3);
    expect_text("d", 2, "value", "3");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

static void refuse(lx_status status, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    put_file();
    lx_importer *importer = importer_of("lmdb", "input");
    lx_status got = lx_importer_run(importer, "refused", NULL, &error);
    ck_assert_msg(got == status && strstr(error.message, part) != NULL, "%s: %s",
                  lx_status_get_name(got), error.message);
    lx_importer_free(importer);
    lx_dataset_remove("refused", NULL);
}

START_TEST(numbers_that_are_wrong_are_refused)
{
    char *scratch = scratch_make();
    static const struct {
        size_t at;
        unsigned number; /* 16 bits */
        lx_status status;
        const char *part;
    } bad[] = {
        {10, 0, LX_ERR_UNSUPPORTED, "not an LMDB"},
        {16, 0, LX_ERR_UNSUPPORTED, "not an LMDB"},
        {20, 2, LX_ERR_UNSUPPORTED, "version 2"},
        {40, 500, LX_ERR_CORRUPT, "page size"},
        {40, 0, LX_ERR_CORRUPT, "page size"},
        {PAGE + 16, 0, LX_ERR_UNSUPPORTED, "not an LMDB"},
        {PAGE + 92, 4, LX_ERR_UNSUPPORTED, "MDB_DUPSORT"},
        {PAGE + 94, 33, LX_ERR_CORRUPT, "levels"},
        {PAGE + 94, 1, LX_ERR_CORRUPT, "not what its tree says"},
        {PAGE + 94, 3, LX_ERR_CORRUPT, "not what its tree says"},
        {PAGE + 120, 4, LX_ERR_CORRUPT, "should have 4"},
        {PAGE + 128, 0, LX_ERR_CORRUPT, "within the file"},
        {PAGE + 128, PAGES, LX_ERR_CORRUPT, "within the file"},
        {PAGE + 134, 0xfff0, LX_ERR_CORRUPT, "within the file"},
        {BRANCH * PAGE, 3, LX_ERR_CORRUPT, "not what its tree says"},
        {BRANCH * PAGE + 12, 15, LX_ERR_CORRUPT, "bounds"},
        {BRANCH * PAGE + 12, 17, LX_ERR_CORRUPT, "bounds"},
        {BRANCH * PAGE + 12, PAGE, LX_ERR_CORRUPT, "bounds"},
        {BRANCH * PAGE + 14, PAGE + 2, LX_ERR_CORRUPT, "bounds"},
        {BRANCH * PAGE + 16, 0, LX_ERR_CORRUPT, "within its page"},
        {BRANCH * PAGE + 16, PAGE - 4, LX_ERR_CORRUPT, "within its page"},
        {BRANCH * PAGE + 16, 0xffff, LX_ERR_CORRUPT, "within its page"},
        {LEFT * PAGE + 500 + 6, 500, LX_ERR_CORRUPT, "within its page"},
        {LEFT * PAGE + 500, 4, LX_ERR_CORRUPT, "within its page"},
        {LEFT * PAGE + 500 + 2, 0xffff, LX_ERR_LIMIT, "limit"},
        {LEFT * PAGE + 500 + 4, 1, LX_ERR_CORRUPT, "within its page"},
        {LEFT * PAGE + 500 + 4, 4, LX_ERR_UNSUPPORTED, "several values"},
        {LARGE * PAGE, 4, LX_ERR_CORRUPT, "not what its tree says"},
        {LARGE * PAGE + 10, 2, LX_ERR_CORRUPT, "not what its tree says"},
        {LARGE * PAGE + 12, 1, LX_ERR_CORRUPT, "within its pages"},
        {LARGE * PAGE + 12, 3, LX_ERR_CORRUPT, "within its pages"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make();
        put16(bad[i].at, bad[i].number);
        refuse(bad[i].status, bad[i].part);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(circles_of_pages_are_refused)
{
    char *scratch = scratch_make();
    make();
    put_root(PAGE + 88, 0, 32, UINT64_MAX, BRANCH);
    begin_page(BRANCH, 1);
    for (int i = 0; i < 20; i++)
        add_node(BRANCH, BRANCH, 0, "", NULL, 0);
    refuse(LX_ERR_CORRUPT, "circle");
    scratch_remove(scratch);
}
END_TEST

/** Reads all entries; the sum of all bytes shows a sanitizer that they may be read. */
static unsigned walk(void)
{
    lx__lmdb tree;
    bool lost = false;
    unsigned sum = 0;
    lx_status status = lx__lmdb_open(&tree, "input", NULL);
    for (int i = 0; status != LX_END && !lost && i < 10000; i++) {
        lx__lmdb_entry entry = {0};
        if (i == 0 && status != LX_OK)
            break;
        status = lx__lmdb_next(&tree, 100000, &entry, &lost, NULL);
        for (size_t k = 0; status == LX_OK && k < entry.key_size; k++)
            sum += entry.key[k];
        for (size_t k = 0; status == LX_OK && k < entry.value_size; k++)
            sum += entry.value[k];
    }
    lx__lmdb_close(&tree);
    return sum;
}

START_TEST(no_damage_of_a_byte_does_harm)
{
    char *scratch = scratch_make();
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    make();
    put_file();
    unsigned sum = walk();
    ck_assert_uint_gt(sum, LARGE_SIZE * 'z');
    for (size_t at = 0; at < sizeof file; at++) {
        file[at] ^= masks[at % sizeof masks];
        put_file();
        file[at] ^= masks[at % sizeof masks];
        walk();
    }
    for (size_t cut = 0; cut < sizeof file; cut += 7) {
        put_bytes("input", file, cut);
        ck_assert_uint_ne(walk(), sum);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-lmdb", keys_and_values_are_fields, a_named_database_is_selected,
          numbers_that_are_wrong_are_refused, circles_of_pages_are_refused,
          no_damage_of_a_byte_does_harm)
