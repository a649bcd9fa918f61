/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#include "reader.h"
#include "writer.h"

/* The interval between checks of the processes, in microseconds, and of their usage, in seconds. */
#define LOOK 5000
#define WATCH 1.0
/* Progress that all must make while one is stopped, or after it was killed. */
#define STEPS 20
/* The minimum share of the time with the writer for which one reader is stopped. */
#define STOPPED_PART 8
/* Longest time of a step without its own limit. */
#define PATIENCE 300

enum { WRITER, FIRST_READER, PROCESSES = FIRST_READER + READERS };

enum ordeal_step { AWAY, ALIVE, STOPPED, RUNS_AGAIN, DEAD };

struct run {
    struct share *share;
    struct watch *watch;
    struct ordeal *ordeal;
    pid_t processes[PROCESSES]; /* 0: none */
    enum ordeal_step step;
    uint64_t marks[PROCESSES]; /* progress at the beginning of the step */
    double since;              /* beginning of the step, and of the run */
    double start, deadline;
    char *why;
    size_t size;
};

static double now(void)
{
    return 1e-9 * (double)clock_read(CLOCK_MONOTONIC);
}

static struct part *part_of(const struct run *run, size_t number)
{
    return number == WRITER ? &run->share->writer.part
                            : &run->share->readers[number - FIRST_READER].part;
}

static uint64_t progress(const struct run *run, size_t number)
{
    return atomic_load(&part_of(run, number)->progress);
}

/* ---- processes */

static void start(struct run *run, size_t number, enum fault fault)
{
    fflush(NULL);
    pid_t process = fork();
    if (process == -1)
        give_up("fork");
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (number == WRITER)
            writer_run(run->share);
        reader_run(run->share, number - FIRST_READER, fault);
    }
    run->processes[number] = process;
}

static bool fail_process(struct run *run, size_t number, int status)
{
    const char *why = part_of(run, number)->why;
    snprintf(run->why, run->size, "%s %zu: %s (status %d)", number == WRITER ? "writer" : "reader",
             number, why[0] != '\0' ? why : "it has ended", status);
    return false;
}

/** Whether all processes are running. */
static bool all_live(struct run *run)
{
    for (size_t i = 0; i < PROCESSES; i++) {
        int status;
        if (run->processes[i] == 0 || waitpid(run->processes[i], &status, WNOHANG) == 0)
            continue;
        run->processes[i] = 0;
        return fail_process(run, i, status);
    }
    if (now() < run->deadline)
        return true;
    snprintf(run->why, run->size, "no progress: commits %llu, batches %llu and %llu",
             (unsigned long long)progress(run, WRITER),
             (unsigned long long)progress(run, FIRST_READER),
             (unsigned long long)progress(run, FIRST_READER + 1));
    return false;
}

static void kill_all(struct run *run)
{
    for (size_t i = 0; i < PROCESSES; i++) {
        if (run->processes[i] == 0)
            continue;
        kill(run->processes[i], SIGKILL);
        waitpid(run->processes[i], NULL, 0);
        run->processes[i] = 0;
    }
}

/** Waits until all have ended. */
static bool end_all(struct run *run)
{
    bool right = true;
    atomic_store(&run->share->phase, OVER);
    for (size_t i = 0; i < PROCESSES; i++) {
        int status;
        if (run->processes[i] == 0)
            continue;
        while (waitpid(run->processes[i], &status, WNOHANG) == 0 && now() < run->deadline)
            usleep(LOOK);
        if (now() >= run->deadline)
            return all_live(run);
        run->processes[i] = 0;
        right = right && (status == 0 || fail_process(run, i, status));
    }
    return right;
}

/* ---- the reader that is stopped and killed */

static void enter(struct run *run, enum ordeal_step step)
{
    run->step = step;
    run->since = now();
    for (size_t i = 0; i < PROCESSES; i++)
        run->marks[i] = progress(run, i);
}

/** Whether the writer and the measured readers have made progress in this step. */
static bool others_go_on(const struct run *run)
{
    for (size_t i = 0; i < FIRST_READER + MEASURED; i++)
        if (progress(run, i) < run->marks[i] + STEPS)
            return false;
    return true;
}

