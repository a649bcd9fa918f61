# SPDX-License-Identifier: MIT
"""loaderx stat: the report as text and as JSON."""

import os
import pathlib
import re
import subprocess
import tarfile

import numpy as np
import pytest

from arrays import values, write_idx
from conftest import BUILD
from test_pack import IMAGES, png

SOURCE = pathlib.Path(os.environ.get('top_srcdir', pathlib.Path(__file__).parents[2]))


def test_json(loaderx, images):
    got = loaderx.json('stat', 'images')
    assert re.fullmatch('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', got.pop('uuid'))
    data, label = got.pop('fields')
    assert data == {'name': 'data', 'dtype': 'uint8', 'shape': [4, 3], 'compress': 'raw',
                    'level': None, 'dictionary_bytes': None, 'bytes_per_second': None,
                    'align': 4, 'present': 20, 'missing': 0, 'inline': 0,
                    'inline_bytes': 0, 'compressed': 0,
                    'bytes': 240, 'stored_bytes': 240, 'ratio': 1.0, 'images': None}
    assert label['shape'] == [] and label['inline'] == 20 and label['ratio'] is None
    assert got['path'] == 'images' and got['length'] == 20 and got['sealed'] is False
    assert got['bytes'] == 260 and got['payloads'] == 20
    assert got['inline'] == got['inline_bytes'] == label['inline_bytes'] == 20
    assert got['chunks'] == [{'id': 0, 'payloads': 20, 'bytes': got['chunk_bytes'],
                              'live_payloads': 20, 'live_bytes': 240, 'dead_bytes': 0}]
    assert got['live_payloads'] == 20 and got['dead_bytes'] == 0
    assert got['live_bytes'] == 240 <= got['chunk_bytes']
    assert 0 < got['utilisation'] < 1 and 0 < got['live_ratio'] <= 1
    assert set(got) == {'path', 'generation', 'sequence', 'sealed', 'length', 'bytes', 'ratio',
                        'chunk_records', 'chunk_limit', 'payloads', 'live_payloads',
                        'chunk_bytes', 'live_bytes', 'dead_bytes', 'live_ratio', 'utilisation',
                        'inline', 'inline_bytes',
                        'table_bytes', 'log_bytes', 'log_entries', 'leftover_bytes', 'parts',
                        'chunks', 'access', 'network', 'card', 'import'}


def test_text(loaderx, images):
    text = loaderx.text('stat', 'images')
    assert text.startswith('images: 20 records of 2 fields\nuuid ')
    table = [re.split(r'  +', line) for line in text.splitlines()[3:6]]
    assert table == [
        ['FIELD', 'DTYPE', 'SHAPE', 'KEPT', 'PRESENT', 'MISSING', 'INLINE', 'COMPRESSED', 'BYTES',
         'STORED', 'RATIO'],
        ['data', 'uint8', '(4, 3)', 'raw', '20', '0', '0', '0', '240 bytes', '240 bytes', '1.00'],
        ['label', 'uint8', '()', 'raw', '20', '0', '20', '0', '20 bytes', '0 bytes', '-']]
    assert '\nutilisation  ' in text
    assert ('\ninline       20 values, 20 bytes in total, not in chunks\n'
            'tables       0 bytes\n') in text
    loaderx.text('seal', 'images')
    text = loaderx.text('stat', 'images')
    assert text.startswith('images: 20 records of 2 fields, sealed\n')
    assert '\ntables       960 bytes: 24 bytes for each value, and 369.2% of the size of' in text


def test_compression_and_chunks(loaderx, folder):
    flat = np.zeros((100, 1000), dtype='uint8')
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', flat),
                 '--compress', 'x=flate', '--chunk-records', '30')
    got = loaderx.json('stat', 'd')
    field = got['fields'][0]
    assert field['compress'] == 'flate' and field['compressed'] == 100 and field['ratio'] > 50
    assert got['chunk_records'] == 30
    assert [chunk['payloads'] for chunk in got['chunks']] == [30, 30, 30, 10]
    assert abs(got['utilisation'] - 100 / 120) < 1e-6


def test_chunks(loaderx, folder):
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', values('uint8', (100, 16))),
                 '--chunk-records', '30')
    assert 'CHUNK' not in loaderx.text('stat', 'd')
    lines = loaderx.text('stat', 'd', '--chunks').splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith('CHUNK'))
    table = [re.split(r'  +', line.strip()) for line in lines[start:]]
    assert table == [
        ['CHUNK', 'PAYLOADS', 'LIVE', 'BYTES', 'LIVE BYTES', 'DEAD BYTES', 'LIVE %'],
        ['0', '30', '30', '480', '480', '0', '100.0'],
        ['1', '30', '30', '480', '480', '0', '100.0'],
        ['2', '30', '30', '480', '480', '0', '100.0'],
        ['3', '10', '10', '160', '160', '0', '100.0']]
    # A row that was lost is an error. A value that became missing leaves dead bytes.
    loaderx.text('seal', 'd')
    for name, row in ('x.offset', 16), ('x.check', 8):
        table = bytearray((folder / 'd' / name).read_bytes())
        table[40 * row:41 * row] = bytes(row)
        (folder / 'd' / name).write_bytes(table)
    assert 'record 40' in loaderx.fails(1, 'stat', 'd')
    loaderx.text('repair', 'd', '--into', 'repaired')
    got = loaderx.json('stat', 'repaired')
    assert (got['dead_bytes'], got['live_payloads']) == (16, 99)
    assert [chunk['dead_bytes'] for chunk in got['chunks']] == [0, 16, 0, 0]
    assert got['chunks'][1]['live_payloads'] == 29
    assert '16 bytes dead' in loaderx.text('stat', 'repaired')


