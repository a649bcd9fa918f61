# SPDX-License-Identifier: MIT
"""Orders made of others. test_orders.py has the tests of all orders."""

import array
import copy
import gc
import os
import pickle
import sys
import threading

import numpy as np
import pytest

import loaderx as lx

N = 100


def labels(loader):
    return [int(i) for batch in loader for i in batch['data']]


# ---- slices


@pytest.mark.parametrize('start, stop', [
    (0, None), (0, 10), (10, None), (10, 20), (-10, None), (0, -10), (-20, -10), (-10**30, 10**30),
    (10**30, None), (20, 10), (0, 0), (-10, 5), (2**64, None), (0, -(2**64)),
])
def test_slices_match_those_of_a_list(start, stop):
    part = lx.Shuffle(n=N, seed=1)
    order = lx.Slice(part, start, stop)
    epochs = [part.take(N).tolist() for _ in range(3)]
    assert len(order) == len(epochs[0][start:stop])
    assert order.take(3 * len(order)).tolist() == sum((e[start:stop] for e in epochs), [])


def test_a_slice_of_a_long_order():
    order = lx.Slice(lx.Sequential(n=2**64 - 1), -5)
    assert order.take(5).tolist() == [2**64 - 1 - k for k in (5, 4, 3, 2, 1)]
    assert len(lx.Slice(lx.Shuffle(n=2**40, seed=1), 5, 2**39)) == 2**39 - 5


# ---- repeat


def test_repeat_has_longer_epochs_of_the_same_indices():
    order = lx.Repeat(lx.Shuffle(n=N, seed=1), 3)
    assert len(order) == 3 * N
    assert np.array_equal(order.take(7 * N), lx.Shuffle(n=N, seed=1).take(7 * N))


# ---- concat


def test_concat_is_one_order_after_the_other():
    one, two = lx.Shuffle(n=5, seed=1), lx.Shuffle(n=7, seed=2)
    epochs = [np.concatenate([one.take(5), two.take(7)]) for _ in range(3)]
    order = lx.Concat([one, two])
    assert np.array_equal(order.take(36), np.concatenate(epochs))
    order = lx.Concat((one, two), offsets=np.array([0, 5]))
    assert np.array_equal(order.take(12), epochs[0] + np.repeat([0, 5], [5, 7]).astype(np.uint64))


def test_accepts_a_part_twice():
    part = lx.Shuffle(n=5, seed=1)
    assert np.array_equal(lx.Concat([part, part]).take(10), np.tile(part.take(5), 2))


# ---- subset

TABLE = [7, 3, 3, 99, 0]


@pytest.mark.parametrize('indices', [
    TABLE, tuple(TABLE), array.array('i', TABLE), np.array(TABLE), np.array(TABLE, 'uint8'),
    np.array(TABLE, '>i4'), np.array(TABLE, 'uint64'), np.repeat(TABLE, 2)[::2],
    [np.int16(i) for i in TABLE], memoryview(np.array(TABLE)),
], ids=lambda indices: type(indices).__name__)
def test_a_subset_has_the_given_indices(indices):
    assert lx.Subset(indices).take(7).tolist() == TABLE + TABLE[:2]


def test_a_subset_follows_its_order():
    table = np.random.default_rng(0).integers(0, 2**40, N)
    for order, part in [
        (lx.Subset(table, seed=3), lx.Shuffle(n=N, seed=3)),
        (lx.Subset(table, lx.Shuffle(seed=3)), lx.Shuffle(n=N, seed=3)),
        (lx.Subset(table, order=lx.Random(n=N, seed=3)), lx.Random(n=N, seed=3)),
        (lx.Subset(table, lx.Slice(lx.Sequential(), 10, 30)), lx.Sequential(n=20, window=20)),
    ]:
        places = part.take(2 * len(order)).astype(np.int64)
        if len(order) != N:
            places = places + 10
        assert np.array_equal(order.take(2 * len(order)), table[places].astype(np.uint64))


