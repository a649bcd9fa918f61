/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Names of a dataset's files. Each function writes at most LX__NAME_SIZE bytes.
 */
#ifndef LX_ZRECORD_NAMES_H
#define LX_ZRECORD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "zrecord/format/constants.h"

/** The log of a generation, in the dataset's directory. */
void lx__log_name(uint64_t generation, char *name);

/** A chunk, in the directory LX__CHUNK_DIRECTORY. */
void lx__chunk_name(uint32_t id, char *name);

/** A table, in the dataset's directory; @p kind is LX__OFFSET_KIND or LX__CHECK_KIND. */
void lx__table_name(const char *stem, const char *kind, uint32_t table_generation, char *name);

/** Whether @p name is that of a log, and of which generation. */
bool lx__name_is_log(const char *name, uint64_t *generation);

/** Whether @p name is that of a chunk, and of which. */
bool lx__name_is_chunk(const char *name, uint64_t *id);

/** Whether @p name is that of a table of either kind: then of which @p stem, LX__NAME_SIZE bytes,
 * and of which table generation. */
bool lx__name_split_table(const char *name, char *stem, uint64_t *table_generation);

/** Whether @p name is that of a dictionary, and of which @p stem. */
bool lx__name_split_dict(const char *name, char *stem);

/** Whether @p stem may name files: a field's name, or one, "~" and a number. Nothing of that form
 * leads out of the directory. */
bool lx__stem_valid(const char *stem);

/** The dictionary of a field, in the dataset's directory. */
void lx__dict_name(const char *stem, char *name);

#define LX__OFFSET_KIND "offset"
#define LX__CHECK_KIND "check"
#define LX__DICT_KIND "dict"

#endif
