# SPDX-License-Identifier: MIT
"""Fields of arrays whose first extent varies, and parts of values."""

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loaderx as lx

BOXES = [np.arange(4 * k, dtype=np.float32).reshape(k, 4) + k for k in (2, 0, 1, 5, 0, 3)]


def same(values, expected):
    """Whether the values are the expected arrays, or None."""
    return len(values) == len(expected) and all(
        a is b is None or (a is not None and b is not None and a.dtype == b.dtype
                           and a.shape == b.shape and (a == b).all())
        for a, b in zip(values, expected))


@pytest.fixture
def path(tmp_path):
    fields = {'box': lx.Field('float32', (None, 4)), 'n': lx.Field('int64')}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.extend(box=BOXES, n=range(6))
        writer.append(box=None, n=6)
    return tmp_path / 'd'


# ---- fields


def test_fields_with_an_extent_that_varies():
    field = lx.Field('float32', (None, 4))
    assert field.shape == (None, 4) and field.varies and field.dtype == np.float32
    assert repr(field) == "Field('float32', (None, 4))" and field == lx.Field('f4', [None, 4])
    assert lx.Field('int8', (None,)).varies and not lx.Field('int8', (3,)).varies
    assert lx.Field(bytes).varies and hash(field) == hash(lx.Field('float32', (None, 4)))


@pytest.mark.parametrize('shape, message', [
    ((2, None), 'None after its first extent'), ((None, None), 'None after its first extent'),
    ((None, 0), 'extent of 0'), ((None, -1), 'negative'), (None, 'an int or a tuple')])
def test_other_shapes_are_refused(shape, message):
    with pytest.raises((TypeError, ValueError), match=message):
        lx.Field('float32', shape)


# ---- datasets


@pytest.mark.parametrize('compress', ['raw', 'flate'])
@pytest.mark.parametrize('dtype', ['float32', 'bool', 'complex128', 'datetime64[ms]', 'uint16'])
def test_records_are_arrays(tmp_path, compress, dtype):
    boxes = [box.astype('i8').astype(dtype) for box in BOXES]
    with lx.create(tmp_path / 'd', {'x': lx.Field(dtype, (None, 4), compress)}) as writer:
        assert writer.extend(x=[*boxes, None]) == 0
        for box in boxes:
            writer.append(x=box)
    ds = lx.open(tmp_path / 'd')
    assert same(ds['x'][:], [*boxes, None, *boxes])
    assert same([ds['x'][i] for i in range(len(ds))], [*boxes, None, *boxes])
    assert same(ds['x'][[3, 6, 0, 3]], [boxes[3], None, boxes[0], boxes[3]])
    ds['x'][0][:] = ds['x'][0]    # the caller owns the array
    ds.verify(progress=False)


def test_columns(path):
    column = lx.open(path)['box']
    assert column.shape == (7,) and column.ndim == 1 and column.dtype == object
    assert same(list(np.asarray(column)), [*BOXES, None])
    assert column.present().tolist() == [True] * 6 + [False]
    with pytest.raises(IndexError, match='one axis'):
        column[0, 0]
    with lx.open(path).views([3, 1, 6]) as views:
        assert same(views['box'], [BOXES[3], BOXES[1], None])
        assert not views['box'][0].flags.writeable
    with pytest.raises(ValueError, match='vary in length'):
        lx.open(path).gather([0], out={'box': np.empty((1, 1, 4), np.float32)})
    assert lx.open(path).where(lambda c: np.array([len(b) > 1 if b is not None else False
                                                   for b in c['box']])).gather(
        slice(None), ['n'])['n'].tolist() == [0, 3, 5]


