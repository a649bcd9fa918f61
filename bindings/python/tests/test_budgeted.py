# SPDX-License-Identifier: MIT
"""Batches by a budget, compared with a model, and loaders that return them."""

import json
import os
import pickle
import random
import tempfile

# No example database: the directory of the tests may be read-only.
os.environ.setdefault('HYPOTHESIS_STORAGE_DIRECTORY',
                      os.path.join(tempfile.gettempdir(), f'hypothesis-{os.getuid()}'))

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st

import loaderx as lx

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', '25'))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 25)


class Cut:
    """An order that is divided into batches, and its batches as doc/orders.md defines them."""

    def __init__(self, part, costs, budget, rows, padded):
        self.order = lx.Budgeted(part, costs, budget, rows=rows, padded=padded)
        self.n, self.costs = len(self.order), costs
        self.budget, self.rows, self.padded = budget, rows, padded

    def fits(self, batch):
        costs = [self.costs[i] for i in batch]
        taken = len(costs) * max(costs) if self.padded else sum(costs)
        return taken <= self.budget and len(costs) <= (self.rows or len(costs))

    def epoch(self, number):
        """Return the batches of an epoch."""
        cursor = self.order.shard(0, 1)
        cursor.seek(number * self.n)
        batches = []
        for index in cursor.take(self.n).tolist():
            if batches and self.fits([*batches[-1], index]):
                batches[-1].append(index)
            else:
                batches.append([index])
        return batches

    def data(self):
        return np.arange(len(self.costs))


@st.composite
def cuts(draw):
    n, seed = draw(st.integers(1, 120)), draw(st.integers(0, 2**64 - 1))
    most = draw(st.sampled_from([1, 9, 200, 2**33]))
    costs = draw(st.lists(st.integers(1, most), min_size=n, max_size=n))
    part = draw(st.sampled_from([
        lx.Sequential(), lx.Shuffle(seed=seed), lx.Random(n=n + 20, seed=seed) if n > 20 else
        lx.Random(seed=seed), lx.Subset(np.arange(n)[::-2], seed=seed), lx.Bucketed(costs, batch=4),
        lx.Repeat(lx.Shuffle(n=n, seed=seed), 2), lx.Weighted(costs, seed=seed)]))
    if isinstance(part, lx.Random) and n > 20:
        costs += costs[:20]
    budget = max(costs) * draw(st.integers(1, 12)) + draw(st.integers(0, 5))
    return Cut(part, costs, budget, draw(st.none() | st.integers(1, 10)), draw(st.booleans()))


@SETTINGS
@given(cuts(), st.integers(0, 2**40))
def test_batches_take_as_many_samples_as_fit(cut, far):
    order = cut.order
    for epoch in 0, 1, 2:
        batches = cut.epoch(epoch)
        assert order.tell() == epoch * cut.n
        assert order.count_batches(epoch) == len(batches)
        assert [batch.tolist() for batch in order.batches()] == batches
    batches = cut.epoch(far)
    begin = far * cut.n
    for number, batch in enumerate(batches):
        end = begin + len(batch)
        for position in {begin, (begin + end) // 2, end - 1}:
            assert order.find_batch(position) == (number, begin, end)
            order.seek(position)
            taken = order.take_batch()
            assert taken.dtype == np.uint64 and taken.tolist() == batch[position - begin:]
            assert order.tell() == end
        begin = end
    other = pickle.loads(pickle.dumps(order))
    assert repr(other) == repr(order) and other.tell() == order.tell()
    assert other.take_batch().tolist() == order.take_batch().tolist()


@SETTINGS
@given(cuts(), st.integers(1, 6), st.booleans())
def test_ranks_alternate(cut, world, drop):
    for epoch in 0, 1:
        batches = cut.epoch(epoch)
        whole = len(batches) - (len(batches) % world if drop else 0)
        for rank in range(world):
            cursor = cut.order.shard(rank, world)
            cursor.seek(epoch * cut.n)
            got = [batch.tolist() for batch in cursor.batches(drop_last=drop)]
            assert got == batches[rank:whole:world]
            assert cursor.tell() == (epoch + 1) * cut.n


@SETTINGS
@given(cuts(), st.integers(1, 4), st.sampled_from(['padded', 'uneven', 'dropped']),
       st.sampled_from([0, 0, 2]))
def test_a_loader_delivers_the_batches(cut, world, last, threads):
    for rank in range(world):
        loader = lx.Loader(cut.data(), order=cut.order, rank=rank, world=world,
                           drop_last=last == 'dropped', uneven=last == 'uneven', threads=threads)
        for epoch in 0, 1, 2:
            batches = cut.epoch(epoch)
            count = len(batches)
            if last == 'dropped':
                batches = batches[:count - count % world]
            elif last == 'padded':    # with the first batches of the epoch, again and again
                batches += [batches[i % count] for i in range(-count % world)]
            expected = batches[rank::world]
            assert loader.tell() == epoch * cut.n
            assert len(loader) == len(expected)
            assert [batch['data'].tolist() for batch in loader] == expected
        loader.close()


@SETTINGS
@given(cuts(), st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4), st.sampled_from([0, 2])),
                        min_size=2, max_size=5))
