# SPDX-License-Identifier: MIT
"""Changes of records: modify, delete, truncate, copy, and rejected calls."""

import os
import random

import numpy as np
import pytest

import loaderx as lx

FIELDS = {'x': lx.Field('int64'), 'v': lx.Field('float32', (2, 3)),
          'text': lx.Field(bytes, compress='flate')}
N = 20


def record(i):
    return {'x': i, 'v': np.full((2, 3), i, np.float32), 'text': b'text %d' % i * 9}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'dataset'
    with lx.create(path, FIELDS) as writer:
        for i in range(N):
            writer.append(record(i))
    return path


def numbers(path):
    with lx.open(path) as dataset:
        return dataset['x'][:].tolist()


def same(got, wanted):
    return (got['x'] == wanted['x'] and got['text'] == wanted['text']
            and (got['v'] is wanted['v'] or np.array_equal(got['v'], wanted['v'])))


# ---- one record


def test_some_fields_of_a_record(path):
    with lx.open(path, mode='r+') as writer:
        writer[7] = {'x': 70}
        writer[-1] = {'text': b'last', 'x': np.int64(-5)}
        writer[np.int64(3)] = {'v': None}
        writer.modify(4, x=40, text=None)
        writer.modify(5, {'v': np.zeros((2, 3), np.float32)})
        writer[6] = {}
    with lx.open(path) as dataset:
        expected = {i: record(i) for i in range(N)}
        expected[7]['x'] = 70
        expected[19].update(text=b'last', x=-5)
        expected[3]['v'] = None
        expected[4].update(x=40, text=None)
        expected[5]['v'] = np.zeros((2, 3))
        assert all(same(dataset[i], expected[i]) for i in range(N))
        dataset.verify()


def test_changes_uncommitted_records(path):
    with lx.create(path.parent / 'new', FIELDS) as writer:
        assert writer.append(record(0)) == 0
        writer[0] = {'x': 1}
        writer[-1] = {'text': b'b'}
        assert writer.delete(0) is None and len(writer) == 0
        writer.append(record(5))
        writer[0] = {'x': 9}
    assert numbers(path.parent / 'new') == [9]


def test_an_old_view_keeps_the_old_value(path):
    with lx.open(path) as dataset:
        views = dataset.views([2], fields=['v'])
        with lx.open(path, mode='r+') as writer:
            writer[2] = {'v': np.zeros((2, 3), np.float32)}
        assert np.array_equal(views['v'][0], record(2)['v'])
        assert np.array_equal(dataset[2]['v'], record(2)['v'])
        assert dataset.refresh() and np.array_equal(dataset[2]['v'], np.zeros((2, 3)))
        assert np.array_equal(views['v'][0], record(2)['v'])


# ---- several


def mask_of(*indices):
    mask = np.zeros(N, bool)
    mask[list(indices)] = True
    return mask


@pytest.mark.parametrize('key, indices', [
    (slice(10, 13), [10, 11, 12]),
    (slice(12, 9, -1), [12, 11, 10]),
    ([3, -1, 5], [3, 19, 5]),
    (np.array([5, 3, 4], np.uint8), [5, 3, 4]),
    (mask_of(1, 2, 8), [1, 2, 8]),
    (range(3), [0, 1, 2]),
])
def test_several_records_by_columns(path, key, indices):
    with lx.open(path, mode='r+') as writer:
        writer[key] = {'x': [100, 101, 102], 'text': [b'a', None, b'c']}
    with lx.open(path) as dataset:
        assert dataset['x'][indices].tolist() == [100, 101, 102]
        assert dataset['text'][indices] == [b'a', None, b'c']
        others = np.setdiff1d(range(N), indices)
        assert dataset['x'][others].tolist() == others.tolist()
        assert np.array_equal(dataset['v'][:], np.stack([record(i)['v'] for i in range(N)]))


def test_one_value_for_several_records(path):
    with lx.open(path, mode='r+') as writer:
        writer[[1, 2, 3]] = {'x': 7, 'text': b'same', 'v': np.ones((2, 3), np.float32)}
        writer[4:6] = {'x': np.int32(8), 'text': None, 'v': None}
        writer.modify(slice(18, None), x=True)
    with lx.open(path) as dataset:
        assert dataset['x'][1:6].tolist() == [7, 7, 7, 8, 8]
        assert dataset['text'][1:6] == [b'same'] * 3 + [None] * 2
        assert (dataset['v'][1:4] == 1).all() and not dataset['v'].present([4, 5]).any()
        assert dataset['x'][18:].tolist() == [1, 1]


def test_the_last_of_the_same_index_applies(path):
    with lx.open(path, mode='r+') as writer:
        writer[[4, 4, 4]] = {'x': [1, 2, 3]}
        writer[[]] = {'x': []}
        writer[5:5] = {'x': 3}
    assert numbers(path) == [*range(4), 3, *range(5, N)]


