# SPDX-License-Identifier: MIT
"""Orders by classes and by lengths, and splits. test_orders.py has the tests of all orders."""

import hashlib
import itertools
import os
import pickle
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
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 25)

# ---- classes


@SETTINGS
@given(st.lists(st.integers(-3, 6), min_size=1, max_size=60), st.integers(0, 2**64 - 1),
       st.integers(1, 90))
def test_classes_are_equally_frequent(labels, seed, n):
    labels = np.array(labels)
    order = lx.Balanced(labels, n=n, seed=seed)
    kinds = np.unique(labels)
    rounds = 3 * int(np.bincount(labels + 3).max())
    indices = order.take(rounds * len(kinds)).astype(int)
    for one in labels[indices].reshape(rounds, -1):
        assert np.array_equal(np.sort(one), kinds)
    for kind in kinds:    # each index occurs once before any repeats
        group = np.flatnonzero(labels == kind)
        given = indices[labels[indices] == kind]
        for i in range(0, len(given) - len(group) + 1, len(group)):
            assert np.array_equal(np.sort(given[i:i + len(group)]), group)


NAMES = ['cat', 'dog', 'cat', 'bird', 'dog', 'cat']
NUMBERS = [1, 2, 1, 0, 2, 1]    # the order of np.unique


@pytest.mark.parametrize('classes', [
    NAMES, tuple(NAMES), np.array(NAMES), [name.encode() for name in NAMES],
    np.array(NUMBERS, 'u1'), np.array(NUMBERS, '>i4'), np.array([n + 2**63 for n in NUMBERS], 'u8'),
    [10 * n - 500 for n in NUMBERS], np.array(NUMBERS, 'i8') - 10, np.repeat(NUMBERS, 3)[::3],
])
def test_classes_of_any_kind(classes):
    order = lx.Balanced(classes, seed=1)
    assert order.take(60).tolist() == lx.Balanced(NUMBERS, seed=1).take(60).tolist()
    other = pickle.loads(pickle.dumps(order))
    assert repr(other) == repr(order) and other.take(9).tolist() == order.take(9).tolist()


def test_two_classes_of_bools():
    indices = lx.Balanced(np.arange(100) < 3, n=50, seed=1).take(50)
    assert np.count_nonzero(indices < 3) == 25
    assert lx.Balanced([True, False, True], seed=1).take(4).tolist() \
        == lx.Balanced([1, 0, 1], seed=1).take(4).tolist()


def test_repr_of_grouped_orders():
    assert repr(lx.Balanced([5, -3], seed=1)) == 'Balanced([5, -3], n=2, seed=1)'
    assert repr(lx.Balanced(['a', 'b'], n=7)) == "Balanced(['a', 'b'], n=7, seed=0)"
    assert repr(lx.Bucketed([5, 3], batch=2, bucket=4, seed=1)) \
        == 'Bucketed([5, 3], batch=2, bucket=4, seed=1)'
    assert repr(lx.Bucketed([5, 3], batch=2)) == 'Bucketed([5, 3], batch=2, seed=0)'


def test_empty_groups():
    assert len(lx.Balanced([])) == len(lx.Bucketed([], batch=5)) == 0
    assert len(lx.Balanced(np.array([], 'U3'))) == 0
    with pytest.raises(ValueError, match='classes must not be empty'):
        lx.Balanced([], n=5)


# ---- lengths


@SETTINGS
@given(st.lists(st.integers(0, 50), max_size=200), st.integers(1, 12), st.integers(1, 5),
       st.integers(0, 2**64 - 1))
