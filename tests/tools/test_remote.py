# SPDX-License-Identifier: MIT
"""Datasets that are elsewhere: what reads a dataset takes URLs, and a cache."""

import json
import os
import re

import numpy as np
import pytest

from arrays import values, write_idx

ROWS = 4000
WIDTH = 500


@pytest.fixture
def sealed(folder, loaderx):
    """A sealed dataset `train` of images and labels; return its URL."""
    x = write_idx(folder / 'x', values('uint8', (ROWS, WIDTH)))
    label = write_idx(folder / 'label', np.arange(ROWS, dtype='int32'))
    loaderx.text('import', 'train', '--idx', f'x={x}', '--idx', f'label={label}',
                 '--chunk-records', '1500', '--seal')
    return f'file://{folder}/train'


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)


@pytest.mark.parametrize('arguments', [
    ['get', '{}', '0:20', '-1', '--field', 'x', '--hex'],
    ['get', '{}', ':', '--field', 'label'],
    ['verify', '{}'],
    ['verify', '{}', '--json'],
    ['digest', '{}'],
    ['stat', '{}', '--json'],
    ['card', '{}'],
])
def test_prints_the_same(loaderx, sealed, arguments):
    here, there = (loaderx.text(*(word.format(path) for word in arguments))
                   for path in ('train', sealed))
    fixed = re.sub('"access": "mmap"', '"access": "pread"', here)
    fixed = re.sub('"network": null', '"network": "file"', fixed)
    assert there.replace(sealed, 'train') == fixed


def test_reads_through_a_cache(loaderx, folder, sealed):
    digest = loaderx.json('digest', 'train')['digest']
    for _ in range(2):
        assert loaderx.json('digest', sealed, '--cache', 'cache')['digest'] == digest
    assert size_of(folder / 'cache') >= ROWS * WIDTH
    assert (folder / 'cache').stat().st_mode & 0o777 == 0o700
    limited = loaderx.json('digest', sealed, '--cache', 'small', '--limit', '1M')
    assert limited['digest'] == digest and size_of(folder / 'small') <= 3 << 19
    os.chmod(folder / 'small', 0o777)
    assert 'small' in loaderx.fails(2, 'digest', sealed, '--cache', 'small')


def test_copies_exports_and_compares(loaderx, folder, sealed):
    loaderx.text('copy', sealed, 'some', '--range', '100:200', '-q')
    assert loaderx.json('digest', 'some')['length'] == 100
    loaderx.text('export', sealed, '--npy', 'label=label.npy', '-q')
    assert np.load(folder / 'label.npy').tolist() == list(range(ROWS))
    assert json.loads(loaderx('diff', 'train', sealed, '--json').stdout)['same']
    assert 'because the dataset is elsewhere' in loaderx.text('stat', sealed)


def test_errors(loaderx, folder, sealed):
    line = loaderx.fails(2, 'stat', f'file://{folder}/absent')
    assert 'absent' in line and 'loaderx import' not in line
    assert 'gopher' in loaderx.fails(1, 'stat', 'gopher://host/train')
    assert '--limit requires --cache' in loaderx.fails(2, 'digest', sealed, '--limit', '1G')
    assert '--limit' in loaderx.fails(2, 'digest', sealed, '--cache', 'c', '--limit', 'much')
    assert 'can only be read' in loaderx.fails(2, 'card', sealed, '--set', 'a=b')
    assert 'elsewhere' in loaderx.fails(2, 'bench', sealed)
    loaderx.text('unseal', 'train')
    assert 'seal' in loaderx.fails(1, 'stat', sealed)
    loaderx.fails(2, 'sample', '--length', '5', '--cache', 'c')


def test_reports_damage(loaderx, folder, sealed):
    with open(folder / 'train' / 'chunk' / '0.zr', 'r+b') as file:
        file.seek(3 * WIDTH)
        file.write(b'damage')
    assert "field 'x', record 3" in loaderx.fails(1, 'get', sealed, '0:10', '--field', 'x')
    found = json.loads(loaderx('verify', sealed, '--json').stdout)['damages']
    assert [(one['field'], one['record']) for one in found] == [('x', 3)]
