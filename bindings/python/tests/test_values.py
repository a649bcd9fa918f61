# SPDX-License-Identifier: MIT
"""Values that convert without loss are accepted, all others are rejected."""

import array

import numpy as np
import pytest

import loaderx as lx


def stored(tmp_path, field, values, method='extend'):
    """Store these values in one field; return the values that are read back."""
    with lx.create(tmp_path / 'd', {'x': field}) as writer:
        getattr(writer, method)(x=values)
    with lx.open(tmp_path / 'd') as dataset:
        return dataset['x'][:]


EXACT = np.arange(24, dtype=np.int32).reshape(4, 6)


@pytest.mark.parametrize('values', [
    EXACT,
    np.asfortranarray(EXACT),
    np.repeat(EXACT, 2, axis=1)[:, ::2],
    EXACT[::-1][::-1],
    EXACT.astype('>i4'),
    EXACT.astype('>i2'),
    EXACT.astype(np.uint8),
    EXACT.tolist(),
    [row for row in EXACT],
    tuple(map(tuple, EXACT.tolist())),
    memoryview(EXACT),
    EXACT.view(np.recarray),
])
def test_other_forms_of_the_same_numbers(tmp_path, values):
    got = stored(tmp_path, lx.Field('int32', 6), values)
    assert got.dtype == np.int32 and np.array_equal(got, EXACT)


def test_accepts_a_read_only_array(tmp_path):
    values = EXACT.copy()
    values.setflags(write=False)
    assert np.array_equal(stored(tmp_path, lx.Field('int32', 6), values), EXACT)


def test_an_array_of_the_standard_library(tmp_path):
    got = stored(tmp_path, lx.Field('float64'), array.array('f', [1.5, -2]))
    assert got.tolist() == [1.5, -2]


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'uint16', 'int64', 'uint64', 'float16',
                                   'float32', 'complex64', 'complex128'])
def test_every_type_comes_back(tmp_path, dtype):
    values = np.array([0, 1, 0, 1], dtype)
    for form in (values, values.astype(values.dtype.newbyteorder('>')), values[::-1][::-1]):
        path = tmp_path / str(id(form))
        path.mkdir()
        got = stored(path, lx.Field(dtype), form)
        assert got.dtype == values.dtype and got.tolist() == values.tolist()


@pytest.mark.parametrize('dtype, values, error', [
    ('uint8', np.arange(3), TypeError),                  # int64 may be larger
    ('float32', np.zeros(3), TypeError),
    ('int32', np.zeros(3, np.float32), TypeError),
    ('bool', np.zeros(3, np.uint8), TypeError),
    ('uint8', [0, 256], ValueError),
    ('uint8', [-1], ValueError),
    ('int64', [2 ** 63], ValueError),
    ('int64', [2 ** 70], ValueError),
    ('int64', [1.5], TypeError),
    ('float32', [1e300], ValueError),
    ('float16', [70000], ValueError),
    ('float64', [1j], TypeError),
    ('int64', ['3'], TypeError),
    ('int64', [b'3'], TypeError),
    ('int64', [[1], [2, 3]], ValueError),
    ('int64', 3, TypeError),
    ('int64', np.ma.masked_array([1, 2], [True, False]), TypeError),
    ('int64', np.zeros((3, 1), np.int64), ValueError),
    ('int64', (x for x in [1, 2]), TypeError),
    ('int64', np.zeros(3, 'datetime64[s]'), TypeError),
])
def test_rejects_values_that_do_not_fit_by_name(tmp_path, dtype, values, error):
    with lx.create(tmp_path / 'd', {'x': lx.Field(dtype)}) as writer:
        with pytest.raises(error, match="'x'"):
            writer.extend(x=values)
        assert len(writer) == 0


def test_numbers_of_python_need_only_fit(tmp_path):
    got = stored(tmp_path, lx.Field('float32'), [1, 2.5, True])
    assert got.tolist() == [1, 2.5, 1]
    (tmp_path / 'b').mkdir()
    assert stored(tmp_path / 'b', lx.Field('uint8'), [0, 255]).tolist() == [0, 255]
    (tmp_path / 'c').mkdir()
    special = stored(tmp_path / 'c', lx.Field('float16'), [float('inf'), float('nan')])
    assert np.isinf(special[0]) and np.isnan(special[1])


