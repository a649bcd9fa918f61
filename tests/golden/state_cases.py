# SPDX-License-Identifier: MIT
"""The saved states of states.py, at least one for each kind of order and of source.

A new kind needs a case here; ``states.py --write`` makes its state. A case with a saved state must
not change, and neither must the state.
"""
from new_cases import (balanced_of, bucketed_of, budgeted_of, distributed_of, greedy_of, nanoset_of,
                       padded_of, squares, torch_random_of, torch_subset_of, weighted_of,
                       weighted_shuffle_of)
from order_cases import (TOP, blend_of, blocks_of, concat_of, lanes_of, of_kind, plain,
                         repeat_of, shuffle_of, slice_of, subset_of, windows_of)

WEIGHTS = [0.5, 2, 0, 0.1, 7, 1e-3, 0.25, 3]
CLASSES = [3, 3, 0, 5, 3, 0, 5, 3, 3, 3, 2**63]


def mixtures():
    """Mixtures with each way of exhaustion, with changing weights, and with Megatron's method."""
    two, apart = [shuffle_of(40, 42), plain(25)], [0, 40]
    three, later = [shuffle_of(40, 1), plain(30), blocks_of(50, 7, 2)], {20: [0, 1, 1]}
    for way in ('repeat', 'stop', 'redistribute'):
        yield 'blend-' + way, blend_of(two, [0.7, 0.3], way, None, apart), 7 * 65 + 30
        yield ('blend-' + way + '-curriculum',
               blend_of(three, [3, 1, 0], way, None, [0, 40, 70], later), 15)
        yield 'greedy-' + way, greedy_of(two, [0.7, 0.3], way, None, apart), 3 * 65 + 40
    yield 'blend-long', blend_of([shuffle_of(10**12, 42), shuffle_of(2**62, 43)], [0.9, 0.1],
                                 'repeat', TOP, [0, 10**12]), 2**63 + 17
    many = [plain(1 + i % 4) for i in range(70)]
    yield 'blend-many', blend_of(many, [1 + i / 7 for i in range(70)], 'redistribute', None,
                                 [10**18 + i for i in range(70)]), 1000


def made_of_others():
    """Orders made from other orders, some of them nested several levels deep."""
    table = [2**40 + 3 * i for i in range(30)]
    yield 'slice', slice_of(shuffle_of(100, 42), 10, 80), 8 * 80 + 70
    yield 'repeat', repeat_of(shuffle_of(11, 42), 3), 33 * 5 + 9
    yield 'padded', padded_of(shuffle_of(10, 42), 4), 12 * 9 + 8
    yield 'concat', concat_of([shuffle_of(20, 1), blocks_of(15, 4, 2)], [0, 20]), 35 * 3 + 18
    yield 'subset', subset_of(shuffle_of(30, 3), table), 30 * 4 + 25
    costs = [1 + i * 7 % 11 for i in range(30)]
    yield 'budgeted', budgeted_of(shuffle_of(30, 42), costs, 25), 30 * 5 + 21
    yield 'budgeted-padded', budgeted_of(plain(30), costs, 40, 5, True), 30 * 2**40 + 17
    deep = shuffle_of(50, 7)
    for _ in range(9):
        deep = slice_of(deep, 1, deep['length'] - 1)
    yield 'deep', concat_of([repeat_of(deep, 2), subset_of(plain(5), [9, 8, 7, 6, 5])]), 70


def with_tables():
    """Orders by weights, by groups, and of torch and Nanotron."""
    yield 'weighted', weighted_of(WEIGHTS, 20, 42), 20 * 6 + 11
    yield 'weighted-shuffle', weighted_shuffle_of(WEIGHTS, 7, 42), 7 * 6 + 3
    yield 'balanced', balanced_of(CLASSES, 24, 42), 24 * 8 + 20
    yield 'bucketed', bucketed_of(squares(300, 7, 97), 8, 64, 42), 300 * 2 + 290
    yield 'torch-random', torch_random_of(10, 25, False, 42), 25 * 4 + 20
    yield 'torch-replacement', torch_random_of(10, 15, True, 2**32 + 42), 15 * 4 + 9
    yield 'torch-subset', torch_subset_of([2 * i for i in range(40)], 43), 40 * 3 + 35
    for shuffled, drop in [(True, False), (True, True), (False, False), (False, True)]:
        name = ('torch-distributed' if shuffled else 'torch-sequential') + ('-drop' if drop else '')
        yield name, distributed_of(10, 3, shuffled, drop, 42), 50
    yield 'nanoset', nanoset_of([10, 20, 5], [0.1, 0.1, 0.1], 1234), 35 * 2 + 30
    yield 'nanoset-lengths', nanoset_of([10, 20, 5], None, 1234, False), 17


