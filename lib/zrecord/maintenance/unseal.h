/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Unseals a dataset; the caller must hold the writer's lock.
 */
#ifndef LX_ZRECORD_UNSEAL_H
#define LX_ZRECORD_UNSEAL_H

#include "base/file.h"

/** Removes the seal of the dataset in @p directory. If there is no seal, makes its absence
 * durable. */
lx_status lx__unseal(const lx__file *directory, lx_error *error);

#endif
