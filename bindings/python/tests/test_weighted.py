# SPDX-License-Identifier: MIT
"""Orders by weights. test_orders.py has the tests of all orders."""

import pickle

import numpy as np
import pytest

import loaderx as lx

WEIGHTS = [1, 0, 4, 0.5, 2.5]
SHARES = np.array(WEIGHTS) / sum(WEIGHTS)


def test_draws_follow_the_weights():
    drawn = lx.Weighted(WEIGHTS, n=100_000, seed=1).take(100_000)
    counts = np.bincount(drawn.astype(int), minlength=5)
    assert counts[1] == 0
    # five standard deviations
    assert np.all(abs(counts - 100_000 * SHARES) <= 5 * np.sqrt(100_000 * SHARES))


def test_a_weighted_shuffle_gives_each_index_once_and_heavy_ones_early():
    order = lx.Weighted(WEIGHTS, replacement=False, seed=1)
    assert len(order) == 4
    epochs = order.take(4 * 20_000).reshape(-1, 4)
    assert all(sorted(epoch) == [0, 2, 3, 4] for epoch in epochs[:100].tolist())
    firsts = np.bincount(epochs[:, 0].astype(int), minlength=5)
    assert np.all(abs(firsts - 20_000 * SHARES) <= 5 * np.sqrt(20_000 * SHARES))


def test_the_length_of_an_epoch():
    assert len(lx.Weighted(WEIGHTS)) == 5
    assert len(lx.Weighted(WEIGHTS, n=17)) == 17
    assert len(lx.Weighted(WEIGHTS, n=0)) == 0
    assert len(lx.Weighted(WEIGHTS, n=3, replacement=False)) == 3
    assert len(lx.Weighted(WEIGHTS, n=0, replacement=False)) == 0
    long = lx.Weighted(WEIGHTS, n=2**64 - 1, seed=1)
    long.seek(2**63)
    assert len(long.take(10)) == 10


@pytest.mark.parametrize('replacement', [True, False])
@pytest.mark.parametrize('given', [
    np.array(WEIGHTS), np.array(WEIGHTS, 'f4'), np.array(WEIGHTS, '>f8'), tuple(WEIGHTS),
    np.repeat(WEIGHTS, 2)[::2], np.array(WEIGHTS) * 2, (np.array(WEIGHTS) * 2).astype('u1'),
    [np.float32(weight) for weight in WEIGHTS],
])
def test_weights_of_any_kind(given, replacement):
    order = lx.Weighted(WEIGHTS, replacement=replacement, seed=3)
    other = lx.Weighted(given, replacement=replacement, seed=3)
    assert other.take(50).tolist() == order.take(50).tolist()


def test_weights_are_copied():
    weights = np.array(WEIGHTS)
    order = lx.Weighted(weights, seed=1)
    weights[:] = 7
    assert order.take(20).tolist() == lx.Weighted(WEIGHTS, seed=1).take(20).tolist()
    other = pickle.loads(pickle.dumps(order))
    assert other.tell() == 20 and other.take(5).tolist() == order.take(5).tolist()


def test_states_differ_by_weights():
    state = lx.Weighted(WEIGHTS, seed=1).state_dict()
    for other in [lx.Weighted(WEIGHTS[::-1], seed=1), lx.Weighted(WEIGHTS, seed=2),
                  lx.Weighted(WEIGHTS, n=6, seed=1),
                  lx.Weighted(WEIGHTS, replacement=False, seed=1)]:
        with pytest.raises(ValueError):
            other.load_state_dict(state)
    lx.Weighted(WEIGHTS, seed=1).load_state_dict(state)


def test_repr():
    assert repr(lx.Weighted([1, 0.1], seed=2)) == 'Weighted([1.0, 0.1], n=2, seed=2)'
    assert repr(lx.Weighted([1, 0], replacement=False)) \
        == 'Weighted([1.0, 0.0], n=1, replacement=False, seed=0)'
    assert '...' in repr(lx.Weighted(np.arange(1000)))


def test_a_loader_reads_heavy_records_more_often():
    order = lx.Weighted(WEIGHTS, n=1000, seed=4)
    with lx.Loader(np.arange(5), order=order, batch_size=64, epochs=2) as loader:
        got = [int(i) for batch in loader for i in batch['data']]
    assert got == order.take(2000).tolist()
    with pytest.raises(ValueError, match='a Weighted of 5 records, but there are only 4'):
        lx.Loader(np.arange(4), order=order)


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.Weighted([]), ValueError, 'weights must have'),
    (lambda: lx.Weighted([0, 0.0]), ValueError, 'weights must have at least one positive number'),
    (lambda: lx.Weighted(5), TypeError, 'weights'),
    (lambda: lx.Weighted('12'), TypeError, 'weights'),
    (lambda: lx.Weighted(None), TypeError, 'weights'),
    (lambda: lx.Weighted([1, '2']), TypeError, r'weights\[1\]'),
    (lambda: lx.Weighted([1, True]), TypeError, r'weights\[1\]'),
    (lambda: lx.Weighted([1, -2]), ValueError, r'weights\[1\] .*-2'),
    (lambda: lx.Weighted([1.0, float('nan')]), ValueError, r'weights\[1\] .*nan'),
    (lambda: lx.Weighted([1, 10**400]), ValueError, r'weights\[1\]'),
    (lambda: lx.Weighted(np.array([1, np.inf])), ValueError, r'weights\[1\] .*inf'),
    (lambda: lx.Weighted(np.array([1, -1])), ValueError, r'weights\[1\] .*-1'),
    (lambda: lx.Weighted(np.ones((2, 2))), ValueError, 'weights must have one axis'),
    (lambda: lx.Weighted(np.ones(2, complex)), TypeError, 'weights must be numbers'),
    (lambda: lx.Weighted(np.ones(2, bool)), TypeError, 'weights must be numbers'),
    (lambda: lx.Weighted([1], n=-1), ValueError, 'n must'),
    (lambda: lx.Weighted([1], n=1.5), TypeError, 'n must'),
    (lambda: lx.Weighted([1, 0, 2], n=3, replacement=False), ValueError, 'n must be at most 2'),
    (lambda: lx.Weighted([1], replacement='no'), TypeError, 'replacement'),
    (lambda: lx.Weighted([1], seed=-1), ValueError, 'seed'),
])
def test_rejects_invalid_arguments_by_name(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_the_extension_rejects_other_arguments():
    core = lx._core
    for make in core.weighted, core.weighted_shuffle:
        for arguments in [(), (np.ones(3), 3), ([1.0], 1, 0, None),
                          (np.ones(3, 'f4'), 3, 0, None), (np.ones(3, 'u8'), 3, 0, None),
                          (np.ones((6, 2))[::2], 3, 0, None), (np.ones(3), '3', 0, None),
                          (np.ones(3), 3, 0, 'text'), (np.ones(3), 3, 0, b'a\0b')]:
            with pytest.raises((TypeError, ValueError, BufferError)):
                make(*arguments)
        for weights in np.array([1, -1.0]), np.array([np.nan]), np.zeros(2), np.ones(0):
            with pytest.raises(ValueError):
                make(weights, 1, 0, None)