def orders():
    """Names, orders, and the positions where their samplers were saved."""
    yield 'sequential', plain(100), 310
    yield 'window', windows_of(100, 8, 3), 2**40 + 17
    yield 'random', of_kind('random', 60000, seed=42), 75360
    yield 'shuffle', shuffle_of(1000, 42), 2990
    yield 'shuffle-network', shuffle_of(10**12, TOP), 10**12 - 6
    yield 'shuffle-end', shuffle_of(2**63, 2), 2**63 - 5
    yield 'blocks', blocks_of(1000, 64, 42), 5995
    yield 'lanes', lanes_of(1000, 24, 9, 42), 5995
    yield from mixtures()
    yield from made_of_others()
    yield from with_tables()


LABELS = [{'name': 'label', 'dtype': 'uint64', 'shape': []},
          {'name': 'image', 'dtype': 'uint8', 'shape': [12]}]
# A dataset of tests/data/zrecord, and its snapshot.
LENGTH = 59
DATASET = {'kind': 'zrecord', 'length': LENGTH, 'uuid': '88b2594f-3a1b-45a0-a250-dca7e221f56a',
           'dataset': 'rows'}
# Bytes of its images, some of which are missing.
IMAGE_LENGTHS = [0 if i in {4, 19, 23, 24, 43, 47, 58} else 12 for i in range(LENGTH)]
# In states: the digests are those of the records in LOG, from 50 on, and of no updates before.
READ = {'uuid': DATASET['uuid'], 'length': LENGTH, 'generation': 0, 'sequence': 3,
        'checksum': 450095994, 'tables': 0, 'rows': 50,
        'fields': {'0': '628e7ff8', '1': '53df5cbc', '2': 'cc955b6d', '3': 'fbfe2496',
                   '4': '03db7027'},
        # The crc of frame 0, because no record was changed.
        'changes': {str(field): 2762381451 for field in range(5)},
        'names': {'image': 0, 'label': 1, 'wave': 2, 'caption': 3, 'blob': 4}}


def own(length, identity):
    """A source of callbacks, whose data is identified by its name."""
    return {'kind': 'own', 'length': length, 'columns': LABELS, 'identity': identity}


def array(kind, length, dtype, shape):
    """A file of numbers."""
    return {'kind': kind, 'length': length,
            'columns': [{'name': 'data', 'dtype': dtype, 'shape': shape}]}


def files(names):
    """The files of a folder."""
    return {'kind': 'files', 'length': len(names), 'file_names': names,
            'columns': [{'name': 'image', 'dtype': 'image', 'shape': []}]}


def records(count):
    """A RecordIO file, whose records are MXNet's header, with one label, and 12 bytes."""
    size = 8 + 24 + 12    # with the head of the record
    return {'kind': 'recordio', 'length': count, 'label_width': 1,
            'bytes': count * size, 'record_offsets': [i * size for i in range(count)]}


def tokens(count, sequence, dtype):
    """Samples of tokens, the last of which is the first of the next."""
    return {'kind': 'tokens', 'length': (count - 1) // sequence,
            'tokens': count, 'dtype': dtype, 'sequence_length': sequence}


def of_field(dataset, column, number, dtype, lengths, sequence):
    """Samples of tokens of a field of a dataset, whose documents have these lengths."""
    fields = [{'first': 0, 'uuid': dataset['uuid'], 'field': number, 'record_lengths': lengths}]
    return {**tokens(sum(lengths), sequence, dtype), 'fields': fields,
            'dataset': dataset['dataset'], 'column': column}