@pytest.mark.parametrize('value, dtype, shape', [
    (3, 'uint8', ()), (np.int32(3), 'int64', ()), (3.5, 'float32', ()), (True, 'bool', ()),
    (np.array(3, '>i8'), 'int64', ()), ([[1, 2], [3, 4]], 'int16', (2, 2)),
    (np.arange(8)[::2].reshape(2, 2), 'int64', (2, 2)), ([], 'float32', (0,)),
])
def test_one_record(tmp_path, value, dtype, shape):
    got = stored(tmp_path, lx.Field(dtype, shape), value, 'append')
    assert got.shape == (1, *shape) and np.array_equal(got[0], value)


@pytest.mark.parametrize('value, error', [
    (256, ValueError), (-1, ValueError), (1.0, TypeError), ('a', TypeError), ([1], ValueError),
    (np.int64(1), TypeError), (object(), TypeError), (np.zeros((), 'f4'), TypeError),
])
def test_rejects_a_record_that_does_not_fit(tmp_path, value, error):
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint8')}) as writer:
        with pytest.raises(error, match="'x'"):
            writer.append(x=value)
        assert len(writer) == 0


def test_missing_dense_records(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int32', 2), 'y': lx.Field('uint8')}) as writer:
        writer.extend(x=[[1, 2], None, [3, 4]], y=None)
        writer.append(x=None, y=7)
    with lx.open(tmp_path / 'd') as dataset:
        assert dataset['x'].present().tolist() == [True, False, True, False]
        assert dataset['y'].present([-1, 0]).tolist() == [True, False]
        assert dataset['x'].filled(0)[:].tolist() == [[1, 2], [0, 0], [3, 4], [0, 0]]
        assert dataset[1] == {'x': None, 'y': None}
        assert dataset[3] == {'x': None, 'y': 7}


BYTES = [b'', None, b'a', bytes(1000), b'\x00\xff', None, b'']


@pytest.mark.parametrize('compress', ['raw', 'flate'])
def test_distinguishes_missing_and_empty_bytes(tmp_path, compress):
    assert stored(tmp_path, lx.Field(bytes, compress=compress), BYTES) == BYTES


def test_forms_of_bytes(tmp_path):
    forms = [bytearray(b'ab'), memoryview(b'cd'), np.frombuffer(b'ef', np.uint8), np.bytes_(b'gh')]
    assert stored(tmp_path, lx.Field(bytes), tuple(forms)) == [b'ab', b'cd', b'ef', b'gh']
    (tmp_path / 'b').mkdir()
    objects = np.array([b'ab', None], object)
    assert stored(tmp_path / 'b', lx.Field(bytes), objects) == [b'ab', None]
    (tmp_path / 'c').mkdir()
    assert stored(tmp_path / 'c', lx.Field(bytes), iter([b'1', b'2'])) == [b'1', b'2']


@pytest.mark.parametrize('values, error', [
    (['text'], TypeError), ([1], TypeError), (b'ab', TypeError), ('ab', TypeError), (3, TypeError),
    (bytearray(b'ab'), TypeError), ([memoryview(b'abcd')[::2]], ValueError),
])
def test_rejects_other_than_lists_of_bytes(tmp_path, values, error):
    with lx.create(tmp_path / 'd', {'x': lx.Field(bytes)}) as writer:
        with pytest.raises(error, match="'x'"):
            writer.extend(x=values)
        assert len(writer) == 0


def test_raises_exceptions_of_the_iterator(tmp_path):
    def values():
        yield b'1'
        raise ZeroDivisionError
    with lx.create(tmp_path / 'd', {'x': lx.Field(bytes)}) as writer:
        with pytest.raises(ZeroDivisionError):
            writer.extend(x=values())


@pytest.mark.parametrize('dtype', ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32',
                                   'uint64'])
def test_the_bounds_of_every_integer(tmp_path, dtype):
    limits = np.iinfo(dtype)
    with lx.create(tmp_path / 'd', {'x': lx.Field(dtype)}) as writer:
        for value in (limits.min, limits.max, 0, 1):
            writer.append(x=value)
        for value in (limits.min - 1, limits.max + 1, 2 ** 70, -2 ** 70):
            with pytest.raises(ValueError, match="'x'"):
                writer.append(x=value)
    with lx.open(tmp_path / 'd') as dataset:
        assert dataset['x'][:].tolist() == [limits.min, limits.max, 0, 1]


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'complex64', 'complex128'])
def test_floats_one_by_one(tmp_path, dtype):
    values = [0.5, -1.25, float('inf'), 3, True]
    with lx.create(tmp_path / 'd', {'x': lx.Field(dtype)}) as writer:
        for value in values:
            writer.append(x=value)
    with lx.open(tmp_path / 'd') as dataset:
        assert dataset['x'][:].tolist() == values


