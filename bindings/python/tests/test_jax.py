# SPDX-License-Identifier: MIT
"""Batches of JAX arrays, on one device and distributed over several."""

import os
import re

os.environ.setdefault('XLA_FLAGS', '--xla_force_host_platform_device_count=4')
os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import numpy as np
import pytest

import loaderx as lx
from damage import corrupt
from jax_processes import run_processes

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
mesh = Mesh(np.array(jax.devices()), ('data',))
rows = NamedSharding(mesh, P('data'))
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

def refuse(text, labels=labels, sharding=rows, **options):
    try:
        next(lj.Loader(labels, **{'batch_size': 8, **options}, sharding=sharding))
    except ValueError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f'accepted {options}')

refuse('equally many records', uneven=True)
refuse('equally many records', labels[:49], uneven=True)    # rank 1 has no last batch
refuse('pad_last=True', on_damage='skip')
budgeted = lx.Budgeted(lx.Sequential(n=96), np.ones(96, np.int64), 8)
refuse('Budgeted', order=budgeted, batch_size=None)
refuse(f'rank is {1 - number}, but must be {number}', rank=1 - number, world=2)
refuse('world is 4, but must be 2', rank=number, world=4)
refuse('of each 3 rows, process 0 has 0:1 and 1:2; process 1 has 2:3',
       sharding=NamedSharding(Mesh(np.array(jax.devices()[:3]), ('data',)), P('data')))
if number == 0:
    own = NamedSharding(Mesh(np.array(jax.devices()[2:]), ('data',)), P('data'))
    refuse('no device of this process', sharding=own)
refuse("batches of 'data' with shape (8,)", sharding=NamedSharding(mesh, P(None, 'data')))
refuse("'data' with shape (): ", transform=lambda batch: {'data': batch['data'].sum()[...]})
refuse("'x' with shape (6,): ", transform=lambda batch: {'x': batch['data'][:3]})

# What a jitted transform returns is placed, too; a global array must be where it belongs.
double = jax.jit(lambda x: 2 * x)
with lj.Loader(labels, batch_size=8, sharding=rows,
               transform=lambda batch: [double(batch['data']), batch['data']]) as loader:
    for made, value in loader:
        assert made.shape == (16,) and made.sharding == rows
        for part, own in zip(made.addressable_shards, value.addressable_shards):
            assert part.index == own.index and (part.data == 2 * own.data).all()
with lj.Loader(labels, batch_size=8, sharding=rows, transform=lambda batch: value) as loader:
    assert next(loader) is value
