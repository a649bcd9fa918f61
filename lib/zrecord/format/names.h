/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Names of a dataset's files. Functions write names to buffers of LX__NAME_SIZE bytes.
 */
#ifndef LX_ZRECORD_NAMES_H
#define LX_ZRECORD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define LX__META_NAME "meta.json"
#define LX__META_NEW_NAME "meta.json.new"
#define LX__LOCK_NAME "LOCK"
#define LX__LOG_NAME "LOG"
#define LX__CHUNK_DIRECTORY "chunk"
/** Size of a buffer for any name; the longest is a stem, "~", a number, ".offset.", a number. */
#define LX__NAME_SIZE 160

/** Makes the name of the WAL of a generation, in the dataset's directory. */
void lx__log_name(uint64_t generation, char *name);

/** Makes the name of a chunk, in the directory LX__CHUNK_DIRECTORY. */
void lx__chunk_name(uint32_t id, char *name);

/** Makes the name of a table, in the dataset's directory; @p kind is LX__OFFSET_KIND or
 * LX__CHECK_KIND. */
void lx__table_name(const char *stem, const char *kind, uint32_t table_generation, char *name);

/** Whether @p name is the name of a WAL; @p generation receives its generation. */
bool lx__name_is_log(const char *name, uint64_t *generation);

/** Whether @p name is the name of a chunk; @p id receives its id. */
bool lx__name_is_chunk(const char *name, uint64_t *id);

/** Whether @p name is the name of a table of either kind; @p stem (LX__NAME_SIZE bytes) and
 * @p table_generation receive its parts. */
bool lx__name_split_table(const char *name, char *stem, uint64_t *table_generation);

/** Whether @p name is the name of a dictionary; @p stem (LX__NAME_SIZE bytes) receives its stem. */
bool lx__name_split_dict(const char *name, char *stem);

/** Whether @p stem is valid: a field's name, optionally with "~" and a number. A valid stem cannot
 * lead out of the directory. */
bool lx__stem_valid(const char *stem);

/** Makes the name of a field's dictionary, in the dataset's directory. */
void lx__dict_name(const char *stem, char *name);

#define LX__OFFSET_KIND "offset"
#define LX__CHECK_KIND "check"
#define LX__DICT_KIND "dict"

#endif
