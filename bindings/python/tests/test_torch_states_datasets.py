# SPDX-License-Identifier: MIT
"""States of DataLoaders over loaderx datasets that were changed in the meantime."""
import pickle

import numpy as np
import pytest

torch = pytest.importorskip('torch')

from torch.utils import data    # noqa: E402

import loaderx as lx    # noqa: E402
import loaderx.torch as lt    # noqa: E402

N = 60


def make(path, text=False):
    fields = {'x': lx.Field('int32')}
    if text:
        fields['text'] = lx.Field(bytes)
    with lx.create(path, fields) as writer:
        for i in range(N):
            writer.append({'x': i, 'text': b'text'} if text else {'x': i})
    return str(path)


def append(path, count=7):
    with lx.open(path, 'a') as writer:
        for i in range(count):
            writer.append({name: None if name == 'text' else 100 + i
                           for name in writer.fields})


def replace(path):
    with lx.open(path, 'r+') as writer:
        del writer[30]
    append(path, 1)


class Doubled(lx.Dataset):
    """A user's subclass, which is read in the user's own way."""

    def __getitem__(self, index):
        return {'x': int(super().__getitem__(index)['x']) * 2}


def numbers(batches):
    return [batch['x'].tolist() for batch in batches]


KINDS = {
    'dataset': lambda path, **length: lx.Dataset(path, **length),
    'subset': lambda path, **length: data.Subset(lx.Dataset(path, **length), range(0, N, 2)),
    'concat': lambda path, **length: data.ConcatDataset([lx.Dataset(path, **length)] * 2),
    'tuple': lambda path, **length: (lx.Dataset(path, **length),),
    'subclass': lambda path, **length: Doubled(path, **length),
}


@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('kind', sorted(KINDS))
def test_continues_on_the_old_length(tmp_path, kind, workers):
    path, source = make(tmp_path / 'd'), KINDS[kind]

    def loader(**length):
        torch.manual_seed(1)
        return lt.DataLoader(source(path, **length), batch_size=8, shuffle=True,
                             num_workers=workers)
    passed = iter(first := loader())
    next(passed)
    state = first.state_dict()
    expected = numbers(passed)
    append(path)
    with pytest.raises(ValueError, match='has 67 records, but had 60 when .* length=60'):
        loader().load_state_dict(state)
    again = loader(length=N)
    again.load_state_dict(state)
    assert numbers(again) == expected


@pytest.mark.parametrize('sampler', [
    lt.SequentialSampler, lt.RandomSampler, lambda dataset: lt.DistributedSampler(dataset, 2, 0)])
def test_a_sampler_alone_continues_on_the_old_length(tmp_path, sampler):
    path = make(tmp_path / 'd')
    passed = iter(first := sampler(lx.Dataset(path)))
    next(passed)
    state = first.state_dict()
    expected = list(passed)
    append(path)
    with pytest.raises(ValueError, match='d: the dataset has 67 records, but had 60 when .* open '
                                         'it with length=60'):
        sampler(lx.Dataset(path)).load_state_dict(state)
    again = sampler(lx.Dataset(path, length=N))
    again.load_state_dict(state)
    assert list(again) == expected
    with pytest.raises(ValueError, match='d: the dataset has only 50 records, but had 60 when'):
        sampler(lx.Dataset(path, length=50)).load_state_dict(state)
    with pytest.raises(ValueError, match='has 67 records, but had 60 when .* first 60.* length='):
        sampler(data.ConcatDataset([range(60), range(7)])).load_state_dict(state)


@pytest.mark.parametrize('kind', sorted(KINDS))
def test_reports_changed_records(tmp_path, kind):
    path, source = make(tmp_path / 'd'), KINDS[kind]
    state = lt.DataLoader(source(path), batch_size=8).state_dict()
    replace(path)
    loader = lt.DataLoader(source(path), batch_size=8)
    with pytest.raises(ValueError, match="field 'x': records changed .* changed='allow'"):
        loader.load_state_dict(state)
    loader.load_state_dict(state, changed='allow')
    copied = pickle.loads(pickle.dumps(loader))
    assert len(numbers(copied)) == len(loader) == len(numbers(loader))


def test_reports_changes_beside_bytes_fields(tmp_path):
    path = make(tmp_path / 'd', text=True)
    loader = lt.DataLoader(lx.Dataset(path), batch_size=8, collate_fn=len)
    state = loader.state_dict()
    replace(path)
    loader.load_state_dict(state)    # it still reads the old snapshot
    with pytest.raises(ValueError, match='records changed'):
        lt.DataLoader(lx.Dataset(path), batch_size=8, collate_fn=len).load_state_dict(state)


def test_a_refreshed_dataset_has_another_state(tmp_path):
    path = make(tmp_path / 'd')
    dataset = lx.Dataset(path)
    loader = lt.DataLoader(dataset, batch_size=8)
    next(iter(loader))
    before = loader.state_dict()
    replace(path)
    dataset.refresh()
    assert loader.state_dict() == before    # of the pass that began before
    next(iter(loader))
    after = loader.state_dict()
    lt.DataLoader(lx.Dataset(path), batch_size=8).load_state_dict(after)
    with pytest.raises(ValueError, match='records changed'):
        lt.DataLoader(lx.Dataset(path), batch_size=8).load_state_dict(before)


def test_other_data_is_reported(tmp_path):
    state = lt.DataLoader(lx.Dataset(make(tmp_path / 'd')), batch_size=8).state_dict()
    with pytest.raises(ValueError, match='source.uuid'):
        lt.DataLoader(lx.Dataset(make(tmp_path / 'e')), batch_size=8).load_state_dict(state)
    assert state['data']['datasets'][0]['length'] == N
    state['data']['datasets'][0]['length'] = 5
    with pytest.raises(lx.CorruptError, match='changed after it was written'):
        lt.DataLoader(lx.Dataset(tmp_path / 'd'), batch_size=8).load_state_dict(state)


def test_the_data_of_others_has_no_identity():
    loader = lt.DataLoader(list(range(20)), batch_size=4)
    state = loader.state_dict()
    assert 'data' not in state
    with pytest.raises(ValueError, match='changed'):
        loader.load_state_dict(state, changed='never')


def test_arrays_are_identified_by_their_form():
    state = lt.DataLoader(lx.NPDataset(np.arange(20)), batch_size=4).state_dict()
    lt.DataLoader(lx.NPDataset(np.arange(20, 40)), batch_size=4).load_state_dict(state)
    with pytest.raises(ValueError, match='dtype'):
        lt.DataLoader(lx.NPDataset(np.arange(20.0)), batch_size=4).load_state_dict(state)
