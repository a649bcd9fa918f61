# SPDX-License-Identifier: MIT
"""Nanosets of random configurations, compared with a plain model in NumPy, read in every way.

``LOADERX_PROPERTY_EXAMPLES=5000`` makes the test long.
"""

import pathlib
import tempfile

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import loaderx as lx
from loaderx.nanoset import DataCollatorForCLM, Nanoset, SkipBatchSampler
from nanosets import build, samples_of, write_folder
from test_orders_property import EXAMPLES

try:
    from torch.utils import data
except ImportError:
    data = None


@st.composite
def configurations(draw):
    length = draw(st.integers(1, 9))
    contents = draw(st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=4), min_size=1,
                             max_size=4))
    assume(all(any(n > length for n in files) for files in contents))
    return {
        'length': length,
        'contents': contents,
        'weights': draw(st.none() | st.lists(st.integers(0, 9) | st.floats(0, 1),
                                             min_size=len(contents),
                                             max_size=len(contents)).filter(any)),
        'total': draw(st.integers(0, 300)),
        'seed': draw(st.sampled_from([1234, 0, 2**32 - 1]) | st.integers(0, 9)),
        'divide': draw(st.booleans()),
        'datatrove': draw(st.booleans()),
        'token_size': draw(st.sampled_from([2, 4])),
        'batch': draw(st.integers(1, 20)),
        'world': draw(st.integers(1, 5)),
        'skip': draw(st.integers(0, 20)),
    }


def make(case, path):
    """A Nanoset and its expected samples."""
    rng = np.random.default_rng(case['seed'])
    most = 2 ** (8 * case['token_size'])
    contents = [[rng.integers(0, most, n) for n in lengths] for lengths in case['contents']]
    folders = [write_folder(path / f'{i}', files, case['token_size'])
               for i, files in enumerate(contents)]
    options = [case[key] for key in ('length', 'weights', 'total', 'seed', 'divide', 'datatrove')]
    nanoset = Nanoset(folders, case['length'], case['token_size'], case['total'], case['weights'],
                      case['seed'], divide_weights=case['divide'], datatrove=case['datatrove'],
                      out='numpy')
    assert nanoset.dataset_lengths == [len(samples_of(files, case['length'], case['datatrove']))
                                       for files in contents]
    return nanoset, build(contents, *options)


def same(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others):
        assert np.array_equal(one, other)


def check_samples(nanoset, expected):
    total = len(nanoset)
    assert total == len(expected) == sum(nanoset.dataset_counts)
    counts = np.bincount(nanoset.dataset_index.astype(int), minlength=len(nanoset.dataset_lengths))
    assert nanoset.dataset_counts == counts.tolist()
    same([nanoset[place]['input_ids'] for place in range(total)], expected)
    same([sample['input_ids'] for sample in nanoset.__getitems__(range(-total, total))],
         expected * 2)
    same([sample['input_ids'] for sample in nanoset], expected)


def check_loader(nanoset, case, rank, mine):
    """The rest of a rank's samples, in full batches."""
    options = {'batch_size': case['batch'], 'rank': rank, 'world': case['world'],
               'drop_last': True, 'start': case['skip'] * case['world']}
    with lx.Loader(nanoset, **options) as loader:
        batches = [batch['tokens'] for batch in loader]
    assert all(batch.dtype == np.int64 for batch in batches)
    same([row for batch in batches for row in batch], mine)
    with lx.Loader(nanoset.source, order=nanoset.order, **options) as loader:
        same([batch['tokens'] for batch in loader], batches)


def check_torch(nanoset, case, rank, mine):
    """The same with torch's DataLoader, as Nanotron uses it."""
    sampler = data.DistributedSampler(nanoset, case['world'], rank, shuffle=False, drop_last=True)
    sampler = SkipBatchSampler(sampler, case['skip'] * case['world'], case['world'])
    collate = DataCollatorForCLM(case['length'], 0, 0, current_pp_rank=0, out='numpy')
    loader = data.DataLoader(nanoset, case['batch'], sampler=sampler, collate_fn=collate,
                             drop_last=True)
    batches = list(loader)
    assert len(batches) == len(loader)
    same([row for batch in batches for row in batch['input_ids']], [row[:-1] for row in mine])
    same([row for batch in batches for row in batch['label_ids']], [row[1:] for row in mine])


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(configurations())
def test_samples_match_the_plain_model(case):
    with tempfile.TemporaryDirectory() as path:
        nanoset, expected = make(case, pathlib.Path(path))
        check_samples(nanoset, expected)
        rank = case['seed'] % case['world']
        left = expected[case['skip'] * case['world']:]
        batches = len(left) // (case['world'] * case['batch'])
        mine = left[rank::case['world']][:batches * case['batch']]
        check_loader(nanoset, case, rank, mine)
        if data is not None and case['total'] >= case['world']:
            check_torch(nanoset, case, rank, mine)