def test_continues_with_other_ranks_and_threads(cut, legs):
    state, seen, position = None, [], 0
    for world, steps, threads in [*legs, (1, 10**6, 0)]:
        if position == cut.n:
            break
        ends = set()
        for rank in range(world):
            loader = lx.Loader(cut.data(), order=cut.order, rank=rank, world=world,
                               threads=threads)
            if state is not None:
                loader.load_state_dict(state)
            for _ in range(steps):
                batch = next(loader, None)
                if batch is None:
                    break
                assert cut.fits(batch['data'].tolist())
                seen += batch['data'][batch.real].tolist()
            ends.add(loader.tell())
            last = json.loads(json.dumps(loader.state_dict()))
            loader.close()
        assert len(ends) == 1
        state, position = last, ends.pop()
    assert position == cut.n
    assert sorted(seen) == sorted(i for batch in cut.epoch(0) for i in batch)


def test_states_are_small_and_errors_name_the_difference():
    costs = np.arange(1, 101)
    order = lx.Budgeted(lx.Shuffle(seed=1), costs, 200, rows=7, padded=True)
    loader = lx.Loader(np.arange(100), order=order)
    next(loader)
    state = loader.state_dict()
    assert state['batch_size'] == 0 and len(json.dumps(state)) < 4096
    assert {key: state['order'][key] for key in ('kind', 'budget', 'rows', 'padded', 'count')} == {
        'kind': 'budgeted', 'budget': 200, 'rows': 7, 'padded': True, 'count': 100}
    for name, other in {
        'budget': lx.Budgeted(lx.Shuffle(seed=1), costs, 201, rows=7, padded=True),
        'rows': lx.Budgeted(lx.Shuffle(seed=1), costs, 200, padded=True),
        'padded': lx.Budgeted(lx.Shuffle(seed=1), costs, 200, rows=7),
        'costs': lx.Budgeted(lx.Shuffle(seed=1), costs[::-1], 200, rows=7, padded=True),
        'seed': lx.Budgeted(lx.Shuffle(seed=2), costs, 200, rows=7, padded=True),
        'kind': lx.Shuffle(seed=1),
    }.items():
        with pytest.raises(ValueError, match=name):
            lx.Loader(np.arange(100), order=other).load_state_dict(state)


def test_a_loader_begins_anywhere():
    draw = random.Random(5)
    costs = [draw.randrange(1, 50) for _ in range(300)]
    order = lx.Budgeted(lx.Shuffle(seed=1), costs, 200)
    loader = lx.Loader(np.arange(300), order=order, epochs=None)
    for _ in range(50):
        position = draw.randrange(3000)
        loader.seek(position)
        number, begin, end = order.find_batch(position)
        assert len(next(loader)['data']) == end - position
        assert loader.tell() == end


