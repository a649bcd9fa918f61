# SPDX-License-Identifier: MIT
"""States of loaderx.torch.DataLoader: a resumed run continues as if it had never stopped."""

import copy
import itertools
import json
import os
import pickle

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from loaderx._states import checksum
from torch_cases import SETTINGS, through_json
from torch_loaders import (RECORDS, STATEFUL, Case, Pairs, Stream, loading, make_dataset, same,
                           streams)

# torch itself warns, for bool scalars and for more processes than CPUs
pytestmark = [pytest.mark.filterwarnings('ignore:In future, it will be an error'),
              pytest.mark.filterwarnings('ignore:This DataLoader will create')]


@pytest.fixture(scope='module')
def stored(tmp_path_factory):
    with make_dataset(tmp_path_factory.mktemp('torch') / 'stored') as dataset:
        yield dataset


def check_resumed(make, resume, epoch, batches, ends):
    """Compare three epochs with three that are interrupted after `batches` of one."""
    torch.manual_seed(7)
    whole = make()
    expected = [list(whole) for _ in range(3)]
    end = streams(whole)

    torch.manual_seed(7)
    first = make()
    got = [list(first) for _ in range(epoch)]
    iterator = iter(first)
    head = list(itertools.islice(iterator, min(batches, len(expected[epoch]))))
    if head and len(head) == len(expected[epoch]):    # the resumed run begins the next epoch
        assert not ends or next(iterator, None) is None
        got, head, epoch = [*got, head], [], epoch + 1
    del iterator
    state, default = through_json(first.state_dict()), torch.get_rng_state()
    second = resume()
    second.load_state_dict(state)
    assert second.state_dict() == state
    torch.set_rng_state(default)    # the loader does not save the process's generator
    for _ in range(epoch, 3):
        got.append([*head, *second])
        head = []
    assert same(got, expected)
    assert same(streams(second)[1], end[1])


PLACES = (st.integers(0, 1), st.integers(0, 50), st.booleans())


@SETTINGS
@given(loading(STATEFUL), *PLACES)
def test_continues_exactly(case, epoch, batches, ends):
    dataset = Pairs()
    check_resumed(lambda: case.make(lt, dataset), lambda: case.make(lt, dataset),
                  epoch, batches, ends)


@SETTINGS
@given(loading(STATEFUL), *PLACES)
def test_continues_exactly_over_a_stored_dataset(stored, case, epoch, batches, ends):
    check_resumed(lambda: case.make(lt, stored), lambda: case.make(lt, stored),
                  epoch, batches, ends)


@pytest.mark.parametrize('kind', STATEFUL)
@pytest.mark.parametrize('seed', [None, 3])
@pytest.mark.parametrize('before, after', [(2, 0), (0, 1), (1, 2)])
def test_continues_with_another_number_of_workers(stored, kind, seed, before, after):
    """Batches that threads prefetched do not count."""
    for size, dataset, batches in itertools.product([6, None], [Pairs(), stored], [0, 1, 3, 50]):
        case = Case(kind, size, False, seed, False)
        check_resumed(lambda: case.make(lt, dataset, before, workers='threads'),
                      lambda: case.make(lt, dataset, after, workers='threads'), 0, batches, False)


def test_continues_with_another_batch_size(stored):
    first = lt.DataLoader(stored, batch_size=5, shuffle=True)
    head = torch.cat([batch['int64'] for batch in itertools.islice(first, 4)])
    second = lt.DataLoader(stored, batch_size=8, shuffle=True)
    second.load_state_dict(through_json(first.state_dict()))
    tail = torch.cat([batch['int64'] for batch in second])
    assert sorted([*head.tolist(), *tail.tolist()]) == list(range(RECORDS))


def test_a_resumed_run_reads_nothing_twice():
    class Counting(Pairs):
        asked = 0

        def __getitem__(self, index):
            Counting.asked += 1
            return super().__getitem__(index)

    first = lt.DataLoader(Counting(), batch_size=4, shuffle=True)
    for _ in zip(range(8), first):
        pass
    state, Counting.asked = first.state_dict(), 0
    second = lt.DataLoader(Counting(), batch_size=4, shuffle=True)
    second.load_state_dict(state)
    next(iter(second))
    assert Counting.asked == 4


