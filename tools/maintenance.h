/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The command line of subcommands for maintenance: DIR, --quiet, --json, --wait.
 */
#ifndef LX_TOOLS_MAINTENANCE_H
#define LX_TOOLS_MAINTENANCE_H

#include "command.h"

/** The arguments. */
typedef struct maintenance_request {
    const char *path;
    bool quiet, json, wait;
} maintenance_request;

/** Like command_parse(); also fails if DIR is missing. */
lx_status maintenance_parse(maintenance_request *request, const command *self, int argc,
                            char **argv, lx_error *error);

#endif
