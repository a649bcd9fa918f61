# SPDX-License-Identifier: MIT
"""loaderx recordio."""

import gzip
import json
import os
import signal
import struct
import time

import pytest

MAGIC = struct.pack('<I', 0xced7230a)


def part(kind, data):
    return MAGIC + struct.pack('<I', kind << 29 | len(data)) + data + bytes(-len(data) % 4)


def image(number, labels):
    head = struct.pack('<IfQQ', len(labels) if len(labels) > 1 else 0, labels[0], number, 0)
    return head + (struct.pack(f'<{len(labels)}f', *labels) if len(labels) > 1 else b'')


RECORDS = [image(5, [1.5]) + b'JPEG', image(6, [1, 2, -3]) + b'x' * 101,
           image(7, [0]) + b'AAAA' + MAGIC + b'BB']


@pytest.fixture
def files(folder):
    """Write a.rec with three records, of which the last has two parts; return their offsets."""
    offsets, data = [], b''
    for record in RECORDS:
        offsets.append(len(data))
        first, *rest = record.split(MAGIC)
        data += part(1, first) + part(3, rest[0]) if rest else part(0, first)
    (folder / 'a.rec').write_bytes(data)
    return offsets


def test_index_and_get(loaderx, folder, files):
    loaderx.text('recordio', 'index', 'a.rec')
    lines = (folder / 'a.idx').read_text()
    assert lines == ''.join(f'{i}\t{offset}\n' for i, offset in enumerate(files))
    for i, record in enumerate(RECORDS):
        assert loaderx('recordio', 'get', 'a.rec', str(i)).stdout == record
    got = loaderx('recordio', 'get', 'a.rec', '2', '0', '--image').stdout
    assert got == b'AAAA' + MAGIC + b'BB' + b'JPEG'
    (folder / 'b.idx').write_text(f'cat\t{files[1]}\nfar\t40000\noff\t4\n')
    assert loaderx('recordio', 'get', 'a.rec', 'cat', '--index', 'b.idx').stdout == RECORDS[1]
    assert "b.idx has no key '0'" in loaderx.fails(
        2, 'recordio', 'get', 'a.rec', '0', '--index', 'b.idx')
    assert 'ends before offset 40000' in loaderx.fails(
        1, 'recordio', 'get', 'a.rec', 'far', '--index', 'b.idx')
    assert 'offset 4: the record is damaged' in loaderx.fails(1, 'recordio', 'get', 'a.rec', 'off',
                  '--index', 'b.idx')
    assert "--force replaces it" in loaderx.fails(2, 'recordio', 'index', 'a.rec')
    (folder / 'a.idx').write_text('')
    loaderx.text('recordio', 'index', 'a.rec', '--force')
    assert (folder / 'a.idx').read_text() == lines


def test_ls(loaderx, folder, files):
    sizes = [len(record) for record in RECORDS]
    assert loaderx.text('recordio', 'ls', 'a.rec') == ''.join(
        f'{offset}\t{size}\n' for offset, size in zip(files, sizes))
    assert loaderx.text('recordio', 'ls', 'a.rec', '--labels').split('\n')[:2] == [
        f'0\t{sizes[0]}\t5\t1.5', f'{files[1]}\t{sizes[1]}\t6\t1 2 -3']
    got = json.loads(loaderx.text('recordio', 'ls', 'a.rec', '--json', '--labels'))
    assert [item['offset'] for item in got] == files and [item['bytes'] for item in got] == sizes
    assert [item['id'] for item in got] == [5, 6, 7]
    assert [item['labels'] for item in got] == [[1.5], [1, 2, -3], [0]]
    (folder / 'a.rec.gz').write_bytes(gzip.compress((folder / 'a.rec').read_bytes()))
    assert loaderx.text('recordio', 'ls', 'a.rec.gz') == loaderx.text('recordio', 'ls', 'a.rec')
    (folder / 'short.rec').write_bytes(part(0, b'abc'))
    assert "the record has 3 bytes, but MXNet's header has 24" in loaderx.fails(1, 'recordio', 'ls',
                  'short.rec', '--labels')
    (folder / 'empty.rec').write_bytes(b'')
    assert json.loads(loaderx.text('recordio', 'ls', 'empty.rec', '--json')) == []


def test_verify(loaderx, folder, files):
    assert loaderx.json('recordio', 'verify', 'a.rec') == {
        'path': 'a.rec', 'records': 3, 'bytes': sum(map(len, RECORDS)), 'damaged': 0, 'damages': [],
        'skipped_bytes': 0, 'rest_lost': False, 'index': None}
    loaderx.text('recordio', 'index', 'a.rec', '-q')
    assert loaderx.json('recordio', 'verify', 'a.rec')['index'] == 'a.idx'
    for text in ('0\t0\n', f'0\t0\n1\t4\n2\t{files[2]}\n', f'0\t0\n1\t{files[1]}\n2\t40000\n'):
        (folder / 'a.idx').write_text(text)
        assert 'a.idx does not describe the 3 records' in loaderx.fails(
            1, 'recordio', 'verify', 'a.rec')


