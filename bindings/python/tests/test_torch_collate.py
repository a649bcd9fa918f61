# SPDX-License-Identifier: MIT
"""loaderx.torch.default_collate returns the same results and raises the same errors as torch's."""

import collections

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx.torch as lt
from loaderx import _core
from torch_cases import SETTINGS
from torch_loaders import outcome, same

# torch itself warns, for bool scalars
pytestmark = pytest.mark.filterwarnings('ignore:In future, it will be an error')

Point = collections.namedtuple('Point', ['x', 'y'])
DTYPES = ['bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64',
          'complex64', 'complex128']


def leaves():
    shapes = st.sampled_from([(), (0,), (3,), (2, 3), (2, 0, 1)])
    arrays = st.builds(lambda dtype, shape, n: np.full(shape, n, dtype),
                       st.sampled_from(DTYPES), shapes, st.integers(0, 100))
    scalars = st.builds(lambda dtype, n: np.dtype(dtype).type(n), st.sampled_from(DTYPES),
                        st.integers(0, 100))
    return (arrays | scalars | st.integers() | st.floats(allow_nan=False) | st.booleans()
            | st.text(max_size=3) | st.binary(max_size=3) | st.none()
            | arrays.map(lambda one: torch.from_numpy(one.copy())))


ITEMS = st.recursive(leaves(), lambda below: (
    st.lists(below, max_size=3) | st.lists(below, max_size=3).map(tuple)
    | st.dictionaries(st.sampled_from('abc'), below, max_size=3)
    | st.dictionaries(st.sampled_from('abc'), below, max_size=3).map(collections.OrderedDict)
    | st.builds(Point, below, below)), max_leaves=5)


def check(batch):
    ours, theirs = (outcome(lambda f=f: f(batch))[0]
                    for f in (lt.default_collate, data.default_collate))
    assert same(ours, theirs), (ours, theirs)


@SETTINGS
@given(ITEMS, st.integers(1, 4))
def test_collates_items_of_one_kind(item, count):
    check([item] * count)


RECORDS = st.tuples(
    st.fixed_dictionaries({'n': st.integers(-2**63, 2**63), 'x': st.floats(allow_nan=False),
                           'text': st.text(max_size=2)}),
    st.lists(st.integers(), min_size=2, max_size=2),
    st.integers(0, 100).map(lambda n: np.full((2, 3), n, np.uint8)),
    st.integers(0, 100).map(np.float32))


@SETTINGS
@given(st.lists(RECORDS, min_size=1, max_size=9))
def test_of_records(records):
    check(records)
    check([{'all': list(record)} for record in records])


@SETTINGS
@given(st.lists(ITEMS, max_size=3) | st.lists(st.integers() | st.floats(allow_nan=False)))
def test_of_any_items(items):
    check(items)
    check(tuple(items))


@pytest.mark.parametrize('batch', [
    [2**63 - 1, -2**63], [2**63], [1, True], [True, 1], [1, 2.5], [2.5, 1], [1, 'a'], [1, None],
    [np.int32(3), np.int64(3)], [np.float32(3), 3.5], [np.uint16(3)] * 2, [np.str_('a')] * 2,
    [np.zeros(3), np.zeros(4)], [np.zeros(3), np.zeros(3, 'f4')], [np.zeros(3), 5],
    [np.zeros((2, 3)), np.zeros((3, 2))], [np.zeros(3, 'uint16')] * 2, [np.zeros(3, '>i4')] * 2,
    [np.zeros(3, object)] * 2, [np.zeros(3, 'S2')] * 2, [np.zeros(3, 'M8[s]')] * 2,
    [np.arange(6)[::2]] * 2, [np.arange(6)[::-1]] * 2, [np.zeros((3, 2), order='F')] * 2,
    [np.zeros(3).view(np.recarray)] * 2, [(1, 2), (3,)], [[1], [2, 3]], [(1, 2), 3],
    [{'a': 1}, {'b': 1}], [{'a': 1}, {'a': 1, 'b': 2}], [{}, {}], [(), ()], [[], []],
    [[], [None], np.array(False)], [{'a': 1}, collections.OrderedDict(a=2)], [(1, [2]), [3, (4,)]],
    [{'a': {'b': (1, 'x')}}, {'a': {'b': (2, 'y')}}], [{1: 2.5, None: 3}] * 2, [{'a': 1}, (1,)],
    [{1, 2}], [object], [], (), 5, 'text', {}, torch.zeros(3), range(3), [range(3), range(3)],
], ids=repr)
def test_x(batch):
    check(batch)


def test_the_batch_has_its_own_memory():
    item = np.zeros(3)
    made = lt.default_collate([item, item])
    made[0] += 1
    assert item.sum() == 0 and made[1].sum() == 0


def test_tolerates_items_that_change_meanwhile():
    """User code runs during collation, and removes later samples."""
    batch = [([1], 'x', [2]) for _ in range(3)]

    def leave(column):
        for one in batch:
            one[2].clear()
        batch.clear()
        return column

    made = _core.collate(batch, lambda array: array.tolist(), leave)
    assert made[:2] == [[[1, 1, 1]], ('x', 'x', 'x')] and made[2] == []
    dicts = [{'a': 'x', 'b': 1}, {'a': 'x', 'b': 1}]

    def forget(column):
        for one in dicts:
            one.pop('b', None)
        return column

    assert _core.collate(dicts, list, forget) == dicts


def test_rejects_a_batch_that_contains_itself():
    batch = []
    batch.append(batch)
    with pytest.raises(RecursionError):
        lt.default_collate(batch)


def test_applies_rules_that_users_add_to_torch(monkeypatch):
    rules = getattr(data._utils.collate, 'default_collate_fn_map', None)
    if rules is None:
        pytest.skip('this torch has no rules to add to')
    monkeypatch.setitem(rules, int, lambda batch, *, collate_fn_map=None: sum(batch))
    assert lt.default_collate([{'a': 1}, {'a': 4}]) == {'a': 5}
