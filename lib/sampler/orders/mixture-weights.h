/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The weights of a mixture in saved states.
 */
#ifndef LX_SAMPLER_MIXTURE_WEIGHTS_H
#define LX_SAMPLER_MIXTURE_WEIGHTS_H

#include "base/json.h"
#include "sampler/orders/mixture.h"

/** The weights that take effect at an offset: in full if they are few, otherwise their checksum. */
typedef struct lx__saved_weights {
    uint64_t begin;
    double *weights; /**< NULL if digest is set instead. */
    char digest[9];
} lx__saved_weights;

/** All weights of a mixture, prepared so that saving a state takes constant time. Immutable. */
typedef struct lx__saved_weights_list {
    size_t set_count, count;
    lx__saved_weights *list;
} lx__saved_weights_list;

LX_API lx_status lx__saved_weights_list_new(const lx_mixture *mixture,
                                            lx__saved_weights_list *weightings, lx_error *error);

LX_API void lx__saved_weights_list_free(lx__saved_weights_list *weightings);

/** Returns [{"begin": 0, "weights": ["0.5", "2"]}, ...], shortened. Returns NULL when out of
 * memory. */
LX_API json_t *lx__saved_weights_list_to_json(const lx__saved_weights_list *weightings);

#endif
