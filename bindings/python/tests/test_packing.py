# SPDX-License-Identifier: MIT
"""Documents packed into samples."""

import pickle

import numpy as np
import pytest

import loaderx as lx


def write(path, lengths):
    """Documents of these lengths, of the tokens 0, 1 .."""
    ends = np.cumsum(np.asarray(lengths, 'u8'))
    path.write_bytes(np.arange(ends[-1] if len(ends) else 0, dtype='<u4').tobytes())
    path.with_name(path.name + '.index').write_bytes(ends.astype('<u8').tobytes())
    return lx.Tokens(path, 'uint32')


def best_fit(lengths, capacity):
    """Return bins of (first token, length) by a linear search, as doc/packing.md defines it."""
    begins = np.cumsum([0, *lengths])
    bins = [[(int(begin) + k * capacity, capacity)]
            for begin, length in zip(begins, lengths) for k in range(length // capacity)]
    rests = [(length % capacity, i) for i, length in enumerate(lengths) if length % capacity]
    full, rooms, turns = len(bins), [], []
    for length, i in sorted(rests, key=lambda rest: (-rest[0], rest[1])):
        _, _, best = min(((room, -turns[k], k) for k, room in enumerate(rooms) if room >= length),
                         default=(None, None, len(rooms)))
        if best == len(rooms):
            rooms.append(capacity)
            turns.append(0)
            bins.append([])
        turns[best] = max(turns) + 1
        rooms[best] -= length
        bins[full + best].append((int(begins[i + 1]) - length, length))
    return bins


def rows_of(bins, capacity, pad):
    """Return the three fields of all samples."""
    tokens = np.full((len(bins), capacity), pad)
    segments, positions = np.zeros_like(tokens), np.zeros_like(tokens)
    for row, pieces in enumerate(bins):
        at = 0
        for k, (first, length) in enumerate(pieces):
            tokens[row, at:at + length] = first + np.arange(length)
            segments[row, at:at + length] = k + 1
            positions[row, at:at + length] = np.arange(length)
            at += length
    return {'tokens': tokens, 'segments': segments, 'positions': positions}


@pytest.mark.parametrize('capacity', [1, 2, 7, 64, 300])
def test_best_fit_matches_its_definition(tmp_path, capacity):
    random = np.random.default_rng(capacity)
    lengths = random.integers(0, 200, 250) * (random.random(250) < .9)
    tokens = write(tmp_path / 'd.ds', lengths)
    samples = lx.PackedDataset(tokens, capacity, pad=-1, segments=True, positions=True)
    bins = best_fit([int(length) for length in lengths], capacity)
    expected = rows_of(bins, capacity, -1)
    assert len(samples) == len(bins)
    batch = next(iter(lx.Loader(samples, batch_size=len(bins))))
    assert set(batch) == set(expected)
    for name, rows in expected.items():
        assert batch[name].dtype == np.int32
        assert np.array_equal(batch[name], rows)
    padding = len(bins) * capacity - lengths.sum()
    assert samples.padding == padding
    assert samples.padding_share == padding / (len(bins) * capacity)


def test_packs_samples_of_any_order_and_their_fields(tmp_path):
    tokens = write(tmp_path / 'd.ds', [3, 12, 0, 2, 5, 4])
    samples = lx.PackedDataset(tokens, 5, out='int64', pad=9)
    assert repr(samples) == 'PackedDataset(6 samples of 5 tokens, 13.33% of them padding)'
    expected = [[3, 4, 5, 6, 7], [8, 9, 10, 11, 12], [17, 18, 19, 20, 21],
                [22, 23, 24, 25, 9], [0, 1, 2, 13, 14], [15, 16, 9, 9, 9]]
    for batch in lx.Loader(samples, batch_size=6, order=lx.Shuffle(seed=5), epochs=1):
        assert list(batch) == ['tokens'] and batch['tokens'].dtype == np.int64
        places = lx.Shuffle(n=6, seed=5).take(6).astype(int)
        assert np.array_equal(batch['tokens'], np.array(expected)[places])


def test_packed_samples_go_to_other_processes(tmp_path):
    tokens = write(tmp_path / 'd.ds', [3, 12, 0, 2, 5, 4])
    samples = lx.PackedDataset(tokens, 5, vocabulary=26, pad=30, positions=True)
    again = pickle.loads(pickle.dumps(samples))
    assert len(again) == len(samples) and again.padding == samples.padding
    assert (again.capacity, again.vocabulary, again.pad) == (5, 26, 30)
    one, other = (next(iter(lx.Loader(each, batch_size=6))) for each in (samples, again))
    assert set(one) == {'tokens', 'positions'}
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_loader_of_other_documents_rejects_the_state(tmp_path):
    samples = lx.PackedDataset(write(tmp_path / 'a.ds', [3, 4, 5]), 8)
    other = lx.PackedDataset(write(tmp_path / 'b.ds', [3, 5, 4]), 8)
    state = lx.Loader(samples, order=lx.Shuffle(seed=1)).state_dict()
    lx.Loader(samples, order=lx.Shuffle(seed=1)).load_state_dict(state)
    with pytest.raises(ValueError, match='source.lengths'):
        lx.Loader(other, order=lx.Shuffle(seed=1)).load_state_dict(state)


@pytest.mark.parametrize('separator', [None, 50256])
@pytest.mark.parametrize('length', [1, 5, 64, 1000])
def test_joins_documents(tmp_path, separator, length):
    random = np.random.default_rng(length)
    lengths = random.integers(0, 90, 150) * (random.random(150) < .8)
    tokens = write(tmp_path / 'd.ds', lengths)
    samples = lx.TokenDataset(tokens, length, separator=separator, segments=True, positions=True)
    parts = [[*document, separator] if separator else document for document in tokens.documents]
    places = np.concatenate(parts).astype(int)
    owners = np.repeat(np.arange(150), [len(part) for part in parts])
    assert len(samples) == (len(places) - 1) // length
    for batch in lx.Loader(samples, batch_size=32, order=lx.Shuffle(seed=3), epochs=1):
        for row in range(len(batch['tokens'])):
            first = np.flatnonzero(places == batch['tokens'][row][0])
            at = next(int(i) for i in first if i % length == 0
                      and np.array_equal(places[i:i + length + 1], batch['tokens'][row]))
            begins = np.flatnonzero(np.diff(owners[at:at + length + 1], prepend=-1))
            segments = np.zeros(length + 1, int)
            segments[begins] = 1
            assert np.array_equal(batch['segments'][row], np.cumsum(segments))
            positions = np.arange(length + 1) - begins[np.cumsum(segments) - 1]
            assert np.array_equal(batch['positions'][row], positions)


def test_a_separator_alone(tmp_path):
    samples = lx.TokenDataset(write(tmp_path / 'd.ds', [2, 0, 4]), 4, separator=9, out='int64')
    again = pickle.loads(pickle.dumps(samples))
    batch = next(iter(lx.Loader(again, batch_size=2)))
    assert list(batch) == ['tokens'] and batch['tokens'].dtype == np.int64
    assert batch['tokens'].tolist() == [[0, 1, 9, 9, 2], [2, 3, 4, 5, 9]]
    for wrong in -1, 2**31, 10:
        with pytest.raises(ValueError, match='separator'):
            lx.TokenDataset(samples.tokens, 4, separator=wrong, vocabulary=10)
    with pytest.raises(ValueError, match='separator'):
        lx.TokenDataset(samples.tokens, 4, separator=2**31)
    with pytest.raises(ValueError, match='sequence_length'):
        lx.TokenDataset(samples.tokens, 2**31 - 1, separator=1)


def plain_seqlens(segments, padding):
    """Return the lengths of runs, token by token."""
    lengths = []
    for row in segments:
        for at, segment in enumerate(row):
            if at == 0 or segment != row[at - 1]:
                lengths.append((segment, 0))
            lengths[-1] = (segment, lengths[-1][1] + 1)
    lengths = [length for segment, length in lengths if padding or segment]
    return np.cumsum([0, *lengths]), max(lengths, default=0)


@pytest.mark.parametrize('padding', [True, False])
def test_cu_seqlens_of_batches(tmp_path, padding):
    lengths = np.random.default_rng(1).integers(0, 90, 200)
    samples = lx.PackedDataset(write(tmp_path / 'd.ds', lengths), 64, segments=True)
    for batch in lx.Loader(samples, batch_size=16, order=lx.Shuffle(seed=2), epochs=1):
        places, longest = lx.cu_seqlens(batch['segments'], padding=padding)
        expected = plain_seqlens(batch['segments'], padding)
        assert places.dtype == np.int32 and np.array_equal(places, expected[0])
        assert type(longest) is int and longest == expected[1]
        covered = batch['segments'].size if padding else np.count_nonzero(batch['segments'])
        assert places[-1] == covered


def test_cu_seqlens_of_any_array():
    segments = np.array([[1, 1, 2, 2, 2, 0], [1, 1, 1, 1, 0, 0]])
    places, longest = lx.cu_seqlens(segments)
    assert places.tolist() == [0, 2, 5, 6, 10, 12] and longest == 4
    places, longest = lx.cu_seqlens(segments.astype('int32'), padding=False)
    assert places.tolist() == [0, 2, 5, 9] and longest == 4
    assert lx.cu_seqlens(segments[0])[0].tolist() == [0, 2, 5, 6]
    assert lx.cu_seqlens(segments[:, ::2])[0].tolist() == [0, 1, 3, 5, 6]
    assert lx.cu_seqlens(np.zeros((0, 4), 'int32'))[0].tolist() == [0]
    with pytest.raises(ValueError, match='axes'):
        lx.cu_seqlens(segments[None])
    with pytest.raises(TypeError, match='integers'):
        lx.cu_seqlens(segments * 1.5)
    with pytest.raises(TypeError, match='padding'):
        lx.cu_seqlens(segments, padding=1)
    with pytest.raises(ValueError, match='int32'):
        lx.cu_seqlens(segments + 2**31)


def test_packs_an_empty_dataset(tmp_path):
    samples = lx.PackedDataset(write(tmp_path / 'd.ds', [0, 0]), 8)
    assert len(samples) == 0 and samples.padding_share == 0.0


def test_rejects_invalid_arguments(tmp_path):
    tokens = write(tmp_path / 'd.ds', [3, 4])
    for capacity in 0, -1, 2**24 + 1:
        with pytest.raises(ValueError, match='capacity'):
            lx.PackedDataset(tokens, capacity)
    with pytest.raises(TypeError, match='capacity'):
        lx.PackedDataset(tokens, 4.0)
    with pytest.raises(ValueError, match='pad must fit in int32'):
        lx.PackedDataset(tokens, 4, pad=2**31)
    assert lx.PackedDataset(tokens, 4, pad=2**31, out='int64').pad == 2**31
    with pytest.raises(TypeError, match='segments'):
        lx.PackedDataset(tokens, 4, segments=1)
    with pytest.raises(ValueError, match='dtype must not be given with a Tokens'):
        lx.PackedDataset(tokens, 4, 'uint32')
    with pytest.raises(ValueError, match='out must be'):
        lx.PackedDataset(tokens, 4, out='uint16')
    (tmp_path / 'd.ds.index').write_bytes(np.array([8, 7], '<u8').tobytes())
    with pytest.raises(lx.CorruptError, match='document 0 has an invalid end') as caught:
        lx.PackedDataset(lx.Tokens(tmp_path / 'd.ds', 'uint32'), 4)
    assert caught.value.path == str(tmp_path / 'd.ds.index')
