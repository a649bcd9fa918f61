/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The harness of the benchmarks, and the functions of bench-*.c.
 *
 * A benchmark compares cases that do the same job in several ways. Cases alternate, A B C A B C,
 * for at least seven rounds, so that other load on the machine affects all of them. The result of a
 * case is the median of its rounds, and mainly its ratio to the first case, the reference.
 */
#ifndef LX_BENCH_H
#define LX_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/** The minimum and default number of rounds. */
#define BENCH_ROUNDS 7

/** A run of the program: its options and its results. */
typedef struct bench_run {
    int rounds;
    const char *commit; /* of the sources, for the JSON file */
    double load;        /* processes that ran or waited when it began */
    double seconds;     /* that it took */
    json_t *groups;     /* the comparisons so far, for the JSON file */
} bench_run;

/** One way to do the job. */
typedef struct bench_case {
    const char *name;
    void (*run)(void *context); /**< Does the job once. */
    void *context;
    double work; /**< Units of work in one run: times are reported per unit. */
} bench_case;

/**
 * Runs @p count cases against each other, the first being the reference, and prints a table.
 *
 * @param unit  The unit of work, in the singular: "index".
 */
void bench_compare(bench_run *bench, const char *title, const char *unit, const bench_case *cases,
                   size_t count);

/** The measurements of a case. */
typedef struct bench_result {
    double *seconds; /**< Times per unit of work, of each round in order. */
    double median;
} bench_result;

/** Prints the table of a comparison, and adds it to the JSON file. */
void bench_report(bench_run *bench, const char *title, const char *unit, const bench_case *cases,
                  const bench_result *results, size_t count);

/** Writes the JSON file, with the machine, the compiler and the versions; returns 0 or -1. */
int bench_write_json(const bench_run *bench, const char *path);

/* The benchmarks, each in the file of its name. bench.c lists them. */
void bench_append(bench_run *bench);
void bench_augment(bench_run *bench);
void bench_budgeted(bench_run *bench);
void bench_changed(bench_run *bench);
void bench_codecs(bench_run *bench);
void bench_cold(bench_run *bench);
void bench_commit(bench_run *bench);
void bench_epochs(bench_run *bench);
void bench_executor(bench_run *bench);
void bench_images(bench_run *bench);
void bench_join(bench_run *bench);
void bench_loader(bench_run *bench);
void bench_open(bench_run *bench);
void bench_orders(bench_run *bench);
void bench_access(bench_run *bench);
void bench_pixels(bench_run *bench);
void bench_rebalance(bench_run *bench);
void bench_recordio(bench_run *bench);
void bench_sampler(bench_run *bench);
void bench_tables(bench_run *bench);
void bench_texts(bench_run *bench);
void bench_tokens(bench_run *bench);
void bench_verify(bench_run *bench);
void bench_zrecord(bench_run *bench);

#endif
