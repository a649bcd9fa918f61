# SPDX-License-Identifier: MIT
"""loaderx.torch.default_collate makes what torch's makes, and fails as torch's fails."""

import collections

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx.torch as lt
from torch_cases import SETTINGS
from torch_loaders import outcome, same

# torch itself warns so, for scalars of bool
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
def test_of_like_items(item, count):
    check([item] * count)


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
    [{1, 2}], [object], [], (), 5, 'text', {}, torch.zeros(3), range(3), [range(3), range(3)],
], ids=repr)
def test_of_these(batch):
    check(batch)


def test_the_batch_has_memory_of_its_own():
    item = np.zeros(3)
    made = lt.default_collate([item, item])
    made[0] += 1
    assert item.sum() == 0 and made[1].sum() == 0


def test_what_users_add_to_torchs_rules_counts(monkeypatch):
    rules = getattr(data._utils.collate, 'default_collate_fn_map', None)
    if rules is None:
        pytest.skip('this torch has no rules to add to')
    monkeypatch.setitem(rules, int, lambda batch, *, collate_fn_map=None: sum(batch))
    assert lt.default_collate([{'a': 1}, {'a': 4}]) == {'a': 5}
