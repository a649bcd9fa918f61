# SPDX-License-Identifier: MIT
"""loaderx blend: what the sets of a mixture give, as a table, as JSON and as a picture."""

import json
import os
import shutil
import signal
import time
import xml.etree.ElementTree

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
        'by the weights of offsets in an epoch:',
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
def test_ranges_count_what_is_there(loaderx, first, end):
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


def test_nothing_of_nothing(loaderx):
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
    # An epoch that ends before other weights hold has nothing of these.
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


def test_a_name_may_be_anything_on_one_line(loaderx):
    names = ['a=b', "it's", '"x"', 'größe', '`touch here`', '$(touch here)', '@a_b^c']
    sets = sum((['--set', f'{name}={i + 1}'] for i, name in enumerate(names)), [])
    got = loaderx.json('blend', *sets)
    assert [one['name'] for one in got['sets']] == names
    assert not (loaderx.folder / 'here').exists()


def test_many_sets(loaderx):
    sets = sum((['--set', f'{i}={i + 1}'] for i in range(1000)), [])
    got = loaderx.json('blend', *sets)
    assert got['length'] == sum(one['samples'] for one in got['sets']) == 500500
    assert 'cannot be told apart' in loaderx.fails(2, 'blend', *sets, '--plot', 'x.svg')


# ---- pictures

needs_gnuplot = pytest.mark.skipif(shutil.which('gnuplot') is None, reason='there is no gnuplot')


@needs_gnuplot
@pytest.mark.parametrize('name, begin', [('a.svg', b'<?xml'), ('b.png', b'\x89PNG\r\n'),
                                         ("it's $x;.pdf", b'%PDF-')])
def test_a_picture(loaderx, folder, name, begin):
    (folder / name).write_text('old')
    before = os.umask(0o027)
    try:
        text = loaderx.text('blend', *TWO, *CURRICULUM, '--plot', name)
    finally:
        os.umask(before)
    assert text == loaderx.text('blend', *TWO, *CURRICULUM)
    assert (folder / name).read_bytes().startswith(begin)
    assert (folder / name).stat().st_mode & 0o777 == 0o640
    assert [path.name for path in folder.iterdir()] == [name]


@needs_gnuplot
@pytest.mark.parametrize('arguments', [
    TWO, ['--set', 'a=1'], [*TWO, '--from', 10**15, '--until', 10**15 + 5],
    ['--set', f'a={2**64 - 1}'], [*TWO, '--weights', '0,1', '--length', 1],
])
def test_pictures_of_any_range(loaderx, folder, arguments):
    loaderx.text('blend', *arguments, '--plot', 'x.svg')
    words = ''.join(xml.etree.ElementTree.parse(folder / 'x.svg').getroot().itertext())
    assert 'position' in words and 'share of the samples, %' in words


@needs_gnuplot
def test_a_picture_has_the_names_as_they_are(loaderx, folder):
    names = ["it's", '`touch here`', '@a_b^c', 'größe', '"q\\n"']
    sets = sum((['--set', f'{name}=5'] for name in names), [])
    loaderx.text('blend', *sets, '--plot', 'x.svg')
    loaderx.json('blend', *sets, '--set', b'\xff\xfe=5'.decode(errors='surrogateescape'),
                 '--plot', 'y.svg')
    for name in 'x.svg', 'y.svg':
        texts = xml.etree.ElementTree.parse(folder / name).iter('{http://www.w3.org/2000/svg}text')
        words = [''.join(text.itertext()).strip() for text in texts]
        assert set(names) <= set(words)
    assert not (folder / 'here').exists()


@needs_gnuplot
def test_a_picture_in_the_terminal(loaderx):
    text = loaderx.text('blend', *TWO, *CURRICULUM, '--plot', '-')
    assert text.startswith(loaderx.text('blend', *TWO, *CURRICULUM) + '\n')
    for word in 'code ***', 'text ###', 'position', '100 +--':
        assert word in text
    assert max(map(len, text.splitlines())) <= 80


def fake_gnuplot(folder, script):
    (folder / 'bin').mkdir()
    path = folder / 'bin' / 'gnuplot'
    path.write_text(f'#!/bin/sh\n{script}\n')
    path.chmod(0o755)
    return {**os.environ, 'PATH': f'{folder / "bin"}:/usr/bin:/bin'}


def test_without_gnuplot(loaderx, folder):
    (folder / 'bin').mkdir()
    for name in 'cat', 'dirname', 'expr', 'file', 'ls', 'mkdir', 'mv', 'rm', 'sed', 'sh', 'uname':
        if shutil.which(name) is not None:    # libtool wants them where nothing is installed
            (folder / 'bin' / name).symlink_to(shutil.which(name))
    line = loaderx.fails(2, 'blend', *TWO, '--plot', 'x.svg',
                         env={**os.environ, 'PATH': str(folder / 'bin')})
    assert 'gnuplot, which draws, is not there: install it, in Debian as gnuplot-nox' in line
    assert [path.name for path in folder.iterdir()] == ['bin']


