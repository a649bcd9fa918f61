# SPDX-License-Identifier: MIT
"""loaderx import: invalid files and calls, which leave nothing."""

import gzip
import os
import resource
import signal
import struct
import subprocess
import time

import numpy as np
import pytest

from arrays import idx_bytes, idx_header, npy_bytes, values, write_idx

ARRAY = values('uint8', (1000, 30))
IDX = idx_bytes(ARRAY)
GZIP = gzip.compress(IDX)
HALF = values('uint8', (3, 1 << 10))


def flip(data, place):
    """The same bytes, one of them changed."""
    changed = bytearray(data)
    changed[place] ^= 0x55
    return bytes(changed)


FAULTY_IDX = {
    'empty': (b'', 'the file ends too early'),
    'one byte': (b'\0', 'the file ends too early'),
    'header cut': (IDX[:10], 'the file ends too early'),
    'truncated': (IDX[:-1], 'more than the file can hold'),
    'no records': (IDX[:12], 'more than the file can hold'),
    'too long': (IDX + b'x', '1 bytes follow the 1000 records'),
    'first bytes': (b'\1' + IDX[1:], 'not an IDX file: it begins with 01 00 08 02'),
    'type': (b'\0\0\x0a' + IDX[3:], 'not an IDX file'),
    'text': (b'hello world', 'not an IDX file'),
    'npy': (npy_bytes(ARRAY), 'use --npy for .npy files'),
    'no axes': (idx_header(8, ()) + b'x', 'a single value'),
    'many axes': (idx_header(8, (1,) * 255) + b'x', '255 axes'),
    'large record': (idx_header(8, (1, 2**31, 2)), 'more than 4294967295 bytes'),
    'overflowing record': (idx_header(14, (1,) + (2**32 - 1,) * 6), 'more than 4294967295 bytes'),
    'overflowing length': (idx_header(14, (2**32 - 1, 2**28)), 'more than the file can hold'),
    'empty record': (idx_header(8, (2**32 - 1, 0)), 'has no bytes'),
}

FAULTY_GZIP = {
    'header cut': (GZIP[:5], 'truncated'),
    'truncated': (GZIP[:len(GZIP) // 2], 'truncated'),
    'trailer cut': (GZIP[:-1], 'truncated'),
    'no trailer': (GZIP[:-8], 'truncated'),
    'checksum': (flip(GZIP, -5), 'incorrect data check'),
    'length': (flip(GZIP, -1), 'incorrect length check'),
    'garbage after': (GZIP + b'garbage', 'unexpected data after the end of the gzip data'),
    'garbage after zeros': (GZIP + bytes(100) + b'garbage',
                            'unexpected data after the end of the gzip data'),
    'method': (flip(GZIP, 2), 'unknown compression method'),
    'data too short': (gzip.compress(IDX[:-1]), 'the file ends too early'),
    'data too long': (gzip.compress(IDX + b'x'), 'the file is longer than its header'),
    'bomb': (gzip.compress(idx_header(8, (10, 30)) + bytes(1 << 26)), 'is longer than'),
    'promise': (gzip.compress(idx_header(8, (2**31, 2**30))), 'more than the file can hold'),
    'another member': (GZIP + gzip.compress(b'x'), 'the file is longer than'),
    'not IDX': (gzip.compress(b'hello world'), 'not an IDX file'),
}


def npy(descr="'<i4'", order='False', shape='(5, 2)', size=40, more=''):
    """An .npy file of zeros with a header made of these."""
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}{more}}}"
    return npy_bytes(np.zeros(size, dtype='uint8'), header=header)


