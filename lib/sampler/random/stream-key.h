/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Keys from a seed: a hash of (seed, epoch, stream), never a sum, so that no two of them
 * share a key by being one apart.
 */
#ifndef LX_SAMPLER_STREAM_KEY_H
#define LX_SAMPLER_STREAM_KEY_H

#include <stddef.h>
#include <stdint.h>

/**
 * What a key is for. Every use of a seed has a number of its own, which is part of its formula
 * (doc/orders.md): none is ever reused.
 */
typedef enum lx__stream {
    LX__STREAM_RANDOM = 1,       /**< Draws with replacement. */
    LX__STREAM_FISHER_YATES = 2, /**< The exact permutation of a short order. */
    LX__STREAM_FEISTEL = 3,      /**< The round keys of a long one. */
    LX__STREAM_BLOCKS = 4,       /**< The seed by which blocks are shuffled. */
    LX__STREAM_BLOCK = 5,        /**< The seed by which a block is, its number as epoch. */
    LX__STREAM_WEIGHTED = 6,     /**< Draws by weights, with replacement. */
    LX__STREAM_LIFETIMES = 7,    /**< How long indices last, by weights, without. */
    LX__STREAM_ROUNDS = 8,       /**< The seed by which a round of classes is shuffled. */
    LX__STREAM_CLASS = 9,        /**< The seed by which a class is, its number as epoch. */
    LX__STREAM_BATCHES = 10,     /**< The seed by which batches of like lengths are shuffled. */
    LX__STREAM_BUCKET = 11,      /**< The seed by which a bucket is, its number as epoch. */
    LX__STREAM_SPLIT = 12,       /**< Which side of a split an index falls on. */
    LX__STREAM_SAMPLES = 13      /**< The keys of samples' own numbers. */
} lx__stream;

/**
 * The first @p count words of the key of (seed, epoch, stream): word i is word i mod 2 of the
 * Philox block of counter (stream * 2^32 + i div 2) * 2^64 + epoch under the key @p seed. For one
 * seed Philox is a bijection of its counter, so no two (epoch, stream) have the same key.
 */
void lx__key(uint64_t seed, uint64_t epoch, lx__stream stream, size_t count, uint64_t *words);

#endif
