# SPDX-License-Identifier: MIT
"""States of the caller's datasets in those of loaderx.torch.DataLoader, as in torchdata."""

import copy
import itertools
import pickle

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from torch.utils import data
from torch.utils.data import get_worker_info

import loaderx as lx
import loaderx.torch as lt
from loaderx._states import checksum
from torch_cases import through_json

# torch itself warns, for more processes than CPUs
pytestmark = pytest.mark.filterwarnings('ignore:This DataLoader will create')


class Epochs(data.IterableDataset):
    """Items that name the pass; the pass and the position in it are the state."""

    epoch = at = 0

    def __init__(self, length=3):
        self.length = length

    def __iter__(self):
        while self.at < self.length:
            self.at += 1
            yield self.epoch * 100 + self.at
        self.epoch, self.at = self.epoch + 1, 0

    def state_dict(self):
        return {'epoch': self.epoch, 'at': self.at}

    def load_state_dict(self, state):
        self.epoch, self.at = state['epoch'], state['at']


class Walk:
    """An iterator with a state."""

    def __init__(self, owner):
        self.owner, self.at = owner, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.owner.length:
            raise StopIteration
        self.at += 1
        if hasattr(self.owner, 'state_dict'):
            self.owner.count += 1
        return self.owner.count * 100 + self.at

    def state_dict(self):
        return {'at': self.at}

    def load_state_dict(self, state):
        self.at = state['at']


class Walked(data.IterableDataset):
    """A dataset whose iterator has the position, and which counts all items of all passes."""

    count, length = 0, 4

    def __iter__(self):
        return Walk(self)

    def state_dict(self):
        return {'count': self.count}

    def load_state_dict(self, state):
        self.count = state['count']


class WalkedOnly(data.IterableDataset):
    """Only the iterator has a state."""

    count, length = 0, 4

    def __iter__(self):
        return Walk(self)


class Counting:
    """A map-style dataset that counts its reads."""

    count = 0

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.count += 1
        return self.count * 100 + index

    def state_dict(self):
        return {'count': self.count}

    def load_state_dict(self, state):
        self.count = state['count']


KINDS = [Epochs, Walked, WalkedOnly, Counting]
WORKERS = [{'num_workers': 0}, {'num_workers': 2}, {'num_workers': 2, 'persistent_workers': True}]


def run(loader, passes):
    return [[torch.as_tensor(batch).tolist() for batch in itertools.islice(loader, 99)]
            for _ in range(passes)]    # fails if a pass has no end


def interrupt(make, passes, batches, keep=through_json):
    """Return the batches before a state is saved, and the loops of a loader that loads it."""
    first = make()
    run(first, passes)
    head = [batch.tolist() for batch in itertools.islice(first, batches)] if batches else []
    second = make()
    second.load_state_dict(keep(first.state_dict()))
    return head, run(second, 3 - passes)


def rest_of(passes, batches):
    """Return the loops after some batches of the first pass: they are never empty."""
    return list(filter(None, [passes[0][batches:], *passes[1:]]))


@pytest.mark.parametrize('workers', WORKERS, ids=str)
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('batches', [0, 1, 'all'])
@pytest.mark.parametrize('passes', [1, 2])
def test_continues_with_the_states_of_datasets(kind, workers, passes, batches):
    def make(kind_of_loader=lt.DataLoader):
        return kind_of_loader(kind(), 1, **workers)

    expected = run(make(), 4)[passes:]
    assert run(make(data.DataLoader), 4)[passes:] == expected
    batches = len(expected[0]) if batches == 'all' else batches
    head, loops = interrupt(make, passes, batches)
    assert head == expected[0][:batches]
    assert loops == rest_of(expected, batches)[:3 - passes]


@pytest.mark.parametrize('workers', WORKERS, ids=str)
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('batches', [0, 1, 3])
def test_continues_as_the_loader_of_torchdata(kind, workers, batches):
    stateful = pytest.importorskip('torchdata.stateful_dataloader').StatefulDataLoader
    ours, theirs = (interrupt(lambda: one(kind(), 1, **workers), 1, batches, copy.deepcopy)[1]
                    for one in (lt.DataLoader, stateful))
    # Without workers, torchdata begins with an empty pass over a map-style dataset.
    assert ours[0] == next(filter(None, theirs))


# ---- every position


