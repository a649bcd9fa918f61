# SPDX-License-Identifier: MIT
"""loaderx bench: what is measured, and what limits the loader."""

import re
import subprocess
import time

import numpy as np
import pytest

from arrays import values, write_idx

BOTTLENECKS = {'disk', 'processors', 'memory', 'decompression', 'threads', 'batches', 'values',
               'loader'}


def check(got):
    """Checks what all results have in common; returns the measurements by name."""
    assert got['bottleneck'] in BOTTLENECKS
    assert re.fullmatch(r'(.*[.:]) A consumer that takes more than \S+ (us|ms) for a batch is the '
                        r'bottleneck itself\.', got['summary'])
    for one in got['measured']:
        assert one['records_per_second'] > 0 and one['bytes_per_second'] > 0
        assert 1 <= len(one['rounds']) <= 5
        assert sorted(one['rounds'])[len(one['rounds']) // 2] == one['records_per_second']
    return {one['name']: one for one in got['measured']}


def test_json(loaderx, images):
    begun = time.monotonic()
    got = loaderx.json('bench', 'images', '--seconds', 1, '--threads', 0, '--batch-size', 4)
    assert time.monotonic() - begun < 60
    assert set(got) == {'path', 'length', 'order', 'cold', 'processors', 'fields',
                        'measured', 'bottleneck', 'summary'}
    assert (got['path'], got['length'], got['order'], got['cold']) == ('images', 20, 'shuffle',
                                                                       False)
    assert [(field['name'], field['compress']) for field in got['fields']] == \
        [('data', 'raw'), ('label', 'raw')]
    assert sum(field['share'] for field in got['fields']) == pytest.approx(1)
    measured = check(got)
    assert set(measured) == {'loader', 'copies', 'threads'}
    assert [measured[name]['threads'] for name in ('loader', 'copies', 'threads')] == [0, 0, 1]
    assert got['bottleneck'] != 'disk'
    assert [one['on_disk'] <= .1 for one in got['measured']] == [True, True, True]


def test_text(loaderx, images):
    text = loaderx.text('bench', 'images', '--seconds', 1, '--batch-size', 4, '--order',
                        'sequential')
    lines = text.splitlines()
    assert re.fullmatch(r'images: 20 records, in sequence, values in memory if they fit, '
                        r'\d+ processors?', lines[0])
    assert re.split('  +', lines[2]) == ['MEASURED', 'THREADS', 'BATCH', 'RECORDS/S', 'BATCHES/S',
                                         'BYTES/S', 'BUSY', 'RATIO']
    assert [line.split('  ')[0] for line in lines[3:5]] == ['loader', 'copies without a loader']
    assert lines[-2] == '' and lines[-1].endswith('is the bottleneck itself.')


def test_batches_may_be_smaller_than_asked_for(loaderx, images):
    text = loaderx.text('bench', 'images', '--seconds', 1, '--batch-size', 256)
    rows = [re.split('  +', line) for line in text.splitlines()[3:5]]
    for _, _, batch, records, batches, *_ in rows:
        assert batch == '256' and float(batches) == pytest.approx(float(records) / 20, rel=.01)
    longest, unit = re.search(r'more than (\S+) (us|ms)', text.splitlines()[-1]).groups()
    seconds = float(longest) * {'us': 1e-6, 'ms': 1e-3}[unit]
    assert seconds == pytest.approx(1 / float(rows[0][4]), rel=.05)


def test_one_field_and_one_record(loaderx, images):
    got = loaderx.json('bench', 'images', '--seconds', 1, '--field', 'label', '--batch-size', 1,
                       '--threads', 1)
    assert [field['name'] for field in got['fields']] == ['label']
    measured = check(got)
    assert measured['batches']['batch_size'] == 16
    assert measured['loader']['bytes_per_second'] == \
        pytest.approx(measured['loader']['records_per_second'])


def test_texts_and_missing_values(loaderx, varied):
    got = loaderx.json('bench', 'varied', '--seconds', 1)
    assert got['length'] == 4 and {'loader', 'copies'} <= set(check(got))


def test_compressed_values(loaderx, folder):
    texts = np.repeat(values('uint8', (2000, 64)), 64, axis=1)
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', texts), '--compress',
                 'x=flate')
    loaderx.text('seal', 'd')
    got = loaderx.json('bench', 'd', '--seconds', 1, '--threads', 1)
    measured = check(got)
    assert got['fields'] == [{'name': 'x', 'compress': 'flate', 'share': 1.0}]
    assert "Decompressing field 'x' (flate) takes 100% of the time of the copies." in got['summary']
    assert measured['copies']['bytes_per_second'] < 50e9


def test_cold(loaderx, folder):
    data = values('uint8', (4000, 4096))
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', data))
    done = loaderx('bench', 'd', '--seconds', '1', '--cold')
    if b'stays in memory' in done.stderr:
        pytest.skip('the file system is in memory')
    assert done.returncode == 0, done
    for order in 'shuffle', 'sequential':
        got = loaderx.json('bench', 'd', '--seconds', 1, '--cold', '--order', order)
        measured = check(got)
        assert set(measured) == {'loader', 'reads'} and measured['reads']['threads'] == 64
        assert got['fields'] == [{'name': 'x', 'compress': 'raw', 'share': None}]
        assert got['bottleneck'] in ('disk', 'processors', 'loader')


def test_cold_compressed_values(loaderx, folder):
    data = np.repeat(values('uint8', (4000, 512)), 8, axis=1)
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', data), '--compress',
                 'x=flate')
    done = loaderx('bench', 'd', '--seconds', '1', '--cold')
    if b'stays in memory' in done.stderr:
        pytest.skip('the file system is in memory')
    assert done.returncode == 0 and b'The loader is the bottleneck' not in done.stdout


def test_images_are_not_decoded(loaderx, folder):
    (folder / 'photos').mkdir()
    for i in range(20):
        (folder / f'photos/{i}.jpg').write_bytes(b'\xff\xd8\xff' + bytes(999))
    loaderx.text('import', 'd', '--format', 'folder', 'photos')
    summary = loaderx.json('bench', 'd', '--seconds', 1)['summary']
    assert summary.endswith("The images of field 'data' were not decoded, which takes much longer.")


def test_nothing_to_measure(loaderx, folder, images):
    line = loaderx.fails(2, 'bench', 'images', '--field', 'label', '--cold')
    assert 'all values are in the tables' in line
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', values('int32', (0, 5))))
    assert 'the dataset has no records' in loaderx.fails(2, 'bench', 'd')
    assert "'nothing'" in loaderx.fails(2, 'bench', 'images', '--field', 'nothing')
    assert 'DIR is missing' in loaderx.fails(2, 'bench')
    loaderx.fails(2, 'bench', 'absent')
    for wrong in ('--seconds', '0'), ('--threads', '65'), ('--batch-size', '0'), ('--order', 'x'):
        loaderx.fails(2, 'bench', 'images', *wrong)


def test_damaged_values(loaderx, folder, images):
    loaderx.text('seal', 'images')
    chunk = next((folder / 'images' / 'chunk').iterdir())
    chunk.write_bytes(bytes(chunk.stat().st_size))
    line = loaderx.fails(1, 'bench', 'images', '--seconds', 1)
    assert "field 'data', record" in line and line.count("'loaderx repair'") == 1


def test_can_be_interrupted(loaderx, images):
    process = loaderx.start('bench', 'images', '--seconds', '60')
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    assert process.wait(10) != 0
    process.communicate()
