#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second implementation of the orders of doc/orders.md, in plain Python.

``orders.py FILE`` compares a golden file with it, and exits 1 if an order differs;
``orders.py --write FILE`` makes the file. The C tests compare the library with the same file.

The ``order`` of a golden has the form of states, but is complete at any length: where a state has a
checksum, it has the ``table`` of a subset or the ``given`` weights. If the state differs from the
order, it is in ``state``. The ``indices`` are those at the positions ``first``, ``first + step``
and so on. For an order that is cut, ``batches`` has the number of batches of the epoch of
``first``, and the offsets at which the first of them end. A golden without an ``order`` uses that
of the previous golden. The file also has ``splits``, with the ``indices`` of each part.
"""
import json
import sys
from itertools import zip_longest
from struct import pack

from blends import lead, plan
from budgets import batches
from chance import WORD, choice, key_word, permute, permute_back
from groups import balanced, bucketed, split
from new_cases import split_cases
from order_cases import COUNT, cases
from compat import nanoset, plan_of as greedy_plan_of, torch, used_weights
from tables import doubles, entries
from weights import weighted, weighted_shuffle


def sequential(order, k):
    """Index at position k of a sequential order."""
    n, window, stride = order.get('indices', order['length']), order['window'], order['stride']
    offset = k % order['length']
    return (offset // window * stride + offset % window) % n


def random(order, k):
    """Index at position k of draws with replacement."""
    return choice(key_word(order['seed'], 0, 1, 0), k, order['length'])


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
        offset += length - short  # as if the last block had full length
    count = -(-n // length)
    block = permute(count, key_word(seed, 0, 4, 0), epoch, offset // length)
    here = short if block == count - 1 else length
    within = permute(here, key_word(seed, block, 5, 0), epoch, offset % length, 256)
    return block * length + within


def lane_blocks(order, epoch, lane):
    """The blocks of a lane's segment in the order of an epoch: first index, length."""
    n, lanes, length, seed = (order[key] for key in ('length', 'lanes', 'block', 'seed'))
    short, longer = divmod(n, lanes)
    phase = key_word(seed, 0, 14, 4) * lanes // WORD
    if lane < longer:
        place = permute(longer, key_word(seed, 0, 14, 0), 0, lane)
        segment = ((place + 1) * lanes - 1 - phase) // longer
    else:
        place = permute(lanes - longer, key_word(seed, 0, 14, 1), 0, lane - longer)
        segment = (place * lanes + phase) // (lanes - longer)
    first, end = ((number * n + phase) // lanes for number in (segment, segment + 1))
    rows = short // length
    rest = end - first - rows * length
    cut = choice(key_word(seed, 0, 14, 3), lane, rows + 1)
    shift = choice(key_word(seed, epoch, 15, 0), lane, rows)

    def block(number):
        if number == rows:
            return first + cut * length, rest
        row = (permute(rows, key_word(seed, 0, 14, 2), epoch, number) + shift) % rows
        return first + row * length + (rest if row >= cut else 0), length
    return block


def lanes(order, k):
    """Index at position k of interleaved lanes."""
    epoch, offset = divmod(k, order['length'])
    number, lane = divmod(offset, order['lanes'])
    row, within = divmod(number, order['block'])
    first, length = lane_blocks(order, epoch, lane)(row)
    return first + permute(length, key_word(order['seed'], first, 16, 0), epoch, within, 256)


def part_at(part, epoch, offset):
    """Index of a part at an offset of one of its epochs; the first epoch follows the last one."""
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
    return entries(order, 'table')[at(order['part'], k)]


plans = {}


def plan_of(order):
    """The plan of a mixture's epochs."""
    key = text(order)
    if key not in plans:
        lengths = [part['length'] for part in order['parts']]
        plans[key] = plan(lengths, order['weightings'], order['exhausted'], order['length'])
    return plans[key]


def padded(order, k):
    """Index at position k of a part whose first offsets are repeated at the end."""
    epoch, offset = divmod(k, order['length'])
    return part_at(order['part'], epoch, offset % order['part']['length'])


def budgeted(order, k):
    """Index at position k of batches by a budget."""
    return at(order['part'], k)


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


def greedy(order, k):
    """Index at position k of a greedy mixture."""
    places, totals = greedy_plan_of(order)
    epoch, offset = divmod(k, order['length'])
    which, place = places[offset]
    part = order['parts'][which]
    if order['exhausted'] == 'repeat':
        index = at(part, epoch * totals[which] + place)
    else:
        index = part_at(part, epoch, place)
    return index + order['offsets'][which]


KINDS = {'sequential': sequential, 'random': random, 'shuffle': shuffle, 'blocks': blocks,
         'lanes': lanes, 'slice': slice_, 'repeat': repeat, 'padded': padded, 'concat': concat,
         'subset': subset, 'budgeted': budgeted, 'blend': blend, 'greedy': greedy,
         'weighted': weighted, 'weighted shuffle': weighted_shuffle, 'balanced': balanced,
         'bucketed': bucketed, 'torch': torch, 'nanoset': nanoset}


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


# Keys whose values are not numbers.
TEXTS = ('kind', 'exhausted', 'weights', 'given', 'seeded', 'replacement', 'divide', 'padded')


def from_json(value):
    """The inverse of to_json."""
    if isinstance(value, dict):
        return {key: inner if key in TEXTS else from_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    return int(value)


def text(value):
    """The bytes that checksums are taken of."""
    return json.dumps(to_json(value), sort_keys=True, separators=(',', ':')).encode()


def depth(value):
    """The nesting depth of objects and arrays."""
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, inner), default=0) if isinstance(value, (dict, list)) else 0


