# SPDX-License-Identifier: MIT
"""Filters: the method where() of datasets."""

import pickle

import numpy as np
import pytest

import loaderx as lx

N = 2500
LABELS = np.random.default_rng(1).integers(0, 10, N)
FIELDS = {'x': lx.Field('float32', (3,)), 'label': lx.Field('int64'), 'text': lx.Field(bytes)}


@pytest.fixture
def path(tmp_path):
    with lx.create(tmp_path / 'd', FIELDS) as writer:
        writer.extend(x=np.arange(N * 3, dtype=np.float32).reshape(N, 3), label=LABELS,
                      text=[b'x' * (i % 5) if i % 7 else None for i in range(N)])
    return tmp_path / 'd'


@pytest.mark.parametrize('condition', [
    LABELS == 7, (LABELS == 7).tolist(), lambda columns: columns['label'] == 7,
    lambda columns: (columns['label'] == 7).tolist(),
    lambda columns: (columns['label'] == 7) & (columns['x'][:, 0] >= 0),
])
def test_selects_records_by_a_mask_or_a_function(path, condition):
    ds = lx.open(path)
    sevens = ds.where(condition)
    wanted = np.flatnonzero(LABELS == 7)
    assert isinstance(sevens, lx.SubsetDataset) and len(sevens) == len(wanted)
    assert np.array_equal(sevens.gather(slice(None), ['x', 'label'])['x'], ds['x'][wanted])
    assert sevens[3]['text'] == ds['text'][int(wanted[3])]


def test_the_filter_is_a_source(path):
    source = lx.open(path).where(lambda columns: columns['label'] < 3)
    loader = lx.Loader(source, fields=['label'], batch_size=32, order=lx.Shuffle(seed=1))
    first = next(loader)['label']
    state = loader.state_dict()
    rest = [batch['label'].tolist() for batch in iter(lambda: next(loader, None), None)]
    again = lx.Loader(pickle.loads(pickle.dumps(source)), fields=['label'], batch_size=32,
                      order=lx.Shuffle(seed=1))
    again.load_state_dict(state)
    assert [batch['label'].tolist() for batch in again] == rest
    assert sorted([*first.tolist(), *sum(rest, [])]) == sorted(LABELS[LABELS < 3].tolist())
    other = lx.Loader(lx.open(path).where(LABELS < 4), fields=['label'], batch_size=32,
                      order=lx.Shuffle(seed=1))
    with pytest.raises(ValueError):
        other.load_state_dict(state)


def test_all_datasets_have_it(path, tmp_path):
    ds = lx.open(path)
    both, some = ds + ds, lx.SubsetDataset(ds, range(0, N, 2))
    for dataset, labels in ((both, [*LABELS, *LABELS]), (some, LABELS[::2])):
        wanted = np.flatnonzero(np.array(labels) == 7)
        for condition in (lambda columns: columns['label'] == 7, np.array(labels) == 7):
            sevens = dataset.where(condition)
            assert isinstance(sevens, lx.SubsetDataset)
            assert np.array_equal(sevens.gather(slice(None), ['x'])['x'],
                                  dataset.gather(wanted, ['x'])['x'])
            again = pickle.loads(pickle.dumps(sevens))
            assert again[3]['text'] == dataset[int(wanted[3])]['text']
        short = dataset.where(lambda columns: [not text for text in columns['text']])
        assert set(short['text']) == {b'', None}
    np.save(tmp_path / 'labels.npy', LABELS)
    for made in (lx.NPDataset(tmp_path / 'labels.npy'), lx.NPDataset(LABELS),
                 lx.ConcatDataset([LABELS])):
        large = made.where(lambda columns: columns['data'] > 7)
        assert np.array_equal(large[:], LABELS[LABELS > 7])
        assert np.array_equal(made.where(LABELS > 7)[:], large[:])
        assert next(lx.Loader(large, batch_size=3))['data'].tolist() == large[:3].tolist()
    with pytest.raises(KeyError, match="'label' not found: the fields are"):
        made.where(lambda columns: columns['label'] == 7)
    with pytest.raises(ValueError, match='an array of 2500 bools'):
        made.where([True])


