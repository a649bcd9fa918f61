# SPDX-License-Identifier: MIT
"""Nested orders of all kinds, compared with a model of single positions.

``LOADERX_PROPERTY_EXAMPLES=5000`` makes the tests long.
"""

import os
import pickle
import tempfile

# No database of examples: the folder of the tests may be read-only.
os.environ.setdefault('HYPOTHESIS_STORAGE_DIRECTORY',
                      os.path.join(tempfile.gettempdir(), f'hypothesis-{os.getuid()}'))

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st

import loaderx as lx
from mixture import greedy_plan, plan

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', '25'))
POSITIONS = 2**64 - 1


class Leaf:
    """An order that is read by itself."""

    def __init__(self, order, bound=None):
        self.order, self.length = order, len(order)
        self.bound = self.length if bound is None else bound
        self.known, self.cursor = {}, order.shard(0, 1)

    def at(self, k):
        if k not in self.known:
            self.cursor.seek(k)
            self.known[k] = int(self.cursor.take(1)[0])
        return self.known[k]


class Made:
    """An order of others: `at` is by epoch and offset."""

    def __init__(self, order, length, bound, at):
        self.order, self.length, self.bound = order, length, bound
        self.by_offset = at

    def at(self, k):
        return self.by_offset(*divmod(k, self.length))


def records_of(model):
    """The number of records that a loader of the order must read; `bound` if any will do."""
    records = model.order._records
    return model.bound if records is None else records


