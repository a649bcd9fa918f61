# SPDX-License-Identifier: MIT
"""Files of tokens, and samples of them."""

import pickle
import struct

import numpy as np
import pytest

import loaderx as lx


@pytest.fixture
def numbers():
    return np.random.default_rng(3).integers(0, 60000, 5000)


def write_idx(path, lengths, code, width):
    places = np.concatenate([[0], np.cumsum(lengths)[:-1]]) * width
    path.write_bytes(
        b'MMIDIDX\0\0' + struct.pack('<QBQQ', 1, code, len(lengths), len(lengths) + 1)
        + np.asarray(lengths, '<i4').tobytes() + places.astype('<i8').tobytes()
        + np.arange(len(lengths) + 1, dtype='<i8').tobytes())


@pytest.mark.parametrize('dtype', ['uint16', 'uint32', 'int32', 'int64'])
def test_reads_bare_tokens_like_an_array(tmp_path, numbers, dtype):
    (tmp_path / 'x').write_bytes(numbers.astype(dtype).tobytes())
    tokens = lx.Tokens(tmp_path / 'x', dtype)
    assert len(tokens) == 5000 and tokens.dtype == dtype
    for first, last in [(0, 5000), (17, 4000), (5, 5), (7, 3), (-10, None)]:
        got = tokens[first:last]
        assert got.dtype == np.int32
        assert np.array_equal(got, numbers[first:last])
    assert tokens[-1] == numbers[-1] and tokens[0] == numbers[0]
    wide = tokens.read(10, 20, 'int64')
    assert wide.dtype == np.int64 and np.array_equal(wide, numbers[10:30])
    assert len(tokens.documents) == 1
    with pytest.raises(TypeError, match=r'tokens\[:\] == value'):
        tokens == 7
    with pytest.raises(TypeError, match=r'value in tokens\[:\]'):
        7 in tokens


@pytest.mark.parametrize('name', ['x.npy', 'x.bin', 'x.idx', 'x.ds', 'x'])
def test_reads_raw_tokens_whatever_the_name(tmp_path, numbers, name):
    (tmp_path / name).write_bytes(numbers.astype('<u2').tobytes())
    tokens = lx.Tokens(tmp_path / name, 'uint16', raw=True)
    for one in tokens, pickle.loads(pickle.dumps(tokens)):
        assert np.array_equal(one[:], numbers) and len(one.documents) == 1
    with pytest.raises(ValueError, match='raw=True requires dtype'):
        lx.Tokens(tmp_path / name, raw=True)


def test_each_kind_of_file_by_its_name(tmp_path, numbers):
    lengths = [1000, 0, 3500, 500]
    cuts = np.cumsum(lengths)[:-1]
    (tmp_path / 'm.bin').write_bytes(numbers.astype('<u2').tobytes())
    write_idx(tmp_path / 'm.idx', lengths, 8, 2)
    (tmp_path / 'd.ds').write_bytes(numbers.astype('<u4').tobytes())
    (tmp_path / 'd.ds.index').write_bytes(np.cumsum(lengths).astype('<u8').tobytes())
    (tmp_path / 'd.ds.metadata').write_text('somebody/tokenizer|4\n5000\n5.0 K tokens\n')
    np.save(tmp_path / 'a.npy', numbers.astype(np.uint16))
    for name in 'm.bin', 'm.idx', 'd.ds':
        tokens = lx.Tokens(str(tmp_path / name))
        assert np.array_equal(tokens[:], numbers)
        assert len(tokens.documents) == 4
        for got, expected in zip(tokens.documents, np.split(numbers, cuts)):
            assert np.array_equal(got, expected)
    assert np.array_equal(lx.Tokens(tmp_path / 'a.npy')[:], numbers)
    several = lx.Tokens([tmp_path / 'm.bin', tmp_path / 'a.npy'])
    assert len(several) == 10000 and len(several.documents) == 5
    assert several.documents.span(-1) == (5000, 5000)
    assert 'Tokens(10000 of uint16' in repr(several)


@pytest.mark.parametrize('out', ['int32', np.int64])
def test_samples_overlap_by_one_token(tmp_path, numbers, out):
    (tmp_path / 'x').write_bytes(numbers.astype('<u2').tobytes())
    for length in 1, 7, 100, 4999:
        samples = lx.TokenDataset(tmp_path / 'x', length, 'uint16', out=out)
        assert len(samples) == 4999 // length
        loader = lx.Loader(samples, batch_size=len(samples), order=lx.Shuffle(seed=1))
        for batch in loader:
            got = batch['tokens']
            assert got.dtype == out and got.shape == (len(samples), length + 1)
            places = lx.Shuffle(n=len(samples), seed=1).take(len(samples))
            assert all(np.array_equal(row, numbers[i * length:(i + 1) * length + 1])
                       for row, i in zip(got, places.astype(int)))


@pytest.mark.parametrize('length', [1, 7, 100, 4999])
def test_samples_without_overlap(tmp_path, numbers, length):
    (tmp_path / 'x').write_bytes(numbers.astype('<u2').tobytes())
    samples = lx.TokenDataset(tmp_path / 'x', length, 'uint16', overlap=False)
    assert len(samples) == 5000 // (length + 1)
    for again in samples, pickle.loads(pickle.dumps(samples)):
        rows = [row for batch in lx.Loader(again, batch_size=7) for row in batch['tokens']]
        expected = numbers[:len(samples) * (length + 1)].reshape(-1, length + 1)
        assert np.array_equal(np.reshape(rows, expected.shape), expected)


