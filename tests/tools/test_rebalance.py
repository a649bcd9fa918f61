# SPDX-License-Identifier: MIT
"""loaderx rebalance: released space, and failures."""

import fcntl
import subprocess

import pytest

READERS = 8192    # where in LOCK readers lock a byte for their generation: zrecord-format.md, 10.1


def test_removes_replaced_values(loaderx, folder, images):
    # A merge of a dataset with itself, truncated to half, has chunks whose second half is dead.
    loaderx.text('copy', 'images', 'images', 'images', 'more')
    before = loaderx.json('stat', 'more')
    done = loaderx.json('rebalance', 'more')
    assert done['records'] == before['length'] == 60
    assert done['bytes_after'] <= done['bytes_before']
    assert done['utilisation_after'] >= done['utilisation_before']
    assert loaderx.text('verify', 'more', '-q') == ''
    for index in 0, 19, 20, 59:
        assert loaderx.text('get', 'more', index, '--field', 'label') == f'{index % 20}\n'


def test_summary(loaderx, images):
    text = loaderx.text('rebalance', 'images')
    assert text.startswith('images: 20 records, ') and 'utilisation' in text
    assert loaderx.text('rebalance', 'images', '-q') == ''
    assert loaderx.json('rebalance', 'images', '--wait')['kept_files'] == 0


def test_waits_for_readers(loaderx, folder, images):
    with open(folder / 'images' / 'LOCK', 'r+b') as lock:
        fcntl.lockf(lock, fcntl.LOCK_SH, 1, READERS)    # as a reader of generation 0 does
        assert 'old file' in loaderx.text('rebalance', 'images')
        assert loaderx.json('stat', 'images')['leftover_bytes'] > 0
        assert 'old files' in loaderx.text('verify', 'images')
        waiting = loaderx.start('rebalance', 'images', '--wait')
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
    assert waiting.wait(30) == 0
    assert loaderx.json('stat', 'images')['leftover_bytes'] == 0


def test_damage_changes_nothing(loaderx, folder, images):
    chunk = folder / 'images' / 'chunk' / '0.zr'
    data = bytearray(chunk.read_bytes())
    data[5] ^= 1
    chunk.write_bytes(data)
    files = sorted(path.name for path in folder.rglob('*'))
    line = loaderx.fails(1, 'rebalance', 'images')
    assert "field 'data', record 0" in line
    assert sorted(path.name for path in folder.rglob('*')) == files


def test_rejects_a_sealed_dataset(loaderx, images):
    loaderx.text('seal', 'images')
    assert 'unseal' in loaderx.fails(2, 'rebalance', 'images')
