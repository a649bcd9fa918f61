/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <unistd.h>

#include <jansson.h>

static const char *const kind_names[KINDS] = {"live, gather", "live, views",     "pin, gather",
                                              "pin, views",   "refresh, gather", "pin, all records",
                                              "open",         "a refresh"};
static const char *const phase_names[PHASES] = {"fresh", "warm-up", "idle", "elsewhere",
                                                "concurrent"};
static const char *const change_names[CHANGES] = {"checkpoint", "rebalance", "add field",
                                                  "rename fields", "drop field"};

/** Of both readers, in one phase. */
struct sum {
    uint64_t batches, records, processor, time, slowest;
};

static struct sum add_up(const struct share *share, enum kind first, enum kind end,
                         enum phase phase)
{
    struct sum sum = {0};
    for (size_t i = 0; i < MEASURED; i++)
        for (enum kind kind = first; kind < end; kind++) {
            const struct spent *spent = &share->readers[i].spent[kind][phase];
            sum.batches += atomic_load(&spent->batches);
            sum.records += atomic_load(&spent->records);
            sum.processor += atomic_load(&spent->processor);
            sum.time += atomic_load(&spent->time);
            uint64_t slowest = atomic_load(&spent->slowest);
            sum.slowest = slowest > sum.slowest ? slowest : sum.slowest;
        }
    return sum;
}

static double per(uint64_t value, uint64_t count)
{
    return count != 0 ? (double)value / (double)count : 0;
}

/** Relative to reading without a writer, whose speed is 1 / @p alone. */
static double loss(double alone, double concurrent)
{
    return concurrent != 0 ? 100 * (1 - alone / concurrent) : 0;
}

static json_t *tell_sum(const struct sum *sum)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f}", "batches", (json_int_t)sum->batches, "records",
                     (json_int_t)sum->records, "processor ns a record",
                     per(sum->processor, sum->records), "wall ns a record",
                     per(sum->time, sum->records), "slowest batch ms", 1e-6 * (double)sum->slowest);
}

static json_t *tell_kind(const struct share *share, enum kind kind)
{
    json_t *phases = json_object();
    for (enum phase phase = 0; phase < PHASES; phase++) {
        struct sum sum = add_up(share, kind, kind + 1, phase);
        json_object_set_new(phases, phase_names[phase], tell_sum(&sum));
    }
    return phases;
}

/** The combined speed of all ways that read some records. */
struct speed {
    double processor; /* processor time per record in ns, including refreshes */
    double wall;      /* the same in elapsed time */
    double read;      /* processor time in ns, without refreshes */
    uint64_t records;
    uint64_t refreshing; /* refreshes of all readers, in ns */
};

static struct speed measure(const struct share *share, enum phase phase)
{
    struct sum read = add_up(share, 0, SCAN, phase);
    struct sum refresh = add_up(share, REFRESH, KINDS, phase);
    return (struct speed){.processor = per(read.processor + refresh.processor, read.records),
                          .wall = per(read.time + refresh.time, read.records),
                          .read = per(read.processor, read.records),
                          .records = read.records,
                          .refreshing = refresh.processor};
}

/** The share of one processor that refreshes use, for a reader concurrent with the writer. */
static double refresh_share(const struct speed *concurrent, double seconds)
{
    return 1e-9 * (double)concurrent->refreshing / seconds / MEASURED;
}

/**
 * The share of one processor that changes cost a reader concurrent with the writer: refreshes,
 * verification of values at their first read, and cache misses. A reader with its own processor
 * loses this share. If processes share processors, a reader reads fewer records per second, and
 * each record takes longer.
 */
static double change_share(const struct speed *alone, const struct speed *concurrent,
                           double seconds)
{
    return 1e-9 * (concurrent->processor - alone->processor) * (double)concurrent->records /
           seconds / MEASURED;
}

