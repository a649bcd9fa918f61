# SPDX-License-Identifier: MIT
"""Other libraries take arrays of batches through DLPack, without a copy."""

import numpy as np
import pytest

import loaderx as lx

KINDS = ['bool', 'int8', 'int16', 'int32', 'uint8', 'float16', 'float32']


def batch_of(dtype, **options):
    with lx.Loader(np.arange(60).reshape(20, 3).astype(dtype), batch_size=8, **options) as loader:
        return next(loader)['data']


def exported(kind):
    array = batch_of(kind)
    try:
        array.__dlpack__()
    except BufferError:
        pytest.skip(f'NumPy {np.__version__} does not export {kind}')
    return array


@pytest.mark.parametrize('kind', [*KINDS, 'int64', 'float64'])
def test_torch_shares_the_memory(kind):
    torch = pytest.importorskip('torch')
    array = exported(kind)
    tensor = torch.from_dlpack(array)
    assert tensor.data_ptr() == array.ctypes.data
    assert tensor.dtype == getattr(torch, kind) and tensor.tolist() == array.tolist()
    del array    # the tensor keeps the batch
    tensor.zero_()


@pytest.mark.parametrize('kind', KINDS)
def test_jax_shares_the_memory(kind):
    jax = pytest.importorskip('jax')
    array = exported(kind)
    shared = jax.dlpack.from_dlpack(array)
    assert shared.unsafe_buffer_pointer() == array.ctypes.data
    assert shared.dtype == kind and shared.tolist() == array.tolist()


@pytest.mark.parametrize('kind', ['bfloat16', 'float8_e4m3fn', 'float8_e5m2'])
def test_small_floats_go_from_torch_to_jax(kind):
    """NumPy itself does not export them."""
    ml_dtypes, torch = pytest.importorskip('ml_dtypes'), pytest.importorskip('torch')
    jax = pytest.importorskip('jax')
    with pytest.raises(BufferError):
        batch_of(getattr(ml_dtypes, kind)).__dlpack__()
    tensor = batch_of(getattr(ml_dtypes, kind), out='torch')
    shared = jax.dlpack.from_dlpack(tensor)
    assert shared.unsafe_buffer_pointer() == tensor.data_ptr()
    assert shared.dtype == kind and torch.equal(torch.from_dlpack(shared).float(), tensor.float())
