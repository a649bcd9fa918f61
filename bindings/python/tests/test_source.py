# SPDX-License-Identifier: MIT
"""Sources of loaders, and invalid arguments."""

import os
import pathlib
import pickle
import re

import numpy as np
import pytest

import loaderx as lx
from loaderx.sources.records import Records
from public_classes import MAKE, Files


def read(source, **options):
    """Read everything in sequence, as a dict of arrays."""
    batches = list(lx.Loader(source, batch_size=7, **options))
    return {name: np.concatenate([b[name] for b in batches]) for name in batches[0]}


DTYPES = [
    'bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64',
    'float16', 'float32', 'float64', 'complex64', 'complex128',
]


def sample(dtype, shape=(20, 3)):
    return (np.arange(np.prod(shape)).reshape(shape) % 100).astype(dtype)


@pytest.mark.parametrize('dtype', DTYPES)
def test_an_array_of_each_type(dtype):
    array = sample(dtype)
    got = read(array)['data']
    assert got.dtype == array.dtype and np.array_equal(got, array)


@pytest.mark.parametrize('shape', [(20,), (20, 1), (20, 2, 3), (20, 2, 0), (1, 5), (20, 1000)])
def test_an_array_of_each_shape(shape):
    array = sample('int32', shape)
    got = read(array)['data']
    assert got.shape == shape and np.array_equal(got, array)


def test_reads_an_array_in_place():
    array = np.zeros(4)
    loader = lx.Loader(array)
    array[:] = 5
    assert next(loader)['data'][0] == 5


@pytest.mark.parametrize('view', [
    lambda a: a[::2], lambda a: a[::-1], lambda a: a[3:], lambda a: a[:, :], lambda a: a[5:5],
    lambda a: np.broadcast_to(a[0], (10, 3)),
])
def test_reads_a_view_of_contiguous_records(view):
    array = view(sample('int64'))
    got = [b['data'] for b in lx.Loader(array, batch_size=4)]
    assert np.array_equal(np.concatenate(got) if got else array, array)


@pytest.mark.parametrize('array, error', [
    (np.zeros((4, 6))[:, ::2], ValueError),
    (np.zeros((4, 6)).T, ValueError),
    (np.zeros(5, dtype='>i4'), ValueError),
    (np.array(3), ValueError),
    (np.array(['a', 'b']), TypeError),
    (np.array(['a', 'b'], object), TypeError),
    (np.zeros(3, dtype=[('a', 'i4')]), TypeError),
    (np.zeros(3, dtype='datetime64[h]'), TypeError),
])
def test_rejects_arrays_it_cannot_read(array, error):
    with pytest.raises(error, match='source'):
        lx.Loader(array)


def test_reads_a_read_only_array():
    array = sample('int16')
    array.flags.writeable = False
    batch = next(lx.Loader(array, batch_size=20))['data']
    assert np.array_equal(batch, array)
    batch[:] = 0
    assert array.any()


def test_npy_files(tmp_path):
    array = sample('float32')
    path = tmp_path / 'x.npy'
    np.save(path, array)
    for source in (path, str(path), os.fsencode(path), lx.NPDataset(path), lx.NPDataset(array),
                   np.load(path, mmap_mode='r')):
        assert np.array_equal(read(source)['data'], array)


def test_npdataset_is_like_an_array(tmp_path):
    array = sample('float32')
    np.save(tmp_path / 'x.npy', array)
    dataset = lx.NPDataset(tmp_path / 'x.npy')
    assert len(dataset) == 20 and dataset.shape == (20, 3) and dataset.dtype == np.float32
    assert np.array_equal(dataset[3], array[3]) and np.array_equal(dataset[-1], array[-1])
    assert np.array_equal(dataset[[5, 1]], array[[5, 1]])
    assert np.array_equal(np.asarray(dataset), array)
    assert '20' in repr(dataset)
    with pytest.raises(IndexError):
        dataset[20]


def test_npdataset_of_a_tensor_shares_its_memory():
    torch = pytest.importorskip('torch')
    tensor = torch.arange(6).reshape(3, 2)
    dataset = lx.NPDataset(tensor)
    tensor[1, 1] = 70
    assert dataset[1].tolist() == [2, 70] and dataset.shape == (3, 2)
    assert np.array_equal(read(dataset)['data'], tensor.numpy())
    assert np.array_equal(pickle.loads(pickle.dumps(dataset)).array, tensor.numpy())
    with pytest.raises(TypeError, match=r'array: .*requires grad'):
        lx.NPDataset(torch.zeros(2, requires_grad=True))
    with pytest.raises(TypeError, match='a path, a NumPy array or a tensor, not list'):
        lx.NPDataset([1, 2])


