# SPDX-License-Identifier: MIT
"""loaderx.torch.DataLoader returns the same batches as torch's, and draws the same numbers."""

import multiprocessing

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from torch_cases import SETTINGS
from torch_loaders import (RECORDS, Batched, Case, Pairs, Sized, Stream, loading, make_dataset,
                           outcome, passes, same)

# torch itself warns, for bool scalars and for more processes than CPUs
pytestmark = [pytest.mark.filterwarnings('ignore:In future, it will be an error'),
              pytest.mark.filterwarnings('ignore:This DataLoader will create')]

LENGTHS = st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=3)


@pytest.fixture(scope='module')
def stored(tmp_path_factory):
    with make_dataset(tmp_path_factory.mktemp('torch') / 'stored') as dataset:
        yield dataset


def check_same(case, dataset, lengths, workers=0, **more):
    def run(module):
        torch.manual_seed(7)
        loader = case.make(module, dataset, workers, **more)
        return [*passes(loader, lengths), len(loader)]

    assert same(run(lt), run(data))


@SETTINGS
@given(loading(), st.sampled_from([Pairs(), Batched()]), LENGTHS)
def test_of_a_python_dataset(case, dataset, lengths):
    check_same(case, dataset, lengths)


@SETTINGS
@given(loading(), LENGTHS)
def test_of_a_stored_dataset(stored, case, lengths):
    check_same(case, stored, lengths)


@SETTINGS
@given(loading(), LENGTHS, st.sampled_from(['int64', 'float32', 'bool']))
def test_of_an_array(case, lengths, dtype):
    check_same(case, lx.NPDataset(np.arange(3 * RECORDS).reshape(RECORDS, 3).astype(dtype)),
               lengths)


@pytest.mark.parametrize('kind', ['sequential', 'shuffle', 'replaced', 'many', 'few', 'distributed',
                                  'eager'])
@pytest.mark.parametrize('persistent', [False, True])
def test_with_workers(stored, kind, persistent):
    """Check also the numbers that are drawn ahead for workers."""
    case = Case(kind, 6, False, 5, False)
    for dataset in Pairs(), stored:
        check_same(case, dataset, [None, 2, None], 2, persistent_workers=persistent,
                   prefetch_factor=1)


@pytest.mark.parametrize('workers', [0, 1, 3])
@pytest.mark.parametrize('length', [0, 1, 23])
@pytest.mark.parametrize('more', [
    {}, {'batch_size': None}, {'batch_size': 4}, {'batch_size': 4, 'drop_last': True},
    {'batch_size': 50}], ids=str)
def test_of_a_stream(workers, length, more):
    dataset, sized = Stream(length), Sized(length, 5)

    def run(module):
        torch.manual_seed(7)
        made = [list(module.DataLoader(dataset, num_workers=workers, **more)) for _ in range(2)]
        loader = module.DataLoader(sized, **more)
        return [made, outcome(lambda: [len(loader), list(loader)]), torch.get_rng_state()]

    assert same(run(lt), run(data))


def test_a_tuple_of_datasets_joins_their_fields(stored):
    loader = lt.DataLoader((stored, lx.NPDataset(np.arange(RECORDS))), batch_size=8)
    assert len(loader) == 6
    for first, batch in zip(range(0, RECORDS, 8), loader):
        assert torch.equal(batch['label'], torch.arange(first, min(first + 8, RECORDS)))
        assert torch.equal(batch['label'], batch['int64'])


@pytest.mark.parametrize('workers', [0, 2])
def test_of_datasets_of_datasets(stored, workers):
    both = lx.ConcatDataset([stored, lx.SubsetDataset(stored, [3, 1])])
    loader = lt.DataLoader(both, batch_size=10, shuffle=True, num_workers=workers)
    got = torch.cat([batch['int64'] for batch in loader])
    assert sorted(got.tolist()) == sorted([*range(RECORDS), 3, 1])
    chosen = lt.DataLoader(both, batch_sampler=[[42, 0], [-1]], num_workers=workers)
    assert [batch['int32'].tolist() for batch in chosen] == [[1, 0], [1]]
    one = lt.DataLoader(both, batch_size=None, sampler=[41], num_workers=workers)
    assert [record['int64'] for record in one] == [torch.tensor(3)]
    own = lt.DataLoader(both, 10, collate_fn=list, num_workers=workers)
    got = [record for batch in own for record in batch]
    assert [record['int32'] for record in got] == [*range(RECORDS), 3, 1]
    assert got[41]['data'].tolist() == stored[3]['data'].tolist()


# ---- errors


