# SPDX-License-Identifier: MIT
"""loaderx import: imported data can be read back."""

import gzip
import os
import pathlib
import pty
import threading
import time

import numpy as np
import pytest

from arrays import IDX_TYPES, idx_bytes, npy_bytes, values, write_idx

FASHION = pathlib.Path('/usr/share/datasets/fashion-mnist')
DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64',
          'float16', 'float32', 'float64', 'complex64', 'complex128']


def read_back(loaderx, folder, path='d', field='x'):
    """All records of a field, as an array."""
    loaderx.text('get', path, ':', '--field', field, '--npy', 'back.npy')
    return np.load(folder / 'back.npy')


@pytest.mark.parametrize('dtype', IDX_TYPES)
@pytest.mark.parametrize('shape', [(50,), (7, 5), (6, 3, 2, 2)])
@pytest.mark.parametrize('compress', [False, True])
def test_idx(loaderx, folder, dtype, shape, compress):
    array = values(dtype, shape)
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', array, compress))
    got = read_back(loaderx, folder)
    assert got.dtype == array.dtype and got.tobytes() == array.tobytes()
    assert got.shape == array.shape


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('order', '<>')
def test_npy(loaderx, folder, dtype, order):
    array = values(dtype, (11, 3)).astype(np.dtype(dtype).newbyteorder(order))
    np.save(folder / 'x.npy', array)
    loaderx.text('import', 'd', '--npy', 'x=x.npy')
    got = read_back(loaderx, folder)
    assert got.dtype == np.dtype(dtype) and np.array_equal(got, array)