@pytest.mark.parametrize('source, name', [
    ([{'x': 1}, {'x': 2}, {'x': None}, {'x': None}], "source['x']"),
    ([{'x': np.zeros(2)}, {'x': np.zeros(2)}, {'x': None}], "source['x']"),
    ({'x': np.array([1, 2, None])}, "source['x']"),
    (np.array([1, 2, None]), 'source'),
])
def test_names_the_first_record_without_a_value(source, name):
    words = f'{name} has no value in record 2: leave out such records'
    with pytest.raises(ValueError, match=f'^{re.escape(words)}'):
        lx.Loader(source)


def test_in_and_comparisons_never_silently_compare_objects(tmp_path):
    array = sample('float32')
    dataset = lx.NPDataset(array)
    with pytest.raises(TypeError, match=r'NPDataset cannot be compared.*\[:\]'):
        dataset == 7
    assert 7 in dataset and -1 not in dataset and {dataset}
    assert np.array_equal(dataset[:] == 7, array == 7)
    for made in (lx.ConcatDataset([array, array]), lx.SubsetDataset(array, [1])):
        assert 'data' in made and 'x' not in made
        with pytest.raises(TypeError, match='names of the fields'):
            7 in made
    lx.converter(array, tmp_path / 'd')
    stored = lx.ARDataset(tmp_path / 'd')
    assert stored[0, 2] == array[0, 2]
    with pytest.raises(TypeError, match='ARDataset cannot be compared'):
        stored == 7
    with pytest.raises(TypeError, match='ARDataset cannot be searched'):
        7 in stored


@pytest.mark.parametrize('source, words', [
    ({'x': np.zeros(5000), 'z': np.zeros(5000), 'y': np.zeros(4999)},
     r"source\['x'\] has 5,000 records, but source\['y'\] has 4,999"),
    ((np.zeros(3), np.zeros(4)), r'source\[0\] has 3 records, but source\[1\] has 4'),
])
def test_names_the_sources_that_differ_in_length(source, words):
    with pytest.raises(ValueError, match=f'^{words}$'):
        lx.Loader(source)
    with pytest.raises(ValueError, match='^dataset has 3 records, but labelset has 4$'):
        lx.DataLoader(np.zeros(3), np.zeros(4))


def test_tables_and_tensors(tmp_path):
    array, labels = sample('float32'), np.arange(20)
    np.savez(tmp_path / 'x.npz', image=array, label=labels)
    rows = [{'image': image, 'label': label} for image, label in zip(array, labels)]
    for source in (tmp_path / 'x.npz', os.fsencode(tmp_path / 'x.npz'),
                   np.load(tmp_path / 'x.npz'), rows):
        got = read(source)
        assert list(got) == ['image', 'label'] and got['image'].dtype == np.float32
        assert np.array_equal(got['image'], array) and np.array_equal(got['label'], labels)
    with pytest.raises(FileNotFoundError, match='nix.npz'):
        lx.Loader('nix.npz')
    with pytest.raises(ValueError, match='record 1 of source'):
        lx.Loader([{'x': 1}, {'y': 2}])
    with pytest.raises(ValueError, match=r"source\['x'\] has no value in record 1"):
        lx.Loader([{'x': 1}, {'x': None}])


def test_reads_a_tensor_in_place():
    torch = pytest.importorskip('torch')
    tensor = torch.zeros(20, 3)
    loaders = [lx.Loader(source, batch_size=20)
               for source in (tensor, {'data': tensor}, (tensor, np.arange(20)))]
    tensor[:] = 5
    for loader in loaders:
        assert np.array_equal(next(loader)['data'], np.full((20, 3), 5, np.float32))
    with pytest.raises(TypeError, match='^source.*detach'):
        lx.Loader(torch.zeros(3, requires_grad=True))


def test_a_dataframe():
    pandas = pytest.importorskip('pandas')
    frame = pandas.DataFrame({'x': [1., 2.], 'y': pandas.array([3, 4], dtype='Int64')})
    got = read(frame)
    assert got['x'].tolist() == [1, 2] and got['y'].tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"source\['y'\] has no value in record 1"):
        lx.Loader(frame.assign(y=pandas.array([3, None], dtype='Int64')))


