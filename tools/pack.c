/* SPDX-License-Identifier: MIT */
/* loaderx pack: parses the command line, makes the list, and writes lists; pack-job.c packs, and
 * pack-convert.c converts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "failure.h"
#include "image-list.h"
#include "number.h"
#include "pack-convert.h"
#include "pack-job.h"
#include "pack-plan.h"
#include "recordio-pass.h"
#include "report.h"
#include "threads.h"

/* Files of a set. */
#define CHUNKS_MAX 65536
/* Of images, in pixels: the most that JPEG can have. */
#define SIDE_MAX 65500

enum {
    OPTION_ROOT = OPTION_OWN,
    OPTION_HIDDEN,
    OPTION_SHUFFLE,
    OPTION_SEED,
    OPTION_FRACTIONS,
    OPTION_CHUNKS,
    OPTION_PART,
    OPTION_RESIZE,
    OPTION_CROP,
    OPTION_ENCODING,
    OPTION_QUALITY,
    OPTION_MAX_PIXELS,
    OPTION_ON_BAD,
    OPTION_RESUME,
    OPTION_FORCE,
    OPTION_THREADS
};

static const command_option options[] = {
    {OPTION_ROOT, "root", "FOLDER", "the folder of the paths of a list (the folder of the list)"},
    {OPTION_HIDDEN, "hidden", NULL, "take names that begin with a dot, too"},
    {OPTION_SHUFFLE, "shuffle", NULL, "shuffle the images"},
    {OPTION_SEED, "seed", "S", "the seed of --shuffle and --fractions (0)"},
    {OPTION_FRACTIONS, "fractions", "NAME=F,...",
     "a file for each set, and its fraction of images"},
    {OPTION_CHUNKS, "chunks", "N", "cut the images into N files"},
    {OPTION_PART, "part", "K/N", "pack only part K of N of each file"},
    {OPTION_RESIZE, "resize", "N", "resize images, so that the shorter side has N pixels"},
    {OPTION_CROP, "crop", "SIZE", "then keep the middle of images: N or WxH pixels"},
    {OPTION_ENCODING, "encoding", "keep|jpeg|png|webp|webp-lossless",
     "how images are stored (keep; with --resize or --crop, jpeg)"},
    {OPTION_QUALITY, "quality", "N", "the quality of jpeg and webp, 1 to 100 (95)"},
    {OPTION_MAX_PIXELS, "max-pixels", "N", "the most pixels of an image (178956970)"},
    {OPTION_ON_BAD, "on-bad", "stop|skip", "what to do about bad images (stop)"},
    {OPTION_RESUME, "resume", NULL, "continue after an interruption"},
    {OPTION_FORCE, "force", NULL, "replace existing files"},
    {OPTION_THREADS, "threads", "N", "number of threads, 0 to 64 (one per CPU)"},
    QUIET_OPTION("no progress bar and no summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** The arguments. */
typedef struct request {
    const char *input, *output;
    char *root; /* owned */
    bool hidden, shuffle, seed_given, list, packs_given, encoding_given;
    bool root_assumed; /* it is the folder that has the list */
    pack_cut cut;
    pack_job job;
    threads threads;
    image_list images;
    pack_plan plan;
} request;

/* ---- the command line */

static lx_status take_part(request *r, char *text, lx_error *error)
{
    char *slash = strchr(text, '/');
    if (slash == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--part '%.64s' is invalid: use K/N, such as 1/4 to 4/4", text);
    *slash = '\0';
    lx_status status = number_parse_within("--part", slash + 1, 1, UINT32_MAX, &r->cut.parts,
                                           error);
    return status == LX_OK
               ? number_parse_within("--part", text, 1, r->cut.parts, &r->cut.part, error)
               : status;
}

static lx_status take_policy(request *r, const char *value, lx_error *error)
{
    r->job.skip = strcmp(value, "skip") == 0;
    if (r->job.skip || strcmp(value, "stop") == 0)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "--on-bad '%.64s' is invalid: use stop or skip", value);
}

static lx_status take_side(const char *option, const char *value, uint32_t *side, lx_error *error)
{
    uint64_t number = 0;
    lx_status status = number_parse_within(option, value, 1, SIDE_MAX, &number, error);
    *side = (uint32_t)number;
    return status;
}

static lx_status take_crop(request *r, char *text, lx_error *error)
{
    image_recoding *recoding = &r->job.recoding;
    char *times = strchr(text, 'x');
    if (times != NULL)
        *times = '\0';
    lx_status status = take_side("--crop", text, &recoding->width, error);
    return status == LX_OK
               ? take_side("--crop", times != NULL ? times + 1 : text, &recoding->height, error)
               : status;
}

static lx_status take_encoding(request *r, const char *name, lx_error *error)
{
    static const struct {
        const char *name;
        lx_image_format format;
        bool lossless;
    } encodings[] = {{"keep", LX_IMAGE_UNKNOWN, false},
                     {"jpeg", LX_IMAGE_JPEG, false},
                     {"png", LX_IMAGE_PNG, true},
                     {"webp", LX_IMAGE_WEBP, false},
                     {"webp-lossless", LX_IMAGE_WEBP, true}};
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (strcmp(name, encodings[i].name) == 0) {
            r->encoding_given = true;
            r->job.recoding.format = encodings[i].format;
            r->job.recoding.lossless = encodings[i].lossless;
            return LX_OK;
        }
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "--encoding '%.64s' is invalid: use keep, jpeg, png, webp or webp-lossless",
                   name);
}

/** Takes an option of how images are decoded and encoded. */
static lx_status take_recoding(request *r, const command_option *option, char *value,
                               lx_error *error)
{
    uint64_t quality = 0;
    switch (option->id) {
    case OPTION_RESIZE:
        return take_side("--resize", value, &r->job.recoding.shorter, error);
    case OPTION_CROP:
        return take_crop(r, value, error);
    case OPTION_ENCODING:
        return take_encoding(r, value, error);
    case OPTION_MAX_PIXELS:
        return number_parse_within("--max-pixels", value, 1, UINT64_MAX,
                                   &r->job.recoding.max_pixels, error);
    default:
        if (number_parse_within("--quality", value, 1, 100, &quality, error) != LX_OK)
            return LX_ERR_ARGUMENT;
        r->job.recoding.quality = (int)quality;
        return LX_OK;
    }
}

/** Takes an option that the making of a list does not have. */
static lx_status take_packing(request *r, const command_option *option, char *value,
                              lx_error *error)
{
    r->packs_given = true;
    switch (option->id) {
    case OPTION_ROOT:
        free(r->root);
        r->root = strdup(value);
        return r->root != NULL ? LX_OK : fail_memory(error, "a path");
    case OPTION_PART:
        return take_part(r, value, error);
    case OPTION_ON_BAD:
        return take_policy(r, value, error);
    case OPTION_THREADS:
        return threads_parse(&r->threads, value, error);
    case OPTION_RESUME:
        r->job.resume = true;
        return LX_OK;
    default:
        return take_recoding(r, option, value, error);
    }
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_HIDDEN:
        r->hidden = true;
        return LX_OK;
    case OPTION_SHUFFLE:
        r->shuffle = true;
        return LX_OK;
    case OPTION_SEED:
        r->seed_given = true;
        return number_parse("--seed", value, &r->cut.seed, error);
    case OPTION_FRACTIONS:
        return fractions_parse(&r->cut.sets, value, error);
    case OPTION_CHUNKS:
        return number_parse_within("--chunks", value, 1, CHUNKS_MAX, &r->cut.chunks, error);
    case OPTION_FORCE:
        r->job.replace = true;
        return LX_OK;
    case OPTION_JSON:
        r->job.json = true;
        return LX_OK;
    case 'q':
        r->job.quiet = true;
        return LX_OK;
    default:
        return take_packing(r, option, value, error);
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    const char **argument = r->input == NULL ? &r->input : &r->output;
    if (*argument != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "unexpected argument '%.64s'", text);
    *argument = text;
    return LX_OK;
}

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

static lx_status check_recoding(request *r, lx_error *error)
{
    image_recoding *recoding = &r->job.recoding;
    bool changes = recoding->shorter != 0 || recoding->width != 0;
    if (changes && !r->encoding_given)
        recoding->format = LX_IMAGE_JPEG;
    if (changes && recoding->format == LX_IMAGE_UNKNOWN)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--encoding keep stores files as they are: use another one with --resize "
                       "and --crop");
    if (recoding->quality != 0 && (recoding->lossless || recoding->format == LX_IMAGE_UNKNOWN))
        return lx_fail(error, LX_ERR_ARGUMENT, "--quality requires --encoding jpeg or webp");
    return LX_OK;
}