def test_batches_have_similar_lengths(lengths, batch, batches, seed):
    n, bucket = len(lengths), batch * batches
    order = lx.Bucketed(lengths, batch=batch, bucket=bucket, seed=seed)
    assert len(order) == n
    ranks = np.argsort(lengths, kind='stable')
    places = np.empty(n, int)
    places[ranks] = np.arange(n)
    for _ in range(2):
        indices = order.take(n).astype(int)
        assert sorted(indices) == list(range(n))
        for i in range(0, n, batch):
            # Batches do not cross buckets, except at the end of the last bucket.
            assert len(set(places[indices[i:i + batch]] // bucket)) == 1


def test_a_bucket_is_100_batches():
    lengths = np.random.default_rng(1).integers(0, 1000, 5000)
    assert lx.Bucketed(lengths, batch=7, seed=1).take(5000).tolist() \
        == lx.Bucketed(lengths, batch=7, bucket=700, seed=1).take(5000).tolist()
    by_bucket = np.sort(lengths)
    widest = max(np.ptp(by_bucket[i:i + 700]) for i in range(0, 5000, 700))
    with lx.Loader(lengths, order=lx.Bucketed(lengths, batch=7, seed=1), batch_size=7) as loader:
        assert max(np.ptp(batch['data']) for batch in loader) <= widest


# ---- splits


def test_each_index_is_in_exactly_one_split():
    one, two, three = lx.split(10_000, [0.8, 0.15, 0.05], seed=3)
    assert one.dtype == np.uint64 and one.flags.writeable
    assert np.array_equal(np.sort(np.concatenate([one, two, three])), np.arange(10_000))
    assert all(np.all(np.diff(part.astype(int)) > 0) for part in (one, two, three))
    for part, share in (one, 0.8), (two, 0.15), (three, 0.05):
        assert abs(len(part) - 10_000 * share) < 5 * np.sqrt(10_000 * share)
    assert not np.array_equal(one, lx.split(10_000, [0.8, 0.2], seed=4)[0])


def test_a_split_by_name():
    sets = lx.split(1000, {'train': 0.9, 'validation': 0.1}, seed=3)
    assert list(sets) == ['train', 'validation']
    assert all(map(np.array_equal, sets.values(), lx.split(1000, (0.9, 0.1), seed=3)))


def test_the_order_of_the_names_does_not_matter():
    fractions = {'train': 0.7, 'test': 0.2, 'älter': 0.1}
    expected = lx.split(1000, fractions, seed=3)
    for names in itertools.permutations(fractions):
        sets = lx.split(1000, {name: fractions[name] for name in names}, seed=3)
        assert list(sets) == list(names)
        assert all(np.array_equal(sets[name], expected[name]) for name in names)
    # rc1: in the order given, as without names
    old = lx.split(1000, fractions, seed=3, formula=1)
    assert all(map(np.array_equal, old.values(), lx.split(1000, [0.7, 0.2, 0.1], seed=3)))
    assert not np.array_equal(old['test'], expected['test'])
    for formula in 0, 3:
        with pytest.raises(ValueError, match='formula must be from 1 to 2'):
            lx.split(10, fractions, formula=formula)
    with pytest.raises(TypeError, match='a name must be a str, not 1'):
        lx.split(10, {1: 0.5})


def test_keys_that_are_texts_are_hashed_by_a_fixed_function():
    keys = [f'patient {i % 400}' for i in range(1000)]
    one, two = lx.split(keys, [0.5, 0.5], seed=1)
    assert len(one) + len(two) == 1000 and len(one) and len(two)
    assert not {keys[i] for i in one} & {keys[i] for i in two}
    for same in np.array(keys), [key.encode() for key in keys], tuple(keys):
        assert np.array_equal(lx.split(same, [0.5, 0.5], seed=1)[0], one)
    numbers = [int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), 'little')
               for key in keys]
    assert np.array_equal(lx.split(np.array(numbers, np.uint64), [0.5, 0.5], seed=1)[0], one)
    with pytest.raises(TypeError, match=r'n_or_keys\[1\] must be str, as the first key, not 3'):
        lx.split(['a', 3], [1])


@SETTINGS
@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 2**64 - 1),
       st.lists(st.integers(0, 100), min_size=1, max_size=12).filter(any))
def test_more_records_move_no_record(n, more, seed, fractions):
    fractions = [fraction / sum(fractions) for fraction in fractions]
    before, after = lx.split(n, fractions, seed=seed), lx.split(n + more, fractions, seed=seed)
    assert sorted(np.concatenate(after).tolist()) == list(range(n + more))
    for old, new in zip(before, after):
        assert np.array_equal(new[new < n], old)
    by_key = lx.split(range(n), fractions, seed=seed)
    assert all(map(np.array_equal, by_key, before))


def test_keeps_equal_keys_in_one_split():
    keys = np.random.default_rng(1).integers(-50, 50, 5000)
    one, two = lx.split(keys, [0.5, 0.5], seed=1)
    assert len(one) and len(two) and not set(keys[one]) & set(keys[two])
    for same in keys.tolist(), keys.astype('>i2'), keys.astype(np.int8):
        assert np.array_equal(lx.split(same, [0.5, 0.5], seed=1)[0], one)
    assert not np.array_equal(lx.split(keys, [0.5, 0.5], seed=2)[0], one)


def test_splits_may_leave_out_indices():
    some = lx.split(1000, [0.25, 0], seed=1)
    assert 100 < len(some[0]) < 400 and len(some[1]) == 0
    assert np.array_equal(lx.split(1000, [1.0])[0], np.arange(1000))
    assert lx.split(0, [0.5, 0.5])[1].shape == (0,)


@pytest.mark.parametrize('fractions', [[0.1] * 10, [1 / 3] * 3, [0.7, 0.2, 0.1], [1 / 49] * 49,
                                       [0.3333333333, 0.3333333333, 0.3333333334], [1, 0]])
def test_fractions_that_sum_to_about_1_cover_all(fractions):
    ends = lx.orders.grouped._add_up([float(fraction) for fraction in fractions])
    assert ends[-1] == 1 and sorted(ends) == ends