# ---- casting


FLOAT = {'x': lx.Field('float32'), 'n': lx.Field('int8')}


def test_casting_has_the_meaning_of_numpy(tmp_path):
    x, n = np.array([0.1, 1e300]), np.array([1, 300])
    with lx.create(tmp_path / 'd', FLOAT) as writer:
        for rule in ('no', 'equiv', 'safe', None):
            with pytest.raises(TypeError, match="^field 'x'"):
                writer.extend(x=x, n=[1, 2], casting=rule)
            with pytest.raises(TypeError, match="^field 'x'"):
                writer.append({'x': x[0] if rule else x[0, ...], 'n': 1}, casting=rule)
        with pytest.raises(TypeError, match="^field 'n': float64 .* int8 .*'same_kind'"):
            writer.extend(x=x[:1], n=np.array([1.5]), casting='same_kind')
        with np.errstate(over='ignore'):
            writer.extend(x=x, n=n, casting='same_kind')
            writer.extend({'x': [None, 0.5], 'n': np.array([1.5, -1.5])}, casting='unsafe')
        writer.append(x=x[0], n=[1.5][0], casting='unsafe')
        writer.append(x=np.float32(1), n=np.int8(2), casting='no')
        writer.append({'x': 1.5, 'n': 3}, casting='safe')    # Python numbers have no dtype
        with pytest.raises(ValueError, match='300 does not fit'):
            writer.append(x=1, n=300, casting='same_kind')
    dataset = lx.open(tmp_path / 'd')
    assert np.array_equal(dataset['x'].filled('zeros')[:], np.float32(
        [0.1, np.inf, 0, 0.5, 0.1, 1, 1.5]))
    assert dataset['n'][:].tolist() == [1, 44, 1, -1, 1, 2, 3]
    assert dataset['x'].present().tolist() == [True, True, False] + [True] * 4


@pytest.mark.parametrize('casting, error', [('exact', ValueError), (1, TypeError)])
def test_rejects_other_casting_rules(tmp_path, casting, error):
    with lx.create(tmp_path / 'd', FLOAT) as writer:
        for method, values in (('append', (1, 1)), ('extend', ([1], [1]))):
            with pytest.raises(error, match="casting must be 'no', 'equiv'.*'unsafe', not"):
                getattr(writer, method)(x=values[0], n=values[1], casting=casting)
        writer.append(x=1, n=1)
        for index, n in ((0, 1), ([0], [1])):
            with pytest.raises(error, match="casting must be 'no', 'equiv'.*'unsafe', not"):
                writer.modify(index, n=n, casting=casting)


def test_modify_has_casting(tmp_path):
    with lx.create(tmp_path / 'd', FLOAT) as writer:
        writer.extend(x=[0] * 6, n=[0] * 6)
        for index, x in ((0, np.float64(0.1)), (slice(2), np.array([0.1, 0.2])),
                         ([1, 2], np.float64(1))):
            with pytest.raises(TypeError, match="^field 'x'"):
                writer.modify(index, x=x, casting='safe')
        with pytest.raises(TypeError, match='argument casting of append.., extend.. and modify..'):
            writer[:2] = {'x': np.array([0.1, 0.2])}
        writer.modify(0, {'x': np.float64(0.1)}, casting='same_kind')
        writer.modify(slice(1, 3), x=np.array([0.2, 0.3]), casting='same_kind')
        writer.modify([3, 4], {'x': np.float64(0.4), 'n': np.float64(1.5)}, casting='unsafe')
        writer.modify(5, n=7, casting=None)
    dataset = lx.open(tmp_path / 'd')
    assert np.array_equal(dataset['x'].filled('zeros')[:], np.float32([0.1, 0.2, 0.3, 0.4, 0.4, 0]))
    assert dataset['n'][:].tolist() == [0, 0, 0, 1, 1, 7]


def test_a_field_may_be_named_casting(tmp_path):
    fields = {'casting': lx.Field('float32'), 'n': lx.Field('int8')}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.extend(casting=[1, 2], n=[3, 4])
        writer.append(casting=5, n=6)
        writer.append({'casting': np.float64(0.1), 'n': 7}, casting='same_kind')
        writer.modify(0, casting=8)
        writer.modify(1, {'casting': np.float64(0.1)}, casting='same_kind')
    few = np.float32(0.1)
    assert lx.open(tmp_path / 'd')['casting'][:].tolist() == [8, few, 5, few]