def test_values_are_taken_in_many_forms(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int16', (None, 2))}) as writer:
        writer.append(x=[[1, 2], [3, 4]])
        writer.append(x=[])
        writer.extend(x=[[], [[5, 6]], ((7, 8), (9, 10))])
        writer.extend(x=np.arange(12, dtype=np.int16).reshape(2, 3, 2))
        writer.extend(x=lx.Ragged.of([np.array([[1, 2]], np.int16), [[3, 4], [5, 6]]], 'int16')[1:])
        writer.extend(x=[np.array([[1, 2]], np.int16), None, [[3, 4]]])
        writer.extend(x=np.array([None, np.ones((2, 2), np.int8)], object))
        writer.extend(x=[])
        assert len(writer) == 13
        writer[0] = {'x': [[0, 0]]}
        writer[[1, 2]] = {'x': np.array([[7, 7]], np.int16)}
        writer[[11, 12]] = {'x': [[[1, 1]], None]}
    expected = [[[0, 0]], [[7, 7]], [[7, 7]], [[5, 6]], [[7, 8], [9, 10]],
                [[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]], [[3, 4], [5, 6]], [[1, 2]],
                None, [[3, 4]], [[1, 1]], None]
    assert [x if x is None else x.tolist() for x in lx.open(tmp_path / 'd')['x'][:]] == expected


@pytest.mark.parametrize('shape, value', [
    ((None,), [7, 8]), ((None,), (7,)), ((None, 2), [[7, 8], [9, 9]]), ((2,), [7, 8]),
    ((2, 1), [np.array([7], np.int16), [8]])])
def test_a_list_is_the_value_of_all_records(tmp_path, shape, value):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int16', shape)}) as writer:
        writer.extend(x=[value] * 4)
        writer[1:4] = {'x': np.zeros_like(np.asarray(value, np.int16))}
        writer[1:3] = {'x': value}
        writer[[3]] = {'x': [value]}    # a list of values
        with pytest.raises(ValueError):
            writer[1:4] = {'x': [value]}
    values = np.asarray(value).tolist()
    assert [x.tolist() for x in lx.open(tmp_path / 'd')['x'][:]] == [values] * 4


def test_lists_without_numbers_are_values_of_records(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int16', (None,))}) as writer:
        writer.extend(x=[[1], [2]])
        writer[[0]] = {'x': [[]]}
        writer[[1]] = {'x': [None]}
        with pytest.raises(ValueError, match='the number of values is 0, but the number of ind'):
            writer[:] = {'x': []}
    assert same(lx.open(tmp_path / 'd')['x'][:], [np.zeros(0, np.int16), None])


@pytest.mark.parametrize('value, error, message', [
    ([[1, 2, 3]], ValueError, r"records of shape \(None, 2\), not \(1, 3\)"),
    ([1, 2], ValueError, r"records of shape \(None, 2\), not \(2,\)"),
    (3, ValueError, r"records of shape \(None, 2\), not \(\)"),
    ([[1, 40000]], ValueError, '40000 does not fit in int16'),
    (np.zeros((1, 2)), TypeError, 'float64 cannot always be converted to int16'),
    ([['a', 'b']], TypeError, 'must contain numbers'),
    (np.ma.masked_array([[1, 2]], [[True, False]]), TypeError, 'must not be a masked array'),
])
def test_wrong_values_are_errors(tmp_path, value, error, message):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int16', (None, 2))}) as writer:
        with pytest.raises(error, match=f"field 'x'.*{message}"):
            writer.append(x=value)
        with pytest.raises(error, match=f"field 'x'.*{message}"):
            writer.extend(x=[[], value])
        with pytest.raises(TypeError, match="'x' must have one array for each record"):
            writer.extend(x=7)
        with pytest.raises(ValueError, match=r"shape \(None, 2\)"):
            writer.extend(x=np.zeros((2, 2), np.int16))
        with pytest.raises(TypeError, match='must not be a masked array'):
            writer.extend(x=np.ma.masked_array(np.zeros((1, 1, 2), np.int16), True))
        assert len(writer) == 0


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(lengths=st.lists(st.integers(0, 9), max_size=30),
       trailing=st.lists(st.integers(1, 3), max_size=2),
       dtype=st.sampled_from(['uint8', 'int32', 'float64']))
def test_what_is_written_is_read(tmp_path_factory, lengths, trailing, dtype):
    path = tmp_path_factory.mktemp('ragged') / 'd'
    rng = np.random.default_rng(len(lengths))
    values = [rng.integers(0, 100, (k, *trailing)).astype(dtype) for k in lengths]
    with lx.create(path, {'x': lx.Field(dtype, (None, *trailing))}) as writer:
        writer.extend(x=values)
    ds = lx.open(path)
    assert same(ds['x'][:], values)
    for batch in lx.Loader(ds, batch_size=4) if lengths else ():
        column = batch['x']
        assert same(list(column), values[batch.index[0]:batch.index[0] + len(column)])
    for i, value in enumerate(values):
        start, n = int(rng.integers(0, 12)), int(rng.integers(0, 12))
        assert same([ds['x'].read(i, start, n)], [value[start:start + n]])


# ---- batches


@pytest.mark.parametrize('threads', [0, 2])
def test_batches_carry_the_trailing_shape(path, threads):
    for batch in lx.Loader(path, batch_size=3, order=lx.Shuffle(seed=2), missing='mask',
                           threads=threads):
        column = batch['box']
        expected = [BOXES[i] if i < 6 else np.zeros((0, 4), np.float32) for i in batch['n']]
        assert isinstance(column, lx.Ragged) and column.item is None
        assert column.values.shape == (sum(map(len, expected)), 4)
        assert column.offsets.dtype == np.int64 and column.lengths.tolist() == [*map(len, expected)]
        assert same(list(column), expected)
        assert batch.present['box'].tolist() == [i < 6 for i in batch['n']]


def test_batches_can_be_lists_or_padded(path):
    options = {'batch_size': 7, 'missing': 'zeros'}
    expected = [*BOXES, np.zeros((0, 4), np.float32)]
    batch = next(lx.Loader(path, ragged='list', **options))
    assert same(batch['box'], expected)
    batch = next(lx.Loader(path, ragged=lx.Pad(-1, mask=True, multiple=4), **options))
    assert batch['box'].shape == (7, 8, 4) and batch['box_mask'].sum(1).tolist() == [
        len(box) for box in expected]
    for row, box in zip(batch['box'], expected):
        assert (row[:len(box)] == box).all() and (row[len(box):] == -1).all()


def test_batches_of_small_floats(tmp_path):
    small = pytest.importorskip('ml_dtypes')
    values = [np.arange(k).astype(small.bfloat16) for k in (3, 0, 2)]
    with lx.create(tmp_path / 'd', {'x': lx.Field('bfloat16', (None,))}) as writer:
        writer.extend(x=values)
    batch = next(lx.Loader(tmp_path / 'd', batch_size=3))
    assert batch['x'].values.dtype == small.bfloat16 and same(list(batch['x']), values)
    padded = next(lx.Loader(tmp_path / 'd', batch_size=3, ragged=lx.Pad()))['x']
    assert padded.tolist() == [[0, 1, 2], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize('out', ['torch', 'jax'])
def test_batches_of_other_libraries(path, out):
    library = pytest.importorskip(out)
    kind = library.Tensor if out == 'torch' else library.Array
    batch = next(lx.Loader(path, batch_size=6, out=out, missing='zeros'))
    assert isinstance(batch['box'].values, kind)
    assert same([np.asarray(box) for box in batch['box']], BOXES)


def test_loaders_resume(path):
    options = {'batch_size': 2, 'order': lx.Shuffle(seed=9), 'missing': 'zeros', 'epochs': 2}
    whole = [batch['box'].values.tolist() for batch in lx.Loader(path, **options)]
    loader = lx.Loader(path, **options)
    first = [next(loader)['box'].values.tolist() for _ in range(3)]
    other = lx.Loader(path, **options)
    other.load_state_dict(loader.state_dict())
    assert first + [batch['box'].values.tolist() for batch in other] == whole


def combinations(path):
    """Return datasets of other datasets, and the indices of their records in the dataset."""
    ds = lx.open(path)
    both = lx.ConcatDataset([path, lx.SubsetDataset(ds, [5, 0, -1])])
    rows = [*range(7), 5, 0, 6]
    return [(ds, rows[:7]), (both, rows), (ds.where(ds['n'][:] % 2 == 0), rows[:7:2]),
            (lx.SubsetDataset(both, slice(None, None, -2)), rows[::-2])]


def test_combined_datasets_read_several_records_like_a_dataset(path):
    values = [*BOXES, None]
    for ds, rows in combinations(path):
        many = np.arange(len(rows))
        for key in slice(1, None, 2), [-1, 0, 0], many % 3 == 1, [], slice(None):
            wanted = [rows[i] for i in many[key].tolist()]
            got = ds[key]
            assert list(got) == ['box', 'n'] and got['n'].tolist() == wanted
            assert same(got['box'], [values[i] for i in wanted])
            assert list(ds.gather(key, ['box'])) == ['box'] and list(ds.gather(key, [])) == []
        for wrong in len(rows), -len(rows) - 1:
            with pytest.raises(IndexError):
                ds.gather([wrong])


def test_lengths(path):
    lengths = np.array([len(box) for box in BOXES] + [0])
    for ds, rows in combinations(path):
        got = ds['box'].lengths()
        assert got.dtype == np.int64 and got.tolist() == lengths[rows].tolist()
        for key in slice(None, 2), [-1, 0], np.arange(len(rows)) == 3:
            assert ds['box'].lengths(key).tolist() == lengths[rows][key].tolist()
        with pytest.raises(TypeError, match="'n' do not vary in length"):
            ds['n'].lengths()
        with pytest.raises(IndexError):
            ds['box'].lengths([len(rows)])
    order = lx.Bucketed(lx.open(path)['box'].lengths(), batch=2, bucket=2)
    loader = lx.Loader(path, batch_size=2, order=order, missing='zeros')
    assert all(np.ptp(batch['box'].lengths) <= 2 for batch in loader)


def test_lengths_of_byte_strings_are_in_bytes(tmp_path):
    fields = {name: lx.Field(name, compress='flate') for name in ('bytes', 'str', 'json')}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.append(bytes=b'a' * 1000, str='é' * 1000, json='é')
        writer.append(bytes=b'', str=None, json=None)
    ds = lx.open(tmp_path / 'd')
    assert [ds[name].lengths().tolist() for name in fields] == [[1000, 0], [2000, 0], [4, 0]]


def test_torch_reads_records(path):
    pytest.importorskip('torch')
    from loaderx.torch import DataLoader
    ds = lx.SubsetDataset(lx.open(path), range(6))
    rows = [row for batch in DataLoader(ds, batch_size=2, collate_fn=list) for row in batch]
    assert same([row['box'] for row in rows], BOXES)


def test_token_fields_of_ragged_numbers(tmp_path):
    documents = [[1, 2, 3], [], [4], [5, 6]]
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint16', (None,))}) as writer:
        writer.extend(x=documents)
        writer.seal()
    tokens = lx.Tokens(tmp_path / 'd', field='x')
    assert tokens[:].tolist() == [1, 2, 3, 4, 5, 6] and len(tokens.documents) == 4


# ---- parts of values


@pytest.mark.parametrize('compress', ['raw', 'flate'])
@pytest.mark.parametrize('size', [100, 300_000])
def test_parts_of_values(tmp_path, compress, size):
    audio = np.random.default_rng(0).integers(-9, 9, (size, 2)).astype(np.int16)
    fields = {'a': lx.Field('int16', (None, 2), compress), 'b': lx.Field(bytes, compress=compress),
              'd': lx.Field('int16', (size, 2), compress), 's': lx.Field('int8')}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.append(a=audio, b=audio.tobytes(), d=audio, s=1)
        writer.append(a=None, b=None, d=None, s=None)
    for verify in 'first', 'always', 'never':
        ds = lx.open(tmp_path / 'd', verify=verify)
        for start, n in [(0, 0), (0, size), (3, 5), (size - 2, 9), (size, 1), (2**60, 2**60)]:
            assert same([ds['a'].read(0, start, n)], [audio[start:start + n]])
            assert same([ds['d'].read(0, start, n)], [audio[start:start + n]])
            assert ds['b'].read(0, start, n) == audio.tobytes()[start:start + n]
        assert ds['a'].read(-1, 0, 1) is ds['b'].read(1, 0, 1) is ds['d'].read(1, 0, 1) is None
        for index, start, n, error in [(2, 0, 1, IndexError), (0, -1, 1, ValueError),
                                       (0, 0, -1, ValueError), ([0], 0, 1, TypeError),
                                       (0, 0, 1.5, TypeError), (0, True, 1, TypeError)]:
            with pytest.raises(error):
                ds['a'].read(index, start, n)
        with pytest.raises(TypeError, match="'s' are scalars"):
            ds['s'].read(0, 0, 1)


def test_which_parts_are_verified(tmp_path):
    """Of a long raw value, only the part is read, so damage elsewhere does not show."""
    text = bytes(range(256)) * 1000
    with lx.create(tmp_path / 'd', {'x': lx.Field(bytes)}) as writer:
        writer.append(x=text)
    chunk = next((tmp_path / 'd' / 'chunk').iterdir())
    content = bytearray(chunk.read_bytes())
    content[content.index(text) + 200_000] ^= 1
    chunk.write_bytes(content)
    ds = lx.open(tmp_path / 'd')
    assert ds['x'].read(0, 1000, 300) == text[1000:1300]
    assert ds['x'].read(0, 200_000, 1) != text[200_000:200_001]
    with pytest.raises(lx.CorruptError):
        lx.open(tmp_path / 'd', verify='always')['x'].read(0, 1000, 300)
    with pytest.raises(lx.CorruptError):
        ds['x'][0]


def test_parts_of_live_datasets(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int8', (None,))}) as writer:
        writer.append(x=[1, 2, 3])
    ds = lx.open(tmp_path / 'd', live=True)
    with lx.open(tmp_path / 'd', 'r+') as writer:
        writer[0] = {'x': [4, 5, 6, 7]}
    assert ds['x'].read(0, 2, 9).tolist() == [6, 7]
