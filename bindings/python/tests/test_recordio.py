# SPDX-License-Identifier: MIT
"""RecordIO files in Python."""

import gzip
import os
import pickle
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import loaderx as lx
from loaderx import recordio
from loaderx.recordio import IRHeader, InputSplit, MXIndexedRecordIO, MXRecordIO, pack, unpack

from processes import run_script


def in_child(function):
    """Run a function in a child of fork(), in which nothing may fail."""
    child = os.fork()
    if child == 0:
        try:
            function()
            os._exit(0)
        except BaseException as error:    # pytest must not go on in the child
            print(repr(error))
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


MAGIC = struct.pack('<I', 0xced7230a)
RECORDS = [b'abc', b'', b'AAAA' + MAGIC + b'BB', MAGIC * 3, b'x' * 100_000]


def write(path, records=RECORDS, flag='w'):
    with MXRecordIO(path, flag) as record:
        for data in records:
            record.write(data)


def test_writes_the_bytes_of_mxnet(tmp_path):
    write(tmp_path / 'a.rec', RECORDS[:3])
    assert (tmp_path / 'a.rec').read_bytes() == bytes.fromhex(
        '0a23d7ce 03000000 61626300'
        '0a23d7ce 00000000'
        '0a23d7ce 04000020 41414141 0a23d7ce 02000060 42420000')


def test_reads_what_was_written(tmp_path):
    write(tmp_path / 'a.rec')
    with MXRecordIO(tmp_path / 'a.rec', 'r') as record:
        assert [record.read() for _ in RECORDS] == RECORDS
        assert record.read() is None is record.read()
        record.reset()
        assert list(record) == RECORDS
    (tmp_path / 'a.gz').write_bytes(gzip.compress((tmp_path / 'a.rec').read_bytes()))
    assert list(MXRecordIO(str(tmp_path / 'a.gz'), 'r')) == RECORDS
    write(tmp_path / 'a.rec', [memoryview(b'new'), np.arange(3, dtype='u1')], 'a')
    assert list(MXRecordIO(tmp_path / 'a.rec', 'r')) == [*RECORDS, b'new', b'\0\1\2']
    write(tmp_path / 'a.rec', [b'replaced'])
    assert list(MXRecordIO(tmp_path / 'a.rec', 'r')) == [b'replaced']


def test_index(tmp_path):
    paths = tmp_path / 'a.idx', tmp_path / 'a.rec'
    with MXIndexedRecordIO(*paths, 'w') as record:
        for key, data in enumerate(RECORDS):
            begin = record.tell()
            record.write_idx(7 * key, data)
            assert record.idx[7 * key] == begin < record.tell()
    with MXIndexedRecordIO(*paths, 'r') as record:
        assert record.keys == list(record.idx) == [0, 7, 14, 21, 28]
        for place in np.random.default_rng(0).permutation(50) % 5:
            assert record.read_idx(7 * int(place)) == RECORDS[place]
        record.seek(14)
        assert [record.read(), record.read()] == RECORDS[2:4]
        with pytest.raises(KeyError):
            record.read_idx(1)
    with MXIndexedRecordIO(*paths, 'a') as record:
        assert len(record.keys) == 5
        record.write_idx(1, b'more')
        with pytest.raises(ValueError, match='the key 7 was written before'):
            record.write_idx(7, b'')
        with pytest.raises(TypeError, match='write_idx'):
            record.write(b'')
    record = MXIndexedRecordIO(*paths, 'r', str)
    assert record.keys[-1] == '1' and record.read_idx('1') == b'more'
    paths[0].write_text('0\t0\n1\t4000000\n')
    record = MXIndexedRecordIO(*paths, 'r')
    with pytest.raises(ValueError, match='ends before the record with the key 1'):
        record.read_idx(1)
    paths[0].write_text('0\t0\n1\t3\n')
    with pytest.raises(lx.CorruptError, match='line 2'):
        MXIndexedRecordIO(*paths, 'r')