# ---- delete


def delete(model, index):
    """Delete by swap: the last record moves to the index."""
    last = model.pop()
    if index < len(model):
        model[index] = last


def test_the_last_record_replaces_a_deleted_one(path):
    with lx.open(path, mode='r+') as writer:
        assert writer.delete(5) == 19
        assert writer.delete(-1) is None
        del writer[0]
        assert len(writer) == N - 3
    assert numbers(path) == [17, 1, 2, 3, 4, 19, *range(6, 17)]


def check_several(path, length, key, indices):
    """Delete records; check the remaining records and the returned moves."""
    with lx.create(path, {'x': lx.Field('int64')}) as writer:
        writer.extend(x=range(length))
        moved = writer.delete(key)
        assert len(writer) == length - len(indices)
    left = numbers(path)
    assert sorted(left) == [i for i in range(length) if i not in indices]
    expected = np.arange(len(left))
    expected[moved[:, 1]] = moved[:, 0]
    assert left == expected.tolist()
    assert moved.dtype == np.int64 and set(moved[:, 1]) <= indices


@pytest.mark.parametrize('key, indices', [
    (slice(10, 20), range(10, 20)),
    (slice(5, 8), [5, 6, 7]),
    (slice(None), range(N)),
    (slice(0, 0), []),
    ([3, 3, -17, 18, 4], [3, 18, 4]),
    ([19, 17, 2], [2, 17, 19]),
    (np.array([8, 2]), [2, 8]),
    (mask_of(0, 10, 19), [0, 10, 19]),
])
def test_several_are_deleted(tmp_path, key, indices):
    check_several(tmp_path / 'd', N, key, set(indices))


def test_deletes_any_set_of_records(tmp_path):
    draw = random.Random(7)
    for round in range(40):
        length = draw.randrange(1, 30)
        indices = draw.sample(range(length), draw.randrange(length + 1))
        check_several(tmp_path / str(round), length, indices, set(indices))


def test_many_are_deleted(tmp_path):
    keep = np.arange(20000) % 7 == 0
    check_several(tmp_path / 'd', 20000, ~keep, set(np.flatnonzero(~keep).tolist()))


def test_del_of_several(path):
    with lx.open(path, mode='r+') as writer:
        del writer[2:18]
    assert sorted(numbers(path)) == [0, 1, 18, 19]


def test_keeps_records_appended_meanwhile(tmp_path):
    """Another thread may append records after the length was read and before the deletion."""
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        class Last:
            def __len__(self):
                return 2

            def __getitem__(self, i):
                if i == 0:
                    writer.append(x=100)
                return range(8, 10)[i]

        writer.extend(x=range(10))
        assert writer.delete(Last()).tolist() == [[10, 8]]
    assert numbers(tmp_path / 'd') == [0, 1, 2, 3, 4, 5, 6, 7, 100]


# ---- truncate, copy


def test_truncate(path):
    with lx.open(path, mode='r+') as writer:
        writer.truncate(N)
        writer.truncate(5)
        assert len(writer) == 5
        writer.append(record(50))
        with pytest.raises(ValueError, match='truncate to 7 records: the dataset has only 6'):
            writer.truncate(7)
        for wrong, error in [(-1, ValueError), ('3', TypeError), (True, TypeError),
                             (np.bool_(True), TypeError)]:
            with pytest.raises(error, match='length'):
                writer.truncate(wrong)
        assert len(writer) == 6
    assert numbers(path) == [0, 1, 2, 3, 4, 50]
    with lx.open(path, mode='r+') as writer:
        writer.truncate(0)
    assert numbers(path) == []


def test_copy_from_another_and_from_itself(path):
    other = path.parent / 'other'
    fields = {'text': lx.Field(bytes, compress='flate'), 'more': lx.Field('uint8'),
              'x': lx.Field('int64')}
    with lx.open(path) as source, lx.create(other, fields) as writer:
        writer.append(text=b'mine', more=3, x=-1)
        both = ['x', 'text']
        assert writer.copy(source, [3, -1, 3], fields=both) == 1
        assert writer.copy(source, fields=both) == 4
        assert writer.copy(dataset=source, indices=slice(2, 4), fields=both) == 4 + N
        assert writer.copy(source, source['x'][:] == 7, fields=both) == 6 + N
    with lx.open(other) as dataset:
        assert dataset['x'][:].tolist() == [-1, 3, 19, 3, *range(N), 2, 3, 7]
        assert dataset['text'][1] == record(3)['text']
        assert dataset['more'].present().tolist() == [True] + [False] * (N + 6)
        with lx.open(other, mode='a') as writer:
            assert writer.copy(dataset, [0, 1]) == N + 7
    assert numbers(other)[-2:] == [-1, 3]


