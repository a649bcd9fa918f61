/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The card of a dataset, which is an object of texts in meta.json.
 */
#ifndef LX_ZRECORD_CARD_H
#define LX_ZRECORD_CARD_H

#include <loaderx/card.h>

#include "base/json.h"

/** Checks all entries of a card. @retval LX_ERR_ARGUMENT  An entry breaks a rule. */
lx_status lx__card_check(const json_t *card, lx_error *error);

/** Sets and removes entries, and checks the result. On failure, @p card may be changed. */
LX_API lx_status lx__card_change(json_t *card, const lx_card_entry *entries, size_t count,
                                 lx_error *error);

/** Makes a public copy. @p card may be NULL: the copy is empty. */
lx_status lx__card_copy(const json_t *card, lx_card **copy, lx_error *error);

#endif