def test_an_order_of_a_split():
    sets = lx.split(500, {'train': 0.9, 'validation': 0.1}, seed=3)
    order = lx.Subset(sets['train'], seed=1)
    assert sorted(order.take(len(order)).tolist()) == sets['train'].tolist()


# ---- wrong arguments


@pytest.mark.parametrize('call, error, word', [
    (lambda: lx.Balanced(5), TypeError, 'classes'),
    (lambda: lx.Balanced('abc'), TypeError, 'classes'),
    (lambda: lx.Balanced([1.5, 2]), TypeError, 'classes must be integers, strings or bytes'),
    (lambda: lx.Balanced([None, 2]), TypeError, 'classes must be'),
    (lambda: lx.Balanced(np.zeros((2, 2), int)), ValueError, 'classes must have one axis'),
    (lambda: lx.Balanced([1], n=-1), ValueError, 'n must'),
    (lambda: lx.Balanced([1], seed=2**64), ValueError, 'seed'),
    (lambda: lx.Bucketed(5, batch=1), TypeError, 'lengths'),
    (lambda: lx.Bucketed([-1], batch=1), ValueError, r'lengths\[0\]'),
    (lambda: lx.Bucketed([1.0], batch=1), TypeError, r'lengths\[0\]'),
    (lambda: lx.Bucketed([1], batch=0), ValueError, 'batch'),
    (lambda: lx.Bucketed([1], batch=2**60), ValueError, 'batch'),
    (lambda: lx.Bucketed([1], batch=4, bucket=6), ValueError,
     r'bucket must be a multiple of batch \(4\), not 6'),
    (lambda: lx.Bucketed([1], batch=4, bucket=0), ValueError, 'bucket'),
    (lambda: lx.Bucketed([1], batch=4, seed=1.0), TypeError, 'seed'),
    (lambda: lx.split(-1, [1]), ValueError, 'n_or_keys'),
    (lambda: lx.split(1.5, [1]), TypeError, 'n_or_keys'),
    (lambda: lx.split(None, [1]), TypeError, 'n_or_keys'),
    (lambda: lx.split('abc', [1]), TypeError, 'n_or_keys'),
    (lambda: lx.split([1, 0.5], [1]), TypeError, r'n_or_keys\[1\]'),
    (lambda: lx.split([1, 2**64], [1]), ValueError, r'n_or_keys\[1\]'),
    (lambda: lx.split(np.zeros(3), [1]), TypeError, 'n_or_keys must be ints'),
    (lambda: lx.split(np.zeros((3, 2), int), [1]), ValueError, 'n_or_keys must have one axis'),
    (lambda: lx.split(5, []), ValueError, 'fractions must have'),
    (lambda: lx.split(5, {}), ValueError, 'fractions must have'),
    (lambda: lx.split(5, 0.5), TypeError, 'fractions'),
    (lambda: lx.split(5, 'ab'), TypeError, 'fractions'),
    (lambda: lx.split(5, [0.5, -0.5]), ValueError, r'fractions\[1\]'),
    (lambda: lx.split(5, {'a': float('nan')}), ValueError, r"fractions\['a'\]"),
    (lambda: lx.split(5, {'a': '1'}), TypeError, r"fractions\['a'\]"),
    (lambda: lx.split(5, [0.9, 0.2]), ValueError, 'fractions must have a sum of at most 1, not 1.1'),
    (lambda: lx.split(5, [1], seed=-1), ValueError, 'seed'),
    (lambda: lx.split(2**63, [1]), MemoryError, ''),
])
def test_rejects_invalid_arguments_by_name(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_the_extension_rejects_other_arguments():
    core, some = lx._core, np.arange(3, dtype=np.uint64)
    for call in [
        lambda: core.balanced(some, 3, 0), lambda: core.balanced([1], 1, 0, None),
        lambda: core.balanced(np.zeros(3), 3, 0, None),
        lambda: core.balanced(some, None, 0, None), lambda: core.balanced(some, 3, 0, 'text'),
        lambda: core.bucketed(some, 1, 1, 0), lambda: core.bucketed(some, 1, 1, 0, 5),
        lambda: core.bucketed(some.astype('>u8'), 1, 1, 0, None),
        lambda: core.split(some, 0, 0, 0.0), lambda: core.split(some, 0, 0, '0', 1.0),
        lambda: core.split([1], 0, 0, 0.0, 1.0), lambda: core.split(None, None, 0, 0.0, 1.0),
    ]:
        with pytest.raises(TypeError):
            call()
    for call in [
        lambda: core.balanced(some[:0], 3, 0, None),
        lambda: core.bucketed(some, 0, 1, 0, None),
        lambda: core.bucketed(some, 2, 3, 0, None), lambda: core.split(some, 0, 0, 0.5, 0.4),
        lambda: core.split(some, 0, 0, 0.0, 1.5), lambda: core.split(None, 5, 0, -1.0, 1.0),
    ]:
        with pytest.raises(ValueError):
            call()
