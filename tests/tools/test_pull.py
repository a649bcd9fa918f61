# SPDX-License-Identifier: MIT
"""loaderx pull: a complete copy, in as many attempts as it takes."""

import shutil

import pytest

from arrays import values, write_idx

ROWS = 200_000


@pytest.fixture
def sealed(folder, loaderx):
    """A sealed dataset `train` of 100 MB; return its URL."""
    x = write_idx(folder / 'x', values('uint8', (ROWS, 500)))
    loaderx.text('import', 'train', '--idx', f'x={x}', '--chunk-records', '30000', '--seal', '-q')
    return f'file://{folder}/train'


def files_of(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob('*')
            if file.is_file() and file.name != 'LOCK'}


def test_copy(loaderx, folder, sealed):
    for place, source in ('a', sealed), ('b', 'train'):
        text = loaderx.text('pull', source, place)
        assert text.startswith(f'{place}: {ROWS} records, ')
        assert text.endswith(f' copied from {source}\n')
        assert files_of(folder / place) == files_of(folder / 'train')
    got = loaderx.json('pull', sealed, 'c')
    assert got == {'url': sealed, 'path': 'c', 'length': ROWS, 'bytes': got['bytes']}
    assert got['bytes'] == sum(len(data) for name, data in files_of(folder / 'c').items()
                               if name.name != 'meta.json')


def test_continues_after_kill(loaderx, folder, sealed):
    delay = 0.01
    while not (folder / 'copy' / 'meta.json').exists():
        loaderx.kill_after(delay, 'pull', sealed, 'copy', '--quiet')
        delay *= 1.3
    assert delay > 0.01
    assert files_of(folder / 'copy') == files_of(folder / 'train')


def test_nothing_is_overwritten(loaderx, folder, images, sealed):
    (folder / 'full').mkdir()
    (folder / 'full' / 'file').write_text('x')
    for taken in 'full', 'images', 'train':
        assert 'choose a new directory' in loaderx.fails(2, 'pull', sealed, taken)
    assert (folder / 'full' / 'file').read_text() == 'x'
    # what was copied of a dataset is not continued with another one
    loaderx.text('seal', 'images')
    (folder / 'train' / 'chunk' / '3.zr').rename(folder / 'away')
    loaderx.fails(1, 'pull', sealed, 'copy')
    assert not (folder / 'copy' / 'meta.json').exists()
    assert 'choose a new directory' in loaderx.fails(2, 'pull', 'images', 'copy')
    shutil.move(folder / 'away', folder / 'train' / 'chunk' / '3.zr')
    loaderx.text('pull', sealed, 'copy')
    assert files_of(folder / 'copy') == files_of(folder / 'train')


def test_errors(loaderx, folder, images):
    assert 'URL is missing' in loaderx.fails(2, 'pull')
    assert 'DIR is missing' in loaderx.fails(2, 'pull', 'images')
    assert 'unexpected argument' in loaderx.fails(2, 'pull', 'images', 'a', 'b')
    assert 'not sealed' in loaderx.fails(2, 'pull', 'images', 'a')
    loaderx.fails(2, 'pull', f'file://{folder}/absent', 'a')
    loaderx.text('seal', 'images')
    loaderx.fails(2, 'pull', 'images', 'no/where')
    assert not (folder / 'a').exists()
