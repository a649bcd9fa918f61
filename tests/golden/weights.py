# SPDX-License-Identifier: MIT
"""Orders by weights: section 9 of doc/orders.md, for orders.py."""
from decimal import Decimal, getcontext
from functools import lru_cache

from blends import whole_weights
from chance import WORD, choice, key_word, philox
from tables import doubles

getcontext().prec = 60  # digits: 2^63 has 19
LN2 = Decimal(2).ln()
UNITS = 1 << 32  # of a column


@lru_cache(maxsize=None)
def units_of(weights):
    """The number of units of each index."""
    whole = dict(whole_weights(weights))
    m, total = len(weights), sum(whole.values())
    k = -200
    while is_below(m, k + 1, total):
        k += 1
    f = m * UNITS * 2**k // total if k >= 0 else m * UNITS // (total * 2**-k)
    units, before, had = [], 0, 0
    for i in range(m):
        before += whole.get(i, 0)
        up_to = m * UNITS if before == total else scaled(before * f, k)
        units.append(up_to - had)
        had = up_to
    return units


def scaled(number, k):
    """A number in units of 2^-k, as an integer."""
    return number >> k if k >= 0 else number << -k


def is_below(m, k, total):
    """Whether m * 2^32 * 2^k / total is below 2^64."""
    left, right = m * UNITS, WORD * total
    return left << k < right if k >= 0 else left < right << -k


@lru_cache(maxsize=None)
def columns_of(weights):
    """The units of its own index in each column, and the other index."""
    units = units_of(weights)
    own, other = [UNITS] * len(units), list(range(len(units)))
    small = iter([i for i, n in enumerate(units) if n <= UNITS])
    large = iter([i for i, n in enumerate(units) if n > UNITS])
    s, g = next(small, None), next(large, None)
    left = units[g] if g is not None else 0
    while g is not None:
        if left > UNITS:
            own[s], other[s] = units[s], g
            left -= UNITS - own[s]
            s = next(small, None)
        else:
            following = next(large, None)
            own[g] = left
            if following is not None:
                other[g] = following
                left = units[following] - (UNITS - own[g])
            g = following
    return own, other


def weighted(order, k):
    """Index at position k of draws by weights."""
    own, other = columns_of(doubles(order))
    a, b = philox(k, 0, key_word(order['seed'], 0, 6, 0))
    column = a * len(own) // WORD
    return column if b >> 32 < own[column] else other[column]


def nearest(number):
    """The nearest integer."""
    return int(number.to_integral_value())


C = [-(-2**63 * 256 // (256 + i)) for i in range(256)]
L = [nearest((Decimal(2**63) / c).ln() / LN2 * 2**63) for c in C]
Q = [0] + [nearest(2**63 / (j * LN2)) for j in range(1, 7)]


def high(a, b):
    """The upper half of a product."""
    return a * b // WORD


def logarithm(r):
    """The logarithm to base 2, in units of 2^-57."""
    v = r.bit_length() - 1
    z = r << 63 - v
    i = (z >> 55) % 256
    d = (high(z, C[i]) - 2**62) * 4
    p = Q[6]
    for j in (5, 4, 3, 2, 1):
        p = Q[j] - high(d, p)
    return (v << 57) + (L[i] + high(d, p)) // 64


@lru_cache(maxsize=None)
def lifetimes(weights, seed, epoch):
    """The indices of an epoch, the shortest lifetime first."""
    key = key_word(seed, epoch, 7, 0)
    return [i for _, i in sorted(
        (float(64 * 2**57 - logarithm(choice(key, i, WORD) or 1)) / float(weight), i)
        for i, weight in whole_weights(weights))]


def weighted_shuffle(order, k):
    """Index at position k of draws without replacement, by weights."""
    epoch, offset = divmod(k, order['length'])
    return lifetimes(doubles(order), order['seed'], epoch)[offset]
