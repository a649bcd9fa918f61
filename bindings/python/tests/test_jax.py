# SPDX-License-Identifier: MIT
"""Batches of JAX arrays, on one device and distributed over several."""

import contextlib
import os
import random
import socket
import subprocess
import sys

os.environ.setdefault('XLA_FLAGS', '--xla_force_host_platform_device_count=4')
os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import numpy as np
import pytest

import loaderx as lx

jax = pytest.importorskip('jax')
import loaderx.jax as lj    # noqa: E402

IMAGES = np.arange(96 * 12, dtype=np.uint8).reshape(96, 3, 4)
LABELS = np.arange(96, dtype=np.int32)


def rows():
    if jax.device_count() < 4:
        pytest.skip('JAX was imported before with fewer than four devices')
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ('data',))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('data'))


@pytest.mark.parametrize('make', [
    lambda **options: lx.Loader((IMAGES, LABELS), out='jax', **options),
    lambda **options: lj.Loader((IMAGES, LABELS), **options)])
def test_batches_have_the_bytes_of_arrays(make):
    order = lx.Shuffle(seed=3)
    with lx.Loader((IMAGES, LABELS), batch_size=7, order=order) as arrays:
        with make(batch_size=7, order=order, threads=2) as loader:
            pairs = list(zip(arrays, loader))
    assert len(pairs) == 14
    for array, placed in pairs:
        for name, value in placed.items():
            assert isinstance(value, jax.Array)
            np.testing.assert_array_equal(np.asarray(value), array[name])


def test_a_batch_is_split_by_its_first_axis():
    sharding = rows()
    with lj.Loader((IMAGES, LABELS), batch_size=32, sharding=sharding) as loader:
        batches = list(loader)
    assert len(batches) == 3
    for number, batch in enumerate(batches):
        assert batch['data'].sharding == sharding
        assert {part.data.shape for part in batch['data'].addressable_shards} == {(8, 3, 4)}
        assert batch['label'].tolist() == list(range(32 * number, 32 * number + 32))
    total = jax.jit(lambda batch: batch['label'].sum())(batches[2])
    assert int(total) == sum(range(64, 96))


def test_rejects_batches_that_cannot_be_split():
    sharding = rows()
    with pytest.raises(ValueError, match=r"batches of 'data' with shape \(30, 3, 4\)"):
        lj.Loader((IMAGES, LABELS), batch_size=30, sharding=sharding)
    with pytest.raises(ValueError, match=r'\(26, 3, 4\).*drop_last=True'):
        lj.Loader((IMAGES[:90], LABELS[:90]), batch_size=64, sharding=sharding)
    with lj.Loader((IMAGES[:90], LABELS[:90]), batch_size=64, sharding=sharding,
                   drop_last=True) as loader:
        assert len(list(loader)) == 1
    with lj.Loader(LABELS[:90], batch_size=64, sharding=sharding,
                   transform=lambda batch: batch['data'][:8]) as loader:
        assert next(loader).shape == (8,)


def test_a_transform_comes_first_and_keys_stay():
    with lj.Loader(LABELS, batch_size=4, keys=1,
                   transform=lambda batch: {'half': batch['data'] / 2, 'keys': batch['keys']}) as a:
        batch = next(a)
    assert batch['half'].tolist() == [0, 0.5, 1, 1.5]
    assert type(batch['keys']) is np.ndarray


def test_a_state_continues():
    with lj.Loader(LABELS, batch_size=8, order=lx.Shuffle(seed=1), epochs=None) as loader:
        for _ in range(17):
            next(loader)
        state = loader.state_dict()
        rest = [next(loader)['data'].tolist() for _ in range(5)]
    with lj.Loader(LABELS, batch_size=8, order=lx.Shuffle(seed=1), epochs=None) as loader:
        loader.load_state_dict(state)
        assert [next(loader)['data'].tolist() for _ in range(5)] == rest


def test_rejects_invalid_arguments():
    with pytest.raises(TypeError, match='must be a jax.sharding.Sharding or None, not str'):
        lj.Loader(LABELS, sharding='data')
    with pytest.raises(TypeError, match='always returns JAX arrays'):
        lj.Loader(LABELS, out='numpy')


PROCESS = """
import sys
import jax
import numpy as np
import loaderx as lx
import loaderx.jax as lj

address, number = sys.argv[1], int(sys.argv[2])
jax.distributed.initialize(address, 2, number)
mesh = jax.sharding.Mesh(np.array(jax.devices()), ('data',))
rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('data'))
labels = np.arange(96, dtype=np.int32)
order = lx.Shuffle(seed=5)
with lj.Loader(labels, batch_size=8, order=order, sharding=rows) as loader:
    for batch in loader:
        value = batch['data']
        assert value.shape == (16,), value.shape
        own = np.concatenate([np.asarray(part.data) for part in value.addressable_shards])
        print(*own)
with lj.Loader(labels[:51], batch_size=8, sharding=rows) as loader:
    shapes = [batch['data'].shape for batch in loader]
assert shapes == 3 * [(16,)] + [(4,)], shapes    # the last batch is padded from 3 to 4
try:
    lj.Loader(labels[:51], batch_size=8, sharding=rows, uneven=True)
except ValueError as error:
    assert 'do not divide evenly' in str(error), error
else:
    raise AssertionError('a last batch of 2 and 1 was accepted')
"""


def free_port():
    """A port that no server has, below those that the kernel gives to others in the meantime."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(('localhost', random.SystemRandom().randrange(10_000, 32_000)))
            return free.getsockname()[1]


def test_processes_have_parts_of_global_arrays():
    address = f'localhost:{free_port()}'
    environment = dict(os.environ, XLA_FLAGS='--xla_force_host_platform_device_count=2')
    runs = [subprocess.Popen([sys.executable, '-c', PROCESS, address, str(number)],
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True) for number in range(2)]
    try:
        outputs = [run.communicate(timeout=120) for run in runs]
    finally:
        for run in runs:
            run.kill()
    assert [run.returncode for run in runs] == [0, 0], outputs
    for rank, (output, _) in enumerate(outputs):
        with lx.Loader(LABELS, batch_size=8, order=lx.Shuffle(seed=5), rank=rank,
                       world=2) as loader:
            expected = [batch['data'].tolist() for batch in loader]
        assert [[int(word) for word in line.split()] for line in output.splitlines()] == expected


def test_a_batch_is_a_tree_of_its_arrays():
    """JAX treats only the type dict as a dict; ours is registered."""
    for out in 'numpy', 'jax':
        batch = next(lx.Loader({'image': IMAGES, 'label': LABELS}, batch_size=4, out=out))
        assert jax.jit(lambda batch: batch['label'].sum())(batch) == 6
        shapes = jax.tree_util.tree_map(np.shape, batch)
        assert shapes == {'image': (4, 3, 4), 'label': (4,)}
        assert type(jax.device_put(batch)) is lx.Batch and batch.real.all()
