# SPDX-License-Identifier: MIT
"""loaderx cache: what a cache contains, and removing it."""

import time

import pytest

from arrays import values, write_idx


@pytest.fixture
def cache(folder, loaderx):
    """A cache of the datasets `a` and `b`, used in this order; return the uuids."""
    uuids = []
    for name in 'a', 'b':
        x = write_idx(folder / 'x', values('uint8', (2000, 500)))
        loaderx.text('import', name, '--idx', f'x={x}', '--seal')
        loaderx.text('digest', f'file://{folder}/{name}', '--cache', 'cache', '-q')
        uuids.append(loaderx.json('stat', name)['uuid'])
    return uuids


def test_lists_datasets(loaderx, folder, cache):
    got = loaderx.json('cache', 'cache')
    assert got['path'] == 'cache' and [one['uuid'] for one in got['datasets']] == cache
    assert got['bytes'] == sum(one['bytes'] for one in got['datasets'])
    for one in got['datasets']:
        assert one['bytes'] >= 1_000_000 and not one['in_use']
        assert abs(one['last_use'] - time.time()) < 600
        assert f'{folder}/' in one['url']
    lines = loaderx.text('cache', 'cache').splitlines()
    assert [line.split()[0] for line in lines] == [*cache, 'cache:']
    assert lines[2].startswith('cache: 2 datasets, ')


def test_removes_datasets(loaderx, folder, cache):
    got = loaderx.json('cache', 'cache', '--trim', '1500k')
    assert [one['uuid'] for one in got['datasets']] == cache[1:]
    assert loaderx.text('cache', 'cache', '--remove', cache[1]).startswith('cache: 0 datasets, ')
    assert 'cache' in loaderx.fails(2, 'cache', 'cache', '--remove', cache[1])
    assert loaderx.json('cache', 'cache')['datasets'] == []
    loaderx.text('digest', f'file://{folder}/a', '--cache', 'cache', '-q')
    assert [one['uuid'] for one in loaderx.json('cache', 'cache')['datasets']] == cache[:1]


def test_errors(loaderx, folder, cache):
    assert 'FOLDER is missing' in loaderx.fails(2, 'cache')
    loaderx.fails(2, 'cache', 'nowhere')
    assert not (folder / 'nowhere').exists()
    loaderx.fails(2, 'cache', 'a')
    loaderx.fails(2, 'cache', 'cache', '--remove', 'x')
    loaderx.fails(2, 'cache', 'cache', '--trim', 'x')
    (folder / 'cache').chmod(0o777)
    loaderx.fails(2, 'cache', 'cache')