@pytest.mark.parametrize('more', [
    {'num_workers': -1}, {'timeout': -1}, {'prefetch_factor': 3}, {'persistent_workers': True},
    {'sampler': [1], 'shuffle': True}, {'batch_sampler': [[1]], 'batch_size': 3},
    {'batch_sampler': [[1]], 'shuffle': True}, {'batch_sampler': [[1]], 'sampler': [1]},
    {'batch_sampler': [[1]], 'drop_last': True}, {'batch_size': None, 'drop_last': True},
    {'batch_size': 0}, {'batch_size': 2.5}, {'drop_last': 5}, {'multiprocessing_context': 'fork'},
    {'multiprocessing_context': 'none', 'num_workers': 1}, {'generator': 5}, {'shuffle': 'yes'},
    {'num_workers': 1, 'prefetch_factor': -1}, {'nonsense': 1}, {'timeout': 2},
    {'num_workers': 1, 'prefetch_factor': 0},
    {'collate_fn': len}, {'sampler': [RECORDS]}, {'sampler': ['x']}, {'pin_memory': True},
], ids=str)
@pytest.mark.parametrize('kind', [Pairs, lambda: Stream(5)])
def test_errors_and_warnings_match_torch(kind, more):
    dataset = kind()

    def run(module):
        torch.manual_seed(7)
        return outcome(lambda: list(module.DataLoader(dataset, **more)))

    assert same(run(lt), run(data))


def test_rejects_stored_datasets_likewise(stored):
    def run(module):
        return outcome(lambda: list(module.DataLoader(stored, num_workers=2, prefetch_factor=0)))

    assert same(run(lt), run(data))


@pytest.mark.parametrize('sampler', [
    lambda: data.SubsetRandomSampler([1, RECORDS, 2, 3, -RECORDS - 1, 40, 8]),
    lambda: data.RandomSampler(range(RECORDS + 7)), lambda: data.SequentialSampler(range(50)),
    lambda: [0, 99, 1, 2, 3],
])
@pytest.mark.parametrize('drop_last', [False, True])
def test_records_out_of_range_fail_in_order(stored, sampler, drop_last):
    array = lx.NPDataset(np.arange(RECORDS))

    def run(module, dataset):
        torch.manual_seed(7)
        loader = module.DataLoader(dataset, 2, sampler=sampler(), drop_last=drop_last)
        iterator, got = iter(loader), []
        for _ in range(len(loader)):
            got.append(outcome(lambda: next(iterator))[0])
        assert next(iterator, None) is None
        return got

    for dataset in stored, array:
        assert same(run(lt, dataset), run(data, dataset))


def test_rejects_later_changes_as_torch_does():
    loader = lt.DataLoader(Pairs())
    with pytest.raises(ValueError, match='batch_size attribute should not be set after DataLoader'):
        loader.batch_size = 3


def change(attribute, value):
    return lambda loader: setattr(loader.batch_sampler, attribute, value)


@pytest.mark.parametrize('make_change', [
    change('batch_size', 7), change('drop_last', True), change('sampler', range(9)),
    change('sampler', data.SequentialSampler(range(30))),
], ids=['batch_size', 'drop_last', 'list', 'sampler'])
@pytest.mark.parametrize('kind', ['pairs', 'stored'])
def test_later_changes_of_the_batch_sampler_take_effect(stored, kind, make_change):
    dataset = Pairs() if kind == 'pairs' else stored

    def run(module):
        loader = module.DataLoader(dataset, 4, shuffle=True,
                                   generator=torch.Generator().manual_seed(3))
        before = list(loader)
        make_change(loader)
        return [before, len(loader), list(loader), list(loader)]

    assert same(run(lt), run(data))


@pytest.mark.parametrize('make_change', [
    change('batch_size', 7), change('drop_last', True), change('sampler', range(9)),
], ids=['batch_size', 'drop_last', 'sampler'])
@pytest.mark.parametrize('kind', ['pairs', 'stored', 'own'])
@pytest.mark.parametrize('workers', [None, 'threads', 'processes'])
def test_changes_during_a_pass_are_refused(stored, kind, make_change, workers):
    dataset = Pairs() if kind == 'pairs' else stored
    more = ({'batch_sampler': lt.BatchSampler(lt.SequentialSampler(dataset), 4, False)}
            if kind == 'own' else {'batch_size': 4})
    loader = lt.DataLoader(dataset, num_workers=int(workers is not None), workers=workers,
                           persistent_workers=workers is not None, **more)
    iterator = iter(loader)
    first, state = next(iterator), loader.state_dict()
    make_change(loader)
    for _ in range(2):
        with pytest.raises(RuntimeError, match='batch sampler changed during a pass: change it '
                                               'between passes'):
            next(iterator)
    assert loader.state_dict()['batches'] == state['batches'] == 1
    got = list(loader)    # the next pass
    assert same(got, list(data.DataLoader(dataset, batch_sampler=data.BatchSampler(
        loader.batch_sampler.sampler, loader.batch_sampler.batch_size,
        loader.batch_sampler.drop_last))))


