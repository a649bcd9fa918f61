# SPDX-License-Identifier: MIT
"""Texts, JSON, images, times and the small floats of ml_dtypes as types of fields."""

import datetime
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import loaderx as lx

SMALL_FLOATS = ['bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float8_e4m3fnuz', 'float8_e5m2fnuz',
                'float8_e8m0fnu']
TEXTS = ['', 'plain', 'häßlich', '日本語', '\0', '😀' * 300, 'line\nline']
VALUES = [None, True, 0, -1.5, '', 'ä', [], [1, [2]], {}, {'a': {'b': [None]}}, 'x' * 5000]


@pytest.fixture
def small(name):
    module = pytest.importorskip('ml_dtypes')
    if not hasattr(module, name):
        pytest.skip(f'this ml_dtypes has no {name}')
    return module


def stored(path, field, values, **options):
    """Return a dataset with the values in the field x."""
    with lx.create(path, {'x': field}) as writer:
        writer.extend(x=values, **options)
    return lx.open(path)


# ---- str


@pytest.mark.parametrize('compress', ['raw', 'flate'])
def test_str_fields_give_back_strs(tmp_path, compress):
    ds = stored(tmp_path / 'd', lx.Field(str, compress=compress), [*TEXTS, None])
    assert ds['x'][:] == [*TEXTS, None]
    assert [ds['x'][i] for i in range(len(ds))] == [*TEXTS, None]
    assert ds[3] == {'x': TEXTS[3]} and list(ds)[2] == {'x': TEXTS[2]}
    assert ds['x'][[4, -1, 1]] == [TEXTS[4], None, TEXTS[1]]
    assert np.asarray(ds['x']).tolist() == [*TEXTS, None] and ds['x'].dtype == object
    assert ds.fields == {'x': lx.Field('str', compress=compress)}
    ds.verify(progress=False)


def test_str_fields_take_bytes_and_numpy_strs(tmp_path):
    ds = stored(tmp_path / 'd', lx.Field(str), [b'\xc3\xa4', bytearray(b'b'), np.str_('ö'),
                                               memoryview(b'm')])
    assert ds['x'][:] == ['ä', 'b', 'ö', 'm']
    with lx.open(tmp_path / 'd', 'a') as writer:
        writer.extend(x=np.array(['u', 'ü']))
        writer.append(x='last')
    assert lx.open(tmp_path / 'd')['x'][4:] == ['u', 'ü', 'last']


@pytest.mark.parametrize('value, message', [
    (b'ab\xff', "field 'x'.*: the text is not valid UTF-8 at byte 2"),
    (b'\xed\xa0\x80', "field 'x'.*: the text is not valid UTF-8 at byte 0"),
    ('\ud800', "field 'x': the str contains surrogates"),
])
def test_str_fields_refuse_other_bytes(tmp_path, value, message):
    with lx.create(tmp_path / 'd', {'x': lx.Field(str)}) as writer:
        for write in (lambda: writer.append(x=value), lambda: writer.extend(x=['ok', value])):
            with pytest.raises(ValueError, match=message):
                write()
        with pytest.raises(TypeError, match="'x' must be str, bytes or None, not int"):
            writer.append(x=3)
        with pytest.raises(TypeError, match="'x' must be a sequence of values or None, not str"):
            writer.extend(x='abc')
        assert len(writer) == 0


def test_bytes_and_image_fields_refuse_strs(tmp_path):
    with lx.create(tmp_path / 'd', {'b': lx.Field(bytes), 'i': lx.Field('image')}) as writer:
        for name in 'b', 'i':
            with pytest.raises(TypeError, match=f"'{name}' must be bytes or None, not str; encode"):
                writer.append({'b': b'', 'i': b'\xff\xd8\xff', name: 'a'})
        writer.append(b=b'', i=b'\xff\xd8\xff')
    assert lx.open(tmp_path / 'd')['i'][:] == [b'\xff\xd8\xff']


