/* SPDX-License-Identifier: MIT */
/* Files of the cache: what is present, what a boot changes, hostile files. */
#include "cache-files.h"

#include "../../scarce.h"

/* ---- the plain file, with the layout of the header */

static uint64_t page_at(uint64_t page)
{
    return (page + page / GROUP + 1) * PAGE;
}

static void peek(void *data, size_t size, uint64_t offset)
{
    lx_error error = LX_ERROR_INIT;
    lx__file file;
    unit_ok(lx__file_open(&file, &directory, "file", O_RDONLY, &error));
    unit_ok(lx__file_read(&file, data, size, offset, &error));
    lx__file_close(&file);
}

static void poke(const void *data, size_t size, uint64_t offset)
{
    lx_error error = LX_ERROR_INIT;
    lx__file file;
    unit_ok(lx__file_open(&file, &directory, "file", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&file, data, size, offset, &error));
    lx__file_close(&file);
}

static void flip(uint64_t offset, uint8_t bits)
{
    uint8_t byte;
    peek(&byte, 1, offset);
    byte ^= bits;
    poke(&byte, 1, offset);
}

START_TEST(the_file_has_the_layout_of_the_header)
{
    char *scratch = begin();
    uint8_t entry[8], page[PAGE];
    lx__cache_file *file = open_file(0x1234, SIZE);
    store(file, 0, PAGES);
    lx__cache_file_close(file);
    static const uint64_t pages[] = {0, 511, 512, 1023, 1024, PAGES - 1};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        size_t size = pages[i] == PAGES - 1 ? 100 : PAGE;
        peek(entry, sizeof entry, entry_at(pages[i]));
        peek(page, size, page_at(pages[i]));
        ck_assert_mem_eq(page, content + pages[i] * PAGE, size);
        ck_assert_uint_eq(lx__load_le32(entry), lx__crc32c(0, page, size));
        ck_assert_uint_eq(lx__load_le32(entry + 4), size | 0x12340000);
    }
    end(scratch);
}
END_TEST

