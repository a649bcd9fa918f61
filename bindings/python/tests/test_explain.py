# SPDX-License-Identifier: MIT
"""Loader.explain(): which records are in a batch, and where they are read from."""

import numpy as np
import pytest

import loaderx as lx

N = 50
ORDERS = {
    'sequential': lx.Sequential(), 'shuffle': lx.Shuffle(seed=1), 'random': lx.Random(seed=1),
    'subset': lx.Subset(range(7, 40), seed=3), 'slice': lx.Slice(lx.Shuffle(seed=1), 3, 30),
    'blend': lx.Blend([lx.Shuffle(n=20, seed=1), lx.Shuffle(n=30, seed=2)], [1, 2],
                      offsets=[0, 20], n=61),
    'stop': lx.Blend([lx.Shuffle(n=20, seed=1), lx.Shuffle(n=30, seed=2)], [1, 2],
                     offsets=[0, 20], exhausted='stop'),
    'budgeted': lx.Budgeted(lx.Shuffle(seed=1), np.arange(N) % 7 + 1, 25),
}
RANKS = [(rank, world) for world in (1, 3) for rank in range(world)]


@pytest.mark.parametrize('order', ORDERS.values(), ids=list(ORDERS))
@pytest.mark.parametrize('options', [{}, {'drop_last': True}, {'uneven': True}], ids=str)
@pytest.mark.parametrize('rank, world', RANKS)
def test_explains_every_batch_of_three_epochs(order, options, rank, world):
    size = {} if isinstance(order, lx.Budgeted) else {'batch_size': 4}
    loader = lx.Loader(np.arange(N), order=order, rank=rank, world=world, epochs=3, **size,
                       **options)
    for step, batch in enumerate(loader):
        explained = loader.explain(step)
        assert [record['index'] for record in explained] == batch['data'].tolist()
        assert [record['real'] for record in explained] == batch.real.tolist()
        assert explained == loader.explain(batch)
        assert explained[0]['read'] == [('ndarray int64[50]', batch['data'][0])]
        if isinstance(order, lx.Blend):
            assert [record['set'] for record in explained] == (batch['data'] >= 20).tolist()
        else:
            assert 'set' not in explained[0]
    assert step >= 5


def test_moves_and_reads_nothing(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64', (100,))}) as writer:
        writer.extend(x=np.arange(N)[:, None] * np.ones(100, np.int64))
    chunk, = (tmp_path / 'd' / 'chunk').iterdir()
    content = bytearray(chunk.read_bytes())
    content[content.find(np.full(100, 3).tobytes())] ^= 64
    chunk.write_bytes(content)
    loader = lx.Loader(tmp_path / 'd', batch_size=4, on_damage='skip', start=8)
    damaged = loader.explain(0)
    assert [record['index'] for record in damaged] == [0, 1, 2, 3]
    assert damaged[3]['read'] == [(str(tmp_path / 'd'), 3)]
    assert loader.tell() == 8 and loader.stats()['damaged'] == loader.stats()['batches'] == 0
    loader.seek(0)
    batch = next(loader)
    assert batch.index.tolist() == [0, 1, 2] and loader.explain(batch) == damaged


def test_names_the_sources(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=range(10))
    np.save(tmp_path / 'a.npy', np.arange(10))
    ds, array = lx.open(tmp_path / 'd'), lx.NPDataset(tmp_path / 'a.npy')
    names = str(tmp_path / 'd'), str(tmp_path / 'a.npy')

    def read(source, **options):
        return [record['read'] for record in lx.Loader(source, batch_size=3, **options).explain(1)]

    assert read(ds) == [[(names[0], i)] for i in (3, 4, 5)]
    assert read(tmp_path / 'a.npy') == read(array) == [[(names[1], i)] for i in (3, 4, 5)]
    assert read((ds, array)) == read({'a': ds, 'b': tmp_path / 'a.npy'}) == [
        [(names[0], i), (names[1], i)] for i in (3, 4, 5)]
    assert read(lx.ConcatDataset([lx.SubsetDataset(ds, [9, 2, 7, -1]), tmp_path / 'd'])) == [
        [(names[0], 9)], [(names[0], 0)], [(names[0], 1)]]
    assert read(lx.SubsetDataset(lx.ConcatDataset([np.arange(4), array]), slice(None, None, -2))) == [
        [(names[1], 3)], [(names[1], 1)], [('ndarray int64[4]', 3)]]
    assert read(ds.where(ds['x'][:] % 2 == 1)) == [[(names[0], 7)], [(names[0], 9)]]
    assert read([{'a': i} for i in range(5)]) == [[('5 dicts', 3)], [('5 dicts', 4)]]


def test_explains_the_samples_of_a_blended_dataset(tmp_path):
    lengths = 40, 90
    for name, length in zip('ab', lengths):
        np.arange(length, dtype=np.uint16).tofile(tmp_path / f'{name}.bin')
    parts = [lx.TokenDataset(tmp_path / f'{name}.bin', 4, dtype='uint16') for name in 'ab']
    loader = lx.Loader(lx.ConcatDataset(parts), batch_size=4, order=lx.Blend(
        [lx.Shuffle(n=len(part), seed=1) for part in parts], temperature=2,
        offsets=[0, len(parts[0])]))
    for step, batch in enumerate(loader):
        for tokens, record in zip(batch['tokens'], loader.explain(step)):
            (name, number), = record['read']
            assert name == repr(parts[record['set']]) and tokens[0] == 4 * number


def test_the_end_of_a_run_and_ranks_without_batches():
    class Run:
        """A source that is a whole run, like a Nanoset."""

        def _for_loader(self, order):
            order = lx.Nanoset([6, 4], [1, 1])
            order._is_run = True
            return lx.ConcatDataset([np.arange(6), np.arange(4)]), order

    for epochs in 1, 2:
        loader = lx.Loader(Run(), batch_size=2, epochs=epochs)
        batches = list(loader)
        assert [[record['index'] for record in loader.explain(step)]
                for step in range(5 * epochs)] == [batch.index.tolist() for batch in batches]
        with pytest.raises(IndexError, match=f'step {5 * epochs} is beyond the end of the run'):
            loader.explain(5 * epochs)
    assert len(lx.Loader(Run(), batch_size=2, epochs=None).explain(999)) == 2
    with pytest.raises(IndexError, match='no batches'):
        lx.Loader(np.arange(5), batch_size=9, drop_last=True).explain(0)
    with pytest.raises(TypeError, match='step must be an int, not float'):
        loader.explain(1.0)
    with pytest.raises(ValueError, match='step must be from 0'):
        loader.explain(-1)
