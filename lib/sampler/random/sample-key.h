/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Computes the keys of many samples of an epoch in one call.
 */
#ifndef LX_SAMPLER_SAMPLE_KEY_H
#define LX_SAMPLER_SAMPLE_KEY_H

#include <loaderx/random.h>

/** Like lx_random_get_key(), for each of @p count samples; writes two numbers per sample. */
LX_API void lx__sample_keys(uint64_t seed, uint64_t epoch, const uint64_t *samples, uint64_t count,
                            uint64_t *keys);

#endif
