# SPDX-License-Identifier: MIT
"""Changes of existing fields: defaults, and other types."""

import os

import numpy as np
import pytest

import loaderx as lx


def size_of(path):
    return sum(one.stat().st_size for one in path.rglob('*') if one.is_file())


@pytest.fixture
def path(tmp_path):
    fields = {'x': lx.Field('float64', (2,)), 't': lx.Field(bytes)}
    with lx.create(tmp_path / 'd', fields) as writer:
        writer.extend(x=[[0.5, 1], None, [2, 3]], t=[b'"a"', b'1', None])
    return tmp_path / 'd'


# ---- defaults


@pytest.mark.parametrize('field, default', [
    (lx.Field('int8'), -3), (lx.Field('float64', (3,)), [1, 2, 3]), (lx.Field(str), 'a' * 5000),
    (lx.Field('json', compress='flate'), {'a': ['x'] * 500}), (lx.Field(bytes), b''),
    (lx.Field('int32', (None, 2)), [[1, 2], [3, 4], [5, 6]]),
    (lx.Field('datetime64[s]'), np.datetime64(7, 's')), (lx.Field('float32', (0,)), []),
])
def test_existing_records_get_the_default(path, field, default):
    with lx.open(path, 'r+') as writer:
        writer.add_field('new', field, default=default)
        writer.append(x=None, t=None, new=None)
        writer[1] = {'new': None}
    ds = lx.open(path)
    wanted = default.tolist() if isinstance(default, np.generic) else default
    for i, present in enumerate([True, False, True, False]):
        value = ds['new'][i]
        value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        assert value == (wanted if present else None)
    ds.verify(progress=False)


def test_a_default_is_stored_once(path):
    with lx.open(path, 'r+') as writer:
        writer.extend(x=np.zeros((2000, 2)), t=[b'x'] * 2000)
    before = size_of(path)
    with lx.open(path, 'r+') as writer:
        writer.add_field('new', lx.Field(bytes), default=os.urandom(20_000))
    assert size_of(path) - before < 2003 * 24 + 40_000
    with lx.open(path, 'r+') as writer:
        writer.rebalance(progress=False)
    values = lx.open(path)['new'][:]
    assert len(set(values)) == 1 and len(values[0]) == 20_000


def test_a_wrong_default_adds_no_field(path):
    with lx.open(path, 'r+') as writer:
        for field, default, error in [(lx.Field('int8'), 300, ValueError),
                                      (lx.Field(str), b'\xff', ValueError),
                                      (lx.Field('int8', (2,)), 1, ValueError),
                                      (lx.Field(bytes), 'a', TypeError)]:
            with pytest.raises(error, match="'new'"):
                writer.add_field('new', field, default=default)
        assert list(writer.fields) == ['x', 't']
        with pytest.raises(ValueError, match="'x' already exists"):
            writer.add_field('x', lx.Field('int8'), default=1)


# ---- other types


def test_cast_arrays(path):
    with lx.open(path, 'r+') as writer:
        with pytest.raises(TypeError, match="'x' cannot be converted from .*float64.*float32"):
            writer.cast_field('x', 'float32')
        with pytest.raises(TypeError, match="casting='same_kind'"):
            writer.cast_field('x', 'int16', casting='same_kind')
        writer.cast_field('x', 'float32', casting='same_kind')
        assert writer.fields['x'] == lx.Field('float32', (2,))
    assert lx.open(path)['x'].filled('zeros')[:].tolist() == [[0.5, 1], [0, 0], [2, 3]]
    assert lx.open(path)['x'].present().tolist() == [True, False, True]
    with lx.open(path, 'r+') as writer:
        writer.cast_field('x', 'int16', casting='unsafe')
        writer.cast_field('x', 'int64')
        writer.append(x=[2**40, 1], t=None)
    ds = lx.open(path)
    assert ds['x'].filled('zeros')[:].tolist() == [[0, 1], [0, 0], [2, 3], [2**40, 1]]
    assert ds['t'][:] == [b'"a"', b'1', None, None] and list(ds.fields) == ['x', 't']
    ds.verify(progress=False)


def test_cast_shapes(path):
    with lx.open(path, 'r+') as writer:
        writer.cast_field('x', 'float64', shape=(None,))
        writer[1] = {'x': [4, 5, 6, 7]}
        writer.cast_field('x', 'float64', shape=(None, 2))
        assert writer.fields['x'].shape == (None, 2)
        with pytest.raises(ValueError, match=r"'x': a value of 32 bytes .* shape \(2, 1\)"):
            writer.cast_field('x', 'float64', shape=(2, 1))
        writer[1] = {'x': [[4, 5]]}
        writer.cast_field('x', 'float64', shape=(2, 1))
    assert lx.open(path)['x'][:].tolist() == [[[0.5], [1]], [[4], [5]], [[2], [3]]]


