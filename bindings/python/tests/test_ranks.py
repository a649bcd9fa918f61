# SPDX-License-Identifier: MIT
"""Ranks that share the data of one data-parallel rank, and ranks that need no data."""

import itertools
import json
import os
import pickle

import numpy as np
import pytest

import loaderx as lx

N = 203


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp('ranks') / 'tokens'
    with lx.create(path, {'token': lx.Field('int32', (5,)), 'label': lx.Field('int64'),
                          'note': lx.Field(bytes)}) as writer:
        for i in range(N):
            writer.append(token=np.full(5, i, np.int32), label=i, note=b'x' * (i % 4))
    return path


class Mesh:
    """A loader for each process of `tensor` x `pipeline` x `data`, as a script would open it."""

    def __init__(self, path, tensor, pipeline, data, batch_size):
        self.data = data
        self.loaders = {}
        for place in itertools.product(range(tensor), range(pipeline), range(data)):
            self.loaders[place] = self.open(path, place[1], pipeline, place[2], batch_size)

    def open(self, path, stage, stages, rank, batch_size):
        fields = {0: ['token'], stages - 1: ['label']}.get(stage)
        source = lx.NullDataset(path) if fields is None else lx.open(path)
        return lx.Loader(source, fields=fields, batch_size=batch_size, rank=rank, epochs=None,
                         world=self.data, order=lx.Shuffle(seed=4), threads=stage % 2, keys=1)

    def step(self):
        """Return the labels that each data-parallel rank read, equal on all its processes."""
        got = [set() for _ in range(self.data)]
        keys = [set() for _ in range(self.data)]
        for (_, _, rank), loader in self.loaders.items():
            batch = next(loader)
            keys[rank].add(batch.pop('keys').tobytes())
            for array in batch.values():
                got[rank].add(tuple(array[batch.real].reshape(batch.real.sum(), -1)[:, 0].tolist()))
        assert [len(one) for one in got + keys] == [1] * 2 * self.data
        return [list(one.pop()) for one in got]

    def state(self, of):
        """Return the state, which is equal on all processes."""
        states = {place: loader.state_dict() for place, loader in self.loaders.items()}
        for state in states.values():
            del state['crc32c'], state['threads']
        assert all(state == states[of] for state in states.values())
        return json.loads(json.dumps(self.loaders[of].state_dict()))

    def resume(self, state):
        for loader in self.loaders.values():
            loader.load_state_dict(state)


def global_batches(meshes_and_steps, state=None):
    seen = []
    for mesh, steps, of in meshes_and_steps:
        if state is not None:
            mesh.resume(state)
        for _ in range(steps):
            shares = mesh.step()
            seen += [i for row in itertools.zip_longest(*shares) for i in row if i is not None]
        state = mesh.state(of)
    return seen


@pytest.mark.parametrize('tensor, pipeline, data', [(2, 2, 2), (2, 3, 2), (1, 4, 3)])
def test_tensor_and_pipeline_ranks_stay_in_step(path, tensor, pipeline, data):
    """All processes of a data-parallel rank get the same records, whatever fields they read."""
    mesh = Mesh(path, tensor, pipeline, data, 6)
    got = global_batches([(mesh, 20, (0, 0, 0))])
    assert got == lx.Shuffle(n=N, seed=4).take(len(got)).tolist()


@pytest.mark.parametrize('of', [(0, 0, 0), (1, 1, 1), (0, 2, 0)], ids=['first', 'null', 'last'])
def test_continues_with_other_ranks(path, of):
    """The state of any process, also of a process without data, is that of the run."""
    first, second = Mesh(path, 2, 3, 2, 6), Mesh(path, 1, 3, 4, 3)
    third = Mesh(path, 2, 1, 1, 12)
    place = (0, of[1], of[2])
    got = global_batches([(first, 9, of), (second, 11, place), (third, 9, (0, 0, 0))])
    assert len(got) > N and got == lx.Shuffle(n=N, seed=4).take(len(got)).tolist()


def test_a_batch_without_data_is_an_empty_dict(path):
    null = lx.NullDataset(path)
    loader = lx.Loader(null, batch_size=50, threads=2)
    assert len(null) == N and repr(null) == f'NullDataset({N} records)'
    assert list(loader) == [{}] * 5 and len(loader) == 5
    assert loader.tell() == N and loader.stats()['bytes'] == 0
    assert [list(b) for b in lx.Loader(null, batch_size=200, keys=3)] == [['keys']] * 2
    assert [len(b['keys']) for b in lx.Loader(null, batch_size=200, keys=3)] == [200, 3]
    assert list(lx.Loader(null, batch_size=100, transform=len, threads=2)) == [0, 0, 0]


