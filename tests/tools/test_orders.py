# SPDX-License-Identifier: MIT
"""loaderx sample: orders by a number of each record, of other libraries, and padded ones."""

import gzip

import numpy as np
import pytest

from arrays import npy_bytes

WEIGHTS = [1, 0, 4, 0.5, 2.5]
CLASSES = [-5, 3, 3, 3, 9, 9, 3, 3]
LENGTHS = [9, 1, 8, 2, 7, 3, 6, 4, 5]
TWO = ['--set', 'code=20', '--set', 'text=60']


def indices(loaderx, *arguments):
    return [int(line) for line in loaderx.text('sample', *arguments).split()]


@pytest.fixture
def files(folder):
    np.save(folder / 'w.npy', np.array(WEIGHTS))
    np.save(folder / 'c.npy', np.array(CLASSES))
    np.save(folder / 'l.npy', np.array(LENGTHS))


WEIGHTED = ['--order', 'weighted', '--weights-file', 'w.npy', '--seed', '1']
SHUFFLED = ['--order', 'weighted-shuffle', '--weights-file', 'w.npy', '--seed', '1']
BALANCED = ['--order', 'balanced', '--classes', 'c.npy', '--seed', '1']
BUCKETED = ['--order', 'bucketed', '--lengths', 'l.npy', '--batch', '2', '--seed', '1']

# ---- by a number of each record


def test_weighted(loaderx, files):
    got = indices(loaderx, *WEIGHTED, '--count', 50_000)
    shares = np.array(WEIGHTS) / sum(WEIGHTS)
    counts = np.bincount(got, minlength=5)
    assert counts[1] == 0 and np.all(abs(counts - 50_000 * shares) < 1000)
    assert indices(loaderx, *WEIGHTED, '--samples', 3, '--count', 100) == got[:100]
    assert indices(loaderx, *WEIGHTED, '--samples', 4, '--skip', 3, '--count', 9) == got[3:36:4]


@pytest.mark.parametrize('dtype', ['f4', '>f8', '>f4'])
def test_weights_of_any_type(loaderx, files, folder, dtype):
    got = indices(loaderx, *WEIGHTED, '--count', 100)
    (folder / 'w.npy').write_bytes(gzip.compress(npy_bytes(np.array(WEIGHTS, dtype))))
    assert indices(loaderx, *WEIGHTED, '--count', 100) == got
    for integers in np.array(WEIGHTS) * 2, np.array(WEIGHTS) * 32:
        np.save(folder / 'w.npy', integers.astype('u1'))
        assert indices(loaderx, *WEIGHTED, '--count', 100) == got


def test_weighted_shuffle(loaderx, files):
    got = indices(loaderx, *SHUFFLED, '--count', 4000)
    epochs = [got[i:i + 4] for i in range(0, 4000, 4)]
    assert all(sorted(epoch) == [0, 2, 3, 4] for epoch in epochs)
    firsts = np.bincount([epoch[0] for epoch in epochs], minlength=5)
    assert firsts[2] > firsts[4] > firsts[0] > firsts[3] > 0
    two = indices(loaderx, *SHUFFLED, '--samples', 2, '--count', 100)
    assert two == sum((epoch[:2] for epoch in epochs[:50]), [])


def test_balanced(loaderx, files):
    got = np.array(CLASSES)[indices(loaderx, *BALANCED, '--count', 300)].reshape(-1, 3)
    assert np.all(np.sort(got) == [-5, 3, 9])
    rounds = indices(loaderx, *BALANCED, '--samples', 5, '--skip', 4, '--count', 3)
    assert rounds == indices(loaderx, *BALANCED, '--count', 15)[4::5]