static lx_status check_request(request *r, lx_error *error)
{
    if (r->output == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "%s is missing",
                       r->input == NULL ? "INPUT" : "OUTPUT");
    r->list = ends_in(r->output, ".lst");
    if (r->list && r->packs_given)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "a list takes only --shuffle, --seed, --fractions, --chunks, --hidden, --force, "
            "--quiet and --json: the other options are for packing");
    if (r->job.resume && r->job.replace)
        return lx_fail(error, LX_ERR_ARGUMENT, "--resume and --force are mutually exclusive");
    if (r->seed_given && !r->shuffle && r->cut.sets.count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--seed requires --shuffle or --fractions");
    lx_status status = r->cut.sets.count != 0 ? fractions_place(&r->cut.sets, 2, error) : LX_OK;
    return status == LX_OK ? check_recoding(r, error) : status;
}

/* ---- the list */

/** The folder that contains a list. */
static char *copy_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static void trim_slashes(char *path)
{
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/';)
        path[--length] = '\0';
}

static lx_status scan(request *r, lx_error *error)
{
    struct stat place;
    char kinds[EXTENSIONS_TEXT];
    bool dataset = !r->list && !ends_in(r->output, ".rec");
    char *output = strdup(r->output);
    if (output != NULL)
        trim_slashes(output);
    char *parent = output != NULL ? copy_folder(output) : NULL;
    bool known = parent != NULL && stat(parent, &place) == 0;
    lx_status status = parent != NULL ? image_list_scan(&r->images, r->root, r->hidden,
                                                        dataset && known ? &place : NULL, error)
                                      : fail_memory(error, "a path");
    if (r->images.hidden != 0)
        fprintf(stderr,
                "loaderx pack: warning: names that begin with a dot were left out of %s: %zu\n",
                r->root, r->images.hidden);
    if (r->images.left_out.files != 0)
        fprintf(stderr, "loaderx pack: warning: files that are no images were left out of %s: %s\n",
                r->root, extensions_print(&r->images.left_out, kinds));
    free(parent);
    free(output);
    return status;
}

