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
#include "directory.h"
#include "elsewhere.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

enum { OPTION_SCRATCH = OPTION_OWN };

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
    lx_dataset **parts;
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

static lx_status open_all(request *r, lx_error *error)
{
    lx_status status = LX_OK;
    allow_files();
    r->parts = calloc(r->count, sizeof *r->parts);
    if (r->parts == NULL)
        return fail_memory(error, "the parts");
    for (size_t i = 0; status == LX_OK && i < r->count; i++) {
        status = dataset_open(r->given[i], &r->parts[i], error);
        if (status == LX_OK)
            r->length += lx_dataset_get_length(r->parts[i]);
    }
    return status;
}

/* ---- joining */

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    request *r = user;
    progress_update(&r->bar, done, total, 0);
    return interrupt_check(error);
}

static lx_status join(request *r, const char *path, lx_error *error)
{
    progress_begin(&r->bar, "join", r->quiet);
    lx_status status = lx_dataset_join(path, r->parts, (const char *const *)r->paths, r->count,
                                       advanced, r, error);
    progress_clear(&r->bar);
    return status;
}

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
        status = lx_dataset_push(joined, r->target, made, false, sent, r, NULL, error);
        progress_clear(&r->bar);
    }
    lx_dataset_close(joined);
    lx_remote_options_free(made);
    return status;
}

/** Joins in a temporary directory, and sends the result. Joining the same parts again makes the
 * same dataset, so nothing has to stay there. */
static lx_status join_elsewhere(request *r, lx_error *error)
{
    char folder[4096], path[sizeof folder + 8];
    const char *temporary = r->scratch != NULL ? r->scratch : getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/loaderx-join-XXXXXX",
             temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL)
        return lx_fail_errno(error, errno, folder, "cannot make a temporary directory");
    snprintf(path, sizeof path, "%s/joined", folder);
    lx_status status = join(r, path, error);
    if (status == LX_OK)
        status = send(r, path, error);
    directory_discard(path, true, true);
    (void)rmdir(folder);
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
    if (status == LX_OK)
        status = open_all(&r, error);
    if (status == LX_OK) {
        interrupt_catch();
        status = elsewhere_is(r.target) ? join_elsewhere(&r, error) : join(&r, r.target, error);
    }
    advise(error, LX_ERR_CANCELED, "the same command begins again");
    if (status == LX_OK)
        status = print(&r, error);
    for (size_t i = 0; i < r.count; i++) {
        if (r.parts != NULL)
            lx_dataset_close(r.parts[i]);
        if (r.paths != NULL)
            free(r.paths[i]);
    }
    free(r.parts);
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