@pytest.mark.parametrize('data', [b'', b'a cat', bytes(12)])
def test_image_fields_refuse_what_is_no_image(tmp_path, data):
    with lx.create(tmp_path / 'd', {'i': lx.Field('image')}) as writer:
        writer.append(i=b'\xff\xd8\xff')
        for write in (lambda: writer.append(i=data), lambda: writer.extend(i=[b'GIF89a', data]),
                      lambda: writer.__setitem__(0, {'i': data})):
            with pytest.raises(ValueError, match=f"'i'.*: the value is no image: its {len(data)} "):
                write()
        assert len(writer) == 1


def test_a_format_that_is_not_decoded_is_named_once(tmp_path, caplog):
    for name in 'd', 'e':    # once for each writer
        with lx.create(tmp_path / name, {'i': lx.Field('image')}) as writer:
            writer.append(i=b'GIF89a')
            writer.extend(i=[b'GIF89a', b'II*\0', b'\xff\xd8\xff'] * 2)
    assert [re.search("'i': (.*) is stored", record.getMessage())[1]
            for record in caplog.records] == ['GIF', 'TIFF'] * 2


@pytest.mark.parametrize('value', [
    np.zeros((2, 2, 3), 'u1'), np.zeros((1, 4), 'u1'), np.zeros(4, 'f4'), np.array(1),
    memoryview(np.zeros(2, 'u2'))])
def test_bytes_and_image_fields_refuse_pixels(tmp_path, value):
    with lx.create(tmp_path / 'd', {'b': lx.Field(bytes), 'i': lx.Field('image')}) as writer:
        good = {'b': np.arange(3, dtype='u1'), 'i': bytearray(b'\xff\xd8\xff')}
        writer.append(good)
        for name in 'b', 'i':
            with pytest.raises(TypeError, match=rf"'{name}' stores bytes, .*images\.encode\("):
                writer.append({**good, name: value})
    assert lx.open(tmp_path / 'd')[:] == {'b': [b'\0\1\2'], 'i': [b'\xff\xd8\xff']}


def test_set_values_repeat_a_text(tmp_path):
    with lx.create(tmp_path / 'd', {'t': lx.Field(str), 'j': lx.Field('json')}) as writer:
        writer.extend(t=['a', 'b', 'c'], j=[1, 2, 3])
        writer[[0, 2]] = {'t': 'z', 'j': {'k': 1}}
        writer[1:] = {'j': ['two', [3]]}
    ds = lx.open(tmp_path / 'd')
    assert ds['t'][:] == ['z', 'b', 'z'] and ds['j'][:] == [{'k': 1}, 'two', [3]]


# ---- JSON


def test_json_fields_give_back_values(tmp_path):
    ds = stored(tmp_path / 'd', lx.Field('json'), [b'null', *VALUES[1:], None])
    assert ds['x'][:] == [*VALUES, None]
    assert [ds['x'][i] for i in range(len(ds))] == [*VALUES, None]
    assert ds['x'].present().tolist() == [True] * len(VALUES) + [False]
    with ds.views([8]) as views:    # the stored text
        assert bytes(views['x'][0]) == b'{}'


def test_json_texts_are_stored_as_they_are(tmp_path):
    text = b' {"a" : 1.50,\n"a": "\\u00e4"} '
    ds = stored(tmp_path / 'd', lx.Field('json'), [text, bytearray(b'[1]')])
    with ds.views([0]) as views:
        assert bytes(views['x'][0]) == text
    assert ds['x'][0] == {'a': 'ä'} and ds['x'][1] == [1]


