# SPDX-License-Identifier: MIT
"""loaderx.torch.DataLoader has the results, warnings and errors of torch's, for any arguments."""

import inspect
import itertools

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from torch_cases import SETTINGS
from torch_loaders import (RECORDS, STATEFUL, Batched, Pairs, Sized, Stream, loading, make_dataset,
                           make_sampler, outcome, same, streams)

# torch itself warns, for bool scalars and for more processes than CPUs
pytestmark = [pytest.mark.filterwarnings('ignore:In future, it will be an error'),
              pytest.mark.filterwarnings('ignore:This DataLoader will create')]


@pytest.fixture(scope='module')
def stored(tmp_path_factory):
    with make_dataset(tmp_path_factory.mktemp('torch') / 'stored') as dataset:
        yield dataset


def choose(kind, stored):
    return {'pairs': Pairs(), 'batched': Batched(), 'stream': Stream(9), 'sized': Sized(9, 4),
            'list': list(range(9)), 'tensors': data.TensorDataset(torch.arange(9)),
            'stored': stored, 'array': lx.NPDataset(np.arange(9.0)), 'joined': stored + stored,
            'subset': data.Subset(stored, range(7)), 'nothing': [], 'none': None}[kind]


def identity(batch):
    return batch


KINDS = ['pairs', 'batched', 'stream', 'sized', 'list', 'tensors', 'stored', 'array', 'joined',
         'subset', 'nothing', 'none']

# Valid and invalid values of each argument; the function below makes the other arguments.
ARGUMENTS = {
    'batch_size': st.sampled_from([1, 2, 4, 50, None, 0, -1, 2.5, '3', True]),
    'shuffle': st.sampled_from([True, False, None, 'yes', 1]),
    'sampler': st.sampled_from([*STATEFUL[2:], 'eager', 'tensors', 'ints', 'strings', 'five']),
    'batch_sampler': st.sampled_from(['lists', 'empty', 'of torch', 'tuples', 'strings']),
    'num_workers': st.sampled_from([0, -1, False]),
    'collate_fn': st.sampled_from([None, identity, len, data.default_collate,
                                   data.default_convert]),
    'pin_memory': st.booleans(),
    'drop_last': st.sampled_from([True, False, 1, 'no']),
    'timeout': st.sampled_from([0, -1, 2.5]),
    'generator': st.sampled_from([None, 1, 2, 'none']),
    'prefetch_factor': st.sampled_from([None, 1, 2, 0, -1]),
    'persistent_workers': st.booleans(),
    'in_order': st.booleans(),
}
KNOWN = {name: values for name, values in ARGUMENTS.items()
         if name in inspect.signature(data.DataLoader.__init__).parameters}


def make_arguments(drawn):
    """Make samplers and generators that no other loader uses."""
    made = dict(drawn)
    if isinstance(made.get('generator'), int):
        made['generator'] = torch.Generator().manual_seed(made['generator'])
    if 'sampler' in made:
        made['sampler'] = {'ints': [3, 1, -1], 'strings': ['a'], 'five': 5}.get(
            made['sampler']) or make_sampler(made['sampler'], torch.Generator().manual_seed(9))
    if 'batch_sampler' in made:
        made['batch_sampler'] = {
            'lists': [[1, 2], [3], [-1]], 'empty': [[], [1]], 'tuples': [(1, 2), (0,)],
            'strings': 'ab', 'of torch': data.BatchSampler(range(7), 3, False),
        }[made['batch_sampler']]
    return made


def run(module, dataset, drawn):
    torch.manual_seed(7)
    loader = outcome(lambda: module.DataLoader(dataset, **make_arguments(drawn)))
    if isinstance(loader[0], list):
        return loader    # the loader rejected them
    made, warned = loader
    return [warned, outcome(lambda: len(made)), [outcome(lambda: list(made)) for _ in range(2)],
            torch.get_rng_state()]


@SETTINGS
@given(st.sampled_from(KINDS), st.fixed_dictionaries({}, optional=KNOWN))
def test_any_arguments(stored, kind, drawn):
    dataset = choose(kind, stored)
    assert same(run(lt, dataset, drawn), run(data, dataset, drawn))


