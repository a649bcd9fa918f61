/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What 'loaderx bench' measures, in rounds of short turns, so that other work on the machine
 * affects all measurements in the same way.
 */
#ifndef LX_TOOLS_BENCH_H
#define LX_TOOLS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/executor.h>
#include <loaderx/order.h>
#include <loaderx/zrecord.h>

#include "threads.h"

/** Number of rounds; the results are medians. */
#define BENCH_ROUNDS 5
/** Maximum number of measurements. */
#define BENCH_MEASURES 5
/** Values that are requested from the disk at the same time. */
#define BENCH_READS LX_MAX_READERS

/** The request, the dataset, and the measurements. */
typedef struct bench {
    const char *path;
    const char **names; /**< The fields; NULL: all. */
    size_t name_count;
    uint64_t batch_size, seconds;
    threads asked;
    bool sequential, cold, quiet, json;
    uint64_t threads, processors;

    lx_dataset *dataset;
    uint64_t length;
    size_t *fields; /**< Positions of the fields in the schema. */
    size_t field_count;
    struct bench_measure *measures; /**< @ref measure_count elements. */
    size_t measure_count;
    double *field_seconds; /**< How long copying each field took, without a loader. */
} bench;

/** What was done in a turn. */
typedef struct bench_turn {
    double seconds;
    uint64_t records, bytes;
    uint64_t batches; /**< 0: not counted. */
    double busy;      /**< Seconds of processor time. */
    double from_disk; /**< Records that were read ahead, and page faults that waited for the
                           disk. */
} bench_turn;

/** Measures something for about @p seconds. */
typedef lx_status (*bench_function)(void *state, double seconds, bench_turn *turn, lx_error *error);

/** What is measured. */
typedef enum bench_kind {
    BENCH_LOADER,  /**< The loader that was asked for. */
    BENCH_COPY,    /**< The same records, copied and decompressed without a loader. */
    BENCH_THREADS, /**< A loader with another number of threads. */
    BENCH_BATCHES, /**< A loader with larger batches. */
    BENCH_DISK,    /**< As many bytes, read from the disk without a loader. */
} bench_kind;

/** A measurement. */
typedef struct bench_measure {
    bench_kind kind;
    uint64_t threads, batch_size;
    bench_function run;
    void (*end)(void *state);
    void *state;
    bench_turn turns[BENCH_ROUNDS];
    size_t count;   /**< Number of turns. */
    double rate;    /**< Median of the records per second. */
    double rows;    /**< Mean number of records per batch; those at the end of an epoch are
                         smaller. */
    double bytes;   /**< Bytes per record. */
    double busy;    /**< Mean number of busy processors. */
    double on_disk; /**< Share of the records that were not in memory. */
} bench_measure;

/** Seconds of the monotonic clock. */
double bench_now(void);

/** Creates the order in which @p length records are read. */
lx_status bench_make_order(const bench *b, uint64_t length, lx_order **order, lx_error *error);

/** Opens the dataset; values are not verified if @p plain. */
lx_status bench_open(const bench *b, lx_access access, bool plain, lx_dataset **dataset,
                     lx_error *error);

/** Prepares a loader with @p threads and batches of @p batch_size, as the members of @p measure
 * say. */
lx_status bench_loader_begin(bench *b, bench_measure *measure, lx_error *error);

/** Prepares copies of the records with as many threads. */
lx_status bench_copy_begin(bench *b, bench_measure *measure, lx_error *error);

/** Prepares reads from the disk of the sizes of the values, with #BENCH_READS threads. */
lx_status bench_disk_begin(bench *b, bench_measure *measure, lx_error *error);

/** Removes the values from the page cache; no process may have them mapped. */
lx_status bench_evict(const char *path, lx_error *error);

/** Prints the measurements, and in words what limits the loader. */
lx_status bench_report(const bench *b, lx_error *error);

#endif
