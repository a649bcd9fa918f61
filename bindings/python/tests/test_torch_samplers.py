# SPDX-License-Identifier: MIT
"""Samplers of loaderx.torch, compared with those of the installed torch, including their draws."""

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

from hypothesis import given
from hypothesis import strategies as st
from torch.utils import data

import loaderx.torch as lt
from torch_cases import SETTINGS, Case, check_resumed, passes, sampling


@SETTINGS
@given(sampling(), st.lists(st.none() | st.integers(0, 70) | st.integers(0, 9000), max_size=4))
def test_numbers_and_draws_match_torch(case, lengths):
    """Compare complete and interrupted passes."""
    ours, theirs = case.make(lt), case.make(data)
    assert len(ours) == len(theirs)
    assert isinstance(ours, type(theirs))
    assert passes(ours, [None, *lengths, None]) == passes(theirs, [None, *lengths, None])


@pytest.mark.parametrize('n, samples', [(1, 1), (10, 10), (10, 20), (10, 25), (10, 3), (7, 700),
                                        (32, 64), (100, 31), (100, 32), (100, 33)])
@pytest.mark.parametrize('replacement', [False, True])
@pytest.mark.parametrize('seed', [None, 3])
def test_where_blocks_end(n, samples, replacement, seed):
    """Test every number of requested indices, with and without a request after the last."""
    case = Case('RandomSampler', {'data_source': range(n), 'num_samples': samples,
                                  'replacement': replacement}, seed)
    for length in range(min(samples, 70) + 2):
        assert passes(case.make(lt), [length, None]) == passes(case.make(data), [length, None])


@pytest.mark.parametrize('replacement, n, samples', [(True, 2**28, 100), (True, 2**40, 70),
                                                     (False, 30, 100)])
def test_leaves_other_draws_to_torch(replacement, n, samples):
    case = Case('RandomSampler', {'data_source': range(n), 'num_samples': samples,
                                  'replacement': replacement}, None)
    assert passes(case.make(lt), [None, 33, None]) == passes(case.make(data), [None, 33, None])
    check_resumed(case, [0, 1, 32, 40, 65])


@pytest.mark.parametrize('indices', [
    [5, 5, 7], (9, 8), range(3, 90, 4), 'abcde', np.arange(9) * 3, torch.arange(7), [], ['x', None],
    [2.5, 1.0],
], ids=str)
def test_subsets_of_anything(indices):
    case = Case('SubsetRandomSampler', {'indices': indices}, 4)
    assert passes(case.make(lt), [None, 1, None]) == passes(case.make(data), [None, 1, None])
    assert list(map(type, case.make(lt))) == list(map(type, case.make(data)))
    check_resumed(case, [0, 1])


def test_one_generator_for_several_samplers():
    """Iterators draw alternately, each when its numbers are used up."""
    def streams(module):
        shared = torch.Generator().manual_seed(8)
        three = [module.RandomSampler(range(50), True, 100, shared),
                 module.RandomSampler(range(20), False, 100, shared),
                 module.WeightedRandomSampler([1, 2, 3], 100, generator=shared)]
        return list(zip(*three)), shared.get_state().tolist()

    assert streams(lt) == streams(data)


@SETTINGS
@given(sampling(), st.integers(1, 50), st.booleans(), st.lists(st.none() | st.integers(0, 30),
                                                               max_size=3))
def test_batches_match_torch(case, size, drop_last, lengths):
    ours = lt.BatchSampler(case.make(lt), size, drop_last)
    theirs = data.BatchSampler(case.make(data), size, drop_last)
    assert len(ours) == len(theirs)
    for sampler in ours, theirs:
        sampler.generator = getattr(sampler.sampler, 'generator', None)    # used by Streams
    assert passes(ours, [None, *lengths, None]) == passes(theirs, [None, *lengths, None])


