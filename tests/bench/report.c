/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <loaderx/version.h>

#ifdef __clang__
#define COMPILER __VERSION__ /* the file begins with its name */
#else
#define COMPILER "gcc " __VERSION__
#endif

static double least(const double *values, int count)
{
    double value = values[0];
    for (int i = 1; i < count; i++)
        value = values[i] < value ? values[i] : value;
    return value;
}

static double most(const double *values, int count)
{
    double value = values[0];
    for (int i = 1; i < count; i++)
        value = values[i] > value ? values[i] : value;
    return value;
}

/** @p seconds in the unit that suits @p scale seconds. */
static const char *print_time(double seconds, double scale, char text[16])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    double factor = 1e9;
    for (; unit < 3 && scale * factor >= 10000; unit++)
        factor /= 1000;
    snprintf(text, 16, "%.2f %s", seconds * factor, units[unit]);
    return text;
}

static void print_table(int rounds, const char *title, const char *unit, const bench_case *cases,
                        const bench_result *results, size_t count)
{
    printf("\n%s: for one %s, medians of %d rounds in turn\n", title, unit, rounds);
    printf("%-34s %12s %12s %12s %10s %8s\n", "", "median", "least", "most", "a second", "ratio");
    for (size_t i = 0; i < count; i++) {
        const bench_result *result = &results[i];
        char middle[16], low[16], high[16];
        printf("%-34s %12s %12s %12s %10.3g %8.3f\n", cases[i].name,
               print_time(result->median, result->median, middle),
               print_time(least(result->seconds, rounds), result->median, low),
               print_time(most(result->seconds, rounds), result->median, high), 1 / result->median,
               result->median / results[0].median);
    }
    fflush(stdout);
}

void bench_report(bench_run *bench, const char *title, const char *unit, const bench_case *cases,
                  const bench_result *results, size_t count)
{
    print_table(bench->rounds, title, unit, cases, results, count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *rounds = json_array();
        for (int round = 0; round < bench->rounds; round++)
            json_array_append_new(rounds, json_real(results[i].seconds[round]));
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:f, s:f, s:o}", "name", cases[i].name, "work",
                            cases[i].work, "median_seconds", results[i].median, "ratio",
                            results[i].median / results[0].median, "round_seconds", rounds));
    }
    json_array_append_new(
        bench->groups, json_pack("{s:s, s:s, s:o}", "title", title, "unit", unit, "cases", list));
}

/** What /proc/cpuinfo calls the processor, or "" where it does not say. */
static void read_processor(char *name, size_t size)
{
    char line[256];
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && name[0] == '\0' && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL)
            snprintf(name, size, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
                     strchr(line, ':') + 2);
    if (file != NULL)
        fclose(file);
}

/** What stat calls the file system of the current folder, or "". */
static void read_file_system(char *name, size_t size)
{
    name[0] = '\0';
    FILE *output = popen("stat -f -c %T .", "r");
    if (output == NULL)
        return;
    if (fgets(name, (int)size, output) != NULL)
        name[strcspn(name, "\n")] = '\0';
    pclose(output);
}

int bench_write_json(const bench_run *bench, const char *path)
{
    struct utsname system;
    char processor[200], file_system[40];
    uname(&system);
    read_processor(processor, sizeof processor);
    read_file_system(file_system, sizeof file_system);
    json_t *machine = json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:f}", "architecture", system.machine, "processor",
        processor, "processors", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory",
        (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), "system", system.sysname,
        "release", system.release, "file_system", file_system, "load", bench->load);
    json_t *versions = json_pack("{s:s, s:s, s:s}", "loaderx", lx_get_version(), "jansson",
                                 JANSSON_VERSION, "compiler", COMPILER);
    json_t *report = json_pack("{s:s, s:o, s:o, s:i, s:f, s:O}", "commit", bench->commit, "machine",
                               machine, "versions", versions, "rounds", bench->rounds, "seconds",
                               bench->seconds, "groups", bench->groups);
    int failed = json_dump_file(report, path, JSON_INDENT(1) | JSON_REAL_PRECISION(5));
    if (failed != 0)
        fprintf(stderr, "bench: cannot write %s\n", path);
    json_decref(report);
    return failed;
}
