# SPDX-License-Identifier: MIT
"""loaderx get: records as text, as bytes and as arrays."""

import io

import numpy as np
import pytest

from arrays import npy_bytes, values

DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64',
          'float16', 'float32', 'float64', 'complex64', 'complex128']


def put(loaderx, folder, array, name='x'):
    """A dataset `name` whose only field is that array."""
    (folder / f'{name}.npy').write_bytes(npy_bytes(array))
    loaderx.text('import', name, '--npy', f'x={name}.npy')


def test_one_scalar_is_one_number(loaderx, images):
    assert loaderx.text('get', 'images', 7, '--field', 'label') == '7\n'
    assert loaderx.text('get', 'images', -1, '--field', 'label') == '19\n'


def test_prints_indices_with_several_records(loaderx, images):
    assert loaderx.text('get', 'images', 7, -1, 7, '--field', 'label') == '7: 7\n19: 19\n7: 7\n'


@pytest.mark.parametrize('text', ['2:5', ':', '-3:', ':-18', '5:2', '15:100', '100:', '-100:1',
                                  '-0:2', '20:'])
def test_ranges_are_those_of_python(loaderx, images, text):
    start, stop = (int(end) if end else None for end in text.split(':'))
    expected = [f'{i}: {i}' for i in range(20)[start:stop]]
    assert loaderx.text('get', 'images', text, '--field', 'label').splitlines() == expected


def test_an_array_is_printed_in_lines_of_its_last_axis(loaderx, images):
    lines = loaderx.text('get', 'images', 3, '--field', 'data').splitlines()
    assert [list(map(int, line.split())) for line in lines] == images[0][3].tolist()
    labelled = loaderx.text('get', 'images', '3:4', '--field', 'data').splitlines()
    assert labelled == ['3:', *lines]


def test_separates_planes(loaderx, folder):
    put(loaderx, folder, np.arange(12, dtype='int16').reshape(1, 2, 2, 3))
    assert loaderx.text('get', 'x', 0) == ' 0  1  2\n 3  4  5\n\n 6  7  8\n 9 10 11\n'


@pytest.mark.parametrize('dtype', DTYPES)
def test_numbers_can_be_read_back(loaderx, folder, dtype):
    array = values(dtype, (50,))
    if array.dtype.kind == 'f':
        array[:6] = [0, -0.0, np.inf, -np.inf, np.finfo(dtype).tiny, np.finfo(dtype).max]
    put(loaderx, folder, array)
    words = [line.split(': ')[1] for line in loaderx.text('get', 'x', ':').splitlines()]
    if array.dtype.kind == 'b':
        got = np.array([{'true': True, 'false': False}[word] for word in words])
    elif array.dtype.kind == 'c':
        got = np.array([complex(word) for word in words]).astype(dtype)
    elif array.dtype.kind == 'f':
        got = np.array([float(word) for word in words]).astype(dtype)
    else:
        got = np.array([int(word) for word in words], dtype=dtype)
    assert got.tobytes() == array.tobytes()


def test_floating_point_numbers_are_short(loaderx, folder):
    put(loaderx, folder, np.array([.1, 1, 1e300, -2.5, np.nan]))
    assert loaderx.text('get', 'x', ':').split()[1::2] == ['0.1', '1', '1e+300', '-2.5', 'nan']
    put(loaderx, folder, np.array([.1, 2**-24, 65504, 1024], dtype='float16'), 'y')
    assert loaderx.text('get', 'y', ':').split()[1::2] == ['0.1', '6e-08', '6.55e+04', '1024']


def test_every_float16_can_be_read_back(loaderx, folder):
    array = np.arange(1 << 16, dtype='uint16').view('float16')
    array = array[~np.isnan(array)]
    put(loaderx, folder, array)
    words = loaderx.text('get', 'x', ':').split()[1::2]
    assert np.array([float(word) for word in words]).astype('float16').tobytes() == array.tobytes()


@pytest.mark.parametrize('dtype', DTYPES)
def test_npy(loaderx, folder, dtype):
    array = values(dtype, (9, 2, 3))
    put(loaderx, folder, array)
    loaderx.text('get', 'x', '4:9', 0, '--npy', 'out.npy')
    got = np.load(folder / 'out.npy')
    assert got.dtype == array.dtype and got.shape == (6, 2, 3)
    assert got.tobytes() == array[[4, 5, 6, 7, 8, 0]].tobytes()


def test_npy_of_one_record_and_of_zero(loaderx, folder, images):
    loaderx.text('get', 'images', 5, '--field', 'label', '--npy', 'out.npy')
    assert np.load(folder / 'out.npy').tolist() == [5]
    loaderx.text('get', 'images', '5:5', '--field', 'data', '--npy', 'out.npy')
    assert np.load(folder / 'out.npy').shape == (0, 4, 3)


def test_raw(loaderx, images):
    done = loaderx('get', 'images', '3:5', 0, '--field', 'data', '--raw')
    assert done.returncode == 0 and done.stdout == images[0][[3, 4, 0]].tobytes()


def test_hex(loaderx, folder):
    put(loaderx, folder, np.frombuffer(b'0123456789abcdefXY\x00\xff', dtype='uint8').reshape(1, 20))
    assert loaderx.text('get', 'x', 0, '--hex') == (
        '00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\n'
        '00000010  58 59 00 ff                                       |XY..|\n')


def test_the_only_field_is_the_default(loaderx, folder, images):
    put(loaderx, folder, np.arange(3))
    assert loaderx.text('get', 'x', 2) == '2\n'
    assert 'choose one with --field' in loaderx.fails(2, 'get', 'images', 0)


