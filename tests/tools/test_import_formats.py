# SPDX-License-Identifier: MIT
"""loaderx import --format: files of other formats can be read back, and imports continue."""

import csv
import gzip
import io
import json
import signal
import subprocess
import tarfile
import time

import numpy as np
import pytest

JPEG = b'\xff\xd8\xff'    # how each begins


def read_numbers(loaderx, folder, field, path='d'):
    loaderx.text('get', path, ':', '--field', field, '--npy', 'back.npy')
    return np.load(folder / 'back.npy')


def read_bytes(loaderx, record, field, path='d'):
    done = loaderx('get', path, record, '--field', field, '--raw')
    assert done.returncode == 0, done
    return done.stdout


def rows(count):
    return [{'id': i, 'x': i / 7, 'ok': i % 3 == 0, 'text': f'text {i} \u00e9 "{i}"\n',
             'box': [i, -i, i * i]} for i in range(count)]


def test_jsonl(loaderx, folder):
    wanted = rows(3000)
    half = len(wanted) // 2
    lines = [json.dumps(row, ensure_ascii=i % 2 == 0) + '\n' for i, row in enumerate(wanted)]
    (folder / 'a.jsonl').write_text(''.join(lines[:half]))
    (folder / 'b.jsonl.gz').write_bytes(gzip.compress(''.join(lines[half:]).encode()))
    got = loaderx.json('import', 'd', '--format', 'jsonl', 'a.jsonl', 'b.jsonl.gz', '--seal')
    assert (got['records'], got['length'], got['bad'], got['skipped']) == (3000, 3000, 0, [])
    assert got['fields'] == ['id', 'x', 'ok', 'text', 'box'] and got['sealed']
    for name in 'id', 'x', 'ok', 'box':
        assert read_numbers(loaderx, folder, name).tolist() == [row[name] for row in wanted]
    for i in 0, 1, 1499, 1500, 2999:
        assert read_bytes(loaderx, i, 'text').decode() == wanted[i]['text']


def test_csv(loaderx, folder):
    wanted = [[i, i / 3, f'word "{i}",\r\nnext', f'0{i}'] for i in range(2000)]
    with open(folder / 'a.csv', 'w', newline='') as file:
        csv.writer(file).writerows([['id', 'x', 'words', 'zip'], *wanted])
    loaderx.text('import', 'd', '--format', 'csv', 'a.csv')
    assert read_numbers(loaderx, folder, 'id').tolist() == [row[0] for row in wanted]
    assert read_numbers(loaderx, folder, 'x').tolist() == [row[1] for row in wanted]
    assert read_bytes(loaderx, 1999, 'words').decode() == wanted[1999][2]
    assert read_bytes(loaderx, 7, 'zip') == b'07'


def write_tar(path, *members):
    with tarfile.open(path, 'w') as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


@pytest.mark.parametrize('policy', ['stop', 'skip'])
def test_a_record_in_two_places_of_a_tar_archive(loaderx, folder, policy):
    """The error advises what helps: not to skip or mend the second half, as the first is imported."""
    write_tar(folder / 'a.tar', ('0.cls', b'3'), ('1.cls', b'4'), ('1.txt', b'whole'),
              ('0.txt', b'half'))
    line = loaderx.fails(1, 'import', 'd', '--format', 'tar', 'a.tar', '--on-bad', policy)
    assert "a.tar, offset 3072: other members of the key '0' are at byte 0 of a.tar" in line
    assert 'sorted by name' in line and 'into a new dataset' in line
    assert '--resume' not in line and '--on-bad' not in line