START_TEST(pages_that_were_stored_are_present_and_no_others)
{
    char *scratch = begin();
    bool stored[PAGES + 1] = {false};
    srand(7);
    lx__cache_file *file = open_file(1, SIZE);
    for (int round = 0; round < 300; round++) {
        uint64_t first = (uint64_t)rand() % PAGES, count = 1 + (uint64_t)rand() % 40;
        if (round % 8 == 0) /* over a border of groups */
            first = GROUP * (1 + (uint64_t)round / 8 % 2) - count / 2 - 1;
        if (count > PAGES - first)
            count = PAGES - first;
        if (round % 3 == 0)
            lx__cache_file_drop(file, (lx__pages){first, count});
        else
            store(file, first, count);
        for (uint64_t i = first; i < first + count; i++)
            stored[i] = round % 3 != 0;
        /* Two handles: one that remembers what it found, and a new one. */
        lx__cache_file *fresh = open_file(1, SIZE);
        uint64_t from = (uint64_t)rand() % PAGES, wanted = 0;
        while (stored[from + wanted])
            wanted++;
        ck_assert_uint_eq(count_present(file, from, UINT64_MAX), wanted);
        ck_assert_uint_eq(count_present(fresh, from, UINT64_MAX), wanted);
        ck_assert_uint_eq(count_present(fresh, from, wanted / 2), wanted / 2);
        if (wanted != 0)
            expect_content(fresh, from, wanted);
        lx__cache_file_close(fresh);
    }
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

START_TEST(reads_any_bytes_of_present_pages)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    uint8_t bytes[3 * PAGE];
    lx__cache_file *file = open_file(1, SIZE);
    store(file, 0, PAGES);
    srand(3);
    for (int i = 0; i < 1000; i++) {
        size_t size = (size_t)rand() % sizeof bytes;
        size_t offset = i % 2 == 0 ? GROUP * PAGE * (1 + (size_t)i / 2 % 3) - size / 2
                                   : (size_t)rand() % (SIZE - size);
        if (offset + size > SIZE)
            size = SIZE - offset;
        unit_ok(lx__cache_file_read(file, bytes, size, offset, &error));
        ck_assert(memcmp(bytes, content + offset, size) == 0);
    }
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

START_TEST(the_last_page_is_absent_after_the_file_has_grown)
{
    char *scratch = begin();
    lx__cache_file *file = open_file(1, 5 * PAGE + 10);
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__cache_file_store(file, 0, content, 5 * PAGE + 10, &error));
    ck_assert_uint_eq(count_present(file, 0, 100), 6);
    for (uint16_t boot = 1; boot <= 2; boot++) {
        lx__cache_file *longer = open_file(boot, 5 * PAGE + 11);
        ck_assert_uint_eq(count_present(longer, 0, 100), 5);
        ck_assert_uint_eq(count_present(longer, 5, 1), 0);
        lx__cache_file_close(longer);
    }
    lx__cache_file *longer = open_file(1, SIZE);
    store(longer, 5, 1);
    lx__cache_file_close(longer);
    /* The reader of the shorter file may use the longer page. */
    lx__cache_file *shorter = open_file(3, 5 * PAGE + 10);
    ck_assert_uint_eq(count_present(shorter, 5, 9), 1);
    lx__cache_file_close(shorter);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

START_TEST(another_boot_verifies_each_page_once)
{
    char *scratch = begin();
    uint8_t entry[8];
    lx__cache_file *file = open_file(1, SIZE);
    store(file, 0, PAGES);
    lx__cache_file_close(file);
    static const uint64_t torn[] = {3, 20, 21, 511, 512, 800, PAGES - 1};
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++)
        flip(page_at(torn[i]) + 99, 1);
    file = open_file(2, SIZE);
    for (uint64_t first = 0, i = 0; i < sizeof torn / sizeof *torn; i++) {
        ck_assert_uint_eq(count_present(file, first, PAGES), torn[i] - first);
        ck_assert_uint_eq(count_present(file, torn[i], PAGES), 0);
        if (torn[i] != first)
            expect_content(file, first, torn[i] - first);
        first = torn[i] + 1;
    }
    for (uint64_t page = 0, i = 0; page < PAGES; page++) {
        peek(entry, sizeof entry, entry_at(page));
        bool is_torn = page == torn[i];
        ck_assert_uint_eq(lx__load_le32(entry + 4) >> 16, is_torn ? 1 : 2);
        i += is_torn;
    }
    /* A page of this boot is not verified again. */
    flip(page_at(5), 1);
    lx__cache_file *again = open_file(2, SIZE);
    ck_assert_uint_eq(count_present(again, 4, 9), 9);
    lx__cache_file_close(again);
    /* A torn page can be stored again. */
    store(file, 3, 1);
    expect_content(file, 3, 1);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

/** Each page that is present must be right, unless it was damaged in this boot. */
static void expect_absent_or_right(uint16_t boot)
{
    lx__cache_file *file = open_file(boot, SIZE);
    for (uint64_t page = 0; page < PAGES; page++)
        if (count_present(file, page, 1) != 0)
            expect_content(file, page, 1);
    lx__cache_file_close(file);
}

START_TEST(any_byte_of_an_entry_may_be_wrong)
{
    char *scratch = begin();
    static const uint64_t pages[] = {0, 511, 512, PAGES - 1};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        for (size_t byte = 0; byte < 8; byte++) {
            lx__cache_file *file = open_file(1, SIZE);
            store(file, pages[i], 1);
            lx__cache_file_close(file);
            for (unsigned bit = 0; bit < 8; bit++) {
                flip(entry_at(pages[i]) + byte, (uint8_t)(1 << bit));
                file = open_file(0x5555, SIZE);
                uint64_t present = count_present(file, pages[i], 1);
                /* Another number of an earlier boot does no harm; 0 means absent. */
                ck_assert_uint_eq(present, byte >= 6 && (byte != 6 || bit != 0));
                if (present != 0)
                    expect_content(file, pages[i], 1);
                lx__cache_file_close(file);
                uint8_t entry[8];
                peek(entry, 8, entry_at(pages[i]));
                lx__store_le32(entry + 4, (lx__load_le32(entry + 4) & 0xffff) | 1u << 16);
                poke(entry, 8, entry_at(pages[i]));
                if (byte < 6)
                    flip(entry_at(pages[i]) + byte, (uint8_t)(1 << bit));
            }
        }
    end(scratch);
}
END_TEST

START_TEST(the_file_may_be_truncated_anywhere)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    uint8_t page[PAGE];
    for (uint64_t length = page_at(PAGES - 1) + 99; length > 5000; length -= length / 9 + 7) {
        lx__cache_file *file = open_file(1, SIZE);
        store(file, 0, PAGES);
        ck_assert_int_eq(truncate("file", (off_t)length), 0);
        /* What was found is gone: a clear error. */
        unit_fails(lx__cache_file_read(file, page, 100, SIZE - 100, &error), LX_ERR_CORRUPT);
        lx__cache_file_close(file);
        expect_absent_or_right(2);
        ck_assert_int_eq(unlink("file"), 0);
    }
    end(scratch);
}
END_TEST

