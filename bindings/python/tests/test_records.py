# SPDX-License-Identifier: MIT
"""Records of any dataset: several at once, concatenated by +, and in other processes."""

import copy
import os
import pickle

import numpy as np
import pytest

import loaderx as lx

N = 30
ROWS = np.arange(N)
TEXTS = [None if i % 7 == 0 else b'%d' % i for i in range(N)]


def record(i):
    return {'data': np.full((2, 3), i, np.uint8), 'label': i if i % 5 else None, 'text': TEXTS[i]}


def make(path):
    """Create fields of all kinds, and values that are missing."""
    fields = {'data': lx.Field('uint8', (2, 3)), 'label': lx.Field('int64'),
              'text': lx.Field(bytes)}
    with lx.create(path, fields) as writer:
        for i in range(N):
            writer.append(record(i))
    return path


@pytest.fixture
def dataset(tmp_path):
    with lx.open(make(tmp_path / 'd')) as opened:
        yield opened


@pytest.fixture
def images(tmp_path):
    """A dataset whose records all have the same length."""
    with lx.create(tmp_path / 'images', {'data': lx.Field('uint8', (2, 3))}) as writer:
        writer.extend(data=np.arange(N * 6).reshape(N, 2, 3).astype(np.uint8))
    with lx.open(tmp_path / 'images') as opened:
        yield opened


def same(one, other):
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if one is None or isinstance(one, bytes):
        return one == other
    return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)


def check(dataset, expected):
    """Check single and several records, also by negative indices."""
    assert len(dataset) == len(expected)
    for index in 0, len(expected) - 1, -1, -len(expected), np.int32(3):
        assert same(dataset[index], expected[index])
    for indices in [3, -1, 3, 0], np.array([2, 1]), (3, 1), []:
        got = dataset.__getitems__(indices)
        assert isinstance(got, list) and len(got) == len(indices)
        assert all(same(one, expected[i]) for one, i in zip(got, indices))
    for index in len(expected), -len(expected) - 1:
        with pytest.raises(IndexError):
            dataset[index]
        with pytest.raises(IndexError):
            dataset.__getitems__([0, index])


def test_of_a_dataset(dataset):
    check(dataset, [dataset[i] for i in range(N)])
    assert dataset.__getitems__([0, 1])[0]['label'] is None


def test_a_live_dataset_reads_columns_of_one_snapshot(tmp_path):
    path = make(tmp_path / 'd')
    with lx.open(path, live=True) as dataset:
        with lx.open(path, mode='a') as writer:
            writer.append({**record(1), 'label': 77})
        assert dataset.__getitems__([-1])[0]['label'] == 77


def test_of_arrays():
    array = np.arange(12).reshape(4, 3)
    check(lx.NPDataset(array), list(array))
    check(lx.ConcatDataset([array, array[:2]]), [*array, *array[:2]])
    check(lx.SubsetDataset(array, [3, 1, 1, 0, 2]), [array[i] for i in (3, 1, 1, 0, 2)])
    check(lx.NPDataset(array[:, 0]), list(array[:, 0]))
    check(lx.ConcatDataset([array[:, 0]] * 2), [*array[:, 0]] * 2)


def test_of_files(tmp_path):
    array = np.arange(20, dtype=np.uint16)
    array.tofile(tmp_path / 'x')
    check(lx.FlatDataset(tmp_path / 'x', 'uint16', (4,)), list(array.reshape(5, 4)))
    check(lx.FlatDataset(tmp_path / 'x', 'uint16', name='id'), [{'id': one} for one in array])
    tokens = lx.TokenDataset(tmp_path / 'x', 3, 'uint16', out='int64')
    check(tokens, [{'tokens': array[i * 3:i * 3 + 4].astype(np.int64)} for i in range(6)])


def test_of_datasets_of_datasets(images):
    records = [images[i] for i in range(N)]
    check(images + images, records * 2)
    chosen = lx.SubsetDataset(images, [7, 3, -1, 7])
    check(chosen, [records[i] for i in (7, 3, -1, 7)])
    check(chosen + images + chosen, [*chosen.__getitems__(range(4)), *records,
                                     *chosen.__getitems__(range(4))])
    check(lx.NullDataset(images), [{}] * N)


