/* SPDX-License-Identifier: MIT */
/* The benchmarks of the C libraries: make bench && tests/bench/bench NAME. Not part of make
 * check. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Minimum duration of a round of a case, which makes the error of the clock and a preemption
 * small. */
#define ROUND_SECONDS 0.02

static const struct {
    const char *name, *about;
    void (*run)(bench_run *bench);
} benches[] = {
    {"append", "appends compared with plain files (wants 1 GiB)", bench_append},
#ifdef HAVE_IMAGES
    {"augment", "tensors of JPEG images compared with a bare decoder (wants photos, of photos.py)",
     bench_augment},
#endif
    {"budgeted", "cutting epochs into batches by a budget, and finding one", bench_budgeted},
    {"changed", "gather where 1 % of the rows are changed (wants 3 GiB, best in a tmpfs)",
     bench_changed},
    {"cold",
     "random records from a disk compared with io_uring (wants 2 GiB, on the disk that counts)",
     bench_cold},
    {"commit", "commits and changes against bare files, SQLite and LMDB (on the disk that counts)",
     bench_commit},
    {"codecs", "batches of compressed texts compared with the bare decoder", bench_codecs},
    {"epochs", "epochs of shuffles compared with shuffles of tables (wants 400 MiB of memory)",
     bench_epochs},
    {"executor", "tasks and their parts, memory of batches", bench_executor},
#ifdef HAVE_IMAGES
    {"images", "decoded JPEG images compared with libjpeg-turbo alone", bench_images},
#endif
    {"join", "a join compared with copying the tables (wants 400 MiB of memory and of the disk)",
     bench_join},
    {"loader", "prefetched batches compared with plain loops (wants some GiB, best in a tmpfs)",
     bench_loader},
    {"open", "opening after a crash compared with reading the log", bench_open},
    {"orders", "orders with tables, and making them, compared with a shuffle", bench_orders},
#ifdef HAVE_IMAGES
    {"pixels", "resized crops and tensors of images compared with copies", bench_pixels},
#endif
    {"access", "gather in each access mode (wants 300 MiB)", bench_access},
    {"rebalance", "a rebalance against cp (wants 5 GiB, on the disk that counts)", bench_rebalance},
#ifdef HAVE_IMAGES
    {"recordio", "RecordIO files compared with reading them, and images through a slow link",
     bench_recordio},
#endif
    {"sampler", "orders at three lengths, seeks, mixtures", bench_sampler},
    {"tables", "resuming in the middle with tables in files (wants 800 MiB, and 2 GiB of memory)",
     bench_tables},
    {"texts", "batches of records that vary in size compared with plain loops (wants 600 MiB)",
     bench_texts},
    {"tokens", "samples of tokens compared with plain copies, packing documents (wants 1 GiB)",
     bench_tokens},
    {"verify", "verification against a bare CRC and against reading (wants 1 GiB, on a disk)",
     bench_verify},
    {"zrecord", "gather and open compared with plain memory (wants 5 GiB, best in a tmpfs)",
     bench_zrecord},
};
#define BENCHES (sizeof benches / sizeof *benches)

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/** Seconds for @p repeats runs. */
static double time_runs(const bench_case *one, long repeats)
{
    double start = now();
    for (long i = 0; i < repeats; i++)
        one->run(one->context);
    return now() - start;
}

/** The number of runs that fill a round; they are also the warm-up. */
static long repeats_for(const bench_case *one)
{
    long repeats = 1;
    while (time_runs(one, repeats) < ROUND_SECONDS)
        repeats *= 2;
    return repeats;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double *sorted = malloc((size_t)count * sizeof *sorted);
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    double middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    return middle;
}

void bench_compare(bench_run *bench, const char *title, const char *unit, const bench_case *cases,
                   size_t count)
{
    bench_result *results = calloc(count, sizeof *results);
    long *repeats = calloc(count, sizeof *repeats);
    for (size_t i = 0; i < count; i++) {
        results[i].seconds = calloc((size_t)bench->rounds, sizeof *results[i].seconds);
        repeats[i] = repeats_for(&cases[i]);
    }
    for (int round = 0; round < bench->rounds; round++)
        for (size_t i = 0; i < count; i++)
            results[i].seconds[round] = time_runs(&cases[i], repeats[i]) /
                                        ((double)repeats[i] * cases[i].work);
    for (size_t i = 0; i < count; i++)
        results[i].median = median(results[i].seconds, bench->rounds);
    bench_report(bench, title, unit, cases, results, count);
    for (size_t i = 0; i < count; i++)
        free(results[i].seconds);
    free(results);
    free(repeats);
}

static int usage(void)
{
    fprintf(stderr, "usage: bench [--rounds N] [--json FILE [--commit TEXT]] NAME... | all\n");
    for (size_t i = 0; i < BENCHES; i++)
        fprintf(stderr, "  %-12s %s\n", benches[i].name, benches[i].about);
    return 2;
}

/** Runs the benchmark of that name, or all of them; returns the number that ran. */
static int run_named(bench_run *bench, const char *name)
{
    int found = 0;
    for (size_t i = 0; i < BENCHES; i++) {
        if (strcmp(name, "all") != 0 && strcmp(name, benches[i].name) != 0)
            continue;
        benches[i].run(bench);
        found++;
    }
    return found;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'},
                                            {"json", required_argument, NULL, 'j'},
                                            {"commit", required_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    bench_run bench = {.rounds = BENCH_ROUNDS, .commit = "", .groups = json_array()};
    const char *json_path = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'r')
            bench.rounds = atoi(optarg);
        else if (option == 'j')
            json_path = optarg;
        else if (option == 'c')
            bench.commit = optarg;
        else
            return usage();
    }
    if (bench.rounds < BENCH_ROUNDS) {
        fprintf(stderr, "bench: fewer than %d rounds are too few\n", BENCH_ROUNDS);
        return 2;
    }
    if (optind == argc)
        return usage();
    getloadavg(&bench.load, 1);
    double start = now();
    for (; optind < argc; optind++)
        if (run_named(&bench, argv[optind]) == 0)
            return usage();
    bench.seconds = now() - start;
    int failed = json_path != NULL && bench_write_json(&bench, json_path) != 0;
    json_decref(bench.groups);
    return failed;
}
