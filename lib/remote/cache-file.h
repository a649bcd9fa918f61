/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file of the cache, with the pages of one file of a dataset that were fetched.
 *
 * The file consists of groups: a page with an entry of 8 bytes for each of 512 pages, then these
 * pages. Groups that were not fetched are holes. An entry contains the CRC-32C of its page, the
 * number of bytes that the page has, and the boot in which the page was written or verified; a zero
 * entry means that the page is absent. All numbers are little-endian.
 *
 * Any number of processes share the file. It is never mapped. A page is written before its entry,
 * so a process that is killed leaves at most a page without an entry. After a loss of power, any
 * page or entry may be missing or stale: a page whose entry is of an earlier boot is verified
 * before it is used, and absent if its CRC differs. An entry is never removed while the cache is in
 * use, except by lx__cache_file_drop(). So a process may remember which pages are present.
 *
 * A claim is an open file description lock on the bytes of the pages: it keeps other processes from
 * fetching the same pages, and ends with the process. It does not exclude threads of one process.
 */
#ifndef LX_REMOTE_CACHE_FILE_H
#define LX_REMOTE_CACHE_FILE_H

#include <stdbool.h>

#include "base/file.h"
#include "remote/page.h"

typedef struct lx__cache_file lx__cache_file;

/**
 * Opens or creates a file of the cache.
 *
 * @param boot  The number of this boot; see lx__cache_get_boot(). Not 0.
 * @param size  The length of the dataset's file. It may be more than when the cache file was
 *              created, as files of datasets grow.
 * @retval LX_ERR_IO  The file cannot be created: the caller does without it.
 */
lx_status lx__cache_file_open(const lx__file *directory, const char *name, uint16_t boot,
                              uint64_t size, lx__cache_file **file, lx_error *error);

void lx__cache_file_close(lx__cache_file *file);

/** Returns how many of the pages, from the first, are present; or, if the first is absent, 0.
 * Fast for pages that this process has found before. A page that cannot be read is absent. */
uint64_t lx__cache_file_count_present(lx__cache_file *file, lx__pages pages);

/** Reads bytes of pages that lx__cache_file_count_present() has found.
 * @retval LX_ERR_IO  The disk failed. */
lx_status lx__cache_file_read(lx__cache_file *file, void *data, size_t size, uint64_t offset,
                              lx_error *error);

/** Claims pages for this process; false: another process has claimed some of them. Never waits. */
bool lx__cache_file_claim(lx__cache_file *file, lx__pages pages);
void lx__cache_file_unclaim(lx__cache_file *file, lx__pages pages);

/** Stores the pages that @p data consists of; all but the file's last page are whole. The caller
 * has claimed them. On failure, they stay absent. */
lx_status lx__cache_file_store(lx__cache_file *file, uint64_t first, const uint8_t *data,
                               size_t size, lx_error *error);

/** Makes pages absent. */
void lx__cache_file_drop(lx__cache_file *file, lx__pages pages);

/** In a child of fork(): opens the file again, so that the child's claims are its own. */
void lx__cache_file_take_over(lx__cache_file *file);

#endif