@pytest.mark.parametrize('epochs', [1, 3, None])
def test_reports_a_rank_that_gets_no_batches(epochs):
    order = lx.Budgeted(lx.Shuffle(seed=1), [1] * 20, 10)    # two batches
    loader = lx.Loader(np.arange(20), order=order, rank=2, world=3, epochs=epochs, uneven=True)
    if epochs is None:
        with pytest.raises(ValueError, match='no batch in 100 epochs'):
            next(loader)
        with pytest.raises(ValueError, match='no batch in 100 epochs'):
            order.shard(2, 3).take_batch()
    else:
        assert len(loader) == 0
        assert len(loader) == 0
        assert list(loader) == [] and loader.tell() == 20 * epochs
    assert list(order.shard(2, 3).batches()) == []


def test_empty_orders():
    order = lx.Budgeted(lx.Shuffle(seed=1), [], 10)
    assert len(order) == order.count_batches() == 0
    assert list(order.batches()) == [] and len(order.take_batch()) == 0
    assert list(lx.Loader(np.arange(0), order=order)) == []
    with pytest.raises(IndexError, match='position 0 is out of range'):
        order.find_batch(0)


def test_the_end_of_the_positions():
    order = lx.Budgeted(lx.Shuffle(seed=1), [1] * 10, 4)
    order.seek(2**64 - 4)
    assert sum(map(len, order.batches())) == 3 and order.tell() == 2**64 - 1
    assert len(order.take_batch()) == 0 and list(order.batches()) == []
    with pytest.raises(IndexError):
        order.find_batch(2**64 - 1)


def test_gathers_a_large_batch():
    order = lx.Budgeted(lx.Sequential(), np.ones(5000, 'u1'), 4000)
    assert [len(batch) for batch in order.batches()] == [4000, 1000]
    assert order.take_batch().tolist() == list(range(4000))


@pytest.mark.parametrize('arguments, error, message', [
    ((lx.Shuffle(), [1, 0], 5), ValueError, 'the cost of index 1 is 0'),
    ((lx.Shuffle(), [1, 6], 5), ValueError, 'index 1 is 6, which exceeds the budget of 5'),
    ((lx.Shuffle(), [1, -6], 5), ValueError, 'costs'),
    ((lx.Shuffle(), [1, .5], 5), TypeError, 'costs'),
    ((lx.Shuffle(), 7, 5), TypeError, 'costs'),
    ((lx.Shuffle(), [[1]], 5), TypeError, 'costs'),
    ((lx.Shuffle(n=3), [1, 2], 5), ValueError, 'of 3 records, but there are only 2 costs'),
    ((lx.Shuffle(), [1, 2], 0), ValueError, 'budget'),
    ((lx.Shuffle(), [1, 2], 5.0), TypeError, 'budget'),
    ((lx.Shuffle(), [1, 2], 2**64), ValueError, 'budget'),
    ((lx.Shuffle(n=2).shard(0, 2), [1, 2], 5), ValueError, 'rank 0 of 2'),
    (([0, 1], [1, 2], 5), TypeError, 'order must be an Order'),
    ((lx.Budgeted(lx.Shuffle(), [1], 1), [1], 1), ValueError, 'cut into batches'),
])
def test_rejects_invalid_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        lx.Budgeted(*arguments)


@pytest.mark.parametrize('arguments, error, message', [
    ({'rows': 0}, ValueError, 'rows'), ({'rows': True}, TypeError, 'rows'),
    ({'padded': 1}, TypeError, 'padded'),
])
def test_rejects_invalid_options(arguments, error, message):
    with pytest.raises(error, match=message):
        lx.Budgeted(lx.Shuffle(), [1, 2], 5, **arguments)


def test_rejects_nesting_in_other_orders():
    order = lx.Budgeted(lx.Shuffle(), [1, 2], 5)
    for make in (lambda: lx.Slice(order), lambda: lx.Repeat(order, 2), lambda: lx.Concat([order]),
                 lambda: lx.Subset([1, 2], order), lambda: lx.Blend([order], [1])):
        with pytest.raises(ValueError, match='cut into batches'):
            make()


def test_a_loader_rejects_a_batch_size_with_a_batched_order():
    order = lx.Budgeted(lx.Shuffle(), [1, 2], 5)
    for size in 1, 2:
        with pytest.raises(ValueError, match='batch_size'):
            lx.Loader(np.arange(2), order=order, batch_size=size)
    with pytest.raises(ValueError, match='rank 0 of 2'):
        lx.Loader(np.arange(2), order=order.shard(0, 2))
