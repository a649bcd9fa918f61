# SPDX-License-Identifier: MIT
"""loaderx plan: what an epoch will cost."""

import math
import re

import numpy as np
import pytest

from arrays import values, write_idx

ROWS, WIDTH = 8000, 1000


@pytest.fixture
def train(folder, loaderx):
    """A sealed dataset of records of 1,004 bytes; return its URL."""
    x = write_idx(folder / 'x', values('uint8', (ROWS, WIDTH)))
    label = write_idx(folder / 'label', np.arange(ROWS, dtype='int32'))
    loaderx.text('import', 'train', '--idx', f'x={x}', '--idx', f'label={label}', '--seal')
    return f'file://{folder}/train'


def test_the_parameters_of_the_order(loaderx, train):
    plan = loaderx.json('plan', train, '--window', '1MiB', '--block', '16KiB')
    assert (plan['length'], plan['record_bytes']) == (ROWS, WIDTH + 4)
    assert (plan['lanes'], plan['block']) == (64, 16384 // 1004)
    stat = loaderx.json('stat', train)
    assert (plan['bytes'], plan['table_bytes']) == (stat['live_bytes'], stat['table_bytes'])
    # A record that is larger than a block is one.
    plan = loaderx.json('plan', train, '--window', '1M', '--block', '500')
    assert (plan['lanes'], plan['block']) == ((1 << 20) // 1004, 1)


def test_the_size_of_records_that_vary(loaderx, folder):
    sizes = [1, 100, 5000, 20] * 25
    (folder / 'lines.jsonl').write_text(''.join(f'{{"a": "{"x" * size}"}}\n' for size in sizes))
    loaderx.text('import', 'lines', '--format', 'jsonl', 'lines.jsonl', '--seal', '-q')
    plan = loaderx.json('plan', 'lines', '--window', '26k', '--block', '2600')
    assert plan['record_bytes'] == round(sum(sizes) / len(sizes))
    assert (plan['lanes'], plan['block']) == (10, 2)


@pytest.mark.parametrize('world, hosts', [(1, 1), (8, 2), (64, 8), (6, 3), (96, 4), (100, 100)])
def test_who_reads_what(loaderx, train, world, hosts):
    plan = loaderx.json('plan', train, '--window', '1M', '--block', '16k', '--world', world,
                        '--hosts', hosts, '--batch-size', 1)
    # Which ranks own each lane, and on which hosts they run.
    owners = [{offset % world for offset in range(lane, 64 * world, 64)} for lane in range(64)]
    places = [{rank * hosts // world for rank in ranks} for ranks in owners]
    assert {plan['ranks_per_block']} == set(map(len, owners))
    assert {plan['hosts_per_block']} == set(map(len, places))
    assert plan['requests'] == 64 * math.ceil(ROWS / 64 / 16) * plan['hosts_per_block']
    assert plan['host_bytes'] == plan['table_bytes'] + math.ceil(
        plan['bytes'] * plan['hosts_per_block'] / hosts)
    # The next better number of lanes is one that every rank divides.
    better = plan['better_lanes'] or plan['lanes']
    assert better % world == 0 and better >= world


def test_mixing(loaderx, train):
    plan = loaderx.json('plan', train, '--window', '1M', '--block', '16k', '--batch-size', 64)
    assert (plan['mixing'], plan['mixing_32_batches'], plan['better_lanes']) == (1, 16, None)
    plan = loaderx.json('plan', train, '--window', '1M', '--block', '16k', '--batch-size', 160)
    assert (plan['mixing'], plan['better_lanes']) == (2.5, 160)
    # 8,000 records are too few for so many lanes.
    plan = loaderx.json('plan', train, '--window', '1M', '--block', '16k', '--batch-size', 5000)
    assert (plan['mixing'], plan['better_lanes']) == (16, None)


def test_the_cache(loaderx, train):
    small = ['plan', train, '--window', '1M', '--block', '16k', '--batch-size', '32']
    plan = loaderx.json(*small)
    assert plan['fits'] and plan['memory_bytes'] > 64 << 20
    assert 'advice' not in loaderx.text(*small)
    assert loaderx.json(*small, '--limit', plan['host_bytes'])['fits']
    assert not loaderx.json(*small, '--limit', plan['host_bytes'] - 1)['fits']
    text = loaderx.text(*small, '--limit', plan['host_bytes'] // 2)
    assert 'the cache holds 50 % of what a host reads' in text


def test_advice(loaderx, train):
    text = loaderx.text('plan', train, '--window', '1M', '--block', '16k', '--world', '48',
                        '--batch-size', '1')
    assert 'no multiple of that of the ranks' in text
    assert 'use lx.Lanes(dataset, lanes=48, block=16)' in text and text.count('advice') == 1
    text = loaderx.text('plan', train, '--window', '1M', '--block', '16k', '--batch-size', '100')
    assert 'fewer lanes than records in a batch of all ranks, 100' in text
    assert 'use lx.Lanes(dataset, lanes=100, block=16)' in text and text.count('advice') == 1
    # 8,000 records are too few for 12,288 lanes, and 48 would not be enough.
    text = loaderx.text('plan', train, '--window', '1M', '--block', '16k', '--world', '48')
    assert 'use lx.Shuffle' in text and text.count('advice') == 1


def test_a_window_that_is_advised_is_accepted(loaderx, train):
    line = loaderx.fails(2, 'plan', train, '--block', '16k')
    assert 'too small for a window of 4.0 GiB in blocks of 16.0 KiB' in line
    most = re.search(r'choose --window (\d+) or less', line)[1]
    loaderx.text('plan', train, '--block', '16k', '--window', most)
    assert 'choose a smaller --block' in loaderx.fails(2, 'plan', train, '--block', '16M')


def test_errors(loaderx, folder, train):
    assert 'DIR' in loaderx.fails(2, 'plan')
    assert 'or less, or use the order lx.Shuffle' in loaderx.fails(2, 'plan', train)
    assert 'choose another --window' in loaderx.fails(2, 'plan', train, '--window', '1k')
    line = loaderx.fails(2, 'plan', train, '--world', '8', '--hosts', '3')
    assert '--hosts 3 must divide' in line
    assert '--window' in loaderx.fails(2, 'plan', train, '--window', '4GB')
    assert '--block' in loaderx.fails(2, 'plan', train, '--block', '0')
    assert loaderx('plan', 'absent').returncode == 2
    empty = write_idx(folder / 'none', np.zeros((0, 2), dtype='uint8'))
    loaderx.text('import', 'empty', '--idx', f'x={empty}')
    assert 'has no records' in loaderx.fails(2, 'plan', 'empty')
