# SPDX-License-Identifier: MIT
"""Datasets with missing values: nothing is read as zeros unless the caller says so."""

import numpy as np
import pytest

import loaderx as lx

N = 1000


def lacks(index):
    return index % 7 == 3


@pytest.fixture(params=['updates', 'tables', 'sealed'])
def path(request, tmp_path):
    """Create labels, of which one in seven is missing, and images, which are complete."""
    images = np.arange(N, dtype=np.uint8).repeat(6).reshape(N, 2, 3)
    labels = [None if lacks(i) else i for i in range(N)]
    w = lx.create(tmp_path / 'd', {'label': lx.Field('int64'), 'image': lx.Field('uint8', (2, 3))})
    step = 20 if request.param == 'updates' else N
    for i in range(0, N, step):
        w.extend({'label': labels[i:i + step], 'image': images[i:i + step]})
        w.commit()
    if request.param == 'sealed':
        w.seal()
    w.close()
    return tmp_path / 'd'


@pytest.fixture(params=['dataset', 'live', 'subset', 'concatenation', 'both', 'subclass'])
def dataset(request, path):
    """Open the records in each way in which they can be read by index."""
    with lx.open(path, live=request.param == 'live') as opened:
        half = N // 2
        parts = [lx.SubsetDataset(opened, slice(half)), lx.SubsetDataset(opened, slice(half, N))]
        yield {'subset': lambda: lx.SubsetDataset(str(path), np.arange(N)),
               'concatenation': lambda: parts[0] + parts[1],
               'both': lambda: lx.SubsetDataset(parts[0] + parts[1], np.arange(N)),
               'subclass': lambda: Joined(opened)}.get(request.param, lambda: opened)()


class Joined(lx.ConcatDataset):
    """A subclass of the caller's."""

    def __init__(self, dataset):
        super().__init__([dataset])


READS = {
    'a slice of a column': lambda ds: ds['label'][:],
    'records of a column': lambda ds: ds['label'][[4, 3, 10]],
    'a mask of a column': lambda ds: ds['label'][np.arange(N) == 3],
    'axes of a column': lambda ds: ds['label'][:5, ...],
    'an array of a column': lambda ds: np.asarray(ds['label']),
    'a mean': lambda ds: np.mean(ds['label']),
    'a slice': lambda ds: ds[:5],
    'records': lambda ds: ds[[3]],
    'a gather': lambda ds: ds.gather([4, 3]),
    'a gather of a field': lambda ds: ds.gather(range(3, 11, 7), ['label']),
    'another policy': lambda ds: ds.gather([3], missing={'image': 'zeros'}),
    'a raise': lambda ds: ds.gather([3], missing={'label': 'raise', 'image': 0}),
}


def test_no_array_contains_zeros_for_missing_values(dataset):
    for name, read in READS.items():
        with pytest.raises(ValueError, match='the value is missing') as caught:
            read(dataset)
            pytest.fail(name)
        text = str(caught.value)
        assert text.startswith("field 'label', record 3: ") and 'records read have no' in text, name
        assert "ds['label'].filled(value)" in text and 'missing=' in text, name
        assert "ds.where(ds['label'].present())" in text, name


def test_other_fields_and_records_are_read(dataset):
    present = dataset['label'].present()
    assert present.tolist() == [not lacks(i) for i in range(N)]
    assert dataset['label'][present].tolist() == np.flatnonzero(present).tolist()
    assert dataset[:3]['label'].tolist() == [0, 1, 2] and dataset['image'][:].shape == (N, 2, 3)
    assert dataset.gather([3], ['image'])['image'].tolist() == [[[3] * 3] * 2]
    assert dataset[3]['label'] is None and dataset['label'][3] is None
    assert list(dataset['label'])[2:5] == [2, None, 4]
    with pytest.raises(ValueError, match='5 of the 36 records'):
        dataset['label'][:36]


def test_what_stands_for_missing_values_in_arrays(dataset):
    for missing, label in (('zeros', 0), (-1, -1), (np.int16(-100), -100), (np.array(5), 5),
                           ('mask', None)):
        wanted = [label if lacks(i) else i for i in range(N)]
        column = dataset['label'].filled(missing)
        assert column[:].tolist() == column[np.arange(N)].tolist() == wanted
        assert column[:, ...].tolist() == wanted and column[[3, 4]].tolist() == wanted[3:5]
        assert column[4] == 4 and column[-1] == wanted[-1] and not column.present()[3]
        got = dataset.gather(slice(None), missing={'label': missing})
        assert list(got) == ['label', 'image'] and got['label'].tolist() == wanted
        assert got['label'].dtype == np.int64 and got['image'][4].tolist() == [[4] * 3] * 2
        if missing != 'mask':
            assert column[3] == label and np.array(column).tolist() == list(column) == wanted


