#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The orders of doc/orders.md a second time, in plain Python and straight from that page.

``orders.py FILE`` holds a file of goldens against it and exits 1 if one differs;
``orders.py --write FILE`` makes the file. The C tests hold the library against the same file.

The ``order`` of a golden is as states have it, but whole at any length, and each subset has its
``table`` where a state has a checksum; where a state differs, that is ``state``. What stands at
``first``, ``first + step`` and so on are the ``indices``.
"""
import json
import sys

from blends import lead, plan
from order_cases import COUNT, cases

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


def one_pass(left, right, v, w, keys):
    """A number through the network, in halves of v and w bits."""
    for r in range(0, 8, 2):
        left ^= mix(right ^ keys[r]) >> 32 - v
        right ^= mix(left ^ keys[r + 1]) >> 32 - w
    return left, right


def one_pass_back(left, right, v, w, keys):
    """The same backwards."""
    for r in range(6, -1, -2):
        right ^= mix(left ^ keys[r + 1]) >> 32 - w
        left ^= mix(right ^ keys[r]) >> 32 - v
    return left, right


def feistel(n, seed, epoch, x, walk=one_pass):
    """The image of an offset, by the network; or, if the walk is backwards, whose image it is."""
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
    """Whose image it is."""
    if n <= 65536:
        return fisher_yates(n, seed, epoch).index(image)
    return feistel(n, seed, epoch, image, one_pass_back)


def shuffle(order, k):
    """Index at position k of a shuffled order."""
    n = order['length']
    return permute(n, order['seed'], k // n, k % n)


def last_block(order, epoch):
    """The offset where the last block, which may be short, begins in an epoch, and its length."""
    n, length = order['length'], order['block']
    count = -(-n // length)
    seed = key_word(order['seed'], 0, 4, 0)
    place = permute_back(count, seed, epoch, count - 1)
    return place * length, n - (count - 1) * length


def blocks(order, k):
    """Index at position k of blocks that are shuffled, and shuffled within."""
    n, length, seed = order['length'], order['block'], order['seed']
    epoch, offset = divmod(k, n)
    start, short = last_block(order, epoch)
    if offset >= start + short:
        offset += length - short  # as if the last block were as long as the others
    count = -(-n // length)
    block = permute(count, key_word(seed, 0, 4, 0), epoch, offset // length)
    here = short if block == count - 1 else length
    within = permute(here, key_word(seed, block, 5, 0), epoch, offset % length, 256)
    return block * length + within


def part_at(part, epoch, offset):
    """Index of a part at an offset of an epoch, of which it has so many and then the first."""
    length = part['length']
    return at(part, epoch % ((WORD - 1) // length) * length + offset)


def slice_(order, k):
    """Index at position k of a slice."""
    epoch, offset = divmod(k, order['length'])
    return part_at(order['part'], epoch, order['first'] + offset)


def repeat(order, k):
    """Index at position k of a part with longer epochs."""
    return at(order['part'], k)


def concat(order, k):
    """Index at position k of parts one after the other."""
    epoch, offset = divmod(k, order['length'])
    for part, number in zip(order['parts'], order['offsets']):
        if offset < part['length']:
            return part_at(part, epoch, offset) + number
        offset -= part['length']
    raise ValueError('parts are shorter than their order')


def subset(order, k):
    """Index at position k of a table of indices, by a part."""
    return order['table'][at(order['part'], k)]


plans = {}


def plan_of(order):
    """The plan of a mixture's epochs."""
    key = text(order)
    if key not in plans:
        lengths = [part['length'] for part in order['parts']]
        plans[key] = plan(lengths, order['weightings'], order['exhausted'], order['length'])
    return plans[key]


