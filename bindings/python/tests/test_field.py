# SPDX-License-Identifier: MIT
"""Fields: valid and invalid arguments, and attributes."""

import numpy as np
import pytest

import loaderx as lx


@pytest.mark.parametrize('name', ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16',
                                  'uint32', 'uint64', 'float16', 'float32', 'float64',
                                  'complex64', 'complex128'])
def test_types_have_the_names_of_numpy(name):
    assert lx.Field(name).dtype == np.dtype(name)
    assert lx.Field(np.dtype(name)) == lx.Field(name)
    assert repr(lx.Field(name)) == f"Field('{name}')"


def test_types_of_python():
    assert lx.Field(bytes).dtype is bytes and lx.Field('bytes') == lx.Field(bytes)
    assert lx.Field(float).dtype == np.float64
    assert lx.Field(np.uint8, 3).shape == (3,)


def test_stores_little_endian():
    assert lx.Field('>i4').dtype.str in ('<i4', '=i4')
    assert lx.Field('>i4') == lx.Field('<i4')


def test_shape_takes_integers_of_numpy():
    field = lx.Field('uint8', (np.int64(28), 28))
    assert field.shape == (28, 28) and all(type(extent) is int for extent in field.shape)


def test_repr_shows_the_constructor_call():
    for field in (lx.Field('uint8', (28, 28)), lx.Field(bytes, compress='flate'), lx.Field('bool')):
        assert eval(repr(field), {'Field': lx.Field, 'bytes': bytes}) == field


def test_equal_fields_have_equal_hashes():
    assert len({lx.Field('f4', 2), lx.Field('float32', (2,)), lx.Field('f4', 3)}) == 2
    assert lx.Field('f4') != 'f4'


@pytest.mark.parametrize('arguments, error, named', [
    (('U5',), ValueError, 'dtype'),
    (('datetime64',), ValueError, 'dtype'),
    ((object,), ValueError, 'dtype'),
    (('nonsense',), TypeError, 'dtype'),
    ((None,), TypeError, 'dtype'),
    (('f4', 'ab'), TypeError, 'shape'),
    (('f4', 2.5), TypeError, 'shape'),
    (('f4', True), TypeError, 'shape'),
    (('f4', (2, np.bool_(True))), TypeError, 'shape'),
    (('f4', (2, -1)), ValueError, 'shape'),
    ((bytes, 3), ValueError, 'shape'),
    (('f4', (), 'zip'), ValueError, 'compress'),
    (('f4', (), 3), TypeError, 'compress'),
])
def test_rejects_invalid_arguments_by_name(arguments, error, named):
    with pytest.raises(error, match=named):
        lx.Field(*arguments)