@pytest.mark.parametrize('as_path', [False, True])
def test_of_fields_of_bytes(dataset, as_path):
    records = [dataset[i] for i in range(N)]
    below = dataset.path if as_path else dataset
    both = lx.ConcatDataset([below, lx.SubsetDataset(below, slice(3, 1, -1))])
    check(both, [*records, records[3], records[2]])
    check(lx.SubsetDataset(both, ROWS % 2 == 1 if len(both) == N else [31, 0, -1, 5]),
          [records[2], records[0], records[2], records[5]])
    assert both.gather([0, -1, 30], ['text'])['text'] == [records[i]['text'] for i in (0, 2, 3)]


def test_returns_several_records_as_arrays(images):
    both = images + images
    got = both.gather([31, -1, 0])
    assert list(got) == ['data'] and np.array_equal(got['data'][:, 0, 0], [6, 174, 0])
    assert both.gather(slice(5, 2, -1), ['data'])['data'].shape == (3, 2, 3)
    assert both.gather(np.arange(2 * N) > 57)['data'].shape == (2, 2, 3)
    assert both.gather([])['data'].shape == (0, 2, 3)
    assert both.gather([0], []) == {}
    with pytest.raises(KeyError, match="'x'"):
        both.gather([0], ['x'])
    with pytest.raises(TypeError, match='a single name'):
        both.gather([0], 'data')
    with pytest.raises(IndexError):
        both.gather([2 * N])


def test_a_slice_or_a_list_reads_several_records(images):
    both = images + images
    for key in (slice(0, 2), [0, 1], [-1], np.arange(2 * N) > 57):
        assert np.array_equal(both[key]['data'], both.gather(key)['data'])
    assert (lx.NPDataset(np.arange(N)) + lx.NPDataset(np.arange(N)))[N - 1:N + 1].tolist() == [
        N - 1, 0]


@pytest.mark.parametrize('key', [b'data', None, 1.5, (1, 2)], ids=str)
def test_a_key_is_an_index(images, key):
    with pytest.raises(TypeError, match='index must be an int'):
        (images + images)[key]


def test_plus_joins_sources(images):
    array = np.arange(N)
    assert len(lx.NPDataset(array) + lx.NPDataset(array)) == 2 * N
    assert isinstance(lx.NPDataset(array) + array, np.ndarray)    # NumPy adds element-wise
    with pytest.raises(TypeError):
        images + 3
    with pytest.raises(ValueError):
        images + lx.NPDataset(array)    # other columns


def test_a_subclass_converts_records(images):
    class Doubled(lx.Dataset):
        def __getitem__(self, index):
            return 2 * super().__getitem__(index)['data'].astype(int)

    class Negated(lx.SubsetDataset):
        def __getitem__(self, index):
            return -super().__getitem__(index)['data'].astype(int)

    class Renamed(Negated):
        pass

    with Doubled(images.path) as dataset:
        for one in dataset, Negated(images, range(N)), Renamed(images, range(N)):
            got = one.__getitems__([3, -1])
            assert np.array_equal(got, [one[3], one[-1]]) and got[0].dtype == int


# ---- pickled


def test_reopens_an_unpickled_dataset(tmp_path, monkeypatch):
    make(tmp_path / 'd')
    monkeypatch.chdir(tmp_path)
    with lx.open('d', verify='always', on_damage='zeros') as dataset, \
            lx.open('d', live=True) as live:
        kept = pickle.dumps([dataset, live, live.pin()])
        copied = copy.deepcopy(live)
        assert copied.live and not copied.closed
        monkeypatch.chdir('/')
        for again, alive in zip(pickle.loads(kept), (False, True, False)):
            assert (again.live, again.uuid, len(again)) == (alive, dataset.uuid, N)
            assert same(again[8], dataset[8])
        dataset.close()
        with pytest.raises(lx.LoaderxError, match='closed'):
            pickle.dumps(dataset)


def test_keeps_a_user_class(tmp_path):
    again = pickle.loads(pickle.dumps(Own(make(tmp_path / 'd'))))
    assert type(again) is Own and again.mark == 5 and len(again) == N


class Own(lx.Dataset):
    mark = 3

    def __init__(self, path, **options):
        super().__init__(path, **options)
        self.mark = 5


def test_keeps_subclasses_in_combined_sources(tmp_path, images):
    """Spawned workers of torch receive them in this way."""
    path = tmp_path / 'x'
    path.write_bytes(bytes(range(100)))
    datasets = [Scaled([images, images]), ScaledSubset(images, [2, 1]), ScaledPacked(path),
                ScaledTokens(path, 3, 'uint8'), ScaledFile(path, 'uint8')]
    for dataset in datasets:
        dataset.factor = 7
        copy = pickle.loads(pickle.dumps(dataset))
        assert type(copy) is type(dataset) and len(copy) == len(dataset)
        assert copy[0] == dataset[0] and copy[0][0] == 7 and copy.__getitems__([0]) == [copy[0]]