def test_rejects_a_column(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64'), 'y': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(5), y=np.arange(5))
    dataset = lx.open(tmp_path / 'd')
    for source in (dataset['x'], (dataset['x'], np.arange(5)), {'a': dataset['x']}):
        with pytest.raises(TypeError, match="column 'x'.*fields="):
            lx.Loader(source)


@pytest.mark.parametrize('what, error', [
    (3, TypeError), (None, TypeError), ([1, 2], TypeError), (np.array(1), ValueError),
])
def test_npdataset_rejects_other_than_arrays(what, error):
    with pytest.raises(error, match='array'):
        lx.NPDataset(what)


def test_a_dataset(tmp_path):
    array, labels = sample('uint8', (50, 4, 4)), np.arange(50)
    with lx.create(tmp_path / 'd', {'image': lx.Field('uint8', (4, 4)),
                                    'label': lx.Field('int64')}) as writer:
        writer.extend(image=array, label=labels)
    with lx.open(tmp_path / 'd') as dataset:
        for source in dataset, tmp_path / 'd', str(tmp_path / 'd'):
            got = read(source)
            assert list(got) == ['image', 'label']
            assert np.array_equal(got['image'], array) and np.array_equal(got['label'], labels)
        assert list(read(dataset, fields=['label'])) == ['label']
        assert list(read(dataset, fields=('label', 'image'))) == ['label', 'image']


def test_a_loader_continues_after_its_dataset_is_closed(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(100))
    dataset = lx.open(tmp_path / 'd')
    batches = iter(lx.Loader(dataset, batch_size=10))
    first = next(batches)['x']
    dataset.close()
    rest = [b['x'] for b in batches]
    assert np.array_equal(np.concatenate([first] + rest), np.arange(100))


def test_a_loader_leaves_its_dataset_open(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(100))
    dataset = lx.open(tmp_path / 'd')
    with lx.Loader(dataset, batch_size=10) as loader:
        next(loader)
    assert dataset[5]['x'] == 5


def test_reads_the_snapshot_of_the_opening(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(10))
    dataset = lx.open(tmp_path / 'd')
    with lx.open(tmp_path / 'd', mode='a') as writer:
        writer.extend(x=np.arange(5))
    assert len(read(dataset)['x']) == 10
    assert len(read(tmp_path / 'd')['x']) == 15


def test_compat_rejects_fields_of_varying_length_by_name(tmp_path):
    with lx.create(tmp_path / 'd', {'text': lx.Field(bytes)}) as writer:
        writer.extend(text=[b'a', b'', b'ccc'])
    with pytest.raises(ValueError, match="'data' vary"):
        lx.DataLoader(lx.Dataset(tmp_path / 'd'), np.arange(3))


# ---- several


def test_a_pair_of_arrays_is_data_and_label():
    x, y = sample('float64'), np.arange(20)
    for source in (x, y), [x, y], (lx.NPDataset(x), y):
        got = read(source)
        assert list(got) == ['data', 'label']
        assert np.array_equal(got['data'], x) and np.array_equal(got['label'], y)
    assert list(read((x,))) == ['data']


def test_a_dict_names_the_fields(tmp_path):
    x, y, z = sample('float64'), np.arange(20), sample('int8', (20,))
    np.save(tmp_path / 'z.npy', z)
    got = read({'a': x, 'b': y, 'c': tmp_path / 'z.npy'})
    assert list(got) == ['a', 'b', 'c'] and np.array_equal(got['c'], z)
    assert list(read({'only': x})) == ['only']


def test_keeps_the_names_of_datasets(tmp_path):
    with lx.create(tmp_path / 'd', {'p': lx.Field('int64'), 'q': lx.Field('int8')}) as writer:
        writer.extend(p=np.arange(20), q=np.zeros(20, 'int8'))
    got = read((tmp_path / 'd', np.arange(20) * 2))
    assert list(got) == ['p', 'q', 'label']
    with pytest.raises(ValueError, match="'p'.*{'a': source"):
        lx.Loader((tmp_path / 'd', tmp_path / 'd'))
    got = read({'a': tmp_path / 'd', 'b': tmp_path / 'd'}, fields=['b.q', 'a.p'])
    assert sorted(got) == ['a.p', 'b.q'] and got['a.p'].tolist() == sorted(range(20))
    with pytest.raises(ValueError, match='shorter name'):
        lx.Loader({'a' * 63: tmp_path / 'd'})
    for pair in (tmp_path / 'd', np.arange(20)), (np.arange(20), tmp_path / 'd'):
        with pytest.raises(ValueError, match='set has the fields p, q, but must have exactly one'):
            lx.DataLoader(*pair)


@pytest.mark.parametrize('kind', MAKE, ids=lambda kind: kind.__name__)
def test_two_sources_of_any_class_are_read_side_by_side(tmp_path, kind):
    if not issubclass(kind, (Records, lx.Dataset, lx.NPDataset, lx.ARDataset)):
        pytest.skip('is not read side by side')
    one = MAKE[kind](kind, Files(tmp_path))
    alone, both = next(lx.Loader(one)), next(lx.Loader({'a': one, 'b': one}))
    for side in 'ab':
        names = {side if len(alone) == 1 else f'{side}.{name}': name for name in alone}
        assert {name for name in both if name[0] == side} == set(names)
        for name, inner in names.items():
            assert np.array_equal(both[name][0], alone[inner][0])


@pytest.mark.parametrize('source, error, word', [
    ((np.zeros(3), np.zeros(4)), ValueError, '3 .* 4'),
    ((np.zeros(3), np.zeros(3), np.zeros(3)), ValueError, 'dict'),
    ((), ValueError, 'source'),
    ({}, ValueError, 'source'),
    ({1: np.zeros(3)}, TypeError, 'names'),
    ({'': np.zeros(3)}, ValueError, 'name'),
    ({'a\0': np.zeros(3)}, ValueError, 'name'),
    ({'a\udc80': np.zeros(3)}, ValueError, 'name'),
    ({'a' * 65: np.zeros(3)}, ValueError, 'name'),
    ((np.zeros(3), 5), TypeError, r'source\[1\]'),
    ({'a': None}, TypeError, r"source\['a'\]"),
    (7, TypeError, 'source'),
    (None, TypeError, 'source'),
    (range(5), TypeError, 'source'),
])
def test_rejects_invalid_sources_by_name(source, error, word):
    with pytest.raises(error, match=word):
        lx.Loader(source)


def test_rejects_paths_without_data(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        lx.Loader(tmp_path / 'nothing')
    assert 'nothing' in str(caught.value)
    (tmp_path / 'empty').mkdir()
    with pytest.raises(OSError):
        lx.Loader(tmp_path / 'empty')
    (tmp_path / 'text').write_text('no array')
    with pytest.raises(lx.LoaderxError, match='text'):
        lx.Loader(tmp_path / 'text')
    np.save(tmp_path / 'cut.npy', np.arange(1000))
    cut = tmp_path / 'cut.npy'
    cut.write_bytes(cut.read_bytes()[:500])
    with pytest.raises(lx.CorruptError, match='cut'):
        lx.Loader(cut)
    np.save(tmp_path / 'fortran.npy', np.asfortranarray(np.zeros((3, 4))))
    with pytest.raises(lx.LoaderxError, match='fortran'):
        lx.Loader(tmp_path / 'fortran.npy')
    with pytest.raises(ValueError):
        lx.Loader('a\0b')


def test_accepts_pathlib_paths_of_any_bytes(tmp_path):
    path = pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b'/\xff.npy'))
    with open(path, 'wb') as file:
        np.save(file, np.arange(4))
    assert read(path)['data'].tolist() == [0, 1, 2, 3]


