/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Pages in memory, which replace each other in the order in which they came: for what the
 * cache does not admit.
 *
 * An order that reads each record once an epoch is done with a page some time after it came, so the
 * oldest page is the one to replace. If pages that were read will be needed again, in the next
 * epoch, they must be renewed, because they would otherwise be replaced first; or dropped, if others
 * of their block are missing, so that all can be fetched with one request.
 */
#ifndef LX_REMOTE_PAGE_RING_H
#define LX_REMOTE_PAGE_RING_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/status.h>

#include "remote/cache/page.h"

typedef struct lx__page_ring lx__page_ring;

/** Makes a ring for up to @p bytes of pages. Its memory is allocated as pages come. */
lx_status lx__page_ring_new(uint64_t bytes, lx__page_ring **ring, lx_error *error);
void lx__page_ring_free(lx__page_ring *ring);

/** Stores the pages that @p data consists of; all but a file's last page are whole. Any thread may
 * call this and the functions below. @p file is a number that the caller chooses. Pages that the
 * ring has no memory for are not stored. */
void lx__page_ring_store(lx__page_ring *ring, uint32_t file, uint64_t first, const uint8_t *data,
                         size_t size);

/** Returns how many of the pages, from the first, are in the ring. */
uint64_t lx__page_ring_count_present(lx__page_ring *ring, uint32_t file, lx__pages pages);

/** Copies bytes, up to the first that is not in the ring; returns their number. */
size_t lx__page_ring_read(lx__page_ring *ring, uint32_t file, uint64_t offset, void *data,
                          size_t size);

/** Makes those of the pages that were read as young as pages that come now. Does nothing as long as
 * no page was replaced. */
void lx__page_ring_renew(lx__page_ring *ring, uint32_t file, lx__pages pages);

/** Removes those of the pages that were read. Does nothing as long as no page was replaced. */
void lx__page_ring_drop_read(lx__page_ring *ring, uint32_t file, lx__pages pages);

/** Removes pages. */
void lx__page_ring_drop(lx__page_ring *ring, uint32_t file, lx__pages pages);

/** Returns how many pages were replaced before they were read. */
uint64_t lx__page_ring_count_unread(lx__page_ring *ring);

/** In a child of fork(): empties the ring. */
void lx__page_ring_take_over(lx__page_ring *ring);

#endif
