# SPDX-License-Identifier: MIT
"""Orders of other libraries: section 12 of doc/orders.md, for orders.py."""
from functools import lru_cache

from mt19937 import Generator
from tables import doubles, entries


def randperm(generator, n):
    """A permutation as torch draws it."""
    r = list(range(n))
    assert n < 214748364
    for i in range(n - 1):
        j = i + generator.next32() % (n - i)
        r[i], r[j] = r[j], r[i]
    return r


@lru_cache(maxsize=64)
def torch_epoch(length, n, permutations, replacement, seeded, seed, epoch):
    """The indices of an epoch."""
    generator = Generator(seed + epoch if seeded == 'anew' else seed)
    if seeded == 'once':
        generator.skip(epoch * (length if replacement else permutations * max(0, n - 1)))
    if replacement:
        return [generator.next32() % n for _ in range(length)]
    indices = []
    for _ in range(permutations):
        indices += randperm(generator, n)
    return indices[:length]


def torch(order, k):
    """Index at position k of an order of torch."""
    epoch, offset = divmod(k, order['length'])
    return torch_epoch(order['length'], order['indices'], order['permutations'],
                       order['replacement'], order['seeded'], order['seed'], epoch)[offset]


def greedy(weights, length, limits=None, redistribute=False):
    """The set of each position and its earlier positions; limits are the sizes of sets."""
    given, left = [0] * len(weights), list(range(len(weights)))
    for k in range(length):
        if redistribute:
            left = [i for i in left if given[i] < limits[i]]
            if not left:
                break
        which = max(left, key=lambda i: weights[i] * float(max(k, 1)) - float(given[i]))
        if limits and given[which] == limits[which]:
            break
        yield which, given[which]
        given[which] += 1


@lru_cache(maxsize=None)
def greedy_plan(weights, lengths, exhausted, length=None):
    """The positions of an epoch, and the number of each set."""
    limits = None if exhausted == 'repeat' else lengths
    places = list(greedy(weights, length or sum(lengths), limits, exhausted == 'redistribute'))
    totals = [0] * len(weights)
    for which, _ in places:
        totals[which] += 1
    return places, totals


def plan_of(order):
    """The plan of an order."""
    weights = tuple(float(weight) for weight in order['weightings'][0]['weights'])
    lengths = tuple(part['length'] for part in order['parts'])
    return greedy_plan(weights, lengths, order['exhausted'], order['length'])


def add(numbers):
    """The sum, as numpy.sum computes it."""
    n = len(numbers)
    if n > 128:
        half = n // 2 - n // 2 % 8
        return add(numbers[:half]) + add(numbers[half:])
    total, whole = 0.0, n - n % 8
    if whole:
        c = numbers[:8]
        for i in range(8, whole):
            c[i % 8] += numbers[i]
        total = ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]))
    for number in numbers[whole:]:
        total += number
    return total


def used_weights(order):
    """The weights by which a nanoset is mixed."""
    if 'given' not in order:
        weights = [float(length) for length in entries(order, 'table')]
    else:
        weights = list(doubles(order))
    if 'given' in order and not order['divide']:
        return weights
    total = add(weights)
    return [weight / total for weight in weights]


@lru_cache(maxsize=None)
def nanoset_epoch(lengths, weights, seed):
    """The indices of an epoch."""
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    t = [starts[which] + j % lengths[which] for which, j in greedy(weights, sum(lengths))]
    generator = Generator(seed)
    for i in range(len(t) - 1, 0, -1):
        j = i + 1
        while j > i:
            j = generator.next32() & (1 << i.bit_length()) - 1
        t[i], t[j] = t[j], t[i]
    return t


def nanoset(order, k):
    """Index at position k of a nanoset."""
    t = nanoset_epoch(entries(order, 'table'), tuple(used_weights(order)), order['seed'])
    return t[k % order['length']]
