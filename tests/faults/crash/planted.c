/* SPDX-License-Identifier: MIT */
/* Tests the crash test: with each planted fault, it must find a wrong state. */
#define LX_PLANTED_FAULTS 1
#include "zrecord/fault.h"

#include <inttypes.h>
#include <string.h>

#include "explore.h"
#include "job.h"

/* Automake counts a test with this status as skipped. */
#define SKIPPED 77

/* Most faults need a certain job and are then found soon, so each job gets fewer states. */
#define THIN 4
enum lx__fault lx__fault;

struct planted {
    enum lx__fault fault;
    const char *name;
    const char *description;
};

#define PLANTED(name, description) {LX__FAULT_##name, #name, description},
static const struct planted list[] = {LX__FAULTS(PLANTED)};

/* Faults that need a certain timing of threads or processes: only jobs of one kind are tried, and
 * more states. */
#define PATIENCE 5
static const struct {
    enum lx__fault fault;
    unsigned job;
} rare[] = {
    {LX__FAULT_CHUNK_PREFIX, JOB_WORKERS},
    {LX__FAULT_SHARED_COMMIT, JOB_USUAL},
    {LX__FAULT_OBSOLETE_UNDER_READER, JOB_INSTALLS},
};

/** The jobs and states in which the fault is searched for. */
static struct exploration plan(enum lx__fault fault, uint64_t seed)
{
    struct exploration exploration = {.seed = seed, .states = CRASH_STATES, .thin = THIN};
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
        if (rare[i].fault == fault) {
            exploration.states *= PATIENCE;
            exploration.first = rare[i].job;
            exploration.step = JOB_KINDS;
        }
    }
    return exploration;
}

/** Without a fault, but with the small limits of this build, no state is wrong. */
static enum recording try_none(uint64_t seed, uint64_t states, bool *right)
{
    struct exploration exploration = {.seed = seed, .states = states, .keeps = true, .thin = THIN};
    enum recording recording = explore(&exploration);
    *right = !exploration.wrong;
    if (recording == RECORDING_REFUSED)
        printf("skipped: %s\n", exploration.why);
    else
        printf("%-23s %6" PRIu64 " states, %s %s\n", "(none)", exploration.done,
               exploration.wrong ? exploration.name : "none is wrong", exploration.why);
    fflush(stdout);
    return recording;
}

static enum recording try(const struct planted *planted, uint64_t seed, bool *found)
{
    struct exploration exploration = plan(planted->fault, seed);
    lx__fault = planted->fault;
    enum recording recording = explore(&exploration);
    *found = exploration.wrong;
    if (recording == RECORDING_REFUSED)
        printf("skipped: %s\n", exploration.why);
    else if (*found)
        printf("%-23s %6" PRIu64 " states, %s: %.150s\n", planted->name, exploration.done,
               exploration.name, exploration.why);
    else
        printf("%-23s not found in %" PRIu64 " states: %s\n", planted->name, exploration.done,
               planted->description);
    fflush(stdout);
    return recording;
}

/** planted [SEED [NAME [STATES]]]; the name "none" means no fault. */
int main(int count, char **arguments)
{
    unsigned found = 0, missed = 0;
    uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    bool right = true;
    uint64_t states = count > 3 ? strtoull(arguments[3], NULL, 10) : CRASH_STATES / 4;
    if ((count <= 2 || strcmp(arguments[2], "none") == 0) &&
        try_none(seed, states, &right) == RECORDING_REFUSED)
        return SKIPPED;
    found += right;
    missed += !right;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        bool this_one;
        if (count > 2 && strcmp(arguments[2], list[i].name) != 0)
            continue;
        if (try(&list[i], seed, &this_one) == RECORDING_REFUSED)
            return SKIPPED;
        found += this_one;
        missed += !this_one;
    }
    printf("# planted faults: %u passed, %u failed, 0 skipped\n", found, missed);
    return missed == 0 && found != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
