/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The file meta.json: its text, its checksum, and how it is replaced.
 */
#ifndef LX_ZRECORD_META_FILE_H
#define LX_ZRECORD_META_FILE_H

#include "zrecord/format/meta.h"

/** Writes the checksum of all that follows it into @p text, which begins with #LX__META_STAMP. */
void lx__meta_stamp(char *text, size_t size);

/** Whether the checksum counts. It does, but for a repair: that reads what it is to restamp. */
typedef enum lx__meta_trust { LX__META_CHECK, LX__META_ANY_CHECKSUM } lx__meta_trust;

/** Parses @p size bytes at @p text, all of them hostile. */
lx_status lx__meta_parse(lx__meta *meta, const char *text, size_t size, lx__meta_trust trust,
                         lx_error *error);

/** Reads an open meta.json. */
lx_status lx__meta_read(lx__meta *meta, const lx__file *file, lx__meta_trust trust,
                        lx_error *error);

/** Reads the meta.json that is in @p directory now.
 * @retval LX_ERR_NOT_FOUND  There is none. */
lx_status lx__meta_load(lx__meta *meta, const lx__file *directory, lx_error *error);

/** Writes a successor, makes it durable, and puts it in place of meta.json (rename and sync of
 * the directory). Everything that it names must be durable before.
 * @retval LX_ERR_LIMIT     It would be larger than what is read.
 * @retval LX_ERR_POISONED  A sync failed; @p error has LX_ERR_IO. */
lx_status lx__meta_replace(const lx__meta *meta, const lx__file *directory, lx_error *error);

#endif
