# SPDX-License-Identifier: MIT
"""The golden orders of orders.py by weights, by groups, by a budget, and of other libraries."""
from compat import greedy_plan

COUNT = 14  # indices of a golden
TOP = 2**64 - 1


def of_kind(kind, length, **parameters):
    """An order, as states have it."""
    return {'kind': kind, 'formula': 1, 'length': length, **parameters}


def shuffle_of(length, seed):
    """A shuffle."""
    return of_kind('shuffle', length, seed=seed)


def plain(length):
    """0, 1, 2 ..."""
    return of_kind('sequential', length, window=1, stride=1)


def squares(count, times, modulo):
    """A long table."""
    return {'count': count, 'times': times, 'modulo': modulo}


def texts(weights):
    """Weights in the form of golden files; a rule is kept."""
    return weights if isinstance(weights, dict) else ['%.17g' % weight for weight in weights]


def size(table):
    """The size of a table or its rule."""
    return table['count'] if isinstance(table, dict) else len(table)


def weighted_of(weights, length, seed):
    """Draws by weights."""
    return of_kind('weighted', length, count=size(weights), seed=seed, given=texts(weights))


def weighted_shuffle_of(weights, length, seed):
    """Draws without replacement."""
    return {**weighted_of(weights, length, seed), 'kind': 'weighted shuffle'}


def balanced_of(classes, length, seed):
    """Classes."""
    return of_kind('balanced', length, count=size(classes), seed=seed, table=classes)


def bucketed_of(lengths, batch, bucket, seed):
    """Batches of similar lengths."""
    return of_kind('bucketed', size(lengths), batch=batch, bucket=bucket, seed=seed, table=lengths)


def torch_of(n, length, permutations, seed, replacement=False, seeded='once'):
    """An order of torch."""
    return of_kind('torch', length, indices=n, permutations=permutations, replacement=replacement,
                   seeded=seeded, seed=seed)