class Share(data.IterableDataset):
    """The share of a worker; a state that is loaded takes effect at once."""

    at = 0

    def __init__(self, length):
        self.length = length

    def share(self):
        info = get_worker_info()
        return range(self.length)[info.id::info.num_workers] if info else range(self.length)

    def __next__(self):
        if self.at == len(self.share()):
            raise StopIteration
        self.at += 1
        return self.share()[self.at - 1]

    def state_dict(self):
        return {'at': self.at}

    def load_state_dict(self, state):
        self.at = state['at']


class Restarting(Share):
    """At the end of a pass, the state is the beginning of the next one."""

    def __iter__(self):
        while self.at < len(self.share()):
            yield next(self)
        self.at = 0


class Rewound(Share):
    """Its own iterator, which begins anew with iter()."""

    def __iter__(self):
        self.at = 0
        return self


class Pending(Share):
    """As torchdata documents it: a state takes effect with the first item, and stays at the end."""

    loaded = 0

    def __iter__(self):
        self.at, self.loaded = self.loaded, 0
        while self.at < len(self.share()):
            yield next(self)

    def load_state_dict(self, state):
        self.loaded = state['at']


class Ready(Pending):
    """Its own iterator; a state takes effect with iter()."""

    def __iter__(self):
        self.at, self.loaded = self.loaded, 0
        return self


class Apart(data.IterableDataset):
    """Only the iterator has a state."""

    def __init__(self, length):
        self.length = length

    def __iter__(self):
        return iter(Rewound(self.length))


IDIOMS = [Restarting, Rewound, Pending, Ready, Apart]


def batches_of(length, size, workers):
    """Return the batches of a pass: the workers take turns, each with its share."""
    shares = [range(length)[one::max(workers, 1)] for one in range(max(workers, 1))]
    parts = [[list(share[at:at + (size or 1)]) for at in range(0, len(share), size or 1)]
             for share in shares]
    turns = [one for one in itertools.chain(*itertools.zip_longest(*parts)) if one]
    return turns if size else [one for one, in turns]


def positions(loader, passes, keep=through_json):
    """Return the number of batches and the state at each position in some passes."""
    states = []
    for _ in range(passes):
        iterator = itertools.islice(loader, 99)
        states.append((0, keep(loader.state_dict())))
        for number, _ in enumerate(iterator, 1):
            states.append((number, keep(loader.state_dict())))
        states.append((0, keep(loader.state_dict())))
    return states


def check_every_position(make, passes, expected):
    for number, state in positions(make(), passes):
        second = make()
        second.load_state_dict(state)
        iterator = iter(second)
        assert number == 0 or second.state_dict() == state    # reading ahead does not show
        loops = [*run(iterator, 1), *run(second, 1)]
        assert loops == rest_of([expected] * 3, number)[:2], (number, state)


@pytest.mark.parametrize('kind', IDIOMS)
def test_each_pass_is_whole_from_every_position(kind):
    for length, size in (1, 1), (5, None), (5, 2), (6, 1), (6, 3), (7, 9):
        check_every_position(lambda: lt.DataLoader(kind(length), size), 2,
                             batches_of(length, size, 0))


@pytest.mark.parametrize('kind', IDIOMS)
@pytest.mark.parametrize('stays', [False, True])
@pytest.mark.parametrize('workers, length, size', [(3, 6, 3), (2, 3, 1), (2, 3, None), (2, 1, 1)])
def test_each_pass_of_processes_is_whole_from_every_position(kind, stays, workers, length, size):
    check_every_position(
        lambda: lt.DataLoader(kind(length), size, num_workers=workers, persistent_workers=stays,
                              multiprocessing_context='fork'),    # which starts them in little time
        1 + stays, batches_of(length, size, workers))


# torchdata loses records of the other idioms.
@pytest.mark.parametrize('kind', [Rewound, Pending, Apart])
@pytest.mark.parametrize('workers', [0, 3])
def test_each_pass_is_that_of_torchdata(kind, workers):
    stateful = pytest.importorskip('torchdata.stateful_dataloader').StatefulDataLoader

    def make(kind_of_loader):
        return kind_of_loader(kind(6), 3, num_workers=workers, persistent_workers=workers > 0)

    ours, theirs = (positions(make(one), 1, copy.deepcopy) for one in (lt.DataLoader, stateful))
    for (number, state), (_, their_state) in zip(ours, theirs):
        first, second = make(lt.DataLoader), make(stateful)
        first.load_state_dict(state)
        second.load_state_dict(their_state)
        # Where no batch is left, torchdata begins with an empty loop.
        assert run(first, 2) == list(filter(None, run(second, 3)))[:2], number