class Times:
    factor = 1

    def __getitem__(self, index):
        return self.factor, repr(super().__getitem__(index))


class Scaled(Times, lx.ConcatDataset):
    pass


class ScaledSubset(Times, lx.SubsetDataset):
    pass


class ScaledTokens(Times, lx.TokenDataset):
    pass


class ScaledFile(Times, lx.FlatDataset):
    pass


class ScaledPacked(Times, lx.PackedDataset):
    def __init__(self, path):
        super().__init__(lx.Tokens([path, path], 'uint8'), 64)


def test_rejects_another_dataset_after_unpickling(tmp_path):
    path = make(tmp_path / 'd')
    with lx.open(path) as dataset:
        kept = pickle.dumps(dataset)
    with lx.open(path, mode='a') as writer:
        writer.append(record(1))
    assert len(pickle.loads(kept)) == N + 1
    with lx.open(path, mode='r+') as writer:
        writer.truncate(3)
    with pytest.raises(lx.LoaderxError, match=f'had {N} records, but now has only 3'):
        pickle.loads(kept)
    os.rename(path, tmp_path / 'other')
    make(path)
    with pytest.raises(lx.LoaderxError, match='a different dataset is at this path'):
        pickle.loads(kept)


def test_reports_other_fields_after_unpickling(tmp_path):
    path = make(tmp_path / 'd')
    with lx.open(path) as dataset:
        kept = pickle.dumps(dataset)
    with lx.open(path, mode='r+') as writer:
        writer.rename_field('label', 'class')
    with pytest.raises(lx.LoaderxError, match=r"'label'.*'class'"):
        pickle.loads(kept)


def test_an_npy_file_is_mapped_again(tmp_path, monkeypatch):
    np.save(tmp_path / 'x.npy', np.zeros((1000, 100)))
    monkeypatch.chdir(tmp_path)
    kept = pickle.dumps(lx.NPDataset('x.npy'))
    monkeypatch.chdir('/')
    assert len(kept) < 1000
    again = pickle.loads(kept)
    assert isinstance(again.array, np.memmap) and again.shape == (1000, 100)
    assert len(pickle.loads(pickle.dumps(lx.NPDataset(np.zeros(5))))) == 5


# ---- tables, and columns of combined datasets


def tables(folder):
    columns = {'x': np.arange(6), 'y': np.arange(12.).reshape(6, 2)}
    np.savez(folder / 'table.npz', **columns)
    made = [columns, [{'x': x, 'y': y} for x, y in zip(columns['x'], columns['y'])],
            folder / 'table.npz', np.load(folder / 'table.npz')]
    return columns, made


def test_tables_can_be_combined(tmp_path):
    columns, made = tables(tmp_path)
    for table in made:
        chosen = lx.SubsetDataset(table, [4, -1, 0])
        both = lx.ConcatDataset([table, columns])
        for one in chosen, pickle.loads(pickle.dumps(chosen)):
            assert one[0]['x'] == 4 and one[1]['y'].tolist() == [10, 11]
        for one in both, pickle.loads(pickle.dumps(both)):
            assert len(one) == 12 and one.gather([3, 6])['x'].tolist() == [3, 0]
        assert lx.Loader(both).explain(7)[0]['read'] == [
            ('ndarray int64[6]', 1), ('ndarray float64[6, 2]', 1)]
    with pytest.raises(TypeError, match=r"datasets\[1\]\['x'\] must be a loaderx dataset"):
        lx.ConcatDataset([columns, {'x': 'a'.join, 'y': columns['y']}])


def test_a_data_frame_can_be_combined():
    pandas = pytest.importorskip('pandas')
    frame = pandas.DataFrame({'x': np.arange(6), 'y': np.arange(6.)})
    assert lx.SubsetDataset(frame, [2, 3])[1] == {'x': 3, 'y': 3.0}
    assert lx.ConcatDataset([frame, frame])[11] == {'x': 5, 'y': 5.0}


def test_a_frame_of_another_library_is_named(tmp_path):
    class DataFrame:
        __module__ = 'polars.dataframe.frame'

    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        for use in lx.Loader, writer.extend, lambda frame: lx.SubsetDataset(frame, [0]):
            with pytest.raises(TypeError, match=r'not a DataFrame of polars \(pass .*to_pandas'):
                use(DataFrame())


