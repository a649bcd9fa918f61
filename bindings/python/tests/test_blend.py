# SPDX-License-Identifier: MIT
"""Mixtures of orders. Tests of all orders are in test_orders.py."""

import copy
import gc
import json
import math
import pickle
import sys

import numpy as np
import pytest

import loaderx as lx
from mixture import plan

N = 100
PARTS = [lx.Shuffle(n=N, seed=1), lx.Sequential(n=50), lx.Random(n=30, seed=2)]
OFFSETS = [0, 100, 150]


def labels(loader):
    return [int(i) for batch in loader for i in batch['data']]


def sets_of(indices):
    return np.searchsorted(OFFSETS, indices.astype(np.int64), 'right') - 1


def test_each_part_has_its_share_at_any_time():
    order = lx.Blend(PARTS, [0.7, 0.2, 0.1], offsets=OFFSETS)
    assert len(order) == 180
    sets = sets_of(order.take(180))
    for end in range(181):
        counts = np.bincount(sets[:end], minlength=3)
        assert np.all(abs(counts - end * np.array([0.7, 0.2, 0.1])) <= 1)
        assert order.counts(0, end).tolist() == counts.tolist()


def test_each_part_follows_its_own_order():
    order = lx.Blend(PARTS, [0.7, 0.2, 0.1], offsets=OFFSETS)
    indices = order.take(5 * 180)
    sets = sets_of(indices)
    for i, part in enumerate(PARTS):
        mine = indices[sets == i] - np.uint64(OFFSETS[i])
        assert np.array_equal(mine, part.shard(0, 1).take(len(mine)))


def test_weights_are_the_lengths_by_default():
    order = lx.Blend(PARTS)
    assert order.counts(0, 180).tolist() == [100, 50, 30]
    by_hand = lx.Blend(PARTS, (100, 50, np.float32(30)))
    assert np.array_equal(order.take(360), by_hand.take(360))
    assert by_hand.state_dict()['order'] == order.state_dict()['order']


@pytest.mark.parametrize('temperature, weights', [
    # Nearest float64 of roots of 100, 50 and 30, from 30 digits found with integers.
    (1, [100.0, 50.0, 30.0]),
    (2, [10.0, math.isqrt(50 * 10**60) / 10**30, math.isqrt(30 * 10**60) / 10**30]),
    (4, [math.isqrt(100 * 10**60) ** 0.5 / 10**15, math.isqrt(math.isqrt(50 * 10**120)) / 10**30,
         math.isqrt(math.isqrt(30 * 10**120)) / 10**30]),
    (0.5, [10000.0, 2500.0, 900.0]),
    (1e300, [1.0, 1.0, 1.0]),
])
def test_a_temperature_gives_powers_of_the_lengths(temperature, weights):
    order = lx.Blend(PARTS, temperature=temperature, n=5000)
    by_hand = lx.Blend(PARTS, weights, n=5000)
    assert np.array_equal(order.take(10_000), by_hand.take(10_000))
    assert by_hand.state_dict()['order'] == order.state_dict()['order']
    shares = order.counts(0, 5000) / 5000
    lengths = np.array([100, 50, 30]) ** (1 / temperature)
    assert np.allclose(shares, lengths / lengths.sum(), atol=1 / 5000)
    again = pickle.loads(pickle.dumps(order))
    assert again.state_dict() == order.state_dict() and f'temperature={temperature}' in repr(again)


def test_a_temperature_replaces_weights_of_none_only():
    order = lx.Blend(PARTS, temperature=2, n=400, schedule={100: [1, 0, 0], 200: None})
    by_hand = lx.Blend(PARTS, [10, 50**0.5, 30**0.5], n=400,
                       schedule={100: [1, 0, 0], 200: [10, 50**0.5, 30**0.5]})
    assert np.array_equal(order.take(400), by_hand.take(400))
    greedy = lx.Blend(PARTS, temperature=2, n=400, method='greedy')
    assert np.array_equal(greedy.take(400), lx.Blend(PARTS, [10, 50**0.5, 30**0.5], n=400,
                                                     method='greedy').take(400))


def test_a_temperature_takes_the_lengths_of_the_loader():
    parts = [lx.Shuffle(seed=1), lx.Slice(lx.Shuffle(seed=2), 0, 25)]
    loader = lx.Loader(np.arange(100), batch_size=5, order=lx.Blend(parts, temperature=2, n=30))
    by_hand = lx.Loader(np.arange(100), batch_size=5, order=lx.Blend(parts, [2, 1], n=30))
    assert labels(loader) == labels(by_hand)


