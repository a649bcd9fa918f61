# SPDX-License-Identifier: MIT
"""loaderx blend: the samples of each set of a mixture, as a table and as JSON."""

import json

import pytest

TWO = ['--set', 'code=50', '--set', 'text=150']


def indices(loaderx, *arguments):
    return [int(line) for line in
            loaderx.text('sample', '--order', 'blend', *arguments).split()]


def test_the_table(loaderx):
    assert loaderx.text('blend', *TWO, '--weights', '1,1').splitlines() == [
        'positions 0 to 200; an epoch has 200',
        '',
        'set   records  weight  samples   share  epochs',
        'code       50  50.00%      100  50.00%       2',
        'text      150  50.00%      100  50.00%  0.6667',
    ]


def test_weights_are_the_lengths_by_default(loaderx):
    got = loaderx.json('blend', *TWO)
    assert [(one['name'], one['records'], one['weight'], one['samples'], one['share'],
             one['epochs']) for one in got['sets']] \
        == [('code', 50, 0.25, 50, 0.25, 1), ('text', 150, 0.75, 150, 0.75, 1)]
    assert got['phases'] == [{'offset': 0, 'until': 200, 'positions': 200, 'weights': [50, 150],
                              'samples': [50, 150]}]
    assert (got['length'], got['exhausted'], got['from'], got['until']) == (200, 'repeat', 0, 200)


CURRICULUM = ['--weights', '1,0', '--weights', '20:0.1,0.3', '--weights', '60:0,5',
              '--length', '100']


def test_phases(loaderx):
    lines = loaderx.text('blend', *TWO, *CURRICULUM).splitlines()
    assert lines[5:] == [
        '',
        'phases of an epoch:',
        'offset  until  samples     code     text',
        '     0     20       20  100.00%    0.00%',
        '    20     60       40   25.00%   75.00%',
        '    60    100       40    0.00%  100.00%',
    ]
    got = loaderx.json('blend', *TWO, *CURRICULUM)
    assert [phase['weights'] for phase in got['phases']] == [[1, 0], [0.1, 0.3], [0, 5]]
    assert [phase['samples'] for phase in got['phases']] == [[20, 0], [10, 30], [0, 40]]
    assert [one['weight'] for one in got['sets']] == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize('first, end', [(0, 100), (10, 70), (15, 415), (95, 1003), (30, 30)])
def test_ranges_count_the_samples(loaderx, first, end):
    got = loaderx.json('blend', *TWO, *CURRICULUM, '--from', first, '--until', end)
    there = indices(loaderx, *TWO, *CURRICULUM, '--position', first, '--count', end - first)
    code = [index < 50 for index in there]
    assert [one['samples'] for one in got['sets']] == [sum(code), len(code) - sum(code)]
    offsets = [position % 100 for position in range(first, end)]
    for phase in got['phases']:
        within = [is_code for offset, is_code in zip(offsets, code)
                  if phase['offset'] <= offset < phase['until']]
        assert phase['positions'] == len(within)
        assert phase['samples'] == [sum(within), len(within) - sum(within)]


def test_an_empty_range_has_no_shares(loaderx):
    got = loaderx.json('blend', *TWO, '--from', 7, '--until', 7)
    assert [(one['samples'], one['share'], one['weight']) for one in got['sets']] \
        == [(0, None, None)] * 2
    assert '  -        0      -' in loaderx.text('blend', *TWO, '--from', 7, '--until', 7)


def test_the_range_ends_with_the_epoch(loaderx):
    got = loaderx.json('blend', *TWO, '--from', 250)
    assert (got['from'], got['until']) == (250, 400)


def test_stop_and_redistribute(loaderx):
    stop = loaderx.json('blend', *TWO, '--weights', '1,1', '--exhausted', 'stop')
    assert stop['length'] == 100 and stop['sets'][0]['epochs'] == 1
    every = loaderx.json('blend', *TWO, '--weights', '1,1', '--exhausted', 'redistribute')
    assert every['length'] == 200 and [one['epochs'] for one in every['sets']] == [1, 1]
    # An epoch that ends before other weights apply does not use them.
    early = loaderx.json('blend', *TWO, '--weights', '1,1', '--weights', '150:1,0', '--exhausted',
                         'stop')
    assert early['phases'][1] == {'offset': 100, 'until': 100, 'positions': 0, 'weights': [1, 0],
                                  'samples': [0, 0]}


def test_numbers_are_exact(loaderx):
    last = 2**64 - 1
    got = loaderx.json('blend', '--set', f'a={2**63}', '--set', f'b={2**63 - 1}', '--weights',
                       '0.1,0.30000000000000004')
    assert got['length'] == got['until'] == last
    assert [one['records'] for one in got['sets']] == [2**63, 2**63 - 1]
    assert sum(one['samples'] for one in got['sets']) == last
    assert got['phases'][0]['weights'] == [0.1, 0.30000000000000004]
    large = loaderx.json('blend', '--set', 'a=1', '--set', 'b=1', '--weights', '1e308,1.7e308',
                         '--length', 1000)
    assert [one['weight'] for one in large['sets']] == pytest.approx([1 / 2.7, 1.7 / 2.7])
    end = loaderx.json('blend', *TWO, '--from', last)
    assert end['until'] == last