@pytest.mark.parametrize('index', ['20', '-21', str(2**64 - 1)])
def test_index_out_of_range(loaderx, images, index):
    line = loaderx.fails(2, 'get', 'images', '0', index, '--field', 'label')
    assert line == f'loaderx get: images: record {index} does not exist: the dataset has 20 records'


@pytest.mark.parametrize('index', ['x', '1:2:3', '', '1.5', '+1', '--', str(2**64), '1-2', '0x1'])
def test_rejects_invalid_indices(loaderx, images, index):
    assert loaderx('get', 'images', '--field', 'label', index).returncode == 2


@pytest.mark.parametrize('arguments, message', [
    ([], 'INDEX is missing'),
    ([0, '--field', 'x'], "images, field 'x': field not found: the fields are data label"),
    ([0, '--field', 'data', '--hex', '--raw'], '--hex, --raw and --npy are mutually exclusive'),
    ([0, '--field', 'data', '--npy', 'nowhere/x.npy'],
     "nowhere/x.npy: the parent directory 'nowhere' does not exist"),
    ([0, '--field', 'data', '--npy', ''], 'the path is empty'),
])
def test_rejects_an_invalid_call(loaderx, images, arguments, message):
    assert message in loaderx.fails(2, 'get', 'images', *arguments)


def test_removes_an_incomplete_array(loaderx, folder, images):
    chunk = folder / 'images' / 'chunk' / '0.zr'
    damaged = bytearray(chunk.read_bytes())
    damaged[5 * 12] ^= 1
    chunk.write_bytes(damaged)
    line = loaderx.fails(1, 'get', 'images', ':', '--field', 'data', '--npy', 'out.npy')
    assert "images/chunk/0.zr, field 'data', record 5, offset 60: " in line
    for command in ('get', 'images', ':', '--field', 'data', '--raw'), ('copy', 'images', 'twin'):
        assert loaderx.fails(1, *command).count("'loaderx repair'") == 1
    assert line.count("'loaderx repair'") == 1
    assert not (folder / 'out.npy').exists()
    assert loaderx('get', 'images', 4, '--field', 'data').returncode == 0


@pytest.mark.parametrize('name', ['LOG', 'meta.json', 'data.offset', 'chunk/0.zr', 'new'])
def test_never_writes_files_of_a_dataset(loaderx, folder, images, name):
    """Nor through a link to it."""
    def files():
        paths = (folder / 'images').rglob('*')
        return {path: path.read_bytes() for path in paths if path.is_file()}
    before = files()
    (folder / 'link').symlink_to(folder / 'images' / name)
    for path in f'images/{name}', 'link':
        if path != 'link' or name != 'new':
            loaderx.fails(2, 'get', 'images', '0:3', '--field', 'label', '--npy', path)
    assert files() == before
    assert loaderx.text('get', 'images', 7, '--field', 'label') == '7\n'


def test_npy_replaces_a_file_atomically(loaderx, folder, images):
    """Also through a link; a failure leaves the old file or none."""
    (folder / 'out.npy').write_bytes(b'before')
    (folder / 'link').symlink_to('out.npy')
    loaderx.fails(2, 'get', 'images', 20, '--field', 'label', '--npy', 'link')
    assert (folder / 'out.npy').read_bytes() == b'before'
    loaderx.text('get', 'images', '3:5', '--field', 'label', '--npy', 'link')
    assert (folder / 'link').is_symlink() and np.load(folder / 'out.npy').tolist() == [3, 4]
    assert sorted(path.name for path in folder.iterdir()) == ['data', 'images', 'label', 'link',
                                                              'out.npy']


def test_npy_to_other_than_files(loaderx, folder, images, varied):
    done = loaderx('get', 'images', '3:5', '--field', 'label', '--npy', '/dev/stdout')
    assert done.returncode == 0 and np.load(io.BytesIO(done.stdout)).tolist() == [3, 4]
    done = loaderx('get', 'varied', ':', '--field', 'number', '--npy', '/dev/stdout')
    assert done.returncode == 1 and b'value is missing' in done.stderr
    loaderx.fails(2, 'get', 'images', 3, '--field', 'label', '--npy', 'images')


def test_values_that_vary_are_empty_or_missing(loaderx, varied):
    assert loaderx.text('get', 'varied', '0:3', '--field', 'text') == (
        '0:\n00000000  68 65 6c 6c 6f 2c 20 77  6f 72 6c 64 0a           |hello, world.|\n'
        '1: empty\n2: missing\n')
    assert loaderx.text('get', 'varied', ':', '--field', 'number') == ('0: 1.5\n1: missing\n'
                                                                      '2: 1.5\n3: 1.5\n')
    assert loaderx('get', 'varied', 1, 3, '--field', 'text', '--raw').stdout == 1000 * b'x'


def test_raw_bytes_do_not_distinguish_missing_values(loaderx, folder, varied):
    line = loaderx.fails(1, 'get', 'varied', 2, '--field', 'text', '--raw')
    assert "varied, field 'text', record 2: the value is missing, which --raw" in line
    line = loaderx.fails(1, 'get', 'varied', ':', '--field', 'number', '--npy', 'x.npy')
    assert 'record 1: the value is missing, which --npy' in line
    assert not (folder / 'x.npy').exists()
    assert 'vary in length' in loaderx.fails(2, 'get', 'varied', 0, '--field', 'text', '--npy',
                                             'x.npy')