START_TEST(a_file_of_random_bytes_does_no_harm)
{
    char *scratch = begin();
    size_t length = page_at(PAGES);
    uint8_t *bytes = malloc(length), page[PAGE];
    srand(11);
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)(rand() >> 8);
        /* Half of the entries have plausible lengths and boots, so that CRCs decide. */
        for (uint64_t i = 0; round >= 2 && i < PAGES; i++)
            lx__store_le32(bytes + entry_at(i) + 4, 4096 | (uint32_t)(7 + i % 2 + 1) << 16);
        poke(bytes, length, 0);
        lx__cache_file *file = open_file(7, SIZE);
        for (uint64_t i = 0; i < PAGES; i++)
            if (count_present(file, i, 1) != 0)
                (void)lx__cache_file_read(file, page, i == PAGES - 1 ? 100 : PAGE, i * PAGE, NULL);
        if (round >= 2)
            ck_assert_uint_eq(count_present(file, 0, PAGES), 0);
        lx__cache_file_close(file);
    }
    free(bytes);
    end(scratch);
}
END_TEST

/** What the header says about an entry. */
static bool is_present(uint64_t page, const uint8_t *raw, size_t length, uint16_t boot)
{
    const uint8_t *entry = raw + entry_at(page);
    uint32_t bytes = lx__load_le32(entry + 4) & 0xffff, written = lx__load_le32(entry + 4) >> 16;
    if (entry_at(page) + 8 > length || written == 0 || bytes > PAGE ||
        bytes < (page == PAGES - 1 ? 100 : PAGE))
        return false;
    return written == boot || (page_at(page) + bytes <= length &&
                               lx__crc32c(0, raw + page_at(page), bytes) == lx__load_le32(entry));
}