def test_accepts_any_name_on_one_line(loaderx):
    names = ['a=b', "it's", '"x"', 'größe', '`touch here`', '$(touch here)', '@a_b^c']
    sets = sum((['--set', f'{name}={i + 1}'] for i, name in enumerate(names)), [])
    got = loaderx.json('blend', *sets)
    assert [one['name'] for one in got['sets']] == names
    assert not (loaderx.folder / 'here').exists()


def test_many_sets(loaderx):
    sets = sum((['--set', f'{i}={i + 1}'] for i in range(1000)), [])
    got = loaderx.json('blend', *sets)
    assert got['length'] == sum(one['samples'] for one in got['sets']) == 500500


# ---- tables in files


@pytest.mark.parametrize('method', ['greedy', 'exhaustive'])
def test_tables_in_files(loaderx, folder, method):
    arguments = [*TWO, '--method', method]
    right = loaderx.text('blend', *arguments)
    assert loaderx.text('blend', *arguments, '--tables', 'tables') == right
    table, = (folder / 'tables').iterdir()
    made = table.stat().st_mtime_ns
    indices(loaderx, *arguments, '--tables', 'tables')    # it is the same file
    assert loaderx.text('blend', *arguments, '--tables', 'tables') == right
    assert list((folder / 'tables').iterdir()) == [table] and table.stat().st_mtime_ns == made
    table.write_bytes(table.read_bytes()[:-1])
    assert 'is damaged' in loaderx.fails(1, 'blend', *arguments, '--tables', 'tables')


# ---- wrong calls


@pytest.mark.parametrize('arguments, message', [
    ([], '--set is missing'),
    (['--set', 'x'], "--set: 'x' is invalid: use NAME=LENGTH, such as text=60000"),
    (['--set', '=5'], "--set: '=5' is invalid: use NAME=LENGTH"),
    (['--set', 'x='], "--set x: '' is not a number from 1 to"),
    (['--set', 'x=0'], "--set x: '0' is not a number from 1 to"),
    (['--set', 'x=-1'], "--set x: '-1' is not a number from 1 to"),
    (['--set', 'x\ny=1'], '--set: a name must not contain control characters'),
    (['--set', 'x=1', '--set', 'y=2', '--set', 'x=3'], "--set: set 'x' is given twice"),
    (['--set', f'x={2**63}', '--set', f'y={2**63}'], '--set: the sets have more than'),
    ([*TWO, '--weights', '1'], '--weights: 1 weights are given for 2 sets'),
    ([*TWO, '--weights', '1,2,3'], '--weights: 3 weights are given for 2 sets'),
    ([*TWO, '--weights', '1,-2'], "--weights: '-2' is not a weight"),
    ([*TWO, '--weights', '1,nan'], "--weights: 'nan' is not a weight"),
    ([*TWO, '--weights', 'inf,1'], "--weights: 'inf' is not a weight"),
    ([*TWO, '--weights', '1e999,1'], "--weights: '1e999' is not a weight"),
    ([*TWO, '--weights', '0x1,1'], "--weights: '0x1' is not a weight"),
    ([*TWO, '--weights', '1,,2'], "--weights: '' is not a weight"),
    ([*TWO, '--weights', ''], "--weights: '' is not a weight"),
    ([*TWO, '--weights', '1 2'], "--weights: '1 2' is not a weight"),
    ([*TWO, '--weights', '0,0'], '--weights: all weights are 0'),
    ([*TWO, '--weights', 'x:1,2'], "--weights: the offset: 'x' is not a number"),
    ([*TWO, '--weights', '1,2', '--weights', '2,1'],
     '--weights: offset 0 is followed by 0'),
    ([*TWO, '--weights', '20:1,2', '--weights', '10:2,1'],
     '--weights: offset 20 is followed by 10'),
    ([*TWO, '--weights', '200:1,2'],
     '--weights: offset 200 is not within an epoch, which has 200 positions'),
    ([*TWO, '--weights', '200:1,2', '--exhausted', 'stop'],
     'is not within an epoch, which has 200'),
    ([*TWO, '--exhausted', 'end'],
     "--exhausted: invalid value 'end': use repeat, stop or redistribute"),
    ([*TWO, '--length', '0'], "--length: '0' is not a number from 1 to"),
    ([*TWO, '--from', '5', '--until', '4'], '--until 4 is less than --from 5'),
    ([*TWO, '--tables', 'x'], '--tables: --method closed has no table'),
])
def test_rejects_invalid_options(loaderx, arguments, message):
    assert message in loaderx.fails(2, 'blend', *arguments)


def test_json_is_one_document(loaderx):
    text = loaderx.text('blend', *TWO, '--json')
    assert json.loads(text) and text.endswith('}\n')