def test_replays_a_sampler_without_a_state():
    first = lt.DataLoader(Pairs(), batch_sampler=[[1, 2], [3], [4, 5], [0]])
    iterator = iter(first)
    got = [next(iterator) for _ in range(3)]
    second = lt.DataLoader(Pairs(), batch_sampler=[[1, 2], [3], [4, 5], [0]])
    second.load_state_dict(through_json(first.state_dict()))
    assert same([*got, *second], list(first))
    assert len(list(second)) == 4


@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('inside', [False, True])
def test_replays_a_subclass_of_a_sampler_of_ours(workers, inside):
    class Own(lt.DistributedSampler):
        def __iter__(self):
            for index in super().__iter__():    # begins only with the first index
                yield index

    def make(epoch):
        sampler = Own(range(RECORDS), num_replicas=2, rank=1)
        sampler.set_epoch(epoch)
        more = ({'batch_sampler': lt.BatchSampler(sampler, 3, False)} if inside
                else {'batch_size': 3, 'sampler': sampler})
        return lt.DataLoader(Pairs(), num_workers=workers, workers='threads', **more), sampler

    first, sampler = make(0)
    list(first)
    sampler.set_epoch(1)
    iterator = iter(first)
    next(iterator), next(iterator)
    state = through_json(first.state_dict())
    second, _ = make(1)
    second.load_state_dict(state)
    assert same(list(second), list(iterator))


def test_uses_the_state_of_a_subclass_that_defines_it():
    class Own(lt.SequentialSampler):
        first = 0

        def __iter__(self):
            for self.first in range(self.first, len(self)):
                yield self.first
            self.first = 0

        def state_dict(self):
            return {'first': self.first + 1}

        def load_state_dict(self, state):
            self.first = state['first']

    loaders = [lt.DataLoader(Pairs(), 3, sampler=Own(range(RECORDS))) for _ in range(2)]
    iterator = iter(loaders[0])
    next(iterator)
    loaders[1].load_state_dict(through_json(loaders[0].state_dict()))
    assert same(list(loaders[1]), list(iterator))


def test_keeps_the_state_of_a_second_generator():
    def make():
        own, other = (torch.Generator().manual_seed(seed) for seed in (3, 4))
        return lt.DataLoader(range(20), 3, sampler=data.RandomSampler(range(20), generator=own),
                             generator=other)

    check_resumed(make, make, 1, 2, False)


class Failing(Pairs):
    def __getitem__(self, index):
        if index == 3:
            raise ValueError('three')
        return super().__getitem__(index)


def test_counts_a_failed_batch():
    for workers in 0, 1:
        first = lt.DataLoader(Failing(), batch_size=2, num_workers=workers)
        iterator = iter(first)
        next(iterator)
        with pytest.raises(ValueError, match='three'):
            next(iterator)
        second = lt.DataLoader(Failing(), batch_size=2)
        second.load_state_dict(first.state_dict())
        assert next(iter(second))['y'][0].tolist() == [4, 5]


# ---- iterable datasets


class Resumable(Stream):
    """An iterable with its own state."""

    at, passed = 0, 0

    def __iter__(self):
        while self.at < self.length:
            self.at += 1
            type(self).passed += 1
            yield self.at - 1
        self.at = 0

    def state_dict(self):
        return {'at': self.at}

    def load_state_dict(self, state):
        self.at = state['at']


@pytest.mark.parametrize('workers', [0, 1, 2, 3])
@pytest.mark.parametrize('kind', [Stream, Resumable])
@pytest.mark.parametrize('more', [{'batch_size': 4}, {'batch_size': None},
                                  {'batch_size': 3, 'drop_last': True}], ids=str)
@pytest.mark.parametrize('kind_of_workers', ['threads', 'processes'])
def test_continues_a_stream_exactly(workers, kind, more, kind_of_workers):
    def make():
        return lt.DataLoader(kind(23), num_workers=workers, workers=kind_of_workers, **more)

    for batches in range(0, len(list(make())) + 1, 3 if kind_of_workers == 'threads' else 8):
        check_resumed(make, make, 0, batches, False)


def test_resumes_a_stateful_stream_without_skipping():
    first = lt.DataLoader(Resumable(50), batch_size=10)
    iterator = iter(first)
    for _ in range(4):
        next(iterator)
    second = lt.DataLoader(Resumable(50), batch_size=10)
    second.load_state_dict(first.state_dict())
    Resumable.passed = 0
    assert [batch.tolist() for batch in second] == [list(range(40, 50))]
    assert Resumable.passed == 10