def test_damage(loaderx, folder, files):
    data = bytearray((folder / 'a.rec').read_bytes())
    data[files[1]] ^= 1
    (folder / 'a.rec').write_bytes(data)
    assert f'offset {files[1]}: the record is damaged: no magic number' in loaderx.fails(
        1, 'recordio', 'ls', 'a.rec')
    assert 'a.rec is damaged' in loaderx.fails(1, 'recordio', 'verify', 'a.rec')
    printed = loaderx('recordio', 'verify', 'a.rec').stdout.decode().splitlines()
    where = f'offset {files[1]}: the record is damaged: no magic number is where it should begin'
    assert printed[0] == f'a.rec, {where}' and '; damaged in 1 place, where ' in printed[1]
    found = json.loads(loaderx('recordio', 'verify', 'a.rec', '--json').stdout)
    assert [damage['offset'] for damage in found['damages']] == [files[1]] and found['damaged'] == 1
    assert loaderx.text('recordio', 'ls', 'a.rec', '--skip', '-q').split('\n')[1].startswith(
        f'{files[2]}\t')
    assert 'the record is damaged' in loaderx.fails(1, 'recordio', 'index', 'a.rec')
    assert not (folder / 'a.idx').exists() and len(list(folder.iterdir())) == 1
    loaderx.text('recordio', 'index', 'a.rec', '--skip')
    assert (folder / 'a.idx').read_text() == f'0\t0\n1\t{files[2]}\n'


@pytest.fixture
def parts(loaderx, folder):
    """Write three files with indexes, of which the second is empty; return their bytes and keys."""
    stored, keys = [], []
    for number, count in enumerate((40, 0, 25)):
        records = [part(0, bytes([i]) * (i * 37 % 90)) for i in range(count)]
        if number == 2:
            records[3] = MAGIC + struct.pack('<I', 1) + b'apad'    # as it is stored by nobody
        name = folder / f'p{number}'
        name.with_suffix('.rec').write_bytes(b''.join(records))
        lines = [f'{number}/{i}\t{sum(map(len, records[:i]))}\n' for i in range(count)]
        name.with_suffix('.idx').write_text(''.join(reversed(lines)))
        stored += records
        keys += [f'{number}/{i}' for i in range(count)]
    return stored, keys


INPUTS = 'p0.rec', 'p1.rec', 'p2.rec'


def index_of(stored, keys):
    return ''.join(f'{key}\t{sum(map(len, stored[:i]))}\n' for i, key in enumerate(keys))


def test_merge(loaderx, folder, parts):
    stored, keys = parts
    assert loaderx.text('recordio', 'merge', 'all.rec', *INPUTS).startswith('all.rec: 65 records, ')
    assert (folder / 'all.rec').read_bytes() == b''.join(stored)
    assert (folder / 'all.idx').read_text() == index_of(stored, keys)
    assert loaderx.json('recordio', 'verify', 'all.rec')['records'] == 65
    assert loaderx('recordio', 'get', 'all.rec', '2/3').stdout == b'a'
    assert 'all.rec exists: --force' in loaderx.fails(2, 'recordio', 'merge', 'all.rec', 'p0.rec')
    loaderx.text('recordio', 'merge', 'all.rec', 'p0.rec', 'all.rec', '--renumber', '--force')
    assert (folder / 'all.rec').read_bytes() == b''.join(stored[:40] + stored)
    assert (folder / 'all.idx').read_text() == index_of(stored[:40] + stored, range(105))
    (folder / 'p0.gz').write_bytes(gzip.compress((folder / 'p0.rec').read_bytes()))
    loaderx.text('recordio', 'merge', 'b.rec', 'p0.gz', '--renumber', '--index', 'c.idx', '-q')
    assert (folder / 'b.rec').read_bytes() == b''.join(stored[:40])
    assert (folder / 'c.idx').read_text() == index_of(stored[:40], range(40))