def test_json_batches_are_written_back(tmp_path):
    ds = stored(tmp_path / 'd', lx.Field('json'), [b'null', *VALUES[1:]])
    with lx.create(tmp_path / 'copy', {'x': lx.Field('json')}) as writer:
        for batch in lx.Loader(ds, batch_size=4):
            writer.extend(batch)
        writer.extend(x=lx.Ragged.of([b'[1]', b'{}']))    # bytes are JSON texts in any case
        writer[[0, 1]] = {'x': lx.Ragged.of(['{"b": 1}', '"b"'])}
        with pytest.raises(ValueError, match="field 'x'.*JSON"):
            writer.extend(x=lx.Ragged.of(['[1]', 'plain']))
        with pytest.raises(TypeError, match="field 'x': the value is not JSON: .*ndarray"):
            writer.extend(x=lx.Ragged.of([[1], [2]]))
    assert lx.open(tmp_path / 'copy')['x'][:] == [{'b': 1}, 'b', *VALUES[2:], [1], {}]


def test_json_fields_take_strs_of_pandas_as_values(tmp_path):
    pandas = pytest.importorskip('pandas')
    texts = ['plain', '[1]', None]
    for i, kind in enumerate(['object', 'string']):
        frame = pandas.DataFrame({'j': pandas.Series(texts, dtype=kind),
                                  'b': pandas.Series(texts, dtype='string')})
        with lx.create(tmp_path / str(i), {'j': lx.Field('json'), 'b': lx.Field(bytes)}) as writer:
            writer.extend(frame)
        ds = lx.open(tmp_path / str(i))
        assert ds['j'][:] == texts and ds['b'][:] == [b'plain', b'[1]', None]


@pytest.mark.parametrize('value, error, message', [
    (b'{"a": 1,}', ValueError, r"field 'x'.*JSON.*byte 8"),
    (b'', ValueError, "field 'x'.*JSON"),
    (b'[' * 600 + b']' * 600, ValueError, "field 'x'.*nest"),
    (b'"\xff"', ValueError, "field 'x'"),
    ({1, 2}, TypeError, "field 'x': the value is not JSON: .*set"),
    (float('nan'), ValueError, "field 'x': the value is not JSON"),
    ('\udc80', ValueError, "field 'x': a str contains surrogates"),
])
def test_json_fields_refuse_other_values(tmp_path, value, error, message):
    with lx.create(tmp_path / 'd', {'x': lx.Field('json')}) as writer:
        with pytest.raises(error, match=message):
            writer.append(x=value)
        with pytest.raises(error, match=message):
            writer.extend(x=[1, value])
        assert len(writer) == 0


def test_a_list_that_contains_itself_is_an_error(tmp_path):
    loop = []
    loop.append(loop)
    with lx.create(tmp_path / 'd', {'x': lx.Field('json')}) as writer:
        with pytest.raises(ValueError, match="field 'x': the value is not JSON"):
            writer.append(x=loop)


# ---- damage that checksums do not show


@pytest.mark.parametrize('kind, text', [('str', b'ab\xfe'), ('json', b'{"a" 1}')])
def test_invalid_content_is_corrupt(tmp_path, kind, text):
    """Another program wrote it: the checksums are right."""
    with lx.create(tmp_path / 'd', {'x': lx.Field(bytes)}) as writer:
        writer.extend(x=[b'"fine"', text * 10])
    relabel(tmp_path / 'd' / 'meta.json', b'"bytes"', b'"%s"' % kind.encode())
    ds = lx.open(tmp_path / 'd')
    assert ds['x'][0] in ('"fine"', 'fine')
    for read in (lambda: ds['x'][1], lambda: ds['x'][:], lambda: ds[1]):
        with pytest.raises(lx.CorruptError, match=f'no valid {kind}') as caught:
            read()
        assert caught.value.field == 'x' and caught.value.record == 1
    with pytest.raises(lx.CorruptError) as caught:
        ds.verify(progress=False)
    assert [(one['field'], one['record']) for one in caught.value.report['damages']] == [('x', 1)]
    assert ds.probe([0, 1]).tolist() == [False, True]
    if kind == 'str':
        with pytest.raises(lx.CorruptError, match='no valid str') as caught:
            list(lx.Loader(ds, batch_size=2, ragged='list'))
        assert (caught.value.field, caught.value.record) == ('x', 1)


