/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file of the cache, with the pages of one file of a dataset that were fetched.
 *
 * The file has no header. It consists of groups, each of which has an entry page and 512 data pages
 * of 4 KiB. The entry page contains an entry for each data page; all numbers are little-endian:
 *
 *     offset  bytes  content
 *     0       4      CRC-32C of the bytes of the page
 *     4       2      number of these bytes, 1 to 4096
 *     6       2      number of the boot in which the page was written or verified; 0: absent
 *
 * Page p of the dataset's file is in group g = p / 512: its entry is at 4096 * 513 * g + 8 *
 * (p % 512), and its bytes are at 4096 * (p + g + 1). What was not fetched is a hole.
 *
 * Any number of processes share the file. It is never mapped. A page is written before its entry,
 * so a process that is killed leaves at most a page without an entry. After a loss of power, any
 * page or entry may be missing or stale: a page whose entry is of an earlier boot is verified
 * before it is used, and absent if its CRC differs. A page of this boot is used without
 * verification, except after lx__cache_file_distrust(). A page whose entry has fewer bytes than the
 * dataset's file has there is absent: the file has grown since.
 *
 * An entry is never removed while the cache is in use, except by lx__cache_file_drop(). So a
 * process remembers which pages it has found, and asks the system only about the others.
 *
 * A claim is an open file description lock on the bytes of the pages: it keeps other processes from
 * fetching the same pages, and ends with the process and with its children that have not called
 * lx__cache_file_take_over(). It does not exclude threads of one process.
 * Any thread may call any function at any time, except lx__cache_file_close() and
 * lx__cache_file_take_over().
 */
#ifndef LX_REMOTE_CACHE_FILE_H
#define LX_REMOTE_CACHE_FILE_H

#include <stdbool.h>

#include "base/file.h"
#include "remote/cache/page.h"

typedef struct lx__cache_file lx__cache_file;

/**
 * Opens or creates a file of the cache. If this fails, the caller does without it.
 *
 * @param directory  Its path must be absolute, for lx__cache_file_take_over().
 * @param boot       The number of this boot; see lx__cache_get_boot(). Not 0.
 * @param size       The length of the dataset's file. It may be more than when the cache file was
 *                   created, as files of datasets grow.
 * @retval LX_ERR_IO       The file cannot be opened or created.
 * @retval LX_ERR_CORRUPT  The name is a symbolic link, or not a regular file.
 * @retval LX_ERR_LIMIT    @p size is more than 2^62.
 */
lx_status lx__cache_file_open(const lx__file *directory, const char *name, uint16_t boot,
                              uint64_t size, lx__cache_file **file, lx_error *error);

/** Lets this process verify each page that it did not store itself, once. In a table, no other
 * checksum reports a hole if values may be missing. Call this before the file is used. */
void lx__cache_file_distrust(lx__cache_file *file);

/** Closes the file, and ends its claims. NULL is allowed. */
void lx__cache_file_close(lx__cache_file *file);

/** Returns how many of the pages, from the first, are present; or, if the first is absent, 0.
 * Fast for pages that this process has found before. A page that cannot be read is absent. */
uint64_t lx__cache_file_count_present(lx__cache_file *file, lx__pages pages);

/** Reads bytes of pages that lx__cache_file_count_present() has found. If this fails, the caller
 * drops the pages.
 * @retval LX_ERR_IO       The disk failed.
 * @retval LX_ERR_CORRUPT  Somebody has truncated the file. */
lx_status lx__cache_file_read(lx__cache_file *file, void *data, size_t size, uint64_t offset,
                              lx_error *error);

/** Claims pages for this process; false: another process has claimed some of them. Never waits.
 * If the file system has no locks, true: processes may then fetch the same pages. */
bool lx__cache_file_claim(lx__cache_file *file, lx__pages pages);
void lx__cache_file_unclaim(lx__cache_file *file, lx__pages pages);

/** Stores the pages that @p data consists of; all but the file's last page are whole. The caller
 * has claimed them. On failure, none of them is present.
 * @retval LX_ERR_IO     The disk is full, or it failed.
 * @retval LX_ERR_RANGE  The file does not have these pages. */
lx_status lx__cache_file_store(lx__cache_file *file, uint64_t first, const uint8_t *data,
                               size_t size, lx_error *error);

/** Makes pages absent. If the disk does not let it, this process has no page of the file any more,
 * and stores none. */
void lx__cache_file_drop(lx__cache_file *file, lx__pages pages);

/** In a child of fork(): opens the file again, so that the child's claims are its own. If that is
 * not possible, for example because the cache was removed, all pages are absent from then on, and
 * lx__cache_file_store() fails. */
void lx__cache_file_take_over(lx__cache_file *file);

#endif
