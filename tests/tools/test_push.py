# SPDX-License-Identifier: MIT
"""loaderx push: a dataset at a URL, in as many attempts as it takes."""

import shutil
import signal
import time

import pytest

from arrays import values, write_idx

ROWS = 60_000


@pytest.fixture
def sealed(folder, loaderx):
    """A sealed dataset `train` of 30 MB; return the URL of a folder that does not exist."""
    x = write_idx(folder / 'x', values('uint8', (ROWS, 500)))
    loaderx.text('import', 'train', '--idx', f'x={x}', '--chunk-records', '20000', '--seal', '-q')
    return f'file://{folder}/a/b'


def files_of(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob('*')
            if file.is_file() and file.name != 'LOCK'}


def test_push(loaderx, folder, sealed):
    got = loaderx.json('push', 'train', sealed)
    size = sum(len(data) for name, data in files_of(folder / 'train').items()
               if name != 'meta.json')
    assert got == {'path': 'train', 'url': sealed, 'length': ROWS, 'bytes': size, 'sent': size}
    assert files_of(folder / 'a' / 'b') == files_of(folder / 'train')
    assert loaderx('diff', 'train', sealed).returncode == 0
    # once more, and to a path
    assert loaderx.text('push', 'train', sealed).endswith('MiB, all of which was there\n')
    assert loaderx.text('push', sealed, 'copy').endswith('MiB were sent\n')
    assert files_of(folder / 'copy') == files_of(folder / 'train')
    assert loaderx.text('push', 'train', sealed, '--quiet') == ''


def test_continues_after_kill(loaderx, folder, sealed):
    there = folder / 'a' / 'b'
    delay, kept = 0.01, {}
    while not (there / 'meta.json').exists():
        loaderx.kill_after(delay, 'push', 'train', sealed, '--quiet')
        now = {file: file.stat().st_ino for file in there.rglob('*')
               if file.is_file() and file.suffix != '.new' and file.name != 'meta.json'}
        # what was complete is not sent again
        assert kept.items() <= now.items()
        kept = now
        delay *= 1.3
    assert delay > 0.01
    loaderx.text('push', 'train', sealed)
    # a kill may leave the temporary file that has become meta.json
    assert files_of(there).items() >= files_of(folder / 'train').items()


def test_interrupt(loaderx, folder, sealed):
    job = loaderx.start('push', 'train', sealed)
    while not (folder / 'a' / 'b' / 'chunk').exists():
        assert job.poll() is None
        time.sleep(0.001)
    job.send_signal(signal.SIGINT)
    stderr = job.communicate(timeout=60)[1].decode()
    if job.returncode != 0:    # it may have ended before
        assert 'the same command continues' in stderr
        assert not (folder / 'a' / 'b' / 'meta.json').exists()
    loaderx.text('push', 'train', sealed)
    assert files_of(folder / 'a' / 'b') == files_of(folder / 'train')


def test_new_generation(loaderx, folder, images):
    loaderx.text('seal', 'images')
    loaderx.text('push', 'images', 'there')
    shutil.copytree(folder / 'images', folder / 'former')
    loaderx.text('unseal', 'images')
    loaderx.text('import', 'images', '--append', '--idx', 'data=data', '--idx', 'label=label')
    loaderx.text('seal', 'images')
    before = files_of(folder / 'there')
    assert 'has another version of this file' in loaderx.fails(2, 'push', 'images', 'there')
    assert files_of(folder / 'there') == before
    loaderx.text('unseal', 'images')
    loaderx.text('rebalance', 'images')
    loaderx.text('seal', 'images')
    loaderx.text('push', 'images', 'there')
    assert loaderx('diff', 'images', 'there').returncode == 0
    # the files of the former generation are still there, which is not published any more
    assert {**files_of(folder / 'there'), 'meta.json': before['meta.json']}.items() >= before.items()
    assert 'a later generation' in loaderx.fails(2, 'push', 'former', 'there')
    loaderx.text('push', 'former', 'there', '--replace')
    assert loaderx('diff', 'former', 'there').returncode == 0


def test_chunks_of_a_published_part_stay(loaderx, folder, sealed):
    loaderx.text('push', 'train', 'all/part/1')
    loaderx.text('join', 'all', 'all/part/1')
    loaderx.text('push', 'all', 'there')
    where = 'there/part/1'
    assert 'neither meta.json nor meta.json.new tells' in loaderx.fails(2, 'push', 'train', where)
    loaderx.text('verify', 'there')
    loaderx.text('push', 'train', where, '--replace')
    assert loaderx('diff', 'train', where).returncode == 0


def test_errors(loaderx, folder, images):
    assert 'DIR is missing' in loaderx.fails(2, 'push')
    assert 'URL is missing' in loaderx.fails(2, 'push', 'images')
    assert 'unexpected argument' in loaderx.fails(2, 'push', 'images', 'a', 'b')
    assert "use 'loaderx seal'" in loaderx.fails(2, 'push', 'images', 'a')
    loaderx.fails(2, 'push', 'absent', 'a')
    loaderx.text('seal', 'images')
    for url in 'ftp://host/a', 'https://host/a':
        # before the dataset is opened
        assert 'can only be read' in loaderx.fails(2, 'push', 'absent', url)
    assert not (folder / 'a').exists()
    loaderx.text('copy', 'images', 'other')
    loaderx.text('seal', 'other')
    loaderx.text('push', 'images', 'there')
    message = loaderx.fails(2, 'push', 'other', 'there', '--replace')
    assert 'the same command' not in message
    for name in 'images', 'other':
        assert loaderx.json('stat', name)['uuid'] in message
    assert loaderx('diff', 'images', 'there').returncode == 0
    # nor does anything change under a writer
    shutil.copytree(folder / 'images', folder / 'open')
    loaderx.text('unseal', 'open')
    before = files_of(folder / 'open')
    assert 'not sealed' in loaderx.fails(2, 'push', 'images', 'open', '--replace')
    assert files_of(folder / 'open') == before
    # damage is not published
    table = folder / 'other' / 'label.check'
    data = bytearray(table.read_bytes())
    data[5] ^= 1
    table.write_bytes(data)
    assert 'checksum' in loaderx.fails(1, 'push', 'other', 'a')
    assert not (folder / 'a' / 'meta.json').exists()