# ---- datasets made of others


def test_concatenates_arrays(tmp_path):
    a, b, c = sample('uint16', (20, 3)), sample('uint16', (1, 3)), sample('uint16', (33, 3))
    np.save(tmp_path / 'c.npy', c)
    both = lx.ConcatDataset([a, lx.NPDataset(b), tmp_path / 'c.npy'])
    assert len(both) == 54
    assert np.array_equal(read(both)['data'], np.concatenate([a, b, c]))
    more = lx.ConcatDataset((both, a))
    order = lx.Shuffle(seed=3)
    got = np.concatenate([batch['data'] for batch in lx.Loader(more, batch_size=8, order=order)])
    right = np.concatenate([a, b, c, a])[lx.Shuffle(n=74, seed=3).take(74)]
    assert np.array_equal(got, right)


def test_concatenates_datasets(tmp_path):
    fields = {'image': sample('uint8', (9, 4)), 'label': np.arange(9)}
    for name in 'ab':
        with lx.create(
            tmp_path / name, {'image': lx.Field('uint8', (4,)), 'label': lx.Field('int64')}
        ) as writer:
            writer.extend(fields)
    one, other = lx.open(tmp_path / 'a'), lx.open(tmp_path / 'b')
    both = lx.ConcatDataset([one, other])
    got = read(both)
    for name, values in fields.items():
        assert np.array_equal(got[name], np.concatenate([values, values]))
    assert read(both, fields=['label']).keys() == {'label'}


