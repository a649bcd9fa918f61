/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The command line of subcommands that change how a dataset is kept: DIR, --quiet, --json.
 */
#ifndef LX_TOOLS_UPKEEP_H
#define LX_TOOLS_UPKEEP_H

#include "command.h"

/** What the command line asks for. */
typedef struct upkeep {
    const char *path;
    bool quiet, json;
} upkeep;

/** As command_parse(); DIR has to be there. */
lx_status upkeep_parse(upkeep *request, const command *self, int argc, char **argv,
                       lx_error *error);

#endif