def test_damage(tmp_path):
    path = tmp_path / 'a.rec'
    write(path)
    data = bytearray(path.read_bytes())
    data[12] ^= 1    # the second record
    path.write_bytes(data)
    record = MXRecordIO(path, 'r')
    assert record.read() == b'abc'
    with pytest.raises(lx.CorruptError, match='no magic number') as caught:
        record.read()
    assert caught.value.offset == 12
    assert list(record) == RECORDS[2:]
    record = MXRecordIO(path, 'r', skip=True)
    assert list(record) == [RECORDS[0], *RECORDS[2:]] and record.skipped() == (1, 8)
    assert not record.skipped().rest
    path.write_bytes(data[:-4])
    with pytest.raises(lx.CorruptError, match='no magic number'):
        MXRecordIO(path, 'a')    # not appended to
    data[12] ^= 1
    path.write_bytes(data[:-4])
    with pytest.raises(lx.CorruptError, match='ends within'):
        MXRecordIO(path, 'a')


def test_cut_compressed_data_cannot_be_read_further(tmp_path):
    write(tmp_path / 'a.rec')
    whole = (tmp_path / 'a.rec').read_bytes() * 5000
    (tmp_path / 'a.gz').write_bytes(gzip.compress(whole)[:-30])
    reader = MXRecordIO(tmp_path / 'a.gz', 'r', skip=True)
    assert not reader.skipped().rest
    records = list(reader)
    assert records[:len(RECORDS)] == RECORDS and len(records) < 5000 * len(RECORDS)
    skipped = reader.skipped()
    assert skipped[0] == 1 and skipped.rest
    again = pickle.loads(pickle.dumps(skipped))
    assert again == skipped and again.rest


def test_a_child_reads_from_the_beginning(tmp_path):
    write(tmp_path / 'a.rec')
    record = MXRecordIO(tmp_path / 'a.rec', 'r')
    assert record.read() == RECORDS[0]

    def read():
        assert list(record) == RECORDS
    in_child(read)
    assert list(record) == RECORDS[1:]
    with MXRecordIO(tmp_path / 'b.rec', 'w') as written:
        written.write(b'parent')

        def child():
            with pytest.raises(RuntimeError, match='by another process'):
                written.write(b'child')
            written.close()
        in_child(child)
        written.write(b'parent')
    assert list(MXRecordIO(tmp_path / 'b.rec', 'r')) == [b'parent'] * 2


def test_pickle(tmp_path):
    paths = str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec')
    with MXIndexedRecordIO(*paths, 'w') as record:
        with pytest.raises(TypeError, match='close it before it is pickled'):
            pickle.dumps(record)
        record.write_idx(0, b'abc')
    record = MXIndexedRecordIO(*paths, 'r')
    copy = pickle.loads(pickle.dumps(record))
    assert copy.read_idx(0) == record.read_idx(0) == b'abc'
    record.close()
    assert not pickle.loads(pickle.dumps(record)).is_open


def test_wrong_use(tmp_path):
    path = tmp_path / 'a.rec'
    with pytest.raises(ValueError, match="flag must be 'r', 'w' or 'a', not 'rb'"):
        MXRecordIO(path, 'rb')
    with pytest.raises(FileNotFoundError):
        MXRecordIO(path, 'r')
    for flag in 'w', 'a':
        with pytest.raises(ValueError, match='only to regular files'):
            MXRecordIO('-', flag)
    write(path)
    record = MXRecordIO(path, 'r')
    with pytest.raises(ValueError, match='was opened to read'):
        record.write(b'')
    record.close()
    record.close()
    with pytest.raises(ValueError, match='a.rec is closed'):
        record.read()
    with MXRecordIO(path, 'w') as record:
        with pytest.raises(ValueError, match='was opened to write'):
            record.read()
        with pytest.raises(TypeError):
            record.write('text')
        with pytest.raises(ValueError, match='fewer than 536870912'):
            record.write(np.zeros(1 << 29, 'u1'))
        record.write(b'good')
    assert list(MXRecordIO(path, 'r')) == [b'good']


