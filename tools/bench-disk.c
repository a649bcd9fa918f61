/* SPDX-License-Identifier: MIT */
/* What the disk gives: many threads, each of which reads one piece after another with pread(). With
 * a random order, the pieces are as large as the values, and at random places. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <loaderx/maintenance.h>
#include <loaderx/sampler.h>

#include "bench.h"
#include "failure.h"

/* ---- the page cache */

/* How often to try to remove a file from memory. */
#define EVICTIONS 10

#ifndef RWF_NOWAIT /* musl */
#define RWF_NOWAIT 8
#endif

/** Whether the first byte of a file is still in memory. Calls preadv2(), which musl lacks. */
static bool is_resident(int file)
{
    char byte;
    struct iovec to = {&byte, 1};
    return syscall(SYS_preadv2, file, &to, 1, 0L, 0L, RWF_NOWAIT) == 1; /* two halves of offset 0 */
}

static lx_status evict_file(const char *path, int folder, const char *name, lx_error *error)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file == -1)
        return lx_fail_errno(error, errno, path, "cannot open %s", name);
    int errnum = 0;
    bool stays = true;
    /* Only clean pages are removed, and none that another processor is about to use. */
    for (int i = 0; i < EVICTIONS && errnum == 0 && stays; i++) {
        if (i != 0)
            nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
        (void)fsync(file);
        errnum = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        stays = errnum == 0 && is_resident(file);
    }
    close(file);
    if (errnum != 0)
        return lx_fail_errno(error, errnum, path, "cannot remove %s from memory", name);
    if (!stays)
        return LX_OK;
    return lx_fail(error, LX_ERR_STATE,
                   "%s stays in memory, because another process has mapped it, or because the file "
                   "system is in memory: omit --cold",
                   name);
}

/** Opens the folder with the chunks. */
static DIR *open_chunks(const char *path, lx_error *error)
{
    char name[PATH_MAX];
    int used = snprintf(name, sizeof name, "%s/chunk", path); /* see zrecord(5) */
    DIR *folder = used < (int)sizeof name ? opendir(name) : NULL;
    if (folder == NULL)
        lx_fail_errno(error, errno, path, "cannot read the folder of the chunks");
    return folder;
}

lx_status bench_evict(const char *path, lx_error *error)
{
    DIR *folder = open_chunks(path, error);
    if (folder == NULL)
        return error->status;
    lx_status status = LX_OK;
    for (const struct dirent *entry; status == LX_OK && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            status = evict_file(path, dirfd(folder), entry->d_name, error);
    closedir(folder);
    return status;
}

/* ---- reading */

/* Files that are read; a dataset may have more than a process can open. */
#define FILES 64
/* So many places of reads fit into memory. */
#define PLACES ((uint64_t)1 << 20)
/* Size of a read if the order is sequential: what disks are fast with. */
#define PIECE ((uint64_t)1 << 20)

typedef struct reading {
    const bench *b;
    lx_executor *executor;
    int files[FILES];
    uint64_t ends[FILES]; /* of each file, in all files together */
    size_t file_count;
    uint64_t size; /* of a read */
    double reads_a_record;
    uint64_t *places, count; /* where to read, in units of the size */
    _Atomic uint64_t next;
    double until;
} reading;

/** Computes the sizes of reads: with a random order, a read is as large as a value. */
static lx_status choose_size(reading *r, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(r->b->dataset);
    lx_storage_stats totals;
    uint64_t values = 0, bytes = 0;
    lx_field_stats *stats = calloc(lx_schema_get_field_count(schema), sizeof *stats);
    if (stats == NULL)
        return fail_memory(error, "statistics");
    lx_status status = lx_dataset_stat(r->b->dataset, &totals, stats, error);
    for (size_t i = 0; i < r->b->field_count; i++) {
        const lx_field_stats *field = &stats[r->b->fields[i]];
        values += field->present - field->inlined;
        bytes += field->stored_bytes;
    }
    free(stats);
    if (status != LX_OK)
        return status;
    if (bytes == 0)
        return lx_fail(error, LX_ERR_STATE,
                       "all values are in the tables, which --cold does not "
                       "remove from memory: omit --cold");
    r->size = r->b->sequential ? PIECE : (bytes + values - 1) / values;
    r->reads_a_record = (r->b->sequential ? (double)bytes / PIECE : (double)values) /
                        (double)totals.length;
    return LX_OK;
}

static lx_status open_file(reading *r, int folder, const lx_chunk_stats *chunk, lx_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "%" PRIu32 ".zr", chunk->id);
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file == -1)
        return lx_fail_errno(error, errno, r->b->path, "cannot open chunk %s", name);
    if (!r->b->sequential)
        (void)posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    uint64_t before = r->file_count != 0 ? r->ends[r->file_count - 1] : 0;
    r->files[r->file_count] = file;
    r->ends[r->file_count++] = before + chunk->bytes;
    return LX_OK;
}