def torch_random_of(n, length, replacement, seed):
    """RandomSampler."""
    return torch_of(n, length, length // n + 1, seed, replacement)


def torch_subset_of(indices, seed):
    """SubsetRandomSampler."""
    n = len(indices)
    return of_kind('subset', n, count=n, part=torch_of(n, n, 1, seed), table=indices)


def distributed_of(n, world, shuffled, drop_last, seed):
    """DistributedSampler."""
    part = torch_of(n, n, 1, seed, seeded='anew') if shuffled else plain(n)
    if drop_last:
        return of_kind('slice', n - n % world, first=0, part=part, world=world)
    return padded_of(part, world)


def padded_of(part, multiple):
    """Epochs of a multiple."""
    length = -(-part['length'] // multiple) * multiple
    return of_kind('padded', length, multiple=multiple, part=part)


def budgeted_of(part, costs, budget, rows=0, padded=False):
    """Batches by a budget."""
    return of_kind('budgeted', part['length'], budget=budget, rows=rows, padded=padded,
                   count=len(costs), part=part, table=costs)


def greedy_of(parts, weights, exhausted='repeat', length=None, offsets=None):
    """A greedy mixture."""
    lengths = tuple(part['length'] for part in parts)
    totals = greedy_plan(tuple(weights), lengths, exhausted, length)[1]
    weightings = [{'begin': 0, 'weights': texts(weights)}]
    return of_kind('greedy', sum(totals), exhausted=exhausted, weightings=weightings, parts=parts,
                   offsets=offsets or [0] * len(parts))


def nanoset_of(lengths, weights, seed, divide=True):
    """A nanoset."""
    order = of_kind('nanoset', sum(lengths), sets=len(lengths), seed=seed, table=lengths)
    return order if weights is None else {**order, 'given': texts(weights), 'divide': divide}


def weights_of_all_kinds():
    """One, equal and rising weights, zeros of both signs, very different and subnormal ones."""
    yield [0.7]
    yield [1, 1]
    yield [1, 2, 3, 4, 5]
    yield [0, 3, -0.0, 1, 0, 0, 7, 0]
    yield [1e300, 1, 1e-300, 0, 1e299, 1.7976931348623157e308]
    yield [5e-324, 1e-323, 0, 2.2250738585072014e-308]
    yield [0.1] * 7 + [100, 0.3, 50]
    yield [1, 2**-61, 2**-62, 2**-63]
    yield squares(1000, 7, 1009)
    yield squares(70000, 12345, 999983)


def weighted_cases():
    """For each set of weights: draws, and shuffles of all indices with a weight, and of fewer."""
    for i, weights in enumerate(weights_of_all_kinds()):
        seed, length = [42, TOP, 0][i % 3], 10 + i
        yield weighted_of(weights, length, seed), 0, 1
        yield weighted_of(weights, length, seed), [TOP - COUNT, 2**40 + 17][i % 2], 1
        if isinstance(weights, dict):
            some = weights['count'] - 1
        else:
            some = sum(weight > 0 for weight in weights)
        yield weighted_shuffle_of(weights, some, seed), 0, 1
        if some > 1:
            yield weighted_shuffle_of(weights, some // 2, seed), TOP // some // 2 * some, 1
    yield weighted_of([1, 2, 3], TOP, 5), TOP - COUNT, 1
    yield weighted_of(squares(300, 1, 7), 300, 42), 7, 13


def group_cases():
    """Classes of one size and of many sizes, and lengths with and without ties."""
    for classes, length, seed in [([7], 5, 42), ([3, 3, 3], 2, 42), ([TOP, 0, 5, 0, TOP, 0], 9, 1),
                                  ([1, 2, 3, 4], TOP, TOP), ([0] * 20 + [1] * 3 + [2**63], 24, 0),
                                  (squares(1000, 3, 11), 1000, 42),
                                  (squares(3000, 1, 1009), 3000, 43),
                                  (squares(2000, 1, 2), 70, 44)]:
        order = balanced_of(classes, length, seed)
        yield order, 0, 1
        yield order, TOP - COUNT, 1
        yield order, 2**40 + 17, 1000003
    for lengths, batch, bucket, seed in [([5], 1, 1, 42), ([5, 1, 9, 1, 5], 2, 2, 42),
                                         ([5, 1, 9, 1, 5], 2, 4, TOP), ([TOP, 0, 2**63], 1, 3, 0),
                                         ([3, 1, 2], 4, 8, 1), ([3, 1, 2], TOP, TOP, 1),
                                         (squares(1000, 7, 97), 8, 64, 42),
                                         (squares(1000, 7, 97), 32, 320, 43),
                                         (squares(70000, 3, 1009), 1, 700, 44)]:
        order = bucketed_of(lengths, batch, bucket, seed)
        n = order['length']
        yield order, 0, 1
        yield order, max(0, n - 12), 1
        yield order, TOP - COUNT, 1


def torch_cases():
    """The samplers of torch, also in far epochs."""
    for n, length, replacement, seed in [(1, 1, False, 0), (10, 10, False, 42),
                                         (10, 7, False, 42), (10, 25, False, 2**32 + 42),
                                         (1000, 1000, False, 7), (1000, 30, False, TOP),
                                         (10, 10, True, 42), (2**28 - 1, 7, True, 43),
                                         (3, 1000, True, 0)]:
        order = torch_random_of(n, length, replacement, seed)
        yield order, 0, 1
        if length > 10:
            yield order, length - 9, 3
        yield order, (2**40 + 17) * length, 1 + length // 30
    yield torch_random_of(1000, 1000, False, 42), TOP - COUNT, 1
    yield torch_subset_of([7, 7, 2**40, 3], 42), 0, 1
    yield torch_subset_of([2 * i for i in range(40)], 43), 2**40, 3
    for n, world, shuffled, drop_last in [(10, 3, True, False), (10, 3, True, True),
                                          (10, 3, False, False), (10, 3, False, True),
                                          (3, 8, True, False), (12, 4, True, True),
                                          (12, 4, True, False)]:
        order = distributed_of(n, world, shuffled, drop_last, 42)
        yield order, 0, 1
        yield order, 2**35, 7


def greedy_cases():
    """Greedy mixtures, nanosets, and orders that are padded."""
    two, apart = [shuffle_of(10, 42), plain(7)], [0, 100]
    seven = [shuffle_of(n, n) for n in (3, 50, 20, 7, 1, 30, 12)]
    for way in ('repeat', 'stop', 'redistribute'):
        yield greedy_of(two, [0.7, 0.3], way, None, apart), 0, 1
        yield greedy_of(seven, [0.05, 0.5, 0.2, 0.1, 0.01, 0, 0.14], way), 0, 5
        yield greedy_of([plain(2000), shuffle_of(70000, 1)], [0.2, 0.8], way), 2013, 7
    yield greedy_of(two, [0, 1], 'repeat', 9, apart), 5, 1
    yield greedy_of(two, [1e300, 1e-300], 'repeat', 9), TOP - COUNT, 1
    yield greedy_of(two, [1 / 3, 2 / 3], 'redistribute', 12), 2**40, 3
    yield greedy_of(seven, [n / 123 for n in (3, 50, 20, 7, 1, 30, 12)], 'redistribute'), 60, 3
    yield greedy_of([plain(9), greedy_of(two, [1, 1])], [2, 3], 'stop', None, [5, 2**63]), 0, 1
    for lengths, weights, seed, divide in [
            ([1], None, 0, False), ([10, 20, 5], None, 1234, False),
            ([10, 20, 5], [0.1, 0.1, 0.1], 1234, True), ([10, 20, 5], [1, 2, 0], 42, False),
            ([3, 500], [0.3, 0.7], 2**32 - 1, True), ([3, 500], [0.3, 0.7], 2**32 - 1, False),
            ([1 + i % 2 for i in range(141)], [0.1 + i % 3 for i in range(141)], 7, True)]:
        order = nanoset_of(lengths, weights, seed, divide)
        yield order, 0, 1
        if len(lengths) < 9:
            yield order, TOP - COUNT, 1
    for part, multiple in [(shuffle_of(10, 42), 1), (shuffle_of(10, 42), 4), (plain(3), 8),
                           (shuffle_of(10**12, 42), 1000003), (shuffle_of(0, 42), 7),
                           (shuffle_of(2**63 + 1, 1), 2**62), (plain(5), TOP)]:
        order = padded_of(part, multiple)
        n = order['length']
        if n > 0:
            yield order, 0, 1
            yield order, max(0, min(n - 12, TOP - COUNT)), 1


def budgeted_cases():
    """Sums and rectangles, with rows and without, of parts of several kinds."""
    costs = [1 + i * i * 7 % 97 for i in range(400)]
    three, twice = [5, 1, 9], [[1, TOP], [2**63, 2**63 - 1]]
    for padded in (False, True):
        yield budgeted_of(plain(3), three, 9, 0, padded), 0, 1
        yield budgeted_of(plain(3), three, 15, 2, padded), 1, 1
        yield budgeted_of(shuffle_of(3, 42), three + [7], 17, 0, padded), TOP - COUNT, 1
        for rows, budget in [(0, 97), (0, 400), (7, 400), (1, 97), (0, 10**6)]:
            order = budgeted_of(shuffle_of(400, 42), costs, budget, rows, padded)
            yield order, 0, 1
            yield order, 400 * (2**40 + 17), 29
        yield budgeted_of(of_kind('random', 300, seed=5), costs, 200, 0, padded), 300, 1
        yield budgeted_of(bucketed_of(costs, 8, 64, 3), costs, 500, 0, padded), 400, 1
        for big in twice:
            yield budgeted_of(plain(2), big, TOP, 0, padded), 4, 1


def split_cases():
    """The number of indices, their keys, the seed, and the part."""
    for begin, end in [('0', '1'), ('0', '0.10000000000000001'), ('0.10000000000000001', '0.25'),
                       ('0.25', '1'), ('0.5', '0.5'), ('0.99999999999999989', '1')]:
        yield 40, None, 42, begin, end
    yield 6, [7, 7, 2**63, TOP, 0, 7], TOP, '0.29999999999999999', '0.90000000000000002'
    yield 0, None, 0, '0', '1'


def new_cases():
    """Orders, with the first position, the step, and the number of indices."""
    for cases in (weighted_cases, group_cases, torch_cases, greedy_cases, budgeted_cases):
        for case in cases():
            yield *case, COUNT
