# SPDX-License-Identifier: MIT
"""Orders of torch, compared with the samplers of the installed torch."""

import os
import tempfile

# No example database: the directory of the tests may be read-only.
os.environ.setdefault('HYPOTHESIS_STORAGE_DIRECTORY',
                      os.path.join(tempfile.gettempdir(), f'hypothesis-{os.getuid()}'))

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DistributedSampler, RandomSampler, SubsetRandomSampler

import loaderx as lx

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', '25'))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 25)
SEEDS = st.integers(0, 2**63 - 1)    # torch represents them as int64
LENGTHS = st.integers(1, 300) | st.integers(20_000, 70_000)
EPOCHS = 3


def generator(seed):
    return torch.Generator().manual_seed(seed)


def epochs_of(sampler):
    return [i for _ in range(EPOCHS) for i in sampler]


@SETTINGS
@given(LENGTHS, st.none() | st.integers(1, 700), st.booleans(), SEEDS)
def test_random_sampler(n, samples, replacement, seed):
    theirs = RandomSampler(range(n), replacement, samples, generator(seed))
    ours = lx.TorchRandom(n=n, replacement=replacement, num_samples=samples, seed=seed)
    assert len(ours) == len(theirs)
    assert ours.take(EPOCHS * len(ours)).tolist() == epochs_of(theirs)


@pytest.mark.parametrize('n, samples', [(1, 1), (10, 10), (10, 20), (10, 25), (10, 3), (7, 700)])
def test_random_sampler_of_whole_permutations_and_parts(n, samples):
    theirs = RandomSampler(range(n), False, samples, generator(9))
    ours = lx.TorchRandom(n=n, num_samples=samples, seed=9)
    expected = epochs_of(theirs)
    assert ours.take(EPOCHS * samples).tolist() == expected
    for position in 2 * samples, samples + samples // 2:    # skips indices that were not read
        fresh = lx.TorchRandom(n=n, num_samples=samples, seed=9)
        fresh.seek(position)
        assert fresh.take(samples // 2).tolist() == expected[position:position + samples // 2]


@SETTINGS
@given(st.lists(st.integers(0, 2**40), max_size=300), SEEDS)
def test_subset_random_sampler(indices, seed):
    theirs = SubsetRandomSampler(indices, generator(seed))
    ours = lx.TorchSubset(indices, seed=seed)
    assert ours.take(EPOCHS * len(indices)).tolist() == epochs_of(theirs)


@SETTINGS
@given(LENGTHS, st.integers(1, 9) | st.integers(250, 400), st.booleans(), st.booleans(),
       st.integers(0, 2**62))
def test_distributed_sampler(n, world, shuffle, drop_last, seed):
    ours = lx.Distributed(n=n, world=world, shuffle=shuffle, drop_last=drop_last, seed=seed)
    for rank in {0, 1, world // 2, world - 1} & set(range(world)):
        theirs = DistributedSampler(range(n), world, rank, shuffle, seed, drop_last)
        share = ours.shard(rank, world)
        for epoch in range(EPOCHS):
            theirs.set_epoch(epoch)
            assert share.take(len(theirs)).tolist() == list(theirs)


@SETTINGS
@given(st.integers(1, 200), st.integers(1, 5), st.integers(1, 20), SEEDS)
def test_a_loader_reads_the_records_of_torch(n, world, size, seed):
    """Batches of all ranks, as of DataLoader(data, size, sampler=DistributedSampler(...))."""
    seed >>= 1
    order = lx.Distributed(world=world, seed=seed)
    for rank in range(world):
        theirs = DistributedSampler(range(n), world, rank, seed=seed)
        theirs.set_epoch(1)
        with lx.Loader(np.arange(n), order=order, batch_size=size, rank=rank, world=world,
                       threads=0) as loader:
            for _ in loader:
                pass
            got = [batch['data'].tolist() for batch in loader]
        every = list(theirs)
        assert got == [every[i:i + size] for i in range(0, len(every), size)]