def is_long(value):
    """Whether a state has its checksum."""
    return len(text(value)) > 1024 or depth(value) > 8


def shorten(value):
    """A short value as it is, otherwise its checksum."""
    return value if len(text(value)) <= 512 else crc32c(text(value))


# The key of the checksum of a table in states.
TABLES = {'subset': 'indices', 'weighted': 'weights', 'weighted shuffle': 'weights',
          'balanced': 'classes', 'bucketed': 'lengths', 'nanoset': 'weights', 'budgeted': 'costs'}
NOT_IN_STATES = ('table', 'given', 'divide', 'world')


def words(order):
    """The bytes of a table, of 8 each."""
    weights = used_weights(order) if order['kind'] == 'nanoset' else doubles(order)
    return (b''.join(entry.to_bytes(8, 'little') for entry in entries(order, 'table')) +
            b''.join(pack('<d', weight) for weight in weights))


def in_state(order):
    """An order in the form of states: without tables, and abbreviated."""
    state = dict(order)
    for key in NOT_IN_STATES:
        state.pop(key, None)
    if order['kind'] in TABLES:
        state[TABLES[order['kind']]] = crc32c(words(order))
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


def indices(order, first, step, count=COUNT):
    """The indices at some positions of an order, at regular steps."""
    return [to_json(at(order, first + i * step)) for i in range(count)]


def found(count, keys, seed, begin, end):
    """A split; keys None are the indices."""
    here = split(range(count) if keys is None else keys, seed, float(begin), float(end))
    return to_json({'count': count, **({} if keys is None else {'keys': keys}), 'seed': seed,
                    'from': begin, 'until': end, 'indices': here})


def make():
    """All goldens, as the file has them."""
    before = None
    for order, first, step, *count in cases(last_block):
        golden = {}
        if order != before or not count:
            golden['order'] = to_json(order)
            if in_state(order) != order:
                golden['state'] = to_json(in_state(order))
        before = order
        golden.update({'first': to_json(first), 'step': to_json(step)})
        golden['indices'] = indices(order, first, step, *count)
        if order['kind'] == 'budgeted':
            golden['batches'] = batches(order, first, at)
        yield golden


def wrong(goldens):
    """The golden orders whose indices or state differ."""
    for golden in goldens:
        if 'order' in golden:
            order = from_json(golden['order'])
            state = to_json(in_state(order))
        first, step = (from_json(golden[key]) for key in ('first', 'step'))
        cut = batches(order, first, at) if order['kind'] == 'budgeted' else None
        if (not golden['indices'] or
                indices(order, first, step, len(golden['indices'])) != golden['indices'] or
                cut != golden.get('batches') or
                state != golden.get('state', golden.get('order', state))):
            yield golden


def wrong_splits(splits):
    """The splits that differ."""
    for split_, case in zip_longest(splits, split_cases()):
        if case is None or split_ != found(*case):
            yield split_


def main(arguments):
    """Writes or checks."""
    if arguments[0] == '--write':
        with open(arguments[1], 'w') as file:
            file.write('{"goldens": [\n')
            file.write(',\n'.join(json.dumps(golden) for golden in make()))
            file.write('\n], "splits": [\n')
            file.write(',\n'.join(json.dumps(found(*case)) for case in split_cases()))
            file.write('\n]}\n')
        return 0
    with open(arguments[0]) as file:
        kept = json.load(file)
    goldens, splits = kept['goldens'], kept['splits']
    differing = [*wrong(goldens), *wrong_splits(splits)]
    for golden in differing:
        print('differs:', json.dumps(golden))
    print(len(goldens), 'goldens,', len(splits), 'splits,', len(differing), 'differ')
    return 1 if differing or not goldens or not splits else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