def test_copies_highly_compressible_values(tmp_path):
    """Values of up to 8 bytes are inline, unless they are a Deflate stream."""
    fields = {'text': lx.Field(bytes, compress='flate'), 'v': lx.Field('u1', 50, compress='flate')}
    texts = [None, b'', b'a' * 8, b'a' * 9, b'a' * 40, b'ab' * 500, os.urandom(30)]
    with lx.create(tmp_path / 'a', fields) as writer:
        writer.extend(text=texts, v=np.zeros((7, 50), np.uint8))
    for compress in ('flate', 'raw'):
        kinds = {'text': lx.Field(bytes, compress=compress), 'v': fields['v']}
        with lx.open(tmp_path / 'a') as source, lx.create(tmp_path / compress, kinds) as writer:
            for i in range(7):
                writer.copy(source, [i])
        with lx.open(tmp_path / compress) as dataset:
            assert dataset['text'][:] == texts and not dataset['v'][:].any()
            dataset.verify()


@pytest.mark.parametrize('arguments, error, named', [
    (('path',), TypeError, 'dataset'),
    ((), TypeError, 'dataset'),
    (('source', [N]), IndexError, str(N)),
    (('source', 'all'), TypeError, 'indices'),
    (('source', None, 3), TypeError, 'copy'),
])
def test_arguments_of_copy(path, arguments, error, named):
    with lx.open(path) as source, lx.open(path, mode='a') as writer:
        arguments = tuple(source if a == 'source' else a for a in arguments)
        with pytest.raises(error, match=named):
            writer.copy(*arguments)
        assert len(writer) == N


def test_rejects_copies_of_fields_that_do_not_match(path):
    with lx.create(path.parent / 'other', {'x': lx.Field('int32')}) as writer:
        with lx.open(path) as source, pytest.raises(ValueError, match="'x'.*dtype or shape"):
            writer.copy(source, fields=['x'])
    with lx.create(path.parent / 'third', {'y': lx.Field('int32')}) as writer:
        with lx.open(path) as source, pytest.raises(ValueError, match='lacks the field'):
            writer.copy(source)
        source.close()
        with pytest.raises(lx.LoaderxError, match='closed'):
            writer.copy(source)


def test_copies_the_chosen_fields_and_drops_none_in_silence(path):
    with lx.create(path.parent / 'other', {'x': lx.Field('int64')}) as writer, \
            lx.open(path) as source:
        for choice in None, ['x', 'text'], ['text']:
            with pytest.raises(ValueError, match="'(text|v)'.*lacks the field.*choose the fields"):
                writer.copy(source, fields=choice)
        assert len(writer) == 0
        assert writer.copy(source, [4, 1], fields=['x']) == 0
        with pytest.raises(KeyError, match='nothing'):
            writer.copy(source, fields=['nothing'])
        with pytest.raises(ValueError, match='no field'):
            writer.copy(source, fields=[])
    assert lx.open(path.parent / 'other')['x'][:].tolist() == [4, 1]


# ---- transactions


