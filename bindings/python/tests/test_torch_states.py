# SPDX-License-Identifier: MIT
"""States of the samplers of loaderx.torch: an interrupted pass continues."""

import copy
import itertools
import json
import os
import pickle

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from loaderx._states import checksum
from torch_cases import SETTINGS, Case, Streams, check_resumed, sampling, through_json


@SETTINGS
@given(sampling(), st.lists(st.integers(0, 100) | st.integers(0, 10_000), min_size=1, max_size=5))
def test_continues_exactly(case, cuts):
    check_resumed(case, cuts)


@pytest.mark.parametrize('kind, arguments', [
    ('RandomSampler', {'data_source': range(20), 'num_samples': 50}),
    ('RandomSampler', {'data_source': range(20), 'num_samples': 40}),
    ('RandomSampler', {'data_source': range(20), 'num_samples': 70, 'replacement': True}),
    ('RandomSampler', {'data_source': range(20), 'num_samples': 64, 'replacement': True}),
    ('SubsetRandomSampler', {'indices': range(9)}),
    ('WeightedRandomSampler', {'weights': [3, 1, 2], 'num_samples': 11}),
])
@pytest.mark.parametrize('seed', [None, 3])
def test_continues_from_anywhere(kind, arguments, seed):
    case = Case(kind, arguments, seed)
    for cut in range(len(case.make(lt)) + 1):
        check_resumed(case, [cut])


@pytest.mark.parametrize('kind, arguments', [
    ('RandomSampler', {'data_source': range(20)}),
    ('RandomSampler', {'data_source': range(20), 'num_samples': 50, 'replacement': True}),
    ('WeightedRandomSampler', {'weights': [3, 1, 2], 'num_samples': 11}),
])
def test_other_draws_from_its_generator_do_not_matter(kind, arguments):
    case = Case(kind, arguments, 5)
    whole, part = case.make(lt), case.make(lt)
    one, other = iter(whole), iter(part)
    expected, got = list(itertools.islice(one, 4)), list(itertools.islice(other, 4))
    for sampler in whole, part:
        torch.rand(1000, generator=sampler.generator)
    resumed = case.make(lt)
    resumed.load_state_dict(through_json(part.state_dict()))
    assert [*got, *resumed] == [*expected, *one]
    assert list(resumed) == list(whole)


def test_does_not_redraw_earlier_indices(monkeypatch):
    sampler = lt.RandomSampler(range(10), num_samples=10**6, generator=torch.Generator())
    here = iter(sampler)
    rest = list(itertools.islice(here, 500_005, 500_015))
    state = sampler.state_dict()
    assert state['given'] == 500_015 and len(json.dumps(state)) < 12_000
    drawn = []
    draw = torch.randperm
    monkeypatch.setattr(torch, 'randperm', lambda *a, **b: drawn.append(1) or draw(*a, **b))
    other = lt.RandomSampler(range(10), num_samples=10**6, generator=torch.Generator())
    other.load_state_dict(state)
    assert [*rest, *itertools.islice(other, 5)] == [*rest, *itertools.islice(here, 5)]
    assert len(drawn) == 1


def test_without_a_generator_a_state_is_small():
    sampler = lt.RandomSampler(range(10**6))
    next(iter(sampler))
    assert len(json.dumps(sampler.state_dict())) < 200


def test_a_state_after_a_pass_starts_the_next():
    sampler = lt.RandomSampler(range(9), generator=torch.Generator().manual_seed(1))
    assert len(list(sampler)) == 9
    other = lt.RandomSampler(range(9), generator=torch.Generator())
    other.load_state_dict(sampler.state_dict())
    assert list(other) == list(sampler)


def test_each_pass_has_its_own_end():
    """All indices were returned, and no more were requested: the rest is empty."""
    sampler = lt.SequentialSampler(range(3))
    for _ in zip(range(3), sampler):
        pass
    other = lt.SequentialSampler(range(3))
    other.load_state_dict(sampler.state_dict())
    assert [list(other), list(other)] == [[], [0, 1, 2]]


