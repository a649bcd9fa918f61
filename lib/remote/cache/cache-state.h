/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The file `state` of a cache: how many bytes are reserved, and the number of the boot.
 *
 * It has 32 bytes; all numbers are little-endian:
 *
 *     offset  bytes  content
 *     0       4      magic, "LXCS"
 *     4       4      version, 1
 *     8       8      id of the boot (base/boot-id.h)
 *     16      8      number of bytes that are reserved
 *     24      2      number of the boot, 1 to 65535: counts changes of the id, and skips 0
 *     26      2      0
 *     28      4      CRC-32C of the bytes before it
 *
 * Three bytes of the file are locked, by open file description locks: #LX__CACHE_CHANGE while the
 * file is changed, #LX__CACHE_PRESENT by each process that has the cache open, shared, and
 * #LX__CACHE_REMOVAL while datasets are removed.
 *
 * A process that is killed after it has reserved bytes and before it has stored them leaves the
 * number too high; so does a process that could not lock the file in time to return bytes. The next
 * process that opens the cache while no other has it open counts the bytes on the disk. These
 * include the entries of pages, which are not reserved and add 0.2 %.
 */
#ifndef LX_REMOTE_CACHE_STATE_H
#define LX_REMOTE_CACHE_STATE_H

#include <pthread.h>

#include "base/file.h"

#define LX__CACHE_STATE_NAME "state"

/** The bytes that are locked. */
enum { LX__CACHE_CHANGE, LX__CACHE_PRESENT, LX__CACHE_REMOVAL };

typedef struct lx__cache_state {
    lx__file file;         /**< Closed if a child of fork() could not open it again. */
    pthread_mutex_t mutex; /**< Excludes threads where the locks exclude only processes. */
    uint64_t patience_ns;  /**< How long to wait for another process. */
    uint64_t retry;        /**< Until this time, waiting for another process is pointless. */
} lx__cache_state;

/** What the file contains. */
typedef struct lx__cache_content {
    uint64_t boot_id, reserved;
    uint16_t boot;
} lx__cache_content;

/** Opens the file, or creates it empty; locks nothing. On failure, there is nothing to close. */
lx_status lx__cache_state_open(lx__cache_state *self, const lx__file *directory, lx_error *error);
void lx__cache_state_close(lx__cache_state *self);

/**
 * Keeps other threads and processes from changing the file, until lx__cache_state_unlock().
 *
 * @retval LX_ERR_BUSY  Another process did not release the lock in time, for example because it was
 *                      stopped. For the next 10 seconds, calls do not wait and return this, too.
 */
lx_status lx__cache_state_lock(lx__cache_state *self, lx_error *error);
void lx__cache_state_unlock(lx__cache_state *self);

/**
 * Reads the file. If it is not locked, it may be changing, and its CRC may differ.
 *
 * @retval LX_ERR_NOT_FOUND    The file is empty, or not of a cache.
 * @retval LX_ERR_CORRUPT      The CRC differs.
 * @retval LX_ERR_UNSUPPORTED  The version is unknown.
 */
lx_status lx__cache_state_read(lx__cache_state *self, lx__cache_content *content, lx_error *error);

/** Writes the file, which the caller has locked. */
lx_status lx__cache_state_write(lx__cache_state *self, const lx__cache_content *content,
                                lx_error *error);

/** Adds @p bytes to those that are reserved, unless more than @p limit would be. Returns whether
 * they were added. */
bool lx__cache_state_add(lx__cache_state *self, uint64_t bytes, uint64_t limit);

/** Subtracts @p bytes from those that are reserved. */
void lx__cache_state_subtract(lx__cache_state *self, uint64_t bytes);

/** In a child of fork(): opens the file again, and takes a lock of its own on #LX__CACHE_PRESENT.
 * If that is not possible, nothing is added from then on. */
void lx__cache_state_take_over(lx__cache_state *self, const lx__file *directory);

#endif