def documents(kind, lengths, dtype, length, tokens_of_all, **more):
    """Samples of documents of these lengths, by doc/packing.md."""
    return {'kind': kind, 'length': length, 'formula': 1, 'tokens': tokens_of_all, 'dtype': dtype,
            'documents': len(lengths), 'document_lengths': lengths, **more}


def megatron(lengths, first, count, **more):
    """Megatron's samples of some of these documents, by doc/packing.md."""
    used = lengths[first:first + count]
    samples = (more['epochs'] * sum(used) - more['extra_token']) // more['sequence_length']
    return {'kind': 'megatron', 'length': samples, 'formula': 1, 'tokens': sum(used),
            'dtype': 'uint16', 'first': first, 'count': count, 'document_lengths': used,
            'all_lengths': lengths, **more}


def of_sources(kind, length, sources, **more):
    """A source made from other sources."""
    return {'kind': kind, 'length': length, 'sources': sources, **more}


def loaders():
    """Names, sources, the datasets that they read, orders, and positions."""
    plain_own, other = own(60, 'version 1'), own(25, '')
    yield 'own', plain_own, [], shuffle_of(60, 42), 4 * 60 + 50
    yield 'npy', array('npy', 40, 'float32', [2]), [], shuffle_of(40, 42), 35
    yield 'flat', array('flat', 30, 'int16', [3, 2]), [], plain(30), 64
    yield 'files', files([f'{i % 3}/{i}.jpg' for i in range(20)]), [], shuffle_of(20, 42), 53
    yield 'recordio', records(30), [], shuffle_of(30, 42), 30 * 2 + 17
    yield 'tokens', tokens(1000, 24, 'uint16'), [], shuffle_of(41, 42), 41 * 5 + 30
    yield ('field', of_field(DATASET, 'image', 0, 'uint8', IMAGE_LENGTHS, 24), [READ],
           shuffle_of((sum(IMAGE_LENGTHS) - 1) // 24, 42), 50)
    yield ('packed', documents('packed', [3, 12, 0, 2, 5, 4], 'uint32', 6, 26, capacity=5), [],
           shuffle_of(6, 42), 6 * 3 + 2)
    yield ('joined', documents('joined', [2, 0, 4] * 8, 'uint16', 17, 72, sequence_length=4,
                               separator=9), [], shuffle_of(17, 42), 17 * 2 + 5)
    yield ('megatron', megatron([9, 3, 12, 0, 2, 5, 4], 1, 5, sequence_length=4, extra_token=True,
                                partial=False, epochs=3, separate=True, seed=1234), [],
           shuffle_of(16, 42), 16 * 2 + 3)
    yield 'zrecord', DATASET, [READ], shuffle_of(LENGTH, 42), LENGTH * 7 + 50
    yield ('concat', of_sources('concat', 85, [plain_own, other]), [],
           concat_of([shuffle_of(60, 1), shuffle_of(25, 2)], [0, 60]), 85 + 55)
    yield ('subset', of_sources('subset', 30, [plain_own], table=[59 - 2 * i for i in range(30)]),
           [], shuffle_of(30, 42), 90 + 25)
    yield ('zip', of_sources('zip', 60, [plain_own, array('npy', 60, 'int64', [])]), [],
           weighted_of([1 + i % 3 for i in range(60)], 60, 42), 60 * 3 + 7)
    yield ('map', of_sources('map', 60, [plain_own], inputs=[LABELS[0]['name']], identity='resize',
                             outputs=[{'name': 'pixels', 'dtype': 'float32', 'shape': [3, 4]}]),
           [], shuffle_of(60, 42), 60 * 2 + 11)
    yield ('mixture', of_sources('concat', 85, [plain_own, other]), [],
           blend_of([shuffle_of(60, 1), shuffle_of(25, 2)], [0.7, 0.3], 'redistribute', None,
                    [0, 60], {30: [0.2, 0.8]}), 85 * 2 + 25)
    both = of_sources('zip', LENGTH, [DATASET, array('npy', LENGTH, 'int64', [])])
    yield ('within', of_sources('subset', 30, [both], table=[i * i % LENGTH for i in range(30)]),
           [READ], bucketed_of([i * i % 7 for i in range(30)], 4, 16, 42), 30 + 20)