FAULTY_NPY = {
    'empty': (b'', 'the file ends too early'),
    'magic': (b'\x93NUMPX' + npy()[6:], 'is not an .npy file'),
    'idx': (IDX, 'use --idx for IDX files'),
    'version': (b'\x93NUMPY\4\0' + npy()[8:], '.npy version 4.0'),
    'header cut': (npy()[:40], 'the file ends too early'),
    'huge header': (b'\x93NUMPY\2\0\xff\xff\xff\xff', 'the .npy header has 4294967295 bytes'),
    'no dict': (npy_bytes(ARRAY, header='[1, 2]'), 'expected a dict'),
    'not closed': (npy_bytes(ARRAY, header="{'descr': '<i4'"), 'expected a comma'),
    'key missing': (npy_bytes(ARRAY, header="{'descr': '<i4', 'shape': (5,)}"), 'a dict of descr'),
    'key twice': (npy(more=", 'shape': (5, 2)"), 'each once'),
    'unknown key': (npy(more=", 'other': 1"), 'descr, fortran_order and shape'),
    'text after': (npy_bytes(ARRAY, header="{'descr': '<i4', 'fortran_order': False, "
                                                 "'shape': (5,)} x"), 'expected the end'),
    'zero byte': (npy_bytes(ARRAY, header="{'descr': '<i4', 'fortran_order': False, "
                                          "'shape': (5,)}\0"), 'no zero byte'),
    'order': (npy(order='Maybe'), 'expected True or False'),
    'shape': (npy(shape='5'), 'expected a tuple'),
    'negative extent': (npy(shape='(-5, 2)'), 'expected an extent'),
    'large extent': (npy(shape=f'({2**64}, 2)'), 'an extent below 2^63'),
    'many axes': (npy(shape='(' + '1, ' * 66 + ')'), 'more than 33 axes'),
    'fortran': (npy(order='True'), 'save np.ascontiguousarray(x) instead'),
    'objects': (npy(descr="'|O'"), 'pickled Python objects'),
    'text': (npy(descr="'<U5'"), "the dtype '<U5' is not supported"),
    'long double': (npy(descr="'<f16'"), "the dtype '<f16' is not supported"),
    'no order': (npy(descr="'i4'"), "the dtype 'i4' is not supported"),
    'structured': (npy(descr="[('a', '<i4')]"), 'the dtype of the array is structured'),
    'one value': (npy(shape='()', size=4), 'a single value'),
    'truncated': (npy(size=39), 'more than the file can hold'),
    'too long': (npy(size=41), '1 bytes follow'),
    'empty records': (npy(shape=f'({2**62}, 0)', size=0), 'has no bytes'),
    'overflow': (npy(shape=f'({2**62}, 4)', size=0), 'more than 2^64 bytes'),
}


@pytest.fixture(scope='module')
def there(module_loaderx):
    """A dataset `there` of three records, to which the tests of this module append invalid data."""
    good = write_idx(module_loaderx.folder / 'good', ARRAY[:3])
    module_loaderx.text('import', 'there', '--idx', f'x={good}')
    return module_loaderx


def check_nothing_is_left(loaderx, kind, data, message):
    """Neither a new dataset nor one that is appended to changes."""
    (loaderx.folder / 'faulty').write_bytes(data)
    line = loaderx.fails(1, 'import', 'new', kind, 'x=faulty')
    assert line.startswith("loaderx import: faulty, field 'x'") and message in line
    assert not (loaderx.folder / 'new').exists()
    assert loaderx.fails(1, 'import', 'there', '--append', kind, 'x=faulty') == line
    after = loaderx.json('verify', 'there')
    assert after['records'] == 3 and after['intact']


@pytest.mark.parametrize('name', FAULTY_IDX)
def test_faulty_idx(there, name):
    check_nothing_is_left(there, '--idx', *FAULTY_IDX[name])


@pytest.mark.parametrize('name', FAULTY_GZIP)
def test_faulty_gzip(there, name):
    check_nothing_is_left(there, '--idx', *FAULTY_GZIP[name])


@pytest.mark.parametrize('name', FAULTY_NPY)
def test_faulty_npy(there, name):
    check_nothing_is_left(there, '--npy', *FAULTY_NPY[name])


def test_reports_the_location_of_a_fault(loaderx, folder):
    (folder / 'x').write_bytes(gzip.compress(IDX[:12 + 30 * 456 + 7]))
    line = loaderx.fails(1, 'import', 'd', '--idx', 'x=x')
    assert line.startswith("loaderx import: x, field 'x', record 456, offset ")


def test_every_byte_of_a_gzip_file_changed(loaderx, folder):
    """The file is rejected, or gives exactly the expected data: gzip does not check names and
    times."""
    array = np.arange(64, dtype='uint8')
    data = gzip.compress(idx_bytes(array))
    for place in range(len(data)):
        (folder / 'x').write_bytes(flip(data, place))
        done = loaderx('import', 'd', '--idx', 'x=x')
        assert done.returncode in (0, 1)
        if done.returncode == 0:
            raw = loaderx('get', 'd', ':', '--raw')
            assert raw.stdout == array.tobytes()
            subprocess.run(['rm', '-r', 'd'], cwd=folder, check=True)
        assert not (folder / 'd').exists()


