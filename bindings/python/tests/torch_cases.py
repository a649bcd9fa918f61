# SPDX-License-Identifier: MIT
"""Samplers of torch and of loaderx.torch, for tests that compare them. Needs torch."""

import itertools
import json
import os
import tempfile

# No example database: the directory of the tests may be read-only.
os.environ.setdefault('HYPOTHESIS_STORAGE_DIRECTORY',
                      os.path.join(tempfile.gettempdir(), f'hypothesis-{os.getuid()}'))

import torch
from hypothesis import settings
from hypothesis import strategies as st

import loaderx.torch as lt

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', '25'))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 25)
SEEDS = st.integers(0, 2**63 - 1)
LENGTHS = st.integers(1, 100) | st.integers(4090, 9000)


class Case:
    """A sampler of torch and the same sampler of loaderx.torch, each with its own generator."""

    def __init__(self, kind, arguments, seed):
        self.kind, self.arguments, self.seed = kind, arguments, seed

    def make(self, module, generated=True):
        arguments = dict(self.arguments)
        if self.seed is not None and generated:
            arguments['generator'] = torch.Generator().manual_seed(self.seed)
        return getattr(module, self.kind)(**arguments)

    def __repr__(self):
        return f'{self.kind}({self.arguments}, seed={self.seed})'


@st.composite
def drawing(draw):
    """Draw a sampler that takes a generator, with or without one."""
    kind = draw(st.sampled_from(['RandomSampler', 'SubsetRandomSampler', 'WeightedRandomSampler']))
    n, seed = draw(LENGTHS), draw(st.none() | SEEDS)
    if kind == 'RandomSampler':
        arguments = {'data_source': range(n), 'replacement': draw(st.booleans()),
                     'num_samples': draw(st.none() | st.integers(1, 300) | st.just(3 * n))}
    elif kind == 'SubsetRandomSampler':
        arguments = {'indices': [i * i % 1009 - 5 for i in range(n)]}
    else:
        replacement = draw(st.booleans())
        arguments = {'weights': [1 + i % 7 for i in range(n)], 'replacement': replacement,
                     'num_samples': draw(st.integers(1, 2 * n if replacement else n))}
    return Case(kind, arguments, seed)


@st.composite
def sampling(draw):
    """Draw any sampler of indices."""
    kind = draw(st.sampled_from(['drawing', 'SequentialSampler', 'DistributedSampler']))
    if kind == 'drawing':
        return draw(drawing())
    n = draw(LENGTHS)
    if kind == 'SequentialSampler':
        return Case(kind, {'data_source': range(n)}, None)
    ranks = draw(st.integers(1, 9))
    return Case(kind, {'dataset': range(n), 'num_replicas': ranks, 'drop_last': draw(st.booleans()),
                       'rank': draw(st.integers(0, ranks - 1)), 'shuffle': draw(st.booleans()),
                       'seed': draw(st.integers(0, 2**62))}, None)


class Streams:
    """The next numbers of the generators: the sampler's and torch's default one."""

    def __init__(self, sampler):
        own = getattr(sampler, 'generator', None)
        self.own = None if own is None else own.get_state()
        self.default = torch.get_rng_state()

    def __eq__(self, other):
        return ((self.own is None) == (other.own is None)
                and (self.own is None or torch.equal(self.own, other.own))
                and torch.equal(self.default, other.default))


def passes(sampler, lengths):
    """Return some indices of each pass (None: all), and the generators after each."""
    torch.manual_seed(99)
    got = []
    for epoch, length in enumerate(lengths):
        if hasattr(sampler, 'set_epoch'):
            sampler.set_epoch(epoch)
        got.append((list(itertools.islice(sampler, length)), Streams(sampler)))
    return got


def through_json(state):
    return json.loads(json.dumps(state))


def check_resumed(case, cuts):
    """Check that a pass interrupted at `cuts` continues in another process as if uninterrupted."""
    torch.manual_seed(5)
    whole = case.make(lt)
    expected = [list(whole) for _ in range(2)]
    end = Streams(whole)

    torch.manual_seed(5)
    sampler, got = case.make(lt), []
    here = iter(sampler)
    for cut in sorted({min(cut, len(sampler)) for cut in cuts}):
        got += itertools.islice(here, cut - len(got))
        state, default = through_json(sampler.state_dict()), torch.get_rng_state()
        assert state == through_json(sampler.state_dict())
        sampler = case.make(lt)
        torch.manual_seed(1000 + cut)          # another process
        if sampler.generator is not None:
            sampler.generator.manual_seed(cut)
        sampler.load_state_dict(state)
        assert through_json(sampler.state_dict()) == state
        torch.set_rng_state(default)           # the caller saves the default generator
        here = iter(sampler)
        assert through_json(sampler.state_dict()) == state
    got += here
    assert [got, list(sampler)] == expected
    assert Streams(sampler) == end
