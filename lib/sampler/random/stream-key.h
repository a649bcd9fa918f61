/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Derives keys from a seed. A key is a hash of (seed, epoch, stream), not a sum, so that
 * adjacent seeds or epochs never share a key.
 */
#ifndef LX_SAMPLER_STREAM_KEY_H
#define LX_SAMPLER_STREAM_KEY_H

#include <stddef.h>
#include <stdint.h>

/**
 * The purpose of a key. Each use of a seed has its own number, which is part of the formula
 * (doc/orders.md). Numbers are never reused.
 */
typedef enum lx__stream {
    LX__STREAM_RANDOM = 1,       /**< Draws with replacement. */
    LX__STREAM_FISHER_YATES = 2, /**< The uniform permutation of a short order. */
    LX__STREAM_FEISTEL = 3,      /**< The round keys of a long order. */
    LX__STREAM_BLOCKS = 4,       /**< Seed of the shuffle of the blocks. */
    LX__STREAM_BLOCK = 5,        /**< Seed of the shuffle within a block; the block's number serves
                                      as the epoch. */
    LX__STREAM_WEIGHTED = 6,     /**< Weighted draws with replacement. */
    LX__STREAM_LIFETIMES = 7,    /**< Lifetimes of indices: weighted draws without replacement. */
    LX__STREAM_ROUNDS = 8,       /**< Seed of the shuffle of the classes in a round. */
    LX__STREAM_CLASS = 9,        /**< Seed of the shuffle within a class; the class's number serves
                                      as the epoch. */
    LX__STREAM_BATCHES = 10,     /**< Seed of the shuffle of batches of similar lengths. */
    LX__STREAM_BUCKET = 11,      /**< Seed of the shuffle within a bucket; the bucket's number
                                      serves as the epoch. */
    LX__STREAM_SPLIT = 12,       /**< The side of a split for each index. */
    LX__STREAM_SAMPLES = 13,     /**< The keys of samples. */
    LX__STREAM_LANES = 14,       /**< Seeds of the shuffles of the segments, and of their blocks;
                                      which segments are longer. */
    LX__STREAM_ROWS = 15,        /**< The block with which each segment begins. */
    LX__STREAM_LANE_BLOCK = 16   /**< Seed of the shuffle within a block of a segment; the block's
                                      first index serves as the epoch. */
} lx__stream;

/**
 * Computes the first @p count words of the key of (seed, epoch, stream): word i is word i mod 2 of
 * the Philox block of counter (stream * 2^32 + i div 2) * 2^64 + epoch under the key @p seed. For a
 * given seed, Philox is a bijection of its counter, so no two pairs (epoch, stream) have the same
 * key.
 */
void lx__key(uint64_t seed, uint64_t epoch, lx__stream stream, size_t count, uint64_t *words);

#endif