@pytest.mark.parametrize('arguments, error, text', [
    ({'temperature': 0}, ValueError, 'temperature must be above 0'),
    ({'temperature': -1}, ValueError, 'temperature must be finite and not negative'),
    ({'temperature': math.inf}, ValueError, 'temperature must be finite'),
    ({'temperature': '2'}, TypeError, 'temperature must be a number'),
    ({'temperature': 1e-3}, ValueError, r'temperature is too small: 100 \*\* \(1 / 0.001\)'),
    ({'temperature': 2, 'weights': [1, 1, 1]}, ValueError, 'mutually exclusive'),
    ({'temperature': 2, 'schedule': {0: [1, 1, 1], 9: [1, 0, 0]}}, ValueError, 'no effect'),
    ({'temperature': 2, 'method': 'exhaustive'}, ValueError, 'temperature must not be given'),
])
def test_rejects_temperatures(arguments, error, text):
    with pytest.raises(error, match=text):
        lx.Blend(PARTS, **arguments)


def test_returns_plain_indices_without_offsets():
    order = lx.Blend([lx.Sequential(n=3), lx.Sequential(n=3)], [1, 1])
    assert order.take(6).tolist() == [0, 0, 1, 1, 2, 2]


def test_stop_and_redistribute():
    parts = [lx.Shuffle(n=10, seed=1), lx.Shuffle(n=1000, seed=2)]
    stop = lx.Blend(parts, [0.5, 0.5], offsets=[0, 10], exhausted='stop')
    assert 19 <= len(stop) <= 21 and stop.counts(0, len(stop))[0] == 10
    every = lx.Blend(parts, [0.5, 0.5], offsets=[0, 10], exhausted='redistribute')
    for epoch in range(2):
        assert sorted(every.take(1010).tolist()) == list(range(1010))
    assert len(lx.Blend(parts, [1, 0], exhausted='redistribute')) == 10
    assert len(lx.Blend(parts, n=7, exhausted='stop')) == 7


SCHEDULE = {0: [1, 0, 0], 30: [0, 1, 1], 90: None}


@pytest.mark.parametrize('schedule, weights', [
    (SCHEDULE, None),
    (dict(reversed(SCHEDULE.items())), None),
    (list(SCHEDULE.items()), None),
    ([[30, (0, 1, 1)], [90, None]], [1, 0, 0]),
])
def test_a_schedule(schedule, weights):
    order = lx.Blend(PARTS, weights, offsets=OFFSETS, n=1000, schedule=schedule)
    weightings = [(0, [1, 0, 0]), (30, [0, 1, 1]), (90, [100, 50, 30])]
    sets = sets_of(order.take(1000))
    assert sets.tolist() == [i for i, _ in plan([100, 50, 30], weightings, 1000)]
    assert order.counts(0, 30).tolist() == [30, 0, 0]
    assert order.counts(30, 90).tolist() == [0, 30, 30]
    assert order.counts(1020, 1040).tolist() == [10, 5, 5]


def test_counts_of_far_positions():
    order = lx.Blend(PARTS, [0.5, 0.25, 0.25])
    counts = order.counts(0, 2**64 - 1)
    assert counts.dtype == np.uint64 and sum(counts.tolist()) == 2**64 - 1
    assert abs(int(counts[0]) - 2**63) <= 2**64 // 180
    assert order.counts(2**63, 2**63).tolist() == [0, 0, 0]
    assert order.shard(1, 2).counts(0, 180).tolist() == order.counts(0, 180).tolist()
    counts[0] = 0    # an array that the caller changes later
    far = 2**64 - 200
    order = lx.Blend(PARTS, [0.5, 0.25, 0.25], offsets=OFFSETS)
    order.seek(far)
    sets = sets_of(order.take(150))
    assert order.counts(far, far + 150).tolist() == np.bincount(sets, minlength=3).tolist()


def test_many_parts():
    parts = [lx.Shuffle(n=1 + i, seed=i) for i in range(2000)]
    order = lx.Blend(parts, offsets=np.cumsum([0, *map(len, parts[:-1])]))
    assert len(order) == 2000 * 2001 // 2
    expected = np.arange(1, 2001)
    assert np.all(abs(order.counts(0, len(order)).astype(int) - expected) <= 6)
    order.seek(1_000_000)
    assert order.take(10_000).max() < len(order)