@pytest.mark.parametrize('error', [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_undoes_changes(path, error):
    with pytest.raises(error):
        with lx.open(path, mode='r+') as writer:
            writer[0] = {'x': 99}
            del writer[3]
            writer[5:8] = {'x': 0}
            writer.truncate(10)
            writer.append(record(1))
            raise error
    assert numbers(path) == list(range(N))


def test_rollback_undoes_changes(path):
    writer = lx.open(path, mode='r+')
    writer[0] = {'x': 99}
    writer.commit()
    writer[1] = {'x': 99}
    writer.delete(2)
    writer.rollback()
    assert len(writer) == N
    writer.close()
    assert numbers(path) == [99, *range(1, N)]


def test_effects_are_in_the_order_of_the_calls(path):
    with lx.open(path, mode='r+') as writer:
        writer[3] = {'x': 1}
        writer.delete(3)            # record 19 moves to index 3
        writer[3] = {'x': -19}
        writer.append(record(7))    # index 19 again
        writer[19] = {'x': -7}
        writer.truncate(N)
    assert numbers(path) == [0, 1, 2, -19, *range(4, 19), -7]


# ---- rejected calls


def test_mode_a_changes_nothing(path):
    with lx.open(path, mode='a') as writer:
        writer.append(record(N))
        for change in (lambda: writer.modify(0, x=1), lambda: writer.delete(0),
                       lambda: writer.truncate(3), lambda: writer.__setitem__(N, {'x': 1}),
                       lambda: writer.__delitem__([0])):
            with pytest.raises(lx.LoaderxError, match=r"r\+") as caught:
                change()
            assert caught.value.status == 'LX_ERR_STATE'
    assert numbers(path) == list(range(N + 1))


@pytest.mark.parametrize('key, values, error, named', [
    (0, 3, TypeError, 'dict'),
    (0, [1], TypeError, 'dict'),
    (0, {'y': 1}, KeyError, 'y'),
    (0, {3: 1}, TypeError, 'name'),
    (0, {'x': 'a'}, TypeError, 'x'),
    (0, {'x': 1.5}, TypeError, 'x'),
    (0, {'v': [1, 2]}, ValueError, 'v'),
    (0, {'text': 'a'}, TypeError, 'text'),
    (N, {'x': 1}, IndexError, str(N)),
    (-N - 1, {'x': 1}, IndexError, str(-N - 1)),
    (2 ** 70, {'x': 1}, IndexError, str(2 ** 70)),
    ('x', {'x': 1}, TypeError, 'records to change'),
    (1.5, {'x': 1}, TypeError, 'records to change'),
    (None, {'x': 1}, TypeError, 'records to change'),
    ([0, N], {'x': 1}, IndexError, str(N)),
    ([0, 1.5], {'x': 1}, TypeError, 'records to change'),
    ([True], {'x': 1}, IndexError, str(N)),
    (True, {'x': 1}, TypeError, 'records to change'),
    (np.bool_(True), {'x': 1}, TypeError, 'records to change'),
    ([0, np.bool_(True)], {'x': 1}, TypeError, 'records to change'),
    ([0, 1], {'x': [1, 2, 3]}, ValueError, 'values is 3, but the number of indices is 2'),
    ([0, 1], {'x': [1, 2], 'text': [b'a']}, ValueError, 'text'),
    ([0, 1], {'x': 'ab'}, TypeError, 'x'),
    ([0, 1], {'v': 3}, TypeError, 'v'),
    ([0, 1], {'x': 2 ** 63}, ValueError, 'x'),
    ([0, 1], {'v': np.ones((3, 2), np.float32)}, ValueError, 'v'),
    ([0, 1], {'v': np.ones((2, 3), np.float64)}, TypeError, 'v'),
    ([0, 1], {'text': ['a', 'b']}, TypeError, 'text'),
])
def test_rejects_invalid_changes_by_name(path, key, values, error, named):
    with lx.open(path, mode='r+') as writer:
        with pytest.raises(error, match=named):
            writer[key] = values
        if isinstance(values, dict):
            with pytest.raises(error, match=named):
                writer.modify(key, values)
    assert numbers(path) == list(range(N))


@pytest.mark.parametrize('key, error, named', [
    (N, IndexError, str(N)),
    ('x', TypeError, 'records to delete'),
    (None, TypeError, 'records to delete'),
    ([0, -N - 1], IndexError, str(-N - 1)),
    (np.zeros((2, 2), int), ValueError, 'axis'),
    (np.ones(3, bool), IndexError, '3'),
])
def test_rejects_invalid_deletes(path, key, error, named):
    with lx.open(path, mode='r+') as writer:
        with pytest.raises(error, match=named):
            writer.delete(key)
        with pytest.raises(error, match=named):
            del writer[key]
    assert numbers(path) == list(range(N))


def test_rejects_invalid_calls_of_modify(path):
    with lx.open(path, mode='r+') as writer:
        for arguments, named in [((), {}), ((0, {}, {}), {}), ((0, {'x': 1}), {'x': 1}),
                                 ((0, 3), {})]:
            with pytest.raises(TypeError, match='modify'):
                writer.modify(*arguments, **named)


def test_rejects_a_name_that_changes(path):
    class Name(str):
        seen = 0

        def __hash__(self):
            return hash('x')

        def __eq__(self, other):
            Name.seen += 1
            return Name.seen == 1

    with lx.open(path, mode='r+') as writer:
        for index in (0, [0, 1]):
            Name.seen = 0
            with pytest.raises(KeyError, match='x'):
                writer.modify(index, {Name('y'): 5})
    assert numbers(path) == list(range(N))


def test_a_closed_writer_changes_nothing(path):
    writer = lx.open(path, mode='r+')
    writer.close()
    for change in (lambda: writer.modify(0, x=1), lambda: writer.delete(0),
                   lambda: writer.truncate(3), lambda: writer.modify([0], x=1),
                   lambda: writer.delete([0]), lambda: writer.commit(wait=False)):
        with pytest.raises(lx.LoaderxError, match='closed'):
            change()


def test_tolerates_a_dict_that_its_values_change(path):
    values = {'x': None, 'text': None}

    class Sly(list):
        def __iter__(self):
            values.clear()
            return iter([b'a', b'b'])

    values['text'] = Sly([1, 2])
    with lx.open(path, mode='r+') as writer:
        writer[[0, 1]] = values
    with lx.open(path) as dataset:
        assert dataset['text'][:2] == [b'a', b'b']
