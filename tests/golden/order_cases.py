# SPDX-License-Identifier: MIT
"""The golden orders of orders.py."""
from blends import plan
from new_cases import new_cases

COUNT = 24  # indices of a golden
TOP = 2**64 - 1


def of_kind(kind, length, **parameters):
    """An order, as states have it."""
    return {'kind': kind, 'formula': 1, 'length': length, **parameters}


def shuffle_of(length, seed):
    """A shuffle."""
    return of_kind('shuffle', length, seed=seed)


def blocks_of(length, block, seed):
    """Blocks."""
    return of_kind('blocks', length, block=block, seed=seed)


def lanes_of(length, lanes, block, seed):
    """Lanes."""
    return of_kind('lanes', length, lanes=lanes, block=block, seed=seed)


def plain(length):
    """0, 1, 2 ..."""
    return of_kind('sequential', length, window=1, stride=1)


def windows_of(indices, window, stride):
    """Windows that slide."""
    return of_kind('sequential', -(-indices // stride) * window, window=window, stride=stride,
                   indices=indices)


def slice_of(part, first, length):
    """A slice."""
    return of_kind('slice', length, first=first, part=part)


def repeat_of(part, times):
    """A repeat."""
    return of_kind('repeat', part['length'] * times, times=times, part=part)


def concat_of(parts, offsets=None):
    """A concat."""
    return of_kind('concat', sum(part['length'] for part in parts), parts=parts,
                   offsets=offsets or [0] * len(parts))


def subset_of(part, table):
    """A subset."""
    return of_kind('subset', part['length'], count=len(table), part=part, table=table)


def blend_of(parts, weights, exhausted='repeat', length=None, offsets=None, later=None):
    """A mixture; `later` has the later weights by the offset where they begin."""
    weightings = [{'begin': begin, 'weights': ['%.17g' % weight for weight in some]}
                  for begin, some in {0: weights, **(later or {})}.items()]
    length = plan([part['length'] for part in parts], weightings, exhausted, length)[1]
    return of_kind('blend', length, exhausted=exhausted, weightings=weightings, parts=parts,
                   offsets=offsets or [0] * len(parts))


def simple_cases():
    """Orders of the first kinds, with first position and step."""
    sliding = [(10, 4, 2), (7, 3, 5), (10, 1, 3), (3, 7, 1), (1000, 1, TOP), (2, TOP, 5),
               (TOP, TOP // 2, TOP - 1), (TOP, 1, TOP - 1), (TOP, 1, 2), (TOP - 1, 5, TOP),
               (2**63 + 1, 3, 2**63), (10**12, 256, 64)]
    for order in [plain(1), plain(10), plain(TOP), *(windows_of(*case) for case in sliding)]:
        for first, step in [(0, 1), (3, 2), (TOP - COUNT, 1), (2**40 + 17, 1000003)]:
            yield order, first, step
    for n, seed in [(1, 0), (2, 1), (10, 42), (60000, 42), (10**12, 43), (TOP, TOP)]:
        for first, step in [(0, 1), (5, 2), (7, 3), (TOP - COUNT, 1), (2**40 + 17, 1000003)]:
            yield of_kind('random', n, seed=seed), first, step
    for n, seed in [(1, 0), (2, 1), (10, 42), (10, 43), (257, 42), (60000, 42), (65536, TOP),
                    (65537, 42), (2**17 + 1, 42), (2**18, 42), (2**18 + 1, 42),
                    (10**6, 42), (10**6, 43), (10**8, 7), (10**12, 42),
                    (2**40, 2**40), (2**62 + 1, 1), (2**63, 2), (TOP, TOP)]:
        # Around the end of an epoch, too, where there is a second one.
        for first, step in [(0, 1), (min(n - n // 2, 2**63), 3),
                            (max(0, min(n - 9, TOP - COUNT)), 1), (TOP - COUNT, 1)]:
            yield shuffle_of(n, seed), first, step


def limit(first, step=1):
    """The first position, moved so that all of a golden's are positions."""
    return max(0, min(first, TOP - 1 - (COUNT - 1) * step)), step


def block_cases(last_block):
    """Blocks, mainly around the short one and the ends of epochs."""
    for n, block, seed in [(1, 1, 0), (2, 1, 1), (10, 1, 42), (10, 3, 42), (10, 3, 43),
                           (11, 3, 42), (12, 3, 42), (12, 4, 7), (13, 4, 7), (10, 9, 42),
                           (10, 10, 42), (10, 11, 42), (10, TOP, 42), (60000, 60000, 1),
                           (256, 256, 42), (257, 257, 42), (257, 256, 42), (258, 257, 42),
                           (1023, 256, 42), (1024, 256, 42), (1025, 256, 42), (1027, 257, 42),
                           (1028, 257, 42), (1029, 257, 42), (60000, 100, TOP),
                           (65536, 1, 42), (65537, 1, 42), (2 * 65537 - 1, 2, 42),
                           (2 * 65537, 2, 42), (10**6, 300, 42), (10**6 - 1, 8, 42),
                           (10**12, 4096, 42), (10**12 - 1, 4096, 42), (10**12 + 1, 4096, 42),
                           (10**12, 10**6, 42), (10**12 - 1, 10**6, 43),
                           (10**12 + 1000, 10**6, 43), (10**12, 10**12 // 2 + 1, 42),
                           (2**63 + 1, 2**62, 3), (2**63, 2**62, 3), (TOP, 257, 4),
                           (TOP, 65537, 4), (TOP, TOP, TOP), (TOP - 1, TOP, 5)]:
        order = blocks_of(n, block, seed)
        spots = [(0, 1), limit(n // 2, 3), limit(n - 9), limit(TOP)]
        if n <= 2000 and block > 1:
            spots += [(2**40 + 17, 1000003)]
        if n > COUNT:
            for epoch in (0, 1, 10**6):
                start, length = last_block(order, epoch)
                if length < block and (epoch + 1) * n < TOP:
                    spots += [limit(epoch * n + max(0, start - 5)),
                              limit(epoch * n + start + length - 12)]
        for first, step in dict.fromkeys(spots):
            yield order, first, step


def lane_cases():
    """Lanes: few and many, with whole and with short blocks, and around the ends of epochs."""
    for n, lanes, block, seed in [(2, 1, 1, 0), (2, 1, 2, 0), (10, 3, 2, 42), (10, 3, 2, 43),
                                  (12, 3, 2, 42), (13, 4, 3, 7), (15, 4, 3, 7), (11, 4, 1, 7),
                                  (120, 60, 1, 1), (100, 1, 7, 42), (1000, 8, 9, 42),
                                  (1003, 8, 9, 42), (1001, 8, 25, TOP), (2048, 4, 256, 42),
                                  (2051, 4, 257, 42), (60000, 48, 300, 42), (200003, 2, 1, 42),
                                  (200003, 70000, 2, 3), (10**6, 960, 64, 42),
                                  (10**9, 7680, 9, 42), (10**12 + 7, 2**20, 1024, 43),
                                  (2**63 + 1, 15, 2**32 - 1, 2), (TOP, 1001, 70, 42),
                                  (TOP, 1, 2**32 - 1, 5), (TOP, 1, 1, 6), (TOP, 2, 1, 6)]:
        spots = [(0, 1), limit(n // 2, 3), limit(n - 9), limit(TOP)]
        if n <= 3000:
            spots += [(2**40 + 17, 1000003)]
        for first, step in dict.fromkeys(spots):
            yield lanes_of(n, lanes, block, seed), first, step


def parts_of_five():
    """Of all kinds, with empty ones in between."""
    table = [2**40 + 3 * i for i in range(30)]
    return [plain(0), blocks_of(25, 4, 42), shuffle_of(0, 7), of_kind('random', 9, seed=5),
            subset_of(shuffle_of(30, 3), table)]


def huge_parts():
    """Orders of parts with few epochs: the first follows the last one."""
    yield slice_of(shuffle_of(2**63 + 1, 1), 2**63 - 9, 10)
    yield slice_of(shuffle_of(2**63 - 1, 1), 2**62, 10)  # two epochs
    yield slice_of(shuffle_of(TOP // 3, 1), 5, 10)
    yield slice_of(shuffle_of(TOP // 3 + 1, 1), 5, 10)
    yield slice_of(shuffle_of(2**63 + 1, 1), 0, 2**63 + 1)  # ends within epoch 1
    yield slice_of(blocks_of(2**63 + 1, 2**62, 3), 2**63 - 20, 21)
    yield slice_of(of_kind('random', 2**63, seed=8), 3, 20)
    yield slice_of(windows_of(TOP, 3, 3 * 2**32), TOP // 2**32 - 10, 10)
    for indices, window in [(7, 359), (7, 2**63 + 1)]:  # windows past the end
        yield slice_of(windows_of(indices, window, 360), 6, 1)
    yield slice_of(repeat_of(shuffle_of(10**12, 42), 10**7), 10**12 - 5, 10)
    yield repeat_of(slice_of(shuffle_of(2**63 - 1, 1), 0, 10), 3)
    yield concat_of([shuffle_of(2**63, 1)])
    yield concat_of([shuffle_of(2**63, 1), shuffle_of(10, 42)], [0, 2**63])
    yield concat_of([shuffle_of(10, 42), shuffle_of(2**63, 1)], [2**63, 0])
    yield slice_of(concat_of([shuffle_of(5, 42), shuffle_of(2**63, 1)]), 0, 10)
    yield subset_of(slice_of(repeat_of(shuffle_of(5, 1), 2**61), 5 * 2**61 - 8, 8),
                    [9, 8, 7, 6, 5])


def slices():
    """Slices, and slices of slices."""
    for part in (shuffle_of(10, 42), blocks_of(10, 3, 42), of_kind('random', 10, seed=42)):
        for first, length in [(0, 10), (0, 3), (7, 3), (9, 1), (0, 1), (2, 5)]:
            yield slice_of(part, first, length)
    for first, length in [(0, 10**6), (10**12 - 7, 7), (123456789012, 1), (5 * 10**11, 20),
                          (10**12 - 1, 1), (1, 10**12 - 1)]:
        yield slice_of(shuffle_of(10**12, 42), first, length)
    yield slice_of(blocks_of(10**12 - 1, 4096, 42), 3 * 4096 - 8, 16)
    yield slice_of(slice_of(shuffle_of(1000, 1), 100, 800), 700, 100)
    yield slice_of(windows_of(10, 4, 2), 3, 6)
    yield slice_of(plain(TOP), 2**63, 2**63 - 1)


def repeats():
    """Repeats, and orders whose epochs they make longer."""
    for part, times in [(shuffle_of(10, 42), 1), (shuffle_of(10, 42), 3), (plain(7), 2),
                        (blocks_of(10, 3, 42), 4), (shuffle_of(1, 1), TOP),
                        (shuffle_of(10**12, 42), 18446744), (shuffle_of(2**62, 3), 3),
                        (of_kind('random', 10, seed=42), 2)]:
        yield repeat_of(part, times)
    yield slice_of(repeat_of(shuffle_of(10, 42), 3), 5, 20)
    yield slice_of(repeat_of(shuffle_of(10, 42), 3), 20, 10)
    yield repeat_of(repeat_of(shuffle_of(5, 42), 2), 2)
    yield concat_of([repeat_of(shuffle_of(4, 42), 2), repeat_of(plain(3), 3)], [0, 100])


def concats():
    """Of one part, of many, of other orders, and with states that are abbreviated."""
    yield concat_of([shuffle_of(10, 42)])
    yield concat_of([shuffle_of(10, 42)], [90])
    yield concat_of([shuffle_of(10, 42), shuffle_of(10, 42)], [0, 10])
    yield concat_of([shuffle_of(300, 42), blocks_of(7, 2, 43)], [2**32, 0])
    yield concat_of([shuffle_of(10**12, 42), shuffle_of(5, 7)], [0, TOP - 5])
    yield concat_of([shuffle_of(0, 1), plain(1), shuffle_of(0, 1)], [5, 6, 7])
    yield concat_of(parts_of_five())
    yield concat_of(parts_of_five(), [0, 2**33, 17, 2**63 + 1, 10])
    yield concat_of([concat_of([shuffle_of(4, 1), plain(3)], [0, 4]),
                     concat_of([blocks_of(5, 2, 3)])], [100, 200])
    yield slice_of(concat_of([shuffle_of(20, 1), shuffle_of(30, 2)], [0, 20]), 15, 12)
    yield slice_of(concat_of([shuffle_of(10**12, 1), shuffle_of(10**11, 2)], [0, 10**12]),
                   10**12 - 6, 12)
    yield repeat_of(concat_of([shuffle_of(3, 1), shuffle_of(0, 2), shuffle_of(4, 2)]), 3)


def short_states():
    """Orders whose states are abbreviated."""
    def many(count):
        return [shuffle_of(i % 3, i) for i in range(count)]
    yield concat_of(many(20))
    yield concat_of(many(64), [2**63 + i for i in range(64)])
    yield concat_of(many(65), [3 * i for i in range(65)])
    # Above 1024 bytes while the parts together have fewer.
    yield slice_of(concat_of(many(14), [2**63 + i for i in range(14)]), 1, 9)
    inner = concat_of([slice_of(concat_of(many(5)), 0, 4)] * 2, [10**17, 2 * 10**17])
    yield repeat_of(inner, 2)
    yield concat_of([inner, shuffle_of(3, 1)], [1, 2])
    deep = shuffle_of(100, 42)
    for i in range(12):  # the maximum depth of a file
        deep = slice_of(deep, 1, 98 - 2 * i)
        if i >= 6:
            yield deep
    nested = shuffle_of(9, 42)
    for i in range(6):
        nested = concat_of([nested], [i])
        if i >= 2:
            yield nested


def subsets():
    """Tables, with repeated and large indices."""
    yield subset_of(shuffle_of(5, 42), [7, 7, 0, 3, 7])
    yield subset_of(plain(3), [2, 1, 0, 9])  # longer than necessary
    yield subset_of(shuffle_of(40, 1), [(i * i) % 17 for i in range(40)])
    yield subset_of(shuffle_of(6, 42), [2**32 - 1, 2**32, 2**32 + 1, 2**63, TOP - 1, 0])
    yield subset_of(shuffle_of(2, 42), [2**32 - 1, 2**32 - 2])
    yield subset_of(blocks_of(30, 7, 42), [2**40 * (i % 7) + i for i in range(30)])
    yield subset_of(of_kind('random', 12, seed=1), list(range(12, 0, -1)))
    yield subset_of(slice_of(shuffle_of(300, 4), 250, 50), [1000 - i for i in range(300)])
    yield subset_of(subset_of(shuffle_of(4, 2), [3, 3, 1, 0]), [10, 20, 30, 2**35])
    yield slice_of(subset_of(shuffle_of(8, 2), [5, 4, 3, 2, 1, 0, 9, 9]), 3, 4)
    yield subset_of(concat_of([shuffle_of(3, 1), shuffle_of(4, 1)], [0, 3]),
                    [6, 5, 4, 3, 2, 1, 2**34])
    yield subset_of(repeat_of(shuffle_of(3, 1), 3), [4, 5, 6])


def made_cases():
    """Orders made from other orders."""
    for kind in (huge_parts, slices, repeats, concats, short_states, subsets):
        for order in kind():
            n = order['length']
            spots = [(0, 1), limit(TOP)]
            if kind != short_states:
                spots += [limit(n - 9), limit(2**40 + 17, 1000003)]
            if kind == huge_parts:
                spots += [limit(2**62 - 3, 2**57 + 1), limit(TOP // n * n - 11)]
            if kind == huge_parts and 'part' in order:
                spots += [limit(TOP // order['part']['length'] * n - 11)]
            for first, step in dict.fromkeys(spots):
                yield order, first, step


WAYS = ('repeat', 'stop', 'redistribute')


def curricula():
    """Mixtures with changing weights, and the beginnings of the changes."""
    three = [shuffle_of(40, 1), plain(30), blocks_of(50, 7, 2)]
    apart = [0, 100, 200]
    for way in WAYS:
        later = {20: [0, 1, 1], 61: [5, 0, 0.25]}
        yield blend_of(three, [1, 0, 0], way, None, apart, later), [10, 52, 75]
    yield blend_of(three, [1, 1, 1], 'repeat', 200, apart, {1: [3, 2, 1], 199: [0, 0, 1]}), [185]
    half = [plain(10**12), shuffle_of(10**11, 3)]
    later = {10**9: [1, 1], 10**11: [1, 0]}
    yield blend_of(half, [9, 1], 'stop', None, [0, 10**12], later), [10**9 - 9, 10**11 - 12]


def mixtures():
    """Mixtures of any kinds of sets, with very different weights, and long ones."""
    two, apart = [shuffle_of(10, 42), plain(7)], [0, 100]
    for way in WAYS:
        yield blend_of(two, [0.7, 0.3], way, None, apart)
    yield blend_of(two, [0.1, 0.3], 'repeat', 9, apart)
    yield blend_of(two, [1, 1], 'redistribute', 9, apart)
    yield blend_of([shuffle_of(10, 42)], [3], 'stop')
    yield blend_of([shuffle_of(5, 42)] * 3, [1, 0, 2], 'repeat', 8, [0, 5, 10])
    for weights in ([1e300, 1e-300, 1e299], [5e-324, 1e-323, 5e-324]):
        yield blend_of([plain(50), shuffle_of(60, 1), plain(70)], weights, 'redistribute', None,
                       [0, 50, 110])
    seven = [shuffle_of(n, n) for n in (3, 50, 20, 7, 1, 30, 12)]
    for way in WAYS[1:]:
        yield blend_of(seven, [0.05, 0.5, 0.2, 0.1, 0.01, 0, 0.14], way, None,
                       [1000 * i for i in range(7)])
    yield blend_of([blocks_of(25, 4, 42), of_kind('random', 9, seed=5)], [2, 3], 'redistribute',
                   None, [2**63, 5])


def long_mixtures():
    """Mixtures with numbers of 64 bits."""
    huge = [shuffle_of(10**12, 42), shuffle_of(2**62, 43), plain(7)]
    for way in WAYS:
        yield blend_of(huge, [0.7, 0.2999, 0.0001], way)
    yield blend_of(huge, [1, 2, 3], 'repeat', TOP, [0, 10**12, TOP - 7])
    yield blend_of([plain(TOP - 5), plain(5)], [1, 1e-9], 'redistribute')
    yield blend_of([plain(2**63), shuffle_of(2**63 - 1, 5)], [1, 1.5], 'stop')


def mixtures_within():
    """Mixtures as parts, and of mixtures."""
    two = blend_of([shuffle_of(6, 42), plain(4)], [0.5, 0.25], 'repeat', None, [0, 6])
    yield slice_of(two, 3, 5)
    yield repeat_of(two, 3)
    yield concat_of([two, plain(3)], [0, 10])
    yield blend_of([two, two, shuffle_of(9, 1)], [2, 1, 1], 'stop', None, [0, 10, 20])
    # With abbreviated states: first weights, parts and offsets, then all weights.
    many = [1 + i / 10 for i in range(26)]
    offsets = [10**18 + i for i in range(26)]
    parts = [plain(1 + i % 4) for i in range(26)]
    yield slice_of(blend_of(parts, many, 'repeat', 30, offsets), 2, 20)
    yield blend_of([plain(2)] * 2, [0.1, 0.7], 'repeat', 40, None,
                   {i: [0.3, i] for i in range(1, 12)})


def blend_cases():
    """Mixtures, where phases begin and epochs end."""
    for order, begins in curricula():
        for first, step in dict.fromkeys([(0, 3)] + [limit(begin) for begin in begins]):
            yield order, first, step
    for i, order in enumerate(mixtures()):
        yield order, 0, 1
        if i % 3 == 0:
            yield order, 2**40 + 17, 1000003
    for order in long_mixtures():
        n = order['length']
        for first, step in dict.fromkeys([limit(n - 12), limit(n // 3, n // 37)]):
            yield order, first, step
    for order in mixtures_within():
        yield order, 0, 1


def cases(last_block):
    """Orders, with first position and step; `short` locates short blocks."""
    yield from simple_cases()
    yield from block_cases(last_block)
    yield from lane_cases()
    yield from made_cases()
    yield from blend_cases()
    yield from new_cases()
