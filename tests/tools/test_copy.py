# SPDX-License-Identifier: MIT
"""loaderx copy: subsets, splits, merges, and mismatches."""

import resource

import pytest
from arrays import values, write_idx


def labels(loaderx, name):
    text = loaderx.text('get', name, ':', '--field', 'label')
    return [int(line.split()[-1]) for line in text.splitlines()]


def test_all(loaderx, images):
    assert loaderx.text('copy', 'images', 'twin') == 'twin: copied 20 records, 20 in total\n'
    assert labels(loaderx, 'twin') == list(range(20))
    assert loaderx.text('verify', 'twin', '-q') == ''


def test_split_and_merge(loaderx, images):
    loaderx.text('copy', 'images', 'head', '--range', ':5')
    loaderx.text('copy', 'images', 'tail', '--range', '5:', '--seal')
    report = loaderx.json('copy', 'tail', 'head', 'whole')
    assert (report['records'], report['length']) == (20, 20)
    assert labels(loaderx, 'whole') == [*range(5, 20), *range(5)]


def test_indices(loaderx, folder, images):
    (folder / 'list').write_text('7\n7\n0\n19\n')
    loaderx.text('copy', 'images', 'some', '--indices', 'list')
    assert labels(loaderx, 'some') == [7, 7, 0, 19]


def test_fields(loaderx, images):
    loaderx.text('copy', 'images', 'some', '--field', 'label')
    assert [field['name'] for field in loaderx.json('stat', 'some')['fields']] == ['label']
    assert labels(loaderx, 'some') == list(range(20))


def test_append(loaderx, images):
    loaderx.text('copy', 'images', 'twin')
    loaderx.text('copy', 'images', 'twin', '--append', '--range', ':2')
    assert labels(loaderx, 'twin') == [*range(20), 0, 1]


def test_reads_an_absent_field_as_missing(loaderx, images):
    loaderx.text('copy', 'images', 'some', '--field', 'label')
    loaderx.text('copy', 'images', 'some', 'both')
    fields = {field['name']: field for field in loaderx.json('stat', 'both')['fields']}
    assert fields['data']['missing'] == 20 and fields['label']['missing'] == 0


def test_a_merge_has_the_fields_of_all(loaderx, folder, images):
    write_idx(folder / 'few', values('uint8', (3,)))
    loaderx.text('import', 'scored', '--idx', 'score=few', '--idx', 'label=few')
    loaderx.text('copy', 'images', 'scored', 'whole')
    fields = loaderx.json('stat', 'whole')['fields']
    assert [(field['name'], field['missing']) for field in fields] == [
        ('data', 3), ('label', 0), ('score', 20)]
    loaderx.text('copy', 'images', 'scored', 'part', '--field', 'score', '--field', 'label')
    fields = loaderx.json('stat', 'part')['fields']
    assert [(field['name'], field['missing']) for field in fields] == [
        ('score', 20), ('label', 0)]
    assert "'speed'" in loaderx.fails(2, 'copy', 'images', 'scored', 'none', '--field', 'speed')
    line = loaderx.fails(1, 'copy', 'scored', 'images', '--append')
    assert "'score'" in line and 'lacks the field' in line
    assert "'speed'" in loaderx.fails(2, 'copy', 'scored', 'images', '--append', '--field', 'speed')
    loaderx.text('copy', 'scored', 'images', '--append', '--field', 'label')
    fields = loaderx.json('stat', 'images')['fields']
    assert [field['name'] for field in fields] == ['data', 'label']


def test_rejects_fields_that_do_not_match(loaderx, folder, images):
    loaderx.text('import', 'other', '--idx',
                 'data=' + write_idx(folder / 'd', values('uint8', (3, 2, 2))))
    line = loaderx.fails(1, 'copy', 'images', 'other', 'both')
    assert 'different dtype or shape' in line
    assert not (folder / 'both').exists()


def test_damage_leaves_nothing(loaderx, folder, images):
    chunk = folder / 'images' / 'chunk' / '0.zr'
    data = bytearray(chunk.read_bytes())
    data[5] ^= 1
    chunk.write_bytes(data)
    assert "field 'data', record 0" in loaderx.fails(1, 'copy', 'images', 'twin')
    assert not (folder / 'twin').exists()


def test_running_out_of_descriptors_leaves_nothing(loaderx, folder, images):
    refused = 0
    for limit in range(6, 60):
        def take_limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        done = loaderx('copy', 'images', 'made', '--quiet', preexec_fn=take_limit)
        if done.returncode == 0:
            break
        refused += 1
        assert not (folder / 'made').exists(), (limit, done.stderr)
    assert refused > 3
    assert loaderx.json('verify', 'made')['intact'] is True


def test_rejects_invalid_calls(loaderx, folder, images):
    assert 'SOURCE or DIR' in loaderx.fails(2, 'copy', 'images')
    assert 'exclusive' in loaderx.fails(2, 'copy', 'images', 'x', '--range', ':', '--indices', 'y')
    assert '--append' in loaderx.fails(2, 'copy', 'images', 'images')
    (folder / 'list').write_text('3\nfour\n')
    assert 'four' in loaderx.fails(2, 'copy', 'images', 'x', '--indices', 'list')
    assert 'cannot read' in loaderx.fails(2, 'copy', 'images', 'x', '--indices', str(folder))
    (folder / 'list').write_text('30\n')
    assert '30' in loaderx.fails(2, 'copy', 'images', 'x', '--indices', 'list')
    assert not (folder / 'x').exists()


@pytest.mark.parametrize('path, message', [('', 'empty'), ('no/x', 'parent directory')])
def test_reports_a_full_disk(loaderx, images, path, message):
    assert message in loaderx.fails(2, 'copy', 'images', path)
