# SPDX-License-Identifier: MIT
"""Random datasets, copied through Arrow."""

import os
import tempfile

# No example database: the directory of the tests may be read-only.
os.environ.setdefault('HYPOTHESIS_STORAGE_DIRECTORY',
                      os.path.join(tempfile.gettempdir(), f'hypothesis-{os.getuid()}'))

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st

import loaderx as lx

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', '25'))

FIELDS = {
    'flag': lx.Field('bool'),
    'number': lx.Field('int64'),
    'half': lx.Field('float16', (3,)),
    'image': lx.Field('uint8', (2, 3), compress='flate'),
    'bits': lx.Field('bool', (2, 5)),
    'none': lx.Field('int16', (4, 0)),
    'text': lx.Field(bytes),
}


def record(draw, name, field):
    if draw(st.integers(0, 4)) == 0:
        return None
    if field.dtype is bytes:
        return draw(st.binary(max_size=30))
    bits = draw(st.binary(min_size=64, max_size=64))
    size = int(np.prod(field.shape, dtype=int))
    if field.dtype == bool:
        return (np.frombuffer(bits, np.uint8)[:size] % 2 == 1).reshape(field.shape)
    return np.frombuffer(bits, field.dtype, size).reshape(field.shape)


class OnlyArray:
    """A table that exports no stream."""

    def __init__(self, table):
        self.__arrow_c_array__ = table.__arrow_c_array__


@st.composite
def records(draw):
    names = draw(st.lists(st.sampled_from(list(FIELDS)), min_size=1, unique=True))
    rows = [{name: record(draw, name, FIELDS[name]) for name in names}
            for _ in range(draw(st.integers(0, 20)))]
    return {name: FIELDS[name] for name in names}, rows


def make(path, fields, rows):
    with lx.create(path, fields, replace=True) as writer:
        for row in rows:
            writer.append(row)
    return lx.open(path)


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other):
        assert a.keys() == b.keys()
        for name in a:
            assert (a[name] is None) == (b[name] is None)
            assert a[name] is None or (np.asarray(a[name]).tobytes()
                                       == np.asarray(b[name]).tobytes())


@settings(max_examples=EXAMPLES, deadline=None)
@given(made=records(), data=st.data())
def test_round_trip(made, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp('arrow')
    fields, rows = made
    ds = make(folder / 'from', fields, rows)
    indices = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=30) if rows
                        else st.just([]))
    for which in (None, indices):
        wanted = rows if which is None else [rows[i] for i in which]
        exported = ds.to_arrow(which)
        assert len(exported) == len(wanted)
        # import_arrow() reads the stream, extend() as well.
        count = lx.import_arrow(exported, folder / 'to', fields=fields, progress=False)
        assert count == len(wanted)
        with lx.open(folder / 'to', 'a') as writer:
            assert writer.extend(exported) == len(wanted)
        same(list(lx.open(folder / 'to')), wanted + wanted)
        lx.remove(folder / 'to')
        # The array instead of the stream.
        with lx.create(folder / 'to', fields) as writer:
            assert writer.extend(OnlyArray(exported)) == 0
        same(list(lx.open(folder / 'to')), wanted)
        lx.remove(folder / 'to')


