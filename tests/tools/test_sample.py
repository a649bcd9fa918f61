# SPDX-License-Identifier: MIT
"""loaderx sample: the sampler's orders, reached from the command line."""

import gzip
import json

import numpy as np
import pytest

from arrays import npy_bytes


def indices(loaderx, *arguments):
    return [int(line) for line in loaderx.text('sample', *arguments).split()]


def test_sequential_wraps_around(loaderx):
    assert indices(loaderx, '--length', 4, '--count', 6) == [0, 1, 2, 3, 0, 1]
    assert indices(loaderx, '--length', 4, '--position', 10) == [2, 3, 0, 1, 2, 3, 0, 1, 2, 3]


def test_sequential_slides_its_window(loaderx):
    got = indices(loaderx, '--length', 100, '--window', 4, '--stride', 2, '--count', 12)
    assert got == [(k // 4) * 2 + k % 4 for k in range(12)]
    got = indices(loaderx, '--length', 95, '--stride', 10, '--count', 12)
    assert got == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0, 10]


@pytest.mark.parametrize('length', [1, 1000, 70000])
def test_shuffle_is_a_permutation_of_each_epoch(loaderx, length):
    got = indices(loaderx, '--length', length, '--order', 'shuffle', '--seed', 42, '--count',
                  2 * length)
    assert sorted(got[:length]) == sorted(got[length:]) == list(range(length))
    assert length == 1 or got[:length] != got[length:]


def test_random_stays_in_range_and_depends_on_the_seed(loaderx):
    one, other = (indices(loaderx, '--length', 10, '--order', 'random', '--seed', seed, '--count',
                          1000) for seed in (1, 2))
    assert set(one) == set(other) == set(range(10)) and one != other


@pytest.mark.parametrize('length, block', [(100, 7), (100, 1000), (70000, 300)])
def test_blocks_are_permutations_that_keep_neighbors_together(loaderx, length, block):
    got = indices(loaderx, '--length', length, '--order', 'blocks', '--block', block, '--seed', 42,
                  '--count', 2 * length)
    for epoch in got[:length], got[length:]:
        assert sorted(epoch) == list(range(length))
        changes = sum(a // block != b // block for a, b in zip(epoch, epoch[1:]))
        assert changes == -(-length // block) - 1
    assert got[:length] != got[length:]


@pytest.mark.parametrize('length, lanes, block', [(100, 7, 3), (101, 1, 50), (70000, 96, 300)])
def test_lanes_are_permutations_that_interleave_blocks(loaderx, length, lanes, block):
    got = indices(loaderx, '--length', length, '--order', 'lanes', '--lanes', lanes, '--block',
                  block, '--seed', 42, '--count', 2 * length)
    for epoch in got[:length], got[length:]:
        assert sorted(epoch) == list(range(length))
        for lane in range(lanes):
            assert max(epoch[lane::lanes]) - min(epoch[lane::lanes]) <= length // lanes
            first_block = epoch[lane::lanes][:block]
            assert max(first_block) - min(first_block) == block - 1
    assert got[:length] != got[length:]


@pytest.mark.parametrize('order', [['random'], ['shuffle'], ['blocks', '--block', 8],
                                   ['lanes', '--lanes', 12, '--block', 8]])
@pytest.mark.parametrize('made', [[], ['--skip', 100, '--take', 300, '--repeat', 2]])
def test_any_position_equals_a_step_by_step_run(loaderx, order, made):
    common = ['--length', 500, '--seed', 7, *made, '--order', *order]
    way = indices(loaderx, *common, '--count', 1200)
    assert indices(loaderx, *common, '--position', 700, '--count', 500) == way[700:]


def test_ranks_share_the_order(loaderx):
    common = ['--length', 101, '--order', 'shuffle', '--seed', 3]
    whole = indices(loaderx, *common, '--count', 101)
    for rank in range(4):
        part = whole[rank::4]
        assert indices(loaderx, *common, '--rank', rank, '--world', 4, '--count',
                       len(part)) == part


def test_json(loaderx):
    got = loaderx.json('sample', '--length', 50, '--order', 'shuffle', '--seed', 9, '--rank', 1,
                       '--world', 2, '--position', 20, '--count', 3)
    plain = indices(loaderx, '--length', 50, '--order', 'shuffle', '--seed', 9, '--rank', 1,
                    '--world', 2, '--position', 20, '--count', 3)
    assert got == {'order': 'shuffle', 'length': 50, 'seed': 9, 'rank': 1, 'world': 2,
                   'position': 20, 'indices': plain, 'next': 26}


SHUFFLED = ['--order', 'shuffle', '--seed', 9]


@pytest.mark.parametrize('skip, take', [(10, 20), (0, 5), (45, 20), (None, 7), (49, None), (50, 1),
                                        (3, 0), (10**19, 10**19)])
def test_skip_and_take_limit_each_epoch(loaderx, skip, take):
    common = ['--length', 50, *SHUFFLED]
    plain = indices(loaderx, *common, '--count', 150)
    first = skip or 0
    expected = sum((plain[at:at + 50][first:][:take] for at in (0, 50, 100)), [])
    cut = [*(['--skip', skip] if skip is not None else []),
           *(['--take', take] if take is not None else [])]
    assert indices(loaderx, *common, *cut, '--count', len(expected) or 9) == expected


def test_repeat_makes_longer_epochs(loaderx):
    common = ['--length', 50, *SHUFFLED, '--count', 7]
    # The ranks show it: an epoch of 100 has 25 positions for each of 4, one of 50 does not.
    plain = indices(loaderx, '--length', 50, *SHUFFLED, '--count', 100)
    got = indices(loaderx, *common, '--repeat', 2, '--rank', 3, '--world', 4, '--position', 75)
    assert got[:7] == plain[75:100][0::4]
    cut = indices(loaderx, '--length', 50, *SHUFFLED, '--take', 10, '--repeat', 3, '--count', 30)
    assert cut == plain[:10] + plain[50:60] + indices(
        loaderx, '--length', 50, *SHUFFLED, '--position', 100, '--count', 10)


# ---- subsets


TABLE = [7, 3, 3, 99, 0, 2**31 - 1]


@pytest.mark.parametrize('dtype', ['<i4', '>i4', '<i8', '>u4', '<u8'])
@pytest.mark.parametrize('pack', [bytes, gzip.compress])
def test_a_subset_has_the_indices_of_a_file(loaderx, folder, dtype, pack):
    (folder / 's').write_bytes(pack(npy_bytes(np.array(TABLE, dtype))))
    assert indices(loaderx, '--subset', 's', '--count', 8) == TABLE + TABLE[:2]
    order = indices(loaderx, '--length', 6, *SHUFFLED, '--count', 12)
    assert indices(loaderx, '--subset', 's', *SHUFFLED, '--length', 6, '--count', 12) \
        == [TABLE[i] for i in order]


def test_a_subset_of_one_byte_each_and_the_largest_index(loaderx, folder):
    np.save(folder / 's.npy', np.array([0, 255], 'uint8'))
    assert indices(loaderx, '--subset', 's.npy', '--count', 3) == [0, 255, 0]
    np.save(folder / 's.npy', np.array([2**64 - 2], 'uint64'))
    assert indices(loaderx, '--subset', 's.npy', '--count', 1) == [2**64 - 2]


def test_a_long_subset(loaderx, folder):
    table = np.random.default_rng(1).permutation(300_000)
    np.save(folder / 's.npy', table)
    got = indices(loaderx, '--subset', 's.npy', '--count', 300_000)
    assert got == table.tolist()
    assert loaderx.text('sample', '--subset', 's.npy', '--skip', 299_999) \
        == f'{table[-1]}\n' * 10


def test_an_empty_subset(loaderx, folder):
    np.save(folder / 's.npy', np.array([], 'int64'))
    assert loaderx.text('sample', '--subset', 's.npy') == ''


def test_json_contains_the_options(loaderx, folder):
    (folder / 'a "b".npy').write_bytes(npy_bytes(np.array(TABLE)))
    got = loaderx.json('sample', '--subset', 'a "b".npy', '--order', 'blocks', '--block', 2,
                       '--seed', 1, '--skip', 1, '--take', 4, '--repeat', 2, '--count', 0)
    assert got == {'order': 'blocks', 'subset': 'a "b".npy', 'length': 6, 'seed': 1, 'block': 2,
                   'skip': 1, 'take': 4, 'repeat': 2, 'rank': 0, 'world': 1, 'position': 0,
                   'indices': [], 'next': 0}


@pytest.mark.parametrize('content, message', [
    (npy_bytes(np.array([1, -5])), 'the value is negative, which is not allowed for indices'),
    (npy_bytes(np.array([-1], 'int8')), 'the value is negative, which is not allowed for indices'),
    (npy_bytes(np.array([0, 2**64 - 1], 'uint64')),
     'the value is 2^64 - 1, which is not allowed for indices'),
    (npy_bytes(np.zeros(3)), 'the elements are float64, but indices must be integers'),
    (npy_bytes(np.zeros(3, bool)), 'the elements are bool, but indices must be integers'),
    (npy_bytes(np.zeros((3, 2), int)), 'has 2 axes, but an array of indices must have one'),
    (npy_bytes(np.arange(9))[:-1], 'truncated or damaged'),
    (npy_bytes(np.arange(9)) + b'x', 'follow the 9 records'),
    (gzip.compress(npy_bytes(np.array([1]), header="{'descr': '<i8', 'fortran_order': False, "
                             "'shape': (1000000000000000,)}")), 'more than the file can hold'),
    (b'1\n2\n3\n4\n', 'not an .npy file'),
    (b'', 'truncated'),
])
def test_rejects_a_file_without_indices(loaderx, folder, content, message):
    (folder / 's').write_bytes(content)
    line = loaderx.fails(1, 'sample', '--subset', 's')
    assert line.startswith('loaderx sample: s') and message in line


def test_rejects_invalid_subsets(loaderx, folder):
    np.save(folder / 's.npy', np.arange(5))
    assert 'no.npy' in loaderx.fails(2, 'sample', '--subset', 'no.npy')
    assert '--length 4 is not the number of indices in s.npy, which is 5' in loaderx.fails(
        2, 'sample', '--subset', 's.npy', '--length', 4)
    np.save(folder / 'n.npy', np.array([0, -1]))
    assert 'n.npy, record 1: ' in loaderx.fails(1, 'sample', '--subset', 'n.npy')


# ---- mixtures


def blend(loaderx, *arguments):
    return indices(loaderx, '--order', 'blend', *arguments)


TWO = ['--set', 'code=20', '--set', 'text=60']


def test_a_blend_numbers_concatenated_sets(loaderx):
    got = blend(loaderx, *TWO, '--weights', '1,1', '--count', 400)
    for k in range(1, 400):
        assert abs(sum(index < 20 for index in got[:k]) - k / 2) <= 1
    assert [index for index in got if index < 20] == 10 * list(range(20))
    assert [index - 20 for index in got if index >= 20] == (4 * list(range(60)))[:200]


def test_weights_of_a_blend_are_the_lengths(loaderx):
    got = blend(loaderx, *TWO, '--count', 80)
    assert sorted(got) == list(range(80))
    assert got == blend(loaderx, *TWO, '--weights', '1,3', '--count', 80)


def test_each_set_of_a_blend_has_its_own_seed(loaderx):
    got = blend(loaderx, *TWO, '--weights', '1,1', '--seed', 2**64 - 1, '--count', 200)
    code, text = ([index for index in got if (index < 20) is is_code] for is_code in (True, False))
    assert code == indices(loaderx, '--length', 20, '--order', 'shuffle', '--seed', 2**64 - 1,
                           '--count', len(code))
    assert [i - 20 for i in text] == indices(loaderx, '--length', 60, '--order', 'shuffle',
                                             '--seed', 0, '--count', len(text))


def test_a_blend_can_be_sliced_and_sharded(loaderx):
    common = [*TWO, '--weights', '3,1', '--weights', '15:1,3', '--seed', 5]
    plain = blend(loaderx, *common, '--count', 240)
    assert blend(loaderx, *common, '--position', 70, '--count', 100) == plain[70:170]
    assert blend(loaderx, *common, '--skip', 10, '--take', 20, '--count', 40) \
        == plain[10:30] + plain[90:110]
    for rank in range(3):
        share = plain[rank:80:3]
        assert blend(loaderx, *common, '--rank', rank, '--world', 3, '--count', len(share)) == share


def test_exhausted_sets_of_a_blend(loaderx):
    got = blend(loaderx, *TWO, '--weights', '1,1', '--exhausted', 'redistribute', '--count', 160)
    assert sorted(got[:80]) == sorted(got[80:]) == list(range(80))
    assert blend(loaderx, *TWO, '--weights', '1,1', '--exhausted', 'stop', '--count', 40) \
        == got[:40]
    assert blend(loaderx, *TWO, '--length', 7, '--exhausted', 'stop', '--count', 14) \
        == 2 * blend(loaderx, *TWO, '--count', 7)


def test_the_names_of_the_sets(loaderx):
    common = ['--order', 'blend', *TWO, '--weights', '1,2', '--seed', 3, '--count', 100,
              '--position', 30]
    plain = indices(loaderx, *common)
    names = ['code' if index < 20 else 'text' for index in plain]
    lines = loaderx.text('sample', *common, '--sets').splitlines()
    assert lines == [f'{index}\t{name}' for index, name in zip(plain, names)]
    got = loaderx.json('sample', *common, '--sets')
    assert (got['indices'], got['sets'], got['next']) == (plain, names, 130)
    assert 'sets' not in loaderx.json('sample', *common)
    many = sum((['--set', f'{i}={i + 1}'] for i in range(300)), [])
    for line in loaderx.text('sample', '--order', 'blend', *many, '--sets', '--count',
                             1000).splitlines():
        index, name = map(int, line.split('\t'))
        assert name * (name + 1) // 2 <= index < (name + 1) * (name + 2) // 2


def test_json_of_a_blend(loaderx):
    got = loaderx.json('sample', '--order', 'blend', '--set', 'a "b"=3', '--set', f'c={2**63}',
                       '--weights', '4:0.1,1', '--length', 9, '--exhausted', 'stop', '--seed', 2,
                       '--count', 0)
    assert got == {
        'order': 'blend', 'length': 9, 'seed': 2,
        'set': [{'name': 'a "b"', 'records': 3}, {'name': 'c', 'records': 2**63}],
        'weights': [{'offset': 0, 'weights': [3, 2**63]}, {'offset': 4, 'weights': [0.1, 1]}],
        'exhausted': 'stop', 'method': 'closed', 'rank': 0, 'world': 1, 'position': 0,
        'indices': [], 'next': 0}


@pytest.mark.parametrize('arguments, message', [
    (['--order', 'blend'], '--set is missing'),
    (['--order', 'blend', '--length', '5'], '--set is missing'),
    (['--order', 'blend', *TWO, '--length', '0'], '--length must be at least 1 with --order blend'),
    (['--order', 'blend', *TWO, '--block', '5'], '--block cannot be used with --order blend'),
    (['--order', 'blend', *TWO, '--stride', '5'], '--stride cannot be used with --order blend'),
    (['--order', 'blend', *TWO, '--subset', 'x.npy'], '--subset cannot be used'),
    (['--order', 'blend', *TWO, '--weights', '1,2,3'], '--weights: 3 weights are given for 2'),
    (['--order', 'blend', *TWO, '--weights', '80:1,2'],
     'not within an epoch, which has 80 positions'),
    (['--length', '5', *TWO], '--set cannot be used with --order sequential'),
    (['--length', '5', '--weights', '1'], '--weights cannot be used with --order sequential'),
    (['--length', '5', '--exhausted', 'repeat'], '--exhausted cannot be used with --order seq'),
    (['--length', '5', '--sets'], '--sets requires --order blend'),
])
def test_rejects_invalid_blends(loaderx, arguments, message):
    assert message in loaderx.fails(2, 'sample', *arguments)


def test_large_numbers(loaderx):
    last = 2**64 - 2
    got = loaderx.json('sample', '--length', 2**64 - 1, '--position', last)
    assert got['indices'] == [last] and got['next'] == 2**64 - 1
    assert loaderx.text('sample', '--length', 2**40, '--order', 'shuffle', '--seed', 1,
                        '--count', 1000).count('\n') == 1000


@pytest.mark.parametrize('arguments', [['--length', 0], ['--length', 5, '--count', 0],
                                       ['--length', 5, '--position', 2**64 - 1]])
def test_an_empty_result_succeeds(loaderx, arguments):
    assert loaderx.text('sample', *arguments) == ''
    assert json.loads(loaderx.text('sample', *arguments, '--json'))['indices'] == []


@pytest.mark.parametrize('arguments, message', [
    ([], '--length is missing'),
    (['--length', '-1'], "--length: '-1' is not a number"),
    (['--length', '2x'], "--length: '2x' is not a number"),
    (['--length', ''], "--length: '' is not a number"),
    (['--length', str(2**64)], f"--length: '{2**64}' is not a number from 0 to {2**64 - 1}"),
    (['--length', '5', '--order', 'block'],
     "--order: unknown order 'block': use one of sequential, "),
    (['--length', '5', '--order', 'blocks', '--block', '5'], '--order blocks requires --seed'),
    (['--length', '5', '--order', 'blocks', '--seed', '5'], '--order blocks requires --block'),
    (['--length', '5', '--order', 'blocks', '--seed', '5', '--block', '0'],
     '--block must be at least 1'),
    (['--length', '5', '--order', 'lanes', '--seed', '5', '--block', '2'],
     '--order lanes requires --lanes'),
    (['--length', '9', '--order', 'lanes', '--seed', '5', '--block', '2', '--lanes', '5'],
     '5 lanes need at least 2 records each, but there are 9 records in all: use fewer lanes'),
    (['--length', '5', '--lanes', '5'], '--lanes cannot be used with --order sequential'),
    (['--length', '5', '--block', '5'], '--block cannot be used with --order sequential'),
    (['--length', '5', '--repeat', '0'], '--repeat must be at least 1'),
    (['--length', '5', '--take', '3', '--repeat', str(2**63)], 'exceed the limit of 2^64 - 1'),
    (['--length', '5', '--skip', '-1'], "--skip: '-1' is not a number"),
    (['--length', '5', '--order', 'shuffle'], '--order shuffle requires --seed'),
    (['--length', '5', '--seed', '1'], '--seed cannot be used'),
    (['--length', '5', '--order', 'random', '--seed', '1', '--stride', '2'],
     '--stride cannot be used'),
    (['--length', '5', '--window', '0'], '--window must be at least 1'),
    (['--length', '5', '--rank', '1'], '--rank 1 must be less than --world 1'),
    (['--length', '5', '--world', '0'], "--world: '0' is not a number from 1 to"),
])
def test_rejects_invalid_options(loaderx, arguments, message):
    assert message in loaderx.fails(2, 'sample', *arguments)
