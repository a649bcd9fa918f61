/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The Feistel network on vectors. This body is shared by feistel-avx2.c and feistel-neon.c,
 * which define the following before they include this header:
 *   LANES: the number of values in a vector,
 *   struct network, load_network(feistel): what every round needs, in vectors,
 *   struct halves: the left and right halves of LANES values,
 *   load(network, values), store(network, values, halves): from and to memory,
 *   two_rounds(network, round, halves): this round, which changes the left half, and the next one,
 *     which changes the right half.
 */
#ifndef LX_SAMPLER_FEISTEL_LANES_H
#define LX_SAMPLER_FEISTEL_LANES_H

static inline void pass_one(const struct network *network, uint64_t *values)
{
    struct halves a = load(network, values);
    for (int round = 0; round < LX__FEISTEL_ROUNDS; round += 2)
        a = two_rounds(network, round, a);
    store(network, values, a);
}

/* Number of independent vectors in flight. They hide the latency of multiplications, which depend
 * on each other within a vector. */
#define SIDE_BY_SIDE 8

static inline void pass_many(const struct network *network, uint64_t *values)
{
    struct halves at[SIDE_BY_SIDE];
#pragma GCC unroll 8
    for (int i = 0; i < SIDE_BY_SIDE; i++)
        at[i] = load(network, values + LANES * i);
#pragma GCC unroll 1
    for (int round = 0; round < LX__FEISTEL_ROUNDS; round += 2) {
#pragma GCC unroll 8
        for (int i = 0; i < SIDE_BY_SIDE; i++)
            at[i] = two_rounds(network, round, at[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < SIDE_BY_SIDE; i++)
        store(network, values + LANES * i, at[i]);
}

static inline void pass_lanes(const lx__feistel *feistel, uint64_t *values, size_t count)
{
    const struct network network = load_network(feistel);
    for (; count >= SIDE_BY_SIDE * LANES; count -= SIDE_BY_SIDE * LANES) {
        pass_many(&network, values);
        values += SIDE_BY_SIDE * LANES;
    }
    for (; count >= LANES; count -= LANES, values += LANES)
        pass_one(&network, values);
    /* The scalar code is faster than a partial vector. */
    lx__feistel_pass_scalar(feistel, values, count);
}

#endif