@SETTINGS
@given(st.sampled_from(KINDS[:-2]), st.data())
def test_matches_torch_for_exclusive_arguments(stored, kind, chosen):
    names = chosen.draw(st.lists(st.sampled_from(sorted(KNOWN)), min_size=2, max_size=2,
                                 unique=True))
    drawn = {name: chosen.draw(KNOWN[name], name) for name in names}
    dataset = choose(kind, stored)
    assert same(run(lt, dataset, drawn), run(data, dataset, drawn))


def make_batch_sampler(base, body, has_options, sampler, generator):
    """Make an object of a user's subclass of BatchSampler; its options may not be set."""
    class Own(base):
        def __init__(self):
            if has_options or body != 'own':
                super().__init__(sampler, 3, False)
            self.inner = sampler

        def __iter__(self):
            if body == 'own':
                numbers = list(self.inner)
                yield from (numbers[first:first + 4] for first in range(2, len(numbers), 5))
            elif body == 'grows':
                for first in range(0, len(self.sampler), 11):
                    yield [first] * self.batch_size
                    self.batch_size += 1
            elif body == 'drops last':
                self.drop_last = True
                yield from super().__iter__()
            elif body == 'other sampler':
                self.sampler = data.RandomSampler(range(9), generator=generator)
                yield from super().__iter__()
            else:
                yield from (batch[::-1] for batch in super().__iter__() if batch[0] % 3)

        def __len__(self):
            return 5

    return Own()


@SETTINGS
@given(st.sampled_from([data, lt]), st.sampled_from([data, lt]), st.booleans(),
       st.sampled_from(['own', 'grows', 'drops last', 'other sampler', 'selects']),
       st.sampled_from(['pairs', 'stored']), st.sampled_from([0, 0, 0, 0, 2]), st.booleans(),
       st.integers(0, 4))
def test_subclasses_of_batch_samplers(stored, base, inner, has_options, body, kind, workers, random,
                                      cut):
    def make(module, **more):
        torch.manual_seed(7)
        generator = torch.Generator().manual_seed(8)
        sampler = (inner.RandomSampler(range(RECORDS), generator=generator) if random
                   else inner.SequentialSampler(range(RECORDS)))
        own = make_batch_sampler(base.BatchSampler, body, has_options, sampler, generator)
        return module.DataLoader(choose(kind, stored), batch_sampler=own, num_workers=workers,
                                 **more)

    def run(loader):
        return [len(loader), *([list(loader), streams(loader)] for _ in range(2))]

    expected = run(make(data))
    assert same(run(make(lt, workers='threads')), expected)

    saved = make(lt, workers='threads')
    assert repr(saved).startswith('<loaderx.torch.DataLoader of ')
    # After the last batch, the next pass would begin.
    batches = list(itertools.islice(saved, max(min(cut, len(expected[1][0]) - 1), 0)))
    resumed = make(lt, workers='threads')
    resumed.load_state_dict(saved.state_dict())
    assert same(batches + list(resumed), expected[1][0])


@pytest.mark.parametrize('kind_of_workers', ['threads', 'processes'])
@SETTINGS
@given(loading(STATEFUL), st.sampled_from(['pairs', 'batched', 'stored', 'joined', 'subset',
                                           'array']),
       st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_workers_give_the_same_batches(stored, kind_of_workers, case, kind, workers, ahead, stay):
    if kind == 'subset' and case.kind not in ('sequential', 'shuffle'):
        kind = 'stored'    # it has all records that samplers request
    dataset = choose(kind, stored) if kind != 'array' else lx.NPDataset(np.arange(RECORDS))

    def run_with(module, *more, **options):
        torch.manual_seed(7)
        loader = case.make(module, dataset, *more, **options)
        # Persistent workers get no new seed, so later passes differ.
        return [[list(loader) for _ in range(1 if stay else 2)], streams(loader)]

    assert same(run_with(lt, workers, prefetch_factor=ahead, persistent_workers=stay,
                         workers=kind_of_workers),
                run_with(data))
