# SPDX-License-Identifier: MIT
"""How mixtures split positions among sets: section 8 of doc/orders.md, for orders.py."""
from bisect import bisect_right
from fractions import Fraction
from math import floor, frexp

WORD = 1 << 64


def whole_weights(weights):
    """Integers in the ratio of the weights above 0, by set."""
    x = frexp(max(weights))[1]  # the least power of two above it
    y = 62 - (len(weights) - 1).bit_length()
    return [(i, max(1, floor(Fraction(weight) * Fraction(2) ** (y - x))))
            for i, weight in enumerate(weights) if weight > 0]


def tree_of(sets):
    """A set's number, or the ratio and both sides."""
    if len(sets) == 1:
        return sets[0][0]
    half = -(-len(sets) // 2)
    left, both = (sum(weight for _, weight in some) for some in (sets[:half], sets))
    return left * WORD // both, tree_of(sets[:half]), tree_of(sets[half:])


def left_of(ratio, j):
    """The number of positions of the left side among j."""
    return (j * ratio + WORD // 2) // WORD


def lead(tree, k):
    """The set of position k, and its number of earlier positions."""
    while isinstance(tree, tuple):
        ratio, left, right = tree
        before = left_of(ratio, k)
        tree, k = (left, before) if left_of(ratio, k + 1) > before else (right, k - before)
    return tree, k


def count(tree, k, counts):
    """Add the positions of each set among k to counts."""
    if isinstance(tree, tuple):
        ratio, left, right = tree
        count(left, left_of(ratio, k), counts)
        count(right, k - left_of(ratio, k), counts)
    else:
        counts[tree] += k
    return counts


def fitting(tree, had, lengths, most):
    """The length of a phase before a set would exceed its epoch, at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if any(n > length for n, length in zip(count(tree, middle, had[:]), lengths)):
            high = middle - 1
        else:
            low = middle
    return low


def plan(lengths, weightings, exhausted, length=None):
    """The phases (begin, tree, before) of an epoch, its length, and the positions of each set."""
    end = length or sum(lengths)
    begins = [weighting['begin'] for weighting in weightings] + [end]
    phases, offset, had = [], 0, [0] * len(lengths)
    while offset < end:
        here = bisect_right(begins[:-1], offset) - 1
        weights = [float(weight) for weight in weightings[here]['weights']]
        if exhausted == 'redistribute':
            weights = [weight if n < of else 0 for weight, n, of in zip(weights, had, lengths)]
        if not any(weights):
            break
        tree = tree_of(whole_weights(weights))
        positions = most = min(begins[here + 1], end) - offset
        if exhausted != 'repeat':
            positions = fitting(tree, had, lengths, most)
        if positions > 0:
            phases.append((offset, tree, had))
        had = count(tree, positions, had[:])
        offset += positions
        if positions < most and exhausted == 'stop':
            break
    return phases, offset, had
