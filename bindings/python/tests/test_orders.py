# SPDX-License-Identifier: MIT
"""Orders without loaders: indices, positions, ranks and states."""

import copy
import inspect
import json
import pickle
import re
import threading

import numpy as np
import pytest

import loaderx as lx

ORDERS = {
    'sequential': lambda n: lx.Sequential(n=n),
    'window': lambda n: lx.Sequential(n=n, window=4, stride=3),
    'random': lambda n: lx.Random(n=n, seed=7),
    'shuffle': lambda n: lx.Shuffle(n=n, seed=7),
    'blocks': lambda n: lx.Blocks(n=n, block=8, seed=7),
    'lanes': lambda n: lx.Lanes(n=n, lanes=12, block=4, seed=7),
    'slice': lambda n: lx.Slice(lx.Shuffle(n=n + 5, seed=7), 2, n + 2),
    'repeat': lambda n: lx.Repeat(lx.Shuffle(n=n, seed=7), 1),
    'concat': lambda n: lx.Concat([lx.Shuffle(n=n // 3, seed=7), lx.Sequential(n=n - n // 3)],
                                  offsets=[0, n // 3]),
    'blend': lambda n: lx.Blend([lx.Shuffle(n=n // 3, seed=7), lx.Sequential(n=n - n // 3)],
                                offsets=[0, n // 3], exhausted='redistribute'),
    'padded': lambda n: lx.Padded(lx.Shuffle(n=n, seed=7), 1),
    'weighted': lambda n: lx.Weighted(np.arange(1, n + 1), seed=7),
    'weighted shuffle': lambda n: lx.Weighted(np.arange(1, n + 1), replacement=False, seed=7),
    'balanced': lambda n: lx.Balanced(np.arange(n) % 7 - 3, seed=7),
    'budgeted': lambda n: lx.Budgeted(lx.Shuffle(n=n, seed=7), np.arange(n) % 9 + 1, 20),
    'bucketed': lambda n: lx.Bucketed(np.arange(n) % 50, batch=4, bucket=20, seed=7),
    'torch random': lambda n: lx.TorchRandom(n=n, seed=7),
    'torch replacement': lambda n: lx.TorchRandom(n=n, replacement=True, seed=7),
    'torch subset': lambda n: lx.TorchSubset(range(n)[::-1], seed=7),
    'distributed': lambda n: lx.Distributed(n=n, world=1, seed=7),
    'nanoset': lambda n: lx.Nanoset([n // 3, n - n // 3], [1, 2]),
    'greedy': lambda n: lx.Blend([lx.Shuffle(n=n // 3, seed=7), lx.Sequential(n=n - n // 3)],
                                 offsets=[0, n // 3], method='greedy'),
    'subset': lambda n: lx.Subset(range(n)[::-1], seed=7),
}


@pytest.fixture(params=sorted(ORDERS))
def make(request):
    return ORDERS[request.param]


def test_take_returns_an_array_that_the_caller_owns(make):
    indices = make(100).take(30)
    assert isinstance(indices, np.ndarray)
    assert indices.dtype == np.uint64 and indices.shape == (30,)
    assert indices.flags.writeable and indices.flags.c_contiguous
    indices[:] = 0


def test_sequential_wraps_around():
    assert lx.Sequential(n=5).take(12).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize('window, stride', [(4, 3), (1, 2), (3, 7), (None, 4), (4, None), (9, 5)])
def test_a_window_slides(window, stride):
    w = window or 1
    s = stride or w
    epoch = [start + k for start in range(0, 10, s) for k in range(w)] if w != s else range(10)
    order = lx.Sequential(n=10, window=window, stride=stride)
    assert len(order) == len(epoch)
    assert order.take(50).tolist() == [epoch[k % len(epoch)] % 10 for k in range(50)]


@pytest.mark.parametrize('n', [1, 2, 255, 65536, 65537, 100_003])
def test_shuffle_gives_each_index_once_an_epoch(n):
    order = lx.Shuffle(n=n, seed=1)
    first, second = order.take(n), order.take(n)
    assert np.array_equal(np.sort(first), np.arange(n))
    assert np.array_equal(np.sort(second), np.arange(n))
    if n > 2:
        assert not np.array_equal(first, second)


@pytest.mark.parametrize('n, block', [(1, 1), (100, 7), (100, 1), (100, 2**64 - 1), (5000, 300)])
def test_blocks_and_their_records_are_shuffled(n, block):
    order = lx.Blocks(n=n, block=block, seed=1)
    first, second = order.take(n), order.take(n)
    assert np.array_equal(np.sort(first), np.arange(n))
    assert np.array_equal(np.sort(second), np.arange(n))
    if n > 2:
        assert not np.array_equal(first, second)
    blocks = first // np.uint64(block)
    assert np.count_nonzero(np.diff(blocks.astype(np.int64))) == -(-n // block) - 1


def test_random_draws_with_replacement():
    indices = lx.Random(n=1000, seed=1).take(1000)
    assert indices.max() < 1000
    assert 550 < len(np.unique(indices)) < 700  # 632 in the mean


def test_seeds_differ():
    for kind in lx.Random, lx.Shuffle:
        assert not np.array_equal(kind(n=100, seed=1).take(100), kind(n=100, seed=2).take(100))


def test_the_numbers_of_the_formula():
    # The digests in tests/data/orders, which never change.
    assert lx.Shuffle(n=10, seed=3).take(10).tolist() == [8, 1, 5, 2, 0, 9, 3, 6, 7, 4]


def test_parts_equal_the_whole(make):
    whole, pieces = make(1000), make(1000)
    expected = whole.take(2500)
    got = [pieces.take(k) for k in (0, 1, 510, 3, 600, 1386)]
    assert np.array_equal(np.concatenate(got), expected)
    assert whole.tell() == pieces.tell() == 2500


def test_starts_at_any_position(make):
    order = make(997)
    expected = order.take(3000)
    for position in (0, 1, 996, 997, 998, 2500):
        order.seek(position)
        assert order.tell() == position
        assert np.array_equal(order.take(100), expected[position : position + 100])
    order.seek(2**63)
    assert len(order.take(5)) == 5 and order.tell() == 2**63 + 5


def test_the_positions_end():
    order = lx.Sequential(n=10)
    order.seek(2**64 - 3)
    assert len(order.take(100)) == 2
    assert len(order.take(100)) == 0


# Orders with non-empty parts, and orders that draw from something.
NEVER_EMPTY = {'blend', 'greedy', 'nanoset', 'torch random', 'torch replacement', 'weighted',
               'weighted shuffle'}


@pytest.mark.parametrize('kind', sorted(ORDERS.keys() - NEVER_EMPTY))
def test_an_empty_order_gives_no_index(kind):
    make = ORDERS[kind]
    assert make(0).take(10).shape == (0,)
    assert len(make(0)) == 0


def test_shards_share_each_epoch(make):
    n, world = 103, 4
    whole = make(n).take(n)
    for rank in range(world):
        shard = make(n).shard(rank, world)
        assert (shard.rank, shard.world) == (rank, world)
        share = whole[rank::world]
        assert np.array_equal(shard.take(len(share)), share)


def test_a_shard_starts_at_the_position_of_its_order(make):
    order = make(100)
    order.seek(40)
    shard = order.shard(1, 4)
    expected = make(100).take(100)
    assert np.array_equal(shard.take(5), expected[41:60:4])
    assert order.tell() == 40 and order.world == 1


def test_a_state_survives_json(make):
    order = make(500)
    order.take(123)
    state = json.loads(json.dumps(order.state_dict()))
    assert state['version'] == 1 and state['position'] == 123
    other = make(500)
    other.load_state_dict(state)
    assert other.tell() == 123
    assert np.array_equal(other.take(700), order.take(700))


def test_a_large_position_is_kept(make):
    order, other = make(500), make(500)
    order.seek(2**63 + 17)
    other.load_state_dict(json.loads(json.dumps(order.state_dict())))
    assert other.tell() == 2**63 + 17


def test_a_state_fits_any_number_of_ranks():
    shard = lx.Shuffle(n=100, seed=1).shard(2, 4)
    shard.take(5)
    whole = lx.Shuffle(n=100, seed=1)
    whole.load_state_dict(shard.state_dict())
    assert whole.tell() == shard.tell()


@pytest.mark.parametrize(
    'other',
    [lx.Shuffle(n=10, seed=2), lx.Shuffle(n=11, seed=1), lx.Random(n=10, seed=1),
     lx.Sequential(n=10)],
    ids=repr,
)
def test_rejects_a_state_of_another_order(other):
    state = lx.Shuffle(n=10, seed=1).state_dict()
    other.seek(3)
    with pytest.raises(ValueError):
        other.load_state_dict(state)
    assert other.tell() == 3


def test_rejects_an_edited_state():
    order = lx.Shuffle(n=10, seed=1)
    state = order.state_dict()
    state['position'] = 5
    with pytest.raises(lx.CorruptError):
        order.load_state_dict(state)
    with pytest.raises(lx.LoaderxError):
        order.load_state_dict({**order.state_dict(), 'version': 2})
    with pytest.raises(Exception):
        order.load_state_dict({})
    assert order.tell() == 0


def test_an_order_without_a_length_waits_for_a_source():
    order = lx.Shuffle(seed=3)
    for use in order.tell, lambda: order.take(1), order.state_dict, lambda: len(order):
        with pytest.raises(ValueError, match='has no length'):
            use()
    assert repr(order) == 'Shuffle(seed=3)'
    assert order and lx.Shuffle(n=1) and not lx.Shuffle(n=0)    # as in: order or lx.Sequential()


def test_repr_shows_the_constructor_call():
    assert repr(lx.Sequential(n=9, window=4, stride=2)) == 'Sequential(n=9, window=4, stride=2)'
    assert repr(lx.Random(n=5, seed=3)) == 'Random(n=5, seed=3)'
    assert repr(lx.Shuffle(n=5).shard(1, 2)) == 'Shuffle(n=5, seed=0).shard(1, 2)'
    assert repr(lx.Blocks(block=4)) == 'Blocks(block=4, seed=0)'


def test_can_be_pickled(make):
    order = make(100).shard(1, 3)
    order.take(10)
    for other in pickle.loads(pickle.dumps(order)), copy.deepcopy(order):
        assert repr(other) == repr(order)
        assert other.tell() == order.tell()
    assert np.array_equal(other.take(50), order.take(50))
    assert pickle.loads(pickle.dumps(lx.Shuffle(seed=4)))._arguments() == {'seed': 4}


@pytest.mark.parametrize(
    'call, error, word',
    [
        (lambda: lx.Shuffle(n=-1), ValueError, 'n'),
        (lambda: lx.Shuffle(n=2**64), ValueError, 'n'),
        (lambda: lx.Shuffle(n=1.5), TypeError, 'n'),
        (lambda: lx.Shuffle(n='10'), TypeError, 'n'),
        (lambda: lx.Shuffle(n=True), TypeError, 'n'),
        (lambda: lx.Shuffle(n=10, seed=-1), ValueError, 'seed'),
        (lambda: lx.Random(n=10, seed=None), TypeError, 'seed'),
        (lambda: lx.Sequential(n=10, window=0), ValueError, 'window'),
        (lambda: lx.Sequential(n=10, stride=-2), ValueError, 'stride'),
        (lambda: lx.Blocks(n=10), TypeError, 'block'),
        (lambda: lx.Blocks(n=10, block=0), ValueError, 'block'),
        (lambda: lx.Blocks(n=10, block=None), TypeError, 'block'),
        (lambda: lx.Blocks(n=10, block=1, seed=2**64), ValueError, 'seed'),
        (lambda: lx.Sequential(n=10).take(-1), ValueError, 'k'),
        (lambda: lx.Sequential(n=10).take('a'), TypeError, 'k'),
        (lambda: lx.Sequential(n=10).take(2**62), MemoryError, 'k'),
        (lambda: lx.Sequential(n=10).seek(-1), ValueError, 'position'),
        (lambda: lx.Sequential(n=10).seek(2**64), ValueError, 'position'),
        (lambda: lx.Sequential(n=10).shard(2, 2), ValueError, 'rank'),
        (lambda: lx.Sequential(n=10).shard(0, 0), ValueError, 'world'),
        (lambda: lx.Sequential(n=10).load_state_dict('x'), TypeError, 'state'),
        (lambda: lx.Sequential(n=10).load_state_dict({'a': object()}), ValueError, 'state'),
        (lambda: lx.orders.Order(), TypeError, 'Order'),
    ],
)
def test_rejects_invalid_arguments_by_name(call, error, word):
    with pytest.raises(error, match=rf'\b{word}\b'):
        call()


def test_numpy_integers_are_integers():
    assert np.array_equal(
        lx.Shuffle(n=np.int64(10), seed=np.uint8(3)).take(np.int32(4)),
        lx.Shuffle(n=10, seed=3).take(4)
    )


def test_threads_share_one_order():
    order = lx.Shuffle(n=20_000, seed=1)
    parts = []

    def work():
        for _ in range(20):
            parts.append(order.take(1000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    counts = np.bincount(np.concatenate(parts).astype(np.int64), minlength=20_000)
    assert (counts == 4).all()  # 80,000 positions are four epochs


@pytest.mark.parametrize('kind, arguments, example', [
    (lx.Shuffle, (42,), 'Shuffle takes its arguments by name (n, seed), as in lx.Shuffle(seed=42). '
     "Without n, the length is that of the loader's source"),
    (lx.Shuffle, (5000, 42), 'lx.Shuffle(seed=42)'),
    (lx.Sequential, (42,), 'lx.Sequential(n=42)'),
    (lx.Random, ('42',), 'lx.Random(seed=...)'),
    (lx.Blocks, (42,), 'lx.Blocks(block=..., seed=42)'),
    (lx.Lanes, (None, 42), 'lx.Lanes(source, block=..., seed=42)'),
    (lx.TorchRandom, (42,), 'lx.TorchRandom(seed=42)'),
    (lx.Distributed, (5000, 42), 'lx.Distributed(world=..., seed=42)'),
    (lx.TorchSubset, ([1], 42), 'TorchSubset takes only indices by position, and its other '
     'arguments by name (seed, tables), as in lx.TorchSubset(indices, seed=42)'),
    (lx.Subset, ([1], None, 42), 'lx.Subset(indices, order, seed=42)'),
    (lx.Weighted, ([1.0], 42), 'lx.Weighted(weights, seed=42)'),
    (lx.Balanced, ([1], 42), 'lx.Balanced(classes, seed=42)'),
    (lx.Bucketed, ([1], 42), 'lx.Bucketed(lengths, batch=..., seed=42)'),
    (lx.Budgeted, (lx.Shuffle(), [1], 1, 42), 'lx.Budgeted(order, costs, budget, rows=42)'),
    (lx.Blend, ([lx.Shuffle()], [1], 42), 'lx.Blend(parts, weights, n=42)'),
    (lx.Nanoset, ([1], [1], 42), 'lx.Nanoset(lengths, weights, seed=42)'),
    (lx.Slice, (lx.Shuffle(), 0, 9, 42), 'positional'),
])
def test_explains_arguments_by_position(kind, arguments, example):
    with pytest.raises(TypeError, match=re.escape(example)):    # 42: a length or a seed?
        kind(*arguments)


def test_a_class_of_the_caller_explains_its_arguments():
    class Mine(lx.Shuffle):
        def __init__(self, first, *, offset=0, **more):
            super().__init__(**more)
            self.given = first, offset

    with pytest.raises(TypeError, match=r'takes only first by position.* as in Mine\(first, off'):
        Mine(1, 2)
    assert Mine(1, offset=2, n=4).given == (1, 2)


def test_the_signature_of_an_order_names_its_arguments():
    assert str(inspect.signature(lx.Blocks)).startswith('(*, n: ')


@pytest.mark.parametrize('order', [
    lx.Shuffle(n=42), lx.Sequential(n=42), lx.Random(n=42), lx.Blocks(n=42, block=4),
    lx.Lanes(n=42, lanes=6, block=4), lx.TorchRandom(n=42), lx.Distributed(n=42, world=2),
    lx.Weighted([1] * 42),
    lx.Balanced([1, 2] * 21), lx.Bucketed(range(42), batch=4), lx.Slice(lx.Shuffle(n=42), 0, 9),
    lx.Repeat(lx.Padded(lx.Shuffle(n=42), 10), 2),
    lx.Budgeted(lx.Shuffle(), [1] * 42, 5),
], ids=lambda order: type(order).__name__)
def test_an_order_of_fewer_records_than_the_source_is_refused(order):
    with pytest.raises(ValueError, match='of 42 records, but there are 5000 .*SubsetDataset'):
        lx.Loader(np.arange(5000), order=order)


def test_a_subset_reads_some_of_the_records():
    order = lx.Subset(range(42), seed=1)
    with lx.Loader(np.arange(5000), order=order, batch_size=42) as loader:
        assert sorted(next(loader)['data']) == list(range(42))
