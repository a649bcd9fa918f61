/* SPDX-License-Identifier: MIT */
/* loaderx join: joins sealed datasets, whose payloads stay where they are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <loaderx/maintenance.h>
#include <loaderx/remote.h>

#include "command.h"
#include "dataset.h"
#include "datasets.h"
#include "directory.h"
#include "elsewhere.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

enum { OPTION_SCRATCH = OPTION_OWN };

/* Remote parts that are open at a time: each has threads, connections, and its tables in memory.
 * The UUID of what is joined in several groups depends on them, so this is the same number as in
 * Python's lx.join(): then the one continues what the other has begun to send. */
#define GROUP ((size_t)128)

static const command_option options[] = {
    {OPTION_SCRATCH, "scratch", "FOLDER",
     "where to write the tables before they are sent (TMPDIR)"},
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** The arguments and the parts. */
typedef struct request {
    const char *target; /* the directory or the URL of the joined dataset */
    const char **given; /* the parts, as they were given */
    size_t count;
    const char *scratch;
    bool quiet, json;
    char **paths; /* of the parts, relative to the target */
    uint64_t length;
    progress bar;
} request;

/* ---- the command line */

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    (void)error;
    if (option->id == OPTION_SCRATCH)
        r->scratch = value;
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    if (r->target == NULL) {
        r->target = text;
        return LX_OK;
    }
    const char **more = realloc(r->given, (r->count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "an argument");
    r->given = more;
    r->given[r->count++] = text;
    return LX_OK;
}

static lx_status check_request(const request *r, lx_error *error)
{
    if (r->count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%s is missing: specify the dataset to create, and the parts inside it",
                       r->target == NULL ? "DIR" : "PART");
    if (r->scratch != NULL && !elsewhere_is(r->target))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--scratch requires a URL: in a directory, the tables are written there");
    return elsewhere_check_target(r->target, error);
}

/* ---- where the parts are */

/** Returns the path or the URL in a form that can be compared, for free(). */
static char *normalize(const char *path)
{
    char *made = elsewhere_is(path) ? strdup(path) : realpath(path, NULL);
    size_t length = made != NULL ? strlen(made) : 0;
    while (length > 1 && made[length - 1] == '/')
        made[--length] = '\0';
    return made;
}

/** Finds the path of a part relative to the joined dataset. */
static lx_status locate(const char *target, const char *given, char **path, lx_error *error)
{
    char *part = normalize(given);
    size_t length = strlen(target);
    if (part == NULL)
        return lx_fail_errno(error, errno, given, "cannot find the part");
    bool inside = strncmp(part, target, length) == 0 && part[length] == '/';
    *path = inside ? strdup(part + length + 1) : NULL;
    free(part);
    if (!inside)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%.300s is not inside %.300s: parts stay where they are, so move them there "
                       "first, for example with mv, which moves no data within a file system",
                       given, target);
    return *path != NULL ? LX_OK : fail_memory(error, "a path");
}

static lx_status locate_all(request *r, lx_error *error)
{
    lx_status status = LX_OK;
    char *target = normalize(r->target);
    if (target == NULL)
        return lx_fail_errno(error, errno, r->target, "cannot find the directory of the parts");
    r->paths = calloc(r->count, sizeof *r->paths);
    if (r->paths == NULL)
        status = fail_memory(error, "a path");
    for (size_t i = 0; status == LX_OK && i < r->count; i++)
        status = locate(target, r->given[i], &r->paths[i], error);
    free(target);
    return status;
}

/** Allows as many open files as possible: each part that is open needs a few. */
static void allow_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* ---- joining */

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    request *r = user;
    progress_update(&r->bar, done, total, 0);
    return interrupt_check(error);
}

/** Joins @p count parts, which are open only during the call, at @p path. */
static lx_status join(request *r, const char *path, const char *const *given,
                      const char *const *paths, size_t count, lx_error *error)
{
    lx_dataset **parts = calloc(count, sizeof *parts);
    if (parts == NULL)
        return fail_memory(error, "the parts");
    lx_status status = datasets_open(given, count, parts, error);
    r->length = 0;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        r->length += lx_dataset_get_length(parts[i]);
    if (status == LX_OK) {
        progress_begin(&r->bar, "join", r->quiet);
        status = lx_dataset_join(path, parts, paths, count, advanced, r, error);
        progress_clear(&r->bar);
    }
    datasets_close(parts, count);
    free(parts);
    return status;
}

/* ---- joining remote parts */

static lx_status sent(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    request *r = user;
    progress_update(&r->bar, done, total, done);
    return interrupt_check(error);
}