def test_lengths_that_differ(loaderx, folder):
    one = write_idx(folder / 'one', values('uint8', (10, 2)))
    other = write_idx(folder / 'other', values('uint8', (11,)))
    line = loaderx.fails(1, 'import', 'd', '--idx', f'a={one}', '--idx', f'b={other}')
    assert f"{other}, field 'b': the file has 11 records, but {one} has 10" in line
    assert not (folder / 'd').exists()


# ---- the call


@pytest.mark.parametrize('arguments, message', [
    ([], 'no field is given'),
    (['--idx', 'x'], "--idx 'x' is invalid: use F=FILE"),
    (['--idx', '=x'], "--idx '=x' is invalid: use F=FILE"),
    (['--idx', 'x='], "--idx 'x=' is invalid: use F=FILE"),
    (['--idx', 'x=good', '--idx', 'x=good'], "field 'x' is given twice"),
    (['--idx', 'x=good', '--npy', 'x=good'], "field 'x' is given twice"),
    (['--idx', '.x=good'], "field name '.x' is invalid"),
    (['--idx', 'a/b=good'], "field name 'a/b' is invalid"),
    (['--idx', 'y' * 65 + '=good'], 'is invalid: use 1 to 64 of'),
    (['--idx', 'x=good', '--compress', 'x'], 'use F=raw, F=flate or F=zstd'),
    (['--idx', 'x=good', '--compress', 'x=lz4'], 'use F=raw, F=flate or F=zstd'),
    (['--idx', 'x=good', '--level', 'x=5'], 'requires --compress'),
    (['--idx', 'x=good', '--compress', 'x=zstd', '--level', 'y=5'], 'no file is given'),
    (['--idx', 'x=good', '--compress', 'x=zstd', '--level', '23'], '1 to 22'),
    (['--idx', 'x=good', '--compress', 'x=flate', '--dictionary', 'x'], '--compress F=zstd'),
    (['--idx', 'x=good', '--compress', 'x=zstd', '--dictionary', 'x=17M'], 'up to 16M'),
    (['--idx', 'x=good', '--compress', 'y=raw'], 'no file is given for this field'),
    (['--idx', 'x=good', '--level', '5'], '--level requires --compress'),
    (['--idx', 'x=good', '--compress', 'x=flate', '--level', '0'], '1 to 9'),
    (['--idx', 'x=good', '--compress', 'x=flate', '--level', '10'], '1 to 9'),
    (['--idx', 'x=good', '--threads', '65'], "--threads: '65' is not a number from 0 to 64"),
    (['--idx', 'x=good', '--threads', '-1'], "--threads: '-1' is not a number"),
    (['--idx', 'x=good', '--chunk-records', '0'], '0 records per chunk'),
    (['--idx', 'x=good', '--chunk-records', str(2**32)], 'records per chunk'),
    (['--idx', 'x=good', '--chunk-bytes', '4095'], '4095 bytes per chunk'),
    (['--idx', 'x=good', '--chunk-bytes', '2T'], 'bytes per chunk'),
    (['--idx', 'x=good', '--chunk-bytes', '1X'], "'1X' is not a size in bytes"),
    (['--idx', 'x=good', '--chunk-bytes', '99999999999G'], 'is not a size in bytes'),
    (['--idx', 'x=good', '--chunk-bytes', 'G'], 'is not a size in bytes'),
    (['--idx', 'x=nowhere'], "nowhere, field 'x': cannot open: No such file"),
    (['--idx', 'x=.'], "., field 'x': cannot read: Is a directory"),
    (['--idx', 'x=good', 'other'], 'unexpected argument'),
])
def test_rejects_an_invalid_call(loaderx, folder, arguments, message):
    write_idx(folder / 'good', np.arange(3, dtype='uint8'))
    assert message in loaderx.fails(2, 'import', 'd', *arguments)
    assert not (folder / 'd').exists()


@pytest.mark.parametrize('arguments', [['--compress', 'data=flate'], ['--chunk-bytes', '1M'],
                                       ['--chunk-records', '5']])
def test_rejects_options_that_append_does_not_take(loaderx, folder, images, arguments):
    line = loaderx.fails(2, 'import', 'images', '--append', '--idx', 'data=data', *arguments)
    assert 'cannot be set with --append' in line


