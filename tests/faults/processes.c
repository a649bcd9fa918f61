/* SPDX-License-Identifier: MIT */
/* Processes and system limits: forks under load, a timer that interrupts every call, a stopped
 * writer, two writers, too few descriptors, too little memory. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <loaderx/loader.h>

#include "plain.h"
#include "tree.h"

/* Longest time of one test, and of one child, in seconds. */
#define TIMEOUT 300
#define CHILD_TIMEOUT (SANITIZED ? 40 : 60)
#define RECORDS 500

static char path[300];
static struct plain plain;
static char why[900];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- a dataset */

static void append(lx_writer *writer, struct plain *to)
{
    lx_error error = LX_ERROR_INIT;
    struct plain_record record = plain_make(to, (uint32_t)to->count + 1);
    PLAIN_OK(lx_writer_append(writer, plain_values(to, &record), to->column_count, NULL, &error));
    plain_append(to, &record);
}

static lx_writer *create(const char *where, uint64_t chunk_records)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = need(plain_schema(&plain));
    lx_writer_options *options = need(lx_writer_options_new());
    PLAIN_OK(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error));
    PLAIN_OK(lx_writer_options_set_chunk_limits(options, chunk_records, 1 << 20, &error));
    PLAIN_OK(lx_writer_create(where, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static void make(uint64_t count, uint64_t chunk_records)
{
    lx_error error = LX_ERROR_INIT;
    plain_init(&plain, PLAIN_KINDS);
    lx_writer *writer = create(path, chunk_records);
    for (uint64_t i = 0; i < count; i++)
        append(writer, &plain);
    PLAIN_OK(lx_writer_close(writer, &error));
}

/** Checks that all records are present and right. */
static void check(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    PLAIN_OK(lx_dataset_open(path, NULL, &dataset, &error));
    if (!plain_check(&plain, dataset, why, sizeof why))
        plain_fail(why, NULL);
    PLAIN_OK(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

/* ---- forks under load */

struct load {
    lx_writer *writer;
    lx_dataset *dataset;
    lx_loader *loader;
    atomic_bool over;
};

static void *write_on(void *user)
{
    struct load *load = user;
    lx_error error = LX_ERROR_INIT;
    struct plain own;
    plain_init(&own, PLAIN_KINDS);
    while (!load->over) {
        if (own.count > 20000) { /* enough for every test */
            PLAIN_OK(lx_writer_rollback(load->writer, &error));
            own.count = 0;
        }
        append(load->writer, &own);
        if (own.count % 16 == 0)
            PLAIN_OK(lx_writer_commit(load->writer, &error));
    }
    plain_free(&own);
    return NULL;
}

static void *load_on(void *user)
{
    struct load *load = user;
    lx_error error = LX_ERROR_INIT;
    while (!load->over) {
        lx_batch *batch;
        lx_status status = lx_loader_next(load->loader, &batch, &error);
        if (status == LX_OK)
            lx_batch_unref(batch);
        else if (status != LX_ERR_CANCELED)
            plain_fail("a loader under load", &error);
    }
    return NULL;
}

/** A child can read with its handles, and gets errors for those of its parent. */
static _Noreturn void live_as_child(struct load *load, unsigned number)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    lx_dataset *dataset;
    uint64_t index = number % RECORDS;
    uint8_t out[12];
    alarm(CHILD_TIMEOUT);
    PLAIN_OK(lx_dataset_gather(load->dataset, PLAIN_IMAGE, &index, 1, out, 12, &error));
    if (lx_loader_next(load->loader, &batch, NULL) != LX_ERR_FORKED ||
        lx_writer_commit(load->writer, NULL) != LX_ERR_FORKED)
        plain_fail("a child gets no error", NULL);
    if (number % 2 == 0) { /* or it leaves them unchanged */
        lx_loader_close(load->loader);
        (void)lx_writer_close(load->writer, NULL);
        lx_dataset_close(load->dataset);
    }
    PLAIN_OK(lx_dataset_open(path, NULL, &dataset, &error));
    PLAIN_OK(lx_dataset_gather(dataset, PLAIN_LABEL, &index, 1, out, 8, &error));
    lx_dataset_close(dataset);
    _exit(EXIT_SUCCESS);
}

static void fork_once(struct load *load, unsigned number)
{
    for (int left = SANITIZER_RETRIES;; left--) {
        int status;
        pid_t child = fork();
        if (child == 0)
            live_as_child(load, number);
        if (child == -1 || waitpid(child, &status, 0) != child)
            plain_fail("fork", NULL);
        if (status == 0)
            return;
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM || left == 0)
            plain_fail("a child", NULL);
    }
}

static lx_loader *open_loader(lx_dataset *dataset, lx_source **source)
{
    static const char *const fields[] = {"image", "label"};
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = need(lx_loader_options_new());
    PLAIN_OK(lx_source_new_dataset(dataset, source, &error));
    PLAIN_OK(lx_loader_options_set_batch_size(options, 64, &error));
    PLAIN_OK(lx_loader_options_set_columns(options, fields, 2, &error));
    PLAIN_OK(lx_loader_options_set_shuffle(options, 3, &error));
    PLAIN_OK(lx_loader_options_set_epoch_count(options, 0, &error));
    PLAIN_OK(lx_loader_options_set_reader_count(options, 2, &error));
    PLAIN_OK(lx_loader_options_set_missing(options, NULL, LX_MISSING_ZEROS, &error));
    PLAIN_OK(lx_loader_open(*source, options, &loader, &error));
    lx_loader_options_free(options);
    return loader;
}

static void fork_under_load(uint64_t forks)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    struct load load = {.over = false};
    pthread_t threads[2];
    char other[310];
    make(RECORDS, 100);
    snprintf(other, sizeof other, "%s-other", path);
    load.writer = create(other, 100000);
    PLAIN_OK(lx_dataset_open(path, NULL, &load.dataset, &error));
    load.loader = open_loader(load.dataset, &source);
    if (pthread_create(&threads[0], NULL, write_on, &load) != 0 ||
        pthread_create(&threads[1], NULL, load_on, &load) != 0)
        plain_fail("threads", NULL);
    for (unsigned i = 0; i < forks; i++)
        fork_once(&load, i);
    load.over = true;
    lx_loader_cancel(load.loader);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    lx_loader_close(load.loader);
    lx_source_unref(source);
    lx_dataset_close(load.dataset);
    PLAIN_OK(lx_writer_close(load.writer, &error));
    check();
}

/* ---- SIGALRM at 10 kHz */

static atomic_ulong ticks;

static void tick(int number)
{
    (void)number;
    atomic_fetch_add(&ticks, 1);
}

/** Without SA_RESTART: each interruptible system call is interrupted. */
static void start_ticking(long microseconds)
{
    struct sigaction action = {.sa_handler = tick};
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGALRM, &action, NULL) == -1 || setitimer(ITIMER_REAL, &every, NULL) == -1)
        plain_fail("a timer", NULL);
}