static lx_status make_list(request *r, lx_error *error)
{
    struct stat about;
    bool folder = stat(r->input, &about) == 0 && S_ISDIR(about.st_mode);
    if (folder && r->root != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "--root requires a list, but INPUT is a folder");
    if (!folder && r->hidden)
        return lx_fail(error, LX_ERR_ARGUMENT, "--hidden requires that INPUT is a folder");
    if (!folder && !ends_in(r->input, ".lst"))
        return stat(r->input, &about) == 0
                   ? lx_fail(error, LX_ERR_ARGUMENT,
                             "INPUT '%.200s' is neither a folder nor a list, whose name ends in "
                             ".lst",
                             r->input)
                   : lx_fail_errno(error, errno, r->input, "cannot find INPUT");
    r->root_assumed = r->root == NULL && !folder;
    if (r->root == NULL)
        r->root = folder ? strdup(r->input) : copy_folder(r->input);
    if (r->root == NULL)
        return fail_memory(error, "a path");
    trim_slashes(r->root);
    lx_status status = folder ? scan(r, error) : image_list_read(&r->images, r->input, error);
    if (status == LX_OK && r->shuffle)
        status = image_list_shuffle(&r->images, r->cut.seed, error);
    return status == LX_OK ? pack_plan_make(&r->plan, &r->images, &r->cut, r->output, error)
                           : status;
}

static lx_status write_lists(request *r, lx_error *error)
{
    const pack_plan *plan = &r->plan;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < plan->count; i++)
        status = recordio_check_output(plan->files[i].path, r->job.replace, error);
    for (size_t i = 0; status == LX_OK && i < plan->count; i++)
        status = image_list_write(&r->images, plan->files[i].first, plan->files[i].count,
                                  plan->files[i].path, error);
    return status;
}

