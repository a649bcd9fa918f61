# SPDX-License-Identifier: MIT
"""Workers of loaderx.torch.DataLoader that are processes: the caller's code runs as in torch."""

import inspect
import itertools
import multiprocessing
import operator
import os
import pickle
import random
import sqlite3
import threading

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from torch.utils import data
from torch.utils.data import get_worker_info

import loaderx as lx
import loaderx.torch as lt
from processes import run_script
from torch_cases import through_json
from torch_loaders import Case, Pairs, Stream, make_dataset, outcome, same

# torch itself warns, for bool scalars and for more processes than CPUs
pytestmark = [pytest.mark.filterwarnings('ignore:In future, it will be an error'),
              pytest.mark.filterwarnings('ignore:This DataLoader will create')]

RECORD = 64


class Seeking:
    """A dataset that opens its file at the first access, and seeks before it reads."""

    def __init__(self, path, count):
        self.path, self.count, self.file = path, count, None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.file is None:
            self.file = open(self.path, 'rb', buffering=0)
        self.file.seek(index * RECORD)
        threading.Event().wait(.0001)    # another thread could seek here
        return int.from_bytes(self.file.read(RECORD), 'little')


def test_a_dataset_that_seeks_returns_its_own_samples(tmp_path):
    path = tmp_path / 'records'
    path.write_bytes(b''.join(i.to_bytes(RECORD, 'little') for i in range(600)))
    loader = lt.DataLoader(Seeking(path, 600), 10, num_workers=2)
    assert torch.cat(list(loader)).tolist() == list(range(600))


class Rows:
    base = None

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 40

    def __getitem__(self, index):
        if self.base is None:
            self.base = sqlite3.connect(self.path)
        return self.base.execute('select x from t where i = ?', (index,)).fetchone()[0]


def test_a_dataset_may_use_sqlite(tmp_path):
    with sqlite3.connect(tmp_path / 'base') as base:
        base.execute('create table t (i, x)')
        base.executemany('insert into t values (?, ?)', [(i, i * i) for i in range(40)])
    base.close()
    got = torch.cat(list(lt.DataLoader(Rows(tmp_path / 'base'), 4, num_workers=2))).tolist()
    assert got == [i * i for i in range(40)]


def places(batch):
    return os.getpid(), threading.get_ident()


def test_a_collate_function_of_the_caller_runs_in_processes(tmp_path):
    with make_dataset(tmp_path / 'stored') as stored:
        made = set(lt.DataLoader(stored, 6, num_workers=2, collate_fn=places))
        assert len(made) == 2 and os.getpid() not in {one[0] for one in made}
        made = set(lt.DataLoader(stored, 6, num_workers=2, collate_fn=places, workers='threads'))
        assert {one[0] for one in made} == {os.getpid()}


@pytest.mark.parametrize('context', ['fork', 'forkserver', 'spawn'])
def test_datasets_of_this_library_in_processes(tmp_path, context):
    with make_dataset(tmp_path / 'stored') as stored:
        loader = lt.DataLoader(stored, 10, num_workers=1, multiprocessing_context=context)
        assert same(list(loader), list(data.DataLoader(stored, 10)))


class Derived(lx.NPDataset):
    def __getitem__(self, index):
        return os.getpid()


@pytest.mark.parametrize('make, process', [
    (lambda ours, pairs: ours, False), (lambda ours, pairs: (ours, ours), False),
    (lambda ours, pairs: data.Subset(ours, [3, 4]), False),
    (lambda ours, pairs: data.ConcatDataset([ours, ours]), False),
    (lambda ours, pairs: data.ConcatDataset([ours, pairs]), True),
    (lambda ours, pairs: data.Subset(pairs, [3, 4]), True),
    (lambda ours, pairs: Derived(np.arange(4)), True), (lambda ours, pairs: pairs, True),
    (lambda ours, pairs: data.TensorDataset(torch.arange(4)), True),
], ids=['ours', 'tuple', 'subset', 'joined', 'mixed', 'subset of foreign', 'derived', 'foreign',
        'tensors'])
def test_only_code_of_the_caller_runs_in_processes(make, process):
    loader = lt.DataLoader(make(lx.NPDataset(np.arange(9)), Pairs()), num_workers=1)
    before = set(multiprocessing.active_children())
    iterator = iter(loader)
    assert len(set(multiprocessing.active_children()) - before) == process
    del iterator


# ---- isolation


def seed_numpy(number):
    np.random.seed(torch.initial_seed() % 2**32)


@pytest.mark.parametrize('stored', [False, True])
def test_init_does_not_touch_the_generators_of_the_caller(stored):
    dataset = lx.NPDataset(np.arange(41)) if stored else Pairs()
    np.random.seed(5)
    expected = np.random.rand(3).tolist()
    np.random.seed(5)
    loader = lt.DataLoader(dataset, 4, num_workers=2, worker_init_fn=seed_numpy)
    assert len(list(loader)) == 11
    assert np.random.rand(3).tolist() == expected


