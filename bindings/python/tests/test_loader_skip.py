# SPDX-License-Identifier: MIT
"""Loader(skip=): batches that are left out, in every order and after a resume."""

import numpy as np
import pytest

import loaderx as lx
from test_explain import N, ORDERS, RANKS


def seen(batches):
    batches = [(batch.position, batch['data'].tolist(), batch.real.tolist()) for batch in batches]
    ends = [batch[0] for batch in batches[1:]] + [None]
    return [(*batch, end) for batch, end in zip(batches, ends)]


@pytest.mark.parametrize('order', ORDERS.values(), ids=list(ORDERS))
@pytest.mark.parametrize('rank, world', RANKS)
def test_leaves_out_the_batches_in_the_ranges_and_no_others(order, rank, world):
    options = {'order': order, 'rank': rank, 'world': world, 'epochs': 3, 'threads': 1}
    if not isinstance(order, lx.Budgeted):
        options['batch_size'] = 4
    ranges = [(9, 31), (70, 71), (80, 104)]
    kept = [batch[:3] for batch in seen(lx.Loader(np.arange(N), **options))
            if not any(first < (batch[3] or end) and batch[0] < end for first, end in ranges)]
    skipping = lx.Loader(np.arange(N), skip=ranges, **options)
    assert len(skipping) == len(kept)
    assert [batch[:3] for batch in seen(skipping)] == kept


@pytest.mark.parametrize('ranges', [
    [(9, 31)], [(0, 50)], [(0, 100)], [(30, 500)], [(49, 51), (120, 121)], [(0, 150), (150, 460)],
    [(30, 200), (100, 320), (40, 41)], [(99, 100)], [(700, 900)], [(149, 10**18)], [(0, 10**18)],
    [(0, 1), (499, 500)], [(250, 300), (50, 100)]], ids=str)
@pytest.mark.parametrize('start', [0, 77, 500, 650])
@pytest.mark.parametrize('rank, world', RANKS)
def test_counts_the_batches_of_many_epochs(ranges, start, rank, world):
    loader = lx.Loader(np.arange(N), batch_size=4, order=lx.Shuffle(seed=1), epochs=10, start=start,
                       skip=ranges, rank=rank, world=world)
    count = len(loader)
    loader.seek(start // 500 * 500)
    assert count == len(list(loader))


def test_counting_batches_takes_constant_time():
    loader = lx.Loader(np.arange(N), epochs=10**12, skip=[(3, 5), (10**10, 2 * 10**10)])
    assert len(loader) == N * 10**12 - 2 - 10**10


def test_a_run_resumes_before_the_spike_and_skips_it_on_other_ranks():
    options = {'order': lx.Shuffle(seed=7), 'epochs': None}
    with lx.Loader(np.arange(1000), batch_size=10, **options) as loader:
        before = [next(loader)['data'].tolist() for _ in range(20)]
        state = loader.state_dict()
    rows = []
    for rank in range(2):
        with lx.Loader(np.arange(1000), batch_size=5, rank=rank, world=2, skip=[(300, 450)],
                       **options) as loader:
            loader.load_state_dict(state)
            rows.append([next(loader)['data'].tolist() for _ in range(65)])
    after = np.array(rows).transpose(1, 2, 0).ravel()    # rank by rank within a batch
    epoch = np.concatenate([np.ravel(before), after])
    skipped = np.setdiff1d(np.arange(1000), epoch)
    assert len(epoch) == len(set(epoch)) == 850
    whole = next(lx.Loader(np.arange(1000), batch_size=1000, order=lx.Shuffle(seed=7)))['data']
    assert set(skipped) == set(whole[300:450])


def test_a_range_leaves_out_its_records_with_any_batch_size():
    options = {'order': lx.Shuffle(seed=7), 'epochs': 1}
    whole = next(lx.Loader(np.arange(1000), batch_size=1000, **options))['data']
    for size, world in [(1, 1), (7, 2), (64, 1), (13, 4)]:
        got = [index for rank in range(world) for batch in lx.Loader(
            np.arange(1000), batch_size=size, rank=rank, world=world, skip=[(300, 450)], **options)
            for index in batch['data'][batch.real].tolist()]
        assert len(got) == len(set(got)) > 850 - 2 * size * world
        assert not set(got) & set(whole[300:450].tolist())


def test_explain_returns_the_position_to_skip():
    options = {'order': lx.Shuffle(seed=7), 'batch_size': 32}
    loader = lx.Loader(np.arange(1000), **options)
    first, end = (loader.explain(step)[0]['position'] for step in (10, 13))
    batches = [batch['data'].tolist() for batch in loader]
    skipping = lx.Loader(np.arange(1000), skip=[(first, end)], **options)
    assert [batch['data'].tolist() for batch in skipping] == batches[:10] + batches[13:]


@pytest.mark.parametrize('skip, error, text', [
    (5, TypeError, 'pairs of positions'), ([3], TypeError, 'pairs of positions'),
    ([(1, 2, 3)], TypeError, 'pairs of positions'), ([(7, 7)], ValueError, r'\(7, 7\) is empty'),
    ([(-1, 7)], ValueError, 'a position in skip'), ([(1, 2**64)], ValueError, 'a position in skip'),
    ([(1.0, 2)], TypeError, 'a position in skip')])
def test_wrong_ranges_are_errors(skip, error, text):
    with pytest.raises(error, match=text):
        lx.Loader(np.arange(10), skip=skip)
