/* SPDX-License-Identifier: MIT */
/* Readers in separate processes, concurrent with a writer that changes the dataset fast: no batch
 * is torn or mixed from two snapshots, no reader delays another, and nothing grows. The harness
 * reports the cost of reading. First it plants faults in readers, which must be found. */
#include <sys/mman.h>

#include <loaderx/zrecord.h>

#include "../tree.h"
#include "record.h"
#include "run.h"

/* Changes per second while a faulty reader reads. */
#define PLANTED_RATE 20000

static const char *const fault_names[FAULTS] = {"none", "fields", "batch", "torn"};

struct test {
    struct options options;
    const char *directory;
    const char *fault; /* NULL: all faults, then none */
    bool as_json;
};

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: concurrent [--seconds S] [--before S] [--rate CHANGES] [--records N]\n"
            "              [--workers 1..4] [--durability none|periodic] [--change-each S]\n"
            "              [--seed N] [--directory D] [--json]\n"
            "              [--planted none|fields|batch|torn]\n");
    exit(2);
}

static bool parse_option(struct test *test, const char *name, const char *value)
{
    struct options *options = &test->options;
    if (strcmp(name, "--seconds") == 0)
        options->seconds = strtod(value, NULL);
    else if (strcmp(name, "--before") == 0)
        options->before = strtod(value, NULL);
    else if (strcmp(name, "--rate") == 0)
        options->rate = strtoull(value, NULL, 10);
    else if (strcmp(name, "--records") == 0)
        options->floor = strtoull(value, NULL, 10);
    else if (strcmp(name, "--workers") == 0)
        options->workers = (uint32_t)strtoull(value, NULL, 10);
    else if (strcmp(name, "--durability") == 0)
        options->lasting = strcmp(value, "none") != 0;
    else if (strcmp(name, "--change-each") == 0)
        options->change_each = strtod(value, NULL);
    else if (strcmp(name, "--seed") == 0)
        options->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--directory") == 0)
        test->directory = value;
    else if (strcmp(name, "--planted") == 0)
        test->fault = value;
    else
        return false;
    return true;
}

static void parse(int count, char **arguments, struct test *test)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--json") == 0) {
            test->as_json = true;
            continue;
        }
        if (i + 1 == count || !parse_option(test, arguments[i], arguments[i + 1]))
            usage();
        i++;
    }
}

/** Removes shared memory, including that of a killed writer. */
static void remove_datasets(const struct test *test)
{
    char other[450];
    snprintf(other, sizeof other, "%s-other", test->options.path);
    (void)lx_dataset_remove(test->options.path, NULL);
    (void)lx_dataset_remove(other, NULL);
}

static struct share *make_share(const struct test *test)
{
    struct share *share = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (share == MAP_FAILED)
        give_up("mmap");
    share->options = test->options;
    remove_datasets(test);
    return share;
}

/** The reader with the fault must be detected. */
static bool find(const struct test *test, enum fault fault)
{
    char why[1024] = "";
    struct share *share = make_share(test);
    share->options.rate = PLANTED_RATE; /* the writer should soon be ahead */
    bool found = run_fault(share, fault, why, sizeof why);
    if (!test->as_json || !found)
        printf("planted %s: %s: %s\n", fault_names[fault], found ? "found" : "NOT FOUND", why);
    munmap(share, sizeof *share);
    return found;
}

static bool run(const struct test *test)
{
    char why[1024] = "";
    struct watch watch = {0};
    struct ordeal ordeal = {0};
    struct share *share = make_share(test);
    bool right = run_all(share, &watch, &ordeal, why, sizeof why);
    report_print(share, &watch, &ordeal, test->as_json);
    if (!right)
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)test->options.seed, why);
    watch_free(&watch);
    munmap(share, sizeof *share);
    return right;
}

int main(int count, char **arguments)
{
    struct test test = {.options = {.rate = 2000,
                                    .floor = RECORDS,
                                    .seed = 1,
                                    .workers = 2,
                                    .lasting = true,
                                    .change_each = 0.2,
                                    .before = 0.1,
                                    .seconds = 1.5}};
    bool right = true;
    parse(count, arguments, &test);
    if (test.options.workers < 1 || test.options.workers > LX_MAX_WRITERS ||
        test.options.floor < 1000)
        usage();
    test.options.floor -= test.options.floor % BUCKETS;
    char *scratch = test.directory == NULL ? tree_scratch() : NULL;
    snprintf(test.options.path, sizeof test.options.path, "%s/data",
             test.directory != NULL ? test.directory : scratch);
    for (enum fault fault = NO_FAULT + 1; fault < FAULTS; fault++)
        if (test.fault == NULL || strcmp(test.fault, fault_names[fault]) == 0)
            right = find(&test, fault) && right;
    if (test.fault == NULL || strcmp(test.fault, fault_names[NO_FAULT]) == 0)
        right = run(&test) && right;
    if (right)
        remove_datasets(&test);
    else
        fprintf(stderr, "kept: %s\n", test.options.path);
    if (right && scratch != NULL)
        tree_remove(scratch);
    free(scratch);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
