/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <getopt.h>
#include <string.h>

#include "elsewhere.h"
#include "failure.h"

/* Includes the shared options and the terminator of the list. */
#define OPTIONS_MAX (COMMAND_OPTIONS_MAX + 8)
/* The column at which the descriptions of the options begin. */
#define HELP_COLUMN 30

/* The options of all subcommands, after those of the ones that fetch. */
static const command_option shared_options[] = {
    {OPTION_CACHE, "cache", "FOLDER", "of a URL: keep what is fetched in FOLDER, and use it again"},
    {OPTION_LIMIT, "limit", "SIZE", "the most bytes in the cache, such as 500G (the free space)"},
    {OPTION_TIER, "tier", "URL", "of s3:// and https://: a node of a tier; can be repeated"},
    {OPTION_ENDPOINT, "endpoint", "URL", "of s3://: the server (that of the environment, or AWS)"},
    {OPTION_REGION, "region", "REGION", "of s3://: the region (that of the environment)"},
    {OPTION_ANONYMOUS, "anonymous", NULL, "of s3://: send no credentials, for public buckets"},
    {'h', "help", NULL, "print this help"}};
#define SHARED_COUNT (sizeof shared_options / sizeof *shared_options)
/* The number of those for caches, which are the first ones. */
#define CACHE_COUNT 3

/** Returns the option at a position: first those of the subcommand, then the shared ones. */
static const command_option *get_option(const command *self, size_t i)
{
    size_t hidden = self->fetches ? 0 : self->connects ? CACHE_COUNT : SHARED_COUNT - 1;
    if (i < self->option_count)
        return &self->options[i];
    i += hidden - self->option_count;
    return i < SHARED_COUNT ? &shared_options[i] : NULL;
}

/* ---- parsing */

/** Fills the tables for getopt_long(). The short options begin with "-:", which keeps arguments in
 * order and distinguishes a missing value from an unknown option. */
static void fill_tables(const command *self, struct option *names, char *letters)
{
    const command_option *option;
    size_t used = 2, i;
    memcpy(letters, "-:", 2);
    for (i = 0; (option = get_option(self, i)) != NULL; i++) {
        names[i] = (struct option){
            .name = option->name, .has_arg = option->value != NULL, .val = option->id};
        if (option->id < OPTION_LONG) {
            letters[used++] = (char)option->id;
            if (option->value != NULL)
                letters[used++] = ':';
        }
    }
    names[i] = (struct option){0};
    letters[used] = '\0';
}

static const command_option *find_option(const command *self, int id)
{
    const command_option *option;
    for (size_t i = 0; (option = get_option(self, i)) != NULL; i++)
        if (option->id == id)
            return option;
    return NULL;
}

/** Reports why getopt_long() returned '?' or ':'. */
static lx_status fail_option(const command *self, int answer, const char *word, lx_error *error)
{
    const command_option *option = optopt != 0 ? find_option(self, optopt) : NULL;
    if (option != NULL && answer == ':')
        return lx_fail(error, LX_ERR_ARGUMENT, "--%s requires a value: %s", option->name,
                       option->value);
    if (option != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "--%s does not take a value", option->name);
    int length = (int)strcspn(word, "=");
    for (size_t i = 0; (option = get_option(self, i)) != NULL; i++)
        if (length > 2 && strncmp(option->name, word + 2, (size_t)length - 2) == 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "%.*s is ambiguous: write the option in full, such as --%s", length,
                           word, option->name);
    if (optopt != 0 && word[1] != '-')
        return lx_fail(error, LX_ERR_ARGUMENT, "unknown option -%c", optopt);
    return lx_fail(error, LX_ERR_ARGUMENT, "unknown option %.*s", length, word);
}

/** -1 and -5:20 are indices, not options. */
static bool is_negative_index(const char *word)
{
    return word[0] == '-' && (word[1] == ':' || (word[1] >= '0' && word[1] <= '9'));
}

static lx_status take_argument(const command_line *line, char *text, lx_error *error)
{
    lx_status status = elsewhere_redact(text, error);
    return status == LX_OK ? line->take_argument(line->user, text, error) : status;
}

static lx_status take(const command *self, int answer, const char *word, const command_line *line,
                      lx_error *error)
{
    if (answer == 1)
        return take_argument(line, optarg, error);
    if (answer == '?' || answer == ':')
        return fail_option(self, answer, word, error);
    if (answer == 'h') {
        command_print_help(self);
        return LX_END;
    }
    if (answer >= OPTION_CACHE && answer <= OPTION_ANONYMOUS)
        return elsewhere_take(answer, optarg, error);
    return line->take_option(line->user, find_option(self, answer), optarg, error);
}

lx_status command_parse(const command *self, int argc, char **argv, const command_line *line,
                        lx_error *error)
{
    struct option names[OPTIONS_MAX];
    char letters[2 * OPTIONS_MAX + 3];
    lx_status status = LX_OK;
    fill_tables(self, names, letters);
    optind = 1;
    opterr = 0;
    while (status == LX_OK && optind < argc) {
        char *word = argv[optind];
        if (is_negative_index(word)) {
            status = take_argument(line, word, error);
            optind++;
            continue;
        }
        int answer = getopt_long(argc, argv, letters, names, NULL);
        if (answer == -1)
            break;
        status = take(self, answer, word, line, error);
    }
    for (; status == LX_OK && optind < argc; optind++)
        status = take_argument(line, argv[optind], error);
    return status == LX_OK ? elsewhere_check(error) : status;
}

lx_status command_take_directory(const char **directory, const char *text, lx_error *error)
{
    if (*directory != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "unexpected argument '%.200s': only one DIR is allowed", text);
    *directory = text;
    return LX_OK;
}

lx_status command_take_nothing(void *user, const char *text, lx_error *error)
{
    (void)user;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "unexpected argument '%.200s': this command takes only options", text);
}

lx_status command_need_directory(const char *directory, lx_error *error)
{
    if (directory != NULL)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "DIR is missing: specify the directory of a dataset");
}

/* ---- help */

static void print_option(const command_option *option)
{
    int column = option->id < OPTION_LONG ? printf("  -%c, ", option->id) : printf("      ");
    column += printf("--%s", option->name);
    if (option->value != NULL)
        column += printf(" %s", option->value);
    if (column >= HELP_COLUMN - 1) {
        putchar('\n');
        column = 0;
    }
    printf("%*s%s\n", HELP_COLUMN - column, "", option->help);
}

void command_print_help(const command *self)
{
    printf("Usage: loaderx %s %s\n%s\n\nOptions:\n", self->name, self->arguments, self->summary);
    const command_option *option;
    for (size_t i = 0; (option = get_option(self, i)) != NULL; i++)
        print_option(option);
    printf("\n%s%sExamples:\n%s\n", self->notes, self->notes[0] != '\0' ? "\n" : "",
           self->examples);
    printf("Exit status: 0 success, 1 data or system failure, 2 usage error.\n"
           "More: man loaderx-%s\n",
           self->name);
}