static json_t *tell_reading(const struct share *share, double seconds)
{
    json_t *json = json_object();
    struct speed concurrent = measure(share, CONCURRENT);
    for (enum phase phase = 0; phase < PHASES; phase++) {
        struct speed speed = measure(share, phase);
        json_object_set_new(
            json, phase_names[phase],
            json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "processor ns a record", speed.processor,
                      "without refreshes", speed.read, "records/s of a reader", 1e9 / speed.wall,
                      "loss by processor, per cent", loss(speed.processor, concurrent.processor),
                      "loss by wall, per cent", loss(speed.wall, concurrent.wall),
                      "changes, per cent of a processor",
                      100 * change_share(&speed, &concurrent, seconds)));
    }
    json_object_set_new(json, "refreshes of a reader, per cent of a processor",
                        json_real(100 * refresh_share(&concurrent, seconds)));
    return json;
}

static json_t *tell_writer(const struct share *share, double seconds)
{
    const struct writer_part *writer = &share->writer;
    json_t *changes = json_object();
    for (size_t i = 0; i < CHANGES; i++)
        json_object_set_new(changes, change_names[i],
                            json_integer((json_int_t)atomic_load(&writer->done[i])));
    return json_pack("{s:I, s:f, s:I, s:f, s:o}", "changes",
                     (json_int_t)atomic_load(&writer->changed), "changes a second",
                     (double)atomic_load(&writer->changed) / seconds, "commits",
                     (json_int_t)atomic_load(&writer->commits), "slowest commit ms",
                     1e-6 * (double)atomic_load(&writer->slowest), "files changed", changes);
}

static json_t *tell_samples(const struct watch *watch)
{
    static const char *const names[WATCHED] = {"writer", "reader 0", "reader 1"};
    json_t *list = json_array();
    for (size_t i = 0; i < watch->count; i++) {
        const struct sample *sample = &watch->samples[i];
        json_t *json = json_pack("{s:f, s:I, s:I}", "time", sample->time, "changes",
                                 (json_int_t)sample->changed, "states", (json_int_t)sample->states);
        for (size_t k = 0; k < WATCHED; k++) {
            json_t *process = json_object();
            for (size_t q = 0; q < QUANTITIES; q++)
                json_object_set_new(process, watch_quantities[q],
                                    json_integer((json_int_t)sample->of[k][q]));
            json_object_set_new(json, names[k], process);
        }
        for (size_t k = 0; k < STORED; k++)
            json_object_set_new(json, watch_stored[k], json_integer((json_int_t)sample->disk[k]));
        json_array_append_new(list, json);
    }
    return list;
}