def test_samples_that_are_longer_than_all_tokens(tmp_path, numbers):
    (tmp_path / 'x').write_bytes(numbers.astype('<u2').tobytes())
    tokens = lx.Tokens(tmp_path / 'x', 'uint16')
    assert len(lx.TokenDataset(tokens, 5000, separator=1)) == 1
    for length, more in ((5000, {}), (5000, {'overlap': False}), (5000, {'segments': True}),
                         (5001, {'separator': 1})):
        with pytest.raises(ValueError, match=r'sequence_length: .* more than .*\(5000 of'):
            lx.TokenDataset(tokens, length, **more)


def test_concatenates_datasets_of_tokens(tmp_path, numbers):
    (tmp_path / 'x').write_bytes(numbers.astype('<u2').tobytes())
    (tmp_path / 'y').write_bytes(numbers[::-1].astype('<u4').tobytes())
    both = lx.ConcatDataset([lx.TokenDataset(tmp_path / 'x', 64, 'uint16'),
                             lx.TokenDataset(tmp_path / 'y', 64, 'uint32')])
    assert len(both) == 2 * 78
    rows = np.concatenate([batch['tokens'] for batch in lx.Loader(both, batch_size=20)])
    assert np.array_equal(rows[78], numbers[::-1][:65])


def test_tokens_go_to_other_processes(tmp_path, numbers):
    (tmp_path / 'x').write_bytes(numbers.astype('<u2').tobytes())
    samples = lx.TokenDataset(tmp_path / 'x', 10, 'uint16', out='int64', vocabulary=60000)
    again = pickle.loads(pickle.dumps(samples))
    assert len(again) == len(samples) and repr(again) == repr(samples)
    assert again.vocabulary == 60000
    batch = next(iter(lx.Loader(again)))
    assert batch['tokens'].dtype == np.int64


def test_reports_invalid_files(tmp_path):
    (tmp_path / 'x').write_bytes(b'1234567')
    with pytest.raises(lx.CorruptError, match='1 bytes after the last whole token') as caught:
        lx.Tokens(tmp_path / 'x', 'uint16')
    assert caught.value.path == str(tmp_path / 'x')
    (tmp_path / 'y').write_bytes(np.array([1, 2, 70, 3], '<u2').tobytes())
    samples = lx.TokenDataset(tmp_path / 'y', 1, 'uint16', vocabulary=70)
    loader = iter(lx.Loader(samples))
    assert np.array_equal(next(loader)['tokens'], [[1, 2]])
    with pytest.raises(lx.CorruptError, match='token 2 of the file is 0x46') as caught:
        next(loader)
    assert (caught.value.record, caught.value.offset) == (1, 4)
    with pytest.raises(FileNotFoundError):
        lx.Tokens(tmp_path / 'none', 'uint16')
    np.save(tmp_path / 'f.npy', np.zeros(4))
    with pytest.raises(lx.LoaderxError, match='tokens must be integers'):
        lx.Tokens(tmp_path / 'f.npy')


@pytest.mark.parametrize('name', ['x', 'x.bin', 'x.ds', 'y.bin'])
def test_files_of_another_content_are_refused(tmp_path, numbers, name):
    """Their bytes are not read as tokens; y.bin has an index."""
    tokens = np.arange(500, dtype=np.uint16)
    if name == 'y.bin':
        write_idx(tmp_path / 'y.idx', [500], 8, 2)
        tokens.tofile(tmp_path / name)
        assert len(lx.Tokens(tmp_path / name)) == 500
    for save in np.save, np.savez:
        with open(tmp_path / name, 'wb') as file:
            save(file, tokens)
        for raw in False, True:
            if raw and name == 'y.bin':
                continue
            with pytest.raises(lx.LoaderxError, match='has no raw tokens') as caught:
                lx.TokenDataset(lx.Tokens(tmp_path / name, 'uint16', raw=raw), 32)
            assert caught.value.path == str(tmp_path / name)
    tokens.tofile(tmp_path / name)
    assert len(lx.Tokens(tmp_path / name, 'uint16')) == 500


def test_rejects_invalid_arguments(tmp_path, numbers):
    path = tmp_path / 'x'
    path.write_bytes(numbers.astype('<u2').tobytes())
    np.save(tmp_path / 'y.npy', numbers.astype('<u2'))
    with pytest.raises(ValueError, match='/x: .* pass the dtype'):    # the index of the source
        lx.Tokens([tmp_path / 'y.npy', path])
    with pytest.raises(ValueError, match='paths must have at least one'):
        lx.Tokens([])
    with pytest.raises(ValueError, match='little-endian'):
        lx.Tokens(path, '>u2')
    tokens = lx.Tokens(path, 'uint16')
    with pytest.raises(IndexError, match='token 5000'):
        tokens[5000]
    with pytest.raises(ValueError, match='step'):
        tokens[::2]
    with pytest.raises(IndexError, match='document 1 is'):
        tokens.documents[1]
    with pytest.raises(ValueError, match='count'):
        tokens.read(4999, 2)
    with pytest.raises(ValueError, match='out must be'):
        tokens.read(0, 1, 'float32')
    with pytest.raises(ValueError, match='sequence_length'):
        lx.TokenDataset(tokens, 0)
    with pytest.raises(ValueError, match='dtype must not be given with a Tokens'):
        lx.TokenDataset(tokens, 4, 'uint16')
    with pytest.raises(ValueError, match='sequence_length'):
        lx.TokenDataset(tokens, 2**64 - 1)
    with pytest.raises(TypeError, match='overlap'):
        lx.TokenDataset(tokens, 4, overlap=1)
    with pytest.raises(ValueError, match='vocabulary'):
        lx.TokenDataset(tokens, 4, vocabulary=0)
    with pytest.raises(TypeError, match='sequence_length'):
        lx.TokenDataset(tokens, 4.0)