# ---- tables and tensors of other libraries

TABLE = {'x': lx.Field('float32'), 'n': lx.Field('int64', 2), 'text': lx.Field(bytes)}


def extended(path, *arguments, fields=TABLE, **named):
    """Return the records of a new dataset that extend() fills."""
    with lx.create(path, fields, replace=True) as writer:
        assert writer.extend(*arguments, **named) == 0
    with lx.open(path) as dataset:
        return list(dataset)


def test_a_list_of_dicts(tmp_path):
    rows = [{'x': 1, 'n': [2, 3], 'text': b'a'}, {'n': np.array([4, 5]), 'text': None, 'x': None}]
    got = extended(tmp_path / 'd', rows)
    assert [record['x'] for record in got] == [1, None]
    assert [record['n'].tolist() for record in got] == [[2, 3], [4, 5]]
    assert [record['text'] for record in got] == [b'a', None]


@pytest.mark.parametrize('table, error, words', [
    ([], ValueError, 'argument of extend.* is empty'), ('text', TypeError, 'not str'),
    ([1], TypeError, 'must be a dict of values by field, a list of dicts'),
    ([{'x': 1, 'n': [2, 3], 'text': b''}, 5], TypeError, 'record 1 of .* not int'),
    ([{'x': 1, 'n': [2, 3], 'text': b''}, {'x': 1}], ValueError, r"record 1 .*\['x'\].*'text'"),
    ([{'x': 1}], TypeError, "'n' has no value"),
], ids=repr)
def test_rejects_other_tables(tmp_path, table, error, words):
    with lx.create(tmp_path / 'd', TABLE) as writer:
        with pytest.raises(error, match=words):
            writer.extend(table)
        assert len(writer) == 0


def test_the_arrays_of_an_npz_file(tmp_path):
    arrays = {'x': np.float32([1, 2]), 'n': np.arange(4).reshape(2, 2)}
    np.savez(tmp_path / 'arrays.npz', **arrays)
    fields = {name: TABLE[name] for name in arrays}
    with np.load(tmp_path / 'arrays.npz') as loaded:
        got = extended(tmp_path / 'd', loaded, fields=fields)
    assert [record['x'] for record in got] == [1, 2] and got[1]['n'].tolist() == [2, 3]


def test_tensors(tmp_path):
    torch = pytest.importorskip('torch')
    fields = {name: TABLE[name] for name in ('x', 'n')}
    columns = {'x': torch.ones(2), 'n': torch.arange(4).reshape(2, 2)}
    got = extended(tmp_path / 'd', columns, fields=fields)
    assert [record['n'].tolist() for record in got] == [[0, 1], [2, 3]]
    rows = [{'x': torch.tensor(5.), 'n': torch.arange(2)}, {'x': 1, 'n': torch.arange(2)}]
    assert [record['x'] for record in extended(tmp_path / 'd', rows, fields=fields)] == [5, 1]
    with lx.open(tmp_path / 'd', 'a') as writer:
        writer.append(x=torch.tensor(1.), n=torch.arange(2))
        for wrong, words in ((torch.ones(2, requires_grad=True), 'detach'),
                             (torch.ones(2, dtype=torch.float64), 'without loss')):
            with pytest.raises(TypeError, match=f"^field 'x'.*{words}"):
                writer.extend(x=wrong, n=torch.arange(4).reshape(2, 2))


def test_a_dataframe(tmp_path):
    pandas = pytest.importorskip('pandas')
    frame = pandas.DataFrame({
        'x': np.float32([1, np.nan]), 'text': [b'a', None],
        'n': pandas.array([7, None], dtype='Int64')})
    fields = {**TABLE, 'n': lx.Field('int64')}
    first, second = extended(tmp_path / 'd', frame, fields=fields)
    assert first == {'x': 1, 'n': 7, 'text': b'a'}
    assert np.isnan(second['x']) and second['n'] is None and second['text'] is None
    with lx.open(tmp_path / 'd', 'a') as writer:
        with pytest.raises(TypeError, match="'text'.*encode"):
            writer.extend(frame.assign(text=pandas.Series(['a', 'b'], dtype=object)))
        with pytest.raises(ValueError, match='several columns of the same name'):
            writer.extend(pandas.concat([frame, frame], axis=1))
