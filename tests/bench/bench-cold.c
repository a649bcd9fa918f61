/* SPDX-License-Identifier: MIT */
/* Random records from a disk, with nothing in the page cache at the beginning of each run, compared
 * with reads of the same records that are all in flight at once. 2 GiB of data are made in the
 * current folder and removed. */
#include "dense-dataset.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBURING
#include <liburing.h>
#endif

#include <loaderx/loaderx.h>

#define BYTES ((size_t)2 << 30)
#define BATCH 256
#define DEPTH 128 /* reads in flight */
#define THREADS 64
#define BLOCK 4096 /* O_DIRECT accepts multiples of this on all disks */
#define WORK_BYTES ((size_t)192 << 20)

struct cold {
    size_t record, records; /* bytes of one, and how many the dataset has */
    size_t work;            /* records per run */
    lx_access access;
    uint64_t random;
    uint64_t *indices;
};

static void begin(struct cold *c)
{
    evict_dataset();
    for (size_t i = 0; i < c->work; i++)
        c->indices[i] = next_random(&c->random) % c->records;
}

/* ---- references */

#ifdef HAVE_LIBURING
struct slot {
    uint8_t *data;
    size_t shift; /* of the record in the data */
};

static void submit(struct io_uring *ring, struct slot *slots, int which, int file,
                   const struct cold *c, uint64_t index)
{
    uint64_t offset = index * c->record, from = offset / BLOCK * BLOCK;
    size_t end = (size_t)(offset + c->record - from + BLOCK - 1) / BLOCK * BLOCK;
    struct io_uring_sqe *entry = io_uring_get_sqe(ring);
    slots[which].shift = (size_t)(offset - from);
    io_uring_prep_read(entry, file, slots[which].data, (unsigned)end, from);
    io_uring_sqe_set_data64(entry, (uint64_t)which);
}

/** Reads with O_DIRECT, DEPTH reads in flight, and copies each record. */
static void read_uring(void *context)
{
    struct cold *c = context;
    struct slot slots[DEPTH];
    struct io_uring ring;
    uint8_t *out = malloc(BATCH * c->record);
    int idle[DEPTH], idle_count = DEPTH, file = open(CHUNK, O_RDONLY | O_DIRECT | O_CLOEXEC);
    must(file != -1, CHUNK);
    must(io_uring_queue_init(DEPTH, &ring, 0) == 0, "io_uring");
    for (int i = 0; i < DEPTH; i++) {
        slots[i].data = aligned_alloc(BLOCK, (c->record + 2 * BLOCK) / BLOCK * BLOCK);
        idle[i] = i;
    }
    begin(c);
    for (size_t next = 0, done = 0; done < c->work;) {
        struct io_uring_cqe *ended;
        unsigned head, count = 0;
        for (; idle_count > 0 && next < c->work; next++)
            submit(&ring, slots, idle[--idle_count], file, c, c->indices[next]);
        must(io_uring_submit_and_wait(&ring, 1) >= 0, "io_uring");
        io_uring_for_each_cqe(&ring, head, ended)
        {
            const struct slot *slot = &slots[ended->user_data];
            must(ended->res >= (int)(slot->shift + c->record), "a read");
            memcpy(out + done % BATCH * c->record, slot->data + slot->shift, c->record);
            idle[idle_count++] = (int)ended->user_data;
            count++;
            done++;
        }
        io_uring_cq_advance(&ring, count);
    }
    io_uring_queue_exit(&ring);
    for (int i = 0; i < DEPTH; i++)
        free(slots[i].data);
    close(file);
    free(out);
}
#endif

struct reading {
    struct cold *cold;
    int file;
    atomic_size_t next;
};

static void *read_some(void *context)
{
    struct reading *r = context;
    uint8_t *out = malloc(r->cold->record);
    for (size_t i; (i = atomic_fetch_add(&r->next, 1)) < r->cold->work;)
        must(pread(r->file, out, r->cold->record, (off_t)(r->cold->indices[i] * r->cold->record)) ==
                 (ssize_t)r->cold->record,
             "pread");
    free(out);
    return NULL;
}