def place(part, epoch, offset):
    """An index of a part, whose epochs begin again after the last whole one."""
    return part.at(epoch % (POSITIONS // part.length) * part.length + offset)


@st.composite
def tables(draw):
    """Orders with a table of their indices or positions."""
    n, samples, seed = (draw(st.integers(*ends)) for ends in [(1, 40), (1, 60), (0, 2**64 - 1)])
    counts = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    weights = draw(weights_of(n))
    batch = draw(st.integers(1, 10))
    world, cut = draw(st.integers(1, 9)), draw(st.booleans())
    return Leaf(draw(st.sampled_from([
        lx.Weighted(weights, n=samples, seed=seed),
        lx.Weighted(weights, replacement=False, seed=seed),
        lx.Balanced(draw(counts), n=samples, seed=seed),
        lx.Bucketed(draw(counts), batch=batch, bucket=batch * draw(st.integers(1, 5)), seed=seed),
        lx.TorchRandom(n=n, num_samples=samples, seed=seed),
        lx.TorchRandom(n=n, replacement=True, num_samples=samples, seed=seed),
        lx.TorchSubset(range(n), seed=seed),
        lx.Distributed(n=n, world=world, drop_last=cut, seed=seed),
        lx.Distributed(n=n, world=world, drop_last=cut, shuffle=False),
        lx.Nanoset([n, samples], [1, 3], divide=cut, seed=seed % 2**32)])), n + samples)


@st.composite
def leaves(draw):
    n, seed = draw(st.integers(0, 40)), draw(st.integers(0, 2**64 - 1))
    return Leaf(draw(st.sampled_from([
        lx.Sequential(n=n), lx.Sequential(n=n, window=3, stride=2), lx.Random(n=n, seed=seed),
        lx.Shuffle(n=n, seed=seed), lx.Blocks(n=n, block=draw(st.integers(1, 50)), seed=seed),
        lx.Lanes(n=2 * n, lanes=max(1, n // 4), block=draw(st.integers(1, 2)), seed=seed)])))


@st.composite
def slices(draw, parts):
    part = draw(parts)
    ends = st.integers(-50, 50)
    start, stop = draw(ends), draw(st.none() | ends)
    offsets = range(part.length)[start:stop]
    return Made(lx.Slice(part.order, start, stop), len(offsets), part.bound,
                lambda epoch, offset: place(part, epoch, offsets[offset]))


@st.composite
def repeats(draw, parts):
    part, times = draw(parts), draw(st.integers(1, 4))
    return Made(lx.Repeat(part.order, times), part.length * times, part.bound,
                lambda epoch, offset: place(part, *divmod(epoch * part.length * times + offset,
                                                          part.length)))


@st.composite
def padded(draw, parts):
    part, multiple = draw(parts), draw(st.integers(1, 60))
    length = -(-part.length // multiple) * multiple
    return Made(lx.Padded(part.order, multiple), length, part.bound,
                lambda epoch, offset: place(part, epoch, offset % part.length))


@st.composite
def concats(draw, parts):
    chosen = draw(st.lists(parts, min_size=1, max_size=4))
    offsets = draw(st.lists(st.integers(0, 100), min_size=len(chosen), max_size=len(chosen)))
    where = [(i, o) for i, part in enumerate(chosen) for o in range(part.length)]

    def at(epoch, offset):
        i, o = where[offset]
        return place(chosen[i], epoch, o) + offsets[i]

    return Made(lx.Concat([part.order for part in chosen], offsets), len(where),
                max(part.bound + offset for part, offset in zip(chosen, offsets)), at)


@st.composite
def subsets(draw, parts):
    part = draw(parts)
    count = records_of(part)
    if part.order._records is None:
        count += draw(st.integers(0, 3))
    table = draw(st.lists(st.integers(0, 300), min_size=count, max_size=count))
    return Made(lx.Subset(table, part.order), part.length, max(table, default=-1) + 1,
                lambda epoch, offset: table[place(part, epoch, offset)])


def weights_of(count):
    """Weights of `count` parts, not all 0."""
    weight = st.just(0) | st.floats(1e-9, 1e9) | st.integers(1, 5)
    return st.lists(weight, min_size=count, max_size=count).filter(any)


@st.composite
def blends(draw, parts):
    chosen = draw(st.lists(parts.filter(lambda part: part.length), min_size=1, max_size=4))
    count = len(chosen)
    lengths = [part.length for part in chosen]
    offsets = draw(st.lists(st.integers(0, 100), min_size=count, max_size=count))
    n = draw(st.none() | st.integers(1, 200))
    greedy = draw(st.booleans())
    exhausted = draw(st.sampled_from(['repeat', 'stop', 'redistribute']))
    begins = sorted(draw(st.sets(st.integers(1, n or sum(lengths)), max_size=3)))
    weights = draw(st.none() | weights_of(count))
    schedule = [(begin, draw(st.none() | weights_of(count))) for begin in begins
                if begin < (n or sum(lengths)) and not greedy]
    if greedy:
        divided = np.array(weights or lengths, float) / np.sum(weights or lengths)
        epoch = greedy_plan(lengths, divided.tolist(), n, exhausted)
    else:
        weightings = [(begin, given or lengths) for begin, given in [(0, weights), *schedule]]
        epoch = plan(lengths, weightings, n, exhausted)
    totals = [sum(i == j for j, _ in epoch) for i in range(count)]

    def at(number, offset):
        i, p = epoch[offset]
        if exhausted == 'repeat':
            return chosen[i].at(number * totals[i] + p) + offsets[i]
        return place(chosen[i], number, p) + offsets[i]

    order = lx.Blend([part.order for part in chosen], weights, n=n, offsets=offsets,
                     exhausted=exhausted, schedule=schedule,
                     method='greedy' if greedy else 'closed')
    made = Made(order, len(epoch), max(part.bound + o for part, o in zip(chosen, offsets)), at)
    made.sets = [i for i, _ in epoch]
    return made


ORDERS = st.recursive(
    leaves() | tables(), lambda parts: slices(parts) | repeats(parts) | concats(parts)
    | subsets(parts) | blends(parts) | padded(parts), max_leaves=5)
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 25)


def expected(model, first, count):
    return [model.at(k) for k in range(first, first + count)] if model.length else []


@SETTINGS
@given(ORDERS, st.integers(0, 2**64 - 200), st.integers(0, 150), st.lists(st.integers(0, 60)))
def test_indices_match_the_model(model, far, k, pieces):
    order = model.order
    assert len(order) == model.length
    order.seek(0)
    whole = order.take(150).tolist()
    assert whole == expected(model, 0, 150)
    order.seek(k)    # seek then take is take then drop, also in pieces
    got = np.concatenate([order.take(piece) for piece in [*pieces, 0]])
    assert got.tolist() == expected(model, k, sum(pieces))
    order.seek(far)
    assert order.take(50).tolist() == expected(model, far, 50)
    other = pickle.loads(pickle.dumps(order))
    assert repr(other) == repr(order) and other.tell() == order.tell()
    other.seek(0)
    assert other.take(150).tolist() == whole


@SETTINGS
@given(ORDERS, st.integers(1, 7))
def test_the_ranks_together_cover_the_order(model, world):
    model.order.seek(0)
    n = model.length
    for rank in range(world):
        offsets = [epoch * n + o for epoch in range(2) for o in range(rank, n, world)]
        share = model.order.shard(rank, world).take(len(offsets))
        assert share.tolist() == [model.at(k) for k in offsets]


@SETTINGS
@given(ORDERS, st.integers(1, 9), st.integers(1, 3), st.integers(0, 200))
def test_a_loader_follows_the_order(model, size, world, start):
    n = model.length
    data = np.arange(records_of(model))
    ranks = [lx.Loader(data, order=model.order, batch_size=size, rank=rank, world=world,
                       epochs=3, threads=0) for rank in range(world)]
    first = min(start, 2 * n)
    seen = []
    for loader in ranks:
        loader.seek(first)
        seen += [int(i) for batch in loader for i in batch['data'][batch.real]]
        loader.close()
    assert sorted(seen) == sorted(expected(model, first, 3 * n - first))


@SETTINGS
@given(blends(leaves()), st.integers(0, 500), st.integers(0, 500), st.integers(0, 2**62))
def test_counts_match_the_model(model, first, many, far):
    def counted(end):
        epochs, rest = divmod(end, model.length)
        return [epochs * model.sets.count(i) + model.sets[:rest].count(i)
                for i in range(len(model.order._parts))]

    for start in first, far:
        expect = [b - a for a, b in zip(counted(start), counted(start + many))]
        assert model.order.counts(start, start + many).tolist() == expect
