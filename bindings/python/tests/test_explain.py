# SPDX-License-Identifier: MIT
"""Loader.explain(): which records are in a batch, and where they are read from."""

import numpy as np
import pytest

import loaderx as lx
from loaderx.megatron import BlendedDataset, GPTDataset
from megatrons import write_documents

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


# Mixtures of records 0 to 19 and 20 to 49, whose parts are recognized by their indices.
def mixed(**options):
    return lx.Blend([lx.Shuffle(n=20, seed=1), lx.Shuffle(n=30, seed=2)], [1, 2],
                    offsets=[0, 20], **options)


WRAPPED = {
    'slice': lx.Slice(mixed(), 3, 41), 'repeat': lx.Repeat(mixed(n=13), 3),
    'slices': lx.Slice(lx.Repeat(lx.Slice(mixed(), 5), 2), 7, -4),
    'padded': lx.Padded(mixed(n=37), 8), 'greedy': lx.Slice(mixed(method='greedy'), 3),
    'stop': lx.Repeat(mixed(exhausted='stop'), 2), 'nanoset': lx.Nanoset([20, 30], [1, 2]),
    'run': lx.Slice(lx.Repeat(lx.Nanoset([20, 30]), 3), 0, 111),
    'budgeted': lx.Budgeted(mixed(), np.arange(N) % 7 + 1, 25),
    'sliced budget': lx.Budgeted(lx.Slice(mixed(), 2), np.arange(N) % 5 + 1, 11),
    'concat': lx.Concat([mixed(n=11), lx.Slice(mixed(), 4)]),
    'subset': lx.Subset(range(N), lx.Slice(mixed(), 1)),
    'no length': lx.Slice(lx.Blend([lx.Slice(lx.Shuffle(seed=3), 0, 20), lx.Sequential(n=30)],
                                   offsets=[0, 20]), 1),
}


@pytest.mark.parametrize('order', WRAPPED.values(), ids=list(WRAPPED))
@pytest.mark.parametrize('options', [{}, {'uneven': True}], ids=str)
@pytest.mark.parametrize('rank, world', [*RANKS, (4, 5)])
def test_names_the_sets_of_orders_built_from_mixtures(order, options, rank, world):
    size = {} if isinstance(order, lx.Budgeted) else {'batch_size': 4}
    # An order without a length takes on that of the source, so its indices can be any.
    known = order is not WRAPPED['no length']
    loader = lx.Loader(np.arange(N), order=order, rank=rank, world=world, epochs=3, **size,
                       **options)
    expected = lx.Blend([lx.Slice(lx.Shuffle(n=N, seed=3), 0, 20), lx.Sequential(n=30)])
    for step, batch in enumerate(loader):
        found = [record['set'] for record in loader.explain(step)]
        if known:
            assert found == (batch['data'] >= 20).tolist()
        elif world == 1:
            first = batch.position // 49 * 50 + 1 + batch.position % 49
            assert found == [int(expected.counts(first + i, first + i + 1)[1])
                             for i in range(len(found))]
    assert step >= 2


@pytest.mark.parametrize('exhausted', ['repeat', 'stop', 'redistribute'])
def test_names_the_sets_of_mixtures_of_mixtures(exhausted):
    """The parts at every level are recognized by their indices."""
    inner = lx.Blend([lx.Shuffle(n=7, seed=1), lx.Shuffle(n=9, seed=2)], [2, 1], offsets=[0, 7],
                     exhausted=exhausted)
    deep = lx.Blend([lx.Slice(inner, 1), lx.Shuffle(n=4, seed=3)], offsets=[0, 16],
                    exhausted=exhausted)
    outer = lx.Blend([deep, lx.Shuffle(n=10, seed=4), lx.Repeat(inner, 2)], [3, 1, 2],
                     offsets=[0, 20, 30], exhausted=exhausted)
    loader = lx.Loader(np.arange(46), order=lx.Slice(outer, 2), batch_size=5, epochs=5)

    def path(index):
        if index >= 30:
            return 2, int(index >= 37)
        if index >= 20:
            return 1
        return (0, 1) if index >= 16 else (0, 0, int(index >= 7))

    for step, batch in enumerate(loader):
        assert [record['set'] for record in loader.explain(step)] == list(
            map(path, batch['data'].tolist()))


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
            assert name == str(tmp_path / f'{"ab"[record["set"]]}.bin')
            assert tokens[0] == 4 * number


def test_names_the_files_of_tokens(tmp_path):
    names = [str(tmp_path / f'{name}.bin') for name in 'abc']
    for i, (name, length) in enumerate(zip(names, (10, 3, 20))):
        np.full(length, i, np.uint16).tofile(name)

    def read(source):
        return [record['read'] for record in
                lx.Loader(source, batch_size=len(source)).explain(0)]

    for overlap in True, False:
        dataset = lx.TokenDataset(names, 4, dtype='uint16', overlap=overlap)
        for i, found in enumerate(read(dataset)):
            assert found == [(names[file], i) for file in sorted(set(dataset[i]['tokens']))]
    assert read(lx.TokenDataset(names, 30, dtype='uint16', separator=7)) == [
        [(name, 0) for name in names]]
    assert read(lx.PackedDataset(names[:1], 5, dtype='uint16')) == [
        [(names[0], 0)], [(names[0], 1)]]
    assert read(lx.PackedDataset(names, 40, dtype='uint16')) == [[(name, 0) for name in names]]
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint16', (9,))}) as writer:
        writer.extend(x=np.arange(27, dtype=np.uint16).reshape(3, 9))
    with lx.open(tmp_path / 'd') as ds:
        assert read(lx.TokenDataset(ds['x'], 8))[2] == [(str(tmp_path / 'd'), 2)]
    assert read(lx.ARDataset(tmp_path / 'd')) == [[(str(tmp_path / 'd'), i)] for i in range(3)]


def test_explains_a_nanoset(tmp_path):
    nanoset = pytest.importorskip('loaderx.nanoset')
    for i, name in enumerate('ab'):
        (tmp_path / name).mkdir()
        np.full(100 * (i + 1), i, np.uint16).tofile(tmp_path / name / 'x.ds')
    made = nanoset.Nanoset([tmp_path / 'a', tmp_path / 'b'], 9, 2, 50, out='numpy')
    loader = lx.Loader(made, batch_size=4)
    for step, batch in enumerate(loader):
        for tokens, record in zip(batch['tokens'], loader.explain(step)):
            assert record['set'] == tokens[0]
            assert record['read'][0][0] == str(tmp_path / 'ab'[tokens[0]] / 'x.ds')


def test_names_the_files_of_megatron(tmp_path):
    documents = [np.arange(20) % 9, np.arange(7)]
    tokens = [write_documents(tmp_path / name, documents) for name in 'abc']
    paths = [str(tokens[i]._paths[0]) for i in range(3)]
    sets = [GPTDataset(tokens[0], 4, 10, out='numpy'),
            GPTDataset(paths[1:], 4, 10, out='numpy')]
    loader = lx.Loader(sets[0], batch_size=4)
    assert [record['read'] for record in loader.explain(1)] == [
        [(paths[0], i)] for i in range(4, 8)]
    blend = BlendedDataset(sets, [1, 1], 12)
    records = lx.Loader(blend, batch_size=12).explain(0)
    assert {record['set'] for record in records} == {0, 1}
    for record in records:
        assert [path for path, _ in record['read']] == (paths[1:] if record['set'] else paths[:1])


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
