#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The orders of doc/orders.md a second time, in plain Python and straight from that page.

``orders.py FILE`` holds a file of goldens against it and exits 1 if one differs;
``orders.py --write FILE`` makes the file. The C tests hold the library against the same file.
"""
import json
import sys

WORD = 1 << 64
COUNT = 24  # indices of a golden


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
    """What draw d under a key chooses among m."""
    return philox(d // 2, 0, key)[d % 2] * m // WORD


def sequential(order, k):
    """Index at position k of a sequential order."""
    n, window, stride = order['length'], order['window'], order['stride']
    return (k // window * stride + k % window) % n


def random(order, k):
    """Index at position k of draws with replacement."""
    return choice(key_word(order['seed'], 0, 1, 0), k, order['length'])


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


def feistel(n, seed, epoch, offset):
    """The image of an offset, by the network."""
    bits = max(2, (n - 1).bit_length())  # least with 2^bits >= n
    a, b = bits // 2, bits - bits // 2
    words = [key_word(seed, epoch, 3, i) for i in range(4)]
    keys = [words[r // 2] >> 32 * (r % 2) & 0xFFFFFFFF for r in range(8)]
    x = offset
    while True:
        left, right = x >> b, x & (1 << b) - 1
        for r in range(0, 8, 2):
            left ^= mix(right ^ keys[r]) >> 32 - a
            right ^= mix(left ^ keys[r + 1]) >> 32 - b
        x = left << b | right
        if x < n:
            return x


def shuffle(order, k):
    """Index at position k of a shuffled order."""
    n, seed = order['length'], order['seed']
    epoch, offset = divmod(k, n)
    if n <= 65536:
        return fisher_yates(n, seed, epoch)[offset]
    return feistel(n, seed, epoch, offset)


def to_json(value):
    """A number as states have it: from 2^63 on a text."""
    return str(value) if value >= 2**63 else value


def indices(golden):
    """What stands at the positions of a golden, each a step behind the one before."""
    order = {key: value if key == 'kind' else int(value)
             for key, value in golden['order'].items()}
    at = {'sequential': sequential, 'random': random, 'shuffle': shuffle}[order['kind']]
    first, step = int(golden['first']), int(golden['step'])
    return [to_json(at(order, first + i * step)) for i in range(COUNT)]


def cases():
    """Orders, and from where how far they are kept."""
    top = WORD - 1
    for n, window, stride in [(1, 1, 1), (10, 1, 1), (10, 4, 2), (7, 3, 5), (10, 1, 3),
                              (1000, 1, top), (top, top, top - 1), (top, 1, top - 1),
                              (top - 1, 5, top), (2**63 + 1, 3, 2**63), (10**12, 256, 64)]:
        for first, step in [(0, 1), (3, 2), (top - COUNT, 1), (2**40 + 17, 1000003)]:
            yield 'sequential', {'length': n, 'window': window, 'stride': stride}, first, step
    for n, seed in [(1, 0), (2, 1), (10, 42), (60000, 42), (10**12, 43), (top, top)]:
        for first, step in [(0, 1), (5, 2), (7, 3), (top - COUNT, 1), (2**40 + 17, 1000003)]:
            yield 'random', {'length': n, 'seed': seed}, first, step
    for n, seed in [(1, 0), (2, 1), (10, 42), (10, 43), (257, 42), (60000, 42), (65536, top),
                    (65537, 42), (2**17 + 1, 42), (2**18, 42), (2**18 + 1, 42),
                    (10**6, 42), (10**6, 43), (10**8, 7), (10**12, 42),
                    (2**40, 2**40), (2**62 + 1, 1), (2**63, 2), (top, top)]:
        # Around the end of an epoch, too, where there is a second one.
        for first, step in [(0, 1), (min(n - n // 2, 2**63), 3),
                            (max(0, min(n - 9, top - COUNT)), 1), (top - COUNT, 1)]:
            yield 'shuffle', {'length': n, 'seed': seed}, first, step


def make():
    """All goldens, as the file has them."""
    for kind, parameters, first, step in cases():
        order = {'kind': kind, 'formula': 1}
        order.update({key: to_json(value) for key, value in parameters.items()})
        golden = {'order': order, 'first': to_json(first), 'step': step}
        golden['indices'] = indices(golden)
        yield golden


def main(arguments):
    """Writes or checks."""
    if arguments[0] == '--write':
        with open(arguments[1], 'w') as file:
            file.write('{"goldens": [\n')
            file.write(',\n'.join(json.dumps(golden) for golden in make()))
            file.write('\n]}\n')
        return 0
    with open(arguments[0]) as file:
        goldens = json.load(file)['goldens']
    wrong = [golden for golden in goldens if indices(golden) != golden['indices']]
    for golden in wrong:
        print('differs:', json.dumps(golden))
    print(len(goldens), 'goldens,', len(wrong), 'differ')
    return 1 if wrong or not goldens else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