/** Reads through the page cache with many threads. */
static void read_threads(void *context)
{
    struct reading r = {.cold = context, .file = open(CHUNK, O_RDONLY | O_CLOEXEC)};
    pthread_t threads[THREADS];
    must(r.file != -1 && posix_fadvise(r.file, 0, 0, POSIX_FADV_RANDOM) == 0, CHUNK);
    begin(r.cold);
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, read_some, &r) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    close(r.file);
}

/* ---- the library */

static lx_dataset *open_dataset(const struct cold *c)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    must_be_ok(lx_dataset_options_set_access(options, c->access, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, options, &dataset, &error), &error);
    lx_dataset_options_free(options);
    return dataset;
}

static void gather(void *context)
{
    struct cold *c = context;
    lx_error error = LX_ERROR_INIT;
    uint8_t *out = malloc(BATCH * c->record);
    begin(c);
    lx_dataset *dataset = open_dataset(c);
    for (size_t at = 0; at < c->work; at += BATCH) {
        size_t count = c->work - at < BATCH ? c->work - at : BATCH;
        must_be_ok(lx_dataset_gather(dataset, 0, c->indices + at, count, out, c->record, &error),
                   &error);
    }
    lx_dataset_close(dataset);
    free(out);
}

/** The order ends where the measurement does: a loader prefetches beyond what is taken from it. */
static void load(void *context)
{
    struct cold *c = context;
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_order *all, *order;
    lx_loader *loader;
    lx_batch *batch;
    lx_loader_options *options = lx_loader_options_new();
    begin(c);
    lx_dataset *dataset = open_dataset(c);
    must_be_ok(lx_source_new_dataset(dataset, &source, &error), &error);
    must_be_ok(lx_order_new_sequential(c->work, 1, 1, &all, &error), &error);
    must_be_ok(lx_order_new_subset(all, c->indices, c->work, NULL, &order, &error), &error);
    must_be_ok(lx_loader_options_set_order(options, order, &error), &error);
    must_be_ok(lx_loader_options_set_batch_size(options, BATCH, &error), &error);
    must_be_ok(lx_loader_open(source, options, &loader, &error), &error);
    for (size_t at = 0; at < c->work; at += BATCH) {
        must_be_ok(lx_loader_next(loader, &batch, &error), &error);
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_order_unref(order);
    lx_order_unref(all);
    lx_source_unref(source);
    lx_dataset_close(dataset);
}

/* ---- comparisons */

static void compare(bench_run *bench, size_t record)
{
    char title[96];
    size_t records = BYTES / record, work = WORK_BYTES / record / BATCH * BATCH;
    uint64_t *indices = malloc(work * sizeof *indices);
    make_dataset(record, records, LX_COMPRESSION_RAW);
    struct cold auto_ = {record, records, work, LX_ACCESS_AUTO, 1, indices};
    struct cold mapped = {record, records, BATCH * 2, LX_ACCESS_MMAP, 2, indices};
    struct cold by_pread = {record, records, work, LX_ACCESS_PREAD, 3, indices};
    const bench_case cases[] = {
#ifdef HAVE_LIBURING
        {"io_uring, O_DIRECT, 128 in flight", read_uring, &auto_, (double)work},
#endif
        {"64 threads of pread", read_threads, &auto_, (double)work},
        {"loader", load, &auto_, (double)work},
        {"loader, access pread", load, &by_pread, (double)work},
        {"gather of 256 records", gather, &auto_, (double)work},
        {"gather, access mmap", gather, &mapped, (double)mapped.work}};
    snprintf(title, sizeof title, "cold random reads of %zu-byte records", record);
    bench_compare(bench, title, "record", cases, sizeof cases / sizeof *cases);
    remove_dataset();
    free(indices);
}

void bench_cold(bench_run *bench)
{
    compare(bench, 4096);
    compare(bench, 4100);
    compare(bench, 16384);
    compare(bench, 131072);
}