static void print_json(const struct share *share, const struct watch *watch,
                       const struct ordeal *ordeal)
{
    json_t *kinds = json_object();
    for (enum kind kind = 0; kind < KINDS; kind++)
        json_object_set_new(kinds, kind_names[kind], tell_kind(share, kind));
    json_t *all = json_pack("{s:I, s:I, s:f, s:o, s:o, s:o, s:i, s:i, s:o}", "processors",
                            (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "readers",
                            (json_int_t)MEASURED, "seconds", ordeal->seconds, "reading",
                            tell_reading(share, ordeal->seconds), "kinds", kinds, "writer",
                            tell_writer(share, ordeal->seconds), "stopped", (int)ordeal->stopped,
                            "killed", (int)ordeal->killed, "samples", tell_samples(watch));
    json_dumpf(need(all), stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(all);
}

static void print_kind(const struct share *share, enum kind kind)
{
    struct sum sums[PHASES];
    printf("  %-17s", kind_names[kind]);
    for (enum phase phase = 0; phase < PHASES; phase++) {
        sums[phase] = add_up(share, kind, kind + 1, phase);
        if (kind == REFRESH) /* not per record */
            sums[phase].records = sums[phase].batches;
        printf(" %9.1f", per(sums[phase].processor, sums[phase].records));
    }
    printf(" |%10.1f%10.1f |%8.2f%8.2f\n", per(sums[IDLE].time, sums[IDLE].records),
           per(sums[CONCURRENT].time, sums[CONCURRENT].records), 1e-6 * (double)sums[IDLE].slowest,
           1e-6 * (double)sums[CONCURRENT].slowest);
}

static void print_speeds(const struct share *share, double seconds)
{
    struct speed concurrent = measure(share, CONCURRENT);
    printf("the first five, with refreshes: ns of the processor, records/s of a reader; and what "
           "is lost with a concurrent writer: of the processor, of the wall, of a processor of "
           "one's own\n");
    for (enum phase phase = 0; phase < PHASES; phase++) {
        struct speed speed = measure(share, phase);
        printf("  %-17s %9.1f %9.0f | %5.1f %% %5.1f %% %5.1f %%\n", phase_names[phase],
               speed.processor, 1e9 / speed.wall, loss(speed.processor, concurrent.processor),
               loss(speed.wall, concurrent.wall), 100 * change_share(&speed, &concurrent, seconds));
    }
    printf("refreshes of a reader take %.1f %% of a processor\n",
           100 * refresh_share(&concurrent, seconds));
}

static void print_samples(const struct watch *watch)
{
    printf("each second: private and mapped MiB, descriptors, maps of writer, reader, reader; MiB "
           "of logs, tables, chunks; files; states a second\n");
    for (size_t i = 0; i < watch->count; i++) {
        const struct sample *sample = &watch->samples[i];
        printf("  %5.1f ", sample->time);
        for (size_t k = 0; k < WATCHED; k++)
            printf("| %5.1f %6.1f %3d %3d ", (double)sample->of[k][PRIVATE] / (1 << 20),
                   (double)sample->of[k][MAPPED] / (1 << 20), (int)sample->of[k][DESCRIPTORS],
                   (int)sample->of[k][MAPS]);
        printf("| %5.1f %5.1f %6.1f %3d | %6.0f\n", (double)sample->disk[LOGS] / (1 << 20),
               (double)sample->disk[TABLES] / (1 << 20), (double)sample->disk[CHUNKS] / (1 << 20),
               (int)sample->disk[FILES],
               i == 0 ? 0
                      : (double)(sample->states - watch->samples[i - 1].states) /
                            (sample->time - watch->samples[i - 1].time));
    }
}

static void print_text(const struct share *share, const struct watch *watch,
                       const struct ordeal *ordeal)
{
    const struct writer_part *writer = &share->writer;
    uint64_t changed = atomic_load(&writer->changed), states = 0, held = 0;
    printf("%d readers, %ld processors. Before and after a warm-up, with a writer of another "
           "dataset, and with the writer:\n  ns of the processor a record within the library; "
           "idle and concurrent: ns of the wall, ms of the slowest batch\n",
           MEASURED, sysconf(_SC_NPROCESSORS_ONLN));
    for (enum kind kind = 0; kind < KINDS; kind++)
        print_kind(share, kind);
    print_speeds(share, ordeal->seconds);
    for (size_t i = 0; i < READERS; i++) {
        states += atomic_load(&share->readers[i].states);
        held += atomic_load(&share->readers[i].held);
    }
    printf("writer: %.0f changes/s for %.1f s, %.0f commits/s, the slowest in %.1f ms\n",
           (double)changed / ordeal->seconds, ordeal->seconds,
           (double)atomic_load(&writer->commits) / ordeal->seconds,
           1e-6 * (double)atomic_load(&writer->slowest));
    for (size_t i = 0; i < CHANGES; i++)
        printf("%s%s: %d", i == 0 ? "requested: " : ", ", change_names[i],
               (int)atomic_load(&writer->done[i]));
    printf("\nreaders: %llu newer states, %llu times right after holding; a third one stopped %u "
           "times and killed %u times\n",
           (unsigned long long)states, (unsigned long long)held, ordeal->stopped, ordeal->killed);
    print_samples(watch);
}

void report_print(const struct share *share, const struct watch *watch, const struct ordeal *ordeal,
                  bool as_json)
{
    if (as_json)
        print_json(share, watch, ordeal);
    else
        print_text(share, watch, ordeal);
}