def test_a_new_pass_restarts_without_a_state():
    sampler = lt.SequentialSampler(range(5))
    for i in sampler:
        if i == 2:
            break
    assert list(sampler) == [0, 1, 2, 3, 4]


# ---- by a count


@SETTINGS
@given(sampling(), st.integers(0, 100) | st.integers(0, 10_000))
def test_a_seek_skips_earlier_indices(case, samples):
    whole, sampler = case.make(lt), case.make(lt)
    samples = min(samples, len(whole))
    torch.manual_seed(5)
    expected = list(whole)[samples:]
    end = Streams(whole)
    torch.manual_seed(5)
    sampler.seek(samples)
    assert sampler.state_dict()['given'] == samples
    other = case.make(lt)
    other.load_state_dict(through_json(sampler.state_dict()))
    assert list(sampler) == expected
    assert Streams(sampler) == end
    torch.manual_seed(5)
    assert list(other) == expected
    check_batches_sought(case, samples, expected)


def check_batches_sought(case, samples, expected):
    for below in case.make(lt), list(case.make(lt)) if case.seed is not None else None:
        if below is not None:
            torch.manual_seed(5)
            batches = lt.BatchSampler(below, 7, False)
            batches.seek(samples)
            assert sum(batches, []) == expected


def test_a_state_within_a_pass_after_a_seek():
    for case in [Case('RandomSampler', {'data_source': range(30), 'num_samples': 100}, 1),
                 Case('RandomSampler', {'data_source': range(30), 'num_samples': 100,
                                        'replacement': True}, 1),
                 Case('RandomSampler', {'data_source': range(30), 'num_samples': 20}, 1)]:
        expected = list(case.make(lt))
        for samples in 0, 1, 15, 31, 32, 60, 64, 98:
            sampler, other = case.make(lt), case.make(lt)
            samples = min(samples, len(sampler) - 1)
            sampler.seek(samples)
            assert next(iter(sampler)) == expected[samples]
            other.load_state_dict(through_json(sampler.state_dict()))
            assert list(other) == expected[samples + 1:]


@pytest.mark.parametrize('samples, error', [
    (-1, ValueError), (10, ValueError), (2**64, ValueError), (True, TypeError), (2.0, TypeError),
    (None, TypeError),
])
def test_rejects_invalid_seeks(samples, error):
    for sampler in lt.SequentialSampler(range(9)), lt.RandomSampler(range(9)):
        with pytest.raises(error, match='samples'):
            sampler.seek(samples)
        with pytest.raises(error, match='samples'):
            lt.BatchSampler(sampler, 2, False).seek(samples)


# ---- ranks


def test_distributed_ranks_share_a_state():
    def samplers():
        return [lt.DistributedSampler(range(101), 4, rank, seed=9) for rank in range(4)]

    first, second = samplers(), samplers()
    expected = []
    for sampler in first:
        sampler.set_epoch(3)
        expected.append(list(sampler)[10:])
        for _ in zip(range(10), sampler):
            pass
    state = through_json(first[2].state_dict())
    assert state['epoch'] == 3 and state['given'] == 10 and state['rank'] == 2
    for sampler in second:
        sampler.load_state_dict(state)
        assert sampler.epoch == 3
        sampler.set_epoch(3)
    assert [list(sampler) for sampler in second] == expected


def test_set_epoch_replaces_an_unfinished_epoch():
    sampler = lt.DistributedSampler(range(10), 2, 1)
    next(iter(sampler))
    other = lt.DistributedSampler(range(10), 2, 1)
    other.load_state_dict(sampler.state_dict())
    other.set_epoch(1)
    sampler.set_epoch(1)
    assert list(other) == list(sampler) and len(list(other)) == 5