def files_of(path):
    """Return the number of files of the dataset that this process has open or mapped."""
    opened = 0
    for fd in os.listdir('/proc/self/fd'):
        try:
            opened += os.readlink(f'/proc/self/fd/{fd}').startswith(f'{path}{os.sep}')
        except FileNotFoundError:
            pass
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as maps:
        return opened + sum(f'{path}{os.sep}' in line for line in maps)


def test_no_file_stays_open(path):
    before = files_of(path)
    with lx.open(path) as dataset:
        next(lx.Loader(dataset, fields=['label']))
        assert files_of(path) > before
        null = lx.NullDataset(dataset)
        loader = lx.Loader(null, batch_size=10)
    assert next(loader) == {}
    assert files_of(path) == before


def test_a_state_does_not_depend_on_the_data_of_the_source(path, tmp_path):
    numbers = np.arange(40.0)
    np.save(tmp_path / 'a.npy', numbers)
    for source in [numbers, tmp_path / 'a.npy', (numbers, numbers[::-1]), {'x': numbers},
                   lx.ConcatDataset([numbers, numbers]), lx.SubsetDataset(numbers, [3, 3, 1]),
                   lx.NullDataset(numbers), path]:
        fields = ['label'] if source is path else None
        reading = lx.Loader(source, order=lx.Shuffle(seed=1), fields=fields)
        idle = lx.Loader(lx.NullDataset(source), order=lx.Shuffle(seed=1))
        next(idle), next(idle)
        reading.load_state_dict(idle.state_dict())
        assert reading.tell() == 2 and reading.state_dict() == idle.state_dict()
        next(reading)
        idle.load_state_dict(reading.state_dict())
        assert idle.tell() == 3


def test_leaves_out_one_of_several_sources():
    images, labels = np.zeros((9, 4)), np.arange(9)
    whole = lx.Loader((images, labels), batch_size=4)
    part = lx.Loader((lx.NullDataset(images), labels), batch_size=4)
    assert list(next(part)) == ['label']
    whole.load_state_dict(part.state_dict())
    assert whole.tell() == 4
    subset = lx.SubsetDataset(lx.NullDataset(images), [8, 1])
    assert len(subset) == 2 and next(lx.Loader(subset)) == {}


def test_rejects_a_null_source_of_other_data():
    numbers, order = np.arange(20), lx.Subset(range(9))
    state = lx.Loader(lx.NullDataset(numbers), order=order).state_dict()
    with pytest.raises(ValueError, match='length'):
        lx.Loader(numbers[:9], order=order).load_state_dict(state)
    with pytest.raises(ValueError, match='dtype|columns'):
        lx.Loader(numbers.astype(float), order=order).load_state_dict(state)


def test_bad_arguments():
    with pytest.raises(TypeError, match='source must be a loaderx dataset'):
        lx.NullDataset(5)
    with pytest.raises(FileNotFoundError):
        lx.NullDataset('/nowhere/at/all')
    null = lx.NullDataset(np.arange(5))
    with pytest.raises(ValueError, match="'data' not found: the source has no fields"):
        lx.Loader(null, fields=['data'])
    with pytest.raises(TypeError, match='pickled'):
        pickle.dumps(null)
    with pytest.raises(ValueError, match='has no fields, but must have exactly one'):
        lx.DataLoader(null, np.arange(5))


@pytest.mark.parametrize('end', ['state', 'seek', 'start'])
def test_all_ranks_end_the_epoch_in_which_they_resume(end):
    """At 10 of 11, the last sample belongs to rank 1: the others repeat samples, or have none."""
    data = np.arange(11)
    with lx.Loader(data, batch_size=5) as one:
        next(one), next(one)
        state = one.state_dict()
    for uneven in False, True:
        epochs = []
        for rank in range(3):
            with lx.Loader(data, batch_size=2, rank=rank, world=3, uneven=uneven,
                           start=10 if end == 'start' else 0) as loader:
                if end == 'state':
                    loader.load_state_dict(state)
                elif end == 'seek':
                    loader.seek(10)
                epochs.append([[(batch['data'], batch.real) for batch in loader]
                               for _ in range(2)])
        firsts = [[data.tolist() for data, _ in first] for first, _ in epochs]
        assert firsts == ([[], [[10]], []] if uneven else [[[1]], [[10]], [[0]]])
        seconds = [data[real].tolist() for _, second in epochs for data, real in second]
        assert sorted(sum(seconds, [])) == list(range(11))