static void work_while_ticking(uint64_t seconds)
{
    lx_error error = LX_ERROR_INIT;
    double end = now() + (double)seconds;
    make(RECORDS, 100);
    start_ticking(100);
    unsigned long least = seconds * 1000 / SLOWER; /* a busy machine may need longer */
    for (unsigned round = 0; now() < end || round < 3 || atomic_load(&ticks) < least; round++) {
        lx_writer *writer;
        lx_dataset *dataset;
        lx_source *source;
        PLAIN_OK(lx_writer_open(path, NULL, &writer, &error));
        for (int i = 0; i < 20; i++) {
            append(writer, &plain);
            PLAIN_OK(lx_writer_commit(writer, &error));
        }
        PLAIN_OK(lx_writer_sync(writer, &error));
        PLAIN_OK(lx_writer_close(writer, &error));
        check();
        PLAIN_OK(lx_dataset_open(path, NULL, &dataset, &error));
        lx_loader *loader = open_loader(dataset, &source);
        for (int i = 0; i < 20; i++) {
            lx_batch *batch;
            PLAIN_OK(lx_loader_next(loader, &batch, &error));
            lx_batch_unref(batch);
        }
        lx_loader_close(loader);
        lx_source_unref(source);
        lx_dataset_close(dataset);
    }
    start_ticking(0);
}

/* ---- a stopped writer */

/** Appends and commits until it is killed; the numbers that it writes to the pipe are committed. */
static _Noreturn void write_for_ever(int to)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    struct plain own;
    plain_init(&own, PLAIN_KINDS);
    plain_set(&own, &plain);
    PLAIN_OK(lx_writer_open(path, NULL, &writer, &error));
    for (;;) {
        append(writer, &own);
        PLAIN_OK(lx_writer_commit(writer, &error));
        if (write(to, &own.count, sizeof own.count) != sizeof own.count)
            _exit(EXIT_SUCCESS);
    }
}

