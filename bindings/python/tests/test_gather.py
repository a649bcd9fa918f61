# SPDX-License-Identifier: MIT
"""gather() into the caller's memory, which is checked before it is written."""

import array
import mmap

import numpy as np
import pytest

import loaderx as lx

N = 200
DATA = np.random.default_rng(3).integers(0, 1 << 30, (N, 4, 2), np.int32)
LABELS = np.arange(N) * 3


@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp('gather') / 'd'
    with lx.create(path, {'data': lx.Field('int32', (4, 2)), 'label': lx.Field('int64'),
                          'text': lx.Field(bytes)}) as writer:
        writer.extend(data=DATA, label=LABELS, text=[b'x'] * N)
    with lx.open(path) as opened:
        yield opened


INDICES = [5, 3, -1, 3]


def test_fills_and_returns_given_arrays(dataset):
    out = np.zeros((4, 4, 2), np.int32)
    labels = np.zeros(4, np.int64)
    got = dataset.gather(INDICES, out={'data': out, 'label': labels})
    assert list(got) == ['data', 'label'] and got['data'] is out and got['label'] is labels
    assert np.array_equal(out, DATA[INDICES]) and np.array_equal(labels, LABELS[INDICES])


def test_allocates_fields_that_are_not_given(dataset):
    out = np.zeros((4, 4, 2), np.int32)
    got = dataset.gather(INDICES, ['text', 'label', 'data'], {'data': out})
    assert list(got) == ['text', 'label', 'data'] and got['data'] is out
    assert got['text'] == [b'x'] * 4 and np.array_equal(got['label'], LABELS[INDICES])
    assert got['label'].flags.owndata and got['label'].flags.writeable


def test_all_fields_by_default(dataset):
    assert list(dataset.gather(INDICES)) == ['data', 'label', 'text']
    assert list(dataset.gather(INDICES, fields=None, out=None)) == ['data', 'label', 'text']
    assert dataset.gather(INDICES, fields=[]) == {}
    assert list(dataset.gather(INDICES, fields=('label',))) == ['label']


def test_a_part_of_a_larger_array(dataset):
    out = np.full((3, 4, 4, 2), -1, np.int32)
    dataset.gather(INDICES, out={'data': out[1]})
    assert (out[0] == -1).all() and (out[2] == -1).all()
    assert np.array_equal(out[1], DATA[INDICES])


def test_other_objects_with_memory(dataset):
    labels = array.array('q', [0] * 4)
    dataset.gather(INDICES, out={'label': labels})
    assert labels.tolist() == LABELS[INDICES].tolist()
    with mmap.mmap(-1, 32) as memory:
        shown = memoryview(memory).cast('q')
        dataset.gather(INDICES, out={'label': shown})
        assert shown.tolist() == LABELS[INDICES].tolist()
        shown.release()
    longs = np.zeros(4, np.longlong)      # the same type under another name
    dataset.gather(INDICES, out={'label': longs})
    assert longs.tolist() == LABELS[INDICES].tolist()


def read_only():
    values = np.zeros((4, 4, 2), np.int32)
    values.setflags(write=False)
    return values


@pytest.mark.parametrize('out, error, message', [
    (np.zeros((4, 4, 2), np.int64), TypeError, 'int64'),
    (np.zeros((4, 4, 2), '>i4'), TypeError, 'dtype'),
    (np.zeros((4, 4, 2), np.float32), TypeError, 'float32'),
    (np.zeros((4, 4, 2), object), TypeError, 'object'),
    (np.zeros((3, 4, 2), np.int32), ValueError, r'\(3, 4, 2\).*\(4, 4, 2\)'),
    (np.zeros((5, 4, 2), np.int32), ValueError, 'shape'),
    (np.zeros((4, 2, 4), np.int32), ValueError, 'shape'),
    (np.zeros((4, 8), np.int32), ValueError, 'shape'),
    (np.zeros(32, np.int32), ValueError, 'shape'),
    (np.zeros((), np.int32), ValueError, 'shape'),
    (np.zeros((4, 4, 2), np.int32, order='F'), ValueError, 'contiguous'),
    (np.zeros((8, 4, 2), np.int32)[::2], ValueError, 'contiguous'),
    (np.zeros((4, 4, 2), np.int32)[::-1], ValueError, 'contiguous'),
    (read_only(), ValueError, 'read-only'),
    (bytes(128), TypeError, 'dtype'),
    (bytearray(128), TypeError, 'dtype'),
    ([[0] * 8] * 4, TypeError, 'list'),
    (None, TypeError, 'None'),
    (3, TypeError, 'int'),
])
def test_rejects_memory_that_does_not_fit(dataset, out, error, message):
    with pytest.raises(error, match=r"out\['data'\].*" + message):
        dataset.gather(INDICES, out={'data': out})


def test_rejects_other_invalid_arguments(dataset):
    out = np.zeros((4, 4, 2), np.int32)
    for arguments, options, error, named in [
            ((INDICES,), {'out': out}, TypeError, 'out'),
            ((INDICES,), {'out': {'nix': out}}, KeyError, 'nix'),
            ((INDICES, ['label']), {'out': {'data': out}}, ValueError, 'data'),
            ((INDICES,), {'out': {'text': out}}, ValueError, 'text'),
            ((INDICES,), {'fields': 'data'}, TypeError, 'fields'),
            ((INDICES,), {'fields': 3}, TypeError, 'fields'),
            ((INDICES,), {'fields': [3]}, TypeError, 'field'),
            ((), {}, TypeError, 'indices'),
            ((INDICES,), {'indices': INDICES}, TypeError, 'indices'),
            ((INDICES,), {'other': 1}, TypeError, 'other'),
            ((1, 2, 3, 4), {}, TypeError, 'gather'),
            ((3,), {}, TypeError, 'indices')]:
        with pytest.raises(error, match=named):
            dataset.gather(*arguments, **options)


def test_an_index_out_of_range_leaves_the_memory_alone(dataset):
    out = np.full((2, 4, 2), -1, np.int32)
    with pytest.raises(IndexError, match='200'):
        dataset.gather([0, N], out={'data': out})
    assert (out == -1).all()


def test_many_indices(dataset):
    indices = np.random.default_rng(1).integers(-N, N, 100_000)
    assert np.array_equal(dataset.gather(indices)['label'], LABELS[indices])
    indices[77_777] = N
    with pytest.raises(IndexError, match='200'):
        dataset.gather(indices)


def test_tolerates_indices_that_change_during_reads(dataset):
    class Changing:
        def __init__(self, numbers):
            self.numbers = numbers

        def __index__(self):
            self.numbers.clear()
            return 1

    numbers = []
    numbers.extend([Changing(numbers), Changing(numbers), 3])
    with pytest.raises(RuntimeError, match='indices'):
        dataset.gather(numbers)


def test_tolerates_names_that_disappear(dataset):
    """A subclass of str may change the dict during a comparison."""
    class Name(str):
        def __hash__(self):
            return hash('label')

        def __eq__(self, other):
            names.clear()
            return self.answer

    names = [Name('y'), *['label'] * 100]
    names[0].answer = True
    assert dataset.gather([1], names)['label'].tolist() == [3]
    names = {Name('y'): np.zeros(1, np.int64)}
    next(iter(names)).answer = False
    with pytest.raises(KeyError, match='y'):
        dataset.gather([1], ['label'], names)