def test_threads_do_not_share_a_reader(tmp_path):
    write(tmp_path / 'a.rec', [b'x' * 3_000_000] * 20)
    record = MXRecordIO(tmp_path / 'a.rec', 'r')
    results = []

    def read():
        try:
            results.append(sum(map(len, record)))
        except RuntimeError as error:
            assert 'in use by another thread' in str(error)
            results.append(0)
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and sum(results) <= 60_000_000


# Run by a Python that has MXNet: write files with its module, and check that it reads those that
# we wrote.
PEER = """
import random, sys
from mxnet.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack, unpack
sys.path.insert(0, '.')
from peer_records import records
writer = MXRecordIO('mx.rec', 'w')
for record in records(): writer.write(record)
writer.close()
writer = MXIndexedRecordIO('mi.idx', 'mi.rec', 'w')
for key, record in enumerate(records()):
    label = float(key) if key % 2 else [key, -key, 0.5]
    writer.write_idx(key * 3, pack(IRHeader(0, label, key, 7), record))
writer.close()
reader = MXRecordIO('ours.rec', 'r')
assert all(reader.read() == record for record in records()) and reader.read() is None
reader = MXIndexedRecordIO('oi.idx', 'oi.rec', 'r')
for key, record in reversed(list(enumerate(records()))):
    header, data = unpack(reader.read_idx(key * 3))
    assert data == record and header.id == key and header.id2 == 7, key
"""

RECORDS_OF_PEER = """
import random, struct
def records():
    source = random.Random(5)
    for i in range(400):
        data = bytearray(source.getrandbits(8) for _ in range(source.randrange(3000) * (i % 9 > 0)))
        for _ in range(source.randrange(4) * (i % 2)):
            at = source.randrange(len(data) // 4 + 1) * 4
            data[at:at + 4] = struct.pack('<I', 0xced7230a)
        yield bytes(data)
"""


