# SPDX-License-Identifier: MIT
"""Imports of the files of other libraries: the values are those that were written.

Each format has a small writer here, and a test with the library that defines the format, which is
skipped where that library is not installed. `LOADERX_ORIGINAL` is a folder with loaderx 2.8, which
cannot be imported beside this package. `MOSAIC_PYTHON` is an interpreter that has
mosaicml-streaming, with `MOSAIC_PATH` as its PYTHONPATH.
"""

import inspect
import json
import operator
import os
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import loaderx as lx


def values(dataset, name):
    """The values of a field: None for missing ones."""
    column = dataset[name]
    present = column.present()
    kind = dataset.fields[name].dtype
    convert = bytes if kind in (bytes, 'image') else lambda value: value
    if isinstance(kind, np.dtype):
        convert = operator.methodcaller('tolist')
    return [convert(column[i]) if present[i] else None for i in range(len(dataset))]


def arrays(dataset, name, dtype):
    """The values of a field of bytes that has the elements of arrays, with their shapes."""
    shapes = dataset[name + '.shape'][:]
    return [np.frombuffer(value, dtype).reshape(shapes[i])
            for i, value in enumerate(values(dataset, name))]


# ---- TFRecord


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack('<I', ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def framed(payload):
    length = struct.pack('<Q', len(payload))
    return length + masked(length) + payload + masked(payload)


def varint(number):
    number &= 2**64 - 1
    parts = []
    while number >= 0x80:
        parts.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(parts + [number])


def part(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def example(features, packed=True):
    """Return a tf.Example; lists of floats and of ints may be written unpacked."""
    entries = b''
    for name, items in features.items():
        if isinstance(items[0], bytes):
            feature = part(1, b''.join(part(1, item) for item in items))
        elif isinstance(items[0], float):
            feature = part(2, part(1, struct.pack(f'<{len(items)}f', *items)) if packed else
                           b''.join(b'\x0d' + struct.pack('<f', item) for item in items))
        else:
            feature = part(3, part(1, b''.join(map(varint, items))) if packed else
                           b''.join(b'\x08' + varint(item) for item in items))
        entries += part(1, part(1, name.encode()) + part(2, feature))
    return part(1, entries)


def make_features(count):
    rng = np.random.default_rng(1)
    for i in range(count):
        yield {
            'image': [rng.bytes(i % 40)],
            'label': [int(rng.integers(-2**63, 2**63 - 1))],
            'score': [float(np.float32(rng.normal()))],
            'box': np.float32(rng.normal(size=4)).tolist(),
            'ids': rng.integers(-5, 300, size=2 + i % 5).tolist(),
        }


def expect_features(dataset, wanted):
    assert dataset.fields['box'].shape == (4,)
    for name in 'image', 'label', 'score':
        assert values(dataset, name) == [features[name][0] for features in wanted]
    assert values(dataset, 'box') == [features['box'] for features in wanted]
    assert values(dataset, 'ids') == [features['ids'] for features in wanted]


@pytest.mark.parametrize('packed', [True, False])
def test_examples_are_fields(tmp_path, packed):
    wanted = list(make_features(100))
    path = tmp_path / 'a.tfrecord'
    path.write_bytes(b''.join(framed(example(features, packed)) for features in wanted))
    lx.import_tfrecord(path, tmp_path / 'd', progress=False)
    expect_features(lx.open(tmp_path / 'd'), wanted)


def test_examples_of_the_tfrecord_package(tmp_path):
    tfrecord = pytest.importorskip('tfrecord')
    kinds = {'image': 'byte', 'label': 'int', 'score': 'float', 'box': 'float', 'ids': 'int'}
    wanted = list(make_features(300))
    writer = tfrecord.TFRecordWriter(str(tmp_path / 'a.tfrecord'))
    for features in wanted:
        writer.write({name: (items, kinds[name]) for name, items in features.items()})
    writer.close()
    lx.import_tfrecord(tmp_path / 'a.tfrecord', tmp_path / 'd', progress=False)
    expect_features(lx.open(tmp_path / 'd'), wanted)


def test_options_of_tfrecord(tmp_path):
    path = tmp_path / 'a.tfrecord'
    payloads = [example({'tags': [b'a', '\u00e9"'.encode()]}), example({'tags': [b'b']})]
    path.write_bytes(b''.join(map(framed, payloads)))
    with pytest.raises(lx.LoaderxError, match='tags.*lists'):
        lx.import_tfrecord(path, tmp_path / 'refused', progress=False)
    lx.import_tfrecord(path, tmp_path / 'd', lists=['tags'], progress=False)
    assert values(lx.open(tmp_path / 'd'), 'tags') == [['a', '\u00e9"'], ['b']]
    lx.import_tfrecord(path, tmp_path / 'r', raw='payload', progress=False)
    assert values(lx.open(tmp_path / 'r'), 'payload') == payloads
    with pytest.raises(TypeError, match='lists'):
        lx.import_tfrecord(path, tmp_path / 'e', lists='tags', progress=False)


# ---- Mosaic MDS


MDS_COLUMNS = {'id': 'int', 'text': 'str', 'data': 'bytes', 'small': 'uint8', 'half': 'float16',
               'big': 'str_int', 'meta': 'json', 'fixed': 'ndarray:float32:2,3',
               'typed': 'ndarray:int16', 'free': 'ndarray', 'object': 'pkl'}
"""Columns and their encodings; see make_samples()."""


def make_samples(count):
    """Samples of MDS_COLUMNS. Mosaic's interpreter runs this function, too."""
    rng = np.random.default_rng(2)
    for i in range(count):
        yield {
            'id': int(rng.integers(-2**63, 2**63 - 1)),
            'text': 'caf\u00e9 ' * (i % 5),
            'data': rng.bytes(i % 30),
            'small': i % 256,
            'half': float(i) / 2,
            'big': i * 10**15,
            'meta': {'i': i, 'tags': ['x'] * (i % 3)},
            'fixed': rng.normal(size=(2, 3)).astype('float32'),
            'typed': rng.integers(-9, 9, size=1 + i % 7).astype('int16'),
            'free': rng.integers(0, 99, size=(1 + i % 3, 2 + i % 2)).astype('uint8'),
            'object': [i],
        }


def expect_samples(dataset, wanted):
    assert len(dataset) == len(wanted)
    for name in 'id', 'text', 'data', 'small', 'half', 'big', 'meta':
        assert values(dataset, name) == [sample[name] for sample in wanted]
    assert dataset.fields['fixed'].shape == (2, 3)
    np.testing.assert_array_equal(dataset['fixed'][:], [sample['fixed'] for sample in wanted])
    assert dataset.fields['typed'] == lx.Field('int16', (None,))
    assert values(dataset, 'typed') == [sample['typed'].tolist() for sample in wanted]
    for got, sample in zip(arrays(dataset, 'free', 'uint8'), wanted):
        np.testing.assert_array_equal(got, sample['free'])
    assert all(value.startswith(b'\x80') for value in values(dataset, 'object'))    # a pickle


def encode(encoding, value):
    if encoding == 'int':
        return struct.pack('<q', value)
    if encoding in ('str', 'str_int'):
        return str(value).encode()
    if encoding == 'json':
        return json.dumps(value).encode()
    if encoding in ('uint8', 'float16'):
        return np.dtype(encoding).type(value).tobytes()
    if encoding == 'pkl':
        return b'\x80\x04]q\x00.'
    if not encoding.startswith('ndarray'):
        return value
    shape = bytes([value.ndim << 2, *value.shape]) if encoding.count(':') < 2 else b''
    return b'\x08' * (encoding == 'ndarray') + shape + value.tobytes()


def write_mds(folder, shards):
    """Write shards, each a list of samples, as MDSWriter does."""
    names, sizes = sorted(MDS_COLUMNS), {'int': 8, 'uint8': 1, 'float16': 2,
                                         'ndarray:float32:2,3': 24}
    entries = []
    for number, samples in enumerate(shards):
        parts = []
        for sample in samples:
            encoded = [encode(MDS_COLUMNS[name], sample[name]) for name in names]
            parts.append(b''.join(struct.pack('<I', len(each))
                                  for name, each in zip(names, encoded)
                                  if MDS_COLUMNS[name] not in sizes) + b''.join(encoded))
        config = b'{"version": 2}'
        offsets = np.cumsum([8 + 4 * len(parts) + len(config)] + list(map(len, parts)))
        data = struct.pack('<I', len(parts)) + offsets.astype('<u4').tobytes() + config
        data += b''.join(parts)
        name = f'shard.{number:05}.mds'
        (folder / name).write_bytes(data)
        entries.append({
            'column_names': names, 'column_encodings': [MDS_COLUMNS[name] for name in names],
            'column_sizes': [sizes.get(MDS_COLUMNS[name]) for name in names],
            'compression': None, 'format': 'mds', 'hashes': [], 'samples': len(samples),
            'raw_data': {'basename': name, 'bytes': len(data), 'hashes': {}},
            'size_limit': None, 'version': 2, 'zip_data': None})
    (folder / 'index.json').write_text(json.dumps({'version': 2, 'shards': entries}))


def test_mds_columns_are_fields(tmp_path):
    wanted = list(make_samples(60))
    (tmp_path / 'mds').mkdir()
    write_mds(tmp_path / 'mds', [wanted[:25], [], wanted[25:]])
    lx.import_mds(tmp_path / 'mds', tmp_path / 'd', progress=False)
    expect_samples(lx.open(tmp_path / 'd'), wanted)


def test_a_damaged_shard_is_one_bad_record(tmp_path):
    wanted = list(make_samples(60))
    (tmp_path / 'mds').mkdir()
    write_mds(tmp_path / 'mds', [wanted[:20], wanted[20:40], wanted[40:]])
    (tmp_path / 'mds' / 'shard.00001.mds').write_bytes(b'')
    report = lx.import_mds(tmp_path / 'mds', tmp_path / 'd', on_bad='skip', progress=False)
    assert report.records == 40 and report.bad == 1
    assert report.skipped[0]['path'].endswith('shard.00001.mds')
    assert 'that are lost: 20' in report.skipped[0]['message']
    expect_samples(lx.open(tmp_path / 'd'), wanted[:20] + wanted[40:])


@pytest.mark.parametrize('compression', [None, 'zstd:3', 'gz'])
def test_mds_of_mosaic(tmp_path, compression):
    python = os.environ.get('MOSAIC_PYTHON')
    if python is None:
        pytest.skip('MOSAIC_PYTHON is not set')
    code = ('import numpy as np\nfrom streaming import MDSWriter\n'
            + inspect.getsource(make_samples) + textwrap.dedent(f'''
            with MDSWriter(out={str(tmp_path / 'mds')!r}, columns={MDS_COLUMNS!r},
                           compression={compression!r}, size_limit=20000) as writer:
                for sample in make_samples(500):
                    writer.write(sample)
            '''))
    subprocess.run([python, '-c', code], check=True, timeout=120,
                   env={**os.environ, 'LD_LIBRARY_PATH': '',
                        'PYTHONPATH': os.environ.get('MOSAIC_PATH', '')})
    lx.import_mds(tmp_path / 'mds', tmp_path / 'd', progress=False)
    expect_samples(lx.open(tmp_path / 'd'), list(make_samples(500)))


# ---- loaderx 2.8


def write_original(folder, schema, records, files=3):
    """Write a raw store; records are bytes."""
    folder.mkdir()
    data, rows = [b''] * files, b''
    for i, record in enumerate(records):
        rows += struct.pack('<QII', len(data[i % files]), len(record), len(record))
        data[i % files] += record
    text = json.dumps(schema).encode()
    head = struct.pack('<QHBBI', len(records), len(text), files, 0, 0)
    head += b''.join(struct.pack('<Q', len(each)) for each in data)
    (folder / 'meta.zr').write_bytes((head.ljust(2056, b'\0') + text).ljust(4096, b'\0') + rows)
    for i, each in enumerate(data):
        (folder / f'data_{i}.zr').write_bytes(each)


def test_original_stores_are_fields(tmp_path):
    rng = np.random.default_rng(3)
    images = rng.integers(0, 99, size=(50, 4, 5)).astype('uint8')
    ragged = [rng.normal(size=(i % 3, 2)).astype('float32') for i in range(50)]
    (tmp_path / 'old').mkdir()
    write_original(tmp_path / 'old' / 'image', {'dtype': 'uint8', 'item_shape': [4, 5]},
                   [image.tobytes() for image in images])
    write_original(tmp_path / 'old' / 'boxes', {'dtype': 'float32', 'ndim': 2},
                   [struct.pack('<2I', *boxes.shape) + boxes.tobytes() for boxes in ragged])
    lx.import_original(tmp_path / 'old', tmp_path / 'd', progress=False)
    dataset = lx.open(tmp_path / 'd')
    np.testing.assert_array_equal(dataset['image'][:], images)
    assert dataset.fields['boxes'] == lx.Field('float32', (None, 2))
    for i, boxes in enumerate(ragged):
        np.testing.assert_array_equal(dataset['boxes'][i], boxes)
    lx.import_original(tmp_path / 'old' / 'image', tmp_path / 'e', field='x', progress=False)
    np.testing.assert_array_equal(lx.open(tmp_path / 'e')['x'][:], images)


SMALL_FLOATS = ['bfloat16', 'float8_e4m3fn', 'float8_e4m3fnuz', 'float8_e5m2', 'float8_e5m2fnuz',
                'float8_e8m0fnu']


@pytest.mark.parametrize('name', SMALL_FLOATS)
def test_original_stores_of_small_floats(tmp_path, name):
    pytest.importorskip('ml_dtypes')
    records = [bytes([i, i + 7]) for i in range(20)]
    write_original(tmp_path / 'old', {'dtype': name, 'item_shape': [1 if name[0] == 'b' else 2]},
                   records)
    lx.import_original(tmp_path / 'old', tmp_path / 'd', field='x', progress=False)
    dataset = lx.open(tmp_path / 'd')
    assert dataset.fields['x']._type == name
    with dataset.views(range(20)) as views:
        assert [bytes(view.view(np.uint8)) for view in views['x']] == records


WRITE_ORIGINAL = f'small = {SMALL_FLOATS}\n' + '''
import ml_dtypes, numpy as np, os, sys, torch
from loaderx import Allocator
from loaderx.zrecord import (DenseWriter, RaggedBatch, RaggedStore, RaggedWriter, train_dict)

folder, values = sys.argv[1], np.load(sys.argv[2], allow_pickle=False)
texts = [values['texts'][a:b] for a, b in zip(values['ends'][:-1], values['ends'][1:])]

def write(name, codec, trained=None):
    with RaggedWriter(name, np.uint8, 1, codec=codec, dict_bytes=trained) as writer:
        writer.append(RaggedBatch.from_records(texts))

write(folder + '-samples', 'raw')
with RaggedStore(folder + '-samples') as store, Allocator('cpu') as allocator:
    trained = train_dict(store.bind(allocator))
for codec in 'raw', 'zstd', 'zstd_dict':
    given = trained if codec == 'zstd_dict' else None
    write(f'{folder}/text-{codec}', codec, given)
    with DenseWriter(f'{folder}/dense-{codec}', np.float32, (3,), codec=codec,
                     dict_bytes=given) as writer:
        writer.append(values['dense'])
    for name in small:
        items = torch.arange(256, dtype=torch.uint8).repeat(10, 1).view(getattr(torch, name))
        with DenseWriter(f'{folder}/{name}-{codec}', np.dtype(name), (items.shape[1],), codec=codec,
                         dict_bytes=given) as writer:
            for _ in range(len(texts) // 10):
                writer.append(items)
    with RaggedWriter(f'{folder}/ragged-{codec}', np.int16, 2, codec=codec,
                      dict_bytes=given) as writer:
        writer.append(RaggedBatch.from_records(
            [np.full((1 + i % 4, 2 + i % 3), i, np.int16) for i in range(len(texts))]))
'''


def test_stores_of_the_original(tmp_path):
    package = os.environ.get('LOADERX_ORIGINAL')
    if package is None:
        pytest.skip('LOADERX_ORIGINAL is not set')
    pytest.importorskip('torch')
    count = 3000
    texts = [f'record {i}: {"words of a text " * (i % 9)}'.encode() for i in range(count)]
    ends = np.cumsum([0] + list(map(len, texts)))
    dense = np.random.default_rng(4).normal(size=(count, 3)).astype('float32')
    np.savez(tmp_path / 'values.npz', ends=ends, dense=dense,
             texts=np.frombuffer(b''.join(texts), np.uint8))
    (tmp_path / 'old').mkdir()
    subprocess.run(
        [sys.executable, '-c', WRITE_ORIGINAL, tmp_path / 'old', tmp_path / 'values.npz'],
        check=True, timeout=120, env={**os.environ, 'PYTHONPATH': package, 'LD_LIBRARY_PATH': ''})
    lx.import_original(tmp_path / 'old', tmp_path / 'd', progress=False)
    dataset = lx.open(tmp_path / 'd')
    for codec in 'raw', 'zstd', 'zstd_dict':
        assert values(dataset, f'text-{codec}') == list(map(list, texts))
        np.testing.assert_array_equal(dataset[f'dense-{codec}'][:], dense)
        for name in SMALL_FLOATS:
            column = dataset[f'{name}-{codec}']
            assert column.field._type == name
            for value in column[[0, -1]]:
                assert bytes(value.view(np.uint8)) == bytes(range(256))
        for i, got in enumerate(arrays(dataset, f'ragged-{codec}', 'int16')):
            np.testing.assert_array_equal(got, np.full((1 + i % 4, 2 + i % 3), i, np.int16))


# ---- LMDB


def lmdb_file(records, page=4096):
    """Return an LMDB file with one leaf."""
    def meta(number, root):
        head = struct.pack('<QHHHH', number, 0, 8, 0, 0)
        state = struct.pack('<IIQQ', 0xbeefc0de, 1, 0, 1 << 20)
        free = struct.pack('<IHHQQQQQ', page, 0, 0, 0, 0, 0, 0, 2**64 - 1)
        return (head + state + free + root + struct.pack('<QQ', 2, number)).ljust(page, b'\0')

    places, nodes, at = b'', b'', page
    for key, value in sorted(records.items()):
        node = struct.pack('<HHHH', len(value), 0, 0, len(key)) + key + value
        nodes = node + b'\0' * (len(node) % 2) + nodes
        at = page - len(nodes)
        places += struct.pack('<H', at)
    leaf = struct.pack('<QHHHH', 2, 0, 2, 16 + len(places), at) + places
    root = struct.pack('<IHHQQQQQ', 0, 0, 1, 0, 1, 0, len(records), 2)
    return meta(0, root) + meta(1, root) + leaf.ljust(at, b'\0') + nodes


def test_lmdb_keys_and_values_are_fields(tmp_path):
    records = {b'key%02d' % i: b'v' * i for i in range(40)}
    (tmp_path / 'data.mdb').write_bytes(lmdb_file(records))
    lx.import_lmdb(tmp_path / 'data.mdb', tmp_path / 'd', progress=False)
    dataset = lx.open(tmp_path / 'd')
    assert dict(zip(values(dataset, 'key'), values(dataset, 'value'))) == records


def test_databases_of_lmdb(tmp_path):
    lmdb = pytest.importorskip('lmdb')
    rng = np.random.default_rng(5)
    main = {rng.bytes(1 + i % 300): rng.bytes(int(rng.integers(0, 9000))) for i in range(2000)}
    inner = {b'%d' % i: b'%d' % (i * i) for i in range(5000)}
    with lmdb.open(str(tmp_path / 'a'), map_size=1 << 28) as environment:
        for first in range(0, 2000, 100):    # several commits
            with environment.begin(write=True) as change:
                for key in list(main)[first:first + 100]:
                    change.put(key, main[key])
        with environment.begin(write=True) as change:
            for key in list(main)[::3]:
                change.delete(key)
                del main[key]
    os.remove(tmp_path / 'a' / 'lock.mdb')
    lx.import_lmdb(tmp_path / 'a', tmp_path / 'd', progress=False)
    assert os.listdir(tmp_path / 'a') == ['data.mdb']
    dataset = lx.open(tmp_path / 'd')
    assert list(zip(values(dataset, 'key'), values(dataset, 'value'))) == sorted(main.items())
    with lmdb.open(str(tmp_path / 'b'), map_size=1 << 28, max_dbs=2) as environment:
        name = environment.open_db(b'inner')
        with environment.begin(write=True) as change:
            for key, value in inner.items():
                change.put(key, value, db=name)
            change.put(b'large', b'x' * 100000)
    with pytest.raises(lx.LoaderxError, match='named database'):
        lx.import_lmdb(tmp_path / 'b', tmp_path / 'e', progress=False)
    lx.import_lmdb(tmp_path / 'b', tmp_path / 'e', database='inner', resume=True, progress=False)
    dataset = lx.open(tmp_path / 'e')
    assert list(zip(values(dataset, 'key'), values(dataset, 'value'))) == sorted(inner.items())
    lx.import_lmdb(tmp_path / 'b', tmp_path / 'f', on_bad='skip', progress=False)
    assert values(lx.open(tmp_path / 'f'), 'key') == [b'large']
