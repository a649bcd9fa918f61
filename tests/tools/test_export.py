# SPDX-License-Identifier: MIT
"""loaderx export: arrays and files, and fields that cannot be exported."""

import os

import numpy as np
import pytest

from test_verify import flip


def test_npy(loaderx, folder, images):
    data, label = images
    text = loaderx.text('export', 'images', '--npy', 'data=d.npy', '--npy', 'label=l.npy')
    assert text.splitlines()[0] == "d.npy: 20 records of 'data', 240 bytes"
    assert np.array_equal(np.load(folder / 'd.npy'), data)
    assert np.array_equal(np.load(folder / 'l.npy'), label)


def test_range(loaderx, folder, images):
    data, _ = images
    loaderx.text('export', 'images', '--npy', 'data=d.npy', '--range', '-3:')
    assert np.array_equal(np.load(folder / 'd.npy'), data[-3:])
    loaderx.text('export', 'images', '--npy', 'data=d.npy', '--range', '5:5')
    assert np.load(folder / 'd.npy').shape == (0, 4, 3)


def test_files(loaderx, folder, images):
    data, _ = images
    loaderx.text('export', 'images', '--files', 'data=out', '--suffix', '.raw', '--range', '18:')
    assert sorted(path.name for path in (folder / 'out').iterdir()) == ['00000018.raw',
                                                                        '00000019.raw']
    assert (folder / 'out' / '00000019.raw').read_bytes() == data[19].tobytes()
    line = loaderx.fails(2, 'export', 'images', '--files', 'data=out', '--suffix', '.raw',
                         '--range', '19:')
    assert '00000019.raw' in line


def test_missing_records(loaderx, folder, varied):
    report = loaderx.json('export', 'varied', '--files', 'text=texts', '--npy', 'number=n.npy')
    files, array = report['exports']
    assert files['records'] == array['records'] == 4
    assert len(list((folder / 'texts').iterdir())) == 4 - files['missing']
    assert np.load(folder / 'n.npy').shape[0] == 4


def test_damaged_records(loaderx, folder, images):
    data, _ = images
    flip(folder / 'images' / 'chunk' / '0.zr', 3 * 12 + 1, 17 * 12)
    call = 'export', 'images', '--npy', 'data=d.npy', '--files', 'data=out'
    assert '--on-damage zeros' in loaderx.fails(1, *call)
    assert not (folder / 'd.npy').exists()
    assert [(one['missing'], one['damaged'], one['bytes'])
            for one in loaderx.json(*call, '--on-damage', 'zeros')['exports']
            ] == [(0, 2, 240), (0, 2, 216)]
    data[[3, 17]] = 0
    assert np.array_equal(np.load(folder / 'd.npy'), data)
    assert len(list((folder / 'out').iterdir())) == 18
    assert '; 2 damaged as zeros\n' in loaderx.text(*call[:4], '--on-damage', 'zeros')
    assert 'use raise or zeros' in loaderx.fails(2, *call, '--on-damage', 'skip')


def test_rejects_fields_that_make_no_array(loaderx, folder, varied):
    assert '--files' in loaderx.fails(2, 'export', 'varied', '--npy', 'text=t.npy')
    assert not (folder / 't.npy').exists()


def test_rejects_invalid_calls(loaderx, folder, images):
    assert '--npy F=FILE' in loaderx.fails(2, 'export', 'images')
    assert 'is invalid: use F=FILE' in loaderx.fails(2, 'export', 'images', '--npy', 'data')
    assert '--suffix' in loaderx.fails(2, 'export', 'images', '--npy', 'data=x', '--suffix', '.a')
    assert "'nothing'" in loaderx.fails(2, 'export', 'images', '--npy', 'nothing=x')
    assert 'two fields' in loaderx.fails(2, 'export', 'images', '--npy', 'data=x', '--npy',
                                         'label=x')
    loaderx.fails(2, 'export', 'images', '--files', 'data=x', '--suffix', '/a')
    line = loaderx.fails(2, 'export', 'images', '--npy', 'data=no/x')
    assert "no/x: the parent directory 'no' does not exist" in line
    os.mkfifo(folder / 'pipe')
    os.symlink('pipe', folder / 'to-pipe')
    os.symlink('nothing', folder / 'to-nothing')
    for name, why in ('pipe', 'not a regular file'), ('to-pipe', 'not a regular file'), \
            ('to-nothing', 'dangling symbolic link'):
        assert why in loaderx.fails(2, 'export', 'images', '--npy', f'data={name}')


@pytest.mark.parametrize('index, one', [('5', '5:6'), ('-1', '-1:'), ('-3', '-3:-2'), ('0', '0:1')])
def test_rejects_an_index_as_a_range(loaderx, folder, images, index, one):
    line = loaderx.fails(2, 'export', 'images', '--npy', 'label=x', '--range', index)
    assert f'--range {index} is an index, not a range A:B; use {one} for this record' in line
    assert 'A:B' in loaderx.fails(2, 'copy', 'images', 'twin', '--range', index)
    assert not (folder / 'twin').exists()
    loaderx.text('export', 'images', '--npy', 'label=x', '--range', one)
    assert np.load(folder / 'x').tolist() == [int(index) % 20]