def test_masked_arrays(dataset):
    column = dataset['label'].filled('mask')
    assert np.ma.is_masked(column[3]) and np.ma.is_masked(column[3:4])
    assert not np.ma.is_masked(column[:3]) and isinstance(column[:3], np.ma.MaskedArray)
    assert column[:].mean() == dataset['label'][dataset['label'].present()].mean()
    with pytest.raises(ValueError, match='a plain array has no mask'):
        np.asarray(column)
    images = dataset.gather([3, 4], missing='mask')['image']
    assert images.mask.shape == (2, 2, 3) and not images.mask.any()


def test_buffers_are_filled(path):
    with lx.open(path) as dataset:
        for missing, wanted in ('zeros', [2, 0]), ({'label': -1}, [2, -1]), ('mask', [2, None]):
            out = {'label': np.full(2, 99)}
            got = dataset.gather([2, 3], out=out, missing=missing)
            assert got['label'].tolist() == wanted and np.shares_memory(got['label'], out['label'])
        names = iter(['label'])
        assert dataset.gather([3], names, missing={'label': 7})['label'].tolist() == [7]


@pytest.mark.parametrize('missing, error, text', [
    ('zero', ValueError, "missing: 'zero' for the field 'label' is not one of 'raise'"),
    ({'text': 'mask'}, ValueError, "missing: 'text' is not a field .* applies to 'label', 'image'"),
    ({'label': 0.5}, TypeError, "missing: field 'label'"),
    (-1, ValueError, "missing: field 'image': -1 does not fit in uint8"),
    (None, TypeError, 'missing: '),
])
def test_gather_refuses_invalid_arguments(tmp_path, missing, error, text):
    with lx.create(tmp_path / 'd', {'label': lx.Field('int64'), 'image': lx.Field('uint8', (2, 3)),
                                    'text': lx.Field(str)}) as writer:
        writer.append(label=None, image=None, text=None)
    with lx.open(tmp_path / 'd') as dataset:
        for one in dataset, lx.SubsetDataset(dataset, [0, 0]):
            with pytest.raises(error, match=text):
                one.gather([0], missing=missing)
            assert one.gather([0], missing='mask')['text'] == [None]
        with pytest.raises(TypeError, match="'text' vary in length"):
            dataset['text'].filled('')
        with pytest.raises(TypeError, match="missing: field 'label'"):
            dataset['label'].filled(0.5)


def test_the_array_of_the_original_raises_as_well(tmp_path):
    from loaderx.compat import ARDataset
    with lx.create(tmp_path / 'd', {'x': lx.Field('float32')}) as w:
        w.extend(x=[1.5, None])
    with ARDataset(tmp_path / 'd') as dataset:
        for read in lambda: dataset[:], lambda: np.asarray(dataset), lambda: \
                dataset.__getitems__([0, 1]):
            with pytest.raises(ValueError, match="field 'x', record 1: the value is missing"):
                read()


def test_a_missing_label_is_not_class_0(path):
    with lx.open(path) as dataset:
        with pytest.raises(ValueError, match="missing.*'label'|'label'.*missing") as caught:
            lx.Loader(dataset, batch_size=10)
        assert 'record 3' in str(caught.value) and 'mask' in str(caught.value)
        assert "ds.where(ds['label'].present())" in str(caught.value)
        with lx.Loader(dataset, fields=['image'], batch_size=N) as loader:
            assert next(loader)['image'][:, 1, 1].tolist() == [i % 256 for i in range(N)]


@pytest.mark.parametrize('threads', [0, 3])
def test_masks_tell_what_is_present(path, threads):
    with lx.open(path) as dataset, lx.Loader(
            dataset, batch_size=64, order=lx.Shuffle(seed=5), missing='mask', threads=threads,
            transform=lambda batch: batch) as loader:
        seen = 0
        for batch in loader:
            assert set(batch.present) == {'label', 'image'} and batch.present['image'].all()
            present = batch.present['label']
            assert present.dtype == np.bool_ and (batch['label'][~present] == 0).all()
            assert not lacks(batch['label'][present]).any()
            seen += present.sum()
        assert seen == N - sum(map(lacks, range(N)))


def test_masks_remain_arrays_of_numpy(path):
    pytest.importorskip('torch')
    with lx.open(path) as dataset, lx.Loader(
            dataset, batch_size=8, missing={'label': 'mask'}, out='torch') as loader:
        batch = next(loader)
        assert batch['label'].tolist() == [0, 1, 2, 0, 4, 5, 6, 7]
        assert batch.present['label'].tolist() == [not lacks(i) for i in range(8)]
        assert list(batch.present) == ['label']