/** Sends the tables of the dataset that was joined at @p path. */
static lx_status send(request *r, const char *path, lx_error *error)
{
    lx_dataset *joined = NULL;
    lx_remote_options *made;
    lx_status status = elsewhere_make_options(&made, error);
    if (status != LX_OK)
        return status;
    status = dataset_open(path, &joined, error);
    if (status == LX_OK) {
        progress_begin(&r->bar, "push", r->quiet);
        status = lx_dataset_push(joined, elsewhere_get_url(r->target), made, false, sent, r, NULL,
                                 error);
        progress_clear(&r->bar);
    }
    lx_dataset_close(joined);
    lx_remote_options_free(made);
    return status;
}

/** The datasets that parts of a URL are joined to, in a temporary folder: each group of parts to
 * one, and the groups to the last one, unless there is only one group. */
typedef struct groups {
    char folder[4096];
    size_t count;
    char **paths;        /* of the groups, and the last one */
    const char **inside; /* the groups' paths relative to the last one: their parts are inside */
} groups;

static lx_status make_groups(groups *self, const request *r, lx_error *error)
{
    const char *temporary = r->scratch != NULL ? r->scratch : getenv("TMPDIR");
    self->count = (r->count - 1) / GROUP + 1;
    self->paths = calloc(self->count + 1, sizeof *self->paths);
    self->inside = calloc(self->count, sizeof *self->inside);
    bool made = self->paths != NULL && self->inside != NULL;
    for (size_t i = 0; made && i <= self->count; i++)
        made = (self->paths[i] = calloc(1, sizeof self->folder + 24)) != NULL;
    if (!made)
        return fail_memory(error, "the parts");
    snprintf(self->folder, sizeof self->folder, "%s/loaderx-join-XXXXXX",
             temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (mkdtemp(self->folder) == NULL)
        return lx_fail_errno(error, errno, self->folder, "cannot make a temporary directory");
    for (size_t i = 0; i <= self->count; i++)
        sprintf(self->paths[i], "%s/%zu", self->folder, i);
    for (size_t i = 0; i < self->count; i++)
        self->inside[i] = "";
    return LX_OK;
}

static void remove_groups(groups *self)
{
    for (size_t i = 0; self->paths != NULL && i <= self->count; i++) {
        if (self->paths[i] != NULL)
            directory_discard(self->paths[i], true, true);
        free(self->paths[i]);
    }
    (void)rmdir(self->folder);
    free(self->paths);
    free(self->inside);
}

/** Joins the parts of a URL in a temporary folder, and sends the result. Joining the same parts
 * again makes the same dataset, so nothing has to stay there. */
static lx_status join_elsewhere(request *r, lx_error *error)
{
    groups made = {0};
    lx_status status = make_groups(&made, r, error);
    for (size_t i = 0; status == LX_OK && i < made.count; i++) {
        size_t first = i * GROUP, left = r->count - first;
        status = join(r, made.paths[i], r->given + first, (const char *const *)r->paths + first,
                      left < GROUP ? left : GROUP, error);
    }
    if (status == LX_OK && made.count > 1)
        status = join(r, made.paths[made.count], (const char *const *)made.paths, made.inside,
                      made.count, error);
    if (status == LX_OK)
        status = send(r, made.paths[made.count > 1 ? made.count : 0], error);
    remove_groups(&made);
    return status;
}

static lx_status print(const request *r, lx_error *error)
{
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:o}", "path", report_text(r->target), "parts",
                                      report_number(r->count), "length", report_number(r->length)),
                            error);
    if (!r->quiet)
        printf("%s: %" PRIu64 " records, joined from %zu part%s\n", r->target, r->length, r->count,
               r->count == 1 ? "" : "s");
    return LX_OK;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&join_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = locate_all(&r, error);
    if (status == LX_OK) {
        allow_files();
        interrupt_catch();
        status = elsewhere_is(r.target)
                     ? join_elsewhere(&r, error)
                     : join(&r, r.target, r.given, (const char *const *)r.paths, r.count, error);
    }
    advise(error, LX_ERR_CANCELED, "the same command begins again");
    if (status == LX_OK)
        status = print(&r, error);
    for (size_t i = 0; r.paths != NULL && i < r.count; i++)
        free(r.paths[i]);
    free(r.paths);
    free(r.given);
    return status;
}

const command join_command = {
    .name = "join",
    .arguments = "DIR|URL PART... [OPTION...]",
    .summary = "join sealed datasets to one, without copying their records",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "The parts must be inside DIR, or below URL, and stay there: they are what the dataset\n"
        "DIR consists of from then on. Only the tables are read and written, about 24 bytes for\n"
        "each value. The records are in the order of the parts. All parts must have the same\n"
        "fields.\n",
    .examples = "  loaderx join train train/part/*\n"
                "  loaderx join s3://bucket/train s3://bucket/train/part/{0,1,2,3}\n",
    .connects = true,
    .run = run};
