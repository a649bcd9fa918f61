/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A subcommand: one table of what it takes, from which it is parsed and its help is made.
 *
 * The completion reads that help, and a test holds the manual pages to it, so none of them drifts.
 */
#ifndef LX_TOOLS_COMMAND_H
#define LX_TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <loaderx/status.h>

/** One option. */
typedef struct command_option {
    int id;            /**< The letter of its short form, or a number from #OPTION_LONG. */
    const char *name;  /**< Without the dashes. */
    const char *value; /**< What it is given, or "a|b|c" to choose from; NULL: nothing. */
    const char *help;
} command_option;

/** More options than any subcommand has. */
#define COMMAND_OPTIONS_MAX 62

/** Options of which several subcommands have the same. Those without a letter begin at
 * #OPTION_LONG, those of one subcommand alone at #OPTION_OWN. */
enum { OPTION_LONG = 256, OPTION_JSON = OPTION_LONG, OPTION_OWN };

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
    const char *arguments;         /**< As the usage line shows them. */
    const char *summary;           /**< One line. */
    const command_option *options; /**< @ref option_count of them; --help is added. */
    size_t option_count;
    const char *notes;    /**< Paragraphs for its help, ending in a newline; may be "". */
    const char *examples; /**< Lines for its help. */

    /** Does it. #LX_END: only help was asked for. */
    lx_status (*run)(int argc, char **argv, lx_error *error);
} command;

/** What a subcommand does with its command line: each option, and each argument, in order. Values
 * are argv's memory, which may be changed. */
typedef struct command_line {
    lx_status (*take_option)(void *user, const command_option *option, char *value,
                             lx_error *error);
    lx_status (*take_argument)(void *user, const char *text, lx_error *error);
    void *user; /**< Given to both. */
} command_line;

/**
 * Goes through the command line of a subcommand, whose name is argv[0].
 *
 * @retval LX_OK            Each of it was taken.
 * @retval LX_END           --help was there, and is printed.
 * @retval LX_ERR_ARGUMENT  It has an unknown option, or one with too much or too little.
 * @return Else what a callback answered.
 */
lx_status command_parse(const command *self, int argc, char **argv, const command_line *line,
                        lx_error *error);

/** For take_argument of subcommands whose only argument is DIR. */
lx_status command_take_directory(const char **directory, const char *text, lx_error *error);

/** The take_argument of subcommands that have options alone. */
lx_status command_take_nothing(void *user, const char *text, lx_error *error);

/** Fails if DIR was not given. */
lx_status command_need_directory(const char *directory, lx_error *error);

/** Prints the help of a subcommand on standard output. */
void command_print_help(const command *self);

extern const command backup_command, blend_command, checkpoint_command, copy_command, export_command,
    get_command, import_command, rebalance_command, repair_command, sample_command, seal_command,
    split_command, stat_command, unseal_command, verify_command;

#endif
