# SPDX-License-Identifier: MIT
"""The card of a dataset."""

import pytest

import loaderx as lx

FIELDS = {'x': lx.Field('int64')}
CARD = {'source': 'made by a test', 'license': 'MIT', 'description': 'ä\n'}


@pytest.fixture
def path(tmp_path):
    with lx.create(tmp_path / 'd', FIELDS, card=CARD) as w:
        w.extend(x=range(5))
    return tmp_path / 'd'


def test_create(path):
    with lx.open(path) as dataset:
        assert dict(dataset.card) == CARD and list(dataset.card) == list(CARD)
        assert dataset.stat()['card'] == CARD
        with pytest.raises(TypeError):
            dataset.card['source'] = 'elsewhere'
    lx.create(path, FIELDS, replace=True).close()
    with lx.open(path) as dataset:
        assert dict(dataset.card) == {}
    lx.create(path, FIELDS, replace=True, card=CARD).close()
    assert dict(lx.open(path).card) == CARD


def test_set_card(path):
    dataset, live = lx.open(path), lx.open(path, live=True)
    with lx.open(path, 'r+') as w:
        w.append(x=5)
        w.set_card({'source': None, 'tokenizer': 'words'})
        wanted = {'license': 'MIT', 'description': 'ä\n', 'tokenizer': 'words'}
        assert dict(live.card) == wanted and len(live) == 6
        assert dict(dataset.card) == CARD
        dataset.refresh()
        assert dict(dataset.card) == wanted
        w.rebalance()
        w.append(x=6)
        w.seal()
    assert dict(lx.open(path).card) == wanted and lx.open(path)['x'][:].tolist() == list(range(7))


def test_copy(path, tmp_path):
    lx.copy(path, tmp_path / 'one')
    assert dict(lx.open(tmp_path / 'one').card) == CARD
    lx.create(tmp_path / 'other', FIELDS, card={'source': 'other', 'license': 'MIT'}).close()
    lx.copy([path, tmp_path / 'other'], tmp_path / 'both')
    assert dict(lx.open(tmp_path / 'both').card) == {'license': 'MIT'}


@pytest.mark.parametrize('card, error', [
    ('text', TypeError), ({'a': 1}, TypeError), ({1: 'a'}, TypeError), ({'a b': 'x'}, ValueError),
    ({'a': 'x' * 65536}, ValueError), ({'a': 'x\0'}, ValueError), ({'a': '\ud800'}, ValueError),
    ({f'k{i}': '' for i in range(65)}, ValueError)])
def test_errors(path, tmp_path, card, error):
    with pytest.raises(error):
        lx.create(tmp_path / 'e', FIELDS, card=card)
    assert not (tmp_path / 'e').exists()
    with lx.open(path, 'r+') as w:
        with pytest.raises(error):
            w.set_card(card)
    assert dict(lx.open(path).card) == CARD
