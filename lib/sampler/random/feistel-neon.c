/* SPDX-License-Identifier: MIT */
#include "sampler/random/feistel.h"

#include <arm_neon.h>

#define LANES 4

/* NEON shifts right by a negative left count. */
struct network {
    const lx__feistel *feistel;
    uint32x4_t factor_1, factor_2, mask;
    int64x2_t up, down;              /* shifts of 64-bit values by the bits of the right half */
    int32x4_t from_left, from_right; /* right shifts by 32 minus the bits of each half */
};

struct halves {
    uint32x4_t left, right;
};

static inline struct network load_network(const lx__feistel *feistel)
{
    int left = (int)feistel->left, right = (int)feistel->right;
    return (struct network){.feistel = feistel,
                            .factor_1 = vdupq_n_u32(LX__FEISTEL_FACTOR_1),
                            .factor_2 = vdupq_n_u32(LX__FEISTEL_FACTOR_2),
                            .mask = vdupq_n_u32(UINT32_MAX >> (32 - right)),
                            .up = vdupq_n_s64(right),
                            .down = vdupq_n_s64(-right),
                            .from_left = vdupq_n_s32(left - 32),
                            .from_right = vdupq_n_s32(right - 32)};
}

static inline uint32x4_t low_halves(uint64x2_t a, uint64x2_t b)
{
    return vcombine_u32(vmovn_u64(a), vmovn_u64(b));
}

static inline struct halves load(const struct network *network, const uint64_t *values)
{
    uint64x2_t a = vld1q_u64(values), b = vld1q_u64(values + 2);
    uint32x4_t right = vandq_u32(low_halves(a, b), network->mask);
    a = vshlq_u64(a, network->down);
    b = vshlq_u64(b, network->down);
    return (struct halves){low_halves(a, b), right};
}

static inline void store(const struct network *network, uint64_t *values, struct halves from)
{
    uint64x2_t a = vshlq_u64(vmovl_u32(vget_low_u32(from.left)), network->up);
    uint64x2_t b = vshlq_u64(vmovl_u32(vget_high_u32(from.left)), network->up);
    vst1q_u64(values, vorrq_u64(a, vmovl_u32(vget_low_u32(from.right))));
    vst1q_u64(values + 2, vorrq_u64(b, vmovl_u32(vget_high_u32(from.right))));
}

static inline uint32x4_t round_function(const struct network *network, int round, uint32x4_t half,
                                        int32x4_t shift)
{
    uint32x4_t x = veorq_u32(half, vdupq_n_u32(network->feistel->key[round]));
    x = veorq_u32(x, vshrq_n_u32(x, LX__FEISTEL_SHIFT_1));
    x = vmulq_u32(x, network->factor_1);
    x = veorq_u32(x, vshrq_n_u32(x, LX__FEISTEL_SHIFT_2));
    x = vmulq_u32(x, network->factor_2);
    return vshlq_u32(x, shift);
}

static inline struct halves two_rounds(const struct network *network, int round, struct halves at)
{
    at.left = veorq_u32(at.left, round_function(network, round, at.right, network->from_left));
    at.right = veorq_u32(at.right,
                         round_function(network, round + 1, at.left, network->from_right));
    return at;
}

#include "sampler/random/feistel-lanes.h"

void lx__feistel_pass_neon(const lx__feistel *feistel, uint64_t *values, size_t count)
{
    pass_lanes(feistel, values, count);
}
