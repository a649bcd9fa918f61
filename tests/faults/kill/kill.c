/* SPDX-License-Identifier: MIT */
/* The kill test: a real writer under load, and concurrent readers, are killed at any time. The
 * dataset must then hold the last acknowledged commit or a later one, complete. */
#include <dirent.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"
#include "reopen.h"
#include "../tree.h"
#include "victim.h"

/* Longest lifetime of a writer, in microseconds; some are killed while they open the dataset. */
#define LIFE 60000
#define SHORT_LIFE 4000
/* Longest time until a writer commits again after a reader was killed, in milliseconds. */
#define PATIENCE 20000
/* Records of a dataset, the number of killed writers until another dataset is created, and the
 * number between checks for obsolete files. */
#define RECORDS 20000
/* meta.json, LOG, LOCK, chunk, and two tables a field. */
#define FILES (4u + 2 * VALUES_FIELDS)
#define LIVES 20
#define TIDY 3
/* The time in which a large dataset must be open again, in seconds of processor time; SLOWER times
 * more with sanitizers. */
#define REOPENING .1

struct test {
    uint64_t seed, kills, records;
    const char *directory;

    char path[4200];
    struct rng rng;
    struct oracle oracle;
    struct victim writer, reader;
    uint64_t *seen; /* digests that the reader saw */
    size_t seen_count, seen_capacity;
    uint64_t writers_killed, readers_killed, ended, states;
    double slowest; /* opening, in seconds */
    char why[1200];
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void hear_writer(void *user, const struct mark *mark)
{
    struct test *test = user;
    oracle_hear(&test->oracle, mark);
}

static void hear_reader(void *user, const struct mark *mark)
{
    struct test *test = user;
    test->seen = grow(test->seen, test->seen_count, &test->seen_capacity, sizeof *test->seen);
    test->seen[test->seen_count++] = mark->number;
}

static bool wrong(struct test *test, const char *why)
{
    snprintf(test->why, sizeof test->why, "%s", why);
    return false;
}

/** The number of files in a directory of the dataset. */
static size_t count_files(const struct test *test, const char *below)
{
    char path[4300];
    const struct dirent *entry;
    size_t count = 0;
    snprintf(path, sizeof path, "%s%s", test->path, below);
    DIR *list = need(opendir(path));
    while ((entry = readdir(list)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* ---- one writer */

/** Receives the marks of both until @p end, or until the writer has ended. */
static void listen_until(struct test *test, double end)
{
    bool open = true;
    while (open && now() < end) {
        open = victim_listen(&test->writer, 1, hear_writer, test);
        if (test->reader.process != 0)
            victim_listen(&test->reader, 0, hear_reader, test);
    }
}

static bool kill_reader(struct test *test)
{
    test->readers_killed++;
    return victim_kill(&test->reader, hear_reader, test) ||
           wrong(test, "a concurrent reader has failed");
}

/** Whether the writer continues: it commits, or ends by itself. */
static bool writer_continues(struct test *test)
{
    double end = now() + 1e-3 * PATIENCE;
    uint64_t commits = test->oracle.commits;
    bool open = true;
    while (open && test->oracle.commits == commits && now() < end)
        open = victim_listen(&test->writer, 10, hear_writer, test);
    return now() < end || wrong(test, "the writer stopped after a reader was killed");
}

/** Checks that the content is a possible one. */
static bool settle(struct test *test)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = need(lx_dataset_options_new());
    double start = now();
    lx_status status = lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, &error);
    if (status == LX_OK)
        status = lx_dataset_open(test->path, options, &dataset, &error);
    double took = now() - start;
    if (test->slowest < took)
        test->slowest = took;
    lx_dataset_options_free(options);
    if (status == LX_ERR_NOT_FOUND && test->oracle.commits == 0)
        return true; /* it was killed before the dataset existed */
    if (status != LX_OK) {
        lx_error_describe(&error, test->why, sizeof test->why);
        return false;
    }
    test->states++;
    bool right = oracle_settle(&test->oracle, dataset, test->seen, test->seen_count, test->why,
                               sizeof test->why);
    lx_dataset_close(dataset);
    return right;
}

static bool live(struct test *test)
{
    struct load load = {.path = test->path,
                        .seed = rng_next(&test->rng),
                        .serial = test->oracle.serial,
                        .records = RECORDS};
    bool reads = rng_once_in(&test->rng, 2), right = true;
    uint64_t most = rng_once_in(&test->rng, 5) ? SHORT_LIFE : LIFE;
    double end = now() + 1e-6 * (double)rng_below(&test->rng, most);
    test->seen_count = 0;
    victim_start(&test->writer, load_write, &load);
    if (reads)
        victim_start(&test->reader, load_read, &load);
    listen_until(test, end);
    if (reads && rng_once_in(&test->rng, 2))
        right = kill_reader(test) && writer_continues(test);
    bool killed = victim_kill(&test->writer, hear_writer, test);
    test->writers_killed++;
    if (right && !killed)
        right = wrong(test, "the writer has failed");
    if (test->reader.process != 0)
        right = kill_reader(test) && right;
    return right && settle(test);
}

/** Without readers, the next writer removes all files that an earlier writer left. */
static bool tidy(struct test *test)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_dataset *dataset;
    size_t chunks = 0;
    lx_status status = lx_writer_open(test->path, NULL, &writer, &error);
    if (status == LX_ERR_NOT_FOUND && test->oracle.commits == 0)
        return true;
    if (status == LX_OK)
        status = lx_writer_close(writer, &error);
    if (status == LX_OK)
        status = lx_dataset_open(test->path, NULL, &dataset, &error);
    if (status != LX_OK) {
        lx_error_describe(&error, test->why, sizeof test->why);
        return false;
    }
    status = lx_dataset_stat_chunks(dataset, NULL, 0, &chunks, &error);
    lx_dataset_close(dataset);
    size_t files = count_files(test, ""), chunk_files = count_files(test, "/chunk");
    if (status == LX_OK && files == FILES && chunk_files <= chunks)
        return true;
    snprintf(test->why, sizeof test->why, "%zu files where %u are the dataset's, %zu chunks of %zu",
             files, FILES, chunk_files, chunks);
    return false;
}

/** Removes the dataset from time to time, so that it does not grow without bound. */
static bool remove_dataset(struct test *test)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_dataset_remove(test->path, &error);
    oracle_clear(&test->oracle);
    test->oracle.commits = 0;
    if (status == LX_OK || status == LX_ERR_NOT_FOUND)
        return true;
    lx_error_describe(&error, test->why, sizeof test->why);
    return false;
}