def test_an_epoch_that_was_set_takes_precedence_over_a_state():
    def make(epoch=None):
        sampler = lt.DistributedSampler(range(10), 2, 1)
        if epoch is not None:
            sampler.set_epoch(epoch)
        return sampler

    first = make(2)
    for _ in zip(range(3), first):
        pass
    state = first.state_dict()
    for epoch, expected in (3, list(make(3))), (2, list(make(2))[3:]), (None, list(make(2))[3:]):
        second = make(epoch)
        second.load_state_dict(state)
        assert list(second) == expected
    first.load_state_dict({**state})    # its epoch was set before its latest pass
    assert list(first) == list(make(2))[3:]


def test_a_state_names_the_epoch_that_was_set():
    sampler = lt.DistributedSampler(range(10), 2, 1)
    for take in 5, 3, 0:
        list(itertools.islice(sampler, take))
        sampler.set_epoch(take + 1)
        state = sampler.state_dict()
        assert (state['epoch'], state['given']) == (take + 1, 0)
    batches = lt.BatchSampler(sampler, 5, False)
    list(itertools.islice(batches, 1))
    sampler.set_epoch(9)
    other = lt.BatchSampler(lt.DistributedSampler(range(10), 2, 1), 5, False)
    other.load_state_dict(through_json(batches.state_dict()))
    assert list(other) == list(batches)


# ---- batches


@SETTINGS
@given(sampling(), st.integers(1, 40), st.integers(1, 40), st.integers(0, 200), st.booleans())
def test_batches_continue_exactly(case, before, after, batches, drop_last):
    """The batch size may change."""
    torch.manual_seed(3)
    first = lt.BatchSampler(case.make(lt), before, drop_last)
    head = [i for batch in itertools.islice(first, batches) for i in batch]
    state, default = through_json(first.state_dict()), torch.get_rng_state()
    torch.manual_seed(3)
    sampler = case.make(lt)
    expected, then = list(sampler), None if case.kind == 'DistributedSampler' else list(sampler)
    second = lt.BatchSampler(case.make(lt), after, False)
    second.load_state_dict(state)
    torch.set_rng_state(default)
    rest = [i for batch in second for i in batch]
    if batches > len(first):    # the next pass began
        head, expected, then = [], then or expected, None
    assert head + rest == expected
    assert then is None or sum(second, []) == then


@pytest.mark.parametrize('sampler', [
    lambda: range(50), lambda: list('abcdefghij' * 5), lambda: data.SequentialSampler(range(50)),
    lambda: lt.BatchSampler(lt.SequentialSampler(range(150)), 3, False),
], ids=['range', 'list', 'torch', 'batches'])
def test_batches_of_any_sampler_continue(sampler):
    expected = list(data.BatchSampler(list(sampler()), 7, False))
    for batches in range(8):
        first = lt.BatchSampler(sampler(), 7, False)
        got = [batch for _, batch in zip(range(batches), first)]
        second = lt.BatchSampler(sampler(), 7, False)
        second.load_state_dict(through_json(first.state_dict()))
        assert got + list(second) == expected
        assert list(second) == expected


def test_keeps_the_state_of_a_custom_sampler():
    class Mine:
        at = 0

        def __iter__(self):
            while self.at < 20:
                self.at += 1
                yield self.at - 1
            self.at = 0

        def state_dict(self):
            return {'at': self.at}

        def load_state_dict(self, state):
            self.at = state['at']

    first = lt.BatchSampler(Mine(), 6, True)
    assert next(iter(first)) == [0, 1, 2, 3, 4, 5]
    second = lt.BatchSampler(Mine(), 4, False)
    second.load_state_dict(through_json(first.state_dict()))
    assert next(iter(second)) == [6, 7, 8, 9]
    with pytest.raises(ValueError, match='"sampler"'):
        lt.BatchSampler(range(20), 6, True).load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match='"sampler"'):
        first.load_state_dict(lt.BatchSampler(range(20), 6, True).state_dict())


# ---- errors


def state_of(sampler, given=3):
    for _ in zip(range(given), sampler):
        pass
    return through_json(sampler.state_dict())