REPRS = [
    (lx.Blend(PARTS[:2]), 'Blend([Shuffle(n=100, seed=1), Sequential(n=50)])'),
    (lx.Blend(PARTS[:2], [1, 0.5], exhausted='stop'),
     "Blend([Shuffle(n=100, seed=1), Sequential(n=50)], [1.0, 0.5], exhausted='stop')"),
    (lx.Blend(PARTS[:2], n=9, offsets=[0, 100], schedule=[(5, [1, 2]), (7, None)]),
     'Blend([Shuffle(n=100, seed=1), Sequential(n=50)], n=9, offsets=[0, 100], '
     'schedule={5: [1.0, 2.0], 7: None})'),
    (lx.Blend([lx.Shuffle(seed=1), lx.Sequential(n=50)]),
     'Blend([Shuffle(seed=1), Sequential(n=50)])'),
]


@pytest.mark.parametrize('order, text', REPRS)
def test_repr_and_pickle(order, text):
    assert repr(order) == text
    copied = eval(text, vars(lx))
    for other in copied, pickle.loads(pickle.dumps(order)), copy.deepcopy(order):
        assert repr(other) == text
        if order._order is not None:
            assert other.shard(0, 1).take(50).tolist() == order.shard(0, 1).take(50).tolist()


def test_pickle_keeps_position_and_rank():
    order = lx.Blend(PARTS, [1, 2, 3], n=50, schedule={20: [3, 2, 1]}).shard(1, 3)
    order.take(11)
    other = pickle.loads(pickle.dumps(order))
    assert (other.rank, other.world, other.tell()) == (1, 3, order.tell())
    assert other.take(100).tolist() == order.take(100).tolist()


def test_states_distinguish_mixtures():
    order = lx.Blend(PARTS, [1, 2, 3], n=50, schedule={20: [3, 2, 1]})
    order.take(33)
    state = json.loads(json.dumps(order.state_dict()))
    other = lx.Blend(PARTS, [1, 2, 3], n=50, schedule={20: [3, 2, 1]})
    other.load_state_dict(state)
    assert other.tell() == 33 and other.take(9).tolist() == order.take(9).tolist()
    for different in [
        lx.Blend(PARTS, [1, 2, 3.5], n=50, schedule={20: [3, 2, 1]}),
        lx.Blend(PARTS, [1, 2, 3], n=50, schedule={21: [3, 2, 1]}),
        lx.Blend(PARTS, [1, 2, 3], n=51, schedule={20: [3, 2, 1]}),
        lx.Blend(PARTS, [1, 2, 3], n=50, schedule={20: [3, 2, 1]}, offsets=[0, 0, 1]),
        lx.Blend(PARTS, [1, 2, 3], n=50, schedule={20: [3, 2, 1]}, exhausted='stop'),
        lx.Blend(PARTS[::-1], [1, 2, 3], n=50, schedule={20: [3, 2, 1]}),
    ]:
        with pytest.raises(ValueError, match='order'):
            different.load_state_dict(state)


# ---- loaders


def test_a_loader_reads_concatenated_sources():
    data = np.arange(180)
    order = lx.Blend(PARTS, [0.7, 0.2, 0.1], offsets=OFFSETS)
    with lx.Loader(data, order=order, batch_size=16, epochs=3) as loader:
        assert labels(loader) == order.take(540).tolist()
    with pytest.raises(ValueError, match='with at least 180 records, but this source has only 179'):
        lx.Loader(data[:-1], order=lx.Blend(PARTS, offsets=OFFSETS))


def test_parts_wait_for_the_source():
    order = lx.Blend([lx.Shuffle(seed=1), lx.Shuffle(n=10, seed=2)])
    with pytest.raises(ValueError, match='has no length: pass n'):
        order.counts(0, 1)
    with pytest.raises(ValueError, match='has no length: pass n'):
        len(order)
    for n in 20, 40:
        known = lx.Blend([lx.Shuffle(n=n, seed=1), lx.Shuffle(n=10, seed=2)])
        with lx.Loader(np.arange(n), order=order, batch_size=16, epochs=2) as loader:
            assert labels(loader) == known.take(2 * (n + 10)).tolist()
    with pytest.raises(ValueError, match=r'parts\[0\] is empty'):
        lx.Loader(np.arange(0), order=lx.Blend([lx.Shuffle(seed=1)]))