def relabel(path, old, new):
    """Replace a text in meta.json, which begins with the checksum of what follows."""
    text = path.read_bytes()
    head, old_checksum = b'{"checksum": "', text[14:22]
    rest = text[24:].replace(old, new)
    crc = 0xffffffff
    for byte in rest:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    assert text.startswith(head) and rest != text[24:] and len(old_checksum) == 8
    path.write_bytes(b'%s%08x",%s' % (head, crc ^ 0xffffffff, rest))


# ---- times


@pytest.mark.parametrize('unit', ['D', 's', 'ms', 'us', 'ns'])
def test_times_give_back_times(tmp_path, unit):
    values = np.array(['1969-12-31', '2024-02-29', 'NaT', '2100-01-01'], f'M8[{unit}]')
    ds = stored(tmp_path / unit, lx.Field(values.dtype), values)
    assert ds.fields['x'].dtype == values.dtype == ds['x'].dtype
    assert np.array_equal(ds['x'][:], values, equal_nan=True) and ds['x'][1] == values[1]
    out = np.empty(2, values.dtype)
    assert ds.gather([1, 0], out={'x': out})['x'] is out and (out == values[[1, 0]]).all()
    with pytest.raises(TypeError, match='has dtype int64, but must have datetime64'):
        ds.gather([1, 0], out={'x': np.empty(2, np.int64)})
    for batch in lx.Loader(ds, batch_size=4):
        assert np.array_equal(batch['x'], values, equal_nan=True)
    with ds.views([3]) as views:
        assert views['x'][0] == values[3]


def test_times_are_converted_without_loss(tmp_path):
    moment = datetime.datetime(2024, 1, 2, 3, 4, 5)
    with lx.create(tmp_path / 'd', {'x': lx.Field('datetime64[s]')}) as writer:
        writer.append(x=moment)
        writer.append(x='2024-01-02T03:04:05')
        writer.append(x=datetime.date(2024, 1, 2))
        writer.extend(x=[moment, None, np.datetime64('2024-01-02')])
        writer.extend(x=np.array(['2024-01-02'], 'M8[D]'))
        for value in (moment.replace(microsecond=1), '2024-01-02T03:04:05.5'):
            with pytest.raises(ValueError, match="field 'x': 2024.* without loss"):
                writer.append(x=value)
        with pytest.raises(TypeError, match=r"datetime64\[ms\] cannot always be converted"):
            writer.append(x=np.datetime64(moment, 'ms'))
        with pytest.raises(TypeError, match='int64 cannot be converted'):
            writer.append(x=5)
        with pytest.raises(ValueError, match="field 'x'"):
            writer.append(x='yesterday')
        writer.append(x=np.datetime64(moment, 'ms'), casting='same_kind')
    column = lx.open(tmp_path / 'd')['x']
    days = np.datetime64('2024-01-02', 's')
    assert column.filled('zeros')[:].tolist() == [moment, moment, days.item(), moment, np.datetime64(0, 's').item(),
                                  days.item(), days.item(), moment]
    assert column.present().tolist() == [True] * 4 + [False] + [True] * 3


def test_times_beyond_the_range_are_an_error(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('datetime64[ns]')}) as writer:
        with pytest.raises(ValueError, match='without loss'):
            writer.append(x=np.datetime64('9999-01-01', 'D'))


def test_numbers_do_not_become_times_or_the_reverse(tmp_path):
    with lx.create(tmp_path / 'd', {'n': lx.Field('int64'), 't': lx.Field('datetime64[s]')}) as w:
        with pytest.raises(TypeError, match="'n' must contain numbers, not datetime64"):
            w.append(n=np.datetime64('2024-01-02'), t=np.datetime64(0, 's'))
        with pytest.raises(TypeError, match="'t'.*float64"):
            w.extend(n=[1], t=np.zeros(1))


