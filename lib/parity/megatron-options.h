/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of a source of Megatron samples.
 */
#ifndef LX_PARITY_MEGATRON_OPTIONS_H
#define LX_PARITY_MEGATRON_OPTIONS_H

#include <loaderx/parity/megatron.h>

/** The setters in the public header describe each option. */
struct lx_megatron_options {
    uint64_t first_document;
    uint64_t document_count;  /**< #LX_NONE: all. */
    uint64_t sequence_length; /**< 0 until it is set. */
    uint64_t num_samples;     /**< #LX_NONE: one epoch. */
    uint64_t seed;
    bool extra_token;
    bool drop_last_partial;
    lx_dtype dtype;
    uint64_t vocabulary;
    int64_t pad;
    int64_t eod;
    bool split_at_eod;
    bool mask_eod;
    unsigned columns;
    const char *tables;
};

/** Megatron's own defaults. */
#define LX__MEGATRON_DEFAULTS                                                                      \
    {                                                                                              \
        .document_count = LX_NONE, .num_samples = LX_NONE, .seed = 1234, .extra_token = true,      \
        .drop_last_partial = true, .dtype = LX_INT32, .pad = -1, .eod = LX_SEPARATOR_NONE          \
    }

#endif