everywhere = jax.make_array_from_process_local_data(NamedSharding(mesh, P()), labels)
refuse("'all' is a global array", transform=lambda batch: {'all': everywhere})
"""


def test_processes_have_parts_of_global_arrays():
    for rank, output in enumerate(run_processes(PROCESS, 2, 2)):
        with lx.Loader(LABELS, batch_size=8, order=lx.Shuffle(seed=5), rank=rank,
                       world=2) as loader:
            expected = [batch['data'].tolist() for batch in loader]
        assert [[int(word) for word in line.split()] for line in output.splitlines()] == expected


def test_a_jitted_transform_is_placed_by_the_sharding():
    sharding = rows()
    double = jax.jit(lambda x: 2 * x)
    for transform in (lambda batch: {'a': double(batch['data']), 'b': [batch['label']]},
                      lambda batch: batch.with_values({'a': 2 * batch['data'],
                                                       'b': [jax.numpy.array(batch['label'])]})):
        with lj.Loader((IMAGES, LABELS), batch_size=32, sharding=sharding,
                       transform=transform) as loader:
            batch = next(loader)
        assert batch['a'].sharding == batch['b'][0].sharding == sharding
        assert (batch['a'] == 2 * IMAGES[:32]).all() and (batch['b'][0] == LABELS[:32]).all()
        with lj.Loader((IMAGES, LABELS), batch_size=32, transform=transform) as loader:
            assert len(next(loader)['a'].devices()) == 1


def test_an_evaluation_over_devices_counts_each_record_once():
    sharding = rows()
    count = jax.jit(lambda batch: (batch['label'] * batch['real']).sum())
    with lj.Loader(LABELS[:91], batch_size=32, sharding=sharding, pad_last=True,
                   transform=lambda batch: {'label': batch['data'], 'real': batch.real}) as loader:
        batches = list(loader)
    assert {batch['real'].shape for batch in batches} == {(32,)}
    assert sum(int(count(batch)) for batch in batches) == sum(range(91))


def test_skipping_damaged_records_keeps_the_shape(tmp_path):
    sharding = rows()
    path = tmp_path / 'd'
    with lx.create(path, {'x': lx.Field('int32', (100,))}) as writer:
        writer.extend(x=np.arange(32, dtype=np.int32)[:, None] * np.ones(100, np.int32))
    for record in 3, 17, 18, 30:
        corrupt(path, np.full(100, record, np.int32).tobytes())
    with pytest.raises(ValueError, match="on_damage='skip'.*pad_last=True"):
        lj.Loader(path, batch_size=16, sharding=sharding, on_damage='skip')
    with lj.Loader(path, batch_size=16, sharding=sharding, on_damage='skip',
                   pad_last=True) as loader:
        batches = list(loader)
    assert [batch['x'].shape for batch in batches] == [(16, 100)] * 2
    counted = [np.asarray(batch['x'])[batch.real, 0].tolist() for batch in batches]
    assert sum(counted, []) == [record for record in range(32) if record not in (3, 17, 18, 30)]


# For each type that JAX lacks: values that fit in the type that it has, and others that do not.
WIDE = {
    'int64': ([-2**31, 0, 2**31 - 1], [2**40 + 5, 2**31, -2**31 - 1, 2**63 - 1, -2**63]),
    'uint64': ([0, 2**32 - 1], [2**63 + 1, 2**32, 2**64 - 1]),
    'float64': ([0, -np.inf, np.nan, 3e38, 1 / 3, 1e-300], [1e300, -4e38]),
    'complex128': ([0, np.nan, 1 / 3 + 3e38j, complex(np.inf, 1)], [1e300, 1e300j]),
}


@pytest.mark.parametrize('dtype', WIDE)
@pytest.mark.parametrize('place', [lambda: {'out': 'jax'}, lambda: {'sharding': rows()}],
                         ids=['device', 'sharding'])
def test_a_64_bit_value_that_does_not_fit_is_an_error(dtype, place):
    """Unless jax_enable_x64 is set, and never a wrong value."""
    fits, others = (np.array(values, dtype) for values in WIDE[dtype])
    make = lx.Loader if 'out' in place() else lj.Loader

    def read(values, transform=lambda batch: {'wide': batch['a'].reshape(-1, 1)[:, :1]}):
        rest = np.repeat(values[-1:], -len(values) % 4)
        values = np.concatenate([values, rest])
        with make({'a': np.arange(len(values))}, batch_size=len(values), **place(),
                  transform=lambda batch: transform({'a': values})) as loader:
            return next(loader)

    got = read(fits, lambda batch: batch)['a']
    assert got.dtype.itemsize == np.dtype(dtype).itemsize // 2
    np.testing.assert_array_equal(np.asarray(got)[:len(fits)], fits.astype(got.dtype))
    for value in others:
        text = rf"^'wide' has the value {re.escape(str(value))}, .*jax_enable_x64.*transform"
        for whole in (np.array([value]), np.append(fits, value)):
            with pytest.raises(ValueError, match=text):
                read(whole)
            with pytest.raises(ValueError, match='^the array that the transform returned has'):
                read(whole, lambda batch: [batch['a']])
    jax.config.update('jax_enable_x64', True)
    try:
        assert np.asarray(read(others)['wide'])[:len(others), 0].tolist() == others.tolist()
    finally:
        jax.config.update('jax_enable_x64', False)


def test_64_bit_fields_are_checked_where_they_are_read(tmp_path):
    path = tmp_path / 'd'
    with lx.create(path, {'a': lx.Field('int64'), 'b': lx.Field('uint64', (None,))}) as writer:
        writer.append({'a': 7, 'b': [1, 2]})
        writer.append({'a': 2**40 + 5, 'b': [1]})
        writer.append({'a': 8, 'b': np.array([3, 2**63 + 1], np.uint64)})
        writer.append({'a': 9, 'b': []})
    with lj.Loader(path, batch_size=1) as loader:
        assert next(loader)['a'].tolist() == [7]
        with pytest.raises(ValueError, match="^'a' has the value 1099511627781, which int32"):
            next(loader)
        with pytest.raises(ValueError, match="^'b' has the value 9223372036854775809, which uint"):
            next(loader)
        assert next(loader)['b'].values.tolist() == []


def test_a_batch_is_a_tree_of_its_arrays():
    """JAX treats only the type dict as a dict; ours is registered."""
    for out in 'numpy', 'jax':
        batch = next(lx.Loader({'image': IMAGES, 'label': LABELS}, batch_size=4, out=out))
        assert jax.jit(lambda batch: batch['label'].sum())(batch) == 6
        shapes = jax.tree_util.tree_map(np.shape, batch)
        assert shapes == {'image': (4, 3, 4), 'label': (4,)}
        assert type(jax.device_put(batch)) is lx.Batch and batch.real.all()
