# SPDX-License-Identifier: MIT
"""Orders of other libraries. test_orders.py has the tests of all orders."""

import gc
import sys

import numpy as np
import pytest

import loaderx as lx
from mixture import greedy_plan

# ---- orders of torch; test_torch_orders.py compares the indices

SEEDED = [
    lambda seed: lx.TorchRandom(n=50, seed=seed),
    lambda seed: lx.TorchRandom(n=50, replacement=True, num_samples=20, seed=seed),
    lambda seed: lx.TorchSubset(range(50), seed=seed),
    lambda seed: lx.Distributed(n=50, world=4, seed=seed),
]


@pytest.mark.parametrize('make', SEEDED)
def test_seeds(make):
    assert make(3).take(200).tolist() == make(2**32 + 3).take(200).tolist()
    assert make(3).take(200).tolist() != make(4).take(200).tolist()


def test_lengths_of_epochs():
    assert len(lx.TorchRandom(n=10)) == 10
    assert len(lx.TorchRandom(n=10, num_samples=25)) == 25
    assert len(lx.TorchSubset([7, 7, 7])) == 3
    assert len(lx.TorchSubset([])) == 0
    assert len(lx.Distributed(n=10, world=4)) == 12
    assert len(lx.Distributed(n=10, world=4, drop_last=True)) == 8
    assert len(lx.Distributed(n=3, world=4, drop_last=True)) == 0
    assert len(lx.Distributed(n=0, world=4)) == 0
    order = lx.Distributed(n=2**40 + 1, world=8, shuffle=False)
    assert order.shard(1, 8).take(2).tolist() == [1, 9]
    assert len(lx.Distributed(n=2**40 + 1, world=8, shuffle=False)) == 2**40 + 8