def combined(dataset):
    chosen = [3, 7, 0, 29, 3]
    both = lx.ConcatDataset([dataset, lx.SubsetDataset(dataset, chosen)])
    return [(lx.SubsetDataset(dataset, chosen), chosen), (both, [*range(N), *chosen]),
            (lx.SubsetDataset(both, [31, -1, 5]), [7, 3, 5])]


def test_combined_datasets_have_columns(dataset):
    for one, indices in combined(dataset):
        assert list(one.keys()) == one._ipython_key_completions_() == list(dataset.fields)
        columns = dict(one)
        assert list(columns) == ['data', 'label', 'text'] and 'text' in one and 'x' not in one
        for name, column in columns.items():
            expected = dataset[name]
            assert column.shape == (len(indices), *expected.shape[1:])
            assert column.dtype == expected.dtype and column.field.dtype == expected.field.dtype
            assert name in repr(column) and type(one).__name__ in repr(column)
            if name == 'label':    # the only one with missing numbers
                column, expected = column.filled('zeros'), expected.filled('zeros')
            assert np.array_equal(np.array(column), np.array(expected[indices], column.dtype))
            assert all(same(column[i], expected[indices[i]]) for i in (0, 2, -1))
            assert column.present().tolist() == expected.present(indices).tolist()
            assert column.present([1, 0]).tolist() == expected.present(
                [indices[1], indices[0]]).tolist()
            assert len(list(column)) == len(indices)
        with pytest.raises(KeyError, match="'x' not found: the fields are"):
            one['x']
        with pytest.raises(IndexError):
            one['label'][len(indices)]
    with pytest.raises(TypeError, match="is the column 'label' of a dataset"):
        lx.Loader(lx.SubsetDataset(dataset, [1])['label'])


def test_notebooks_show_combined_datasets(dataset):
    for one, indices in combined(dataset):
        page = one._repr_html_()
        assert f'{type(one).__name__}: {len(indices)} records' in page
        assert [page.count(f'<td>{word}</td>') for word in ('<em>missing</em>',)] == [
            sum(dataset[i]['label'] is None for i in indices[:5])
            + sum(TEXTS[i] is None for i in indices[:5])]
        assert dataset[indices[1]]['text'] is None or dataset[indices[1]]['text'].decode() in page
    assert 'data<br>' in lx.SubsetDataset(np.arange(3), [1])._repr_html_()


def test_the_preview_of_combined_datasets_reads_no_large_values(tmp_path):
    with lx.create(tmp_path / 'd', {'text': lx.Field(bytes), 'x': lx.Field('u1', (9000,))}) as w:
        w.extend(text=[b'short', b'long' * 9000], x=np.zeros((2, 9000), 'u1'))
    with lx.open(tmp_path / 'd') as ds:
        page = lx.SubsetDataset(lx.ConcatDataset([ds, ds]), [2, 3])._repr_html_()
    assert 'short' in page and '36,000 bytes' in page and 'longlong' not in page
    assert page.count('9,000 bytes') == 2


def test_combined_datasets_have_the_types_of_their_fields(tmp_path):
    fields = {'text': lx.Field(str), 'j': lx.Field('json'), 'image': lx.Field('image'),
              'raw': lx.Field(bytes), 'boxes': lx.Field('float32', (None, 4)),
              'times': lx.Field('datetime64[s]', (None,)), 'x': lx.Field('int8', (2,))}
    with lx.create(tmp_path / 'd', fields) as writer:
        for i in range(3):
            writer.append(text=str(i), j=[i], image=b'\xff\xd8\xff', raw=b'r',
                          boxes=np.ones((i, 4), 'f4'), times=['2024-01-01'] * i, x=[i, i])
    ds = lx.open(tmp_path / 'd')
    for one in (lx.ConcatDataset([ds, ds]), lx.SubsetDataset(ds, [2, 1]), ds.where([True] * 3),
                lx.SubsetDataset(lx.ConcatDataset([ds, ds]), [0, 4])):
        assert dict(one.fields) == fields
        for name, field in fields.items():
            assert one[name].field == field and one[name].dtype == ds[name].dtype
        assert one['text'][:2] == [record['text'] for record in (one[0], one[1])]
        assert one['boxes'][0].shape == one[0]['boxes'].shape and one['j'][0] == one[0]['j']
        assert 'boxes' in one._repr_html_()
        assert one[:2]['text'] == one['text'][:2] and list(one[:2]) == list(fields)