def test_merge_refuses(loaderx, folder, parts):
    """Whatever it refuses, no file appears."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    def fails(status, text, *arguments):
        assert text in loaderx.fails(status, 'recordio', 'merge', *arguments)
        assert not any(path.name.startswith('all') for path in folder.iterdir())

    fails(2, 'FILE is missing')
    fails(2, 'IN is missing', 'all.rec')
    fails(2, 'must be a regular file', '-', 'p0.rec')
    fails(2, 'must be a regular file', '/dev/null', 'p0.rec', '--force')
    fails(2, 'is the merged file itself', 'all.rec', 'p0.rec', '--index', 'all.rec')
    fails(2, "the key '0/0' is in p0.idx and again in p0.idx: --renumber", 'all.rec', 'p0.rec',
          'p0.rec')
    (folder / 'p1.idx').write_text('a\t0\n')
    fails(1, 'p1.idx does not describe the records of p1.rec', 'all.rec', *INPUTS)
    (folder / 'p1.idx').unlink()
    fails(2, "'loaderx recordio index' makes an index, and --renumber", 'all.rec', *INPUTS)
    (folder / 'p1.idx').write_text('')
    lines = before[folder / 'p2.idx'].decode().splitlines(True)
    for wrong in lines[1:], lines[:-1], [*lines, 'x\t4\n'], [*lines, 'x\t0\n']:
        (folder / 'p2.idx').write_text(''.join(wrong))
        fails(1, 'p2.idx does not describe', 'all.rec', *INPUTS)
    (folder / 'p2.idx').write_text(''.join(lines).replace('2/7', '0/7'))
    fails(2, "the key '0/7' is in p0.idx and again in p2.idx", 'all.rec', *INPUTS)
    (folder / 'p2.idx').write_text(''.join(lines))
    for size in 1, 7, 10, len(before[folder / 'p2.rec']) - 1:
        (folder / 'p2.rec').write_bytes(before[folder / 'p2.rec'][:size])
        fails(1, 'p2.rec, offset ', 'all.rec', *INPUTS, '--renumber')
    assert before[folder / 'p0.rec'] == (folder / 'p0.rec').read_bytes()


def test_merge_passes_over_damage(loaderx, folder, parts):
    stored, keys = parts
    data = bytearray((folder / 'p0.rec').read_bytes())
    data[len(stored[0])] ^= 1
    (folder / 'p0.rec').write_bytes(data[:-1])
    printed = loaderx.text('recordio', 'merge', 'all.rec', *INPUTS, '--skip')
    assert 'all.rec: 63 records' in printed and 'damaged in 2 places' in printed
    for lost in 39, 1:
        del stored[lost], keys[lost]
    assert (folder / 'all.rec').read_bytes() == b''.join(stored)
    assert (folder / 'all.idx').read_text() == index_of(stored, keys)


def test_merge_is_atomic(loaderx, folder, parts):
    """A signal in the middle leaves what was there."""
    os.mkfifo(folder / 'pipe')
    (folder / 'all.rec').write_bytes(b'old')
    before = {path.name for path in folder.iterdir()}
    running = loaderx.start('recordio', 'merge', 'all.rec', 'p0.rec', 'pipe', '--renumber',
                            '--force')
    with open(folder / 'pipe', 'wb') as pipe:
        pipe.write(part(0, b'abc'))
        pipe.flush()
        running.send_signal(signal.SIGTERM)
        assert b'stopped by signal' in running.communicate(timeout=60)[1]
    assert running.returncode == 128 + signal.SIGTERM
    assert (folder / 'all.rec').read_bytes() == b'old'
    assert {path.name for path in folder.iterdir()} == before


def test_damaged_compressed_data(loaderx, folder):
    data = part(0, b'abc') + part(0, os.urandom(100000))
    (folder / 'a.gz').write_bytes(gzip.compress(data)[:50000])
    printed = loaderx.text('recordio', 'index', 'a.gz', '--skip')
    assert 'damaged in 1 place, where ' in printed and 'KiB were passed over' in printed
    assert 'the compressed data after the last place is lost' in printed
    done = loaderx('recordio', 'verify', 'a.gz', '--json')
    assert done.returncode == 1 and json.loads(done.stdout)['rest_lost']


def test_signal_while_a_pipe_is_silent(loaderx, folder):
    os.mkfifo(folder / 'pipe')
    running = loaderx.start('recordio', 'index', 'pipe', '--index', 'a.idx')
    with open(folder / 'pipe', 'wb') as pipe:
        pipe.write(part(0, b'abc'))
        pipe.flush()
        while not any(path.name.startswith('a.idx') for path in folder.iterdir()):
            time.sleep(.01)
        running.send_signal(signal.SIGINT)
        assert b'stopped by signal' in running.communicate(timeout=60)[1]
    assert running.returncode == 130 and [path.name for path in folder.iterdir()] == ['pipe']


def test_usage(loaderx, files):
    assert 'ACTION is missing' in loaderx.fails(2, 'recordio')
    assert 'FILE is missing' in loaderx.fails(2, 'recordio', 'ls')
    assert "unknown action 'put'" in loaderx.fails(2, 'recordio', 'put', 'a.rec')
    assert "unexpected argument 'b'" in loaderx.fails(2, 'recordio', 'ls', 'a.rec', 'b')
    for action, option in (('ls', '--force'), ('ls', '--index=a'), ('get', '--json'), ('get', '-q'),
                           ('merge', '--json'), ('index', '--renumber'), ('index', '--labels'),
                           ('index', '--image'), ('verify', '--skip')):
        long = {'-q': '--quiet'}.get(option, option.split('=')[0])
        assert f'the action {action} does not take {long}' in loaderx.fails(
            2, 'recordio', option, action, 'a.rec')
    assert 'KEY is missing' in loaderx.fails(2, 'recordio', 'get', 'a.rec')
    assert "'loaderx recordio index' makes an index" in loaderx.fails(
        2, 'recordio', 'get', 'a.rec', '0')
    assert 'does not exist' in loaderx.fails(2, 'recordio', 'ls', 'no.rec')