def test_rejects_an_existing_directory(loaderx, folder, images):
    good = 'x=' + write_idx(folder / 'good', np.arange(3, dtype='uint8'))
    line = loaderx.fails(2, 'import', 'images', '--idx', good)
    assert 'there is already a dataset at this path; use --append to add to' in line
    assert loaderx.json('verify', 'images')['records'] == 20
    (folder / 'full').mkdir()
    (folder / 'full' / 'mine').write_text('x')
    assert 'not empty' in loaderx.fails(2, 'import', 'full', '--idx', good)
    assert os.listdir(folder / 'full') == ['mine']
    (folder / 'file').write_text('x')
    assert 'file: not a dataset' in loaderx.fails(2, 'import', 'file', '--idx', good)
    line = loaderx.fails(2, 'import', 'no/where', '--idx', good)
    assert "no/where: the parent directory 'no' does not exist" in line


def test_keeps_an_empty_directory(loaderx, folder):
    (folder / 'd').mkdir()
    (folder / 'x').write_bytes(gzip.compress(IDX[:-1]))
    loaderx.fails(1, 'import', 'd', '--idx', 'x=x')
    assert os.listdir(folder / 'd') == []


def test_reports_a_directory_without_permission(loaderx, folder):
    if os.geteuid() == 0:
        pytest.skip('root may write everywhere')
    good = 'x=' + write_idx(folder / 'good', np.arange(3, dtype='uint8'))
    (folder / 'locked').mkdir(mode=0o555)
    assert 'Permission denied' in loaderx.fails(2, 'import', 'locked/d', '--idx', good)
    assert 'Permission denied' in loaderx.fails(2, 'import', 'locked', '--idx', good)


def test_rejects_an_append_to_an_absent_dataset(loaderx, folder):
    good = 'x=' + write_idx(folder / 'good', np.arange(3, dtype='uint8'))
    line = loaderx.fails(2, 'import', 'd', '--append', '--idx', good)
    assert 'omit --append to create a new dataset' in line and not (folder / 'd').exists()


@pytest.mark.parametrize('status, data, label, message', [
    (2, 'x', 'label', "images, field 'x': field not found: the fields are data label"),
    (2, 'data', None, "images, field 'label': the dataset has this field, but no file"),
    (1, 'data', 'shape',
     'the records are uint8 of shape (3, 4), but those of the dataset are uint8'),
    (1, 'data', 'dtype', 'the records are int8 of shape (4, 3)'),
])
def test_rejects_an_append_of_other_fields(loaderx, folder, images, status, data, label, message):
    array = values('uint8', (5, 4, 3))
    array = {'shape': array.transpose(0, 2, 1), 'dtype': array.astype('int8')}.get(label, array)
    options = ['--idx', f'{data}=' + write_idx(folder / 'd', array)]
    if label is not None:
        options += ['--idx', 'label=' + write_idx(folder / 'l', values('uint8', (5,)))]
    assert message in loaderx.fails(status, 'import', 'images', '--append', *options)
    assert loaderx.json('verify', 'images')['records'] == 20


def test_append_to_bytes(loaderx, folder, varied):
    text = write_idx(folder / 'text', values('uint8', (3, 5)))
    number = write_idx(folder / 'number', values('float32', (3,)))
    line = loaderx.fails(1, 'import', 'varied', '--append', '--idx', f'text={text}', '--idx',
                         f'number={number}')
    assert line.endswith('the records are uint8 of shape (5,), but those of the dataset are bytes')


# ---- the system


@pytest.mark.parametrize('limit', [0, 1000, 20000, 100000, 1 << 20])
def test_full_disk(loaderx, folder, images, limit):
    """Simulates a full disk: no file can grow beyond a limit, so a write fails sooner or later."""
    data = write_idx(folder / 'large', values('uint8', (20000, 4, 3)))
    label = write_idx(folder / 'labels', values('uint8', (20000,)))
    options = ['--idx', f'data={data}', '--idx', f'label={label}']

    def bound():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    if loaderx('--version', preexec_fn=bound).returncode != 0:
        pytest.skip('the command does not even start: its sanitizer writes files')
    for arguments in (['new'], ['images', '--append']):
        done = loaderx('import', *arguments, *options, preexec_fn=bound)
        if limit >= 1 << 20 and done.returncode == 0:
            continue
        assert done.returncode == 1 and b'File too large' in done.stderr, done
    if limit < 1 << 20:
        assert not (folder / 'new').exists()
        assert loaderx.json('verify', 'images') == {
            **loaderx.json('verify', 'images'), 'records': 20, 'intact': True}
    loaderx.text('import', 'images', '--append', *options)


