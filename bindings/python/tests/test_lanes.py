# SPDX-License-Identifier: MIT
"""Lanes: which records each rank reads, how well they are mixed, and windows in bytes."""

import itertools
import re

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given
from hypothesis import strategies as st

import loaderx as lx


@st.composite
def orders(draw):
    """An order of a few lanes, and its arguments."""
    lanes, block = draw(st.integers(1, 40)), draw(st.integers(1, 300))
    most = lanes * max(block, 2)
    n = draw(st.integers(most, most + 3000))
    return lx.Lanes(n=n, lanes=lanes, block=block, seed=draw(st.integers(0, 2**64 - 1))), lanes, n


@given(orders(), st.integers(0, 2**40))
def test_each_epoch_is_another_permutation(made, epoch):
    order, lanes, n = made
    order.seek(epoch * n)
    first, second = order.take(n), order.take(n)
    assert np.array_equal(np.sort(first), np.arange(n))
    assert np.array_equal(np.sort(second), np.arange(n))
    if n > 60 and n // lanes > 8:
        assert not np.array_equal(first, second)


@given(orders(), st.integers(1, 12), st.data())
def test_ranks_read_their_parts_of_the_one_order(made, world, data):
    order, _, n = made
    whole = order.take(3 * n)
    start = data.draw(st.integers(0, n))
    order.seek(start)
    for rank in range(world):
        got = order.shard(rank, world).take((n - start) // world + n // world)
        owned = [i for i in range(start, 3 * n) if i % n % world == rank]
        assert got.tolist() == whole[owned[:len(got)]].tolist()


@pytest.mark.parametrize('world', [1, 2, 3, 4, 5, 6, 8, 12, 30, 60, 120])
def test_a_block_belongs_to_one_rank_in_all_epochs(world):
    n, lanes, block = 12_007, 120, 9
    owners = {}    # rank by the first index of a segment
    order = lx.Lanes(n=n, lanes=lanes, block=block, seed=3)
    for epoch, rank in itertools.product(range(3), range(world)):
        order.seek(epoch * n)
        indices = order.shard(rank, world).take(len(range(rank, n, world))).astype(np.int64)
        for lane in range(lanes // world):    # of this rank
            own = indices[lane::lanes // world]
            assert owners.setdefault(own.min(), rank) == rank
            assert own.max() - own.min() == len(own) - 1
            for begin in range(0, len(own), block):    # a block is read as a whole
                some = own[begin:begin + block]
                assert np.array_equal(np.sort(some), np.arange(some.min(), some.min() + len(some)))
    assert len(owners) == lanes


def test_a_loader_resumes_on_other_ranks():
    source = {'data': np.arange(6000)}
    order = lx.Lanes(lanes=60, block=9, seed=1)
    expected = lx.Lanes(n=6000, lanes=60, block=9, seed=1).take(12_000)
    got, state = [], None
    for world, batches in (1, 7), (4, 9), (3, 5), (12, 20):
        loaders = [lx.Loader(source, batch_size=10, order=order, rank=rank, world=world)
                   for rank in range(world)]
        for loader in loaders if state is not None else ():
            loader.load_state_dict(state)
        iterators = [iter(loader) for loader in loaders]
        for _ in range(batches):
            rows = np.zeros(10 * world, np.uint64)
            for rank, iterator in enumerate(iterators):
                rows[(rank - len(got)) % world::world] = next(iterator)['data']
            got.extend(rows.tolist())
        state = loaders[0].state_dict()
    assert got == expected[:len(got)].tolist()


def test_evaluation_reads_each_record_once():
    source = {'data': np.arange(607)}
    got = [list(lx.Loader(source, batch_size=10, order=lx.Lanes(lanes=20, block=6), rank=rank,
                          world=4, epochs=1, uneven=True)) for rank in range(4)]
    assert sorted(value for batches in got for batch in batches
                  for value in batch['data'].tolist()) == list(range(607))


def test_a_mixture_of_lanes():
    order = lx.Blend([lx.Lanes(n=600, lanes=12, block=5, seed=1), lx.Shuffle(n=300, seed=2)],
                     offsets=[0, 600], exhausted='redistribute')
    indices = order.take(900)
    assert np.array_equal(np.sort(indices), np.arange(900))
    part = indices[indices < 600]
    assert np.array_equal(part, lx.Lanes(n=600, lanes=12, block=5, seed=1).take(600))


# ---- sizes in bytes

@pytest.fixture
def sized(tmp_path):
    """A dataset whose records have 98 bytes on average."""
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64'), 'b': lx.Field(bytes)}) as writer:
        writer.extend(x=np.arange(1000), b=[bytes(k % 2 * 180) for k in range(1000)])
    return lx.open(tmp_path / 'd')


def test_sizes_become_numbers_of_records(sized):
    order = lx.Lanes(sized, window='20kB', block='1 kB', seed=5)
    assert repr(order) == 'Lanes(n=1000, lanes=20, block=10, seed=5)'
    assert repr(lx.Lanes(sized, lanes=12, block='2kB')) == \
        'Lanes(n=1000, lanes=12, block=20, seed=0)'
    assert repr(lx.Lanes(sized, window='16KiB', block=7)) == \
        'Lanes(n=1000, lanes=23, block=7, seed=0)'
    assert order.state_dict()['order']['block'] == 10


def test_sizes_of_other_sources_than_datasets(sized):
    part = lx.SubsetDataset(sized, range(1, 1000, 2))    # the larger ones
    assert lx.Lanes(part, window='20kB', block='2kB')._block == 10
    both = lx.ConcatDataset([sized] * 50)    # more records than are measured
    assert lx.Lanes(both, lanes=20, block='10kB')._block in range(95, 110)


def test_a_block_has_at_least_one_record(sized):
    assert lx.Lanes(sized, lanes=4, block='1B')._block == 1
    assert repr(lx.Lanes(sized, window='2kB', block='10B')) == \
        'Lanes(n=1000, lanes=20, block=1, seed=0)'


def test_resuming_with_another_mean_names_the_block(tmp_path, sized):
    loader = lx.Loader(sized, batch_size=4, order=lx.Lanes(sized, window='20kB', block='1kB'))
    state = loader.state_dict()
    other = lx.Loader(sized, batch_size=4, order=lx.Lanes(lanes=20, block=12))
    with pytest.raises(ValueError, match=r'order\.block" is 10 in the state, but 12 here'):
        other.load_state_dict(state)
    lx.Loader(sized, batch_size=4, order=lx.Lanes(lanes=20, block=10)).load_state_dict(state)


@pytest.mark.parametrize('arguments, error, text', [
    ({'block': 3}, ValueError, 'pass either lanes or window'),
    ({'lanes': 3, 'block': 3, 'window': '1MiB'}, ValueError, 'lanes and window are mutually excl'),
    ({'lanes': 3}, TypeError, 'block'),
    ({'lanes': 0, 'block': 3}, ValueError, 'lanes must be from 1 to 1048576, not 0'),
    ({'lanes': 2**20 + 1, 'block': 3}, ValueError, 'lanes must be from 1 to'),
    ({'lanes': 3, 'block': 0}, ValueError, 'block must be from 1 to 4294967295, not 0'),
    ({'lanes': 3, 'block': 2**32}, ValueError, 'block must be from 1 to'),
    ({'lanes': 3.5, 'block': 3}, TypeError, 'lanes must be an int'),
    ({'lanes': 3, 'block': '1MiB'}, ValueError, 'a size in bytes needs the source'),
    ({'window': '1MiB', 'block': 3}, ValueError, 'a size in bytes needs the source'),
    ({'source': np.arange(9), 'window': '1MiB', 'block': 3}, TypeError,
     'the sizes of its records are unknown'),
    ({'n': 9, 'lanes': 2, 'block': 5}, ValueError, '2 lanes need at least 5 records each'),
    ({'n': 9, 'lanes': 9, 'block': 1}, ValueError, '9 lanes need at least 2 records each'),
])
def test_rejects_invalid_arguments(arguments, error, text):
    with pytest.raises(error, match=re.escape(text)):
        lx.Lanes(**arguments)


@pytest.mark.parametrize('arguments, error, text', [
    ({'n': 4, 'lanes': 3, 'block': 3}, ValueError, 'n and source are mutually exclusive'),
    ({'window': 2**30, 'block': 3}, TypeError, "window must be a size such as '4GiB', not int"),
    ({'window': '1', 'block': 3}, ValueError, 'units B, kB'),
    ({'window': '-1MiB', 'block': 3}, ValueError, 'window must be a size'),
    ({'window': '1mib', 'block': 3}, ValueError, 'window must be a size'),
    ({'window': '99999999999TiB', 'block': 3}, ValueError, 'window must be from 1 byte'),
    ({'window': '1MiB', 'block': '0B'}, ValueError, 'block must be from 1 byte'),
    ({'window': '1kB', 'block': '1MB'}, ValueError, 'window must be the size of 1 to 1048576 bl'),
    ({'window': '1TiB', 'block': '1kB'}, ValueError, 'window must be the size of 1 to'),
    ({'window': '4GiB', 'block': '1MiB'}, ValueError, '4096 lanes need at least'),
])
def test_rejects_invalid_sizes(sized, arguments, error, text):
    with pytest.raises(error, match=re.escape(text)):
        lx.Lanes(sized, **arguments)


def test_a_source_without_records_has_no_sizes(tmp_path):
    lx.create(tmp_path / 'empty', {'x': lx.Field('int64')}).close()
    with pytest.raises(ValueError, match='source is empty'):
        lx.Lanes(lx.open(tmp_path / 'empty'), window='1MiB', block='1kB')
    assert len(lx.Lanes(n=0, lanes=4, block=3)) == 0
