/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Caches for tests, in the working directory, on a disk the space of which the test chooses:
 * fstatvfs() of the test program replaces the C library's.
 */
#ifndef LX_TESTS_CACHES_H
#define LX_TESTS_CACHES_H

#include "remote/cache/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "remote/cache/cache-state.h"

#include "../../scratch.h"
#include "../../unit.h"

#define URL "s3://bucket/train"
#define MIB ((uint64_t)1 << 20)

/** The units of the disk, in bytes, and how many of them are free. */
static struct statvfs disk = {.f_frsize = 4096, .f_blocks = 1 << 20, .f_bavail = 1 << 20};

int fstatvfs(int fd, struct statvfs *about)
{
    (void)fd;
    *about = disk;
    return 0;
}

/** The uuid of the dataset with this number, valid for the next eight calls. */
static inline const char *uuid_of(unsigned number)
{
    static char texts[8][40];
    static unsigned next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%08x-1111-4222-8333-444444444444", number);
    return text;
}

static inline lx__cache *open_cache(uint64_t limit)
{
    lx_error error = LX_ERROR_INIT;
    lx__cache *cache;
    unit_ok(lx__cache_open("cache", limit, &cache, &error));
    return cache;
}

static inline void use_dataset(lx__cache *cache, unsigned number)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__cache_use(cache, uuid_of(number), URL, 0, &error));
}

/** Reserves and stores pages in a file of the dataset. */
static inline void fill(lx__cache *cache, const char *name, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx__cache_file *file;
    uint8_t *bytes = calloc(size, 1);
    ck_assert(lx__cache_reserve(cache, size));
    unit_ok(lx__cache_open_file(cache, "chunk", name, size, &file, &error));
    unit_ok(lx__cache_file_store(file, 0, bytes, size, &error));
    lx__cache_file_close(file);
    free(bytes);
}

/** A dataset of this size in the cache, which was used last at this time. */
static inline void make_dataset(unsigned number, size_t size, time_t last_use)
{
    lx__cache *cache = open_cache(LX_NONE);
    char name[80];
    use_dataset(cache, number);
    fill(cache, "0.zr", size);
    lx__cache_close(cache);
    snprintf(name, sizeof name, "cache/%s/use", uuid_of(number));
    const struct timespec times[2] = {{last_use, 0}, {last_use, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, name, times, 0), 0);
}

static inline void make_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static inline bool has_dataset(unsigned number)
{
    char name[80];
    snprintf(name, sizeof name, "cache/%s", uuid_of(number));
    return access(name, F_OK) == 0;
}

/** The number of names in the cache, hidden ones included. */
static inline unsigned count_names(void)
{
    unsigned count = 0;
    DIR *list = opendir("cache");
    ck_assert_ptr_nonnull(list);
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count - 2;
}

/** Reads the state, or sets it. */
static inline lx__cache_content exchange_content(const lx__cache_content *content)
{
    lx_error error = LX_ERROR_INIT;
    lx__cache_content now;
    lx__cache_state state;
    lx__file directory;
    unit_ok(lx__directory_open(&directory, LX__CWD, "cache", &error));
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    if (content != NULL)
        unit_ok(lx__cache_state_write(&state, content, &error));
    unit_ok(lx__cache_state_read(&state, &now, &error));
    lx__cache_state_close(&state);
    lx__file_close(&directory);
    return now;
}

static inline uint64_t get_reserved(void)
{
    return exchange_content(NULL).reserved;
}

#endif
