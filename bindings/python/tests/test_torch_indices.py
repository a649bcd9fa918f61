# SPDX-License-Identifier: MIT
"""torch tensors as indices: they select what the equal NumPy arrays select."""

import numpy as np
import pytest

import loaderx as lx

torch = pytest.importorskip('torch')

N = 20
X = np.arange(N * 6, dtype=np.int16).reshape(N, 2, 3)
TEXTS = [b'x' * i for i in range(N)]
FIELDS = {'x': lx.Field('int16', (2, 3)), 'text': lx.Field(bytes)}
MASK = np.arange(N) % 3 == 0
SEVERAL = [np.array([3, 1, 1]), np.array([4]), np.array([-1, 0], np.int32), np.array([], np.int64),
           np.array([2, 7], np.uint8), MASK, np.arange(N)[::2]]


@pytest.fixture
def path(tmp_path):
    with lx.create(tmp_path / 'd', FIELDS) as writer:
        writer.extend(x=torch.from_numpy(X), text=TEXTS)
    return tmp_path / 'd'


def equal(got, wanted):
    assert type(got) is type(wanted)
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        return all(equal(got[name], wanted[name]) for name in wanted)
    return np.array_equal(got, wanted) and np.shape(got) == np.shape(wanted)


@pytest.mark.parametrize('key', SEVERAL, ids=str)
def test_a_tensor_with_an_axis_selects_several_records(path, key):
    tensor = torch.from_numpy(key.copy())
    ds = lx.open(path)
    assert equal(ds[tensor], ds[key])
    assert equal(ds['x'][tensor], X[key])
    assert ds['text'][tensor] == ds['text'][key]
    assert equal(ds['x'][tensor, 1], X[key, 1])
    assert equal(ds['x'][tensor, torch.tensor(1), 1:], X[key, 1, 1:])
    assert equal(ds.gather(tensor), ds.gather(key))
    assert equal(ds['text'].present(tensor), ds['text'].present(key))
    subset = lx.SubsetDataset(path, tensor)
    wanted = list(lx.SubsetDataset(path, key))
    assert all(equal(got, one) for got, one in zip(subset, wanted)) and len(subset) == len(wanted)
    both = lx.ConcatDataset([X])
    assert equal(both[tensor], X[key]) and equal(both.gather(tensor)['data'], X[key])
    assert equal(lx.NPDataset(X)[tensor], X[key])


def test_a_tensor_without_axes_selects_one_record(path):
    ds = lx.open(path)
    assert equal(ds[torch.tensor(3)], ds[3]) and equal(ds['x'][torch.tensor(-1)], X[-1])
    assert equal(ds['x'][torch.tensor(3), torch.tensor([1, 0])], X[3, [1, 0]])
    assert equal(lx.ConcatDataset([X])[torch.tensor(3)], X[3])


def test_a_list_of_tensors_is_read_like_a_list_of_numbers(path):
    ds = lx.open(path)
    assert equal(ds[list(torch.tensor([3, 1]))], ds[[3, 1]])
    assert equal(ds[list(torch.from_numpy(MASK))], ds[MASK])


@pytest.mark.parametrize('tensor, error, text', [
    (torch.tensor([[1]]), ValueError, 'must have one axis, not 2'),
    (torch.tensor([1.0]), TypeError, 'integers or bools, not float32'),
    (torch.tensor([True]), IndexError, 'the mask has 1 elements, but the dataset has 20'),
    (torch.tensor([N]), IndexError, '20'),
])
def test_rejects_what_it_rejects_of_arrays(path, tensor, error, text):
    ds = lx.open(path)
    for read in ds.__getitem__, ds['x'].__getitem__, lx.ConcatDataset([X]).__getitem__:
        with pytest.raises(error, match=text):
            read(tensor)
    with pytest.raises(TypeError, match='not Tensor'):
        ds[torch.tensor(True)]


def test_a_tensor_selects_the_records_to_change(path):
    with lx.open(path, mode='r+') as writer:
        writer[torch.tensor(1)] = {'text': b'one'}
        writer[torch.tensor([2])] = {'text': [b'two']}
        writer[torch.from_numpy(MASK)] = {'x': torch.ones(7, 2, 3, dtype=torch.int16)}
        assert writer.delete(torch.tensor([19])).tolist() == []
    ds = lx.open(path)
    assert ds['text'][1:3] == [b'one', b'two'] and len(ds) == N - 1
    assert (ds['x'][torch.from_numpy(MASK)[:-1]] == 1).all() and ds['x'][1, 0, 0] == 6
