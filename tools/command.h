/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A subcommand: a table of its options, used for parsing and for its help.
 *
 * The shell completion parses that help, and a test compares the manual pages with the help, so
 * that all of them stay consistent.
 */
#ifndef LX_TOOLS_COMMAND_H
#define LX_TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <loaderx/status.h>

/** An option. */
typedef struct command_option {
    int id;            /**< The letter of its short form, or a number starting at #OPTION_LONG. */
    const char *name;  /**< Without the dashes. */
    const char *value; /**< Name of its value, or "a|b|c" for a choice; NULL: no value. */
    const char *help;
} command_option;

/** More than the number of options of any subcommand. */
#define COMMAND_OPTIONS_MAX 62

/** Numbers of options that several subcommands share. Options without a letter begin at
 * #OPTION_LONG, and options of a single subcommand begin at #OPTION_OWN. */
enum {
    OPTION_LONG = 256,
    OPTION_JSON = OPTION_LONG,
    OPTION_CACHE,
    OPTION_LIMIT,
    OPTION_TIER,
    OPTION_ENDPOINT,
    OPTION_REGION,
    OPTION_ANONYMOUS,
    OPTION_OWN
};

#define QUIET_OPTION(what)                                                                         \
    {                                                                                              \
        'q', "quiet", NULL, what                                                                   \
    }
#define JSON_OPTION(what)                                                                          \
    {                                                                                              \
        OPTION_JSON, "json", NULL, what                                                            \
    }

/** A subcommand. */
typedef struct command {
    const char *name;
    const char *arguments;         /**< For the usage line. */
    const char *summary;           /**< One line. */
    const command_option *options; /**< @ref option_count options; --help is added. */
    size_t option_count;
    const char *notes;    /**< Paragraphs of the help, ending in a newline; may be "". */
    const char *examples; /**< Lines of the help. */

    /** The exit status is as for diff(1): 1 if run() returns #LX_ERR_MISMATCH, after it has printed
     * the differences; 2 after any failure. */
    bool compares;
    /** The exit status is 3 if run() returns #LX_ERR_MISMATCH and sets no error, after it has
     * printed what it found. */
    bool finds;
    /** It may read a remote dataset: --cache and other options are added, which elsewhere_take()
     * takes. */
    bool fetches;
    /** It may read a remote dataset, but not through a cache: only the other ones of these
     * options are added. */
    bool connects;
    /** Runs the subcommand. Returns #LX_END if only help was requested. */
    lx_status (*run)(int argc, char **argv, lx_error *error);
} command;

/** The callbacks of a subcommand for its command line, called for each option and argument, in
 * order. Values point into argv and may be modified. */
typedef struct command_line {
    lx_status (*take_option)(void *user, const command_option *option, char *value,
                             lx_error *error);
    lx_status (*take_argument)(void *user, const char *text, lx_error *error);
    void *user; /**< Passed to both callbacks. */
} command_line;

/**
 * Parses the command line of a subcommand; argv[0] is its name.
 *
 * @retval LX_OK            The whole command line was accepted.
 * @retval LX_END           --help was given, and the help was printed.
 * @retval LX_ERR_ARGUMENT  An option is unknown, or has a superfluous or missing value.
 * @return Otherwise, the status of a failed callback.
 */
lx_status command_parse(const command *self, int argc, char **argv, const command_line *line,
                        lx_error *error);

/** Implements take_argument for subcommands whose only argument is DIR. */
lx_status command_take_directory(const char **directory, const char *text, lx_error *error);

/** Implements take_argument for subcommands without arguments. */
lx_status command_take_nothing(void *user, const char *text, lx_error *error);

/** Fails if DIR was not given. */
lx_status command_need_directory(const char *directory, lx_error *error);

/** Prints the help of a subcommand to standard output. */
void command_print_help(const command *self);

extern const command backup_command, bench_command, blend_command, cache_command, card_command,
    checkpoint_command, copy_command, diff_command, digest_command, export_command, get_command,
    import_command, join_command, pack_command, plan_command, prune_command, pull_command,
    push_command, rebalance_command, recordio_command, repair_command, sample_command, seal_command,
    split_command, stat_command, train_command, unseal_command, verify_command, warm_command;

#endif