static lx_status open_files(reading *r, lx_error *error)
{
    size_t count;
    lx_status status = lx_dataset_stat_chunks(r->b->dataset, NULL, 0, &count, error);
    if (status != LX_OK)
        return status;
    DIR *folder = open_chunks(r->b->path, error);
    lx_chunk_stats *chunks = calloc(count, sizeof *chunks);
    if (folder == NULL || chunks == NULL) {
        status = folder == NULL ? error->status : fail_memory(error, "chunks");
    } else {
        status = lx_dataset_stat_chunks(r->b->dataset, chunks, count, &count, error);
        for (size_t i = 0; status == LX_OK && i < count && r->file_count < FILES; i++)
            if (chunks[i].bytes != 0)
                status = open_file(r, dirfd(folder), &chunks[i], error);
    }
    free(chunks);
    if (folder != NULL)
        closedir(folder);
    return status;
}

/** Chooses where to read: each place once. */
static lx_status choose_places(reading *r, lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t length = r->ends[r->file_count - 1] / r->size, taken;
    length = length != 0 ? length : 1;
    r->count = length < PLACES ? length : PLACES;
    r->places = malloc((size_t)r->count * sizeof *r->places);
    lx_status status = r->places != NULL ? bench_make_order(r->b, length, &order, error)
                                         : fail_memory(error, "reads");
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, r->count, r->places, &taken, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return status;
}

static lx_status read_part(size_t part, void *user, lx_error *error)
{
    reading *r = user;
    uint64_t i;
    void *out = malloc((size_t)r->size);
    lx_status status = out != NULL ? LX_OK : fail_memory(error, "a read");
    (void)part;
    while (status == LX_OK && bench_now() < r->until &&
           (i = atomic_fetch_add(&r->next, 1)) < r->count) {
        uint64_t place = r->places[i] * r->size;
        size_t file = 0;
        while (file + 1 < r->file_count && r->ends[file] <= place)
            file++;
        uint64_t begin = file != 0 ? r->ends[file - 1] : 0;
        if (pread(r->files[file], out, (size_t)r->size, (off_t)(place - begin)) < 0)
            status = lx_fail_errno(error, errno, r->b->path, "cannot read the values");
    }
    free(out);
    return status;
}

static lx_status run(void *state, double seconds, bench_turn *turn, lx_error *error)
{
    reading *r = state;
    lx_ticket *ticket = NULL;
    lx_status status = bench_evict(r->b->path, error);
    if (status != LX_OK)
        return status;
    double begun = bench_now();
    r->until = begun + seconds;
    r->next = 0;
    status = lx_executor_submit(r->executor, LX_QUEUE_READ, read_part, r, BENCH_READS, &ticket,
                                error);
    if (status == LX_OK)
        status = lx_ticket_wait(ticket, error);
    lx_ticket_unref(ticket);
    uint64_t reads = r->next < r->count ? r->next : r->count;
    turn->seconds = bench_now() - begun;
    turn->records = (uint64_t)((double)reads / r->reads_a_record);
    turn->bytes = reads * r->size;
    return status;
}

static void end(void *state)
{
    reading *r = state;
    lx_executor_close(r->executor);
    for (size_t i = 0; i < r->file_count; i++)
        close(r->files[i]);
    free(r->places);
    free(r);
}

lx_status bench_disk_begin(bench *b, bench_measure *measure, lx_error *error)
{
    reading *r = calloc(1, sizeof *r);
    if (r == NULL)
        return fail_memory(error, "threads");
    r->b = b;
    measure->state = r;
    measure->end = end;
    measure->run = run;
    lx_status status = choose_size(r, error);
    if (status == LX_OK)
        status = open_files(r, error);
    if (status == LX_OK)
        status = choose_places(r, error);
    return status == LX_OK ? threads_open(&(threads){true, BENCH_READS}, &r->executor, error)
                           : status;
}