@pytest.mark.parametrize('missing, label', [
    ('zeros', 0), (-1, -1), (np.int32(-100), -100), ({'label': 7}, 7), ({'label': True}, 1),
    ({'label': 'zeros'}, 0), ({'label': np.array(5), 'image': 'raise'}, 5),
])
def test_a_value_replaces_missing_ones(path, missing, label):
    if missing in (-1, -100):
        missing = {'label': missing}
    with lx.open(path) as dataset, lx.Loader(dataset, batch_size=N, missing=missing) as loader:
        batch = next(loader)
        assert batch['label'].tolist() == [label if lacks(i) else i for i in range(N)]
        assert batch.present == {}


def test_arrays_replace_missing_images(tmp_path):
    wanted = np.arange(6, dtype=np.uint8).reshape(2, 3)
    with lx.create(tmp_path / 'd', {'image': lx.Field('uint8', (2, 3))}) as w:
        w.append({'image': None})
        w.append({'image': wanted + 1})
    with lx.open(tmp_path / 'd') as dataset:
        for missing, first in (wanted, wanted), (9, np.full((2, 3), 9)):
            with lx.Loader(dataset, batch_size=2, missing=missing) as loader:
                assert (next(loader)['image'] == [first, wanted + 1]).all()


@pytest.mark.parametrize('missing, error, text', [
    ('zero', ValueError, "missing: 'zero' for the field 'label' is not one of 'raise'"),
    ({'caption': 'mask'}, ValueError, "missing: 'caption' is not a field"),
    ({'label': 0.5}, TypeError, "missing: field 'label'"),
    ({'label': [1, 2]}, ValueError, "missing: field 'label'"),
    (-1, ValueError, "missing: field 'image': -1 does not fit in uint8"),
    (None, TypeError, 'missing: '),
    ({'label': None}, TypeError, 'missing: '),
])
def test_refuses_invalid_arguments(path, missing, error, text):
    with lx.open(path) as dataset, pytest.raises(error) as caught:
        lx.Loader(dataset, missing=missing)
    assert text in str(caught.value)


def test_combined_sources(path):
    with lx.open(path) as dataset:
        chosen = np.flatnonzero(dataset['label'].present(np.arange(N)))
        complete = lx.SubsetDataset(dataset, chosen)
        with lx.Loader(complete, batch_size=len(chosen)) as loader:
            assert (next(loader)['label'] == chosen).all()
        both = lx.ConcatDataset([complete, dataset])
        with pytest.raises(ValueError, match=f'record {len(chosen) + 3}'):
            lx.Loader(both)
        with lx.Loader(both, batch_size=N + len(chosen), missing='mask') as loader:
            present = next(loader).present['label']
            assert present[:len(chosen)].all()
            assert (present[len(chosen):] == [not lacks(i) for i in range(N)]).all()
        with pytest.raises(ValueError, match="'x'"):
            lx.Loader({'x': np.zeros(N)}, missing={'label': 0})


def test_a_live_dataset_that_loses_a_value(tmp_path):
    w = lx.create(tmp_path / 'd', {'label': lx.Field('int64')})
    w.extend({'label': np.arange(20)})
    w.commit()
    with lx.open(tmp_path / 'd', live=True) as dataset, \
            lx.Loader(dataset, batch_size=5, epochs=None) as loader:
        assert next(loader)['label'].tolist() == [0, 1, 2, 3, 4]
        w[8] = {'label': None}
        w.commit()
        with pytest.raises(ValueError, match='record 8.*missing=.*where'):
            next(loader)
        assert next(loader)['label'].tolist() == [10, 11, 12, 13, 14]
        w[8] = {'label': 8}
        w.commit()
        loader.seek(5)
        assert next(loader)['label'].tolist() == [5, 6, 7, 8, 9]
    w.close()


class Late:
    """An index that runs a function while a call converts it."""

    def __init__(self, function):
        self.function = function

    def __index__(self):
        self.function()
        return 8


def test_a_live_dataset_that_changes_during_a_read(tmp_path):
    w = lx.create(tmp_path / 'd', {'label': lx.Field('int64')})
    w.extend({'label': np.arange(20)})
    w.commit()

    def set_label(value):
        w[8] = {'label': value}
        w.commit()
        w.checkpoint()    # finds out whether the field is complete

    with lx.open(tmp_path / 'd', live=True) as dataset:
        for read in lambda which: dataset.gather(which)['label'], dataset['label'].__getitem__:
            assert read([Late(lambda: set_label(None))]).tolist() == [8]
            with pytest.raises(ValueError, match='record 8'):
                read([Late(lambda: set_label(8))])
            assert read([8]).tolist() == [8]
    w.close()


