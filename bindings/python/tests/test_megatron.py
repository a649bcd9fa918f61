# SPDX-License-Identifier: MIT
"""Megatron's GPT dataset, its split and its blends."""

import math
import pickle

import numpy as np
import pytest

import loaderx as lx
from loaderx.megatron import BlendedDataset, GPTDataset, samples_per_dataset, split_documents
from megatrons import Dataset, build_blend, draw_documents, write_documents


def expect_alike(ours, theirs, leave_out=()):
    for name in theirs:
        if name not in leave_out:
            assert np.array_equal(ours[name], theirs[name]), name
            assert np.asarray(ours[name]).dtype == theirs[name].dtype, name


def draw_options(random, count):
    first = int(random.integers(0, count))
    length = int(random.choice([1, 2, 7, 30]))
    return length, {
        'range': (first, count),
        'num_samples': None if random.random() < .2 else int(random.integers(0, 400 // length + 2)),
        'seed': int(random.integers(0, 2**32)),
        'extra': bool(random.random() < .7),
        'partial': bool(random.random() < .4),
        'eod': 5,
        'pad': int(random.choice([-1, 7])),
        'reset_positions': bool(random.random() < .5),
        'reset_mask': bool(random.random() < .5),
        'mask_loss': bool(random.random() < .5),
    }


def open_dataset(tokens, length, options, **more):
    return GPTDataset(
        tokens, length, options['num_samples'], documents=options['range'],
        random_seed=options['seed'],
        eod=options['eod'], reset_position_ids=options['reset_positions'],
        reset_attention_mask=options['reset_mask'], eod_mask_loss=options['mask_loss'],
        add_extra_token_to_sequence=options['extra'],
        drop_last_partial_sequence=not options['partial'], pad=options['pad'], out='numpy', **more)


@pytest.mark.parametrize('seed', range(40))
def test_matches_megatron(tmp_path, seed):
    random = np.random.default_rng(seed)
    documents = draw_documents(random, int(random.integers(1, 20)), int(random.choice([4, 40])))
    length, options = draw_options(random, len(documents))
    expected = Dataset(documents, length, **options)
    tokens = write_documents(tmp_path / 'd', documents)
    if len(expected) == 0:
        with pytest.raises(ValueError, match='sequence_length'):
            open_dataset(tokens, length, options)
        return
    dataset = open_dataset(tokens, length, options,
                           tables=tmp_path / 'tables' if seed % 2 else None)
    assert len(dataset) == len(expected)
    assert np.array_equal(dataset.document_index, expected.document_index)
    assert dataset.document_index.dtype == np.int32
    assert np.array_equal(dataset.shuffle_index, expected.shuffle_index)
    begins = np.arange(len(expected)) * length
    if options['extra']:
        starts = np.searchsorted(expected.places, np.arange(len(expected.document_index)))
        places = expected.places[begins]
        index = np.stack([places, begins - starts[places]], 1)[1:]
        assert np.array_equal(dataset.sample_index[1:-1], index)
    for i in range(len(dataset)):
        expect_alike(dataset[i], expected[i])
    batches = lx.Loader(dataset, batch_size=5, epochs=1, transform=dataset.collate)
    rows = [{name: column[k] for name, column in batch.items()}
            for batch in batches for k in range(len(batch['tokens']))]
    assert len(rows) == len(expected)
    for i, row in enumerate(rows):
        expect_alike(row, expected[i])


@pytest.mark.parametrize('seed', range(20))
@pytest.mark.parametrize('extra', [True, False])
def test_attention_within_documents(tmp_path, seed, extra):
    random = np.random.default_rng(seed)
    documents = draw_documents(random, int(random.integers(1, 10)), 4 if seed % 2 else 12, least=1)
    partial = seed % 4 != 0
    count = int(random.integers(1, 21))
    # Most seeds have a partial sample, and some of these end in a document of one token.
    expected = Dataset(documents, 10, num_samples=count, extra=extra, partial=partial, seed=seed)
    dataset = GPTDataset(write_documents(tmp_path / 'd', documents), 10, count, out='numpy',
                         random_seed=seed, inter_document_masking=True,
                         drop_last_partial_sequence=not partial, add_extra_token_to_sequence=extra)
    assert len(dataset) == len(expected)
    for i in range(len(dataset)):
        sample, begins = dataset[i], expected.pieces(i)
        lengths = np.diff([*begins, 10])
        assert sample['cu_seqlens'].tolist() == begins + [10] * (11 - len(begins))
        assert sample['max_seqlen'] == max(lengths)
        assert sample['position_ids'].tolist() == [k for n in lengths for k in range(n)]
        assert 'attention_mask' not in sample
        expect_alike(sample, expected[i], ('attention_mask', 'position_ids'))


def test_tensors_and_the_sample_that_pads_batches(tmp_path):
    torch = pytest.importorskip('torch')
    documents = draw_documents(np.random.default_rng(4), 5, 30)
    dataset = GPTDataset(write_documents(tmp_path / 'd', documents), 8)
    expected = Dataset(documents, 8)
    assert dataset[0]['tokens'].dtype == torch.int64
    assert dataset[0]['attention_mask'].shape == (1, 8, 8)
    assert dataset[None]['loss_mask'].sum() == 0
    assert torch.equal(dataset[None]['tokens'], dataset[0]['tokens'])
    some = dataset.__getitems__([4, None, -1])
    for sample, index in zip(some, [4, None, -1]):
        assert list(sample) == list(dataset[index])
        assert all(torch.equal(sample[name], dataset[index][name]) for name in sample)
    assert dataset.__getitems__([]) == []
    with pytest.raises(IndexError, match='sample 99 is out of range'):
        dataset.__getitems__([0, 99])
    loader = torch.utils.data.DataLoader(dataset, batch_size=3)
    rows = [row for batch in loader for row in batch['labels'].tolist()]
    assert rows == [expected[i]['labels'].tolist() for i in range(len(expected))]
    ours = pytest.importorskip('loaderx.torch').DataLoader(dataset, batch_size=3)
    assert [row for batch in ours for row in batch['labels'].tolist()] == rows


def test_the_samples_themselves(tmp_path):
    documents = draw_documents(np.random.default_rng(8), 9, 30)
    dataset = GPTDataset(write_documents(tmp_path / 'd', documents), 8, out='numpy')
    samples = pickle.loads(pickle.dumps(dataset.source))
    assert set(samples[0]) == {'tokens', 'loss_mask'}
    some = samples.gather([3, -1])['tokens']
    assert np.array_equal(some[0, :-1], dataset[3]['tokens'])
    assert np.array_equal(some[1, 1:], dataset[-1]['labels'])
    both = lx.ConcatDataset([samples, dataset.source])
    assert np.array_equal(both[len(samples) + 3]['tokens'], some[0])


def test_stores_tables_and_reports_damage(tmp_path):
    tokens = write_documents(tmp_path / 'd', draw_documents(np.random.default_rng(5), 30, 50, 1))
    made = [GPTDataset(tokens, 16, 200, tables=tmp_path / 't', out='numpy') for _ in range(2)]
    file, = (tmp_path / 't').iterdir()
    assert all(np.array_equal(made[0][i]['tokens'], made[1][i]['tokens']) for i in range(200))
    copy = pickle.loads(pickle.dumps(made[0]))
    assert np.array_equal(copy[7]['tokens'], made[0][7]['tokens'])
    assert len(list((tmp_path / 't').iterdir())) == 1
    del made, copy
    content = bytearray(file.read_bytes())
    content[5000] ^= 1
    file.unlink()
    file.write_bytes(content)
    with pytest.raises(lx.CorruptError) as raised:
        for i in range(200):
            GPTDataset(tokens, 16, 200, tables=tmp_path / 't')[i]
    assert str(file) in str(raised.value)


def test_a_run_continues_where_it_stopped(tmp_path):
    tokens = write_documents(tmp_path / 'd', draw_documents(np.random.default_rng(6), 30, 50, 1))
    dataset = GPTDataset(tokens, 8, 100, out='numpy')
    loader = lx.Loader(dataset, batch_size=4)
    for _ in range(6):
        next(loader)
    state = loader.state_dict()
    later = next(loader)['tokens'].copy()
    more = GPTDataset(tokens, 8, 101, out='numpy', eod=3, reset_position_ids=True)
    other = lx.Loader(more, batch_size=4)
    other.load_state_dict(state)
    assert np.array_equal(next(other)['tokens'], later)
    assert np.array_equal(later[0, :-1], dataset[24]['tokens'])
    with pytest.raises(ValueError, match='seed'):
        lx.Loader(GPTDataset(tokens, 8, 100, random_seed=7), batch_size=4).load_state_dict(state)


@pytest.mark.parametrize('split, count, expected', [
    ('969,30,1', 1000, [(0, 969), (969, 999), (999, 1000)]),
    ('969, 30, 1', 7, [(0, 7), (7, 7), (7, 7)]),
    ('99,1,0', 250, [(0, 248), (248, 250), None]),    # 247.5 rounds to even
    ('1', 12, [(0, 12), None, None]),
    ('0,1', 5, [None, (0, 5), None]),
    ('.5/.25/.25', 10, [(0, 5), (5, 8), (8, 10)]),    # 7.5 rounds to even, too
])
def test_the_split(split, count, expected):
    assert split_documents(count, split) == expected


@pytest.mark.parametrize('split', ['', 'x', '0,0', '1,1,1,1', '1.2.3', '9' * 400])
def test_rejects_invalid_splits(split):
    with pytest.raises(ValueError, match='split'):
        split_documents(10, split)


def test_splits_tokens_and_rejects_other_objects(tmp_path):
    tokens = write_documents(tmp_path / 'd', draw_documents(np.random.default_rng(7), 10, 9))
    assert split_documents(tokens, '80,20') == [(0, 8), (8, 10), None]
    with pytest.raises(TypeError, match='split'):
        split_documents(10, 1)
    with pytest.raises(ValueError, match='documents'):
        split_documents(-1, '1')


@pytest.mark.parametrize('seed', range(8))
def test_a_blend(tmp_path, seed):
    random = np.random.default_rng(seed)
    count, size = int(random.integers(1, 5)), int(random.integers(1, 300))
    weights = (random.random(count) + .05).tolist()
    shares = (np.array(weights) / np.sum(weights)).tolist()
    needed = [math.ceil(math.ceil(size * share) * 1.005) for share in shares]
    assert samples_per_dataset(weights, size, .005) == needed
    target = sum(math.ceil(size * share) for share in shares)
    assert sum(samples_per_dataset(weights, size)) == target
    sets = [draw_documents(random, 10, 30, least=1) for _ in range(count)]
    tokens = [write_documents(tmp_path / str(i), one) for i, one in enumerate(sets)]
    blend = BlendedDataset.build(tokens, 8, size, weights, split='80,20', part='train',
                                 random_seed=9, out='numpy', tables=tmp_path / 't')
    expected = [Dataset(one, 8, num_samples=n, seed=9, range=(0, 8))
                for one, n in zip(sets, needed)]
    pairs = build_blend(shares, target)
    assert len(blend) == target
    assert list(zip(blend.dataset_index.tolist(), blend.dataset_sample_index.tolist())) == pairs
    assert blend.dataset_index.dtype == np.int16
    batches = list(lx.Loader(blend, batch_size=7, epochs=1, transform=blend.collate))
    labels = np.concatenate([batch['labels'] for batch in batches])
    for i, (one, k) in enumerate(pairs):
        assert np.array_equal(labels[i], expected[one][k]['labels'])
    for i in 0, target // 2, target - 1, -1:
        one, k = pairs[i]
        assert blend[i]['dataset_id'] == one
        expect_alike(blend[i], expected[one][k])
    for (one, k), sample in zip(pairs, blend.__getitems__(range(target))):
        assert sample['dataset_id'] == one
        expect_alike(sample, expected[one][k])
    copy = pickle.loads(pickle.dumps(blend))
    assert np.array_equal(copy.dataset_sample_index, blend.dataset_sample_index)


def test_blends_without_weights(tmp_path):
    random = np.random.default_rng(1)
    sets = [draw_documents(random, 10, size, least=1) for size in (10, 30)]
    tokens = [write_documents(tmp_path / str(i), one) for i, one in enumerate(sets)]
    whole = BlendedDataset.build(tokens, 4, out='numpy')
    lengths = [len(one) for one in whole.datasets]
    assert len(whole) == sum(lengths)
    index = whole.dataset_index
    for one, length in enumerate(lengths):
        assert whole.dataset_sample_index[index == one].tolist() == list(range(length))
    part = BlendedDataset.build(tokens, 4, 10, out='numpy')
    assert list(zip(part.dataset_index, part.dataset_sample_index)) == build_blend(lengths, 10)
    assert len(BlendedDataset.build(tokens, 4, 10**6)) == sum(lengths)


def test_plus_concatenates_as_in_torch(tmp_path):
    data = pytest.importorskip('torch.utils.data')
    tokens = write_documents(tmp_path / 'd', draw_documents(np.random.default_rng(4), 9, 30))
    one, other = GPTDataset(tokens, 8), GPTDataset(tokens, 8, random_seed=5)
    blend = BlendedDataset([one, other])
    for left, right in (one, other), (blend, blend), (one, blend):
        both = left + right
        assert type(both) is data.ConcatDataset and both.datasets == [left, right]
        assert both[len(left) + 1]['tokens'].tolist() == right[1]['tokens'].tolist()
    with pytest.raises(TypeError, match='unsupported operand'):
        one + 3


def test_refuses_an_index_with_modes_by_name(tmp_path):
    """A multimodal index ends with a byte for each sequence."""
    write_documents(tmp_path / 'd', draw_documents(np.random.default_rng(2), 10, 10))
    index = tmp_path / 'd.idx'
    index.write_bytes(index.read_bytes() + bytes(10))
    with pytest.raises(lx.LoaderxError, match='multimodal') as caught:
        lx.Tokens(tmp_path / 'd.bin')
    assert caught.value.path == str(index) and not isinstance(caught.value, lx.CorruptError)


def test_rejects_invalid_blends(tmp_path):
    documents = draw_documents(np.random.default_rng(2), 10, 10, least=1)
    tokens = write_documents(tmp_path / 'd', documents)
    one = GPTDataset(tokens, 4)
    with pytest.raises(IndexError, match=r'datasets\[0\]'):
        BlendedDataset([one, one], [.9, .1], 2 * len(one))
    for options, match in [(([], None, 3), 'datasets'), (([one], [1]), 'size'),
                         (([one], [1, 2], 3), 'weights'), (([one], [0.0], 3), 'weights'),
                         (([one], None, 0), 'size')]:
        with pytest.raises(ValueError, match=match):
            BlendedDataset(*options)
    with pytest.raises(TypeError, match=r'datasets\[0\]'):
        BlendedDataset([tokens])
    for options, more, match in [
            (([tokens], 4), {}, 'use GPTDataset'), (([tokens] * 2, 4, None, [1, 1]), {}, 'size'),
            (([tokens] * 2, 4, 5, [1]), {}, 'weights'),
            (([tokens] * 2, 4), {'part': 'eval'}, 'part'),
            (([tokens] * 2, 4), {'split': '1', 'part': 'test'}, 'split'),
            (([tokens] * 2, 4), {'split': '9999,1', 'part': 'valid'}, 'no documents')]:
        with pytest.raises(ValueError, match=match):
            BlendedDataset.build(*options, **more)
    with pytest.raises(ValueError, match='order'):
        lx.Loader(BlendedDataset([one, one]), batch_size=2, order=lx.Shuffle())


def test_rejects_invalid_arguments(tmp_path):
    documents = [np.arange(30), np.arange(0), np.arange(40)]
    tokens = write_documents(tmp_path / 'd', documents)
    for options, match in [
            ({'sequence_length': 0}, 'sequence_length'),
            ({'sequence_length': 70}, 'sequence_length'),
            ({'sequence_length': 2**31 - 1}, 'sequence_length'),
            ({'num_samples': -1}, 'num_samples'),
            ({'documents': (0, 4)}, 'documents'), ({'documents': (1, 1)}, 'documents'),
            ({'documents': 3}, 'documents'), ({'documents': (1, 2)}, 'documents'),
            ({'random_seed': 2**32}, 'random_seed'), ({'random_seed': -1}, 'random_seed'),
            ({'eod': -3}, 'eod'), ({'reset_position_ids': True}, 'eod'),
            ({'eod_mask_loss': True}, 'eod'), ({'pad': 2**63}, 'pad'), ({'out': 'jax'}, 'out'),
            ({'eod': 9, 'vocabulary': 5}, 'eod')]:
        with pytest.raises(ValueError, match=match):
            GPTDataset(tokens, **{'sequence_length': 8, **options})
    with pytest.raises(ValueError, match='num_samples'):
        GPTDataset(tokens, 8, 2**60)
    with pytest.raises(TypeError, match='eod_mask_loss'):
        GPTDataset(tokens, 8, eod_mask_loss=1)
    dataset = GPTDataset(tokens, 8, vocabulary=25, out='numpy')
    for place in len(dataset), -len(dataset) - 1:
        with pytest.raises(IndexError):
            dataset[place]
    with pytest.raises(lx.CorruptError, match='less than 25'):
        for i in range(len(dataset)):
            dataset[i]
