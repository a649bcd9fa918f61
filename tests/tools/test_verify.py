# SPDX-License-Identifier: MIT
"""loaderx verify: no damage, some, and a lot."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'reader'))

from compose import stamped  # noqa: E402


def flip(path, *places):
    """Flips a bit of each of these bytes."""
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] ^= 1
    path.write_bytes(data)


def test_intact(loaderx, images):
    assert loaderx.text('verify', 'images').startswith('images: 20 records, 40 values, ')
    assert loaderx.text('verify', 'images', '--quiet') == ''
    got = loaderx.json('verify', 'images')
    assert got == {'path': 'images', 'damages': [], 'records': 20, 'values': 40,
                   'bytes': got['bytes'], 'not_images': 0, 'leftover_bytes': 0, 'complete': True,
                   'intact': True, 'import': None}


def test_reports_each_damage(loaderx, folder, images):
    flip(folder / 'images' / 'chunk' / '0.zr', 3 * 12 + 1, 17 * 12)
    done = loaderx('verify', 'images')
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert [line.split(': ')[0] for line in lines] == [
        "images/chunk/0.zr, field 'data', record 3, offset 36",
        "images/chunk/0.zr, field 'data', record 17, offset 204"]
    assert done.stderr.decode() == ('loaderx verify: images: 2 findings; everything that is not '
                                    "listed can be read; run 'loaderx repair' to see what can be "
                                    'done\n')


def test_json(loaderx, folder, images):
    flip(folder / 'images' / 'chunk' / '0.zr', 3 * 12 + 1, 17 * 12)
    done = loaderx('verify', 'images', '--json')
    got = json.loads(done.stdout)
    assert done.returncode == 1 and got['complete'] is True and got['intact'] is False
    assert [(damage['field'], damage['record'], damage['path'], damage['offset'])
            for damage in got['damages']] == [('data', 3, 'images/chunk/0.zr', 36),
                                              ('data', 17, 'images/chunk/0.zr', 204)]
    assert all(damage['message'] for damage in got['damages'])


def test_any_number_of_threads_finds_the_same(loaderx, folder, images):
    flip(folder / 'images' / 'chunk' / '0.zr', 3 * 12 + 1, 17 * 12)
    report = {loaderx('verify', 'images', '--json', '--threads', n).stdout for n in (0, 1, 2, 5)}
    assert len(report) == 1 and len(json.loads(report.pop())['damages']) == 2
    assert loaderx('verify', 'images').stdout == loaderx('verify', 'images', '--threads', 3).stdout
    for wrong in '65', '-1', 'many':
        loaderx.fails(2, 'verify', 'images', '--threads', wrong)


def test_sealed_dataset_with_a_damaged_table(loaderx, folder, images):
    loaderx.text('seal', 'images')
    flip(folder / 'images' / 'label.check', 9 * 8 + 4)
    done = loaderx('verify', 'images', '--json')
    got = json.loads(done.stdout)
    assert done.returncode == 1 and got['intact'] is False
    assert {(damage['field'], damage['record']) for damage in got['damages']} >= {('label', 9)}


def test_missing_value_of_a_complete_field(loaderx, folder, images):
    loaderx.text('seal', 'images')      # whose rows are then in the tables
    loaderx.text('unseal', 'images')
    for name, size in ('label.offset', 16), ('label.check', 8):
        with (folder / 'images' / name).open('r+b') as file:
            file.seek(9 * size)
            file.write(bytes(size))
    done = loaderx('verify', 'images')
    assert done.returncode == 1
    assert done.stdout.decode().startswith(
        "images/label.offset, field 'label', record 9, offset 144: the row is zero, but")
    loaderx.text('repair', 'images', '--apply')
    assert loaderx('verify', 'images').returncode == 0


def test_values_that_are_no_images(loaderx, folder, images):
    """As 1.0.0-rc1 could write them: here, the type of a field is changed afterwards."""
    (folder / 'lines').write_text('a cat\nGIF89a\n\n\xff')
    loaderx.text('import', 'old', '--format', 'lines', 'lines', '--field', 'text=bytes')
    meta = folder / 'old' / 'meta.json'
    meta.write_bytes(stamped(meta.read_bytes().replace(b'"bytes"', b'"image"')))
    done = loaderx('verify', 'old')
    assert (done.returncode, done.stderr) == (3, b'')
    lines = done.stdout.decode().splitlines()
    assert ["field 'text', record 0" in lines[0], 'record 2' in lines[1], 'record 3' in lines[2],
            len(lines)] == [True, True, True, 4], lines
    assert all('the value is no image: its' in line for line in lines[:3])
    assert lines[3].endswith('nothing is damaged, but the values listed are no images')
    got = json.loads(loaderx('verify', 'old', '--json').stdout)
    assert (got['not_images'], got['damages'], got['intact']) == (3, [], True)
    assert 'nothing' in loaderx.text('repair', 'old')
    loaderx.text('copy', 'old', 'new')                      # a copy keeps what the source has
    assert loaderx('verify', 'new').returncode == 3
    loaderx.fails(1, 'import', 'old', '--format', 'lines', 'lines', '--field', 'text=image',
                  '--append')


def test_truncated_chunk(loaderx, folder, images):
    loaderx.text('seal', 'images')
    chunk = folder / 'images' / 'chunk' / '0.zr'
    chunk.write_bytes(chunk.read_bytes()[:100])
    done = loaderx('verify', 'images', '--json')
    assert done.returncode == 1 and json.loads(done.stdout)['intact'] is False


def test_reports_a_dataset_that_cannot_be_opened(loaderx, folder, images):
    (folder / 'images' / 'meta.json').write_text('{"format": ')
    line = loaderx.fails(1, 'verify', 'images')
    assert 'images/meta.json' in line and line.count("'loaderx repair'") == 1
    done = loaderx('verify', 'images', '--json')
    got = json.loads(done.stdout)
    assert done.returncode == 1 and got['complete'] is False and got['intact'] is False
    assert got['damages'][0]['path'] == 'images/meta.json'
    assert 'checksum' in got['damages'][0]['message']


def test_newer_format(loaderx, folder, images):
    meta = folder / 'images' / 'meta.json'
    meta.write_bytes(stamped(re.sub(rb'"format": \[\s*1,', b'"format": [2,', meta.read_bytes())))
    line = loaderx.fails(1, 'verify', 'images')
    assert 'images/meta.json' in line and '2' in line