def test_each_epoch_is_a_permutation():
    order = lx.TorchRandom(n=100, seed=1)
    epochs = [order.take(100).tolist() for _ in range(3)]
    assert all(sorted(epoch) == list(range(100)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    drawn = lx.TorchRandom(n=1000, replacement=True, seed=1).take(1000)
    assert 550 < len(np.unique(drawn)) < 700


def test_repr():
    assert repr(lx.TorchRandom(n=5, seed=1)) == 'TorchRandom(n=5, seed=1)'
    assert repr(lx.TorchRandom(n=5, replacement=True, num_samples=9)) \
        == 'TorchRandom(n=5, seed=0, replacement=True, num_samples=9)'
    assert repr(lx.TorchRandom(num_samples=9)) == 'TorchRandom(seed=0, num_samples=9)'
    assert repr(lx.TorchSubset([5, 3], seed=1)) == 'TorchSubset([5, 3], seed=1)'
    assert repr(lx.Distributed(n=5, world=2)) == 'Distributed(n=5, world=2, seed=0)'
    assert repr(lx.Distributed(world=2, seed=3)) == 'Distributed(world=2, seed=3)'
    assert repr(lx.Distributed(n=5, world=2, shuffle=False, drop_last=True).shard(1, 2)) \
        == 'Distributed(n=5, world=2, shuffle=False, drop_last=True, seed=0).shard(1, 2)'


@pytest.mark.parametrize('make', [
    lambda n: lx.TorchRandom(n=n, seed=5), lambda n: lx.TorchRandom(n=n, num_samples=70, seed=5),
    lambda n: lx.Distributed(n=n, world=3, seed=5)])
def test_takes_the_length_of_the_source(make):
    with lx.Loader(np.arange(50), order=make(None), batch_size=7, epochs=2) as loader:
        got = [int(i) for batch in loader for i in batch['data']]
    known = make(50)
    assert got == known.take(2 * len(known)).tolist()


def test_an_empty_source():
    with pytest.raises(ValueError, match='n must be from 1'):
        lx.Loader(np.arange(0), order=lx.TorchRandom())
    with lx.Loader(np.arange(0), order=lx.Distributed(world=2)) as loader:
        assert list(loader) == []


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.TorchRandom(n=0), ValueError, 'n must be from 1'),
    (lambda: lx.TorchRandom(n=2**32), ValueError, 'n must be from 1 to 4294967295'),
    (lambda: lx.TorchRandom(n=2**28, replacement=True), ValueError,
     'n must be from 1 to 268435455'),
    (lambda: lx.TorchRandom(n=5, num_samples=0), ValueError, 'num_samples must be from 1'),
    (lambda: lx.TorchRandom(n=5, num_samples=True), TypeError, 'num_samples'),
    (lambda: lx.TorchRandom(n=5, replacement=1), TypeError, 'replacement'),
    (lambda: lx.TorchRandom(n=5, seed=-1), ValueError, 'seed'),
    (lambda: lx.TorchSubset(5), TypeError, 'indices'),
    (lambda: lx.TorchSubset([-1]), ValueError, r'indices\[0\]'),
    (lambda: lx.TorchSubset([2**64 - 1]), ValueError, r'indices\[0\]'),
    (lambda: lx.TorchSubset([1], seed='1'), TypeError, 'seed'),
    (lambda: lx.Distributed(n=5), TypeError, 'world'),
    (lambda: lx.Distributed(n=5, world=0), ValueError, 'world'),
    (lambda: lx.Distributed(n=2**32, world=1), ValueError, 'n must be'),
    (lambda: lx.Distributed(n=2**64 - 1, world=2, shuffle=False), ValueError, 'n is too large'),
    (lambda: lx.Distributed(n=5, world=1, shuffle=None), TypeError, 'shuffle'),
    (lambda: lx.Distributed(n=5, world=1, drop_last=0), TypeError, 'drop_last'),
    (lambda: lx.Distributed(n=5, world=1, seed=2**64), ValueError, 'seed'),
])
def test_rejects_invalid_arguments_by_name(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_the_extension_rejects_other_arguments():
    core = lx._core
    for call in [
        lambda: core.torch_random(5, 5, 0, True), lambda: core.torch_random(5, 5, 0, 1, None),
        lambda: core.torch_random(5, 5, 0, True, 'text'),
        lambda: core.torch_subset([1], 0, None), lambda: core.torch_subset(np.zeros(3), 0, None),
        lambda: core.torch_subset(np.arange(3), 0, None),
        lambda: core.torch_subset(np.ones(3, 'u8'), 0, 5),
        lambda: core.torch_distributed(5, 1, 0, True, True),
        lambda: core.torch_distributed(5, 1, 0, True, None, None),
        lambda: core.torch_distributed(5, 1, 0, True, True, 5),
        lambda: core.nanoset(np.arange(3), None, 0, True, None),
        lambda: core.nanoset(np.ones(3, 'u8'), np.ones(3, 'f4'), 0, True, None),
        lambda: core.nanoset(np.ones(3, 'u8'), None, 0, 1, None),
        lambda: core.nanoset(np.ones(3, 'u8'), None, 0, True, 'text'),
    ]:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        core.nanoset(np.ones(3, 'u8'), np.ones(2), 0, True, None)


# ---- Nanosets


def divide(weights):
    array = np.array(weights, np.float64)
    return (array / np.sum(array)).tolist()


def nanoset(lengths, weights, seed):
    """An epoch, computed by the loop and by NumPy's shuffle."""
    begins = np.cumsum([0, *lengths])
    table = np.array([begins[i] + j % lengths[i] for i, j in greedy_plan(lengths, weights)])
    np.random.RandomState(seed).shuffle(table)
    return table.tolist()


LENGTHS = [[1], [7], [5, 5], [1, 100], [30, 20, 50], [1000, 1, 77, 300], [7] * 150]


@pytest.mark.parametrize('lengths', LENGTHS, ids=lambda lengths: f'{lengths[:4]} {len(lengths)}')
@pytest.mark.parametrize('seed', [0, 1234, 2**32 - 1])
def test_nanoset_matches_numpy(lengths, seed):
    n = sum(lengths)
    order = lx.Nanoset(lengths, seed=seed)
    expected = nanoset(lengths, [length / sum(lengths) for length in lengths], seed)
    assert len(order) == n and order.take(2 * n).tolist() == 2 * expected
    weights = np.random.default_rng(seed).random(len(lengths))
    order = lx.Nanoset(lengths, weights, seed=seed)
    assert order.take(n).tolist() == nanoset(lengths, divide(weights), seed)
    order = lx.Nanoset(lengths, (weights / 2).tolist(), divide=False, seed=seed)
    assert order.take(n).tolist() == nanoset(lengths, (weights / 2).tolist(), seed)


def test_the_seed_of_a_nanoset_matches_nanotron():
    assert lx.Nanoset([50, 20]).take(70).tolist() \
        == lx.Nanoset([50, 20], seed=1234).take(70).tolist()
    assert repr(lx.Nanoset([50, 20], [1, 2], divide=False)) \
        == 'Nanoset([50, 20], [1.0, 2.0], divide=False, seed=1234)'


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.Nanoset([]), ValueError, 'lengths must not be empty'),
    (lambda: lx.Nanoset(5), TypeError, 'lengths'),
    (lambda: lx.Nanoset([5, 0]), ValueError, r'lengths\[1\] is 0'),
    (lambda: lx.Nanoset([5, -1]), ValueError, r'lengths\[1\]'),
    (lambda: lx.Nanoset([2**60, 5]), ValueError, ''),
    (lambda: lx.Nanoset(np.ones(65536, int)), ValueError, ''),
    (lambda: lx.Nanoset([5, 6], [1]), ValueError, 'weights must have 2 numbers'),
    (lambda: lx.Nanoset([5, 6], [1, -1]), ValueError, r'weights\[1\]'),
    (lambda: lx.Nanoset([5, 6], np.array([1, np.nan])), ValueError, r'weights\[1\]'),
    (lambda: lx.Nanoset([5, 6], [0, 0]), ValueError, 'weights must have at least one'),
    (lambda: lx.Nanoset([5, 6], 3), TypeError, 'weights'),
    (lambda: lx.Nanoset([5], seed=2**32), ValueError, 'seed'),
    (lambda: lx.Nanoset([5], divide=1), TypeError, 'divide'),
])
def test_rejects_invalid_nanosets(call, error, word):
    with pytest.raises(error, match=word):
        call()