@pytest.mark.parametrize('form', [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar(loaderx, folder, form):
    with tarfile.open(folder / 'a.tar', 'w', format=form) as archive:
        for i in range(500):
            stem = f'{"folder/" * 16}{i:06d}'
            for name, data in ('cls', b'%d' % (i % 10)), ('jpg', JPEG + bytes([i % 256]) * i):
                member = tarfile.TarInfo(f'{stem}.{name}')
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    loaderx.text('import', 'd', '--format', 'tar', 'a.tar', '--option', 'key=key')
    assert read_numbers(loaderx, folder, 'cls').tolist() == [i % 10 for i in range(500)]
    assert read_bytes(loaderx, 300, 'jpg') == JPEG + bytes([44]) * 300
    assert read_bytes(loaderx, 300, 'key').decode() == 'folder/' * 16 + '000300'


def test_folder(loaderx, folder):
    for name in 'b/2.png', 'b/1.png', 'a/x.jpg', 'a/notes.txt':
        path = folder / 'in' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(JPEG + name.encode())
    loaderx.text('import', 'd', '--format', 'folder', 'in', '--option', 'extensions=png,jpg')
    assert read_numbers(loaderx, folder, 'label').tolist() == [0, 1, 1]
    assert read_bytes(loaderx, 1, 'name') == b'b/1.png'
    assert read_bytes(loaderx, 1, 'data') == JPEG + b'b/1.png'


def test_classes_of_a_folder(loaderx, folder):
    for name in 'dog/1', 'b\u00e4r/1', 'b\u00e4r/.1', '.git/1':
        (folder / 'in' / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / 'in' / name).write_text(name)
    done = loaderx('import', 'd', '--format', 'folder', 'in', '-q')
    assert done.returncode == 0 and done.stdout == b''
    assert done.stderr == (b'loaderx: warning: names that begin with a dot were left out of the '
                           b'inputs: 2\n')
    assert 'classes      ["b\u00e4r","dog"]\n' in loaderx.text('stat', 'd')
    assert loaderx.text('card', 'd') == 'classes      ["b\u00e4r","dog"]\n'
    loaderx.text('import', 'e', '--format', 'folder', 'in', '--option', 'hidden=yes')
    assert read_numbers(loaderx, folder, 'label', 'e').tolist() == [0, 1, 1, 2]
    assert json.loads(loaderx.json('card', 'e')['card']['classes']) == ['.git', 'b\u00e4r', 'dog']
    assert "hidden 'on' is invalid" in loaderx.fails(2, 'import', 'f', '--format', 'folder', 'in',
                                                     '--option', 'hidden=on')


def test_standard_input_and_compression(loaderx, folder):
    text = ''.join(f'line {i} line {i} line {i} line {i}\n' for i in range(1000))
    done = subprocess.run([loaderx.command, 'import', 'd', '--format', 'lines', '-', '--compress',
                           '*=flate', '--level', '9', '--field', 'text=bytes'], cwd=folder,
                          input=text.encode(), capture_output=True, timeout=60, check=True)
    assert done.stderr == b''
    field, = loaderx.json('stat', 'd')['fields']
    assert field['name'] == 'text' and field['compressed'] == 1000
    assert read_bytes(loaderx, 5, 'text') == b'line 5 line 5 line 5 line 5'


def test_bad_records(loaderx, folder):
    (folder / 'a.jsonl').write_text('{"a": 1}\n{"a": }\n{"a": 2}\n' + 'x\n' * 30)
    line = loaderx.fails(1, 'import', 'd', '--format', 'jsonl', 'a.jsonl')
    assert 'a.jsonl, record 1, offset 9' in line
    done = loaderx('import', 'd', '--format', 'jsonl', 'a.jsonl', '--on-bad', 'skip')
    assert done.returncode == 0 and b'31 bad records skipped' in done.stdout
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 21 and 'skipped: a.jsonl, record 1, offset 9' in lines[0]
    assert 'skipped 11 more' in lines[-1]
    got = loaderx.json('import', 'd', '--replace', '--format', 'jsonl', 'a.jsonl', '--on-bad',
                       'skip')
    assert got['bad'] == 31 and len(got['skipped']) == 31
    assert got['skipped'][0]['record'] == 1 and got['skipped'][0]['offset'] == 9
    assert read_numbers(loaderx, folder, 'a').tolist() == [1, 2]


@pytest.mark.parametrize('data', [b'', b'a cat', bytes(12)])
def test_values_that_are_no_images_are_bad_records(loaderx, folder, data):
    (folder / 'in').mkdir()
    for name, image in ('0.jpg', JPEG), ('1.jpg', data), ('2.jpg', JPEG):
        (folder / 'in' / name).write_bytes(image)
    line = loaderx.fails(1, 'import', 'stopped', '--format', 'folder', 'in')
    assert f'the value is no image: its {len(data)} bytes' in line and "'data', record 1" in line
    got = loaderx.json('import', 'd', '--format', 'folder', 'in', '--on-bad', 'skip')
    assert (got['records'], got['bad']) == (2, 1)
    assert loaderx.json('verify', 'd')['not_images'] == 0


def test_a_failed_replacement_leaves_the_dataset(loaderx, folder):
    (folder / 'a').write_text('one\n')
    loaderx.text('import', 'd', '--format', 'lines', 'a')
    (folder / 'a').write_bytes(b'two\n' * 2000000 + b'\xff\n')
    loaderx.fails(1, 'import', 'd', '--replace', '--format', 'lines', 'a')
    assert sorted(path.name for path in folder.iterdir()) == ['a', 'd']
    assert read_bytes(loaderx, 0, 'text') == b'one'


def test_the_advice_after_a_failure_works(loaderx, folder):
    (folder / 'a').write_text('{"a": 1}\n' * 2000 + '{"a": "x"}\n{"a": 2, "b": 3}\n')
    command = 'import', 'd', '--format', 'jsonl', 'a'
    line = loaderx.fails(1, *command)
    assert 'does not fit' in line and 'new dataset' in line and '--on-bad skip' in line
    line = loaderx.fails(1, *command, '--resume', '--field', 'a=json')
    assert 'give the same ones' in line and '--resume' not in line
    assert loaderx.json(*command, '--resume', '--on-bad', 'skip')['bad'] == 2
    got = loaderx.json('import', 'e', '--format', 'jsonl', 'a', '--field', 'a=json',
                       '--field', 'b=int64')
    assert got['length'] == 2002


def test_an_interrupted_import_continues(loaderx, folder):
    wanted = rows(200000)
    lines = [json.dumps(row) + '\n' for row in wanted]
    (folder / 'a').write_text(''.join(lines[:100000]))
    (folder / 'b').write_text(''.join(lines[100000:]))
    command = 'import', 'd', '--format', 'jsonl', 'a', 'b'
    for number in signal.SIGINT, signal.SIGKILL, signal.SIGTERM:
        running = loaderx.start(*command, '--resume')
        while not (folder / 'd' / 'meta.json').exists() and running.poll() is None:
            time.sleep(0.001)
        time.sleep(0.05)
        running.send_signal(number)
        _, why = running.communicate(timeout=60)
        assert running.returncode != 1, why
    if loaderx.json('stat', 'd')['import'] is not None:
        line = loaderx.fails(2, *command)
        assert '--resume' in line
    got = loaderx.json(*command, '--resume')
    assert got['length'] == 200000
    assert loaderx.json(*command, '--resume')['records'] == 0
    assert np.array_equal(read_numbers(loaderx, folder, 'id'), np.arange(200000))
    assert read_bytes(loaderx, 199999, 'text').decode() == wanted[-1]['text']


@pytest.mark.parametrize('arguments, part', [
    (['--format', 'lines'], 'no FILE'),
    (['--format', 'x', 'a'], 'unknown format'),
    (['--format', 'parquet', 'a'], 'import_arrow() in Python reads Parquet'),
    (['--resume'], 'require --format'),
    (['--format', 'lines', 'a', '--npy', 'x=a'], 'cannot be combined'),
    (['--format', 'lines', 'a', '--resume', '--replace'], 'mutually exclusive'),
    (['--format', 'lines', 'a', '--field', 'text'], 'F=TYPE'),
    (['--format', 'lines', 'a', '--field', 'text=int'], 'type'),
    (['--format', 'lines', 'a', '--option', 'x=y'], 'use field'),
    (['--format', 'lines', 'a', '--on-bad', 'ignore'], 'stop or skip'),
    (['--format', 'lines', 'a', '--compress', 'x=raw'], 'does not exist'),
    (['a'], 'only one DIR'),
])
def test_wrong_arguments(loaderx, folder, arguments, part):
    (folder / 'a').write_text('text\n')
    assert part in loaderx.fails(2, 'import', 'd', *arguments)
    assert not (folder / 'd').exists()
