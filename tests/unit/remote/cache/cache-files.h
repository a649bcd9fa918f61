/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A cache file for tests, of a dataset's file whose bytes differ from page to page.
 */
#ifndef LX_TESTS_CACHE_FILES_H
#define LX_TESTS_CACHE_FILES_H

#include "remote/cache/cache-file.h"

#include <sys/stat.h>

#include "base/bytes.h"
#include "base/crc32c.h"

#include "../../scratch.h"
#include "../../unit.h"

#define PAGE ((size_t)LX__PAGE_BYTES)
#define GROUP 512

/* Three groups and a short page. */
#define PAGES (3 * GROUP + 1)
#define SIZE (3 * GROUP * PAGE + 100)

static lx__file directory;
static uint8_t *content; /* of the dataset's file */

/** Makes a directory, which is opened by its absolute path, and the content. */
static inline char *begin(void)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    char *absolute = realpath(scratch, NULL);
    unit_ok(lx__directory_open(&directory, LX__CWD, absolute, &error));
    free(absolute);
    content = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        content[i] = (uint8_t)(i * 7 + i / PAGE * 13 + i / 65536);
    return scratch;
}

static inline void end(char *scratch)
{
    free(content);
    lx__file_close(&directory);
    scratch_remove(scratch);
}

static inline lx__cache_file *open_file(uint16_t boot, uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file;
    unit_ok(lx__cache_file_open(&directory, "file", boot, size, &file, &error));
    return file;
}

static inline void store(lx__cache_file *file, uint64_t first, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    size_t start = first * PAGE, left = SIZE - start;
    unit_ok(lx__cache_file_store(file, first, content + start,
                                 count * PAGE < left ? count * PAGE : left, &error));
}

static inline uint64_t count_present(lx__cache_file *file, uint64_t first, uint64_t count)
{
    return lx__cache_file_count_present(file, (lx__pages){first, count});
}

/** Reads pages, which must be those of the content. */
static inline void expect_content(lx__cache_file *file, uint64_t first, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    size_t start = first * PAGE, size = count * PAGE;
    if (size > SIZE - start)
        size = SIZE - start;
    uint8_t *bytes = malloc(size + 1);
    unit_ok(lx__cache_file_read(file, bytes, size, start, &error));
    ck_assert(memcmp(bytes, content + start, size) == 0);
    free(bytes);
}

static inline uint64_t entry_at(uint64_t page)
{
    return page / GROUP * (GROUP + 1) * PAGE + page % GROUP * 8;
}

#endif
