/* SPDX-License-Identifier: MIT */
/* The names are those of zrecord(5). */
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/schema.h>

#include "failure.h"

lx_status directory_check(const char *path, lx_error *error)
{
    struct stat about;
    if (stat(path, &about) == -1 || S_ISDIR(about.st_mode))
        return LX_OK; /* what cannot be looked at, opening tells of */
    lx_status status =
        fail(error, LX_ERR_ARGUMENT, "this is no dataset: a dataset is a directory");
    locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status directory_make(const char *path, bool *made, lx_error *error)
{
    *made = mkdir(path, 0777) == 0;
    if (*made || errno == EEXIST)
        return directory_check(path, error);
    return fail_errno(error, errno, path, "cannot make the directory");
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_dataset_file(const char *name)
{
    return strcmp(name, "meta.json.new") == 0 || strcmp(name, "LOG") == 0 ||
           has_ending(name, ".offset") || has_ending(name, ".check");
}

static bool is_chunk_file(const char *name)
{
    return has_ending(name, ".zr");
}

/** Unlinks what @p chosen chooses in the directory @p at, which is closed. */
static void unlink_all(int at, bool (*chosen)(const char *name))
{
    const struct dirent *entry;
    DIR *list = fdopendir(at);
    if (list == NULL) {
        close(at);
        return;
    }
    while ((entry = readdir(list)) != NULL)
        if (chosen(entry->d_name))
            unlinkat(at, entry->d_name, 0);
    closedir(list);
}

static int open_directory(int at, const char *path)
{
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A failure in here is told by what remains; the import's own failure is what the user reads. */
void directory_discard(const char *path, bool made, bool locked)
{
    int at = open_directory(AT_FDCWD, path);
    if (at == -1)
        return;
    if (!locked && faccessat(at, "meta.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        close(at);
        return;
    }
    unlinkat(at, "meta.json", 0); /* first: without it there is no dataset */
    int chunks = open_directory(at, "chunk");
    if (chunks != -1)
        unlink_all(chunks, is_chunk_file);
    unlinkat(at, "chunk", AT_REMOVEDIR);
    int files = open_directory(at, ".");
    if (files != -1)
        unlink_all(files, is_dataset_file);
    unlinkat(at, "LOCK", 0);
    close(at);
    if (made)
        rmdir(path);
}

/* ---- what is not the dataset's */

/** A number as names have it: of digits alone, without leading zeros. */
static bool is_number(const char *text, size_t length, uint64_t least, uint64_t most)
{
    uint64_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > most / 10)
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    return length != 0 && (length == 1 || text[0] != '0') && number >= least && number <= most;
}

static bool is_log_name(const char *name)
{
    return strncmp(name, "LOG", 3) == 0 &&
           (name[3] == '\0' ||
            (name[3] == '.' && is_number(name + 4, strlen(name + 4), 1, (uint64_t)1 << 62)));
}

static bool is_chunk_name(const char *name)
{
    return has_ending(name, ".zr") && is_number(name, strlen(name) - 3, 0, UINT32_MAX - 1);
}

static bool is_stem(const char *text, size_t length)
{
    const char *tilde = memchr(text, '~', length);
    size_t base = tilde != NULL ? (size_t)(tilde - text) : length;
    return base != 0 && base <= LX_FIELD_NAME_MAX && text[0] != '.' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") >=
               base &&
           (tilde == NULL || is_number(tilde + 1, length - base - 1, 1, UINT32_MAX));
}

/** STEM.offset and STEM.check, with a number behind it or without, and STEM.dict. */
static bool is_field_name(const char *name)
{
    static const char *const endings[] = {".offset", ".check", ".dict"};
    const char *dot = strrchr(name, '.');
    size_t length = strlen(name);
    bool numbered = dot != NULL && is_number(dot + 1, strlen(dot + 1), 1, UINT32_MAX);
    if (numbered)
        length = (size_t)(dot - name);
    for (size_t i = 0; i < (numbered ? 2 : 3); i++) {
        size_t tail = strlen(endings[i]);
        if (length > tail && memcmp(name + length - tail, endings[i], tail) == 0)
            return is_stem(name, length - tail);
    }
    return false;
}

static bool is_name(const char *name)
{
    return strcmp(name, "meta.json") == 0 || strcmp(name, "meta.json.new") == 0 ||
           strcmp(name, "LOCK") == 0 || strcmp(name, "chunk") == 0 || is_log_name(name) ||
           is_field_name(name);
}

/** Looks at all names in the directory @p at, which is closed. */
static lx_status check_names(const char *path, int at, bool (*ours)(const char *name),
                             lx_error *error)
{
    const struct dirent *entry;
    lx_status status = LX_OK;
    DIR *list = at != -1 ? fdopendir(at) : NULL;
    if (list == NULL) {
        status = fail_errno(error, errno, path, "cannot list what is in it");
        if (at != -1)
            close(at);
        return status;
    }
    while (status == LX_OK && (errno = 0, entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || ours(name))
            continue;
        status = fail(error, LX_ERR_EXISTS,
                      "'%.100s' is no part of the dataset: put it elsewhere first", name);
        locate(error, path, NULL, LX_NONE, LX_NONE);
    }
    if (status == LX_OK && errno != 0)
        status = fail_errno(error, errno, path, "cannot list what is in it");
    closedir(list);
    return status;
}

lx_status directory_check_names(const char *path, lx_error *error)
{
    int at = open_directory(AT_FDCWD, path);
    int chunks = at != -1 ? open_directory(at, "chunk") : -1;
    lx_status status = check_names(path, at, is_name, error);
    if (chunks == -1)
        return status; /* the dataset's own damage, if it has to be there */
    if (status == LX_OK)
        return check_names(path, chunks, is_chunk_name, error);
    close(chunks);
    return status;
}