static void go_through(struct run *run)
{
    const size_t victim = FIRST_READER + VICTIM;
    bool goes_on = progress(run, victim) >= run->marks[victim] + STEPS;
    switch (run->step) {
    case AWAY:
        start(run, victim, NO_FAULT);
        enter(run, ALIVE);
        break;
    case ALIVE:
        if (!goes_on)
            break;
        kill(run->processes[victim], SIGSTOP);
        enter(run, STOPPED);
        break;
    case STOPPED:
        if (!others_go_on(run) || now() - run->since < run->share->options.seconds / STOPPED_PART)
            break;
        run->ordeal->stopped++;
        kill(run->processes[victim], SIGCONT);
        enter(run, RUNS_AGAIN);
        break;
    case RUNS_AGAIN:
        if (!goes_on)
            break;
        kill(run->processes[victim], SIGKILL);
        waitpid(run->processes[victim], NULL, 0);
        run->processes[victim] = 0;
        enter(run, DEAD);
        break;
    case DEAD:
        if (!others_go_on(run))
            break;
        run->ordeal->killed++;
        run->step = AWAY;
    }
}

/* ---- phases */

/** Watches all processes for @p seconds of a phase. */
static bool look_after(struct run *run, enum phase phase, double seconds)
{
    double start = now(), next = start;
    atomic_store(&run->share->phase, phase);
    run->deadline = start + seconds + PATIENCE;
    while (now() < start + seconds) {
        if (phase == CONCURRENT)
            go_through(run);
        usleep(LOOK);
        if (!all_live(run))
            return false;
        if (now() < next)
            continue;
        watch_look(run->watch, now() - run->start, run->share, run->processes);
        next += WATCH;
    }
    return true;
}

/** A step may need more time than planned. */
static bool has_happened(const struct run *run)
{
    const struct options *options = &run->share->options;
    for (size_t i = 0; i < CHANGES && options->change_each != 0; i++)
        if (atomic_load(&run->share->writer.done[i]) == 0)
            return false;
    return run->ordeal->killed != 0;
}

static bool run_concurrent(struct run *run)
{
    double start = now();
    run->watch->warm = run->watch->count;
    bool right = look_after(run, CONCURRENT, run->share->options.seconds);
    while (right && (!has_happened(run) || run->step != AWAY)) {
        go_through(run);
        usleep(LOOK);
        right = all_live(run);
    }
    run->ordeal->seconds = now() - start;
    return right;
}

static bool wait_for(struct run *run, const atomic_bool *what)
{
    while (!atomic_load(what)) {
        usleep(LOOK);
        if (!all_live(run))
            return false;
    }
    return true;
}

/** The next writer removes obsolete files of earlier generations, which have no readers. */
static bool leave(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    lx_writer *writer = NULL;
    lx_status status = lx_writer_open(run->share->options.path, NULL, &writer, &error);
    if (status == LX_OK)
        status = lx_writer_close(writer, &error);
    if (status == LX_OK)
        status = lx_dataset_open(run->share->options.path, NULL, &dataset, &error);
    if (status == LX_OK) {
        status = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error);
        lx_dataset_close(dataset);
    }
    if (status == LX_OK)
        return true;
    lx_error_describe(&error, run->why, run->size);
    return false;
}

bool run_all(struct share *share, struct watch *watch, struct ordeal *ordeal, char *why,
             size_t size)
{
    const struct options *options = &share->options;
    struct run run = {.share = share,
                      .watch = watch,
                      .ordeal = ordeal,
                      .start = now(),
                      .deadline = now() + PATIENCE,
                      .why = why,
                      .size = size};
    start(&run, WRITER, NO_FAULT);
    bool right = wait_for(&run, &share->writer.filled);
    for (size_t i = 0; right && i < MEASURED; i++)
        start(&run, FIRST_READER + i, NO_FAULT);
    for (enum phase phase = FRESH; right && phase < CONCURRENT; phase++)
        right = look_after(&run, phase, options->before);
    right = right && run_concurrent(&run) && end_all(&run);
    kill_all(&run);
    return right && leave(&run) && watch_is_flat(watch, why, size);
}

bool run_fault(struct share *share, enum fault fault, char *why, size_t size)
{
    struct run run = {.share = share, .deadline = now() + PATIENCE, .why = why, .size = size};
    start(&run, WRITER, NO_FAULT);
    bool right = wait_for(&run, &share->writer.filled);
    atomic_store(&share->phase, CONCURRENT);
    if (right)
        start(&run, FIRST_READER, fault);
    while (right && all_live(&run))
        usleep(LOOK);
    kill_all(&run);
    return right && strncmp(share->readers[0].part.why, "a fault: ", 9) == 0;
}
