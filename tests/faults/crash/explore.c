/* SPDX-License-Identifier: MIT */
#include "explore.h"

#include <inttypes.h>
#include <unistd.h>

#include "image.h"
#include "job.h"
#include "kernel.h"
#include "point.h"
#include "../tree.h"

/* One in this many jobs has an append that goes to the tables at once, and one waits for the timer:
 * both are slow. */
#define SLOW_IN 16
/* One in this many states is not checked by a writer, but crashes again in its recovery: more often
 * just before a sync, and if meta.json was renamed and the rename may be lost. */
#define RESUMED_IN 400
#define RESUMED_BEFORE_SYNC 90
#define RESUMED_BEHIND_RENAME 12

/** The parts and places of states. */
struct course {
    struct exploration *exploration;
    char *root;    /**< The directory of the traces, in which states are made, too. */
    char *dataset; /**< In that directory. */
    struct records *records;
    lx_executor *executor;
    const char *name; /**< Of the states of the present trace, without their numbers. */
    struct state state;
};

static enum recording walk(struct course *course, struct trace *trace, struct disk *disk,
                           struct history *history, uint64_t boot, const char *name, bool resumed);

/* ---- reports */

static bool fail(struct course *course, const char *name, const char *why)
{
    struct exploration *exploration = course->exploration;
    exploration->wrong = true;
    snprintf(exploration->name, sizeof exploration->name, "%s", name);
    snprintf(exploration->why, sizeof exploration->why, "%s", why);
    return false;
}

/* ---- one state */

/** Continues with the state in a recorded job, and crashes that. */
static bool resume(struct course *course, const struct point *point, const struct check *check,
                   const char *name)
{
    char why[1100];
    struct trace trace = {0};
    struct disk disk;
    struct history history;
    struct job job = {.path = course->dataset,
                      .seed = rng_next(check->rng),
                      .records = course->records,
                      .serial = point->history->serials,
                      .commit = point->history->commits,
                      .resumes = true,
                      .may_be_sealed = point->history->sealing};
    enum recording recording = record(course->root, job_run, &job, &trace, why, sizeof why);
    point_resume(point, &course->state, check->found, &disk, &history);
    if (recording == RECORDED)
        recording = walk(course, &trace, &disk, &history,
                         point->boot + (check->crash == CRASH_POWER), name, true);
    else
        fail(course, name, why);
    history_free(&history);
    disk_free(&disk);
    trace_free(&trace);
    return recording == RECORDED && !course->exploration->wrong;
}

static bool may_resume(const struct point *point, const struct check *check)
{
    return !point->resumed && !check->absent && !point->history->sealed &&
           !point->history->removing && check->crash != CRASH_CACHE &&
           rng_once_in(check->rng, point_is_behind(point, TRACE_RENAME) ? RESUMED_BEHIND_RENAME
                                   : point_is_before(point, TRACE_SYNC) ? RESUMED_BEFORE_SYNC
                                                                        : RESUMED_IN);
}

static bool look_at(struct course *course, const struct point *point, enum crash crash,
                    unsigned number)
{
    struct exploration *exploration = course->exploration;
    char name[sizeof exploration->name];
    snprintf(name, sizeof name, "%s%zu.%u", course->name, point->prefix, number);
    size_t length = strlen(name);
    bool wanted = exploration->only == NULL || strcmp(exploration->only, name) == 0;
    bool leads_there = !wanted && strncmp(exploration->only, name, length) == 0 &&
                       exploration->only[length] == '/';
    if (!wanted && !leads_there)
        return true;
    struct rng rng = {rng_mix(exploration->seed, point->prefix * 16 + number)};
    for (const char *c = course->name; *c != '\0'; c++)
        rng.state = rng_mix(rng.state, (unsigned char)*c);
    alarm(SUPPORT_TIMEOUT);
    point_make(point, course->root, crash, &rng, &course->state);
    struct check check = {.path = course->dataset,
                          .crash = crash,
                          .history = point->history,
                          .executor = course->executor,
                          .rng = &rng};
    exploration->done++;
    exploration->of_power += crash == CRASH_POWER;
    exploration->of_cache += crash == CRASH_CACHE;
    exploration->of_resumed += point->resumed;
    bool right = crash == CRASH_CACHE || check_reader(&check);
    if (right && may_resume(point, &check))
        return resume(course, point, &check, name);
    right = right && (leads_there || check_writer(&check));
    if (exploration->only != NULL || (!right && exploration->keeps))
        point_keep(point, &course->state);
    return right || fail(course, name, check.why);
}

/* ---- one trace */

/** The number of power losses before the next event. A missing sync shows before other syncs; and a
 * lost rename undoes most. */
static unsigned losses(const struct point *point, struct rng *rng, bool thin)
{
    if (point_is_behind(point, TRACE_RENAME))
        return thin ? 3 : 8;
    if (point->resumed || thin)
        return 1;
    return point_is_before(point, TRACE_SYNC) ? 3 : 1 + rng_once_in(rng, 6);
}

