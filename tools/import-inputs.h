/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Imports inputs of a format, such as JSON Lines, with an lx_importer.
 */
#ifndef LX_TOOLS_IMPORT_INPUTS_H
#define LX_TOOLS_IMPORT_INPUTS_H

#include <jansson.h>
#include <stdbool.h>

#include <loaderx/import.h>

#include "column.h"
#include "progress.h"

/** The value of --field or --option: a name and what is set. */
typedef struct import_pair {
    const char *name, *value;
} import_pair;

/** An import of inputs. Members from @c result on are what it did. */
typedef struct import_inputs {
    const char *path;   /**< The dataset. */
    const char *format; /**< NULL: --format was not given. */
    char **inputs;
    size_t input_count;
    import_pair *fields, *options;
    size_t field_count, option_count;
    const column *columns; /**< Their names and compressions; the name "*" means all others. */
    size_t column_count;
    bool append, replace, resume, skip, seal;
    progress *bar;
    lx_importer *importer;
    lx_import_result result;
} import_inputs;

/** Adds an element with room for one more to a list that begins as NULL; NULL if out of memory. */
void *import_inputs_grow(void *list, size_t count, size_t size);

/** Runs the import; call import_inputs_end() afterwards, even on failure. */
lx_status import_inputs_run(import_inputs *self, const lx_writer_options *options, lx_error *error);

/** The bad records that were skipped, for the summary; NULL if memory runs out. */
json_t *import_inputs_list_bad(const import_inputs *self);

/** Prints them to standard error. */
void import_inputs_print_bad(const import_inputs *self);

void import_inputs_end(import_inputs *self);

#endif