@pytest.mark.parametrize('dtype', [3, 'float8_e9', 'datetime64', 'datetime64[h]', 'timedelta64[s]',
                                   'U5', 'S3', 'O', 'V2', 'float128', np.void])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises((ValueError, TypeError), match='dtype must be one of bytes, .*_e8m0fnu'):
        lx.Field(dtype)


@pytest.mark.parametrize('name', ['bool', 'uint8', 'float32', 'complex64', *SMALL_FLOATS])
def test_torch_dtypes_are_accepted(name):
    torch = pytest.importorskip('torch')
    if not hasattr(torch, name):
        pytest.skip(f'torch has no {name}')
    assert lx.Field(getattr(torch, name)) == lx.Field(name)
    with pytest.raises(TypeError, match="dtype must be one of .*, not 'quint8'"):
        lx.Field(torch.quint8)


# ---- small floats


@pytest.mark.parametrize('name', SMALL_FLOATS)
def test_small_floats_give_back_arrays_of_ml_dtypes(tmp_path, small, name):
    dtype = np.dtype(getattr(small, name))
    values = np.exp2(np.arange(-6, 6)).reshape(6, 2).astype(dtype)
    ds = stored(tmp_path / 'd', lx.Field(name, (2,)), values)
    assert lx.Field(dtype, (2,)) == lx.Field(name, (2,)) == ds.fields['x']
    assert ds['x'][:].dtype == dtype and (ds['x'][:] == values).all()
    assert ds['x'][4].dtype == dtype and ds['x'][4].tolist() == values[4].tolist()
    with ds.views([1]) as views:
        assert views['x'][0].dtype == dtype and views['x'][0].tolist() == values[1].tolist()
    for batch in lx.Loader(ds, batch_size=6):
        assert batch['x'].dtype == dtype and (batch['x'] == values).all()
    for batch in lx.Loader(values, batch_size=3, order=lx.Sequential()):    # an array as the source
        assert batch['data'].dtype == dtype
    out = np.empty((2, 2), dtype)
    ds.gather([5, 0], out={'x': out})
    assert (out == values[[5, 0]]).all()
    lx.converter(values, tmp_path / 'converted')
    assert lx.ARDataset(tmp_path / 'converted')[:].dtype == dtype


@pytest.mark.parametrize('name', SMALL_FLOATS)
def test_numbers_are_rounded_to_small_floats(tmp_path, small, name):
    with lx.create(tmp_path / 'd', {'x': lx.Field(name)}) as writer:
        writer.extend(x=[1, 0.3, 2, None])
        writer.append(x=1.25)
        with pytest.raises(ValueError, match=r"field 'x': 1e\+39 does not fit in"):
            writer.append(x=1e39)
        with pytest.raises(TypeError, match='float32 cannot always be converted'):
            writer.append(x=np.float32(1))
        writer.append(x=np.float32(1.5), casting='same_kind')
    ds = lx.open(tmp_path / 'd')
    dtype = np.dtype(getattr(small, name))
    expected = np.array([1, 0.3, 2, 1, 1.25, 1.5]).astype(dtype)
    expected[3:4].view(np.uint8)[:] = 0
    assert (ds['x'].filled('zeros')[:] == expected).all() and ds['x'].present().tolist()[3] is False