/* ---- conversions */

static bool is_dataset(const char *path)
{
    char name[4096];
    int size = snprintf(name, sizeof name, "%s/meta.json", path);
    return size > 0 && (size_t)size < sizeof name && access(name, F_OK) == 0;
}

/** Converts a file or a dataset, whose records have their order and images already. */
static lx_status convert(request *r, bool dataset, lx_error *error)
{
    bool records = ends_in(r->output, ".rec");
    if (r->list || r->packs_given || r->hidden || r->shuffle || r->cut.sets.count != 0 ||
        r->cut.chunks != 1)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "a RecordIO file becomes a dataset, and a dataset a RecordIO file, as it is: "
            "only --force, --quiet and --json are allowed");
    if (records != dataset)
        return lx_fail(error, LX_ERR_ARGUMENT, "%s",
                       records ? "INPUT and OUTPUT are RecordIO files: 'loaderx recordio merge' "
                                 "copies them"
                               : "INPUT and OUTPUT are datasets: 'loaderx copy' copies them");
    lx_status status = pack_plan_make(&r->plan, &r->images, &r->cut, r->output, error);
    r->job.list = &r->images;
    r->job.plan = &r->plan;
    if (status == LX_OK)
        status = threads_open(&r->threads, &r->job.executor, error);
    if (status == LX_OK)
        status = dataset ? pack_convert_dataset(&r->job, r->input, r->plan.files[0].path, error)
                         : pack_convert_records(&r->job, r->input, r->plan.files[0].path, error);
    r->plan.images = (size_t)r->job.packed;
    return status == LX_OK ? pack_job_print(&r->job, error) : status;
}

static lx_status pack(request *r, lx_error *error)
{
    bool dataset = is_dataset(r->input);
    if (dataset || ends_in(r->input, ".rec"))
        return convert(r, dataset, error);
    lx_status status = make_list(r, error);
    r->job.list = &r->images;
    r->job.plan = &r->plan;
    r->job.root = r->root;
    if (status == LX_OK && r->list)
        status = write_lists(r, error);
    else if (status == LX_OK)
        status = threads_open(&r->threads, &r->job.executor, error);
    if (status == LX_OK && !r->list) {
        status = pack_job_run(&r->job, error);
        if (r->root_assumed && error->errnum == ENOENT && r->job.packed == 0)
            advise(error, status, "--root names the folder of the paths");
    }
    return status == LX_OK ? pack_job_print(&r->job, error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.cut = {.chunks = 1, .part = 1, .parts = 1}};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&pack_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = pack(&r, error);
    lx_executor_close(r.job.executor);
    pack_plan_free(&r.plan);
    image_list_free(&r.images);
    fractions_free(&r.cut.sets);
    free(r.root);
    return status;
}

const command pack_command = {
    .name = "pack",
    .arguments = "INPUT OUTPUT [OPTION...]",
    .summary = "pack images into RecordIO files of MXNet or datasets",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "INPUT is a folder, whose sub-folders are classes, or a list, whose name ends in .lst: a\n"
        "line for each image, with its index, its labels and its path, separated by tabs.\n"
        "OUTPUT is a RecordIO file, whose name ends in .rec, next to which its index (.idx)\n"
        "appears; a list (.lst), so that nothing is packed; or, with any other name, a dataset.\n\n"
        "If INPUT is a RecordIO file, OUTPUT is a dataset, and the other way round: then the\n"
        "records are copied as they are.\n\n"
        "With --fractions and --chunks, the name of each set and the number of each file become\n"
        "part of the names: train.rec becomes train_NAME_0.rec. With --part, each machine packs a\n"
        "part, and 'loaderx recordio merge' joins the parts, in order, to the same bytes.\n",
    .examples = "  loaderx pack photos photos.rec\n"
                "  loaderx pack photos all.lst --shuffle --fractions train=0.9,test=0.1\n"
                "  loaderx pack all_train.lst train.rec --root photos --on-bad skip\n"
                "  loaderx pack all.lst all-2.rec --root photos --part 2/8\n"
                "  loaderx pack train.rec train\n"
                "  loaderx pack photos small.rec --resize 256 --crop 224 --quality 90\n",
    .run = run};