/** The crashes before the next event. */
static bool look_around(struct course *course, const struct point *point)
{
    struct rng rng = {rng_mix(point->boot, point->prefix * 2 + point->resumed)};
    unsigned thin = course->exploration->thin, number = 0;
    unsigned count = losses(point, &rng, thin != 0);
    bool right = true,
         busy = point_is_before(point, TRACE_SYNC) || point_is_behind(point, TRACE_RENAME);
    if (thin != 0 && !busy && !rng_once_in(&rng, thin))
        return true;
    while (right && number < count)
        right = look_at(course, point, CRASH_POWER, number++);
    unsigned kill_in = point->resumed ? 4 : point_is_before(point, TRACE_SYNC) ? 2 : 3;
    if (right && rng_once_in(&rng, kill_in))
        right = look_at(course, point, CRASH_KILL, number++);
    if (right && rng_once_in(&rng, point->resumed ? 6 : 2))
        right = look_at(course, point, CRASH_CACHE, number++);
    return right;
}

static bool enough(const struct exploration *exploration)
{
    return exploration->done >= exploration->states;
}

/** Checks that the trace is complete: replaying it must lead to the present directory. */
static bool is_complete(struct course *course, const struct trace *trace, const struct disk *disk,
                        uint64_t seed)
{
    struct disk end;
    disk_copy(&end, disk);
    for (size_t i = 0; i < trace->count; i++)
        disk_apply(&end, &trace->events[i], seed);
    loss_none(&end, &course->state.image);
    bool complete = image_equals(course->root, &course->state.image);
    disk_free(&end);
    return complete;
}

static enum recording walk(struct course *course, struct trace *trace, struct disk *disk,
                           struct history *history, uint64_t boot, const char *name, bool resumed)
{
    struct exploration *exploration = course->exploration;
    char own_name[sizeof exploration->name];
    const char *outer = course->name;
    snprintf(own_name, sizeof own_name, resumed ? "%s/" : "%s.", name);
    course->name = own_name;
    uint64_t seed = rng_mix(exploration->seed, boot);
    if (!is_complete(course, trace, disk, seed)) {
        fail(course, own_name, "the job wrote what no recorded call did");
        return RECORDING_FAILED;
    }
    exploration->events += trace->count;
    struct point point = {
        .trace = trace, .disk = disk, .history = history, .boot = boot, .resumed = resumed};
    for (size_t i = 0; i <= trace->count && !enough(exploration); i++) {
        point.prefix = i;
        if (!look_around(course, &point))
            break;
        if (i == trace->count)
            break;
        disk_apply(disk, &trace->events[i], seed);
        if (trace->events[i].kind == TRACE_MARK)
            history_apply(history, &trace->events[i].mark);
        if (history->wrong != NULL) {
            fail(course, own_name, history->wrong);
            if (exploration->keeps)
                trace_print_end(trace, i);
            break;
        }
    }
    course->name = outer;
    return RECORDED;
}

static enum recording explore_job(struct course *course, uint64_t number)
{
    struct exploration *exploration = course->exploration;
    char name[32], why[1100];
    struct trace trace = {0};
    struct disk disk;
    struct history history;
    struct records records;
    uint64_t seed = rng_mix(exploration->seed, number);
    bool waits = number % SLOW_IN == SLOW_IN / 2, many = number % SLOW_IN == SLOW_IN - 1;
    struct job job = {.path = course->dataset,
                      .seed = seed,
                      .records = &records,
                      .kind = waits || many ? JOB_USUAL : number % JOB_KINDS,
                      .waits = waits,
                      .many = many};
    snprintf(name, sizeof name, "%" PRIu64, number);
    records_init(&records, seed, job.many);
    course->records = &records;
    tree_clear(course->root);
    kernel_boot(seed);
    enum recording recording = record(course->root, job_run, &job, &trace, why, sizeof why);
    if (recording == RECORDED) {
        disk_init(&disk);
        history_init(&history, &records);
        recording = walk(course, &trace, &disk, &history, seed, name, false);
        history_free(&history);
        disk_free(&disk);
    } else {
        fail(course, name, why);
        if (exploration->keeps)
            trace_print_end(&trace, trace.count);
    }
    exploration->jobs++;
    records_free(&records);
    trace_free(&trace);
    return recording;
}

enum recording explore(struct exploration *exploration)
{
    char path[4200];
    struct course course = {.exploration = exploration, .root = tree_scratch()};
    enum recording recording = RECORDED;
    lx_error error = LX_ERROR_INIT;
    snprintf(path, sizeof path, "%s/data", course.root);
    course.dataset = path;
    if (lx_executor_open(NULL, &course.executor, &error) != LX_OK)
        give_up("an executor");
    uint64_t first = exploration->first;
    if (exploration->only != NULL)
        first = strtoull(exploration->only, NULL, 10);
    uint64_t step = exploration->step != 0 ? exploration->step : 1;
    for (uint64_t i = first; recording == RECORDED && !exploration->wrong && !enough(exploration);
         i += step) {
        recording = explore_job(&course, i);
        if (exploration->only != NULL)
            break;
    }
    alarm(0);
    lx_executor_unref(course.executor);
    image_free(&course.state.image);
    tree_remove(course.root);
    free(course.root);
    return recording;
}