def test_cast_texts(path):
    with lx.open(path, 'r+') as writer:
        with pytest.raises(TypeError, match='cannot be converted'):
            writer.cast_field('t', str)
        writer.cast_field('t', 'json', casting='same_kind')
        assert lx.open(path)['t'][:] == ['a', 1, None]
        writer.cast_field('t', str)
        assert lx.open(path)['t'][:] == ['"a"', '1', None]
        writer.cast_field('t', bytes)
        writer.append(x=None, t=b'\xff')
        for kind in str, 'json':
            with pytest.raises(ValueError, match="'t', record 3"):
                writer.cast_field('t', kind, casting='same_kind')
        assert writer.fields['t'] == lx.Field(bytes)
    assert lx.open(path)['t'][:] == [b'"a"', b'1', None, b'\xff']


def test_cast_arrays_to_bytes_and_back(path):
    with lx.open(path, 'r+') as writer:
        with pytest.raises(TypeError, match='cannot be converted'):
            writer.cast_field('x', bytes, casting='same_kind')
        writer.cast_field('x', bytes, casting='unsafe')
        assert lx.open(path)['x'][:] == [np.array([0.5, 1]).tobytes(), None,
                                         np.array([2.0, 3]).tobytes()]
        with pytest.raises(ValueError, match='shape must be given'):
            writer.cast_field('x', 'float64', casting='unsafe')
        with pytest.raises(ValueError, match="'x': a value of 16 bytes .* have 24 bytes"):
            writer.cast_field('x', 'int64', shape=(3,), casting='unsafe')
        writer.cast_field('x', 'float64', shape=(2,), casting='unsafe')
    assert lx.open(path)['x'].filled('zeros')[:].tolist() == [[0.5, 1], [0, 0], [2, 3]]


@pytest.mark.parametrize('old, new', [('datetime64[s]', 'datetime64[ms]'), ('bool', 'uint8'),
                                      ('int32', 'float64'), ('float32', 'complex64')])
def test_safe_casts(tmp_path, old, new):
    values = np.array([0, 1, 1]).astype(old)
    with lx.create(tmp_path / 'd', {'x': lx.Field(old)}) as writer:
        writer.extend(x=values)
        writer.cast_field('x', new)
    assert lx.open(tmp_path / 'd')['x'][:].dtype == np.dtype(new)
    assert (lx.open(tmp_path / 'd')['x'][:] == values).all()


def test_cast_small_floats(tmp_path):
    pytest.importorskip('ml_dtypes')
    with lx.create(tmp_path / 'd', {'x': lx.Field('float32')}) as writer:
        writer.extend(x=[1, 0.3, None])
        writer.cast_field('x', 'bfloat16', casting='same_kind')
        assert lx.open(tmp_path / 'd')['x'][0] == 1
        writer.cast_field('x', 'float32')
    assert lx.open(tmp_path / 'd')['x'][1] == np.float32(0.30078125)


def test_cast_many_records(tmp_path):
    values = np.arange(30_000, dtype=np.int16)
    with lx.create(tmp_path / 'd', {'x': lx.Field('int16'), 'y': lx.Field('int16')},
                   chunk_records=7000) as writer:
        writer.extend(x=values, y=values)
    with lx.open(tmp_path / 'd', 'r+') as writer:
        writer.cast_field('x', 'float64')
    assert (lx.open(tmp_path / 'd')['x'][:] == values).all()
    with lx.open(tmp_path / 'd', 'r+') as writer:
        writer.rename_field('x', 'z')
    assert list(lx.open(tmp_path / 'd').fields) == ['z', 'y']


def test_readers_must_open_a_cast_field_again(path):
    ds = lx.open(path)
    with lx.open(path, 'r+') as writer:
        writer.cast_field('x', 'float32', casting='same_kind')
    assert ds['x'].filled('zeros')[:].dtype == np.float64    # the snapshot is still there
    with pytest.raises(lx.LoaderxError):
        ds.refresh()


@pytest.mark.parametrize('arguments, error, message', [
    (('no', 'int8'), KeyError, "'no' not found"),
    (('x', 'int9'), (TypeError, ValueError), 'dtype must be'),
    (('x', None), TypeError, 'dtype must not be None'),
])
def test_wrong_arguments(path, arguments, error, message):
    with lx.open(path, 'r+') as writer:
        with pytest.raises(error, match=message):
            writer.cast_field(*arguments)
        with pytest.raises(ValueError, match="casting must be one of 'safe'"):
            writer.cast_field('x', 'int8', casting='no')


def test_append_only_writers_cannot_cast(path):
    with lx.open(path, 'a') as writer:
        with pytest.raises(lx.LoaderxError):
            writer.cast_field('x', 'float32', casting='same_kind')
