# SPDX-License-Identifier: MIT
"""loaderx datasets in torch's DataLoader, and torch datasets of them in loaderx."""

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from processes import run_script
from torch_cases import SETTINGS
from torch_loaders import RECORDS, loading, make_dataset, outcome, passes, same

# torch itself warns, for bool scalars and for more processes than CPUs
pytestmark = [pytest.mark.filterwarnings('ignore:In future, it will be an error'),
              pytest.mark.filterwarnings('ignore:This DataLoader will create')]


@pytest.fixture(scope='module')
def stored(tmp_path_factory):
    with make_dataset(tmp_path_factory.mktemp('torch') / 'stored') as dataset:
        yield dataset


class Bare:
    """The same records, one by one."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        return self.dataset[index]


def kinds(stored):
    array = lx.NPDataset(np.arange(3 * RECORDS).reshape(RECORDS, 3))
    return [stored, array, array + array, lx.SubsetDataset(stored, range(RECORDS - 1, -1, -1)),
            stored + lx.SubsetDataset(stored, [3, 1])]


@pytest.mark.parametrize('kind', range(5))
def test_records_read_together_are_those_read_alone(stored, kind):
    dataset = kinds(stored)[kind]
    for more in {}, {'batch_size': 6}, {'batch_size': None}, {'sampler': torch.arange(9)}:
        assert same(list(data.DataLoader(dataset, **more)),
                    list(data.DataLoader(Bare(dataset), **more)))


@pytest.mark.parametrize('kind', range(5))
def test_forked_workers_continue_reading(stored, kind):
    """Other threads read meanwhile, whose locks a child inherits."""
    dataset = kinds(stored)[kind]
    ahead = iter(lt.DataLoader(dataset, 2, num_workers=2))
    next(ahead)
    got = data.DataLoader(dataset, 6, num_workers=2, multiprocessing_context='fork')
    assert same(list(got), list(data.DataLoader(Bare(dataset), 6)))
    assert len(list(ahead)) == (len(dataset) + 1) // 2 - 1


def test_spawned_workers_open_it(stored, tmp_path):
    np.save(tmp_path / 'x.npy', np.arange(10))
    run_script(f"""
        import loaderx as lx
        from torch.utils import data

        if __name__ == '__main__':
            dataset = lx.open({stored.path!r})
            joined = lx.ConcatDataset([dataset, lx.SubsetDataset(dataset, [2])])
            loader = data.DataLoader(joined, 21, num_workers=1, multiprocessing_context='spawn')
            assert [batch['int64'].tolist()[-1] for batch in loader] == [20, 2]
    """)


class Numbers(lx.Dataset):
    def __getitem__(self, index):
        return int(super().__getitem__(index)['int64']) * 3


def test_respects_subclasses(stored):
    """Subclasses are pickled as themselves."""
    with Numbers(stored.path) as dataset:
        for module in lt, data:
            for workers in 0, 2:
                got = torch.cat(list(module.DataLoader(dataset, 6, num_workers=workers)))
                assert torch.equal(got, torch.arange(RECORDS) * 3)
        joined = dataset + lx.NPDataset(np.arange(3))
        assert isinstance(joined, data.ConcatDataset) and (joined[4], joined[-1]) == (12, 2)


# ---- torch datasets of loaderx datasets


def joined(stored):
    return data.ConcatDataset([stored, data.Subset(stored, [5, -1, 7]), stored])


@SETTINGS
@given(loading(), st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=2))
def test_wraps_in_datasets_of_torch(stored, case, lengths):
    parts = data.random_split(stored, [30, RECORDS - 30], torch.Generator().manual_seed(1))
    subset = data.Subset(data.ConcatDataset([*parts, stored]), range(RECORDS))

    def run(module):
        torch.manual_seed(7)
        return passes(case.make(module, subset), lengths)

    assert same(run(lt), run(data))
    assert lt.DataLoader(subset)._source is not None    # the library reads it


def test_reads_datasets_of_torch_over_arrays():
    array = lx.NPDataset(np.arange(10))
    both = data.ConcatDataset([array, array])
    assert same(list(lt.DataLoader(both, 3)), list(data.DataLoader(both, 3)))
    assert isinstance(array + data.TensorDataset(torch.zeros(3)), data.ConcatDataset)


@pytest.mark.parametrize('make', [
    lambda stored: data.ConcatDataset([stored, lx.NPDataset(np.zeros(3))]),
    lambda stored: data.ConcatDataset([stored, data.TensorDataset(torch.zeros(3))]),
    lambda stored: data.Subset(stored, [1, 99]), lambda stored: data.Subset(stored, ['x']),
    lambda stored: data.Subset(stored, [[1, 2]]), lambda stored: data.Subset(stored, []),
])
def test_leaves_other_datasets_to_torch(stored, make):
    dataset = make(stored)

    def run(module):
        return outcome(lambda: list(module.DataLoader(dataset, 50)))

    ours, theirs = run(lt), run(data)
    assert same(ours[0][0], theirs[0][0]) if theirs[0] else same(ours, theirs)


def test_indices_out_of_range_fail_as_in_torch(stored):
    both = joined(stored)

    def run(module):
        loader = module.DataLoader(both, 2, sampler=[1, 85, 3, 4, -86, -1])
        iterator = iter(loader)
        return [outcome(lambda: next(iterator))[0] for _ in range(3)]

    assert same(run(lt), run(data))


@pytest.mark.parametrize('options', [{}, {'num_workers': 1},
                                     {'num_workers': 1, 'workers': 'processes'}], ids=str)
@pytest.mark.parametrize('name, missing', [('x', 2), ('x', 0), ('t', 2), ('t', 0), ('s', 0)])
def test_names_the_missing_value_that_torch_cannot_collate(tmp_path, name, missing, options):
    columns = {'s': ['a', 'b', None, 'd'], 'x': [1, 2, 3, 4], 't': [[1], [2], [3], [4]]}
    columns[name][missing] = None
    fields = {'s': lx.Field(str), 'x': lx.Field('int64'), 't': lx.Field('int64', (None,))}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.extend(columns)
    with lx.open(tmp_path / 'd') as dataset:
        for made, numbers in (dataset, [0, 1, -2, 3]), (dataset + dataset, [4, 5, 6, 7]):
            with pytest.raises((RuntimeError, TypeError)) as theirs:
                list(data.DataLoader(made, 4, sampler=numbers))
            record = numbers[missing] % len(made)
            text = f"field '{name}', record {record}: the value is missing, so torch cannot"
            with pytest.raises(theirs.type, match=text):
                list(lt.DataLoader(made, 4, sampler=numbers, **options))


def test_other_errors_of_collation_are_those_of_torch(tmp_path):
    fields = {'s': lx.Field(str), 't': lx.Field('int64', (None,))}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.extend(s=['a', None], t=[[1], [2, 3]])
    with lx.open(tmp_path / 'd') as dataset:
        assert same(*(outcome(lambda: list(module.DataLoader(dataset, 2)))
                      for module in (lt, data)))
    own = [{'x': 1}, {'x': None}]
    assert same(*(outcome(lambda: list(module.DataLoader(own, 2))) for module in (lt, data)))


# ---- further classes of torch


def test_keeps_attributes_of_torch():
    assert lt.ConcatDataset is data.ConcatDataset
    item = {'x': np.zeros(3), 'y': (1, 'a', np.float32(2))}
    assert same(lt.default_convert(item), data.default_convert(item))


def test_naming_the_default_collation_changes_nothing(stored):
    loader = lt.DataLoader(stored, 6, collate_fn=lt.default_collate, num_workers=2)
    assert same(list(loader), list(data.DataLoader(stored, 6)))
    assert type(iter(loader)).__name__ == 'Direct'


@pytest.mark.parametrize('workers', [{}, {'num_workers': 2}, {'num_workers': 1, 'collate_fn': None,
                                                            'workers': 'processes'}], ids=str)
def test_tables_and_paths_are_datasets(tmp_path, workers):
    columns = {'x': np.arange(6), 'y': np.arange(12.).reshape(6, 2)}
    np.savez(tmp_path / 'table.npz', **columns)
    np.save(tmp_path / 'x.npy', columns['x'])
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=columns['x'])
    for table in columns, str(tmp_path / 'table.npz'), np.load(tmp_path / 'table.npz'):
        batch = list(lt.DataLoader(table, 4, **workers))[1]
        assert batch['x'].tolist() == [4, 5] and batch['y'].tolist() == [[8, 9], [10, 11]]
    assert next(iter(lt.DataLoader(tmp_path / 'd', 3, **workers)))['x'].tolist() == [0, 1, 2]
    assert next(iter(lt.DataLoader(str(tmp_path / 'x.npy'), 3, **workers))).tolist() == [0, 1, 2]
    with pytest.raises(FileNotFoundError, match='nothing'):
        lt.DataLoader('nothing')


def test_a_data_frame_is_a_dataset():
    pandas = pytest.importorskip('pandas')
    frame = pandas.DataFrame({'x': np.arange(6), 'y': np.arange(6.)})
    assert next(iter(lt.DataLoader(frame, 4, shuffle=False)))['x'].tolist() == [0, 1, 2, 3]


def test_a_dict_of_numbers_is_read_as_in_torch():
    records = {0: 'a', 1: 'b'}
    assert list(lt.DataLoader(records)) == list(data.DataLoader(records)) == [['a'], ['b']]