def test_files_are_those_of_mxnet(tmp_path, monkeypatch):
    peer = os.environ.get('MXNET_PYTHON')
    if peer is None:
        pytest.skip('MXNET_PYTHON is not set to a Python that has MXNet 1.x')
    names = {}
    exec(RECORDS_OF_PEER, names)
    records = list(names['records']())
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'peer_records.py').write_text(RECORDS_OF_PEER)
    write('ours.rec', records)
    with MXIndexedRecordIO('oi.idx', 'oi.rec', 'w') as writer:
        for key, record in enumerate(records):
            label = float(key) if key % 2 else [key, -key, 0.5]
            writer.write_idx(key * 3, pack(IRHeader(0, label, key, 7), record))
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([peer, '-c', PEER], env=environment, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    for ours, theirs in ('ours.rec', 'mx.rec'), ('oi.rec', 'mi.rec'), ('oi.idx', 'mi.idx'):
        assert (tmp_path / ours).read_bytes() == (tmp_path / theirs).read_bytes()
    assert list(MXRecordIO('mx.rec', 'r')) == records


def test_a_signal_ends_a_wait(tmp_path):
    """Opening a pipe, and reading from it; what comes later is read."""
    os.mkfifo(tmp_path / 'pipe')
    out = run_script(f"""
    from loaderx.recordio import MXRecordIO
    path = {str(tmp_path / 'pipe')!r}
    record = bytes.fromhex('0a23d7ce 03000000 61626300')

    def interrupted(function, *arguments):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            function(*arguments)
        except KeyboardInterrupt:
            print('interrupted')

    interrupted(MXRecordIO, path, 'r')
    pipe = os.open(path, os.O_RDWR)
    interrupted(MXRecordIO, path, 'r')
    os.write(pipe, record[:5])
    reader = MXRecordIO(path, 'r')
    interrupted(reader.read)
    os.write(pipe, record[5:])
    print(reader.read())
    """)
    assert out.split() == ['interrupted'] * 3 + ["b'abc'"]


def test_parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [bytes([i]) * (i * 37 % 101) + MAGIC * (i % 3) for i in range(100)]
    os.mkdir('folder')
    write('a.rec', records[:30])
    write('folder/b.rec', records[30:60])
    write('folder/c.rec', records[60:])
    (tmp_path / 'folder' / '.hidden').write_text('abc')
    for uri in ('a.rec;folder', ['a.rec', 'folder/b.rec', tmp_path / 'folder' / 'c.rec'],
                f'file://{tmp_path}/a.rec;folder/b.rec;folder/c.rec;'):
        for parts in 1, 2, 3, 7, 100, 1000:
            assert [record for part in range(parts)
                    for record in InputSplit(uri, part, parts)] == records
    assert list(InputSplit(tmp_path / 'a.rec')) == records[:30]
    for uri, part, match in (('hdfs://a/b.rec', 0, 'hdfs:// is not supported'),
                             ('a.rec', 2, 'part 2 of 2 of 1 files does not exist'),
                             ('', 0, 'of 0 files'), ('a.rec', -1, 'part_index')):
        with pytest.raises(ValueError, match=match):
            InputSplit(uri, part, 2)
    with pytest.raises(FileNotFoundError):
        InputSplit('no.rec')
    (tmp_path / 'a.rec').write_bytes(b'abcd' * 100)
    with pytest.raises(lx.CorruptError, match="a.rec"):
        list(InputSplit('a.rec'))
    assert list(InputSplit('a.rec;folder', skip=True)) == records[30:]


def write_indexed(path, records):
    with MXIndexedRecordIO(path.with_suffix('.idx'), path, 'w') as record:
        for key, data in enumerate(records):
            record.write_idx(key, data)


def test_folders_with_indexes(tmp_path):
    """An index is no data, and records are no index, unless they are alone."""
    records = [b'%d' % i for i in range(20)]
    write_indexed(tmp_path / 'a.rec', records[:9])
    write_indexed(tmp_path / 'b.rec', records[9:])
    assert list(InputSplit(tmp_path)) == records
    both = InputSplit(tmp_path, index=tmp_path, shuffle=True)
    assert [os.path.basename(path) for path in both.files] == ['a.rec', 'b.rec']
    assert sorted(both) == sorted(records)
    os.rename(tmp_path / 'b.rec', tmp_path / 'c.idx')
    os.remove(tmp_path / 'b.idx')
    assert list(InputSplit(tmp_path)) == records    # c.idx has no c.rec: it may be anything


def test_shuffled_parts(tmp_path):
    """Every record is in one part once, in an order of the seed and the epoch."""
    records = [b'%d ' % i + bytes(i * 37 % 101) + MAGIC * (i % 3) for i in range(500)]
    paths = [tmp_path / name for name in ('a.rec', 'b.rec', 'c.rec')]
    for path, part in zip(paths, (records[:200], records[200:201], records[201:])):
        write_indexed(path, part)
    index = [path.with_suffix('.idx') for path in paths]
    for parts in 1, 2, 3, 7, 100:
        for options in ({'chunks': 1}, {'chunks': 6}, {'index': index},
                        {'index': index, 'chunks': 9}):
            common = {'index': options['index']} if 'index' in options else {}
            seen = []
            for part in range(parts):
                split = InputSplit(paths, part, parts, shuffle=True, seed=parts, **options)
                plain = list(InputSplit(paths, part, parts, **common))
                epochs = []
                for epoch in range(3):
                    assert split.epoch == epoch
                    epochs.append(list(split))
                    assert sorted(epochs[-1]) == sorted(plain)
                    split.reset()
                if len(plain) > 100 and options != {'chunks': 1}:
                    assert epochs[0] != epochs[1] != epochs[2] != plain
                next(split, None)
                split.reset(1)
                assert list(split) == epochs[1]
                again = InputSplit(paths, part, parts, shuffle=True, seed=parts, **options)
                again.reset(2)
                assert list(again) == epochs[2]
                seen += plain
            assert seen == records
    one = [InputSplit(paths, index=index, shuffle=True, seed=seed) for seed in (1, 2)]
    assert list(one[0]) != list(one[1])
    sizes = [len(list(InputSplit(paths, part, 3, index=index))) for part in range(3)]
    assert sizes == [167, 167, 166]


def test_wrong_use_of_shuffled_parts(tmp_path):
    path = tmp_path / 'a.rec'
    write_indexed(path, [b'abc', b'def'])
    index = str(path.with_suffix('.idx'))
    for match, options in (('shuffle requires chunks or index', {'shuffle': True}),
                           ('chunks requires shuffle=True', {'chunks': 2}),
                           ('chunks', {'chunks': 0, 'shuffle': True}),
                           ('seed', {'chunks': 1, 'shuffle': True, 'seed': -1}),
                           ('1 files have 2 indexes', {'index': [index, index]})):
        with pytest.raises(ValueError, match=match):
            InputSplit(path, **options)
    with pytest.raises(TypeError, match='shuffle'):
        InputSplit(path, shuffle=3)
    split = InputSplit(path, index=index, shuffle=True)
    with pytest.raises(ValueError, match='epoch'):
        split.reset(-1)
    with pytest.raises(ValueError, match='too high'):
        split.reset(2 ** 64 - 1)
    assert split.epoch == 0 and sorted(split) == [b'abc', b'def']
    path.write_bytes(path.read_bytes()[:12])
    with pytest.raises(ValueError, match='make the index again'):
        InputSplit(path, index=index)


def test_pack():
    for label in 4.0, 7, np.float32(2):
        header, data = unpack(pack(IRHeader(0, label, 2574, 9), b'image'))
        assert header == (0, label, 2574, 9) and data == b'image'
    assert pack((0, 1.5, 2, 3), b'x') == struct.pack('<IfQQ', 0, 1.5, 2, 3) + b'x'
    for labels in [1, 2, 3], np.arange(4), (0.5,):
        header, data = unpack(pack(IRHeader(99, labels, 2 ** 64 - 1, 0), b''))
        assert header.flag == len(labels) and header.label.dtype == np.float32 and data == b''
        np.testing.assert_array_equal(header.label, labels)
    with pytest.raises(ValueError, match='23 bytes'):
        unpack(bytes(23))
    with pytest.raises(ValueError, match='2 labels follow'):
        unpack(struct.pack('<IfQQ', 2, 0, 0, 0) + bytes(7))
    assert set(recordio.__all__) <= set(dir(recordio))


def test_images_are_imported_when_they_are_needed():
    code = ("import sys; sys.modules['loaderx._images'] = None; from loaderx import recordio\n"
            "assert 'loaderx.images' not in sys.modules\n"
            "try: recordio.unpack_img(bytes(24))\n"
            "except ImportError: print('refused')")
    done = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE, timeout=60)
    assert done.stdout == b'refused\n'


