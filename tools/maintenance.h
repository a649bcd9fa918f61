/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The command line of subcommands that change how a dataset is kept: DIR, --quiet, --json.
 */
#ifndef LX_TOOLS_MAINTENANCE_H
#define LX_TOOLS_MAINTENANCE_H

#include "command.h"

/** What the command line asks for. */
typedef struct maintenance {
    const char *path;
    bool quiet, json;
} maintenance;

/** As command_parse(); DIR has to be there. */
lx_status maintenance_parse(maintenance *request, const command *self, int argc, char **argv,
                            lx_error *error);

#endif
