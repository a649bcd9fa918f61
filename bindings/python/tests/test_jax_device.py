# SPDX-License-Identifier: MIT
"""Batches of JAX arrays on a GPU: the memory of a batch stays as it is until it has been copied."""

import numpy as np
import pytest

import loaderx as lx

jax = pytest.importorskip('jax')
import loaderx.jax as lj    # noqa: E402


def gpu():
    try:
        return jax.devices('gpu')[0]
    except RuntimeError:
        pytest.skip('needs a GPU')


def test_every_byte_is_right_while_the_device_is_busy():
    device = gpu()
    rows = np.arange(2048 * 4096, dtype=np.int32).reshape(2048, 4096)
    busy = jax.device_put(np.ones((4096, 4096), np.float32), device)
    work = jax.jit(lambda x: x @ x * 1e-4)
    count = jax.jit(lambda data, index: (
        data != index[:, None] * 4096 + jax.numpy.arange(4096)).sum())
    wrong = []
    with lj.Loader(rows, batch_size=32, epochs=16, order=lx.Shuffle(seed=3)) as loader:
        for batch in loader:
            busy = work(busy)    # the device is behind
            wrong.append(count(batch['data'], batch.index.astype(np.int32)))
            del batch
    assert len(wrong) == 1024 and sum(int(one) for one in wrong) == 0