@pytest.mark.parametrize('workers', WORKERS[::2], ids=str)
def test_a_loop_that_was_not_begun_loses_nothing(workers):
    def make():
        return lt.DataLoader(Pending(6), 4, **workers)

    expected, = run(make(), 1)
    for number, state in positions(make(), 1):
        if number in (0, len(expected)):    # between two passes
            loader = make()
            loader.load_state_dict(state)
            left = iter(loader)
            assert run(loader, 2) == [expected] * 2
            assert number == 0 or list(left) == []


# ---- with persistent workers


@pytest.mark.parametrize('kind_of_workers', ['processes', 'threads'])
@pytest.mark.parametrize('passes', [1, 2])
def test_workers_that_have_not_delivered_keep_their_state(kind_of_workers, passes):
    def make():
        return lt.DataLoader(Epochs(), None, num_workers=2, persistent_workers=True,
                             workers=kind_of_workers)

    first = make()
    for _ in range(passes):
        list(first)
    assert next(iter(first)) == passes * 100 + 1
    state = through_json(first.state_dict())
    second = make()
    second.load_state_dict(state)
    assert second.state_dict() == state
    assert list(second) == [passes * 100 + one for one in (1, 2, 2, 3, 3)]
    assert list(second) == [passes * 100 + 100 + one for one in (1, 1, 2, 2, 3, 3)]


@pytest.mark.parametrize('kind_of_workers', ['processes', 'threads'])
def test_workers_keep_their_state_after_a_pass_that_was_left(kind_of_workers):
    def make():
        return lt.DataLoader(Epochs(), None, num_workers=1, persistent_workers=True,
                             prefetch_factor=1, workers=kind_of_workers)

    first = make()
    list(first)
    assert next(iter(first)) == 101
    iter(first)    # the worker has taken items ahead
    second = make()
    second.load_state_dict(through_json(first.state_dict()))
    assert list(second) == list(first._iterator)


def test_threads_share_a_dataset_whose_state_cannot_be_saved():
    loader = lt.DataLoader(Counting(), num_workers=1, workers='threads')
    iterator = iter(loader)
    next(iterator)
    with pytest.raises(ValueError, match="threads share the dataset.*use workers='processes'"):
        loader.state_dict()


@pytest.mark.parametrize('kind', [Epochs, Counting])
def test_rejects_states_for_another_number_of_workers(kind):
    first = lt.DataLoader(kind(), num_workers=2)
    next(iter(first))
    for workers in 0, 1, 3:
        with pytest.raises(ValueError, match=f'"num_workers" is 2 in the state, but {workers} h'):
            lt.DataLoader(kind(), num_workers=workers).load_state_dict(first.state_dict())


def test_rejects_states_of_another_dataset():
    first = lt.DataLoader(Counting())
    next(iter(first))
    with pytest.raises(ValueError, match='"dataset" is resumable in the state, but not resumable'):
        lt.DataLoader(range(8)).load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match='"dataset" is map-style in the state, but iterable-style'):
        lt.DataLoader(Epochs()).load_state_dict(first.state_dict())
    state = {**first.state_dict(), 'datasets': 5}
    state['crc32'] = checksum(state)
    with pytest.raises(lx.CorruptError, match='"datasets" are invalid'):
        lt.DataLoader(Counting()).load_state_dict(state)


def test_rejects_a_state_that_is_not_json():
    dataset = Counting()
    dataset.state_dict = lambda: {'weights': torch.zeros(2)}
    with pytest.raises(ValueError, match='not JSON-compatible.*Tensor'):
        lt.DataLoader(dataset).state_dict()


@pytest.mark.parametrize('kind', [Epochs, Counting])
def test_a_state_before_the_first_pass_has_that_of_the_dataset(kind):
    first = lt.DataLoader(kind())
    list(first)
    state = lt.DataLoader(first.dataset).state_dict()
    second = lt.DataLoader(kind())
    second.load_state_dict(through_json(state))
    assert run(second, 1) == run(first, 1)


class Divided(Epochs):
    def __iter__(self):
        self.worker = get_worker_info().id
        if self.worker == 1:
            raise ValueError('one')
        return super().__iter__()


def test_an_error_in_a_worker_does_not_make_the_loader_wait():
    iterator = iter(lt.DataLoader(Divided(), num_workers=2))
    assert next(iterator).item() == 1
    with pytest.raises(ValueError, match='in DataLoader worker process 1'):
        next(iterator)


# ---- epochs