# ---- datasets


@pytest.fixture
def packed(tmp_path):
    """A file of 20 records with MXNet's header, some of which contain the magic number."""
    path = tmp_path / 'a.rec'
    with recordio.MXIndexedRecordIO(str(tmp_path / 'a.idx'), str(path), 'w') as file:
        for i in range(20):
            data = b'\x0a\x23\xd7\xce' * (i % 3) + b'%d' % i * i
            file.write_idx(i, recordio.pack(recordio.IRHeader(0, i * 0.5, 100 + i, 0), data))
    return path


def test_a_dataset_reads_records_in_any_order(packed):
    dataset = recordio.RecordIODataset(packed)
    assert len(dataset) == 20 and list(dataset.fields) == ['label', 'id', 'image']
    record = dataset[7]
    assert record['image'] == b'\x0a\x23\xd7\xce' + b'7' * 7 and record['id'] == 107
    assert record['label'] == np.float32(3.5)
    seen = {}
    for batch in lx.Loader(dataset, batch_size=6, order=lx.Shuffle(seed=1)):
        for number, label, image in zip(batch['id'], batch['label'], batch['image']):
            seen[int(number)] = float(label), bytes(image)
    assert seen == {100 + i: (i * 0.5, dataset[i]['image']) for i in range(20)}


def test_a_dataset_of_plain_records(packed):
    dataset = recordio.RecordIODataset(packed, label_width=0)
    with recordio.MXRecordIO(str(packed), 'r') as file:
        for i in range(20):
            assert dataset[i] == file.read()
    assert dataset._sizes('data', [3, 0]).tolist() == [len(dataset[3]), len(dataset[0])]
    both = dataset + dataset
    assert both[21] == dataset[1] and len(pickle.loads(pickle.dumps(dataset))) == 20