# ---- mixtures of Megatron

PARTS = [lx.Shuffle(n=100, seed=1), lx.Sequential(n=50), lx.Random(n=30, seed=2)]
SIZES = [100, 50, 30]
OFFSETS = [0, 100, 150]


def sets_of(indices):
    return (np.searchsorted(OFFSETS, indices.astype(np.int64), 'right') - 1).tolist()


@pytest.mark.parametrize('weights', [[0.7, 0.2, 0.1], [3, 2, 1], [1, 1, 1], [0, 0.5, 1e-3], None])
@pytest.mark.parametrize('n', [None, 7, 5000, 40_000])
@pytest.mark.parametrize('exhausted', ['repeat', 'stop', 'redistribute'])
def test_greedy_matches_megatrons_loop(weights, n, exhausted):
    order = lx.Blend(PARTS, weights, n=n, offsets=OFFSETS, exhausted=exhausted, method='greedy')
    expected = greedy_plan(SIZES, divide(weights or SIZES), n, exhausted)
    assert len(order) == len(expected)
    indices = order.take(len(expected))
    sets = [i for i, _ in expected]
    assert sets_of(indices) == sets
    assert order.counts(0, len(expected)).tolist() == np.bincount(sets, minlength=3).tolist()
    half = len(expected) // 2
    assert order.counts(half, len(expected)).tolist() \
        == np.bincount(sets[half:], minlength=3).tolist()
    for i, part in enumerate(PARTS):
        mine = indices[np.array(sets) == i] - np.uint64(OFFSETS[i])
        assert np.array_equal(mine, part.shard(0, 1).take(len(mine)))