def test_a_subset_keeps_its_indices():
    table = np.array(TABLE, np.uint64)
    order = lx.Subset(table)
    table[:] = 1
    assert copy.deepcopy(order).take(5).tolist() == order.take(5).tolist() == TABLE


@pytest.mark.parametrize('indices', [[], np.array([], np.int64), range(0)])
def test_an_empty_subset(indices):
    for order in lx.Subset(indices), lx.Subset(indices, seed=1):
        assert len(order) == len(order.take(5)) == 0


def test_large_indices():
    table = [2**64 - 2, 2**63, 0]
    assert lx.Subset(table).take(3).tolist() == table
    assert lx.Subset(np.array(table, np.uint64)).take(3).tolist() == table


# ---- without a length

WAITING = {
    'slice': (lx.Slice(lx.Shuffle(seed=1), 10, -10), 'Slice(Shuffle(seed=1), start=10, stop=-10)'),
    'repeat': (lx.Repeat(lx.Blocks(block=8, seed=1), 2),
               'Repeat(Blocks(block=8, seed=1), times=2)'),
    'concat': (lx.Concat([lx.Shuffle(seed=1), lx.Sequential(n=3)], offsets=[0, 2]),
               'Concat([Shuffle(seed=1), Sequential(n=3)], offsets=[0, 2])'),
    'deep': (lx.Slice(lx.Concat([lx.Repeat(lx.Slice(lx.Shuffle(seed=1), 5), 2)]), 3, 300),
             'Slice(Concat([Repeat(Slice(Shuffle(seed=1), start=5), times=2)]), '
             'start=3, stop=300)'),
}
KNOWN = {
    'slice': lambda n: lx.Slice(lx.Shuffle(n=n, seed=1), 10, -10),
    'repeat': lambda n: lx.Repeat(lx.Blocks(n=n, block=8, seed=1), 2),
    'concat': lambda n: lx.Concat([lx.Shuffle(n=n, seed=1), lx.Sequential(n=3)], offsets=[0, 2]),
    'deep': lambda n: lx.Slice(lx.Repeat(lx.Slice(lx.Shuffle(n=n, seed=1), 5), 2), 3, 300),
}


@pytest.mark.parametrize('kind', sorted(WAITING))
def test_takes_its_length_from_the_source_with_its_parts(kind):
    order, text = WAITING[kind]
    for other in order, pickle.loads(pickle.dumps(order)), copy.deepcopy(order):
        assert repr(other) == text
        with pytest.raises(ValueError, match='has no length: pass n'):
            other.take(1)
        with pytest.raises(ValueError, match='has no length: pass n'):
            len(other)
        for n in 50, 200:
            with lx.Loader(np.arange(n), batch_size=16, order=other, epochs=2) as loader:
                known = KNOWN[kind](n)
                assert labels(loader) == known.take(2 * len(known)).tolist()


def test_ranks_and_resume_over_a_slice():
    data = np.arange(1000)
    options = dict(order=lx.Slice(lx.Shuffle(seed=1), 0, 500), batch_size=16, epochs=3)
    whole = labels(lx.Loader(data, **options))
    assert sorted(whole[:500]) != list(range(500)) and len(set(whole[:500])) == 500
    ranks = [lx.Loader(data, rank=rank, world=2, **options) for rank in range(2)]
    seen = [labels([next(loader) for _ in range(10)]) for loader in ranks]
    state = ranks[0].state_dict()
    assert sorted(seen[0] + seen[1]) == sorted(whole[: state['position']])
    one = lx.Loader(data, **options)
    one.load_state_dict(state)
    assert labels(one) == whole[state['position']:]
    other = lx.Loader(data, order=lx.Slice(lx.Shuffle(seed=2), 0, 500))
    with pytest.raises(ValueError, match='seed'):
        other.load_state_dict(state)


