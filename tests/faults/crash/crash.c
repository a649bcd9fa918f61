/* SPDX-License-Identifier: MIT */
/* The crash test: wherever the real writer is stopped, it leaves a committed snapshot. */
#include <inttypes.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"

/* Automake counts a test with this status as skipped. */
#define SKIPPED 77

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: crash [--states N] [--seed S] [--first JOB] [--only STATE]\n");
    exit(2);
}

static void parse(int count, char **arguments, struct exploration *exploration)
{
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count)
            usage();
        uint64_t number = strtoull(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--states") == 0)
            exploration->states = number;
        else if (strcmp(arguments[i], "--seed") == 0)
            exploration->seed = number;
        else if (strcmp(arguments[i], "--first") == 0)
            exploration->first = number;
        else if (strcmp(arguments[i], "--only") == 0)
            exploration->only = arguments[i + 1];
        else
            usage();
    }
}

int main(int count, char **arguments)
{
    struct exploration exploration = {.seed = 1, .states = CRASH_STATES, .keeps = true};
    if (THREAD_SANITIZED) {
        printf("skipped: the runtime of the thread sanitizer makes other system calls\n");
        return SKIPPED;
    }
    parse(count, arguments, &exploration);
    double start = now();
    enum recording recording = explore(&exploration);
    double seconds = now() - start;
    if (recording == RECORDING_REFUSED) {
        printf("skipped: %s\n", exploration.why);
        return SKIPPED;
    }
    if (exploration.wrong)
        printf("state %s is wrong: %s\nagain: crash --seed %" PRIu64 " --only %s\n",
               exploration.name, exploration.why, exploration.seed, exploration.name);
    printf("seed %" PRIu64 ": %" PRIu64 " states of %" PRIu64 " jobs with %" PRIu64
           " recorded calls and marks; %" PRIu64 " of them after a loss of power, %" PRIu64
           " of the cache, %" PRIu64 " in a recovery; %.0f a second\n",
           exploration.seed, exploration.done, exploration.jobs, exploration.events,
           exploration.of_power, exploration.of_cache, exploration.of_resumed,
           (double)exploration.done / seconds);
    printf("# crash states: %" PRIu64 " passed, %d failed, 0 skipped\n",
           exploration.jobs - exploration.wrong, exploration.wrong);
    return exploration.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