def generated(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize('ours, theirs, word', [
    (lambda: lt.SequentialSampler(range(9)), lambda: lt.SequentialSampler(range(8)), 'length'),
    (lambda: lt.SequentialSampler(range(9)), lambda: lt.RandomSampler(range(9)), 'RandomSampler'),
    (lambda: lt.RandomSampler(range(9)), lambda: lt.RandomSampler(range(9), True), 'replacement'),
    (lambda: lt.RandomSampler(range(9)), lambda: lt.RandomSampler(range(9), False, 4),
     'num_samples'),
    (lambda: lt.RandomSampler(range(9)), lambda: lt.RandomSampler(range(9), generator=generated()),
     'generator'),
    (lambda: lt.RandomSampler(range(9), generator=generated()), lambda: lt.RandomSampler(range(9)),
     'generator'),
    (lambda: lt.SubsetRandomSampler([1, 2, 3]), lambda: lt.SubsetRandomSampler([1, 2, 4]),
     'indices'),
    (lambda: lt.WeightedRandomSampler([1, 2, 3], 9), lambda: lt.WeightedRandomSampler([1, 2, 4], 9),
     'weights'),
    (lambda: lt.DistributedSampler(range(9), 2, 0), lambda: lt.DistributedSampler(range(9), 3, 0),
     'num_replicas'),
    (lambda: lt.DistributedSampler(range(9), 2, 0),
     lambda: lt.DistributedSampler(range(9), 2, 0, seed=1), 'seed'),
    (lambda: lt.BatchSampler(lt.SequentialSampler(range(9)), 2, False),
     lambda: lt.BatchSampler(lt.SequentialSampler(range(8)), 2, False), 'length'),
    (lambda: lt.SequentialSampler(range(9)), lambda: lx.Sequential(n=9), 'the state of a sampler'),
])
def test_rejects_a_state_of_another_sampler(ours, theirs, word):
    other = theirs()
    state = other.state_dict() if isinstance(other, lx.Order) else state_of(other, 1)
    sampler = ours()
    with pytest.raises(ValueError, match=word):
        sampler.load_state_dict(state)
    assert sampler.state_dict()['given'] == 0


def test_the_same_numbers_are_the_same_indices():
    state = state_of(lt.SubsetRandomSampler(list(range(5000)), generated()))
    for same in range(5000), np.arange(5000, dtype=np.uint16), torch.arange(5000):
        lt.SubsetRandomSampler(same, generated()).load_state_dict(state)


@pytest.mark.parametrize('change, error', [
    ({'given': 4}, lx.CorruptError),
    ({'crc32': '00000000'}, lx.CorruptError),
    ({'drawn_from': 'AAAA'}, lx.CorruptError),
    ({'version': 2}, lx.LoaderxError),
    ({'version': None}, lx.LoaderxError),
    ({'state': None}, lx.CorruptError),
])
def test_rejects_an_edited_state(change, error):
    sampler = lt.RandomSampler(range(9), generator=generated())
    state = state_of(sampler)
    with pytest.raises(error):
        sampler.load_state_dict({**state, **change})


@pytest.mark.parametrize('change', [
    {'given': -1}, {'given': 10}, {'given': 2.5}, {'given': None}, {'given': True},
    {'drawn_from': 'AAAA'}, {'drawn_from': 5}, {'drawn_from': None}, {'generator': 'no base64!'},
    {'generator': 'eJztwTEBAAAAwqD1T20JT6AAAHgaAAAB'}, {'seed': -4}, {'seed': 'x'},
    {'rest': []},
], ids=str)
def test_rejects_an_edited_state_with_a_valid_checksum(change):
    sampler = lt.RandomSampler(range(9), generator=generated())
    state = {**state_of(sampler), **change}
    state['crc32'] = checksum(state)
    with pytest.raises(lx.CorruptError):
        sampler.load_state_dict(state)


@pytest.mark.parametrize('key, sampler', [
    ('length', lambda: lt.SequentialSampler(range(1))),
    ('num_samples', lambda: lt.RandomSampler(range(3), True, 1)),
    ('seed', lambda: lt.DistributedSampler(range(9), 2, 0, seed=1)),
])
def test_true_is_not_one(key, sampler):
    state = {**sampler().state_dict(), key: True}
    state['crc32'] = checksum(state)
    with pytest.raises(ValueError, match=f'"{key}" is True in the state, but 1 here'):
        sampler().load_state_dict(state)


@pytest.mark.parametrize('rest', [5, None, [1, -2], [1] * 98, ['x'], [9], [True]], ids=str)
def test_rejects_an_impossible_rest(rest):
    def sampler():
        return lt.RandomSampler(range(9), True, 100, generated())

    state = state_of(sampler())
    assert len(state['rest']) == 29
    sampler().load_state_dict(state)
    state['rest'] = rest
    state['crc32'] = checksum(state)
    with pytest.raises(lx.CorruptError, match='rest'):
        sampler().load_state_dict(state)


@pytest.mark.parametrize('state, error', [(5, TypeError), (None, TypeError), ([], TypeError),
                                          ({}, lx.CorruptError), ({'state': object()}, ValueError)])
def test_rejects_other_than_states(state, error):
    with pytest.raises(error):
        lt.SequentialSampler(range(3)).load_state_dict(state)


@pytest.mark.parametrize('epoch', [None, 'x', 1.5, [], True])
def test_rejects_an_invalid_epoch(epoch):
    sampler = lt.DistributedSampler(range(9), 2, 0)
    state = {**state_of(sampler, 2), 'epoch': epoch}
    state['crc32'] = checksum(state)
    with pytest.raises(lx.CorruptError, match='epoch'):
        sampler.load_state_dict(state)


def test_identifies_a_sequence_without_slices_by_its_length():
    class Squares:
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return [0, 1, 4, 9, 16, 25][i.__index__()] if not isinstance(i, slice) else {}[i]

    check_resumed(Case('SubsetRandomSampler', {'indices': Squares()}, 3), [2, 5])
    state = state_of(lt.SubsetRandomSampler(Squares(), generated()))
    assert state['indices'] is None and state['length'] == 6


def test_weights_on_other_devices_have_no_state():
    sampler = lt.WeightedRandomSampler(torch.ones(5, device='meta'), 3)
    with pytest.raises(ValueError, match='weights are on meta'):
        sampler.state_dict()


# ---- copies


def test_copies_start_from_the_beginning():
    sampler = lt.BatchSampler(lt.RandomSampler(range(10)), 3, False)
    assert next(iter(sampler))
    for other in pickle.loads(pickle.dumps(sampler)), copy.deepcopy(sampler), copy.copy(sampler):
        assert sorted(sum(other, [])) == list(range(10))


def test_copies_keep_a_seek():
    sampler = lt.SequentialSampler(range(9))
    sampler.seek(7)
    others = pickle.loads(pickle.dumps(sampler)), copy.deepcopy(sampler), copy.copy(sampler)
    assert [list(other) for other in (*others, sampler)] == [[7, 8]] * 4
    assert list(others[0]) == list(range(9))


# ---- states of earlier versions


def golden():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'torch-states-1.json')
    with open(path, encoding='utf-8') as file:
        return json.load(file)


@pytest.mark.parametrize('one', golden(), ids=lambda one: one['kind'])
def test_loads_states_of_version_1(one):
    arguments = {name: range(value) if name in ('data_source', 'dataset') else value
                 for name, value in one['arguments'].items()}
    if one['kind'] == 'BatchSampler':
        arguments['sampler'] = lt.SequentialSampler(range(9))
    if one['generator']:
        arguments['generator'] = torch.Generator()
    sampler = getattr(lt, one['kind'])(**arguments)
    sampler.load_state_dict(one['state'])
    assert sampler.state_dict() == one['state']
    assert list(sampler) == one['rest']
    assert one['next'] is None or list(sampler) == one['next']
