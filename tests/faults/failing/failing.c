/* SPDX-License-Identifier: MIT */
/* Every allocation and every system call fails in turn, in all functions of the library: once, and
 * from then on. Each call reports what happened, nothing leaks or hangs, and afterwards the dataset
 * holds all acknowledged commits. */
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"
#include "../tree.h"

/* Longest time of one run, in seconds; sanitizers make it ten times slower. */
#define RUN_SECONDS 60

/** The ways in which a call fails. */
static const struct failure {
    const char *name;
    enum inject_call call;
    int errnum;
    enum seen seen;
} failures[] = {
    {"alloc", INJECT_alloc, ENOMEM, SEEN_AS_FAILURE},
    {"copy_file_range-EINTR", INJECT_copy_file_range, EINTR, SEEN_NEVER},
    {"copy_file_range-EIO", INJECT_copy_file_range, EIO, SEEN_AS_FAILURE},
    {"copy_file_range-ENOSPC", INJECT_copy_file_range, ENOSPC, SEEN_AS_FAILURE},
    {"copy_file_range-EXDEV", INJECT_copy_file_range, EXDEV, SEEN_NEVER},
    {"copy_file_range-short", INJECT_copy_file_range, INJECT_SHORT, SEEN_NEVER},
    {"fcntl-EINTR", INJECT_fcntl, EINTR, SEEN_IF_LASTING},
    {"fcntl-ENOLCK", INJECT_fcntl, ENOLCK, SEEN_AS_FAILURE},
    {"fdatasync-EIO", INJECT_fdatasync, EIO, SEEN_AS_FAILURE},
    {"fdatasync-ENOSPC", INJECT_fdatasync, ENOSPC, SEEN_AS_FAILURE},
    {"fdopendir-ENOMEM", INJECT_fdopendir, ENOMEM, SEEN_AS_FAILURE},
    {"fstat-EIO", INJECT_fstat, EIO, SEEN_AS_FAILURE},
    {"fstatat-EIO", INJECT_fstatat, EIO, SEEN_AS_FAILURE},
    {"fstatvfs-EIO", INJECT_fstatvfs, EIO, SEEN_AS_FAILURE},
    {"fsync-EIO", INJECT_fsync, EIO, SEEN_AS_FAILURE},
    {"fsync-EINTR", INJECT_fsync, EINTR, SEEN_AS_FAILURE}, /* it is unknown which pages are clean
                                                            * then */
    {"ftruncate-EINTR", INJECT_ftruncate, EINTR, SEEN_IF_LASTING},
    {"ftruncate-EIO", INJECT_ftruncate, EIO, SEEN_AS_FAILURE},
    {"getrandom-ENOSYS", INJECT_getrandom, ENOSYS, SEEN_AS_FAILURE},
    {"linkat-EIO", INJECT_linkat, EIO, SEEN_AS_FAILURE},
    {"madvise-EINVAL", INJECT_madvise, EINVAL, SEEN_NEVER},
    {"mkdirat-ENOSPC", INJECT_mkdirat, ENOSPC, SEEN_AS_FAILURE},
    {"mmap-ENOMEM", INJECT_mmap, ENOMEM, SEEN_AS_FAILURE},
    {"openat-EINTR", INJECT_openat, EINTR, SEEN_IF_LASTING},
    {"openat-EIO", INJECT_openat, EIO, SEEN_AS_FAILURE},
    {"openat-EMFILE", INJECT_openat, EMFILE, SEEN_AS_FAILURE},
    {"posix_fadvise-EINVAL", INJECT_posix_fadvise, EINVAL, SEEN_NEVER},
    {"pread-EINTR", INJECT_pread, EINTR, SEEN_IF_LASTING},
    {"pread-EIO", INJECT_pread, EIO, SEEN_AS_FAILURE},
    {"pread-short", INJECT_pread, INJECT_SHORT, SEEN_NEVER},
    {"pthread_create-EAGAIN", INJECT_pthread_create, EAGAIN, SEEN_AS_FAILURE},
    {"pwrite-EINTR", INJECT_pwrite, EINTR, SEEN_IF_LASTING},
    {"pwrite-EIO", INJECT_pwrite, EIO, SEEN_AS_FAILURE},
    {"pwrite-ENOSPC", INJECT_pwrite, ENOSPC, SEEN_AS_FAILURE},
    {"pwrite-short", INJECT_pwrite, INJECT_SHORT, SEEN_NEVER},
    {"readdir-EIO", INJECT_readdir, EIO, SEEN_AS_FAILURE},
    {"realpath-EIO", INJECT_realpath, EIO, SEEN_AS_FAILURE},
    {"renameat-EIO", INJECT_renameat, EIO, SEEN_AS_FAILURE},
    {"renameat-ENOSPC", INJECT_renameat, ENOSPC, SEEN_AS_FAILURE},
    {"sched_getaffinity-EINVAL", INJECT_sched_getaffinity, EINVAL, SEEN_NEVER},
    {"stat-EIO", INJECT_stat, EIO, SEEN_AS_FAILURE},
    {"sync_file_range-EIO", INJECT_sync_file_range, EIO, SEEN_NEVER},
    {"unlinkat-EIO", INJECT_unlinkat, EIO, SEEN_AS_FAILURE},
};