@pytest.mark.parametrize('script, message', [
    ('cat >/dev/null; echo half; echo "no such terminal" >&2; exit 1',
     'gnuplot failed: no such terminal; if it lacks something, install it'),
    ('exit 3', 'gnuplot failed; if it'),
    ('kill -9 $$', 'gnuplot failed; if it'),
    ('cat >/dev/null; exit 127', 'is not there: install it'),
])
@pytest.mark.parametrize('path', ['x.png', '-'])
def test_a_gnuplot_that_fails(loaderx, folder, path, script, message):
    status = 2 if '127' in script else 1
    (folder / 'x.png').write_text('old')
    environment = fake_gnuplot(folder, script)
    assert message in loaderx.fails(status, 'blend', *TWO, '--plot', path, env=environment)
    assert sorted(path.name for path in folder.iterdir()) == ['bin', 'x.png']
    assert (folder / 'x.png').read_text() == 'old'


def test_a_signal_while_it_draws(loaderx, folder):
    environment = fake_gnuplot(folder, 'echo begun >begun; exec sleep 100')
    running = loaderx.start('blend', *TWO, '--plot', 'x.png', env=environment)
    while not (folder / 'begun').exists():
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 128 + signal.SIGTERM
    running.stdout.close()
    running.stderr.close()
    assert sorted(path.name for path in folder.iterdir()) == ['begun', 'bin']


@pytest.mark.parametrize('path, message', [
    ('x', "--plot: 'x' ends in none of .svg, .png, .pdf"),
    ('x.jpg', 'ends in none of'),
    ('.svg', 'ends in none of'),
    ('no/x.svg', 'no/x.svg: cannot make a file beside it'),
])
def test_places_that_are_none(loaderx, folder, path, message):
    assert message in loaderx.fails(2, 'blend', *TWO, '--plot', path)
    assert list(folder.iterdir()) == []


def test_nothing_is_told_where_nothing_can_be_drawn(loaderx):
    assert loaderx('blend', *TWO, '--plot', 'x.jpg').stdout == b''


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
    (['--set', 'x'], "--set: 'x' is not NAME=LENGTH, such as text=60000"),
    (['--set', '=5'], "--set: '=5' is not NAME=LENGTH"),
    (['--set', 'x='], "--set x: '' is not a number from 1 to"),
    (['--set', 'x=0'], "--set x: '0' is not a number from 1 to"),
    (['--set', 'x=-1'], "--set x: '-1' is not a number from 1 to"),
    (['--set', 'x\ny=1'], '--set: a name has no control characters'),
    (['--set', 'x=1', '--set', 'y=2', '--set', 'x=3'], "--set: there are two sets 'x'"),
    (['--set', f'x={2**63}', '--set', f'y={2**63}'], '--set: the sets together have more than'),
    ([*TWO, '--weights', '1'], '--weights: there are 1 weights for 2 sets'),
    ([*TWO, '--weights', '1,2,3'], '--weights: there are 3 weights for 2 sets'),
    ([*TWO, '--weights', '1,-2'], "--weights: '-2' is no weight"),
    ([*TWO, '--weights', '1,nan'], "--weights: 'nan' is no weight"),
    ([*TWO, '--weights', 'inf,1'], "--weights: 'inf' is no weight"),
    ([*TWO, '--weights', '1e999,1'], "--weights: '1e999' is no weight"),
    ([*TWO, '--weights', '0x1,1'], "--weights: '0x1' is no weight"),
    ([*TWO, '--weights', '1,,2'], "--weights: '' is no weight"),
    ([*TWO, '--weights', ''], "--weights: '' is no weight"),
    ([*TWO, '--weights', '1 2'], "--weights: '1 2' is no weight"),
    ([*TWO, '--weights', '0,0'], '--weights: all are 0'),
    ([*TWO, '--weights', 'x:1,2'], "--weights: the offset: 'x' is not a number"),
    ([*TWO, '--weights', '1,2', '--weights', '2,1'],
     '--weights: there are weights from offset 0 on already, and those from 0 on follow'),
    ([*TWO, '--weights', '20:1,2', '--weights', '10:2,1'],
     '--weights: there are weights from offset 20 on already, and those from 10 on follow'),
    ([*TWO, '--weights', '200:1,2'],
     '--weights: those from offset 200 on are behind an epoch, which has 200 positions'),
    ([*TWO, '--weights', '200:1,2', '--exhausted', 'stop'], 'are behind an epoch, which has 200'),
    ([*TWO, '--exhausted', 'end'], "--exhausted: 'end' is none of repeat, stop, redistribute"),
    ([*TWO, '--length', '0'], "--length: '0' is not a number from 1 to"),
    ([*TWO, '--from', '5', '--until', '4'], '--until 4 is below --from 5'),
    ([*TWO, '--from', '5', '--until', '5', '--plot', 'x.svg'], '--plot: there are no positions'),
    ([*TWO, '--tables', 'x'], '--tables: --method closed has none'),
    ([*TWO, '--json', '--plot', '-'], '--plot - and --json exclude each other'),
])
def test_wrong_options(loaderx, arguments, message):
    assert message in loaderx.fails(2, 'blend', *arguments)


def test_the_document_is_one(loaderx):
    text = loaderx.text('blend', *TWO, '--json')
    assert json.loads(text) and text.endswith('}\n')
