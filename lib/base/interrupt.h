/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Lets a thread that waits for a network give up when its work is no longer wanted.
 */
#ifndef LX_BASE_INTERRUPT_H
#define LX_BASE_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/export.h>

/** Makes waits of the calling thread end soon after @p flag becomes true. NULL: they do not end
 * early. The flag must stay valid until the next call. Returns the former flag. */
LX_API const atomic_bool *lx__interrupt_by(const atomic_bool *flag);

/** Whether the flag of the calling thread is true. */
LX_API bool lx__interrupted(void);

#endif
