/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief File names in a dataset. The functions write names into buffers of LX__NAME_SIZE bytes.
 */
#ifndef LX_ZRECORD_NAMES_H
#define LX_ZRECORD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

#define LX__META_NAME "meta.json"
#define LX__META_NEW_NAME "meta.json.new"
#define LX__LOCK_NAME "LOCK"
#define LX__WAL_NAME "LOG"
#define LX__CHUNK_DIRECTORY "chunk"
/** The longest path of a part of a joined dataset, in names and in bytes. */
#define LX__PART_DEPTH_MAX 8
#define LX__PART_PATH_MAX 200
/** Size of a buffer for the path of any chunk: that of a part, "/chunk/" and the name. */
#define LX__CHUNK_PATH_SIZE 224
/** Size of a buffer for any name; the longest is a stem with "~" and a number, followed by
 * ".offset." and a number. */
#define LX__NAME_SIZE 160

/** Writes the name of a generation's WAL, which is in the dataset directory. */
LX_API void lx__wal_name(uint64_t generation, char *name);

/** Writes the name of a chunk, which is in the directory LX__CHUNK_DIRECTORY. */
LX_API void lx__chunk_name(uint32_t id, char *name);

/** Whether @p path can be that of a part of a joined dataset: names joined by slashes, which cannot
 * lead out of the directory. */
LX_API bool lx__part_path_valid(const char *path);

/** Writes the name of a table, which is in the dataset directory; @p kind is LX__OFFSET_KIND or
 * LX__CHECK_KIND. */
void lx__table_name(const char *stem, const char *kind, uint32_t table_generation, char *name);

/** Whether @p name is a WAL name; sets @p generation to its generation. */
LX_API bool lx__name_is_log(const char *name, uint64_t *generation);

/** Whether @p name is a chunk name; sets @p id to its id. */
LX_API bool lx__name_is_chunk(const char *name, uint64_t *id);

/** Whether @p name is the name of a table of either kind; sets @p stem (LX__NAME_SIZE bytes) and
 * @p table_generation to its parts. */
LX_API bool lx__name_split_table(const char *name, char *stem, uint64_t *table_generation);

/** Whether @p name is a dictionary name; sets @p stem (LX__NAME_SIZE bytes) to its stem. */
LX_API bool lx__name_split_dict(const char *name, char *stem);

/** Whether @p stem is valid: a field name, optionally followed by "~" and a number. A valid stem
 * cannot lead out of the directory. */
bool lx__stem_valid(const char *stem);

/** Writes the name of a field's dictionary, which is in the dataset directory. */
LX_API void lx__dict_name(const char *stem, char *name);

#define LX__OFFSET_KIND "offset"
#define LX__CHECK_KIND "check"
#define LX__DICT_KIND "dict"

#endif