/** The newest number that the writer has reported. */
static uint64_t read_last(int from, uint64_t last)
{
    uint64_t number;
    while (read(from, &number, sizeof number) == sizeof number)
        last = number;
    return last;
}

/** While a writer is stopped at any point, readers continue, and no other writer waits. */
static void read_concurrently(uint64_t least)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_writer *writer;
    double fastest = 1e9;
    PLAIN_OK(lx_dataset_open(path, NULL, &dataset, &error));
    if (lx_dataset_get_length(dataset) < least)
        plain_fail("what was committed is not seen", NULL);
    while (plain.count < lx_dataset_get_length(dataset)) {
        struct plain_record record = plain_make(&plain, (uint32_t)plain.count + 1);
        plain_append(&plain, &record);
    }
    if (!plain_check(&plain, dataset, why, sizeof why))
        plain_fail(why, NULL);
    PLAIN_OK(lx_dataset_refresh(dataset, NULL, &error));
    lx_dataset_close(dataset);
    for (int i = 0; i < 20 && fastest > 0.005; i++) {
        double start = now();
        lx_error_clear(&error);
        if (lx_writer_open(path, NULL, &writer, &error) != LX_ERR_BUSY)
            plain_fail("a second writer is not refused", &error);
        if (now() - start < fastest)
            fastest = now() - start;
    }
    if (fastest > 0.010 * SLOWER)
        plain_fail("a second writer is not refused in 10 ms", NULL);
}

static void stop_writers(uint64_t times)
{
    make(RECORDS, 100);
    struct rng rng = {11};
    for (uint64_t i = 0; i < times; i++) {
        int ends[2];
        uint64_t last = plain.count;
        if (pipe(ends) == -1)
            plain_fail("a pipe", NULL);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            write_for_ever(ends[1]);
        }
        close(ends[1]);
        if (read(ends[0], &last, sizeof last) != sizeof last)
            plain_fail("a writer to be stopped", NULL);
        usleep((useconds_t)rng_below(&rng, 3000));
        kill(child, SIGSTOP);
        waitpid(child, NULL, WUNTRACED);
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
        last = read_last(ends[0], last);
        alarm(CHILD_TIMEOUT);
        read_concurrently(last);
        alarm(0);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ends[0]);
        check();
    }
}

/* ---- limits */

static void limit(int what, rlim_t value)
{
    struct rlimit now_set;
    getrlimit(what, &now_set);
    now_set.rlim_cur = value;
    if (setrlimit(what, &now_set) == -1)
        plain_fail("a limit", NULL);
}

/** With an increasing number of descriptors, each call succeeds or reports EMFILE. */
static void run_out_of_descriptors(uint64_t ignored)
{
    (void)ignored;
    make(RECORDS, 100);
    int next = dup(0);
    close(next);
    for (rlim_t extra = 0; extra < 40; extra++) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset;
        lx_writer *writer;
        limit(RLIMIT_NOFILE, (rlim_t)next + extra);
        lx_status status = lx_dataset_open(path, NULL, &dataset, &error);
        if (status == LX_OK) {
            bool right = plain_check(&plain, dataset, why, sizeof why);
            if (!right && strstr(why, "Too many open files") == NULL)
                plain_fail(why, NULL);
            lx_dataset_close(dataset);
        } else if (status != LX_ERR_IO || error.errnum != EMFILE) {
            plain_fail("a reader without descriptors", &error);
        }
        lx_error_clear(&error);
        status = lx_writer_open(path, NULL, &writer, &error);
        if (status == LX_OK) {
            struct plain_record record = plain_make(&plain, (uint32_t)plain.count + 1);
            status = lx_writer_append(writer, plain_values(&plain, &record), plain.column_count,
                                      NULL, &error);
            lx_status closed = lx_writer_close(writer, status == LX_OK ? &error : NULL);
            if (status == LX_OK && closed == LX_OK)
                plain_append(&plain, &record);
            status = status != LX_OK ? status : closed;
        }
        if (status != LX_OK && (status != LX_ERR_IO || error.errnum != EMFILE))
            plain_fail("a writer without descriptors", &error);
        limit(RLIMIT_NOFILE, 1024);
        check();
        if (dup(0) != next)
            plain_fail("descriptors stay open", NULL);
        close(next);
    }
}