@pytest.mark.parametrize('workers', [{'num_workers': 2, 'persistent_workers': True},
                                     {'num_workers': 2}, {'num_workers': 0}], ids=str)
@pytest.mark.parametrize('kind_of_workers', ['processes', 'threads', None])
@pytest.mark.parametrize('seed', [None, 3])
@pytest.mark.parametrize('passes', [1, 2])
def test_a_state_between_epochs_continues_with_the_same_epochs(workers, kind_of_workers, seed,
                                                               passes):
    dataset = range(9) if kind_of_workers else lx.NPDataset(np.arange(9))

    def make():
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        return lt.DataLoader(dataset, 2, shuffle=True, generator=generator,
                             workers=kind_of_workers, **workers)

    torch.manual_seed(4)
    first = make()
    run(first, passes)
    state, default = through_json(first.state_dict()), torch.get_rng_state()
    expected = run(first, 2)
    second = make()
    second.load_state_dict(state)
    torch.set_rng_state(default)
    assert run(second, 2) == expected


@pytest.mark.parametrize('library', [data, lt])
@pytest.mark.parametrize('workers', [0, 1])
def test_an_epoch_that_was_set_takes_precedence_over_a_state(library, workers):
    def make(epoch=None):
        sampler = library.DistributedSampler(range(20), 2, 0)
        if epoch is not None:
            sampler.set_epoch(epoch)
        return sampler, lt.DataLoader(range(20), 2, sampler=sampler, num_workers=workers)

    expected = [run(make(epoch)[1], 1) for epoch in range(4)]
    sampler, first = make(2)
    run(first, 1)
    ended = first.state_dict()
    head = [batch.tolist() for batch in itertools.islice(first, 2)]
    left = first.state_dict()

    for epoch, state, rest in [(None, ended, expected[2]), (3, ended, expected[3]),
                               (None, left, [expected[2][0][2:]]), (3, left, expected[3]),
                               (2, left, [expected[2][0][2:]])]:
        for before in True, False:
            sampler, second = make(epoch if before else None)
            second.load_state_dict(state)
            if epoch is not None and not before:
                sampler.set_epoch(epoch)
            assert run(second, 1) == rest
    assert head + expected[2][0][2:] == expected[2][0]


@pytest.mark.parametrize('batches', [0, 2, 5])
@pytest.mark.parametrize('workers', [0, 1])
def test_a_state_names_the_epoch_that_was_set(batches, workers):
    sampler = data.DistributedSampler(range(20), 2, 0)
    first = lt.DataLoader(range(20), 2, sampler=sampler, num_workers=workers)
    if batches:
        for _ in itertools.islice(first, batches):
            pass
    sampler.set_epoch(3)
    state = through_json(first.state_dict())
    assert state['batches'] == 0 and state['sampler']['sampler']['epoch'] == 3
    second = lt.DataLoader(range(20), 2, sampler=data.DistributedSampler(range(20), 2, 0))
    second.load_state_dict(state)
    assert run(second, 1) == run(first, 1)


class Doubled(lx.SubsetDataset):
    """A wrapper that has the type of a dataset of the library, but no records of its own."""

    def __init__(self, wrapped):
        self.wrapped = wrapped

    def __len__(self):
        return len(self.wrapped)

    def __getitem__(self, index):
        return 2 * self.wrapped[index]


@pytest.mark.parametrize('workers', [0, 2])
def test_a_subclass_needs_no_records_of_its_own(workers):
    dataset = Doubled(lx.SubsetDataset(lx.NPDataset(np.arange(6)), [5, 3, 1]))
    for part in dataset, data.ConcatDataset([dataset]), data.Subset(dataset, [0, 1, 2]):
        loader = lt.DataLoader(part, batch_size=2, num_workers=workers)
        batches = iter(loader)
        assert next(batches).tolist() == [10, 6]
        again = lt.DataLoader(part, batch_size=2, num_workers=workers)
        again.load_state_dict(through_json(loader.state_dict()))
        assert [batch.tolist() for batch in again] == [[2]]
        assert pickle.loads(pickle.dumps(part))[1] == 6    # as a worker gets it, unless forked


def test_a_subclass_that_reads_its_base_class_needs_its_records():
    class Unset(lx.SubsetDataset):
        def __init__(self):
            pass

    for use in lt.DataLoader, len, lambda dataset: dataset[0]:
        with pytest.raises(AttributeError, match=r'Unset .*super\(\).__init__\(\)'):
            use(Unset())
    assert not hasattr(Unset(), '_source')
