/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The weights of a mixture as states have them.
 */
#ifndef LX_SAMPLER_MIXTURE_WEIGHTS_H
#define LX_SAMPLER_MIXTURE_WEIGHTS_H

#include "base/json.h"
#include "sampler/orders/mixture.h"

/** The weights from an offset on: as they are where they are few, else a checksum of them. */
typedef struct lx__stated_weights {
    uint64_t begin;
    double *weights; /**< NULL: there is a digest. */
    char digest[9];
} lx__stated_weights;

/** All of a mixture, so that saving a state takes a time that does not grow with them. It never
 * changes. */
typedef struct lx__weightings {
    size_t set_count, count;
    lx__stated_weights *list;
} lx__weightings;

LX_API lx_status lx__weightings_new(const lx_mixture *mixture, lx__weightings *weightings,
                                    lx_error *error);

LX_API void lx__weightings_free(lx__weightings *weightings);

/** [{"begin": 0, "weights": ["0.5", "2"]}, ...], short as states are. NULL without memory. */
LX_API json_t *lx__weightings_to_json(const lx__weightings *weightings);

#endif
