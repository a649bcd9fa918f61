# SPDX-License-Identifier: MIT
"""loaderx sample --budget: batches of as many records as fit."""

import numpy as np
import pytest

COSTS = [int(c) for c in np.random.default_rng(5).integers(1, 90, 60)]
SHUFFLED = ['--order', 'shuffle', '--seed', '3']


@pytest.fixture(autouse=True)
def files(folder):
    np.save(folder / 'c.npy', np.array(COSTS))


def batches(loaderx, *arguments):
    lines = loaderx.text('sample', '--costs', 'c.npy', *arguments).splitlines()
    return [[int(index) for index in line.split(' ')] for line in lines]


def cut(indices, budget, rows=60, padded=False):
    def fits(batch):
        costs = [COSTS[i] for i in batch]
        taken = len(costs) * max(costs) if padded else sum(costs)
        return taken <= budget and len(batch) <= rows

    made = []
    for index in indices:
        if made and fits([*made[-1], index]):
            made[-1].append(index)
        else:
            made.append([index])
    return made


def epoch(loaderx, number, *arguments):
    text = loaderx.text('sample', '--length', 60, *arguments, '--position', number * 60,
                        '--count', 60)
    return [int(line) for line in text.split()]


@pytest.mark.parametrize('extra, rules', [
    ([], {}), (['--rows', 3], {'rows': 3}), (['--pad-costs'], {'padded': True}),
    (['--pad-costs', '--rows', 5], {'padded': True, 'rows': 5}),
])
@pytest.mark.parametrize('order', [[], SHUFFLED, ['--order', 'random', '--seed', 4]])
def test_batches_take_as_many_samples_as_fit(loaderx, order, extra, rules):
    expected = [cut(epoch(loaderx, number, *order), 300, **rules) for number in (0, 1)]
    count = sum(map(len, expected))
    got = batches(loaderx, *order, '--budget', 300, *extra, '--count', count)
    assert got == expected[0] + expected[1]


def test_ranks_and_positions(loaderx):
    common = [*SHUFFLED, '--budget', 200]
    whole = cut(epoch(loaderx, 0, *SHUFFLED), 200)
    for rank in range(3):
        own = whole[rank::3]
        assert batches(loaderx, *common, '--rank', rank, '--world', 3, '--count',
                       len(own)) == own
    assert batches(loaderx, *common, '--position', len(whole[0]) + 1, '--count', 2) \
        == [whole[1][1:], whole[2]]
    second = cut(epoch(loaderx, 1, *SHUFFLED), 200)    # a rank without indices in the last step
    count = len(whole[2::3])
    got = batches(loaderx, *common, '--rank', 2, '--world', 3, '--count', count + 1)
    assert got == [*whole[2::3], *second[2::3]][:count + 1]


def test_cuts_combined_orders(loaderx, folder):
    np.save(folder / 's.npy', np.arange(0, 60, 2))
    common = ['--subset', 's.npy', *SHUFFLED, '--skip', 3, '--take', 20, '--repeat', 2]
    indices = [int(i) for i in loaderx.text('sample', *common, '--count', 40).split()]
    expected = cut(indices, 250)
    assert batches(loaderx, *common, '--budget', 250, '--count', len(expected)) == expected


def test_buckets(loaderx):
    common = ['--order', 'bucketed', '--lengths', 'c.npy', '--batch', 8, '--seed', 3]
    indices = [int(i) for i in loaderx.text('sample', *common, '--count', 60).split()]
    expected = cut(indices, 500, padded=True)
    assert batches(loaderx, *common, '--budget', 500, '--pad-costs', '--count',
                   len(expected)) == expected


@pytest.mark.parametrize('padded', [False, True])
def test_json(loaderx, padded):
    flag = ['--pad-costs'] if padded else []
    got = loaderx.json('sample', *SHUFFLED, '--costs', 'c.npy', '--budget', 300, *flag, '--count',
                       4, '--rank', 1, '--world', 2)
    expected = cut(epoch(loaderx, 0, *SHUFFLED), 300, padded=padded)[:8]
    own = expected[1::2]
    costs = [[COSTS[i] for i in batch] for batch in own]
    cost = sum(map(sum, costs))
    rectangles = sum(len(batch) * max(batch) for batch in costs)
    assert got['batches'] == own and 'indices' not in got
    assert got['next'] == sum(map(len, expected)) and got['samples'] == sum(map(len, own))
    assert got['cost'] == cost and got['budget'] == 300 and got['costs'] == 'c.npy'
    assert got['padding'] == pytest.approx(1 - cost / rectangles, rel=1e-5)
    assert got['fill'] == pytest.approx((rectangles if padded else cost) / 1200, rel=1e-5)
    assert got.get('pad-costs', False) is padded


def test_no_records(loaderx, folder):
    np.save(folder / 'c.npy', np.zeros(0, int))
    assert batches(loaderx, '--budget', 3) == []
    got = loaderx.json('sample', '--costs', 'c.npy', '--budget', 3)
    assert got['batches'] == [] and got['fill'] == 0 and got['padding'] == 0


def test_batches_of_many(loaderx, folder):
    np.save(folder / 'c.npy', np.ones(10_000, 'u1'))
    assert batches(loaderx, '--budget', 9000, '--count', 2) \
        == [list(range(9000)), list(range(9000, 10_000))]


@pytest.mark.parametrize('arguments, code, message', [
    (['--costs', 'c.npy'], 2, '--costs requires --budget'),
    (['--rows', 3], 2, '--rows requires --budget'),
    (['--pad-costs'], 2, '--pad-costs requires --budget'),
    (['--budget', 100], 2, '--budget requires --costs'),
    (['--budget', 0, '--costs', 'c.npy'], 2, '--budget must be at least 1'),
    (['--budget', 100, '--costs', 'c.npy', '--rows', 0], 2, '--rows must be at least 1'),
    (['--budget', 50, '--costs', 'c.npy'], 2, 'which exceeds the budget of 50'),
    (['--budget', 100, '--costs', 'z.npy'], 2, 'the cost of index 1 is 0'),
    (['--budget', 100, '--costs', 'f.npy'], 1, 'costs must be integers'),
    (['--budget', 100, '--costs', 'n.npy'], 1, 'negative, which is not allowed for costs'),
    (['--budget', 100, '--costs', 'none.npy'], 2, 'none.npy'),
])
def test_rejects_invalid_calls(loaderx, folder, arguments, code, message):
    np.save(folder / 'z.npy', np.array([1, 0]))
    np.save(folder / 'f.npy', np.array([1.5]))
    np.save(folder / 'n.npy', np.array([1, -1]))
    length = [] if 'z.npy' in arguments else ['--length', 60]
    assert message in loaderx.fails(code, 'sample', *length, *arguments)


def test_more_records_than_costs(loaderx):
    line = loaderx.fails(1, 'sample', '--length', 61, '--costs', 'c.npy', '--budget', 100)
    assert 'at least 61 costs, one for each index, but only 60 were passed' in line


def test_reports_a_rank_that_gets_no_batches(loaderx):
    line = loaderx.fails(1, 'sample', '--costs', 'c.npy', '--budget', 10**6, '--rank', 3,
                         '--world', 4)
    assert 'no batch in 100 epochs' in line


def test_sets_are_not_printed_with_batches(loaderx):
    common = ['--order', 'blend', '--set', 'a=30', '--set', 'b=30', '--budget', 100]
    line = loaderx.fails(2, 'sample', *common, '--costs', 'c.npy', '--sets')
    assert '--sets cannot be used with --budget' in line
    got = batches(loaderx, *common)
    assert len(got) == 10