def start_half(loaderx, folder, *arguments):
    """Starts an import that holds the lock of `d`, has read half of a pipe, and waits for the
    rest."""
    os.mkfifo(folder / 'pipe')
    running = loaderx.start('import', 'd', *arguments, '--idx', 'x=pipe')
    pipe = open(folder / 'pipe', 'wb')
    pipe.write(idx_header(8, (1 << 14, 1 << 10)) + bytes(6 << 20))
    pipe.flush()
    lock = folder / 'd' / 'LOCK'
    end = time.monotonic() + 60
    while not lock.exists() or lock.read_text() != f'{running.pid}\n':
        assert running.poll() is None and time.monotonic() < end
        time.sleep(.01)
    return running, pipe


def stop(running, pipe, number):
    """Sends a signal; returns the status and output of the command."""
    running.send_signal(number)
    _, printed = running.communicate(timeout=60)
    pipe.close()
    return running.returncode, printed.decode()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize('threads', ['0', '2'])
def test_signal_undoes_a_new_dataset(loaderx, folder, number, threads):
    status, printed = stop(*start_half(loaderx, folder, '--threads', threads), number)
    assert status == 128 + number and 'stopped by signal' in printed
    assert not (folder / 'd').exists()


def test_signal_undoes_appends(loaderx, folder):
    good = write_idx(folder / 'good', HALF)
    loaderx.text('import', 'd', '--idx', f'x={good}')
    assert stop(*start_half(loaderx, folder, '--append'), signal.SIGINT)[0] == 130
    assert loaderx.json('verify', 'd')['records'] == 3
    loaderx.text('import', 'd', '--append', '--idx', f'x={good}')
    assert loaderx('get', 'd', ':', '--raw').stdout == 2 * HALF.tobytes()


def test_kill_leaves_a_dataset_unchanged(loaderx, folder):
    good = write_idx(folder / 'good', HALF)
    loaderx.text('import', 'd', '--idx', f'x={good}')
    assert stop(*start_half(loaderx, folder, '--append'), signal.SIGKILL)[0] == -signal.SIGKILL
    assert loaderx.json('verify', 'd')['records'] == 3
    loaderx.text('import', 'd', '--append', '--idx', f'x={good}')


def test_dataset_in_use_by_another_writer(loaderx, folder):
    good = write_idx(folder / 'good', HALF)
    loaderx.text('import', 'd', '--idx', f'x={good}')
    running, pipe = start_half(loaderx, folder, '--append')
    message = f'd/LOCK: the dataset is being written by process {running.pid}'
    assert message in loaderx.fails(2, 'import', 'd', '--append', '--idx', f'x={good}')
    assert message in loaderx.fails(2, 'seal', 'd')
    assert loaderx.json('stat', 'd')['length'] == 3  # readers do not block it
    assert stop(running, pipe, signal.SIGINT)[0] == 130


def test_rejects_a_dataset_under_construction(loaderx, folder):
    good = write_idx(folder / 'good', HALF)
    running, pipe = start_half(loaderx, folder)
    assert loaderx.json('stat', 'd')['length'] == 0
    assert 'there is already a dataset' in loaderx.fails(2, 'import', 'd', '--idx', f'x={good}')
    assert stop(running, pipe, signal.SIGINT)[0] == 130
    assert not (folder / 'd').exists()


def test_pipe_that_ends_too_early(loaderx, folder):
    running, pipe = start_half(loaderx, folder)
    pipe.close()
    _, printed = running.communicate(timeout=60)
    assert running.returncode == 1 and b"record 6144, offset 6291468: the file ends" in printed
    assert not (folder / 'd').exists()


def test_a_header_alone_allocates_nothing(loaderx, folder):
    """A gzipped header that declares 4 GiB a record is rejected by the size of its file."""
    (folder / 'x').write_bytes(gzip.compress(struct.pack('>BBBBII', 0, 0, 8, 2, 1, 2**32 - 1)))

    def bound():
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))

    if loaderx('--version', preexec_fn=bound).returncode != 0:
        pytest.skip('the command does not start with so little memory: it is sanitized')
    assert 'more than the file can hold' in loaderx.fails(1, 'import', 'd', '--idx', 'x=x',
                                                          preexec_fn=bound)