def test_rejects_a_stream_with_another_number_of_workers():
    first = lt.DataLoader(Stream(9), num_workers=2)
    next(iter(first))
    with pytest.raises(ValueError, match='"num_workers" is 2 in the state, but 1 here'):
        lt.DataLoader(Stream(9), num_workers=1).load_state_dict(first.state_dict())


# ---- errors


@pytest.mark.parametrize('arguments, word', [
    ({'dataset': range(40)}, 'length'), ({'shuffle': False}, 'SequentialSampler'),
    ({'generator': torch.Generator()}, 'generator'),
    ({'batch_sampler': [[1]], 'shuffle': None, 'batch_size': 1}, 'sampler'),
    ({'dataset': Stream(3), 'shuffle': None}, 'iterable|sampler'),
], ids=str)
def test_rejects_a_state_of_another_loader(arguments, word):
    given = {'dataset': range(41), 'batch_size': 3, 'shuffle': True}
    first = lt.DataLoader(**given)
    next(iter(first))
    other = lt.DataLoader(**{**given, **arguments})
    with pytest.raises(ValueError, match=word):
        other.load_state_dict(through_json(first.state_dict()))


@pytest.mark.parametrize('change', [
    {'batches': -1}, {'batches': 'x'}, {'base_seed': None}, {'next_worker': -1}, {'sampler': 5},
    {'state': 5}, {'generator': 'x'},
], ids=str)
def test_rejects_an_edited_state(change):
    loader = lt.DataLoader(range(9), shuffle=True, generator=torch.Generator())
    next(iter(loader))
    state = through_json(loader.state_dict())
    with pytest.raises(lx.CorruptError):
        loader.load_state_dict({**state, **change})
    changed = {**state, **change}
    changed['crc32'] = checksum(changed)
    with pytest.raises((lx.CorruptError, ValueError)):
        loader.load_state_dict(changed)


@pytest.mark.parametrize('streams', [5, [], [5], [{'taken': -1, 'ended': False}], [{'taken': 1}],
                                     [{'taken': True, 'ended': False}]],
                         ids=str)
def test_rejects_an_edited_state_of_a_stream(streams):
    loader = lt.DataLoader(Stream(9))
    next(iter(loader))
    state = {**loader.state_dict(), 'streams': streams}
    state['crc32'] = checksum(state)
    with pytest.raises(lx.CorruptError, match='streams'):
        loader.load_state_dict(state)


# ---- copies


@pytest.mark.parametrize('make', [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy,
                                  copy.copy])
def test_copies_start_from_the_beginning(make):
    first = lt.DataLoader(Pairs(), 4, shuffle=True, num_workers=1)
    next(iter(first))
    other = make(first)
    assert other.state_dict()['batches'] == 0 and len(list(other)) == 11


def test_copies_keep_a_seek():
    first = lt.DataLoader(range(20), 4)
    for _ in zip(range(3), first):
        pass
    second = lt.DataLoader(range(20), 4)
    second.load_state_dict(first.state_dict())
    assert same(list(copy.deepcopy(second)), list(second))


# ---- states of earlier versions


def golden():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'torch-loader-states-1.json')
    with open(path, encoding='utf-8') as file:
        return json.load(file)


@pytest.mark.parametrize('one', golden(), ids=lambda one: str(one['arguments']))
def test_loads_states_of_version_1(one):
    arguments = dict(one['arguments'])
    kind = {'range': range, 'Stream': Stream}[arguments.pop('kind')]
    if one['generator']:
        arguments['generator'] = torch.Generator()
    loader = lt.DataLoader(kind(23), **arguments)
    loader.load_state_dict(one['state'])
    assert loader.state_dict() == one['state']
    got = [batch['i'] if isinstance(batch, dict) else batch for batch in loader]
    assert [torch.as_tensor(batch).tolist() for batch in got] == one['rest']


def test_continues_over_an_array():
    case = Case('shuffle', 7, False, 3, False)
    dataset = lx.NPDataset(np.arange(RECORDS))
    check_resumed(lambda: case.make(lt, dataset), lambda: case.make(lt, dataset, 2), 1, 3, False)
    assert isinstance(next(iter(lt.DataLoader(dataset))), torch.Tensor)
    assert same(list(lt.DataLoader(dataset)), list(data.DataLoader(dataset)))
