/* SPDX-License-Identifier: MIT */
/* loaderx: dispatches to the subcommands. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/version.h>

#include "command.h"
#include "failure.h"
#include "interrupt.h"

static const command *const commands[] = {
    &import_command,     &export_command,    &copy_command,     &stat_command,   &card_command,
    &get_command,        &verify_command,    &digest_command,   &diff_command,   &repair_command,
    &backup_command,     &push_command,      &pull_command,     &prune_command,  &join_command,
    &checkpoint_command, &rebalance_command, &seal_command,     &unseal_command, &train_command,
    &warm_command,       &plan_command,      &cache_command,    &bench_command,  &sample_command,
    &blend_command,      &split_command,     &recordio_command, &pack_command};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_usage(FILE *to)
{
    fprintf(to, "Usage: loaderx COMMAND [ARGUMENT...]\n"
                "Manages datasets of training records.\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\nOptions:\n"
                "  -h, --help     print this help; loaderx COMMAND --help prints its arguments\n"
                "  -V, --version  print the version of the command and of the library\n"
                "\nExit status: 0 success, 1 data or system failure, 2 usage error.\n"
                "More: man loaderx\n");
}

static lx_status fail_command(const char *name, lx_error *error)
{
    char names[512] = "";
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", commands[i]->name);
    }
    return lx_fail(error, LX_ERR_ARGUMENT, "unknown %s '%.64s'; the commands are:%s",
                   name[0] == '-' ? "option" : "command", name, names);
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static bool is_option(const char *word, const char *letter, const char *name)
{
    return strcmp(word, letter) == 0 || strcmp(word, name) == 0;
}

/** Handles the options of the command itself. */
static lx_status run_itself(const char *word, lx_error *error)
{
    if (is_option(word, "-h", "--help"))
        print_usage(stdout);
    else if (is_option(word, "-V", "--version"))
        printf("loaderx %s (libloaderx %s)\n", LX_VERSION_STRING, lx_get_version());
    else
        return fail_command(word, error);
    return LX_OK;
}

/** Reports a failure if the output could not be written. */
static lx_status flush_output(lx_error *error)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return LX_OK;
    return lx_fail_errno(error, errno, NULL, "cannot write the output");
}

/** After a usage error, prints where to find help. */
static void print_where_help_is(const lx_error *error, const command *chosen)
{
    if (error->status != LX_ERR_ARGUMENT)
        return;
    if (chosen != NULL)
        fprintf(stderr, "'loaderx %s --help' prints its arguments.\n", chosen->name);
    else
        fprintf(stderr, "'loaderx --help' lists the commands.\n");
}

int main(int argc, char **argv)
{
    lx_error error = LX_ERROR_INIT;
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_CALL;
    }
    /* With this, exceeding the file size limit makes a write fail, which can be undone, instead of
     * raising a fatal signal. */
    signal(SIGXFSZ, SIG_IGN);
    warnings_print();
    const command *chosen = find_command(argv[1]);
    lx_status status = chosen != NULL ? chosen->run(argc - 1, argv + 1, &error)
                                      : run_itself(argv[1], &error);
    bool compares = chosen != NULL && chosen->compares;
    bool differs = compares && status == LX_ERR_MISMATCH;
    bool found = chosen != NULL && chosen->finds && status == LX_ERR_MISMATCH &&
                 error.status == LX_OK;
    if (status >= 0 || differs || found)
        status = flush_output(&error);
    if (status >= 0)
        return differs ? EXIT_DATA : found ? EXIT_FOUND : EXIT_DONE;
    failure_print(&error, chosen != NULL ? chosen->name : NULL);
    print_where_help_is(&error, chosen);
    fflush(stdout);
    if (status == LX_ERR_CANCELED)
        return 128 + interrupted();
    return compares ? EXIT_CALL : failure_exit_status(&error);
}
