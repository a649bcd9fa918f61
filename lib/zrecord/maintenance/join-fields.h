/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The meta.json of a joined dataset, and its dictionaries.
 */
#ifndef LX_ZRECORD_JOIN_FIELDS_H
#define LX_ZRECORD_JOIN_FIELDS_H

#include "zrecord/maintenance/join.h"

/**
 * Makes the meta of the joined dataset from those of the parts: the fields, the card, the limits of
 * chunks, and the dictionaries.
 *
 * @retval LX_ERR_MISMATCH     The fields of two parts differ.
 * @retval LX_ERR_UNSUPPORTED  A field has different dictionaries in two parts.
 */
lx_status lx__join_make_meta(lx__join *self, lx_error *error);

/** Copies the dictionaries that the meta names into the directory, and makes them durable. */
lx_status lx__join_copy_dictionaries(const lx__join *self, lx_error *error);

#endif
