# SPDX-License-Identifier: MIT
"""Loaders of torch and of loaderx.torch, for tests that compare them. Needs torch."""

import itertools
import re
import warnings

import numpy as np
import torch
from hypothesis import strategies as st
from torch.utils import data

import loaderx as lx
from torch_cases import SEEDS

RECORDS = 41


class Pairs:
    """Records of all kinds that torch collates."""

    def __len__(self):
        return RECORDS

    def __getitem__(self, index):
        return {'x': np.full(3, index), 'y': (index, float(index), str(index))}


class Batched(Pairs):
    """The same records, a whole batch at a time."""

    def __getitems__(self, indices):
        return [self[index] for index in indices]


class Stream(data.IterableDataset):
    """Items that are divided among workers."""

    def __init__(self, length, told=None):
        self.length, self.told = length, told

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, self.length, step):
            yield {'i': i, 'worker': first}

    def __repr__(self):
        return f'Stream({self.length})'


class Sized(Stream):
    """An iterable with a length."""

    def __len__(self):
        return self.told


class Eager:
    """A user's sampler, which draws when an iterator is created."""

    def __init__(self, generator):
        self.generator = generator

    def __len__(self):
        return 17

    def __iter__(self):
        return iter(torch.randperm(17, generator=self.generator).tolist())


def make_dataset(folder):
    """Create a dataset with a field of each kind that torch has tensors for."""
    rows = np.arange(RECORDS)
    fields = {name: lx.Field(name) for name in ('bool', 'int8', 'int32', 'int64', 'float16',
                                                'float32', 'float64', 'complex64')}
    with lx.create(folder, {'data': lx.Field('uint8', (4, 3)), **fields}) as writer:
        writer.extend(data=np.arange(RECORDS * 12).reshape(RECORDS, 4, 3).astype(np.uint8),
                      **{name: rows.astype(name) for name in fields})
    return lx.open(folder)


def make_sampler(kind, generator):
    """Make a sampler of torch; None: that of shuffle=."""
    if kind == 'eager':
        return Eager(generator)
    if kind == 'subset':
        return data.SubsetRandomSampler([5, -3, 9, 1, 0, 40, 40], generator=generator)
    if kind == 'weighted':
        return data.WeightedRandomSampler([1.0] * RECORDS, 30, generator=generator)
    if kind == 'distributed':
        return data.DistributedSampler(range(RECORDS), 3, 1)
    if kind == 'tensors':
        return torch.arange(0, RECORDS, 2)
    counts = {'replaced': (True, 70), 'many': (False, 2 * RECORDS + 5), 'twice':
              (False, 2 * RECORDS), 'few': (False, 20)}
    return data.RandomSampler(range(RECORDS), *counts[kind], generator=generator)


class Case:
    """Arguments of a loader."""

    def __init__(self, kind, batch_size, drop_last, seed, as_batch_sampler):
        self.kind, self.batch_size, self.drop_last, self.seed = kind, batch_size, drop_last, seed
        self.as_batch_sampler = as_batch_sampler    # a batch sampler, not a sampler

    def make(self, module, dataset, count=0, **more):
        generator = None if self.seed is None else torch.Generator().manual_seed(self.seed)
        arguments = {'batch_size': self.batch_size, 'drop_last': self.drop_last}
        if self.kind in ('sequential', 'shuffle'):
            arguments['shuffle'] = self.kind == 'shuffle'
        elif self.as_batch_sampler and self.batch_size is not None:
            sampler = make_sampler(self.kind, generator)
            arguments = {'batch_sampler': data.BatchSampler(sampler, self.batch_size,
                                                            self.drop_last)}
        else:
            arguments['sampler'] = make_sampler(self.kind, generator)
        return module.DataLoader(dataset, num_workers=count, generator=generator, **arguments,
                                 **more)

    def __repr__(self):
        return (f'Case({self.kind}, batch_size={self.batch_size}, drop_last={self.drop_last}, '
                f'seed={self.seed}, as_batch_sampler={self.as_batch_sampler})')


STATEFUL = ['sequential', 'shuffle', 'replaced', 'many', 'twice', 'few', 'subset', 'weighted',
            'distributed']


@st.composite
def loading(draw, kinds=(*STATEFUL, 'eager', 'tensors')):
    size = draw(st.none() | st.integers(1, 50))
    return Case(draw(st.sampled_from(kinds)), size, size is not None and draw(st.booleans()),
                draw(st.none() | SEEDS), draw(st.booleans()))


def same(one, other):
    """Whether two values are equal, with the same types at every level."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def streams(loader):
    """The next numbers of the generators."""
    own = None if loader.generator is None else loader.generator.get_state()
    return [torch.get_rng_state(), own]


def passes(loader, lengths):
    """Return some batches of each pass (None: all), and the generators after each."""
    return [[list(itertools.islice(loader, length)), streams(loader)] for length in lengths]


def outcome(call):
    """Return the outcome of a call: its result or exception, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            result = call()
        except Exception as error:
            result = [type(error), re.sub(r'0x[0-9a-f]+', '', str(error))]
    warned = [str(one.message) for one in caught]
    return [result, [one for one in warned if not one.startswith('In future, it will be an error')]]
