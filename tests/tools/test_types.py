# SPDX-License-Identifier: MIT
"""Every subcommand that shows or copies values, on fields of each type."""

import subprocess

import numpy as np
import pytest

from conftest import BUILD, TIMEOUT

TYPES = {'text': 'str', 'json': 'json', 'image': 'image', 'brain': 'bfloat16',
         'e4m3': 'float8_e4m3fn', 'e5m2': 'float8_e5m2',
         'e4m3fnuz': 'float8_e4m3fnuz', 'e5m2fnuz': 'float8_e5m2fnuz', 'e8m0': 'float8_e8m0fnu',
         'day': 'datetime64[D]', 'boxes': 'int16'}


@pytest.fixture
def typed(folder):
    """A dataset `typed` of two records, with a field of each type in TYPES."""
    subprocess.run([BUILD / 'tests' / 'tools' / 'make-dataset', 'typed', 'types'], cwd=folder,
                   check=True, timeout=TIMEOUT)


@pytest.mark.parametrize('field, printed', [
    ('text', '0: café "one"\n\\x1b[31m\n1: empty\n'),
    ('json', '0: {"a": [1, null]}\n1: "text"\n'),
    ('brain', '0: 1.5\n1: -inf\n'), ('e4m3', '0: 0.5\n1: nan\n'), ('e5m2', '0: -2\n1: inf\n'),
    ('e4m3fnuz', '0: -2.4e+02\n1: nan\n'), ('e5m2fnuz', '0: 8e-06\n1: nan\n'),
    ('e8m0', '0: 2\n1: nan\n'),
    ('day', '0: 2024-01-01\n1: NaT\n'), ('boxes', '0:\n1 2\n3 4\n1: empty\n'),
])
def test_get_prints_values(loaderx, typed, field, printed):
    assert loaderx.text('get', 'typed', ':', '--field', field) == printed


def test_get_prints_images_as_bytes(loaderx, typed):
    printed = loaderx.text('get', 'typed', '0', '--field', 'image')
    assert printed.startswith('00000000  ff d8 ff ')
    assert loaderx('get', 'typed', '0', '--field', 'image', '--raw').stdout == b'\xff\xd8\xff'


def test_get_refuses_an_array_of_ragged_values(loaderx, folder, typed):
    line = loaderx.fails(2, 'get', 'typed', '0', '--field', 'boxes', '--npy', 'x.npy')
    assert "field 'boxes' vary in length" in line and not (folder / 'x.npy').exists()


def test_stat_shows_the_types(loaderx, typed):
    fields = loaderx.json('stat', 'typed')['fields']
    assert {field['name']: field['dtype'] for field in fields} == TYPES
    assert fields[-1]['shape'] == [None, 2] and fields[0]['shape'] == []
    text = loaderx.text('stat', 'typed')
    assert 'datetime64[D]' in text and '(varies, 2)' in text


def test_export(loaderx, folder, typed):
    loaderx.text('export', 'typed', '--npy', 'day=day.npy', '--npy', 'brain=brain.npy', '--files',
                 'text=texts', '--files', 'boxes=boxes')
    assert np.load(folder / 'day.npy').tolist() == [np.datetime64('2024-01-01').item(), None]
    brain = np.load(folder / 'brain.npy')    # NumPy has no such type: the bytes
    assert brain.dtype == 'V2' and brain.view('u2').tolist() == [0x3fc0, 0xff80]
    assert (folder / 'texts' / '00000000').read_text() == 'café "one"\n\x1b[31m'
    assert np.fromfile(folder / 'boxes' / '00000000', 'int16').tolist() == [1, 2, 3, 4]
    line = loaderx.fails(2, 'export', 'typed', '--npy', 'boxes=boxes.npy')
    assert "'boxes'" in line and '--files' in line


def test_times_are_imported(loaderx, folder):
    times = np.array(['2024-01-02T03:04', 'NaT'], 'M8[ms]')
    np.save(folder / 'times.npy', times)
    loaderx.text('import', 'd', '--npy', 'when=times.npy')
    assert loaderx.json('stat', 'd')['fields'][0]['dtype'] == 'datetime64[ms]'
    assert loaderx.text('get', 'd', ':') == '0: 2024-01-02T03:04:00.000\n1: NaT\n'
    np.save(folder / 'hours.npy', times.astype('M8[h]'))
    assert 'datetime64 in D, s,' in loaderx.fails(1, 'import', 'h', '--npy', 'when=hours.npy')


def test_copies_keep_the_types(loaderx, typed):
    for command in (('backup', 'typed', 'copy'), ('copy', 'typed', 'other', '--range', ':'),
                    ('rebalance', 'typed'), ('seal', 'typed')):
        loaderx.text(*command)
    for name in 'copy', 'other', 'typed':
        fields = loaderx.json('stat', name)['fields']
        assert {field['name']: field['dtype'] for field in fields} == TYPES
        assert loaderx.text('get', name, '0', '--field', 'boxes') == '1 2\n3 4\n'
        assert loaderx.json('verify', name)['intact']


def test_repair_checks_texts(loaderx, folder, typed):
    """The file of an image becomes text in meta.json: the checksum of the value is right."""
    path = folder / 'typed' / 'meta.json'
    text = path.read_bytes()
    path.write_bytes(text.replace(b'"dtype": "image"', b'"dtype": "str"', 1))
    printed = loaderx.text('repair', 'typed', '--apply')
    assert 'restamp: ' in printed
    assert "missing: typed/image.offset, field 'image', record 0" in printed
    assert 'not valid UTF-8 at byte 0' in printed
    assert loaderx.text('get', 'typed', '0', '--field', 'image') == 'missing\n'
    assert loaderx.json('verify', 'typed')['intact']