def test_sums_weights_as_numpy_does():
    """Many weights of different sizes, where the order of additions decides ties."""
    rng = np.random.default_rng(5)
    weights = rng.random(300) * 10.0 ** rng.integers(-8, 8, 300)
    parts = [lx.Sequential(n=1)] * 300
    order = lx.Blend(parts, weights, n=3000, offsets=range(300), method='greedy')
    expected = greedy_plan([1] * 300, divide(weights), 3000)
    assert order.take(3000).tolist() == [i for i, _ in expected]


def test_exhaustive_gives_each_index_once_an_epoch():
    order = lx.Blend(PARTS[:2], offsets=OFFSETS[:2], method='exhaustive')
    expected = greedy_plan(SIZES[:2], [size / 150 for size in SIZES[:2]], None, 'redistribute')
    for _ in range(2):
        indices = order.take(150)
        assert sorted(indices.tolist()) == list(range(150))
        assert sets_of(indices) == [i for i, _ in expected]
    named = lx.Blend(PARTS[:2], exhausted='redistribute', method='exhaustive')
    assert np.array_equal(named.take(150), lx.Blend(PARTS[:2], method='exhaustive').take(150))


def test_a_greedy_mixture_waits_for_a_length():
    order = lx.Blend([lx.Shuffle(seed=1), lx.Shuffle(n=10, seed=2)], [1, 1], method='greedy')
    assert repr(order) == ("Blend([Shuffle(seed=1), Shuffle(n=10, seed=2)], [1.0, 1.0], "
                           "method='greedy')")
    known = lx.Blend([lx.Shuffle(n=20, seed=1), lx.Shuffle(n=10, seed=2)], [1, 1], method='greedy')
    with lx.Loader(np.arange(20), order=order, batch_size=16, epochs=2) as loader:
        got = [int(i) for batch in loader for i in batch['data']]
    assert got == known.take(60).tolist()


def test_states_of_methods_differ():
    states = [lx.Blend(PARTS, [1, 2, 3], method=method).state_dict()
              for method in ('closed', 'greedy')]
    with pytest.raises(ValueError, match='order'):
        lx.Blend(PARTS, [1, 2, 3], method='greedy').load_state_dict(states[0])
    with pytest.raises(ValueError, match='order'):
        lx.Blend(PARTS, [1, 2, 3.5], method='greedy').load_state_dict(states[1])
    lx.Blend(PARTS, [2, 4, 6], method='greedy').load_state_dict(states[1])    # the same ratios


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.Blend(PARTS, method='close'), ValueError, "method .*'greedy'"),
    (lambda: lx.Blend(PARTS, method=None), TypeError, 'method'),
    (lambda: lx.Blend(PARTS, method='greedy', schedule={5: [1, 1, 1]}), ValueError, 'schedule'),
    (lambda: lx.Blend(PARTS, method='exhaustive', schedule={5: None}), ValueError, 'schedule'),
    (lambda: lx.Blend(PARTS, [1, 1, 1], method='exhaustive'), ValueError, 'weights'),
    (lambda: lx.Blend(PARTS, n=5, method='exhaustive'), ValueError, 'n must not'),
    (lambda: lx.Blend(PARTS, method='exhaustive', exhausted='stop'), ValueError, 'exhausted'),
    (lambda: lx.Blend(PARTS, method='greedy', n=2**53 + 1), ValueError, 'n must be at most'),
    (lambda: lx.Blend(PARTS, [1e308, 1e308, 1e308], method='greedy'), ValueError, 'sum of the'),
])
def test_rejects_invalid_methods(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_freed_orders_leak_nothing():
    part, indices = lx.Shuffle(n=10, seed=1), np.arange(10)
    counts = [sys.getrefcount(part._order), sys.getrefcount(indices)]
    for _ in range(300):
        lx.Blend([part, part], [1, 2], method='greedy').counts(0, 20)
        lx.Padded(part, 3).take(5)
        lx.TorchSubset(indices).take(5)
        lx.Nanoset(indices + 1, indices + 1).take(5)
        with pytest.raises(ValueError):
            lx.Nanoset(indices + 2**52)
    gc.collect()
    assert [sys.getrefcount(part._order), sys.getrefcount(indices)] == counts