#define FAILURES (sizeof failures / sizeof *failures)

/** The result of a scenario, in memory that its process shares with the parent. */
struct report {
    char now[256];
    char why[1500];
    bool wrong;
    uint64_t runs;
    uint64_t fired;  /**< Runs in which the fault happened. */
    uint64_t failed; /**< Runs in which a call failed because of it. */
};

struct course {
    const struct scenario *scenario;
    uint64_t each;    /**< Number of places of a kind that are tried; 0: all. */
    const char *only; /**< The prefix of the names of runs; NULL: all. */
    char root[256], dataset[300], copy[300];
    struct plain plain;
    struct report *report;
    uint64_t counts[INJECT_COUNT]; /**< Calls of a run without a fault. */
};

/* ---- one run */

static void check_held(struct run *run, const struct inject_held *before)
{
    struct inject_held now;
    inject_read_held(&now);
    if (now.blocks != before->blocks)
        run_fail(run, "%" PRId64 " blocks of memory are not released",
                 (int64_t)(now.blocks - before->blocks));
    if (now.bytes != before->bytes)
        run_fail(run, "%" PRId64 " bytes stay mapped", (int64_t)(now.bytes - before->bytes));
    if (now.descriptors != before->descriptors)
        run_fail(run, "%d descriptors stay open", (int)(now.descriptors - before->descriptors));
}

static void run_once(struct course *course, const struct failure *failure,
                     const struct fault *fault)
{
    struct run run;
    struct inject_held held;
    const struct scenario *scenario = course->scenario;
    const char *path = scenario->changes ? course->copy : course->dataset;
    if (scenario->changes && scenario->prepare != NULL)
        tree_copy(course->dataset, course->copy);
    run_begin(&run, path, scenario->prepare != NULL ? &course->plain : NULL);
    run.seen = failure != NULL ? failure->seen : SEEN_NEVER;
    run.fault = *fault;
    inject_read_held(&held);
    alarm(RUN_SECONDS);
    inject_arm(fault);
    scenario->act(&run);
    inject_disarm();
    check_held(&run, &held);
    course->report->runs++;
    course->report->fired += inject_get_fired() != 0;
    course->report->failed += run.failures != 0;
    if (!run.wrong && scenario->changes && !run_check(&run) && !run.wrong)
        run_fail(&run, "afterwards, it is not right");
    alarm(0);
    if (scenario->changes && access(course->copy, F_OK) == 0)
        tree_remove(course->copy);
    if (run.wrong) {
        course->report->wrong = true;
        memcpy(course->report->why, run.why, sizeof run.why);
    }
    run_end(&run);
}

/* ---- all runs of a scenario */

static bool try_place(struct course *course, const struct failure *failure, uint64_t at,
                      bool forever)
{
    struct report *report = course->report;
    struct fault fault = {failure->call, failure->errnum, at, forever};
    snprintf(report->now, sizeof report->now, "%s/%s/%s/%" PRIu64, course->scenario->name,
             failure->name, forever ? "from" : "once", at);
    if (course->only == NULL || strncmp(report->now, course->only, strlen(course->only)) == 0)
        run_once(course, failure, &fault);
    return !report->wrong;
}

/** Calls spread over the scenario, different ones for each failure. */
static bool try_failure(struct course *course, const struct failure *failure, bool forever)
{
    uint64_t count = course->counts[failure->call];
    uint64_t each = course->each != 0 && course->each < count ? course->each : count;
    uint64_t shift = count != 0 ? rng_mix((uint64_t)(failure - failures), forever) % count : 0;
    bool right = true;
    for (uint64_t i = 0; right && i < each; i++)
        right = try_place(course, failure, 1 + (i * count + shift) / each % count, forever);
    return right;
}