def test_an_added_field_is_missing(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as w:
        w.extend({'x': np.arange(5)})
        w.add_field('y', lx.Field('float32'))
    with lx.open(tmp_path / 'd') as dataset:
        with pytest.raises(ValueError, match="'y'"):
            lx.Loader(dataset)
        with lx.Loader(dataset, batch_size=5, missing={'y': np.nan}) as loader:
            assert np.isnan(next(loader)['y']).all()


def test_records_of_combined_datasets_contain_none(path):
    with lx.open(path) as dataset:
        chosen = lx.SubsetDataset(dataset, [4, 3])
        both = lx.ConcatDataset([chosen, dataset])
        assert [r['label'] for r in (chosen[0], chosen[1], both[1], dataset[3])] == \
            [4, None, None, None]
        assert [r['label'] for r in both.__getitems__([0, 1, 5])] == [4, None, None]
        assert both[1]['image'].tolist() == dataset[3]['image'].tolist()


@pytest.mark.parametrize('workers', [0, 2])
def test_torch_raises_as_well(path, workers):
    pytest.importorskip('torch')
    from loaderx.torch import DataLoader, Subset
    with lx.open(path) as dataset:
        with pytest.raises(ValueError, match="'label'.*record 3.*missing"):
            next(iter(DataLoader(dataset, batch_size=10, num_workers=workers)))
        chosen = Subset(dataset, np.flatnonzero(dataset['label'].present(np.arange(N))))
        batch = next(iter(DataLoader(chosen, batch_size=10, num_workers=workers)))
        assert batch['label'].tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 9, 11]


@pytest.mark.parametrize('workers', [0, 2])
def test_torch_raises_only_for_batches_that_lack_a_value(path, workers):
    pytest.importorskip('torch')
    from loaderx.torch import DataLoader, RandomSampler, SequentialSampler, SubsetRandomSampler
    with lx.open(path) as dataset:
        chosen = np.flatnonzero(dataset['label'].present()).tolist()
        loader = DataLoader(dataset, batch_size=10, sampler=SubsetRandomSampler(chosen),
                            num_workers=workers)
        assert sorted(sum((batch['label'].tolist() for batch in loader), [])) == chosen
        complete = dataset.where(dataset['label'].present())
        loader = DataLoader(complete, batch_size=10, shuffle=True, num_workers=workers)
        assert sorted(sum((batch['label'].tolist() for batch in loader), [])) == chosen
        for sampler in RandomSampler(dataset), SequentialSampler(dataset):
            loader = iter(DataLoader(dataset, batch_size=2, sampler=sampler, num_workers=workers))
            complete, lacking = [], 0
            while True:
                try:
                    complete += next(loader)['label'].tolist()
                except StopIteration:
                    break
                except ValueError as error:
                    lacking += 1
                    assert 'missing=' not in str(error)
                    text = str(error)
            assert len(complete) == N - 2 * lacking and set(complete) <= set(chosen)
        assert lacking == sum(map(lacks, range(N))) and "'label'" in text
        assert 'record 997' in text and "ds.where(ds['label'].present())" in text


def test_torch_reads_the_newest_marks_of_a_live_dataset(tmp_path):
    pytest.importorskip('torch')
    from loaderx.torch import DataLoader
    w = lx.create(tmp_path / 'd', {'label': lx.Field('int64')})
    w.extend({'label': np.arange(20)})
    w.commit()
    with lx.open(tmp_path / 'd', live=True) as dataset:
        batches = iter(DataLoader(dataset, batch_size=5))
        assert next(batches)['label'].tolist() == [0, 1, 2, 3, 4]
        w[8] = {'label': None}
        w.commit()
        with pytest.raises(ValueError, match='record 8.*where') as caught:
            next(batches)
        assert 'missing=' not in str(caught.value)
        assert next(batches)['label'].tolist() == [10, 11, 12, 13, 14]
    w.close()


def test_the_classes_of_the_original_name_a_way_out(tmp_path):
    from loaderx.compat import DataLoader
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as w:
        w.extend({'x': [0, None, 2, 3]})
    with lx.open(tmp_path / 'd') as dataset:
        labels = np.arange(4)
        with pytest.raises(ValueError, match="'data', record 1.*where") as caught:
            DataLoader(dataset, labels, batch_size=2, mode=0)
        assert 'missing= of a loaderx.Loader' in str(caught.value)
        present = dataset['x'].present()
        with DataLoader(dataset.where(present), labels[present], batch_size=3, mode=0) as loader:
            assert next(loader)['data'].tolist() == [0, 2, 3]