def test_resume_on_other_ranks_in_the_middle_of_a_curriculum():
    data = np.arange(180)
    order = lx.Blend(PARTS, [1, 0, 0], offsets=OFFSETS, n=1000,
                     schedule={300: [0.5, 0.5, 0], 600: [0, 0.5, 0.5]})
    whole = order.take(3000).tolist()
    options = dict(order=order, batch_size=8, epochs=3)
    state, seen = None, []
    for world, steps in [(2, 15), (5, 3), (3, 11), (1, 20), (4, 7)]:
        ranks = [lx.Loader(data, rank=rank, world=world, **options) for rank in range(world)]
        start = 0
        if state is not None:
            start = state['position']
            for loader in ranks:
                loader.load_state_dict(state)
        some = sum((labels([next(loader) for _ in range(steps)]) for loader in ranks), [])
        states = [loader.state_dict() for loader in ranks]
        state = states[0]
        assert all(other['position'] == state['position'] for other in states)
        assert sorted(some) == sorted(whole[start:state['position']])
        seen += some
        for loader in ranks:
            loader.close()
    assert 600 < state['position'] < 3000
    assert sorted(seen) == sorted(whole[:state['position']])


def test_freed_mixtures_leak_nothing():
    part = lx.Shuffle(n=10, seed=1)
    count = sys.getrefcount(part._order)
    for _ in range(300):
        lx.Blend([part, part], [1, 2], schedule={5: [2, 1]}).counts(0, 20)
        with pytest.raises(ValueError):
            lx.Blend([part, part], offsets=[0, 2**64 - 2])
    gc.collect()
    after = sys.getrefcount(part._order)
    assert after == count


def test_the_extension_rejects_other_arguments():
    """The extension must be safe even without the checks of its Python callers."""
    core, part = lx._core, lx.Shuffle(n=10, seed=1)._order
    for arguments in [
        (), ((part,), None, (1.0,), (), 0, 'stop'), ([part], None, (1.0,), (), 0, 'stop', False, None),
        ((part,), None, (), (), 0, 'stop', False, None), ((part,), None, ('1',), (), 0, 'stop', False, None),
        ((part,), (), (1.0,), (), 0, 'stop', False, None),
        ((part,), None, (1.0,), (5,), 0, 'stop', False, None),
        ((part,), None, (1.0,), ((5, (1.0, 2.0)),), 0, 'stop', False, None),
        ((5,), None, (1.0,), (), 0, 'stop', False, None), ((part,), None, (1.0,), (), 0, 'stop', 1, None),
        ((part,), None, (1.0,), (), 0, 'stop', True, 'text'),
    ]:
        with pytest.raises(TypeError):
            core.blend(*arguments)
    for arguments in [
        ((part,), None, (-1.0,), (), 0, 'stop', False, None),
        ((part,), None, (1.0,), (), 0, 'end', False, None),
        ((), None, (), (), 0, 'stop', False, None),
        ((part,), None, (1.0,), ((5, (0.0,)),), 0, 'stop', False, None),
    ]:
        with pytest.raises(ValueError):
            core.blend(*arguments)
    with pytest.raises(lx.LoaderxError, match='must not change'):
        core.blend((part,), None, (1.0,), ((5, (1.0,)),), 0, 'stop', True, None)
    with pytest.raises(ValueError, match='not a mixture'):
        core.count_sets(part, 0, 5)


# ---- wrong arguments