def test_of_a_concatenation_a_missing_value_is_an_error(path):
    with lx.open(path, mode='r+') as writer:
        writer[1500] = {'label': None}
    both = lx.open(path) + lx.open(path)
    with pytest.raises(ValueError, match=r"'label' of record 1500 is missing"):
        both.where(lambda columns: columns['label'] == 0)
    loader = lx.Loader(both.where(both['label'].present()), fields=['label'])
    assert len(list(loader)) == 2 * N - 2


def test_reads_only_what_the_function_looks_up(path, monkeypatch):
    read = []
    get = lx.Dataset._get
    monkeypatch.setattr(lx.Dataset, '_get', lambda self, name, rows: (
        read.append((rows.start, rows.stop, name)) or get(self, name, rows)))

    def condition(columns):
        assert list(columns) == list(FIELDS) and len(columns) == 3 and 'label' in columns
        return (columns['label'] > 3) | (columns['label'] < 1)

    lx.open(path).where(condition)
    assert read == [(0, 1024, 'label'), (1024, 2048, 'label'), (2048, 2500, 'label')]


def test_bytes_fields_are_lists_with_none(path):
    ds = lx.open(path)
    long = ds.where(lambda columns: [text is not None and len(text) > 2
                                     for text in columns['text']])
    assert len(long) == sum(text is not None and len(text) > 2 for text in ds['text'])


def test_a_missing_value_is_an_error(path):
    with lx.open(path, mode='r+') as writer:
        writer[1500] = {'label': None}
    ds = lx.open(path)
    with pytest.raises(ValueError, match=r"'label' of record 1500 is missing.*\.present\(\)"):
        ds.where(lambda columns: columns['label'] == 0)
    zeros = ds.where(ds['label'].present() & (ds['label'].filled(1)[:] == 0))
    labels = np.delete(LABELS, 1500)
    assert len(zeros) == (labels == 0).sum()
    assert len(ds.where(lambda columns: columns['x'][:, 0] < 9)) == 3    # another field


def test_no_record_and_no_dataset(path, tmp_path):
    assert len(lx.open(path).where(lambda columns: columns['label'] > 99)) == 0
    with lx.create(tmp_path / 'empty', FIELDS):
        pass
    assert len(lx.open(tmp_path / 'empty').where(lambda columns: columns['label'] == 7)) == 0


@pytest.mark.parametrize('condition, error, text', [
    ([1, 2], TypeError, 'must be bools, one for each record, not int64: .* SubsetDataset'),
    ([True], ValueError, r'an array of 2500 bools, .* its shape is \(1,\)'),
    (True, ValueError, r'its shape is \(\)'),
    (lambda columns: True, ValueError, r'result of the condition .* 1024 bools, .* shape is \(\)'),
    (lambda columns: columns['label'], TypeError, 'result of the condition must be bools'),
    (lambda columns: columns['nothing'] == 1, KeyError, "'nothing' not found: the fields are"),
])
def test_rejects_other_conditions(path, condition, error, text):
    with pytest.raises(error, match=text):
        lx.open(path).where(condition)


@pytest.mark.parametrize('live', [False, True])
def test_keeps_the_records_of_the_snapshot(path, live):
    ds = lx.open(path, live=live)
    sevens = ds.where(LABELS == 7)
    text = sevens[1]['text']
    with lx.open(path, mode='r+') as writer:
        writer[np.flatnonzero(LABELS == 7)[:2]] = {'label': [1, 1], 'text': [b'new', b'new']}
    ds.refresh()
    assert sevens.gather([0, 1], ['label'])['label'].tolist() == [7, 7]
    assert sevens[1]['text'] == text != b'new' == ds[int(np.flatnonzero(LABELS == 7)[1])]['text']


def test_masks_of_torch(path):
    torch = pytest.importorskip('torch')
    mask = torch.from_numpy(LABELS == 7)
    assert len(lx.open(path).where(mask)) == (LABELS == 7).sum()
    sevens = lx.open(path).where(lambda columns: torch.from_numpy(columns['label']) == 7)
    assert len(sevens) == (LABELS == 7).sum()