def test_empty(loaderx, folder):
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', values('int32', (0, 5))))
    got = loaderx.json('stat', 'd')
    assert got['length'] == 0 and got['chunks'] == [] and got['ratio'] is None
    assert 'd: 0 records of 1 field\n' in loaderx.text('stat', 'd')


def test_path_that_is_not_utf_8(loaderx, folder, images):
    (folder / 'images').rename(folder / b'im\xffages'.decode('utf-8', 'surrogateescape'))
    done = loaderx('stat', b'im\xffages'.decode('utf-8', 'surrogateescape'), '--json')
    assert done.returncode == 0 and b'"path": "im?ages"' in done.stdout


def test_damaged_table(loaderx, folder, images):
    table = folder / 'images' / 'data.offset'
    if table.stat().st_size == 0:  # entries of small commits are in the log
        loaderx.text('seal', 'images')
    damaged = bytearray(table.read_bytes())
    damaged[16 * 5 + 8] = 0xFF
    table.write_bytes(damaged)
    line = loaderx.fails(1, 'stat', 'images')
    assert "field 'data', record 5" in line and line.count("'loaderx repair'") == 1


def test_values_that_vary_are_empty_or_missing(loaderx, varied):
    text, number = loaderx.json('stat', 'varied')['fields']
    assert text['dtype'] == 'bytes' and text['shape'] == []
    assert (text['present'], text['missing'], text['compressed']) == (3, 1, 1)
    assert text['bytes'] == 1013 > text['stored_bytes'] > 0
    assert (number['present'], number['missing'], number['inline']) == (3, 1, 3)
    assert number['inline_bytes'] == number['bytes'] > 0 == number['stored_bytes']
    assert text['inline'] == 1 and text['inline_bytes'] <= 8
    assert ' varies ' in loaderx.text('stat', 'varied')


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_images(loaderx, folder):
    grey = bytes.fromhex('89504e470d0a1a0a0000000d494844520000000100000001080000000'
                         '03a7e9b550000000a49444154789c6338010000ca00c9')
    (folder / 'photos').mkdir()
    for i in range(100):
        (folder / 'photos' / f'{i:02}.png').write_bytes(png(i, 4 + i % 3, 3 + i % 5))
    (folder / 'photos' / '00.png').write_bytes(grey)
    loaderx.text('pack', 'photos', 'album')
    found = next(field for field in loaderx.json('stat', 'album')['fields']
                 if field['dtype'] == 'image')
    assert found['images'] == {'sampled': 64, 'images': 64, 'formats': {'png': 64},
                               'modes': {'L': 1, 'RGB': 63}, 'width': [1, 6], 'height': [1, 7]}
    assert ('\nimages       image: 64 in a sample of 64 of 100 records; 64 png; 1 L, 63 RGB; '
            '1 to 6 pixels wide, 1 to 7 high\n') in loaderx.text('stat', 'album')


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_bad_images_are_counted(loaderx, folder):
    """A missing value, and one whose header is damaged."""
    subprocess.run([BUILD / 'tests' / 'tools' / 'make-dataset', 'typed', 'types'], cwd=folder,
                   check=True, timeout=60)
    field = next(field for field in loaderx.json('stat', 'typed')['fields']
                 if field['dtype'] == 'image')
    assert field['images'] == {'sampled': 2, 'images': 0, 'formats': {}, 'modes': {},
                               'width': None, 'height': None}
    line = '\nimages       image: 0 in a sample of 2 of 2 records\n'
    assert line in loaderx.text('stat', 'typed')


def test_joined(loaderx, folder):
    """A dataset whose chunks are in parts says so, can be copied, and cannot be changed."""
    with tarfile.open(SOURCE / 'tests/data/zrecord/composed.tar') as tar:
        tar.extractall(folder, [one for one in tar if one.name.startswith('joined/')])
    assert loaderx.text('stat', 'joined').startswith(
        'joined: 6 records of 3 fields, sealed, joined from 3 parts\n')
    assert loaderx.json('stat', 'joined')['parts'] == 3
    loaderx.text('verify', 'joined')
    loaderx.text('pull', (folder / 'joined').as_uri(), 'pulled')
    loaderx.text('backup', 'joined', 'backup')
    loaderx.text('copy', 'joined', 'whole')
    digest = loaderx.text('digest', 'joined').split()[0]
    for copy in ('pulled', 'backup', 'whole'):
        assert loaderx.text('digest', copy).split()[0] == digest
        assert (folder / copy / 'part/a/chunk/5.zr').exists() == (copy != 'whole')
    assert 'already sealed' in loaderx.text('seal', 'joined')
    for command in ('unseal', 'rebalance', 'checkpoint'):
        assert 'joined from parts' in loaderx.fails(1, command, 'joined')
    assert 'joined from parts' in loaderx.fails(1, 'card', 'joined', '--set', 'license=MIT')
