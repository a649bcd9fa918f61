# SPDX-License-Identifier: MIT
"""loaderx backup: a complete copy, or nothing if it fails."""

import signal
import time

import pytest


def test_copy(loaderx, folder, images):
    text = loaderx.text('backup', 'images', 'copy')
    assert text.startswith('images: 20 records, ') and text.endswith(' copied to copy\n')
    assert loaderx.json('verify', 'copy')['intact'] is True
    one, two = loaderx.json('stat', 'images'), loaderx.json('stat', 'copy')
    assert one.pop('path') != two.pop('path') and one == two
    assert loaderx.text('get', 'copy', '7', '--field', 'label') == '7\n'
    assert loaderx.text('backup', 'copy', 'again', '--quiet') == ''


def test_json(loaderx, folder, images):
    got = loaderx.json('backup', 'images', 'copy')
    assert got == {'path': 'images', 'copy': 'copy', 'length': 20, 'bytes': got['bytes']}
    assert got['bytes'] == sum(path.stat().st_size for path in (folder / 'copy').rglob('*')
                               if path.is_file() and path.name not in ('meta.json', 'LOCK'))


def test_sealed(loaderx, folder, images):
    loaderx.text('seal', 'images')
    loaderx.text('backup', 'images', 'copy')
    assert loaderx.json('stat', 'copy')['sealed'] is True


def test_nothing_is_overwritten(loaderx, folder, images):
    (folder / 'full').mkdir()
    (folder / 'full' / 'file').write_text('x')
    for taken in 'full', 'images':
        assert 'choose a new directory' in loaderx.fails(2, 'backup', 'images', taken)
    assert (folder / 'full' / 'file').read_text() == 'x'
    assert loaderx.json('verify', 'images')['intact'] is True


def test_rejects_invalid_calls(loaderx, folder, images):
    assert 'missing' in loaderx.fails(2, 'backup', 'images')
    assert 'missing' in loaderx.fails(2, 'backup')
    assert 'unexpected argument' in loaderx.fails(2, 'backup', 'images', 'a', 'b')
    loaderx.fails(2, 'backup', 'nowhere', 'a')
    assert not (folder / 'a').exists()


def test_damaged_dataset(loaderx, folder, images):
    (folder / 'images' / 'chunk' / '0.zr').write_bytes(b'short')
    line = loaderx.fails(1, 'backup', 'images', 'copy')
    assert '0.zr' in line and line.count("'loaderx repair'") == 1
    assert not (folder / 'copy').exists()


def test_stopped(loaderx, folder, images):
    """After a signal at any time, there is a complete copy or none."""
    for delay in 0, 0.002, 0.005, 0.01, 0.02:
        job = loaderx.start('backup', 'images', f'copy-{delay}')
        time.sleep(delay)
        job.send_signal(signal.SIGTERM)
        output = job.communicate(timeout=60)[1]
        if job.returncode == 0:
            assert loaderx.json('verify', f'copy-{delay}')['intact'] is True
        elif job.returncode != -signal.SIGTERM:  # it arrived before the copy began
            assert job.returncode == 128 + signal.SIGTERM
            assert b'stopped by signal' in output and b'nothing was copied' in output
        if job.returncode != 0:
            assert not (folder / f'copy-{delay}').exists()


@pytest.mark.parametrize('path, message', [('', 'empty'), ('no/x', 'parent directory does not')])
def test_reports_a_full_disk(loaderx, images, path, message):
    assert message in loaderx.fails(2, 'backup', 'images', path)