def test_small_floats_without_ml_dtypes(tmp_path):
    """Only what needs arrays of them fails; the error names the package."""
    path = tmp_path / 'd'
    program = f'''
import sys
sys.modules['ml_dtypes'] = None
import loaderx as lx
import numpy as np
def fails(function):
    try:
        function()
    except ImportError as error:
        assert 'ml_dtypes' in str(error), error
    else:
        raise AssertionError
with lx.create({str(path)!r}, {{'x': lx.Field('bfloat16'), 'n': lx.Field('int64')}}) as writer:
    fails(lambda: writer.append(x=1.0, n=1))
    writer.append(x=None, n=7)
ds = lx.open({str(path)!r})
assert ds.fields['x'] == lx.Field('bfloat16') and repr(ds.fields['x']) == "Field('bfloat16')"
assert ds['n'][:].tolist() == [7] and len(ds.stat()['fields']) == 2
fails(lambda: ds['x'][0])
fails(lambda: ds.fields['x'].dtype)
fails(lambda: lx.Loader(ds))
assert [batch['n'].tolist() for batch in lx.Loader(ds, fields=['n'])] == [[7]]
'''
    subprocess.run([sys.executable, '-c', program], check=True, timeout=120, env=dict(os.environ))


# ---- other libraries


@pytest.mark.parametrize('name', SMALL_FLOATS)
def test_torch_sees_small_floats(tmp_path, small, name):
    torch = pytest.importorskip('torch')
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f'torch has no {name}')
    values = np.exp2(np.arange(8)).astype(getattr(small, name))
    tensor = torch.arange(8, dtype=torch.float32).exp2().to(dtype)
    ds = stored(tmp_path / 'd', lx.Field(name), tensor)
    assert ds['x'][:].tolist() == values.tolist()
    for batch in lx.Loader(ds, batch_size=8, out='torch'):
        assert batch['x'].dtype == dtype and batch['x'].tolist() == values.tolist()
        batch['x'][0] = 3    # the memory is the caller's
    from loaderx.torch import DataLoader
    batch = next(iter(DataLoader(ds, batch_size=8)))
    assert batch['x'].dtype == dtype and batch['x'].tolist() == values.tolist()


@pytest.mark.parametrize('name', SMALL_FLOATS)
def test_jax_sees_small_floats(tmp_path, small, name):
    jnp = pytest.importorskip('jax.numpy')
    values = np.exp2(np.arange(8)).astype(getattr(small, name))
    ds = stored(tmp_path / 'd', lx.Field(name), values)
    for batch in lx.Loader(ds, batch_size=8, out='jax'):
        assert batch['x'].dtype == getattr(jnp, name) and batch['x'].tolist() == values.tolist()


@pytest.mark.parametrize('ragged', ['ragged', 'list', lx.Pad('NaT')])
@pytest.mark.parametrize('out', ['torch', 'jax'])
def test_libraries_without_times_say_so_of_ragged_times(tmp_path, out, ragged):
    pytest.importorskip(out)
    ds = stored(tmp_path / 'd', lx.Field('datetime64[s]', (None,)), [['2024-01-02'], []])
    with pytest.raises(ValueError, match=r"datetime64\[s\], the dtype of 'x': .*in a transform"):
        lx.Loader(ds, out=out, ragged=ragged)
    made = next(lx.Loader(ds, out=out, ragged=ragged, transform=lambda batch: {'x': np.arange(3)}))
    assert made['x'].tolist() == [0, 1, 2]


@pytest.mark.parametrize('out', ['torch', 'jax'])
def test_libraries_without_times_say_so(tmp_path, out):
    pytest.importorskip(out)
    ds = stored(tmp_path / 'd', lx.Field('datetime64[s]'), ['2024-01-02'])
    with pytest.raises(ValueError, match=r"datetime64\[s\], the dtype of 'x'"):
        lx.Loader(ds, out=out)
    made = next(lx.Loader(ds, out=out, transform=lambda batch: {
        'x': batch['x'].astype('i8').astype('i4')}))
    assert made['x'].tolist() == [1704153600]


# ---- loaders of texts


