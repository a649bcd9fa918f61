/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers that read, copy and damage the files of a dataset.
 */
#ifndef LX_TESTS_FILES_H
#define LX_TESTS_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "../scratch.h"
#include "../../stamp.h"
#include "../unit.h"
#include "base/bytes.h"

/** A path of two or three names, in one of a few alternating buffers. */
static inline const char *in(const char *directory, const char *name)
{
    static char paths[8][512];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline uint64_t file_size(const char *path)
{
    struct stat about;
    ck_assert_msg(stat(path, &about) == 0, "%s is not there", path);
    return (uint64_t)about.st_size;
}

static inline bool file_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

/** All of a file, with a NUL after it, for free(). */
static inline uint8_t *file_bytes(const char *path, size_t *size)
{
    *size = (size_t)file_size(path);
    uint8_t *bytes = malloc(*size + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ne(fd, -1);
    ck_assert_int_eq(read(fd, bytes, *size), (ssize_t)*size);
    bytes[*size] = '\0';
    close(fd);
    return bytes;
}

/** The frames of a log, without the preallocated zeros after them; for free(). */
static inline uint8_t *log_bytes(const char *path, size_t *size)
{
    size_t all, at = 0;
    uint8_t *bytes = file_bytes(path, &all);
    while (at + 8 <= all && lx__load_le32(bytes + at) != 0)
        at += lx__load_le32(bytes + at + 4);
    ck_assert_uint_le(at, all);
    *size = at;
    return bytes;
}

static inline uint64_t log_size(const char *path)
{
    size_t size;
    free(log_bytes(path, &size));
    return size;
}

/** Makes a file of exactly these bytes, or replaces its content. */
static inline void file_put(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ck_assert_msg(fd != -1, "%s cannot be made", path);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/** Overwrites bytes of a file, or appends after its end. */
static inline void file_patch(const char *path, uint64_t offset, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_msg(fd != -1, "%s cannot be opened", path);
    ck_assert_int_eq(pwrite(fd, bytes, size, (off_t)offset), (ssize_t)size);
    close(fd);
}

static inline void file_flip(const char *path, uint64_t bit)
{
    uint8_t byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_msg(fd != -1, "%s cannot be opened", path);
    ck_assert_int_eq(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
    byte ^= (uint8_t)(1u << bit % 8);
    ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
    close(fd);
}

static inline void file_cut(const char *path, uint64_t size)
{
    ck_assert_int_eq(truncate(path, (off_t)size), 0);
}

/** Writes a meta.json with a valid checksum, whatever else is wrong in it. */
static inline void file_put_meta(const char *path, const char *text)
{
    size_t size;
    char *whole = stamped(text, strlen(text), &size);
    file_put(path, whole, size);
    free(whole);
}

/** Replaces the first @p from in the file, which must exist, by @p to; restamps a meta.json. */
static inline void file_edit(const char *path, const char *from, const char *to)
{
    size_t size;
    char *text = (char *)file_bytes(path, &size);
    char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "%s has no %s", path, from);
    size_t before = (size_t)(at - text), tail = strlen(at + strlen(from));
    char *edited = malloc(before + strlen(to) + tail + 1);
    memcpy(edited, text, before);
    strcpy(edited + before, to);
    strcat(edited, at + strlen(from));
    if (strstr(path, "meta.json") != NULL)
        file_put_meta(path, edited);
    else
        file_put(path, edited, strlen(edited));
    free(edited);
    free(text);
}

/** A special file in place of a regular one. */
enum disguise { A_LINK, A_FIFO, A_DIRECTORY, DISGUISES };

/** Puts a special file in place of the file, which is renamed to PATH.real. */
static inline void file_disguise(const char *path, enum disguise what)
{
    char moved[512];
    snprintf(moved, sizeof moved, "%s.real", path);
    ck_assert_int_eq(rename(path, moved), 0);
    const char *last = strrchr(moved, '/');
    int made = what == A_LINK   ? symlink(last != NULL ? last + 1 : moved, path)
               : what == A_FIFO ? mkfifo(path, 0600)
                                : mkdir(path, 0700);
    ck_assert_int_eq(made, 0);
}

/** Undoes file_disguise(). */
static inline void file_restore(const char *path)
{
    char moved[512];
    snprintf(moved, sizeof moved, "%s.real", path);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(rename(moved, path), 0);
}

/** Copies a dataset: a directory with files, and one directory in it. */
static inline void directory_copy(const char *from, const char *to)
{
    struct dirent *entry;
    DIR *list = opendir(from);
    ck_assert_ptr_nonnull(list);
    ck_assert_int_eq(mkdir(to, 0777), 0);
    while ((entry = readdir(list)) != NULL) {
        struct stat about;
        char source[512], target[512];
        snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        ck_assert_int_eq(lstat(source, &about), 0);
        if (S_ISDIR(about.st_mode)) {
            directory_copy(source, target);
            continue;
        }
        size_t size;
        uint8_t *bytes = file_bytes(source, &size);
        file_put(target, bytes, size);
        free(bytes);
    }
    closedir(list);
}

static inline void remove_all(const char *path)
{
    nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/** The number of names in a directory, without the two dots. */
static inline size_t directory_count(const char *path)
{
    size_t count = 0;
    DIR *list = opendir(path);
    ck_assert_ptr_nonnull(list);
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count - 2;
}

/** From now on, a write that would grow a file beyond @p bytes fails. Each assertion writes to
 * Check's own message file, which is limited, too: use few assertions. */
static inline void limit_files(uint64_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline void unlimit_files(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline void limit_descriptors(unsigned count)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/** Seconds of the monotonic clock. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/** Seconds of processor time, which other work on the machine does not lengthen. */
static inline double processor_time(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static inline void nap_ms(unsigned milliseconds)
{
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&time, &time) == -1)
        ;
}

#endif
