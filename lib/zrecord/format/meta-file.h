/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Parses, reads, stamps and replaces meta.json.
 */
#ifndef LX_ZRECORD_META_FILE_H
#define LX_ZRECORD_META_FILE_H

#include "zrecord/format/meta.h"

#define LX__META_LIMIT ((size_t)16 << 20)
/** The start of meta.json; the zeros are a placeholder for the checksum. */
#define LX__META_STAMP "{\"checksum\": \"00000000\","

/** Fills in the checksum of @p text, which must begin with #LX__META_STAMP. The checksum covers all
 * bytes after the stamp. */
void lx__meta_stamp(char *text, size_t size);

/** Whether to check the checksum. Only repair skips the check, to read a file that it may
 * restamp. */
typedef enum lx__meta_checksum { LX__META_CHECK, LX__META_ANY_CHECKSUM } lx__meta_checksum;

/** Parses the @p size bytes at @p text, which may be hostile. */
LX_API lx_status lx__meta_parse(lx__meta *meta, const char *text, size_t size,
                                lx__meta_checksum checksum, lx_error *error);

/** Reads meta.json from an open file. */
lx_status lx__meta_read(lx__meta *meta, const lx__file *file, lx__meta_checksum checksum,
                        lx_error *error);

/** Opens and reads meta.json in @p directory.
 * @retval LX_ERR_NOT_FOUND  There is no meta.json in @p directory. */
LX_API lx_status lx__meta_load(lx__meta *meta, const lx__file *directory, lx_error *error);

/** Reads meta.json.new, which marks what was interrupted. If there is none, or none that is valid,
 * sets @p found to false and zeroes @p meta. Fails only if it cannot be read. */
lx_status lx__meta_load_new(lx__meta *meta, const lx__file *directory, bool *found,
                            lx_error *error);

/** Writes meta.json.new and makes it durable, except for its entry in the directory. To be renamed
 * to meta.json later. */
lx_status lx__meta_write_new(const lx__meta *meta, const lx__file *directory, lx_error *error);

/** Replaces meta.json atomically: writes a temporary file, syncs it, renames it and syncs the
 * directory. All files that the new meta.json names must be durable before the call.
 * @retval LX_ERR_LIMIT     The file would exceed the size that readers accept.
 * @retval LX_ERR_POISONED  A sync failed; the status in @p error is LX_ERR_IO. */
lx_status lx__meta_replace(const lx__meta *meta, const lx__file *directory, lx_error *error);

#endif
