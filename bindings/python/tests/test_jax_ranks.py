# SPDX-License-Identifier: MIT
"""Global arrays of several processes of JAX: all of them see the same array."""

import itertools
import json
import os
import random

os.environ.setdefault('XLA_FLAGS', '--xla_force_host_platform_device_count=4')
os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import numpy as np
import pytest

import loaderx as lx
from jax_processes import run_processes

pytest.importorskip('jax')
from loaderx._jax_ranks import rank_of_parts    # noqa: E402

# The specs of one or two axes of a mesh: whether and how they split the rows of a batch.
SPECS = {1: ['P()', 'P("a")', 'P(None, "a")'],
         2: ['P()', 'P("a")', 'P("b")', 'P(("a", "b"))', 'P(("b", "a"))', 'P("a", "b")',
             'P(None, "a")', 'P(None, "b")', 'P(None, ("a", "b"))']}
SHAPES = [(4,), (2, 2), (1, 4), (4, 1)]

# Prints each case with the parts of two batches that this process has: their rows and columns, and
# the values.
PROGRAM = """
table = np.arange(44 * 4, dtype=np.int32).reshape(44, 4)
for shape, order, spec in json.loads(CASES):
    mesh = Mesh(np.array(jax.devices())[order].reshape(shape), ('a', 'b')[:len(shape)])
    rows = NamedSharding(mesh, eval(spec))
    with lj.Loader(table, batch_size=8, order=lx.Shuffle(seed=5), sharding=rows, pad_last=True,
                   transform=lambda batch: {**batch, 'real': np.repeat(batch.real[:, None], 4, 1)}
                   ) as loader:
        for batch in loader:
            values, real = batch['data'], batch['real']
            assert values.sharding == real.sharding == rows
            print(json.dumps([values.shape, [
                [[[place.start or 0, place.stop or size]
                  for place, size in zip(part.index, values.shape)],
                 np.asarray(part.data).tolist(), np.asarray(marks.data).tolist()]
                for part, marks in zip(values.addressable_shards, real.addressable_shards)]]))
        print('end')
"""


def cases():
    """All specs of all meshes of the devices in order; and of some in another order."""
    draw = random.Random(3)
    for shape in SHAPES:
        for spec in SPECS[len(shape)]:
            yield shape, [0, 1, 2, 3], spec
    for shape, spec in [((4,), 'P("a")'), ((2, 2), 'P("a")'), ((2, 2), 'P("b", "a")')]:
        for order in draw.sample(list(itertools.permutations(range(4))), 6):
            yield shape, list(order), spec


def assemble(shape, parts):
    """The whole array, and the marks; all parts with the same place must be the same."""
    values, real = np.full(shape, -1), np.zeros(shape, np.int8)
    for ((top, bottom), (left, right)), part, marks in parts:
        place = np.s_[top:bottom, left:right]
        seen = values[place] >= 0
        assert (values[place] == part)[seen].all() and (real[place] == marks)[seen].all()
        values[place], real[place] = part, marks
    assert (values >= 0).all() and (real == real[:, :1]).all()
    return values, real[:, 0].astype(bool)


@pytest.mark.parametrize('count', [2, 4])
def test_all_processes_see_the_same_array(count):
    tried = list(cases())
    outputs = run_processes(f'CASES = {json.dumps(json.dumps(tried))}\n{PROGRAM}', count, 4 // count)
    epochs = [output.split('end\n') for output in outputs]
    assert {len(one) for one in epochs} == {len(tried) + 1}
    for case, *printed in zip(tried, *epochs):
        steps = list(zip(*(map(json.loads, one.splitlines()) for one in printed)))
        shape, counted, at = steps[0][0][0], [], 0
        # As many ranks as there are processes with rows of their own.
        assert shape[0] % 8 == 0 and len(steps) == -(-44 // shape[0]), case
        order = lx.Shuffle(n=44, seed=5).take(44)
        for step in steps:
            assert all(size == shape for size, _ in step), case
            values, real = assemble(shape, [part for _, parts in step for part in parts])
            assert (values == values[:, :1] + np.arange(4)).all(), case
            records = values[:, 0] // 4
            assert set(records[real]) == set(order[at:at + shape[0]]), case
            counted += records[real].tolist()
            at += shape[0]
        assert sorted(counted) == list(range(44)), case


def test_processes_that_have_the_same_rows_have_one_rank():
    halves, whole = [(0, 2), (2, 4)], [(0, 4)]
    assert rank_of_parts({0: whole, 1: whole}, 1, 4) == (0, 1)
    assert rank_of_parts({0: halves, 1: halves[::-1]}, 1, 4) == (0, 1)
    assert rank_of_parts({3: [(2, 4)], 1: [(0, 2)], 7: [(2, 4)], 2: [(0, 2)]}, 7, 4) == (1, 2)
    # a mesh in the order of the network: the rows of a process are not adjacent
    assert [rank_of_parts({0: [(0, 1), (3, 4)], 1: [(1, 2), (2, 3)]}, process, 4)
            for process in range(2)] == [(0, 2), (1, 2)]


@pytest.mark.parametrize('parts', [
    {0: [(0, 1), (1, 2)], 1: [(2, 3)]},               # of three devices
    {0: [(0, 2), (2, 4)], 1: [(2, 4), (4, 6)], 2: [(4, 6), (0, 2)]},    # overlap
    {0: [(0, 4)], 1: [(0, 2)]}, {0: [(0, 2)], 1: [(1, 3)]}, {0: [(0, 2)], 1: [(3, 5)]},
    {0: [(0, 1)], 1: [(1, 2)]}], ids=str)
def test_refuses_processes_that_do_not_divide_the_rows_among_them(parts):
    rows = max(end for some in parts.values() for _, end in some) + (parts == {0: [(0, 1)],
                                                                              1: [(1, 2)]})
    with pytest.raises(ValueError, match=r'not divide batches evenly.*process 0 has 0:\d.*; '
                                         r'process 1 has \d:\d'):
        rank_of_parts(parts, 0, rows)


def test_refuses_a_process_without_rows():
    with pytest.raises(ValueError, match='no device of this process, whose index is 2'):
        rank_of_parts({0: [(0, 2)], 1: [(2, 4)]}, 2, 4)