class Random(Pairs):
    def __getitem__(self, index):
        return torch.rand(()), np.random.rand(), random.random(), get_worker_info().seed


@pytest.mark.parametrize('init', [None, seed_numpy])
def test_workers_are_seeded_as_in_torch(init):
    def run(module):
        return list(module.DataLoader(Random(), 3, num_workers=2, worker_init_fn=init,
                                      generator=torch.Generator().manual_seed(3)))

    assert same(run(lt), run(data))


@pytest.mark.parametrize('stay', [False, True])
def test_workers_of_a_resumed_pass_have_its_seeds(stay):
    def make():
        return lt.DataLoader(Random(), 3, num_workers=3, persistent_workers=stay,
                             generator=torch.Generator().manual_seed(3))

    first = make()
    iterator = iter(first)
    seeds = {batch[3][0].item() for batch in itertools.islice(iterator, 4)}
    second = make()
    second.load_state_dict(through_json(first.state_dict()))
    numbers = [[value.tolist() for value in batch] for batch in second]
    assert {batch[3][0] for batch in numbers} == seeds and len(seeds) == 3
    assert numbers[0][3][0] == next(iterator)[3][0].item()    # from the same worker
    # The workers begin again.
    assert numbers[1][:3] == [value.tolist() for value in list(make())[2][:3]]


class Asking(Pairs):
    def __getitem__(self, index):
        info = get_worker_info()
        assert info.dataset is self
        return torch.tensor([info.id, info.num_workers]), info.seed


def test_worker_info_is_that_of_torch():
    def run(module):
        return list(module.DataLoader(Asking(), 1, num_workers=2,
                                      generator=torch.Generator().manual_seed(3)))

    assert same(run(lt), run(data))
    assert get_worker_info() is None


class Range(data.IterableDataset):
    first, end = 0, 20

    def __iter__(self):
        return iter(range(self.first, self.end))


def divide(number):
    """As in the example in torch's documentation."""
    own = get_worker_info().dataset
    own.first, own.end = own.first + number * 10, own.first + number * 10 + 10


@pytest.mark.parametrize('context', ['fork', 'forkserver', 'spawn'])
def test_a_worker_sets_its_own_state(context):
    dataset = Range()
    ours, theirs = (list(module.DataLoader(dataset, 3, num_workers=2, worker_init_fn=divide,
                                           multiprocessing_context=context))
                    for module in (lt, data))
    assert same(ours, theirs)
    assert (dataset.first, dataset.end) == (0, 20)


def test_a_stream_is_not_copied_in_the_process():
    """Only a fork passes it on without pickling it."""
    class Uncopied(Stream):
        def __deepcopy__(self, memo):
            raise AssertionError('copied')

        __copy__ = __reduce_ex__ = __deepcopy__

    got = list(lt.DataLoader(Uncopied(9), None, num_workers=2, multiprocessing_context='fork'))
    assert [one['i'] for one in got] == list(range(9))


# ---- errors


class Failing(Pairs):
    def __getitem__(self, index):
        if index == 5:
            raise {}['five']
        return super().__getitem__(index)


class FailingStream(Range):
    def __iter__(self):
        yield from range(3)
        raise ValueError('three')


def fail(number):
    raise ValueError(f'init {number}')


def all_outcomes(loader):
    """Return the batches and the errors of a pass, without the frames of the traceback."""
    iterator, got = iter(loader), []
    for _ in range(30):
        one = outcome(lambda: next(iterator))[0]
        if isinstance(one, list) and one[0] is StopIteration:
            return got
        if isinstance(one, list) and isinstance(one[0], type):
            lines = one[1].splitlines()
            one = [one[0], lines[0], lines[-1]]
        got.append(one)
    return got


@pytest.mark.parametrize('make, more', [
    (Failing, {'batch_size': 2}), (FailingStream, {'batch_size': 2}), (FailingStream, {}),
    (Pairs, {'collate_fn': operator.itemgetter(9)}),
    (lambda: [torch.zeros(2), torch.zeros(3)], {'batch_size': 2}),
    (lambda: [object()] * 3, {}), (lambda: [1, 'a'], {'batch_size': 2}),
    (Pairs, {'sampler': [3, 'x', 4]}),
], ids=['item', 'stream', 'single', 'collate_fn', 'shapes', 'objects', 'types', 'index'])
def test_errors_are_those_of_torch(make, more):
    theirs = all_outcomes(data.DataLoader(make(), num_workers=2, **more))
    assert same(all_outcomes(lt.DataLoader(make(), num_workers=2, **more)), theirs)
    threads = all_outcomes(lt.DataLoader(make(), num_workers=2, workers='threads', **more))
    assert same([[one[0], one[1].replace('thread', 'process'), one[2]]
                 if isinstance(one, list) and isinstance(one[0], type) else one
                 for one in threads], theirs)


def test_init_that_fails_is_the_first_error():
    with pytest.raises(ValueError, match='(?s)^Caught ValueError in DataLoader worker process 0.*'
                                         'init 0'):
        list(lt.DataLoader(Pairs(), 2, num_workers=2, worker_init_fn=fail))


