/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The id of this boot of the system: what was written in another boot may have been lost in
 * part.
 */
#ifndef LX_BASE_BOOT_ID_H
#define LX_BASE_BOOT_ID_H

#include <stdint.h>

#include <loaderx/status.h>

/** Reads the first 8 bytes of the kernel's boot id; sets @p boot to 0 if the system has no boot id
 * or hides it. Any other failure, such as too many open files, is reported: a caller that took it
 * for another boot would give up what this boot has not synced. */
LX_API lx_status lx__boot_id_read(uint64_t *boot, lx_error *error);

/** Like lx__boot_id_read(), but returns 0 on failure, for callers that can do without the id. */
LX_API uint64_t lx__boot_id(void);

#endif
