/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers of the benchmarks of the store and the loader: plain loops, and checks that exit
 * on failure.
 */
#ifndef LX_BENCH_PLAIN_H
#define LX_BENCH_PLAIN_H

#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <loaderx/status.h>

#define THREADS_MAX 2

static inline void must(int done, const char *what)
{
    if (!done) {
        perror(what);
        exit(1);
    }
}

static inline void must_be_ok(lx_status status, const lx_error *error)
{
    char line[2048];
    if (status == LX_OK)
        return;
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "bench: %s\n", line);
    exit(1);
}

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/** Prefetches the first cache lines of each page of the record that is copied next. */
static inline void kick(const uint8_t *record, size_t size)
{
    for (size_t page = 0; page < size; page += 4096)
        for (size_t line = page; line < size && line < page + 256; line += 64)
            __builtin_prefetch(record + line);
}

/** Calls @p run with each of the @p count elements of @p contexts, which have @p size bytes, at the
 * same time; the first on the calling thread. */
static inline void run_on_threads(void *(*run)(void *), void *contexts, size_t size, size_t count)
{
    pthread_t threads[THREADS_MAX];
    for (size_t i = 1; i < count; i++)
        must(pthread_create(&threads[i], NULL, run, (char *)contexts + i * size) == 0, "a thread");
    run(contexts);
    for (size_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

#endif
