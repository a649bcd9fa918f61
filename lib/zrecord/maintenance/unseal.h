/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Removing the seal of a dataset whose writer's lock the caller holds.
 */
#ifndef LX_ZRECORD_UNSEAL_H
#define LX_ZRECORD_UNSEAL_H

#include "base/file.h"

/** Removes the seal in @p directory; without one, makes durable that there is none. */
lx_status lx__unseal(const lx__file *directory, lx_error *error);

#endif