def test_bucketed(loaderx, files):
    got = indices(loaderx, *BUCKETED, '--bucket', 4, '--count', 18)
    for epoch in got[:9], got[9:]:
        assert sorted(epoch) == list(range(9)) and epoch[8] == 0    # the longest one is left
        buckets = [(LENGTHS[index] - 1) // 4 for index in epoch[:8]]
        assert buckets[::2] == buckets[1::2]
    assert indices(loaderx, *BUCKETED) == indices(loaderx, *BUCKETED, '--bucket', 200)


def test_numbers_of_a_subset(loaderx, files, folder):
    np.save(folder / 's.npy', np.arange(5) * 100)
    got = indices(loaderx, *WEIGHTED, '--subset', 's.npy', '--count', 50)
    assert got == [100 * i for i in indices(loaderx, *WEIGHTED, '--length', 5, '--count', 50)]


def test_padded(loaderx):
    common = ['--length', 10, '--order', 'shuffle', '--seed', 3]
    plain = indices(loaderx, *common, '--count', 20)
    one, two = plain[:10], plain[10:]
    assert indices(loaderx, *common, '--padded', 4, '--count', 24) \
        == one + one[:2] + two + two[:2]
    assert indices(loaderx, *common, '--take', 3, '--repeat', 2, '--padded', 16, '--count', 16) \
        == (one[:3] + two[:3]) * 2 + one[:3] + two[:1]


# ---- of other libraries


def greedy(lengths, weights, count):
    had, sets = [0] * len(lengths), []
    for k in range(count):
        i = max(range(len(lengths)), key=lambda i: weights[i] * max(k, 1) - had[i])
        sets.append((i, had[i]))
        had[i] += 1
    return sets


def shares(weights):
    given = np.array(weights, float)
    return (given / np.sum(given)).tolist()


@pytest.mark.parametrize('options, weights', [
    ([], shares([20, 60])), (['--weights', '1,1'], [0.5, 0.5]),
    (['--weights', '0.3,0.1'], shares([0.3, 0.1])),
    (['--weights', '0.3,0.1', '--undivided'], [0.3, 0.1]),
])
@pytest.mark.parametrize('seed', [None, 0, 1234, 2**32 - 1])
def test_nanoset(loaderx, options, weights, seed):
    given = [] if seed is None else ['--seed', seed]
    got = indices(loaderx, '--order', 'nanoset', *TWO, *options, *given, '--count', 160)
    table = np.array([[0, 20][i] + j % [20, 60][i] for i, j in greedy([20, 60], weights, 80)])
    np.random.RandomState(1234 if seed is None else seed).shuffle(table)
    assert got == table.tolist() * 2
    names = loaderx.json('sample', '--order', 'nanoset', *TWO, *options, *given, '--sets')['sets']
    assert names == ['code' if index < 20 else 'text' for index in got[:10]]


@pytest.mark.parametrize('weights', ['1,1', '3,1', '0.7,0.1', None])
def test_greedy(loaderx, weights):
    given = [] if weights is None else ['--weights', weights]
    got = indices(loaderx, '--order', 'blend', *TWO, *given, '--method', 'greedy', '--count', 400)
    divided = shares([20, 60] if weights is None else [float(w) for w in weights.split(',')])
    # Every epoch of 80 begins the loop again, and its sets continue.
    once = greedy([20, 60], divided, 80)
    totals = [sum(i == one for i, _ in once) for one in (0, 1)]
    assert got == [[0, 20][i] + (epoch * totals[i] + j) % [20, 60][i]
                   for epoch in range(5) for i, j in once]


def test_sums_many_weights_as_numpy_does(loaderx):
    rng = np.random.default_rng(5)
    weights = (rng.random(300) * 10.0 ** rng.integers(-8, 8, 300)).tolist()
    sets = sum((['--set', f's{i}=1'] for i in range(300)), [])
    got = indices(loaderx, '--order', 'blend', *sets, '--weights', ','.join(map(repr, weights)),
                  '--method', 'greedy', '--count', 300)
    assert got == [i for i, _ in greedy([1] * 300, shares(weights), 300)]


def test_exhaustive(loaderx):
    got = indices(loaderx, '--order', 'blend', *TWO, '--method', 'exhaustive', '--count', 160)
    assert sorted(got[:80]) == sorted(got[80:]) == list(range(80))
    assert [index < 20 for index in got[:4]] == [False, True, False, False]
    report = loaderx.json('sample', '--order', 'blend', *TWO, '--method', 'exhaustive')
    assert (report['method'], report['exhausted']) == ('exhaustive', 'redistribute')


def test_blend_counts_by_other_methods(loaderx):
    for method in 'greedy', 'exhaustive':
        got = indices(loaderx, '--order', 'blend', *TWO, '--method', method, '--count', 100)
        report = loaderx.json('blend', *TWO, '--method', method, '--from', 7, '--until', 100)
        few = sum(index < 20 for index in got[7:])
        assert report['method'] == method
        assert [one['samples'] for one in report['sets']] == [few, 93 - few]


def test_torch(loaderx, folder):
    torch = pytest.importorskip('torch')
    from torch.utils.data import DistributedSampler, RandomSampler, SubsetRandomSampler
    table = np.array([5, 3, 500, 7, 5])
    np.save(folder / 's.npy', table)

    def expect(sampler, *arguments):
        twice = [int(i) for _ in range(2) for i in sampler]
        assert indices(loaderx, *arguments, '--seed', 9, '--count', len(twice)) == twice

    def seeded():
        return torch.Generator().manual_seed(9)

    random = ['--order', 'torch-random', '--length', 50]
    expect(RandomSampler(range(50), generator=seeded()), *random)
    expect(RandomSampler(range(50), False, 120, seeded()), *random, '--samples', 120)
    expect(RandomSampler(range(50), True, 20, seeded()), *random, '--samples', 20, '--replacement')
    expect(SubsetRandomSampler(table, seeded()), '--order', 'torch-subset', '--subset', 's.npy')
    for drop in True, False:
        theirs = DistributedSampler(range(50), 4, 3, True, 9, drop)
        options = ['--order', 'torch-distributed', '--length', 50, '--seed', 9,
                   *(['--drop-last'] if drop else [])]
        assert indices(loaderx, *options, '--world', 4, '--rank', 3, '--count', len(theirs)) \
            == list(theirs)
        whole = indices(loaderx, *options, '--replicas', 4, '--count', 4 * len(theirs))
        assert whole[3::4] == list(theirs)


def test_torch_without_torch(loaderx):
    plain = indices(loaderx, '--order', 'torch-distributed', '--length', 10, '--replicas', 4,
                    '--count', 24)
    assert plain == [*range(10), 0, 1] * 2
    cut = indices(loaderx, '--order', 'torch-distributed', '--length', 10, '--replicas', 4,
                  '--drop-last', '--count', 16)
    assert cut == [*range(8)] * 2
    epoch = indices(loaderx, '--order', 'torch-random', '--length', 10, '--seed', 5)
    assert sorted(epoch) == list(range(10))


# ---- errors


def test_json(loaderx, files):
    got = loaderx.json('sample', *BUCKETED, '--bucket', 4, '--padded', 10, '--count', 0)
    assert got == {'order': 'bucketed', 'length': 9, 'seed': 1, 'lengths': 'l.npy', 'batch': 2,
                   'bucket': 4, 'padded': 10, 'rank': 0, 'world': 1, 'position': 0, 'indices': [],
                   'next': 0}
    got = loaderx.json('sample', '--order', 'torch-random', '--length', 5, '--seed', 1, '--samples',
                       7, '--replacement', '--count', 0)
    assert (got['samples'], got['replacement']) == (7, True)
    got = loaderx.json('sample', '--order', 'nanoset', *TWO, '--weights', '1,2', '--undivided')
    assert got['undivided'] is True and 'exhausted' not in got and 'method' not in got
    assert got['weights'] == [{'offset': 0, 'weights': [1, 2]}]


@pytest.mark.parametrize('arguments, message', [
    (WEIGHTED[:-2], '--order weighted requires --seed'),
    (['--order', 'weighted', '--length', '5', '--seed', '1'], 'requires --weights-file'),
    (['--order', 'balanced', '--length', '5', '--seed', '1'], 'requires --classes'),
    (['--order', 'bucketed', '--lengths', 'l.npy', '--seed', '1'], 'requires --batch'),
    (['--order', 'torch-random', '--seed', '1'], '--length is missing'),
    (['--order', 'torch-random', '--length', '0', '--seed', '1'],
     '--length must be at least 1 with --order torch-random'),
    (['--order', 'torch-random', '--length', '5'], 'requires --seed'),
    (['--order', 'torch-subset', '--length', '5', '--seed', '1'], 'requires --subset'),
    (['--order', 'torch-random', '--length', str(2**32), '--seed', '1'],
     '--length must be less than 2^32 with --order torch-random'),
    (['--order', 'torch-random', '--length', str(2**28), '--seed', '1', '--replacement'],
     '--length must be less than 2^28 with --order torch-random and --replacement'),
    (['--order', 'torch-random', '--length', '5', '--seed', '1', '--samples', str(2**32)],
     '--samples must be less than 2^32 with --order torch-random'),
    (['--order', 'torch-distributed', '--length', str(2**32), '--seed', '1'],
     '--length must be less than 2^32 with --order torch-distributed'),
    ([*WEIGHTED, '--samples', '0'], '--samples must be at least 1'),
    ([*WEIGHTED, '--length', '6'], '--length 6 is not the number of weights in w.npy, which is 5'),
    ([*WEIGHTED, '--replacement'], '--replacement cannot be used with --order weighted'),
    ([*WEIGHTED, '--classes', 'c.npy'], '--classes cannot be used with --order weighted'),
    ([*WEIGHTED, '--weights', '1,2'], '--weights cannot be used with --order weighted'),
    ([*WEIGHTED, '--subset', 'l.npy'],
     'the 9 indices in l.npy do not match the 5 weights in w.npy'),
    ([*SHUFFLED, '--samples', '5'],
     '--samples must be at most 4, the number of positive weights in w.npy'),
    ([*BUCKETED, '--bucket', '5'], '--bucket 5 is not a multiple of --batch 2'),
    ([*BUCKETED[:4], '--batch', '0', '--seed', '1'], '--batch must be at least 1'),
    ([*BUCKETED, '--samples', '5'], '--samples cannot be used with --order bucketed'),
    (['--length', '5', '--padded', '0'], '--padded must be at least 1'),
    (['--length', '5', '--batch', '3'], '--batch cannot be used with --order sequential'),
    (['--order', 'torch-distributed', '--length', '5', '--replicas', '0'],
     '--replicas must be at least 1'),
    (['--order', 'nanoset'], '--set is missing'),
    (['--order', 'nanoset', *TWO, '--length', '5'], '--length cannot be used with --order nanoset'),
    (['--order', 'nanoset', *TWO, '--seed', str(2**32)],
     '--seed must be less than 2^32 with --order nanoset'),
    (['--order', 'nanoset', *TWO, '--undivided'], '--undivided requires --weights'),
    (['--order', 'nanoset', *TWO, '--weights', '1,2', '--weights', '5:2,1'],
     '--weights: --order nanoset does not'),
    (['--order', 'nanoset', *TWO, '--weights', '1'], '--weights: 1 weights are given for 2 sets'),
    (['--order', 'nanoset', *TWO, '--exhausted', 'stop'],
     '--exhausted cannot be used with --order nanoset'),
    (['--order', 'nanoset', *TWO, '--method', 'greedy'],
     '--method cannot be used with --order nano'),
    (['--length', '5', '--method', 'greedy'], '--method cannot be used with --order sequential'),
])
def test_rejects_invalid_options(loaderx, files, arguments, message):
    assert message in loaderx.fails(2, 'sample', *arguments)


@pytest.mark.parametrize('command', [['blend'], ['sample', '--order', 'blend']])
@pytest.mark.parametrize('arguments, message', [
    (['--method', 'open'], "--method: invalid value 'open': use closed, greedy or exhaustive"),
    (['--method', 'greedy', '--weights', '1,2', '--weights', '5:2,1'],
     'an offset requires --method closed'),
    (['--method', 'greedy', '--weights', '5:2,1'], 'an offset requires --method closed'),
    (['--method', 'greedy', '--weights', '1e308,1e308'],
     '--weights: the sum of the weights is too large'),
    (['--method', 'exhaustive', '--weights', '1,2'], '--weights cannot be used with --method exh'),
    (['--method', 'exhaustive', '--length', '5'],
     '--length cannot be used with --method exhaustive'),
    (['--method', 'exhaustive', '--exhausted', 'stop'], '--exhausted stop cannot be used'),
    (['--method', 'greedy', '--length', str(2**60)], 'have more than 2^53 positions'),
])
def test_rejects_invalid_methods(loaderx, command, arguments, message):
    assert message in loaderx.fails(2, *command, *TWO, *arguments)


TABLED = [
    ['--order', 'blend', *TWO, '--weights', '1,2', '--method', 'greedy'],
    ['--order', 'blend', *TWO, '--method', 'exhaustive'],
    ['--order', 'nanoset', *TWO],
    WEIGHTED, SHUFFLED, BALANCED, BUCKETED,
    ['--order', 'torch-random', '--length', '20', '--seed', '1'],
    ['--order', 'torch-distributed', '--length', '20', '--seed', '1'],
    ['--order', 'torch-subset', '--subset', 'l.npy', '--seed', '1'],
    ['--order', 'torch-distributed', '--subset', 'l.npy'],
    ['--order', 'shuffle', '--subset', 'l.npy', '--seed', '1'],
]


@pytest.mark.parametrize('order', TABLED, ids=' '.join)
def test_tables_in_files(loaderx, files, folder, order):
    right = indices(loaderx, *order, '--count', 8)
    kept = [*order, '--tables', 'tables', '--count', 8]
    assert indices(loaderx, *kept) == right
    names = sorted((folder / 'tables').iterdir())
    assert names and indices(loaderx, *kept) == right
    assert sorted((folder / 'tables').iterdir()) == names
    for path in names:
        path.write_bytes(path.read_bytes()[:-1])
    shown = loaderx.fails(1, 'sample', *kept)
    assert 'is damaged' in shown and 'tables/' in shown


@pytest.mark.parametrize('order', [
    ['--order', 'shuffle', '--length', '9', '--seed', '1'],
    ['--order', 'blend', *TWO, '--weights', '1,2'],
    ['--order', 'torch-distributed', '--length', '9'],
], ids=' '.join)
def test_orders_without_tables(loaderx, order):
    line = loaderx.fails(2, 'sample', *order, '--tables', 'tables')
    assert f'--tables: this {order[1]} order has no table' in line


@pytest.mark.parametrize('option, content, message', [
    ('w', np.array([1, -1.0]),
     'w.npy, record 1: the value is negative, which is not allowed for weights'),
    ('w', np.array([1, -1]), 'w.npy, record 1: the value is negative, which is not allowed for weights'),
    ('w', np.array([np.nan, 1]),
     'w.npy, record 0: the value is not finite, which is not allowed for weights'),
    ('w', np.array([1, -np.inf], 'f4'),
     'w.npy, record 1: the value is not finite, which is not allowed for weights'),
    ('w', np.ones(2, 'f2'),
     'the elements are float16, but weights must be integers, float32 or float64'),
    ('w', np.ones(2, bool), 'the elements are bool, but weights must be'),
    ('w', np.ones((2, 2)), 'the array has 2 axes, but an array of weights must have one'),
    ('c', np.ones(2), 'the elements are float64, but classes must be integers'),
    ('c', np.ones((2, 2), int), 'the array has 2 axes, but an array of classes must have one'),
    ('l', np.array([1, -1]), 'l.npy, record 1: the value is negative, which is not allowed for lengths'),
    ('l', np.ones(2), 'the elements are float64, but lengths must be integers'),
])
def test_rejects_invalid_files(loaderx, files, folder, option, content, message):
    np.save(folder / f'{option}.npy', content)
    arguments = {'w': WEIGHTED, 'c': BALANCED, 'l': BUCKETED}[option]
    assert message in loaderx.fails(1, 'sample', *arguments)
    (folder / f'{option}.npy').write_bytes(npy_bytes(content)[:-1])
    assert 'npy' in loaderx.fails(1, 'sample', *arguments)


def test_weights_that_draw_nothing(loaderx, files, folder):
    for content, message in (np.zeros(3), 'all weights are 0'), (np.zeros(0), 'the file is empty'):
        np.save(folder / 'w.npy', content)
        for arguments in WEIGHTED, SHUFFLED:
            shown = loaderx.fails(1, 'sample', *arguments)
            assert 'w.npy: ' in shown and message in shown


def test_empty_files(loaderx, folder):
    np.save(folder / 'c.npy', np.zeros(0, int))
    np.save(folder / 'l.npy', np.zeros(0, int))
    assert indices(loaderx, *BALANCED) == indices(loaderx, *BUCKETED) == []