@pytest.mark.parametrize('version', [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize('zipped', [False, True])
def test_npy_versions(loaderx, folder, version, zipped):
    array = values('int32', (5, 2))
    data = npy_bytes(array, version)
    (folder / 'x.npy').write_bytes(gzip.compress(data) if zipped else data)
    loaderx.text('import', 'd', '--npy', 'x=x.npy')
    assert np.array_equal(read_back(loaderx, folder), array)


@pytest.mark.parametrize('header', [
    "{'descr':'<i4','fortran_order':False,'shape':(5,2)}",
    "{\"shape\": (5L, 2L), 'fortran_order': False, 'descr': '<i4', }          ",
    "{ 'fortran_order' : False , 'descr' : '<i4' , 'shape' : ( 5 , 2 , ) , }",
])
def test_npy_headers_of_other_programs(loaderx, folder, header):
    array = values('int32', (5, 2))
    (folder / 'x.npy').write_bytes(npy_bytes(array, header=header))
    loaderx.text('import', 'd', '--npy', 'x=x.npy')
    assert np.array_equal(read_back(loaderx, folder), array)


def test_accepts_one_axis_in_fortran_order(loaderx, folder):
    array = values('float64', (5,))
    header = "{'descr': '<f8', 'fortran_order': True, 'shape': (5,)}"
    (folder / 'x.npy').write_bytes(npy_bytes(array, header=header))
    loaderx.text('import', 'd', '--npy', 'x=x.npy')
    assert np.array_equal(read_back(loaderx, folder), array)


def test_several_fields_of_both_kinds(loaderx, folder):
    first, second = values('uint8', (30, 4, 4)), values('float32', (30,))
    np.save(folder / 'b.npy', second)
    loaderx.text('import', 'd', '--idx', 'a=' + write_idx(folder / 'a', first, True), '--npy',
                 'b=b.npy', '--compress', 'a=flate', '--compress', 'b=raw')
    assert [field['name'] for field in loaderx.json('stat', 'd')['fields']] == ['a', 'b']
    assert np.array_equal(read_back(loaderx, folder, field='a'), first)
    assert np.array_equal(read_back(loaderx, folder, field='b'), second)


@pytest.mark.parametrize('threads', ['0', '1', '3', '64'])
def test_any_number_of_threads_and_many_blocks(loaderx, folder, threads):
    """12 MiB in three fields are several blocks of each."""
    arrays = {name: values(dtype, (3000, 512), seed)
              for seed, (name, dtype) in enumerate([('a', 'int32'), ('b', 'uint8'),
                                                    ('c', 'uint16')])}
    options = []
    for name, array in arrays.items():
        np.save(folder / f'{name}.npy', array)
        options += ['--npy', f'{name}={name}.npy']
    loaderx.text('import', 'd', *options, '--threads', threads)
    for name, array in arrays.items():
        assert np.array_equal(read_back(loaderx, folder, field=name), array)


def test_records_larger_than_a_block(loaderx, folder):
    array = values('uint8', (3, 5 << 20))
    np.save(folder / 'x.npy', array)
    loaderx.text('import', 'd', '--npy', 'x=x.npy')
    assert np.array_equal(read_back(loaderx, folder), array)


@pytest.mark.parametrize('shape', [(0,), (0, 5), (0, 0)])
def test_no_records(loaderx, folder, shape):
    np.save(folder / 'x.npy', np.empty(shape))
    loaderx.text('import', 'd', '--npy', 'x=x.npy')
    assert read_back(loaderx, folder).shape == shape
    loaderx.text('import', 'd', '--append', '--npy', 'x=x.npy')


def test_append(loaderx, folder, images):
    data, label = values('uint8', (5, 4, 3), 2), values('uint8', (5,), 2)
    got = loaderx.json('import', 'images', '--append',
                       '--idx', 'label=' + write_idx(folder / 'l', label),
                       '--idx', 'data=' + write_idx(folder / 'd', data))
    assert got.pop('seconds') > 0
    assert got == {'path': 'images', 'records': 5, 'length': 25, 'fields': ['data', 'label'],
                   'bytes': 65, 'sealed': False, 'former': None}
    assert np.array_equal(read_back(loaderx, folder, 'images', 'data'),
                          np.concatenate([images[0], data]))
    assert np.array_equal(read_back(loaderx, folder, 'images', 'label'),
                          np.concatenate([images[1], label]))


def test_options_of_a_new_dataset(loaderx, folder):
    array = values('uint8', (40, 100)) // 32
    text = loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', array), '--seal',
                        '--compress', 'x=flate', '--level', '9', '--chunk-bytes', '4k')
    assert text.startswith('d: imported 40 records (3.9 KiB) in ') and text.endswith('; sealed\n')
    got = loaderx.json('stat', 'd')
    assert got['sealed'] is True and got['chunk_limit'] == 4096
    assert np.array_equal(read_back(loaderx, folder), array)


def test_accepts_an_empty_directory(loaderx, folder):
    (folder / 'd').mkdir()
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', values('int8', (3,))))
    assert loaderx.json('stat', 'd')['length'] == 3


def test_gzip_of_several_members(loaderx, folder):
    array = values('uint8', (100, 7))
    data = idx_bytes(array)
    (folder / 'x').write_bytes(gzip.compress(data[:50]) + gzip.compress(b'') + bytes(200_000)
                               + gzip.compress(data[50:]) + b'\0')    # zeros are padding
    loaderx.text('import', 'd', '--idx', 'x=x')
    assert np.array_equal(read_back(loaderx, folder), array)


@pytest.mark.parametrize('zipped', [False, True])
def test_pipe(loaderx, folder, zipped):
    array = values('uint8', (1000, 300))
    data = gzip.compress(idx_bytes(array)) if zipped else idx_bytes(array)
    os.mkfifo(folder / 'x')
    writer = threading.Thread(target=(folder / 'x').write_bytes, args=(data,), daemon=True)
    writer.start()
    loaderx.text('import', 'd', '--idx', 'x=x')
    writer.join(60)
    assert np.array_equal(read_back(loaderx, folder), array)


def run_on_terminal(loaderx, folder, *arguments):
    """Imports a pipe that pauses halfway; returns the output on standard error, a terminal."""
    data = idx_bytes(values('uint8', (100, 1 << 17)))
    os.mkfifo(folder / 'x')

    def feed():
        with open(folder / 'x', 'wb') as pipe:
            pipe.write(data[:len(data) // 2])
            pipe.flush()
            time.sleep(.5)
            pipe.write(data[len(data) // 2:])

    threading.Thread(target=feed, daemon=True).start()
    master, slave = pty.openpty()
    running = loaderx.start('import', 'd', '--idx', 'x=x', *arguments, stderr=slave)
    os.close(slave)
    shown = b''
    while True:
        try:
            some = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not some:
            break
        shown += some
    os.close(master)
    assert running.wait(60) == 0
    running.stdout.close()
    return shown.decode()


def test_progress_bar_on_a_terminal(loaderx, folder):
    shown = run_on_terminal(loaderx, folder)
    assert 'import [#' in shown and '%' in shown and '/100 ' in shown
    assert shown.endswith('\r\033[K')


def test_no_progress_bar_when_quiet(loaderx, folder):
    assert run_on_terminal(loaderx, folder, '--quiet') == ''


def test_fashion_mnist(loaderx, folder):
    """Real images, compressed by another program."""
    if not FASHION.is_dir():
        pytest.skip('the package dataset-fashion-mnist is not installed')
    names = {'data': 't10k-images-idx3-ubyte.gz', 'label': 't10k-labels-idx1-ubyte.gz'}
    loaderx.text('import', 'fashion', *(f'--idx={field}={FASHION / name}'
                                        for field, name in names.items()))
    for field, header in (('data', 16), ('label', 8)):
        with gzip.open(FASHION / names[field]) as file:
            expected = file.read()[header:]
        assert read_back(loaderx, folder, 'fashion', field).tobytes() == expected
    assert 'nothing is damaged' in loaderx.text('verify', 'fashion')
