/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the command line of "loaderx import" asks for. With --idx and --npy, importer.c
 * imports the columns; with --format, import-inputs.c imports the files.
 */
#ifndef LX_TOOLS_IMPORT_REQUEST_H
#define LX_TOOLS_IMPORT_REQUEST_H

#include "command.h"
#include "import-inputs.h"
#include "importer.h"
#include "threads.h"

/** An option of which the meaning depends on other options. */
typedef struct import_setting {
    const command_option *option;
    const char *field; /**< NULL: --level of all fields. */
    const char *value; /**< NULL: --dictionary without a size. */
} import_setting;

/** The arguments. */
typedef struct import_request {
    const char *path;
    column *columns;
    size_t count;
    import_setting *settings; /**< --compress, --dictionary and --level, as given. */
    size_t setting_count;
    import_inputs inputs;
    bool append, replace, seal, quiet, json;
    bool inputs_given; /**< An option was given that requires --format. */
    bool chunk_given;
    char *former; /**< Path of the replaced dataset if it could not be removed. */
    threads threads;
    uint64_t chunk_records, chunk_bytes;
} import_request;

/** Imports, and prints the summary. */
lx_status import_request_run(import_request *r, lx_error *error);

/** Frees what parsing and running have allocated. */
void import_request_end(import_request *r);

#endif