START_TEST(entries_mean_what_the_header_says)
{
    char *scratch = begin();
    static const uint16_t sizes[] = {0, 1, 99, 100, 101, 4095, 4096, 4096, 4096, 4097, 0xffff};
    static const uint16_t boots[] = {0, 6, 7, 7, 8, 0xffff};
    size_t most = page_at(PAGES);
    uint8_t *raw = malloc(most + PAGE);
    srand(5);
    for (int round = 0; round < 60; round++) {
        size_t length = round % 3 == 0 ? (size_t)rand() % most : most;
        for (size_t i = 0; i < most; i += 64)
            memset(raw + i, rand() >> 8, 64);
        for (uint64_t page = 0; page < PAGES; page++) {
            /* Long runs of pages that are present, with exceptions. */
            bool good = rand() % 40 != 0;
            uint16_t size = good ? 4096 : sizes[rand() % 11];
            uint16_t boot = good ? (uint16_t)(7 + page / 64 % 2) : boots[rand() % 6];
            uint32_t crc = lx__crc32c(0, raw + page_at(page), size <= PAGE ? size : PAGE);
            lx__store_le32(raw + entry_at(page), crc ^ (good || rand() % 2 == 0 ? 0 : 1));
            lx__store_le32(raw + entry_at(page) + 4, size | (uint32_t)boot << 16);
        }
        poke(raw, length, 0);
        ck_assert_int_eq(truncate("file", (off_t)length), 0);
        lx__cache_file *file = open_file(7, SIZE);
        for (int i = 0; i < 50; i++) {
            uint64_t first = (uint64_t)rand() % PAGES, wanted = 0,
                     count = 1 + (uint64_t)rand() % 700;
            while (wanted < count && first + wanted < PAGES &&
                   is_present(first + wanted, raw, length, 7))
                wanted++;
            ck_assert_uint_eq(count_present(file, first, count), wanted);
        }
        lx__cache_file_close(file);
    }
    free(raw);
    end(scratch);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file;
    ck_assert_int_eq(mkdir("a-directory", 0777), 0);
    ck_assert_int_eq(symlink("/etc/passwd", "a-link"), 0);
    ck_assert_int_eq(symlink("nowhere", "a-dead-link"), 0);
    ck_assert_int_eq(mkfifo("a-pipe", 0666), 0);
    static const char *const names[] = {"a-directory", "a-link", "a-dead-link", "a-pipe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unit_fails(lx__cache_file_open(&directory, names[i], 1, SIZE, &file, &error),
                   LX_ERR_CORRUPT);
        ck_assert_ptr_null(file);
    }
    ck_assert_int_eq(access("nowhere", F_OK), -1);
    end(scratch);
}
END_TEST

START_TEST(a_file_may_have_any_length)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file;
    const uint64_t most = (uint64_t)1 << 62;
    unit_fails(lx__cache_file_open(&directory, "file", 1, most + 1, &file, &error), LX_ERR_LIMIT);
    file = open_file(1, most);
    ck_assert_uint_eq(count_present(file, 0, UINT64_MAX), 0);
    ck_assert_uint_eq(count_present(file, most / PAGE - 1, UINT64_MAX), 0);
    ck_assert_uint_eq(count_present(file, UINT64_MAX, UINT64_MAX), 0);
    unit_fails(lx__cache_file_store(file, most / PAGE, content, 1, &error), LX_ERR_RANGE);
    unit_fails(lx__cache_file_store(file, UINT64_MAX, content, 1, &error), LX_ERR_RANGE);
    lx__cache_file_drop(file, (lx__pages){UINT64_MAX, UINT64_MAX});
    lx__cache_file_close(file);
    file = open_file(1, 0);
    ck_assert_uint_eq(count_present(file, 0, 1), 0);
    unit_fails(lx__cache_file_store(file, 0, content, 1, &error), LX_ERR_RANGE);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

START_TEST(without_memory_pages_are_found_in_the_file)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file = open_file(1, SIZE);
    scarce_begin(0);
    store(file, 500, 30);
    ck_assert_uint_eq(count_present(file, 500, 40), 30);
    ck_assert_uint_eq(count_present(file, 500, 40), 30);
    lx__cache_file *other;
    unit_fails(lx__cache_file_open(&directory, "file", 1, SIZE, &other, &error), LX_ERR_NOMEM);
    scarce_begin(1000);
    expect_content(file, 500, 30);
    lx__cache_file_close(file);
    end(scratch);
}
END_TEST

UNIT_MAIN("remote/cache/cache-file", the_file_has_the_layout_of_the_header,
          pages_that_were_stored_are_present_and_no_others, reads_any_bytes_of_present_pages,
          the_last_page_is_absent_after_the_file_has_grown, another_boot_verifies_each_page_once,
          any_byte_of_an_entry_may_be_wrong, the_file_may_be_truncated_anywhere,
          a_file_of_random_bytes_does_no_harm, entries_mean_what_the_header_says,
          only_regular_files_are_opened, a_file_may_have_any_length,
          without_memory_pages_are_found_in_the_file)
