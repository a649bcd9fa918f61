# SPDX-License-Identifier: MIT
"""Random numbers and permutations: sections 2 and 5 of doc/orders.md."""

WORD = 1 << 64


def philox(c0, c1, key):
    """One block of Philox2x64-10."""
    for _ in range(10):
        product = c0 * 0xD2B74407B1CE6E93
        c0, c1 = product // WORD ^ key ^ c1, product % WORD
        key = (key + 0x9E3779B97F4A7C15) % WORD
    return c0, c1


def key_word(seed, epoch, stream, i):
    """Word i of the key of (seed, epoch, stream)."""
    return philox(epoch, stream * 2**32 + i // 2, seed)[i % 2]


def choice(key, d, m):
    """The choice of draw d under a key among m."""
    return philox(d // 2, 0, key)[d % 2] * m // WORD


tables = {}


def fisher_yates(n, seed, epoch):
    """The permutation of an epoch, as a list."""
    if (n, seed, epoch) not in tables:
        key = key_word(seed, epoch, 2, 0)
        t = list(range(n))
        for i in range(n - 1):
            j = i + choice(key, i, n - i)
            t[i], t[j] = t[j], t[i]
        tables[n, seed, epoch] = t
    return tables[n, seed, epoch]


def mix(x):
    """The round function, before its upper bits are taken."""
    x = (x ^ x >> 16) * 0x21F0AAAD & 0xFFFFFFFF
    return (x ^ x >> 15) * 0xD35A2D97 & 0xFFFFFFFF


def one_pass(left, right, v, w, keys):
    """A number through the network, in halves of v and w bits."""
    for r in range(0, 8, 2):
        left ^= mix(right ^ keys[r]) >> 32 - v
        right ^= mix(left ^ keys[r + 1]) >> 32 - w
    return left, right


def one_pass_back(left, right, v, w, keys):
    """The inverse of one_pass."""
    for r in range(6, -1, -2):
        right ^= mix(left ^ keys[r + 1]) >> 32 - w
        left ^= mix(right ^ keys[r]) >> 32 - v
    return left, right


def feistel(n, seed, epoch, x, walk=one_pass):
    """The image of an offset under the network, or, backwards, its preimage."""
    bits = max(2, (n - 1).bit_length())  # least with 2^bits >= n
    v, w = bits // 2, bits - bits // 2
    words = [key_word(seed, epoch, 3, i) for i in range(4)]
    keys = [words[r // 2] >> 32 * (r % 2) & 0xFFFFFFFF for r in range(8)]
    while True:
        left, right = walk(x >> w, x & (1 << w) - 1, v, w, keys)
        x = left << w | right
        if x < n:
            return x


def permute(n, seed, epoch, offset, longest_table=65536):
    """The image of an offset, by a table up to a length and by the network above."""
    if n <= longest_table:
        return fisher_yates(n, seed, epoch)[offset]
    return feistel(n, seed, epoch, offset)


def permute_back(n, seed, epoch, image):
    """The preimage."""
    if n <= 65536:
        return fisher_yates(n, seed, epoch).index(image)
    return feistel(n, seed, epoch, image, one_pass_back)
