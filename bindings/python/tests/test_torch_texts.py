# SPDX-License-Identifier: MIT
"""TokenStream in DataLoaders."""

import itertools
import json

import pytest

torch = pytest.importorskip('torch')
tokenizing = pytest.importorskip('tokenizing', reason='the tokenizers library is not installed')

from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from tokenizing import make_texts, train

TEXTS = make_texts(120, 3)


@pytest.fixture(scope='module')
def tokenizer():
    return train()


def make(tokenizer, kind=lt.TokenStream, **more):
    return kind(TEXTS, tokenizer, 32, order=lx.Shuffle(seed=2), **more)


def rows(loader):
    return [row for batch in loader for row in batch['tokens'].tolist()]


@pytest.mark.parametrize('kind', [data.DataLoader, lt.DataLoader])
@pytest.mark.parametrize('workers', [0, 1])
def test_loaders_collate_its_samples(tokenizer, kind, workers):
    expected = [row['tokens'].tolist() for row in make(tokenizer, lx.TokenStream)]
    loader = kind(make(tokenizer), batch_size=8, num_workers=workers)
    assert rows(loader) == expected
    first = next(iter(kind(make(tokenizer, out='int64'), batch_size=8)))
    assert first['tokens'].shape == (8, 33) and first['tokens'].dtype == torch.int64


def test_the_state_of_a_loader_contains_its_position(tokenizer):
    expected = rows(lt.DataLoader(make(tokenizer), batch_size=4))
    for workers in 0, 1:
        loader = lt.DataLoader(make(tokenizer), batch_size=4, num_workers=workers)
        begun = iter(loader)
        got = rows(itertools.islice(begun, 5))
        state = json.loads(json.dumps(loader.state_dict()))
        del begun
        resumed = lt.DataLoader(make(tokenizer), batch_size=4, num_workers=workers)
        resumed.load_state_dict(state)
        assert got + rows(resumed) == expected


@pytest.mark.parametrize('kind', [data.DataLoader, lt.DataLoader])
def test_rejects_more_workers(tokenizer, kind):
    with pytest.raises(ValueError, match='num_workers must be 0 or 1 for a TokenStream, not 2'):
        list(kind(make(tokenizer), num_workers=2))