BIG = lx.Sequential(n=2**63)


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.Blend([]), ValueError, 'parts must have'),
    (lambda: lx.Blend(5), TypeError, 'parts'),
    (lambda: lx.Blend([PARTS[0], 5]), TypeError, r'parts\[1\]'),
    (lambda: lx.Blend([PARTS[0].shard(0, 2)]), ValueError, r'parts\[0\]'),
    (lambda: lx.Blend([PARTS[0], lx.Shuffle(n=0)]), ValueError, r'parts\[1\] is empty'),
    (lambda: lx.Blend([BIG, BIG]), ValueError, 'n must be given'),
    (lambda: lx.Blend(PARTS, 5), TypeError, 'weights'),
    (lambda: lx.Blend(PARTS, '123'), TypeError, 'weights'),
    (lambda: lx.Blend(PARTS, {0: 1}), TypeError, 'weights'),
    (lambda: lx.Blend(PARTS, [1, 2]), ValueError, 'weights must have 3 numbers, one for each part, not 2'),
    (lambda: lx.Blend(PARTS, [1, -2, 3]), ValueError, r'weights\[1\] .*-2'),
    (lambda: lx.Blend(PARTS, [1, 2, float('nan')]), ValueError, r'weights\[2\] .*nan'),
    (lambda: lx.Blend(PARTS, [float('inf'), 2, 3]), ValueError, r'weights\[0\] .*inf'),
    (lambda: lx.Blend(PARTS, [10**400, 2, 3]), ValueError, r'weights\[0\]'),
    (lambda: lx.Blend(PARTS, [0, 0, 0.0]), ValueError, 'weights must have at least one positive'),
    (lambda: lx.Blend(PARTS, [1, True, 3]), TypeError, r'weights\[1\]'),
    (lambda: lx.Blend(PARTS, [1, '2', 3]), TypeError, r'weights\[1\]'),
    (lambda: lx.Blend(PARTS, [1, None, 3]), TypeError, r'weights\[1\]'),
    (lambda: lx.Blend(PARTS, n=0), ValueError, 'n must be'),
    (lambda: lx.Blend(PARTS, n=2**64), ValueError, 'n must be'),
    (lambda: lx.Blend(PARTS, n=1.5), TypeError, 'n must be'),
    (lambda: lx.Blend(PARTS, None, 5), TypeError, 'argument'),
    (lambda: lx.Blend(PARTS, offsets=3), TypeError, 'offsets'),
    (lambda: lx.Blend(PARTS, offsets=[1, 2]), ValueError, 'offsets must have 3 numbers'),
    (lambda: lx.Blend(PARTS, offsets=[0, -1, 0]), ValueError, r'offsets\[1\]'),
    (lambda: lx.Blend(PARTS, offsets=[0, 0, 2**64 - 5]), ValueError, 'offset'),
    (lambda: lx.Blend(PARTS, exhausted='end'), ValueError, "exhausted .*'stop'"),
    (lambda: lx.Blend(PARTS, exhausted=None), TypeError, 'exhausted'),
    (lambda: lx.Blend(PARTS, schedule=5), TypeError, 'schedule'),
    (lambda: lx.Blend(PARTS, schedule=[5]), TypeError, r'schedule\[0\]'),
    (lambda: lx.Blend(PARTS, schedule=[(5, [1, 2])]), ValueError, r'schedule\[0\]\[1\] must have 3 numbers'),
    (lambda: lx.Blend(PARTS, schedule={5: [0, 0, 0]}), ValueError, r'schedule\[5\]'),
    (lambda: lx.Blend(PARTS, schedule={5: [0, -1, 0]}), ValueError, r'schedule\[5\]\[1\]'),
    (lambda: lx.Blend(PARTS, schedule={-5: [1, 1, 0]}), ValueError, 'schedule'),
    (lambda: lx.Blend(PARTS, schedule={'5': [1, 1, 0]}), TypeError, 'schedule'),
    (lambda: lx.Blend(PARTS, schedule=[(5, [1, 1, 1]), (5, [1, 1, 1])]), ValueError,
     r'schedule\[1\]\[0\] must be greater than the previous offset \(5\)'),
    (lambda: lx.Blend(PARTS, [1, 1, 1], schedule={0: [1, 1, 0]}), ValueError, 'schedule'),
    (lambda: lx.Blend(PARTS, schedule={180: [1, 1, 0]}), ValueError,
     'schedule contains the offset 180, after the end of an epoch of 180'),
    (lambda: lx.Blend(PARTS).counts(5, 4), ValueError, 'end must be at least first'),
    (lambda: lx.Blend(PARTS).counts(-1, 4), ValueError, 'first'),
    (lambda: lx.Blend(PARTS).counts(0, 2**64), ValueError, 'end'),
    (lambda: lx.Blend(PARTS).counts(0, 1.0), TypeError, 'end'),
])
def test_rejects_invalid_arguments_by_name(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_accepts_phases_after_the_end_of_an_epoch():
    stop = lx.Blend(PARTS, [1, 0, 0], exhausted='stop', schedule={150: [1, 1, 1]})
    assert len(stop) == 100
    with pytest.raises(ValueError, match='schedule'):
        lx.Blend(PARTS, [1, 0, 0], exhausted='stop', schedule={180: [1, 1, 1]})
    assert lx.Blend([BIG, BIG], n=10).counts(0, 10).tolist() == [5, 5]
