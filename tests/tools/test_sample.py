# SPDX-License-Identifier: MIT
"""loaderx sample: the sampler's orders, reached from the command line."""

import json

import pytest


def indices(loaderx, *arguments):
    return [int(line) for line in loaderx.text('sample', *arguments).split()]


def test_sequential_goes_round(loaderx):
    assert indices(loaderx, '--length', 4, '--count', 6) == [0, 1, 2, 3, 0, 1]
    assert indices(loaderx, '--length', 4, '--position', 10) == [2, 3, 0, 1, 2, 3, 0, 1, 2, 3]


def test_sequential_slides_its_window(loaderx):
    got = indices(loaderx, '--length', 100, '--window', 4, '--stride', 2, '--count', 12)
    assert got == [(k // 4) * 2 + k % 4 for k in range(12)]
    got = indices(loaderx, '--length', 100, '--stride', 10, '--count', 3)
    assert got == [0, 10, 20]


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


@pytest.mark.parametrize('order', ['random', 'shuffle'])
def test_any_place_is_the_same_as_the_way_there(loaderx, order):
    common = ['--length', 500, '--order', order, '--seed', 7]
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


def test_large_numbers(loaderx):
    last = 2**64 - 2
    got = loaderx.json('sample', '--length', 2**64 - 1, '--position', last)
    assert got['indices'] == [last] and got['next'] == 2**64 - 1
    assert loaderx.text('sample', '--length', 2**40, '--order', 'shuffle', '--seed', 1,
                        '--count', 1000).count('\n') == 1000


@pytest.mark.parametrize('arguments', [['--length', 0], ['--length', 5, '--count', 0],
                                       ['--length', 5, '--position', 2**64 - 1]])
def test_nothing_is_no_failure(loaderx, arguments):
    assert loaderx.text('sample', *arguments) == ''
    assert json.loads(loaderx.text('sample', *arguments, '--json'))['indices'] == []


@pytest.mark.parametrize('arguments, message', [
    ([], '--length is missing'),
    (['--length', '-1'], "--length: '-1' is not a number"),
    (['--length', '2x'], "--length: '2x' is not a number"),
    (['--length', ''], "--length: '' is not a number"),
    (['--length', str(2**64)], f"--length: '{2**64}' is not a number from 0 to {2**64 - 1}"),
    (['--length', '5', '--order', 'blocks'], "--order: 'blocks' is none of"),
    (['--length', '5', '--order', 'shuffle'], '--order shuffle needs a --seed'),
    (['--length', '5', '--seed', '1'], '--seed is of no use'),
    (['--length', '5', '--order', 'random', '--seed', '1', '--stride', '2'], '--window and'),
    (['--length', '5', '--window', '0'], '--window and --stride are at least 1'),
    (['--length', '5', '--rank', '1'], '--rank 1 is not below --world 1'),
    (['--length', '5', '--world', '0'], '--rank 0 is not below --world 0'),
])
def test_wrong_options(loaderx, arguments, message):
    assert message in loaderx.fails(2, 'sample', *arguments)
