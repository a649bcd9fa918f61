# SPDX-License-Identifier: MIT
"""loaderx join: one dataset of many, whose payloads stay where they are."""

import os
import shutil

import pytest

from arrays import values, write_idx

ROWS = 300


@pytest.fixture
def parts(folder, loaderx):
    """Three sealed parts inside the folder `all`, and the same records in `whole`."""
    x = values('uint8', (3 * ROWS, 40))
    write_idx(folder / 'whole.idx', x)
    loaderx.text('import', 'whole', '--idx', f'x={folder}/whole.idx', '--seal', '-q')
    (folder / 'all' / 'part').mkdir(parents=True)
    names = []
    for i in range(3):
        write_idx(folder / 'part.idx', x[i * ROWS:(i + 1) * ROWS])
        names.append(f'all/part/{i}')
        loaderx.text('import', names[i], '--idx', f'x={folder}/part.idx', '--chunk-records', '70',
                     '--seal', '-q')
    return names


def digest(loaderx, path):
    return loaderx.json('digest', path)['digest']


def test_joins(loaderx, folder, parts):
    assert loaderx.text('join', 'all', *parts) == f'all: {3 * ROWS} records, joined from 3 parts\n'
    loaderx.text('verify', 'all')
    assert digest(loaderx, 'all') == digest(loaderx, 'whole')
    assert not list((folder / 'all' / 'chunk').iterdir())


def test_payloads_are_not_read(loaderx, folder, parts):
    for part in parts:
        (folder / part / 'chunk').rename(folder / part / 'away')
        (folder / part / 'chunk').mkdir()
    assert loaderx.json('join', 'all', *parts) == {'path': 'all', 'parts': 3, 'length': 3 * ROWS}
    for part in parts:
        (folder / part / 'chunk').rmdir()
        (folder / part / 'away').rename(folder / part / 'chunk')
    loaderx.text('verify', 'all')


def test_the_order_is_that_of_the_arguments(loaderx, parts):
    loaderx.text('join', 'all', *reversed(parts), '-q')
    loaderx.text('copy', *reversed(parts), 'copy', '-q')
    assert digest(loaderx, 'all') == digest(loaderx, 'copy')


def test_refuses(loaderx, folder, parts):
    assert 'PART is missing' in loaderx.fails(2, 'join', 'all')
    assert 'whole is not inside' in loaderx.fails(2, 'join', 'all', parts[0], 'whole')
    assert 'is not inside' in loaderx.fails(2, 'join', 'all', 'all')
    assert 'given twice' in loaderx.fails(2, 'join', 'all', parts[0], parts[0])
    assert '--scratch requires a URL' in loaderx.fails(2, 'join', 'all', *parts, '--scratch', '.')
    loaderx.fails(2, 'join', 'none', *parts)
    # before the parts are read
    assert 'can only be read' in loaderx.fails(2, 'join', 'https://host/a', 'https://host/a/b')
    loaderx.text('unseal', parts[1])
    assert 'not sealed' in loaderx.fails(2, 'join', 'all', *parts)
    loaderx.text('seal', parts[1])
    loaderx.text('import', 'all/part/other', '--idx', f'y={folder}/part.idx', '--seal', '-q')
    assert "missing" in loaderx.fails(1, 'join', 'all', *parts, 'all/part/other')
    (folder / 'all' / 'notes').write_text('mine')
    assert "not empty: 'notes' is in the way" in loaderx.fails(2, 'join', 'all', *parts)
    assert not (folder / 'all' / 'meta.json').exists()
    assert (folder / 'all' / 'notes').read_text() == 'mine'


def test_continues_after_kill(loaderx, folder, parts):
    delay = 0.002
    while not (folder / 'all' / 'meta.json').exists():
        loaderx.kill_after(delay, 'join', 'all', *parts, '--quiet')
        delay *= 1.5
    loaderx.text('verify', 'all')


def test_joins_at_a_url(loaderx, folder, parts):
    url = f'file://{folder}/there'
    for part in parts:
        loaderx.text('push', part, f'{url}/{part[4:]}', '-q')
    given = [f'{url}/{part[4:]}' for part in parts]
    (folder / 'scratch').mkdir()
    loaderx.text('join', url, *given, '--scratch', 'scratch')
    assert not os.listdir(folder / 'scratch')
    loaderx.text('verify', url)
    assert digest(loaderx, url) == digest(loaderx, 'whole')
    # a chunk that no task has sent
    (folder / 'there' / 'part' / '1' / 'chunk' / '2.zr').rename(folder / 'away')
    for name in (folder / 'there').iterdir():
        if name.is_file():
            name.unlink()
    message = loaderx.fails(1, 'join', url, *given)
    assert 'there is no part/1/chunk/2.zr' in message and 'push the part first' in message
    assert not (folder / 'there' / 'meta.json.new').exists()
    (folder / 'away').rename(folder / 'there' / 'part' / '1' / 'chunk' / '2.zr')
    loaderx.text('join', url, *given)
    # the same parts are the same dataset, so there is nothing to do
    loaderx.text('join', f'{url}/', *given, '--scratch', 'scratch', '-q')
    assert 'is not inside' in loaderx.fails(2, 'join', url, parts[0])
    loaderx.fails(2, 'join', url, *reversed(given))    # another dataset is there


def test_joins_more_parts_at_a_url_than_are_open_at_a_time(loaderx, folder):
    (folder / 'one.jsonl').write_text('{"a": 1}\n')
    loaderx.text('import', 'one', '--format', 'jsonl', 'one.jsonl', '--seal', '-q')
    for i in range(130):
        shutil.copytree(folder / 'one', folder / 'all' / f'{i:03}')
    url = f'file://{folder}/all'
    given = [f'{url}/{i:03}' for i in range(130)]
    assert loaderx.text('join', url, *given) == f'{url}: 130 records, joined from 130 parts\n'
    loaderx.text('verify', url)
    assert loaderx.text('get', url, 129, '--field', 'a') == '1\n'
    assert 'none' in loaderx.fails(2, 'join', url, *given, f'{url}/none')