/* ---- all */

/** A large dataset opens at once after a kill. */
static bool reopen(struct test *test)
{
    struct reopening reopening;
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_dataset_remove(test->path, &error);
    if (status != LX_OK && status != LX_ERR_NOT_FOUND)
        return wrong(test, "the dataset is not to be removed");
    if (!reopen_measure(test->path, &reopening, test->why, sizeof test->why))
        return false;
    printf("%u records, a log of up to %" PRIu64 " bytes: open again for reading after %.1f ms "
           "(%.1f of the processor), for writing after %.1f ms (%.1f)\n",
           REOPEN_RECORDS, reopening.log, 1e3 * reopening.reader, 1e3 * reopening.reader_processor,
           1e3 * reopening.writer, 1e3 * reopening.writer_processor);
    return (reopening.reader_processor < REOPENING * SLOWER &&
            reopening.writer_processor < REOPENING * SLOWER) ||
           wrong(test, "a large dataset is not open again in time");
}

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: kill [--kills N] [--seed S] [--directory D]\n");
    exit(2);
}

static void parse(int count, char **arguments, struct test *test)
{
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count)
            usage();
        uint64_t number = strtoull(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--kills") == 0)
            test->kills = number;
        else if (strcmp(arguments[i], "--seed") == 0)
            test->seed = number;
        else if (strcmp(arguments[i], "--directory") == 0)
            test->directory = arguments[i + 1];
        else
            usage();
    }
}

int main(int count, char **arguments)
{
    struct test test = {.seed = 1, .kills = KILLS};
    bool right = true;
    parse(count, arguments, &test);
    char *scratch = test.directory == NULL ? tree_scratch() : NULL;
    snprintf(test.path, sizeof test.path, "%s/data",
             test.directory != NULL ? test.directory : scratch);
    test.rng.state = test.seed;
    oracle_init(&test.oracle);
    (void)lx_dataset_remove(test.path, NULL); /* left by an earlier run */
    double start = now();
    for (uint64_t lives = 1; right && test.writers_killed + test.readers_killed < test.kills;
         lives++) {
        right = live(&test) && (lives % TIDY != 0 || tidy(&test));
        if (right && lives % LIVES == 0)
            right = remove_dataset(&test);
    }
    right = right && reopen(&test);
    if (!right)
        printf("seed %" PRIu64 ", after %" PRIu64 " writers and %" PRIu64
               " readers: %s\nkept: %s\n",
               test.seed, test.writers_killed, test.readers_killed, test.why, test.path);
    printf("%" PRIu64 " writers and %" PRIu64 " readers killed in %.1f s, %" PRIu64
           " states found right, opened in %.1f ms at most\n",
           test.writers_killed, test.readers_killed, now() - start, test.states,
           1e3 * test.slowest);
    printf("# kills: %" PRIu64 " passed, %d failed, 0 skipped\n",
           test.writers_killed + test.readers_killed, !right);
    if (right && scratch != NULL)
        tree_remove(scratch);
    free(scratch);
    free(test.seen);
    oracle_free(&test.oracle);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
