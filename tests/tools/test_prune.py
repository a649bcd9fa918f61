# SPDX-License-Identifier: MIT
"""loaderx prune: what no dataset at a URL needs."""

import os
import time

import pytest


def files_of(path):
    return {str(file.relative_to(path)) for file in path.rglob('*') if file.is_file()}


@pytest.fixture
def there(loaderx, folder, images):
    """Publish two generations of `images`; return their files at `there`: the former, the current."""
    loaderx.text('seal', 'images')
    loaderx.text('push', 'images', 'there')
    former = files_of(folder / 'there')
    loaderx.text('unseal', 'images')
    loaderx.text('import', 'images', '--append', '--idx', 'data=data', '--idx', 'label=label')
    loaderx.text('rebalance', 'images')
    loaderx.text('seal', 'images')
    loaderx.text('push', 'images', 'there')
    return former, files_of(folder / 'images') - {'LOCK'}


def make_old(path, days=30):
    for file in path.rglob('*'):
        os.utime(file, (time.time() - days * 86400,) * 2)


def test_prune(loaderx, folder, there):
    former, current = there
    # young files stay
    size = sum((folder / 'there' / name).stat().st_size for name in former - current)
    published = int((folder / 'there' / 'meta.json').stat().st_mtime)
    lines = loaderx.text('prune', 'there').splitlines()
    assert lines[0] == 'there: 0 files, 0 bytes, were removed'
    assert f'there: {len(former - current)} files, ' in lines[1]
    assert 'kept: the dataset was published' in lines[1] and '--older' in lines[1]
    found = loaderx.json('prune', 'there')
    assert (found['files'], found['kept']) == ([], {
        'files': len(former - current), 'bytes': size, 'published': published})
    make_old(folder / 'there')
    assert loaderx.json('prune', 'there', '--older', '40d')['files'] == []
    (folder / 'there' / 'LOG.9').write_text('x')
    assert 'there: 1 file, 1 byte, kept: too young' in loaderx.text('prune', 'there', '--dry-run')
    (folder / 'there' / 'LOG.9').unlink()
    found = loaderx.json('prune', 'there', '--dry-run')
    assert found['kept'] == {'files': 0, 'bytes': 0, 'published': None}
    assert {file['name'] for file in found['files']} == former - current
    assert files_of(folder / 'there') == former | current
    assert (found['bytes'], found['removed']) == (size, False)
    assert loaderx.json('prune', 'there') == {**found, 'removed': True}
    assert files_of(folder / 'there') == current
    assert loaderx('diff', 'images', 'there').returncode == 0


def test_age(loaderx, folder, there):
    former, current = there
    for age in '0', 'd', '1w', '1.5d', '-1d', '99999999999999999999d':
        assert 'not an age' in loaderx.fails(2, 'prune', 'there', f'--older={age}')
    assert loaderx.text('prune', 'there', '--older', '0s', '--quiet') == ''
    assert files_of(folder / 'there') == current


def test_other_files_stay(loaderx, folder, there):
    former, current = there
    stay = {'x', 'LOG.txt', 'chunk/x', 'chunk/01.zr', 'other/LOG', 'other/chunk/1.zr', 'LOCK',
            'part/x', 'partial/LOG', 'chunk/chunk/1.zr', 'part/a\nb/chunk/1.zr', 'part/.a/LOG'}
    go = {'LOG.7', 'chunk/999.zr', 'a.offset', 'a.check.3', 'a.dict', 'part/p/meta.json',
          'part/p/LOG', 'part/p/q/chunk/1.zr', 'part/LOG'}
    for name in stay | go:
        (folder / 'there' / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / 'there' / name).write_text('x')
    make_old(folder / 'there')
    names = [file['name'] for file in loaderx.json('prune', 'there')['files']]
    assert sorted(names) == sorted((former | go) - current)
    assert files_of(folder / 'there') == current | stay


def test_unfinished_push(loaderx, folder, there):
    former, current = there
    path = folder / 'there'
    # while a push is under way, its old files stay, and so do those of parts that are being sent
    for name in 'meta.json.new', 'LOG.9', 'chunk/99.zr', 'part/a/meta.json.new', 'part/a/LOG':
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text('x')
    make_old(path)
    os.utime(path / 'chunk' / '99.zr')
    names = {file['name'] for file in loaderx.json('prune', 'there', '--dry-run')['files']}
    assert names == {'part/a/meta.json.new', 'part/a/LOG'}
    # a push that did not end, and no dataset: a later join may need the parts
    (path / 'meta.json').rename(path / 'meta.json.new')
    (path / 'LOG.9.0.new').write_text('x')
    (path / 'notes.0.new').write_text('x')
    make_old(path)
    loaderx.text('prune', 'there')
    assert files_of(path) == {'part/a/meta.json.new', 'part/a/LOG', 'notes.0.new'}
    assert 'there is no dataset' in loaderx.fails(2, 'prune', 'there')


def test_parts_in_use_stay_whole(loaderx, folder, images):
    loaderx.text('seal', 'images')
    for name in 'a', 'b', 'unused':
        loaderx.text('push', 'images', f'there/part/{name}')
    loaderx.text('join', 'there', 'there/part/a', 'there/part/b')
    make_old(folder / 'there')
    names = {file['name'] for file in loaderx.json('prune', 'there')['files']}
    assert names == {f'part/unused/{name}' for name in files_of(folder / 'images') - {'LOCK'}}
    for dataset in 'there', 'there/part/a', 'there/part/b':
        loaderx.text('verify', dataset)


def test_errors(loaderx, folder, images):
    assert 'URL is missing' in loaderx.fails(2, 'prune')
    loaderx.fails(2, 'prune', 'absent')
    for url in 'ftp://host/a', 'https://host/a':
        assert 'can only be read' in loaderx.fails(2, 'prune', url)
    # a dataset that is not sealed is none of those that are published
    assert 'not sealed' in loaderx.fails(1, 'prune', 'images')