@pytest.mark.parametrize('out', ['numpy', 'torch', 'jax'])
def test_loaders_give_texts(tmp_path, out):
    if out != 'numpy':
        pytest.importorskip(out)
    with lx.create(tmp_path / 'd', {'t': lx.Field(str, compress='flate'), 'j': lx.Field('json'),
                                    'n': lx.Field('int64')}) as writer:
        writer.extend(t=TEXTS, j=VALUES[:7], n=range(7))
        writer.append(t=None, j=None, n=7)
    texts, values = [*TEXTS, ''], [*VALUES[:7], None]
    options = {'batch_size': 3, 'order': lx.Shuffle(seed=1), 'missing': 'mask', 'out': out}
    for batch in lx.Loader(tmp_path / 'd', **options):
        rows = np.asarray(batch['n']).tolist()
        assert batch['t'].tolist() == list(batch['t']) == [texts[i] for i in rows]
        assert [batch['t'][i] for i in range(len(rows))] == [texts[i] for i in rows]
        assert batch['t'][::-1].tolist() == [texts[i] for i in rows[::-1]]
        assert [json.loads(one) if one else None for one in batch['j']] == [values[i] for i in rows]
    for batch in lx.Loader(tmp_path / 'd', ragged='list', **options):
        assert batch['t'] == [texts[i] for i in np.asarray(batch['n']).tolist()]
        assert all(type(one) is str for one in batch['j'])


def test_ragged_texts_as_arrow(tmp_path):
    pa = pytest.importorskip('pyarrow')
    ragged = lx.Ragged.of(TEXTS)
    assert ragged.item is str and ragged.tolist() == TEXTS and ragged[3] == TEXTS[3]
    assert ragged.to_arrow().type == pa.large_string() and ragged.to_arrow().to_pylist() == TEXTS
    size = len(''.join(TEXTS).encode())
    assert repr(ragged) == f'<loaderx.Ragged of 7 values of str, {size} items>'


@pytest.mark.parametrize('offsets', [[0, 9], [2, 1], [-1, 2]])
def test_ragged_texts_with_wrong_offsets(offsets):
    ragged = lx.Ragged(np.zeros(3, np.uint8), [0, 1, 2], str)
    ragged.offsets = np.array(offsets)
    with pytest.raises(ValueError, match='offsets'):
        ragged.tolist()


def test_torch_reads_records_of_texts(tmp_path):
    pytest.importorskip('torch')
    from loaderx.torch import DataLoader
    with lx.create(tmp_path / 'd', {'t': lx.Field(str), 'n': lx.Field('int64')}) as writer:
        writer.extend(t=TEXTS, n=range(7))
    for batch in DataLoader(lx.open(tmp_path / 'd'), batch_size=7):
        assert batch['t'] == TEXTS and batch['n'].tolist() == list(range(7))


def test_previews_show_the_types(tmp_path):
    with lx.create(tmp_path / 'd', {'t': lx.Field(str), 'j': lx.Field('json'),
                                    'w': lx.Field('datetime64[D]')}) as writer:
        writer.append(t='<ä>', j={'k': [1]}, w='2024-01-02')
    page = lx.open(tmp_path / 'd')._repr_html_()
    for cell in ('str', 'json', 'datetime64[D]', '&lt;ä&gt;', '2024-01-02'):
        assert cell in page


def test_a_ragged_of_invalid_texts_is_refused_with_its_place(tmp_path):
    ragged = lx.Ragged(np.array([65, 255, 66], np.uint8), np.array([0, 1, 3]), str)
    with lx.create(tmp_path / 'd', {'t': lx.Field(str)}) as writer:
        with pytest.raises(ValueError, match="field 't', record 1: the text is not valid UTF-8"):
            writer.extend(t=ragged)
        writer.extend(t=ragged[:1])
    with lx.create(tmp_path / 'j', {'t': lx.Field('json')}) as writer:
        with pytest.raises(ValueError, match="field 't', record 0: .* not valid JSON"):
            writer.extend(t=ragged)
    with lx.create(tmp_path / 'b', {'t': lx.Field(bytes)}) as writer:
        with pytest.raises((TypeError, UnicodeDecodeError)):
            writer.extend(t=ragged)
    assert lx.open(tmp_path / 'd')['t'][:] == ['A']
