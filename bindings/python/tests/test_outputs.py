# SPDX-License-Identifier: MIT
"""The types of arrays that a loader returns. test_jax.py has the tests of JAX arrays."""

import subprocess
import sys

import numpy as np
import pytest

import loaderx as lx
from loaderx import _output_names

torch = pytest.importorskip('torch')

IMAGES = np.arange(100 * 12, dtype=np.uint8).reshape(100, 3, 4)
LABELS = np.arange(100, dtype=np.int64)


def test_batches_are_tensors_with_the_bytes_of_arrays():
    order = lx.Shuffle(seed=3)
    with lx.Loader((IMAGES, LABELS), batch_size=7, order=order, threads=2) as arrays:
        with lx.Loader((IMAGES, LABELS), batch_size=7, order=order, out='torch') as tensors:
            pairs = list(zip(arrays, tensors))
    assert len(pairs) == 15
    for array, tensor in pairs:
        assert set(tensor) == {'data', 'label'}
        for name, value in tensor.items():
            assert isinstance(value, torch.Tensor)
            np.testing.assert_array_equal(value.numpy(), array[name])
            assert value.numpy().dtype == array[name].dtype


def test_tensors_outlive_the_loader_and_are_writable():
    with lx.Loader(LABELS, batch_size=10, out='torch') as loader:
        first, second = next(loader)['data'], next(loader)['data']
    first += 1
    assert first.tolist() == list(range(1, 11))
    assert second.tolist() == list(range(10, 20))


def test_a_transform_comes_first_and_gets_arrays():
    def nest(batch):
        assert type(batch['data']) is np.ndarray
        return [{'twice': batch['data'] * 2}, (batch['data'], 'kept', {'keys': batch['keys']})]

    with lx.Loader(LABELS, batch_size=4, transform=nest, keys=1, out='torch') as loader:
        left, (array, kept, right) = next(loader)
    assert left['twice'].tolist() == [0, 2, 4, 6]
    assert kept == 'kept'
    assert type(right['keys']) is np.ndarray and right['keys'].dtype == np.uint64
    assert array.tolist() == [0, 1, 2, 3] and isinstance(array, torch.Tensor)


def test_keys_stay_with_numpy():
    with lx.Loader(LABELS, batch_size=4, keys=1, out='torch') as loader:
        batch = next(loader)
    assert type(batch['keys']) is np.ndarray
    lx.generator(batch['keys'][0]).random()


def test_an_interrupt_while_tensors_are_made_loses_no_batch(monkeypatch):
    def interrupt(array):
        raise KeyboardInterrupt

    with lx.Loader(LABELS, batch_size=10, out='torch') as loader:
        next(loader)
        with monkeypatch.context() as patch:
            patch.setattr(_output_names, 'to_tensor', interrupt)
            with pytest.raises(KeyboardInterrupt):
                next(loader)
        assert loader.tell() == loader.state_dict()['position'] == 10
        assert next(loader)['data'].tolist() == list(range(10, 20))
        assert loader.stats()['failures'] == 1


def test_rejects_dtypes_unknown_to_torch():
    field = {'odd': np.zeros(10, np.uint32), 'even': np.zeros(10, np.int32)}
    if not hasattr(torch, 'uint32'):
        with pytest.raises(ValueError, match="not support uint32, the dtype of 'odd': choose"):
            lx.Loader(field, out='torch')
    with lx.Loader(field, fields=['even'], out='torch') as loader:
        assert next(loader)['even'].dtype == torch.int32


@pytest.mark.parametrize('out, kind, message', [
    ('tensorflow', ValueError, "out must be one of 'numpy', 'torch', 'jax', not 'tensorflow'"),
    (None, TypeError, 'out must be a str, not NoneType')])
def test_other_kinds_are_errors(out, kind, message):
    with pytest.raises(kind, match=message):
        lx.Loader(LABELS, out=out)


@pytest.mark.parametrize('name', ['torch', 'jax'])
def test_names_the_missing_package(name):
    code = f"""
import sys
sys.modules[{name!r}] = None
import numpy, loaderx
try:
    loaderx.Loader(numpy.zeros(3), out={name!r})
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                           timeout=120)
    assert 'install ' + name in found.stdout, found


def test_a_batch_is_a_tree_of_its_tensors():
    torch = pytest.importorskip('torch')
    from torch.utils._pytree import tree_map
    batch = next(iter(lx.Loader({'x': np.arange(6)}, batch_size=3, out='torch')))
    doubled = tree_map(lambda tensor: tensor * 2, batch)
    assert type(doubled) is lx.Batch and torch.equal(doubled['x'], batch['x'] * 2)
