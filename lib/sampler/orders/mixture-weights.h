/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The weights of a mixture in saved states.
 */
#ifndef LX_SAMPLER_MIXTURE_WEIGHTS_H
#define LX_SAMPLER_MIXTURE_WEIGHTS_H

#include "base/json.h"
#include "sampler/orders/mixture.h"

/** The weights from an offset on: in full if they are few, otherwise their checksum. */
typedef struct lx__stated_weights {
    uint64_t begin;
    double *weights; /**< NULL: digest is set. */
    char digest[9];
} lx__stated_weights;

/** All weights of a mixture, prepared so that saving a state takes constant time. Immutable. */
typedef struct lx__weightings {
    size_t set_count, count;
    lx__stated_weights *list;
} lx__weightings;

LX_API lx_status lx__weightings_new(const lx_mixture *mixture, lx__weightings *weightings,
                                    lx_error *error);

LX_API void lx__weightings_free(lx__weightings *weightings);

/** Returns [{"begin": 0, "weights": ["0.5", "2"]}, ...], shortened. NULL if memory is short. */
LX_API json_t *lx__weightings_to_json(const lx__weightings *weightings);

#endif