@pytest.mark.parametrize('method', ['forkserver', 'spawn'])
@pytest.mark.parametrize('make', [
    lambda: (Pairs(), {'collate_fn': lambda batch: batch}), lambda: (LockedPairs(), {}),
    lambda: (Pairs(), {'worker_init_fn': lambda number: None})], ids=['local', 'lock', 'init'])
def test_what_cannot_be_pickled_is_the_error_of_torch_and_advice(make, method):
    dataset, more = make()
    theirs, ours = (outcome(lambda: iter(module.DataLoader(
        dataset, num_workers=1, multiprocessing_context=method, **more)))[0]
        for module in (data, lt))
    assert issubclass(theirs[0], (pickle.PicklingError, AttributeError, TypeError))
    assert ours[0] is theirs[0] and 'pickle' in ours[1]
    assert ours[1].endswith(f"a process started by '{method}' gets the dataset, collate_fn and "
                            "worker_init_fn as pickles: define their classes and functions in a "
                            "module, open files and locks in the worker, or pass "
                            "multiprocessing_context='fork'")


class LockedPairs(Pairs):
    def __init__(self):
        self.lock = threading.Lock()


class Leaving(Pairs):
    def __getitem__(self, index):
        os._exit(3)


def test_a_worker_that_exits_is_an_error():
    with pytest.raises(RuntimeError, match=r'DataLoader worker \(pid.* exited unexpectedly'):
        list(lt.DataLoader(Leaving(), 2, num_workers=1))


# ---- states


@pytest.mark.parametrize('kind', ['sequential', 'shuffle', 'replaced', 'subset', 'distributed'])
@pytest.mark.parametrize('before, after', [(2, 0), (0, 2), (2, 1)])
def test_continues_with_another_number_of_workers(kind, before, after):
    case = Case(kind, 6, False, 3, False)
    expected = list(case.make(lt, Pairs()))
    for batches in 1, 4:
        first = case.make(lt, Pairs(), before)
        got = list(itertools.islice(first, min(batches, len(expected) - 1)))
        second = case.make(lt, Pairs(), after)
        second.load_state_dict(through_json(first.state_dict()))
        assert same([*got, *second], expected)


def test_replays_a_sampler_without_a_state():
    def make():
        return lt.DataLoader(Pairs(), batch_sampler=[[1, 2], [3], [4, 5], [0]], num_workers=2)

    first = make()
    got = list(itertools.islice(first, 3))
    second = make()
    second.load_state_dict(through_json(first.state_dict()))
    assert same([*got, *second], list(first))


class Slow(Pairs):
    def __init__(self, folder):
        self.go = folder / 'go'

    def __getitem__(self, index):
        while index == 0 and not self.go.exists():
            threading.Event().wait(.01)
        return index


def test_out_of_order_has_no_state(tmp_path):
    """As with in_order=False, which old versions of torch lack."""
    if 'in_order' not in inspect.signature(data.DataLoader).parameters:
        pytest.skip('this torch has no in_order')
    loader = lt.DataLoader(Slow(tmp_path), None, num_workers=2, in_order=False)
    iterator = iter(loader)
    got = [next(iterator)]
    with pytest.raises(ValueError, match='in_order'):
        loader.state_dict()
    (tmp_path / 'go').touch()
    got += iterator
    assert got[0] != 0 and sorted(got) == list(range(41))
    assert loader.state_dict()['batches'] == 0


def test_a_failed_batch_counts():
    first = lt.DataLoader(Failing(), 2, num_workers=2)
    iterator = iter(first)
    next(iterator), next(iterator)
    with pytest.raises(KeyError, match='five'):
        next(iterator)
    second = lt.DataLoader(Failing(), 2, num_workers=1)
    second.load_state_dict(first.state_dict())
    assert next(iter(second))['y'][0].tolist() == [6, 7]


def test_persistent_workers_continue():
    def make():
        return lt.DataLoader(Pairs(), 6, shuffle=True, num_workers=2, persistent_workers=True,
                             generator=torch.Generator().manual_seed(3))

    whole = make()
    expected = [list(whole) for _ in range(3)]
    first = make()
    list(first)
    head = list(itertools.islice(first, 3))
    second = make()
    second.load_state_dict(through_json(first.state_dict()))
    assert same([[*head, *second], list(second)], expected[1:])


def test_a_forked_process_leaves_abandoned_workers_alone():
    run_script("""
    import warnings
    from loaderx.torch import DataLoader

    warnings.simplefilter('ignore', DeprecationWarning)    # of a fork while threads run, since 3.12
    gc.disable()
    loader = DataLoader(range(40), batch_size=2, num_workers=2)
    for _ in range(3):
        batches = iter(loader)
        next(batches)
        cycle = [batches]
        cycle.append(cycle)
        del batches, cycle    # garbage that is not collected yet
        child = os.fork()
        if child == 0:
            gc.collect()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    gc.collect()
    """, silent=True)