def test_a_changed_batch_size_resumes(stored):
    first = lt.DataLoader(stored, 4)
    next(iter(first))
    second = lt.DataLoader(stored, 4)
    second.load_state_dict(first.state_dict())
    second.batch_sampler.batch_size = 10
    assert next(iter(second))['int64'].tolist() == list(range(4, 14))
    second.batch_sampler.batch_size = 0
    with pytest.raises(ValueError, match='batch_size should be a positive integer'):
        list(second)


def test_types_have_parameters_and_names_are_those_of_torch():
    assert lt.DataLoader[int] and lt.DistributedSampler[int]

    class Own(lt.DataLoader[int]):
        pass

    assert len(list(Own(range(3)))) == 3
    for name in ('ConcatDataset', 'Dataset', 'IterableDataset', 'Sampler', 'Subset',
                 'TensorDataset', 'default_convert', 'get_worker_info', 'random_split'):
        assert getattr(lt, name) is getattr(data, name) and name in lt.__all__


def test_its_text_names_source_order_and_rank(stored):
    array = lx.NPDataset(np.arange(50))
    ranks = data.DistributedSampler(array, 4, 1)
    loader = lt.DataLoader(array, 8, sampler=ranks)
    iterator = iter(loader)
    next(iterator)
    assert repr(loader) == ('<loaderx.torch.DataLoader of NPDataset(50 x int64[]), '
                            'DistributedSampler, batch_size=8, rank 1 of 4: at batch 1 of 2>')
    for made, text in [
        (lt.DataLoader(stored, 32, shuffle=True), f'of {stored!r}, RandomSampler, batch_size=32:'),
        (lt.DataLoader([1] * 10**6, None), 'a list of 1000000, SequentialSampler: at batch 0 of 1'),
        (lt.DataLoader(Sized(9, 4), 4), 'a Sized, batch_size=4: at batch 0>'),
        (lt.DataLoader((array, array), batch_sampler=iter([[1]])), 'NPDataset(50 x int64[])), list_'),
    ]:
        assert text in repr(made)


def test_an_order_is_not_a_sampler():
    order = lx.Lanes(n=50, lanes=5, block=5, seed=1)
    for arguments in ({'sampler': order}, {'sampler': order, 'batch_size': None},
                      {'batch_sampler': order},
                      {'batch_sampler': lt.BatchSampler(order, 4, False)}):
        with pytest.raises(TypeError, match=r'Lanes\(n=50, .* pass it to loaderx\.Loader\('):
            lt.DataLoader(range(50), **arguments)


def test_is_a_subclass_of_the_loader_of_torch():
    assert issubclass(lt.DataLoader, data.DataLoader)
    loader = lt.DataLoader(Pairs(), batch_size=4, shuffle=True)
    assert type(loader.sampler) is data.RandomSampler
    assert type(loader.batch_sampler) is data.BatchSampler


def test_epochs_are_set_on_the_users_sampler(stored):
    sampler = data.DistributedSampler(stored, 2, 0)
    ours = lt.DataLoader(stored, batch_size=5, sampler=sampler)
    theirs = data.DataLoader(stored, batch_size=5, sampler=sampler)
    for epoch in 0, 3:
        sampler.set_epoch(epoch)
        assert same(list(ours), list(theirs))


@pytest.mark.parametrize('context', [None, 'fork', 'forkserver', 'spawn'])
def test_uses_the_loader_of_torch_with_processes(context):
    ours, theirs = (module.DataLoader(Pairs(), batch_size=9, num_workers=1,
                                      multiprocessing_context=context) for module in (lt, data))
    before = set(multiprocessing.active_children())
    iterator = iter(ours)
    assert len(set(multiprocessing.active_children()) - before) == 1
    assert same(list(iterator), list(theirs))


def test_needs_no_private_iterator_of_torch(stored):
    """torch's iterators differ between its versions."""
    for dataset in Pairs(), Stream(3), stored:
        for workers in None, 'threads', 'processes':
            iterator = iter(lt.DataLoader(dataset, num_workers=workers is not None,
                                          workers=workers))
            assert {kind.__module__.split('.')[0] for kind in type(iterator).__mro__} == {
                'loaderx', 'builtins'}