def test_accepts_a_subset_longer_than_the_source():
    data = np.arange(10)
    assert labels(lx.Loader(data, order=lx.Subset([3] * 25), batch_size=4)) == [3] * 25
    with pytest.raises(ValueError, match='with at least 11 records, but this source has only 10'):
        lx.Loader(data, order=lx.Subset([10]))
    with pytest.raises(ValueError, match='order'):
        lx.Loader(data, order=lx.Concat([lx.Sequential(), lx.Sequential()], offsets=[0, 10]))


# ---- parts


def test_ignores_the_position_of_a_part():
    part = lx.Shuffle(n=N, seed=1)
    expected = part.take(10)
    order = lx.Slice(part, 0, 10)
    assert np.array_equal(order.take(10), expected)
    part.seek(77)
    order.seek(0)
    assert np.array_equal(order.take(10), expected) and part.tell() == 77


def test_combined_orders_keep_their_parts_alive():
    part = lx.Shuffle(n=N, seed=1)
    expected = part.take(2 * N)[N:]
    order = lx.Slice(lx.Repeat(lx.Concat([part]), 2), N)
    del part
    gc.collect()
    core = order._order    # the library's own references suffice
    del order
    gc.collect()
    assert np.array_equal(core.take(N), expected)


def test_states_name_the_parts():
    order = lx.Repeat(lx.Slice(lx.Shuffle(n=N, seed=5), 10), 3)
    state = order.state_dict()['order']
    assert (state['kind'], state['times'], state['length']) == ('repeat', 3, 270)
    assert state['part']['part'] == lx.Shuffle(n=N, seed=5).state_dict()['order']
    with pytest.raises(ValueError, match='indices'):
        lx.Subset([1, 2]).load_state_dict(lx.Subset([2, 1]).state_dict())


def test_repr_of_a_subset():
    assert repr(lx.Subset([1, 22, 3], seed=4)) == 'Subset([1, 22, 3], seed=4)'
    assert repr(lx.Subset(TABLE, lx.Shuffle(seed=4))) \
        == 'Subset([7, 3, 3, 99, 0], order=Shuffle(seed=4))'
    assert repr(lx.Subset(range(1000)).shard(1, 2)) \
        == 'Subset([0, 1, 2, ..., 997, 998, 999]).shard(1, 2)'


def test_freed_orders_leak_nothing():
    table = np.arange(10_000)
    bad = np.arange(10_000) - 1

    def work():
        part = lx.Shuffle(seed=1)
        order = lx.Slice(lx.Concat([lx.Subset(table, part), lx.Blocks(n=500, block=7)], [0, 3]), 5)
        lx.Repeat(order.shard(1, 2)._order and order, 2).take(600)
        pickle.loads(pickle.dumps(order)).state_dict()
        for wrong in lambda: lx.Subset(bad), lambda: lx.Subset([1], lx.Sequential(n=2)):
            with pytest.raises(ValueError):
                wrong()
        return part

    def resident():
        with open('/proc/self/statm') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    for _ in range(50):
        work()
    gc.collect()
    before = resident()
    for _ in range(400):
        work()
    gc.collect()
    # A leak of the table would be 400 times 40 KB; memory grows in larger steps.
    assert resident() < before + (8 << 20)
    part = work()    # not in the loop: CPython 3.14 borrows only a variable that is surely bound
    count = sys.getrefcount(part)
    for _ in range(1000):
        lx.Repeat(lx.Concat([part, part]), 2)
    assert sys.getrefcount(part) == count


