# SPDX-License-Identifier: MIT
"""A model of mixtures, written from doc/orders.md, section 8: an epoch as a list."""

import math


def ceil_log2(n):
    return (n - 1).bit_length()


def build(leaves):
    """Return the tree of section 8.1: a set, or (ratio, left, right)."""
    if len(leaves) == 1:
        return leaves[0][0]
    half = (len(leaves) + 1) // 2
    left, whole = (sum(weight for _, weight in some) for some in (leaves[:half], leaves))
    return (left << 64) // whole, build(leaves[:half]), build(leaves[half:])


def tree_of(weights):
    x = math.frexp(max(weights))[1]
    y = 62 - ceil_log2(len(weights))
    return build([(i, max(1, int(math.ldexp(w, y - x)))) for i, w in enumerate(weights) if w > 0])


def find(tree, j):
    """Return the set of a position, and the number of positions of that set before it."""
    while isinstance(tree, tuple):
        ratio, left, right = tree
        here, there = ((k * ratio + 2**63) >> 64 for k in (j, j + 1))
        tree, j = (left, here) if there > here else (right, j - here)
    return tree, j


def greedy_plan(lengths, weights, limit=None, exhausted='repeat'):
    """Return the same for section 12.2, by Megatron's loop."""
    limit = sum(lengths) if limit is None else limit
    had, epoch, left = [0] * len(lengths), [], set(range(len(lengths)))
    while len(epoch) < limit and left:
        lag = {i: weights[i] * max(len(epoch), 1) - had[i] for i in sorted(left)}
        i = max(lag, key=lag.get)
        if exhausted == 'stop' and had[i] == lengths[i]:
            break
        epoch.append((i, had[i]))
        had[i] += 1
        if exhausted == 'redistribute' and had[i] == lengths[i]:
            left.remove(i)
    return epoch


def plan(lengths, weightings, limit=None, exhausted='repeat'):
    """Return the pairs (set, index) of an epoch; weightings are pairs (offset, weights)."""
    limit = sum(lengths) if limit is None else limit
    had, epoch, begin, before, tree = [0] * len(lengths), [], 0, None, None
    while len(epoch) < limit:
        starts = [weights for offset, weights in weightings if offset == len(epoch)]
        if starts or tree is None:
            weights = starts[0] if starts else weights
            left = [w if exhausted != 'redistribute' or had[i] < lengths[i] else 0
                    for i, w in enumerate(weights)]
            if not any(left):
                break
            begin, before, tree = len(epoch), list(had), tree_of(left)
        i, number = find(tree, len(epoch) - begin)
        place = before[i] + number
        if exhausted != 'repeat' and place == lengths[i]:
            if exhausted == 'stop':
                break
            tree = None
            continue
        epoch.append((i, place))
        had[i] += 1
    return epoch