def blend(order, k):
    """Index at position k of a mixture."""
    phases, length, totals = plan_of(order)
    epoch, offset = divmod(k, length)
    begin, tree, before = [phase for phase in phases if phase[0] <= offset][-1]
    which, place = lead(tree, offset - begin)
    part, place = order['parts'][which], before[which] + place
    if order['exhausted'] == 'repeat':
        index = at(part, epoch * totals[which] + place)
    else:
        index = part_at(part, epoch, place)
    return index + order['offsets'][which]


KINDS = {'sequential': sequential, 'random': random, 'shuffle': shuffle, 'blocks': blocks,
         'slice': slice_, 'repeat': repeat, 'concat': concat, 'subset': subset, 'blend': blend}


def at(order, k):
    """Index at position k of any order."""
    return KINDS[order['kind']](order, k)


def crc32c_table():
    """The remainders of all bytes."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC32C_TABLE = crc32c_table()


def crc32c(data):
    """CRC-32C of bytes, as eight hexadecimal digits."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC32C_TABLE[(crc ^ byte) & 0xFF]
    return '%08x' % (crc ^ 0xFFFFFFFF)


def to_json(value):
    """Numbers as states have them, at any depth: from 2^63 on texts."""
    if isinstance(value, dict):
        return {key: to_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [to_json(inner) for inner in value]
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def from_json(value):
    """The numbers again."""
    if isinstance(value, dict):
        return {key: inner if key in ('kind', 'exhausted', 'weights') else from_json(inner)
                for key, inner in value.items()}
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    return int(value)


def text(value):
    """The bytes that checksums are taken of."""
    return json.dumps(to_json(value), sort_keys=True, separators=(',', ':')).encode()


def depth(value):
    """How many objects and arrays are within each other."""
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, inner), default=0) if isinstance(value, (dict, list)) else 0


def is_long(value):
    """Whether a state has its checksum."""
    return len(text(value)) > 1024 or depth(value) > 8


def shorten(value):
    """A value that stands whole if it is short, else its checksum."""
    return value if len(text(value)) <= 512 else crc32c(text(value))


def in_state(order):
    """What a state has of an order: no tables, and short."""
    state = dict(order)
    if 'table' in order:
        table = state.pop('table')
        state['indices'] = crc32c(b''.join(index.to_bytes(8, 'little') for index in table))
    if 'part' in order:
        part = in_state(order['part'])
        if is_long(part):
            part = {'kind': part['kind'], 'length': part['length'], 'crc32c': crc32c(text(part))}
        state['part'] = part
    if 'parts' in order:
        parts = [in_state(part) for part in order['parts']]
        if is_long(parts):
            many = len(parts) > 64
            parts = crc32c(text(parts)) if many else [crc32c(text(part)) for part in parts]
        state['parts'] = parts
        state['offsets'] = shorten(order['offsets'])
    if 'weightings' in order:
        state['weightings'] = shorten([{'begin': weighting['begin'],
                                        'weights': shorten(weighting['weights'])}
                                       for weighting in order['weightings']])
    return state


def indices(golden):
    """What stands at the positions of a golden, each a step behind the one before."""
    order, first, step = (from_json(golden[key]) for key in ('order', 'first', 'step'))
    return [to_json(at(order, first + i * step)) for i in range(COUNT)]


def make():
    """All goldens, as the file has them."""
    for order, first, step in cases(last_block):
        golden = {'order': to_json(order)}
        if in_state(order) != order:
            golden['state'] = to_json(in_state(order))
        golden.update({'first': to_json(first), 'step': to_json(step)})
        golden['indices'] = indices(golden)
        yield golden


def is_right(golden):
    """Whether its indices and its state are what they should be."""
    order = from_json(golden['order'])
    state = to_json(in_state(order))
    return indices(golden) == golden['indices'] and state == golden.get('state', golden['order'])


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
    wrong = [golden for golden in goldens if not is_right(golden)]
    for golden in wrong:
        print('differs:', json.dumps(golden))
    print(len(goldens), 'goldens,', len(wrong), 'differ')
    return 1 if wrong or not goldens else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