@pytest.mark.parametrize('kind, arguments', [
    ('RandomSampler', {'data_source': []}),
    ('RandomSampler', {'data_source': [1], 'replacement': 1}),
    ('RandomSampler', {'data_source': [1], 'num_samples': 0}),
    ('RandomSampler', {'data_source': [1], 'num_samples': -3}),
    ('RandomSampler', {'data_source': [1], 'num_samples': 2.0}),
    ('RandomSampler', {'data_source': 5}),
    ('RandomSampler', {}),
    ('RandomSampler', {'data_source': [], 'num_samples': 3}),
    ('RandomSampler', {'data_source': [], 'num_samples': 3, 'replacement': True}),
    ('RandomSampler', {'data_source': [1], 'generator': 5}),
    ('SequentialSampler', {'data_source': None}),
    ('SubsetRandomSampler', {'indices': 5}),
    ('WeightedRandomSampler', {'weights': [1.0], 'num_samples': 0}),
    ('WeightedRandomSampler', {'weights': [1.0], 'num_samples': True}),
    ('WeightedRandomSampler', {'weights': [1.0], 'num_samples': 1, 'replacement': 0}),
    ('WeightedRandomSampler', {'weights': [[1.0]], 'num_samples': 1}),
    ('WeightedRandomSampler', {'weights': ['x'], 'num_samples': 1}),
    ('WeightedRandomSampler', {'weights': [], 'num_samples': 1}),
    ('WeightedRandomSampler', {'weights': [1.0, -1.0], 'num_samples': 1}),
    ('WeightedRandomSampler', {'weights': [1.0, float('nan')], 'num_samples': 1}),
    ('WeightedRandomSampler', {'weights': [0.0, 0.0], 'num_samples': 1}),
    ('WeightedRandomSampler', {'weights': [1.0], 'num_samples': 2, 'replacement': False}),
    ('BatchSampler', {'sampler': [1], 'batch_size': 0, 'drop_last': False}),
    ('BatchSampler', {'sampler': [1], 'batch_size': True, 'drop_last': False}),
    ('BatchSampler', {'sampler': [1], 'batch_size': 2.5, 'drop_last': False}),
    ('BatchSampler', {'sampler': [1], 'batch_size': 1, 'drop_last': 1}),
    ('BatchSampler', {'sampler': 7, 'batch_size': 1, 'drop_last': True}),
    ('DistributedSampler', {'dataset': [1], 'num_replicas': 2, 'rank': 2}),
    ('DistributedSampler', {'dataset': [1], 'num_replicas': 2, 'rank': -1}),
    ('DistributedSampler', {'dataset': [1], 'num_replicas': 2, 'rank': 0, 'seed': 2**65}),
    ('DistributedSampler', {'dataset': [1], 'num_replicas': 2, 'rank': 0, 'seed': 'x'}),
    ('DistributedSampler', {'dataset': [1]}),
], ids=str)
def test_errors_match_torch(kind, arguments):
    def error(module):
        with pytest.raises(Exception) as caught:
            list(getattr(module, kind)(**arguments))
        return type(caught.value), str(caught.value)

    assert error(lt) == error(data)


@pytest.mark.parametrize('seed', [-5, -2**63, 2**32 + 7, 2**63 - 2, 2**63, 2**64 - 1])
def test_distributed_seeds_that_torch_takes(seed):
    for epoch in (0, 1) if seed < 2**64 - 1 else (0,):
        samplers = [module.DistributedSampler(range(100), 3, 1, seed=seed) for module in (lt, data)]
        for sampler in samplers:
            sampler.set_epoch(epoch)
        assert list(samplers[0]) == list(samplers[1])


def test_a_distributed_sampler_of_an_empty_set_and_of_few():
    for n, ranks, drop_last in [(0, 3, False), (0, 3, True), (2, 5, False), (2, 5, True),
                                (1, 7, False), (5, 5, True)]:
        for rank in range(ranks):
            case = Case('DistributedSampler', {'dataset': range(n), 'num_replicas': ranks,
                                               'rank': rank, 'drop_last': drop_last}, None)
            assert passes(case.make(lt), [None]) == passes(case.make(data), [None])


@pytest.mark.parametrize('workers', [0, 2])
def test_the_loader_of_torch_accepts_them(workers):
    def batches(module):
        own = torch.Generator().manual_seed(1)
        sampler = module.BatchSampler(module.RandomSampler(range(40), generator=own), 7, False)
        loader = data.DataLoader(range(40), batch_sampler=sampler, generator=own,
                                 num_workers=workers)
        return [[batch.tolist() for batch in loader] for _ in range(3)]

    assert batches(lt) == batches(data)