def test_threads_make_and_take():
    part = lx.Shuffle(n=10_000, seed=1)
    expected = part.take(9000)[5000:].tolist()
    results = []

    def work():
        for _ in range(50):
            order = lx.Slice(lx.Subset(np.arange(10_000), part), 5000)
            results.append(order.take(4000).tolist() == expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 200 and all(results)


# ---- wrong arguments

ORDER = lx.Shuffle(n=N, seed=1)


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.Slice(5), TypeError, 'order'),
    (lambda: lx.Slice(ORDER._order), TypeError, 'order'),
    (lambda: lx.Slice(ORDER.shard(0, 2)), ValueError, 'order'),
    (lambda: lx.Slice(ORDER, 1.5), TypeError, 'start'),
    (lambda: lx.Slice(ORDER, True), TypeError, 'start'),
    (lambda: lx.Slice(ORDER, 0, '5'), TypeError, 'stop'),
    (lambda: lx.Slice(ORDER, 0, 10, 2), TypeError, 'argument'),
    (lambda: lx.Repeat(None, 2), TypeError, 'order'),
    (lambda: lx.Repeat(ORDER, 0), ValueError, 'times'),
    (lambda: lx.Repeat(ORDER, -1), ValueError, 'times'),
    (lambda: lx.Repeat(ORDER, 2.0), TypeError, 'times'),
    (lambda: lx.Repeat(ORDER, 2**63), ValueError, 'times'),
    (lambda: lx.Concat([]), ValueError, 'orders'),
    (lambda: lx.Concat(5), TypeError, 'orders'),
    (lambda: lx.Concat([ORDER, 5]), TypeError, r'orders\[1\]'),
    (lambda: lx.Concat([ORDER.shard(1, 2)]), ValueError, r'orders\[0\]'),
    (lambda: lx.Concat([lx.Sequential(n=2**63)] * 2), ValueError, 'orders'),
    (lambda: lx.Concat([ORDER], 3), TypeError, 'offsets'),
    (lambda: lx.Concat([ORDER], [1, 2]), ValueError, 'offsets'),
    (lambda: lx.Concat([ORDER], [-1]), ValueError, r'offsets\[0\]'),
    (lambda: lx.Concat([ORDER], [2**64 - 5]), ValueError, 'offset'),
    (lambda: lx.Subset(5), TypeError, 'indices'),
    (lambda: lx.Subset(None), TypeError, 'indices'),
    (lambda: lx.Subset('123'), TypeError, 'indices'),
    (lambda: lx.Subset(b'123'), TypeError, 'indices'),
    (lambda: lx.Subset({1, 2}), TypeError, 'indices'),
    (lambda: lx.Subset([1, -2]), ValueError, r'indices\[1\] must be from 0 .*, not -2'),
    (lambda: lx.Subset(np.array([1, -2])), ValueError, r'indices\[1\] must be from 0 .*, not -2'),
    (lambda: lx.Subset([2**64]), ValueError, r'indices\[0\]'),
    (lambda: lx.Subset([0, 2**64 - 1]), ValueError, r'indices\[1\]'),
    (lambda: lx.Subset(np.array([0, 2**64 - 1], np.uint64)), ValueError, r'indices\[1\]'),
    (lambda: lx.Subset([0, True]), TypeError, r'indices\[1\]'),
    (lambda: lx.Subset([0.0]), TypeError, r'indices\[0\]'),
    (lambda: lx.Subset([[0], [1]]), TypeError, r'indices\[0\]'),
    (lambda: lx.Subset(np.zeros((2, 2), int)), ValueError, 'indices'),
    (lambda: lx.Subset(np.zeros(2)), TypeError, 'indices'),
    (lambda: lx.Subset(np.zeros(2, bool)), TypeError, 'indices'),
    (lambda: lx.Subset([1, 2], lx.Sequential(n=3)), ValueError, 'order'),
    (lambda: lx.Subset([1, 2], 3), TypeError, 'order'),
    (lambda: lx.Subset([1, 2], ORDER.shard(0, 2)), ValueError, 'order'),
    (lambda: lx.Subset([1, 2], lx.Sequential(), seed=1), ValueError, 'seed'),
    (lambda: lx.Subset([1, 2], seed=-1), ValueError, 'seed'),
])
def test_rejects_invalid_arguments_by_name(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_reports_a_mismatch_once_the_length_is_known():
    with pytest.raises(ValueError, match='times'):
        lx.Loader(np.arange(10), order=lx.Repeat(lx.Shuffle(), 2**63))