static void run_scenario(struct course *course)
{
    static const struct fault none = {0};
    inject_begin();
    if (course->scenario->prepare != NULL)
        course->scenario->prepare(course->dataset, &course->plain);
    snprintf(course->report->now, sizeof course->report->now, "%s", course->scenario->name);
    /* Run it twice: memory of the first use that stays is not a leak. */
    for (int i = 0; i < 2 && !course->report->wrong; i++)
        run_once(course, NULL, &none);
    for (size_t i = 0; i < INJECT_COUNT; i++)
        course->counts[i] = inject_get_count((enum inject_call)i);
    bool right = !course->report->wrong;
    for (size_t i = 0; right && i < FAILURES; i++)
        right = try_failure(course, &failures[i], false) && try_failure(course, &failures[i], true);
    if (!course->scenario->changes && course->scenario->prepare != NULL && right)
        run_once(course, NULL, &none);
    plain_free(&course->plain);
}

/** In a separate process, which may crash or hang. */
static bool look_at(struct course *course)
{
    int status;
    struct report *report = course->report;
    memset(report, 0, sizeof *report);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_scenario(course);
        exit(EXIT_SUCCESS);
    }
    if (child == -1 || waitpid(child, &status, 0) != child)
        give_up("a process");
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        printf("%s: ended by %s %d\n", report->now, WIFSIGNALED(status) ? "signal" : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    else if (report->wrong)
        printf("%s: %s\n", report->now, report->why);
    bool right = status == 0 && !report->wrong;
    printf("%-22s %6" PRIu64 " runs, the fault happened in %6" PRIu64 ", a call failed in %6" PRIu64
           "\n",
           course->scenario->name, report->runs, report->fired, report->failed);
    if (!right)
        printf("again: failing --only %s\n", report->now);
    tree_clear(course->root);
    return right;
}

static bool is_wanted(const struct course *course)
{
    size_t length = strlen(course->scenario->name);
    return course->only == NULL || (strncmp(course->only, course->scenario->name, length) == 0 &&
                                    (course->only[length] == '/' || course->only[length] == '\0'));
}

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: failing [--each N] [--only SCENARIO[/KIND[/once|from[/N]]]]\n"
                    "--each 0: each place of each kind\n");
    exit(2);
}

/** Makes the library map the page by which it detects fork(), which stays until the process
 * ends. */
static void keep_page(void)
{
    lx_executor *executor;
    lx_error error = LX_ERROR_INIT;
    must(lx_executor_open(NULL, &executor, &error), "an executor", &error);
    lx_executor_close(executor);
}

int main(int count, char **arguments)
{
    static const struct scenario *const lists[] = {
        writer_scenarios, reader_scenarios,   loader_scenarios,
        order_scenarios,  executor_scenarios, import_scenarios,
        map_scenarios,    recordio_scenarios, elsewhere_scenarios,
#ifdef HAVE_IMAGES
        image_scenarios,  pixel_scenarios,
#endif
    };
    struct course course = {.each = FAILING_EACH};
    static char *root; /* also for children, in which this memory is not a leak */
    int passed = 0, failed = 0;
    for (int i = 1; i < count; i += 2) {
        if (i + 1 < count && strcmp(arguments[i], "--each") == 0)
            course.each = strtoull(arguments[i + 1], NULL, 10);
        else if (i + 1 < count && strcmp(arguments[i], "--only") == 0)
            course.only = arguments[i + 1];
        else
            usage();
    }
    if (course.only != NULL)
        course.each = 0;
    root = tree_scratch();
    snprintf(course.root, sizeof course.root, "%s", root);
    snprintf(course.dataset, sizeof course.dataset, "%s/made", root);
    snprintf(course.copy, sizeof course.copy, "%s/copy", root);
    course.report = mmap(NULL, sizeof *course.report, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (course.report == MAP_FAILED)
        give_up("shared memory");
    keep_page();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (course.scenario = lists[i]; course.scenario->name != NULL; course.scenario++) {
            if (!is_wanted(&course))
                continue;
            bool right = look_at(&course);
            passed += right;
            failed += !right;
        }
    }
    tree_remove(root);
    free(root);
    printf("# failing: %d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0 || passed == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
