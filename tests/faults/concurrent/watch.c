/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* Length of a run, in seconds, from which growth can be distinguished from warming up. */
#define LONG_RUN 30

const char *const watch_quantities[QUANTITIES] = {"private", "mapped", "descriptors", "maps"};
const char *const watch_stored[STORED] = {"logs", "tables", "chunks", "files"};

void watch_free(struct watch *watch)
{
    free(watch->samples);
    *watch = (struct watch){0};
}

/* ---- a process */

static FILE *open_of(pid_t process, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)process, name);
    return fopen(path, "r");
}

static void look_at_memory(pid_t process, uint64_t of[QUANTITIES])
{
    char line[256];
    unsigned long long kilobytes;
    FILE *file = open_of(process, "status");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "RssAnon: %llu", &kilobytes) == 1)
            of[PRIVATE] = kilobytes << 10;
        else if (sscanf(line, "RssFile: %llu", &kilobytes) == 1 ||
                 sscanf(line, "RssShmem: %llu", &kilobytes) == 1) /* files that are in memory */
            of[MAPPED] += kilobytes << 10;
    }
    if (file != NULL)
        fclose(file);
}

static uint64_t count_maps(pid_t process)
{
    uint64_t count = 0;
    FILE *file = open_of(process, "maps");
    for (int byte; file != NULL && (byte = getc(file)) != EOF;)
        count += byte == '\n';
    if (file != NULL)
        fclose(file);
    return count;
}

static uint64_t count_descriptors(pid_t process)
{
    char path[64];
    uint64_t count = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)process);
    DIR *directory = opendir(path);
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

/* ---- the dataset */

static enum stored sort_file(const char *name)
{
    if (strncmp(name, "LOG", 3) == 0)
        return LOGS;
    return strstr(name, ".offset") != NULL || strstr(name, ".check") != NULL ? TABLES : CHUNKS;
}

static void look_at_files(const char *path, bool chunks, uint64_t disk[STORED])
{
    struct stat about;
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (fstatat(dirfd(directory), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == -1 ||
            !S_ISREG(about.st_mode)) /* it may be removed meanwhile */
            continue;
        disk[chunks ? CHUNKS : sort_file(entry->d_name)] += (uint64_t)about.st_blocks * 512;
        disk[FILES]++;
    }
    if (directory != NULL)
        closedir(directory);
}

void watch_look(struct watch *watch, double time, const struct share *share,
                const pid_t processes[WATCHED])
{
    char chunks[450];
    watch->samples = grow(watch->samples, watch->count, &watch->capacity, sizeof *watch->samples);
    struct sample *sample = &watch->samples[watch->count++];
    *sample = (struct sample){.time = time, .changed = atomic_load(&share->writer.changed)};
    for (size_t i = 0; i < MEASURED; i++)
        sample->states += atomic_load(&share->readers[i].states);
    for (size_t i = 0; i < WATCHED; i++) {
        look_at_memory(processes[i], sample->of[i]);
        sample->of[i][DESCRIPTORS] = count_descriptors(processes[i]);
        sample->of[i][MAPS] = count_maps(processes[i]);
    }
    snprintf(chunks, sizeof chunks, "%s/chunk", share->options.path);
    look_at_files(share->options.path, false, sample->disk);
    look_at_files(chunks, true, sample->disk);
}

/* ---- growth */

typedef uint64_t get_value(const struct sample *sample, size_t which);

/** The largest value in a third of the run after the warm-up. */
static uint64_t most(const struct watch *watch, size_t third, get_value *get, size_t which)
{
    uint64_t found = 0;
    size_t count = watch->count - watch->warm, end = watch->warm + count * (third + 1) / 3;
    for (size_t i = watch->warm + count * third / 3; i < end; i++) {
        uint64_t value = get(&watch->samples[i], which);
        found = value > found ? value : found;
    }
    return found;
}

static uint64_t get_process(const struct sample *sample, size_t which)
{
    return sample->of[which / QUANTITIES][which % QUANTITIES];
}

static uint64_t get_disk(const struct sample *sample, size_t which)
{
    return sample->disk[which];
}

/** Growth by a quarter and a constant is allowed: usage depends on what is held at the moment. */
static bool has_grown(uint64_t before, uint64_t after, uint64_t little)
{
    return after > before + before / 4 + little;
}

bool watch_is_flat(const struct watch *watch, char *why, size_t size)
{
    /* Mapped pages of files count once for each mapping, and appear when they are read. */
    static const uint64_t little[QUANTITIES] = {16 << 20, UINT64_MAX / 2, 16, 64};
    if (watch->count - watch->warm < LONG_RUN)
        return true;
    for (size_t i = 0; i < WATCHED * QUANTITIES; i++) {
        uint64_t before = most(watch, 1, get_process, i), after = most(watch, 2, get_process, i);
        if (!has_grown(before, after, little[i % QUANTITIES]))
            continue;
        snprintf(why, size, "process %zu: %s has grown from %" PRIu64 " to %" PRIu64,
                 i / QUANTITIES, watch_quantities[i % QUANTITIES], before, after);
        return false;
    }
    for (size_t i = 0; i < STORED; i++) {
        uint64_t before = most(watch, 1, get_disk, i), after = most(watch, 2, get_disk, i);
        if (!has_grown(before, after, i == FILES ? 16 : 64 << 20))
            continue;
        snprintf(why, size, "on disk, %s have grown from %" PRIu64 " to %" PRIu64, watch_stored[i],
                 before, after);
        return false;
    }
    return true;
}