def test_several_labels(tmp_path):
    path = str(tmp_path / 'b.rec')
    with recordio.MXIndexedRecordIO(path[:-3] + 'idx', path, 'w') as file:
        for i in range(4):
            file.write_idx(i, recordio.pack((2, [i, -i], i, 0), b'x'))
    dataset = recordio.RecordIODataset(path, label_width=2)
    assert dataset[:]['label'].tolist() == [[i, -i] for i in range(4)]
    with pytest.raises(lx.CorruptError, match='record 0.*2 labels, but the label width is 3'):
        recordio.RecordIODataset(path, label_width=3)[0]


def test_a_dataset_without_an_index(packed, tmp_path):
    indexed = recordio.RecordIODataset(packed)
    state = lx.Loader(indexed, batch_size=3).state_dict()
    (tmp_path / 'a.idx').unlink()
    dataset = recordio.RecordIODataset(packed, index=False)
    assert os.listdir(tmp_path) == ['a.rec']
    for same in dataset, pickle.loads(pickle.dumps(dataset)):
        lx.Loader(same, batch_size=3).load_state_dict(state)
        assert [same[i] for i in range(20)] == [indexed[i] for i in range(20)]
    packed.write_bytes(packed.read_bytes()[:-4])
    with pytest.raises(lx.CorruptError, match='ends within it; .*index --skip'):
        recordio.RecordIODataset(packed, index=False)
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(lx.CorruptError, match='not a regular file'):
        recordio.RecordIODataset(tmp_path / 'pipe', index=False)


def test_progress_without_an_index(tmp_path):
    """It is reported, and an exception ends the call."""
    path = tmp_path / 'a.rec'
    with MXRecordIO(path, 'w') as file:
        for _ in range(12):
            file.write(bytes(2**20))
    steps = []

    def progress(done, total):
        steps.append((done, total))
        if len(steps) == 2:
            raise KeyError('enough')

    with pytest.raises(KeyError, match='enough'):
        recordio.RecordIODataset(path, False, label_width=0, progress=progress)
    assert 0 < steps[0][0] < steps[1][0] < steps[0][1] == path.stat().st_size
    with pytest.raises(TypeError, match='progress'):
        recordio.RecordIODataset(path, False, label_width=0, progress=5)
    assert len(recordio.RecordIODataset(path, False, label_width=0)) == 12


def test_large_ids_keep_their_bits(tmp_path):
    ids = [0, 2**63 - 1, 2**63, 2**64 - 1]
    write_indexed(tmp_path / 'a.rec', [recordio.pack((0, 1.0, i, 0), b'x') for i in ids])
    column = recordio.RecordIODataset(tmp_path / 'a.rec')[:]['id']
    assert column.dtype == np.int64 and column.view(np.uint64).tolist() == ids


def test_records_as_tensors(packed):
    """Also of torch before 2.3, which has no uint64."""
    torch = pytest.importorskip('torch')
    from loaderx.torch import DataLoader
    seen = []
    for batch in DataLoader(recordio.RecordIODataset(packed), batch_size=6):
        assert batch['id'].dtype == torch.int64
        seen += batch['id'].tolist()
    assert seen == list(range(100, 120))


def test_a_dataset_needs_its_index(packed, tmp_path):
    (tmp_path / 'a.idx').unlink()
    with pytest.raises(FileNotFoundError, match='a.rec` makes an index, and index=False.*a.idx'):
        recordio.RecordIODataset(packed)
    with pytest.raises(FileNotFoundError, match='found: .*b.rec'):
        recordio.RecordIODataset(tmp_path / 'b.rec')
    assert len(recordio.RecordIODataset(packed, write_index(tmp_path, b'0\t0\n'))) == 1
    with pytest.raises(ValueError, match='make the index again'):
        recordio.RecordIODataset(packed, write_index(tmp_path, b'0\t4000000\n'))


def write_index(folder, text):
    path = folder / 'other.idx'
    path.write_bytes(text)
    return path