def test_a_mixture_of_datasets():
    a, b = np.arange(100), np.arange(1000, 1050)
    parts = [lx.Shuffle(n=100, seed=1), lx.Shuffle(n=50, seed=2)]
    order = lx.Blend(parts, weights=[.5, .5], offsets=[0, 100], n=60)
    got = read(lx.ConcatDataset([a, b]), order=order)['data']
    assert np.sum(got >= 1000) == 30 and len(np.unique(got)) == 60


def test_rejects_a_state_of_other_datasets():
    a, b = sample('int32'), sample('int32', (5, 3))
    loader = lx.Loader(lx.ConcatDataset([a, b]), batch_size=4)
    next(loader)
    state = loader.state_dict()
    lx.Loader(lx.ConcatDataset([a, b]), batch_size=4).load_state_dict(state)
    with pytest.raises(ValueError, match='length'):
        lx.Loader(lx.ConcatDataset([b, a]), batch_size=4).load_state_dict(state)


def test_rejects_sources_that_differ():
    with pytest.raises(ValueError, match='column 0 of source 1'):
        lx.ConcatDataset([sample('int32'), sample('int16')])
    with pytest.raises(ValueError, match='datasets is empty'):
        lx.ConcatDataset([])
    with pytest.raises(TypeError, match=r'datasets\[1\] must be a loaderx dataset'):
        lx.ConcatDataset([sample('int32'), 5])
    for wrong in 'path', sample('int32'), {'a': sample('int32')}:
        with pytest.raises(TypeError, match='datasets must be a list'):
            lx.ConcatDataset(wrong)


@pytest.mark.parametrize('indices', [[3, 1, 1, -1], slice(None, None, -2), np.arange(20) % 3 == 0,
                                     np.array([], dtype=int)])
def test_some_records(indices):
    array = sample('float32')
    subset = lx.SubsetDataset(array, indices)
    assert len(subset) == len(array[indices])
    if len(subset):
        assert np.array_equal(read(subset)['data'], array[indices])
    assert len(pickle.loads(pickle.dumps(subset))) == len(subset)


def test_rejects_records_out_of_range():
    with pytest.raises(IndexError, match='index 20 is out of range'):
        lx.SubsetDataset(sample('int8'), [20])


@pytest.mark.parametrize('offset', [0, 6, 48])
def test_a_file_of_bare_records(tmp_path, offset):
    values = np.arange(24, dtype='<u2')
    values.tofile(tmp_path / 'flat')
    flat = lx.FlatDataset(tmp_path / 'flat', 'uint16', 3, offset=offset, name='tokens')
    right = values[offset // 2:].reshape(-1, 3)
    assert len(flat) == len(right)
    if len(flat):
        assert np.array_equal(read(flat)['tokens'], right)
    assert len(pickle.loads(pickle.dumps(flat))) == len(flat)
    assert len(lx.FlatDataset(tmp_path / 'flat', np.uint16)) == 24


def test_rejects_a_file_that_does_not_fit(tmp_path):
    (tmp_path / 'flat').write_bytes(bytes(47))
    with pytest.raises(lx.CorruptError, match='5 bytes after the last whole record of 6'):
        lx.FlatDataset(tmp_path / 'flat', 'uint16', (3,))
    with pytest.raises(FileNotFoundError):
        lx.FlatDataset(tmp_path / 'none', 'uint16')
    with pytest.raises(ValueError, match='little-endian'):
        lx.FlatDataset(tmp_path / 'flat', '>u2')
    with pytest.raises(ValueError, match='offset'):
        lx.FlatDataset(tmp_path / 'flat', 'uint8', offset=-1)


@pytest.mark.parametrize('read', [
    lx.Loader, lambda records: lx.Loader({'x': records}), lambda records: lx.ConcatDataset([records]),
    lambda records: lx.SubsetDataset(records, [0]),
])
@pytest.mark.parametrize('selection', [{}, {'indices': [4, 2]}, {'fields': ['x']}])
def test_the_selection_of_arrow_records_is_not_forgotten(tmp_path, read, selection):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64'), 'y': lx.Field('int64')}) as writer:
        writer.extend(x=range(5), y=range(5))
    records = lx.open(tmp_path / 'd').to_arrow(**selection)
    with pytest.raises(TypeError, match='to_arrow.*pass the dataset, or SubsetDataset'):
        read(records)