/** Reads and writes a thousand chunks with 64 descriptors. */
static void use_many_chunks(uint64_t ignored)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    (void)ignored;
    limit(RLIMIT_NOFILE, 64);
    make(1000, 1);
    check();
    PLAIN_OK(lx_writer_open(path, NULL, &writer, &error));
    for (int i = 0; i < 100; i++)
        append(writer, &plain);
    PLAIN_OK(lx_writer_seal(writer, &error));
    PLAIN_OK(lx_writer_close(writer, &error));
    check();
}

static bool is_want_of_memory(lx_status status, const lx_error *error)
{
    return status == LX_ERR_NOMEM || status == LX_ERR_LIMIT ||
           (status == LX_ERR_IO && (error->errnum == ENOMEM || error->errnum == EAGAIN));
}

/** With an increasing amount of memory; each amount has its own process, since limits can only
 * decrease. */
static void run_out_of_memory(uint64_t ignored)
{
    (void)ignored;
    make(RECORDS, 100);
    bool read = false, written = false;
    for (rlim_t megabytes = 8; megabytes <= 4096 && !(read && written); megabytes *= 2) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            lx_error error = LX_ERROR_INIT;
            lx_dataset *dataset;
            lx_writer *writer;
            int done = 0;
            alarm(CHILD_TIMEOUT);
            limit(RLIMIT_AS, megabytes << 20);
            lx_status result = lx_dataset_open(path, NULL, &dataset, &error);
            if (result == LX_OK) {
                result = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error);
                lx_dataset_close(dataset);
                done += result == LX_OK;
            }
            if (result != LX_OK && !is_want_of_memory(result, &error))
                plain_fail("a reader without memory", &error);
            lx_error_clear(&error);
            result = lx_writer_open(path, NULL, &writer, &error);
            if (result == LX_OK)
                result = lx_writer_close(writer, &error);
            if (result != LX_OK && !is_want_of_memory(result, &error))
                plain_fail("a writer without memory", &error);
            _exit(done + 2 * (result == LX_OK));
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 3)
            plain_fail("a process without memory", NULL);
        read = read || WEXITSTATUS(status) & 1;
        written = written || WEXITSTATUS(status) & 2;
        check();
    }
    if (!read || !written)
        plain_fail("a reader, or a writer, takes more than 4 GiB of addresses", NULL);
}

/* ---- all of them */

static const struct test {
    const char *name;
    void (*run)(uint64_t much);
    uint64_t much, more; /* in the short form, and in the long one */
    bool without_sanitizer;
} tests[] = {
    {"forks under load", fork_under_load, 300, 10000, false},
    {"SIGALRM at 10 kHz", work_while_ticking, 2, 60, false},
    {"writers that are stopped", stop_writers, 20, 500, false},
    {"no descriptors", run_out_of_descriptors, 0, 0, false},
    {"a thousand chunks, 64 descriptors", use_many_chunks, 0, 0, false},
    {"no memory", run_out_of_memory, 0, 0, true},
};

static bool run(const struct test *test, bool is_long, const char *root)
{
    int status;
    double start = now();
    snprintf(path, sizeof path, "%s/data", root);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        test->run(is_long ? test->more : test->much / (SLOWER != 1 ? 3 : 1) + 1);
        fflush(NULL);
        _exit(EXIT_SUCCESS);
    }
    double end = now() + (is_long ? 20 : 1) * TIMEOUT;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && now() < end)
        usleep(10000);
    bool hangs = ended != child;
    kill(-child, SIGKILL); /* and the files that it left */
    if (hangs)
        waitpid(child, &status, 0);
    tree_clear(root);
    printf("%-36s %s, %.1f s\n", test->name,
           hangs         ? "hangs"
           : status == 0 ? "ok"
                         : "FAILED",
           now() - start);
    return !hangs && status == 0;
}

int main(int count, char **arguments)
{
    static char *root; /* also for children, in which this memory is not a leak */
    int passed = 0, failed = 0, skipped = 0;
    bool is_long = count == 2 && strcmp(arguments[1], "--long") == 0;
    if (THREAD_SANITIZED) {
        printf("skipped: the thread sanitizer's runtime allows no threads after a fork\n");
        return 77;
    }
    root = tree_scratch();
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (SLOWER != 1 && tests[i].without_sanitizer) {
            skipped++;
            continue;
        }
        bool right = run(&tests[i], is_long, root);
        passed += right;
        failed += !right;
    }
    tree_remove(root);
    free(root);
    printf("# processes: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
