# SPDX-License-Identifier: MIT
"""Nanosets: known numbers, samples, loaders, and errors. For random configurations, see
test_nanoset_property.py."""

import copy
import gzip
import importlib
import logging
import pathlib
import pickle

import numpy as np
import pytest

import loaderx as lx
from loaderx.nanoset import (DataCollatorForCLM, DataCollatorForCLMWithPositionIds,
                             EmptyInfiniteDataset, Nanoset)
from nanosets import build, build_index, write_folder
from processes import run_script

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason='torch is not installed')

# Nanotron's published example.
LENGTHS = [8, 2, 5, 5]
WEIGHTS = [0.1, 0.5, 0.3, 0.1]
SETS = [1, 2, 0, 1, 3, 1, 2, 1, 2, 1, 0, 1, 2, 1, 3, 1, 2, 1, 2, 1]
SAMPLES = [0, 0, 0, 1, 0, 0, 1, 1, 2, 0, 1, 1, 3, 0, 1, 1, 4, 0, 0, 1]
# The same, shuffled.
SHUFFLED_SETS = [1, 1, 0, 2, 3, 1, 3, 1, 2, 2, 1, 1, 0, 1, 1, 2, 1, 2, 2, 1]
SHUFFLED_SAMPLES = [1, 0, 0, 4, 1, 0, 0, 0, 2, 0, 0, 1, 1, 0, 1, 0, 1, 3, 1, 1]


def random_files(rng, *lengths, most=60000):
    return [rng.integers(0, most, length) for length in lengths]


def got(nanoset, places):
    return [np.asarray(nanoset[place]['input_ids']) for place in places]


def same(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others):
        assert np.array_equal(one, other)


@pytest.fixture
def two(tmp_path):
    """Two folders, and what their files hold."""
    rng = np.random.default_rng(4)
    contents = [random_files(rng, 1000, 131, 5, 0), random_files(rng, 640)]
    return [write_folder(tmp_path / f'{i}', files) for i, files in enumerate(contents)], contents


@pytest.mark.parametrize('argument', ['dataset_folders', 'dataset_paths'])
def test_a_npy_file_is_read_without_its_header(tmp_path, argument):
    tokens = np.random.default_rng(3).integers(0, 60000, 1000).astype(np.uint16)
    np.save(tmp_path / 'q.npy', tokens)
    tokens.tofile(tmp_path / 'raw.bin')
    theirs, ours = (Nanoset(**{argument: [tmp_path / name]}, sequence_length=31, token_size=2,
                            train_split_num_samples=50, out='numpy') for name in ('raw.bin', 'q.npy'))
    same(got(ours, range(50)), got(theirs, range(50)))
    with pytest.raises(ValueError, match='uint32 tokens were requested, .* uint16'):
        Nanoset(**{argument: [tmp_path / 'q.npy']}, sequence_length=31, token_size=4,
                train_split_num_samples=50)
    (tmp_path / 'q.npy').rename(tmp_path / 'q.bin')
    with pytest.raises(lx.LoaderxError, match='q.bin: .* a NumPy array: its name must end with'):
        Nanoset(**{argument: [tmp_path / 'q.bin']}, sequence_length=31, token_size=2,
                train_split_num_samples=50)


@pytest.mark.parametrize('argument', ['dataset_folders', 'dataset_paths'])
def test_other_files_are_refused(tmp_path, argument):
    np.savez(tmp_path / 'x.npz', tokens=np.arange(1000, dtype=np.uint16))
    (tmp_path / 'x.ds.gz').write_bytes(gzip.compress(np.arange(1000, dtype=np.uint16).tobytes()))
    (tmp_path / 'x.ds').write_text('{"text": "one"}\n' * 50)
    (tmp_path / 'x.txt').write_text('words ' * 50)
    for name, kind in [('x.npz', 'ZIP'), ('x.ds.gz', 'gzip'), ('x.ds', 'text'), ('x.txt', 'text')]:
        with pytest.raises(lx.LoaderxError, match=f'{name}: the file has no raw tokens: .*{kind}'):
            Nanoset(**{argument: [tmp_path / name]}, sequence_length=31, token_size=2,
                    train_split_num_samples=50)


# ---- numbers that are known


def example(tmp_path, **options):
    """Folders of the example's lengths; each token names its set and sample."""
    contents = [[1000 * i + np.arange(length + 1)] for i, length in enumerate(LENGTHS)]
    folders = [write_folder(tmp_path / f'{i}', files) for i, files in enumerate(contents)]
    return Nanoset(folders, 1, 2, 70, WEIGHTS, datatrove=False, **options)


def unshuffled(nanoset, seed=1234):
    """The first epoch without the shuffle."""
    n = sum(nanoset.dataset_lengths)
    places = np.argsort(np.random.RandomState(seed).permutation(n))
    return nanoset.dataset_index[:n][places], nanoset.dataset_sample_index[:n][places]


def test_the_published_example_uses_plain_weights(tmp_path):
    nanoset = example(tmp_path, divide_weights=False)
    assert (len(nanoset), nanoset.dataset_lengths) == (70, LENGTHS)
    sets, samples = unshuffled(nanoset)
    assert (sets.tolist(), samples.tolist()) == (SETS, SAMPLES)
    assert nanoset.dataset_index.tolist() == (4 * SHUFFLED_SETS)[:70]
    assert nanoset.dataset_sample_index.tolist() == (4 * SHUFFLED_SAMPLES)[:70]
    for k in range(70):
        set_, sample = divmod(int(nanoset[k]['input_ids'][0]), 1000)
        assert (set_, sample) == (nanoset.dataset_index[k], nanoset.dataset_sample_index[k])
    assert nanoset.dataset_weights.tolist() == WEIGHTS


def test_normalized_weights_change_a_tie_of_the_example(tmp_path):
    nanoset = example(tmp_path)
    sets, samples = unshuffled(nanoset)
    expected = build_index(LENGTHS, WEIGHTS, 20, shuffle=False)
    assert (sets.tolist(), samples.tolist()) == tuple(one.tolist() for one in expected)
    assert sets.tolist() != SETS
    assert nanoset.dataset_weights.tolist() == (np.array(WEIGHTS) / np.sum(WEIGHTS)).tolist()
    sets, samples = build_index(LENGTHS, WEIGHTS, 70)
    assert nanoset.dataset_index.tolist() == sets.tolist()
    assert nanoset.dataset_sample_index.tolist() == samples.tolist()
    assert nanoset.dataset_index.dtype == np.uint64


@pytest.mark.parametrize('shuffled', [False, True])
def test_rank_2_of_4_continues_with_sample_70(tmp_path, shuffled):
    folder = write_folder(tmp_path / 'a', [np.arange(401)])
    source = nanoset = Nanoset([folder], 1, 2, 400, datatrove=False)
    expected = np.asarray(nanoset[70]['input_ids']).tolist()
    if not shuffled:
        source, expected = nanoset.source, [70, 71]
    with lx.Loader(source, rank=2, world=4) as loader:
        for _ in range(17):
            next(loader)
        assert loader.tell() == 68
        state = loader.state_dict()
    with lx.Loader(source, rank=2, world=4, start=68) as loader:
        assert next(loader)['tokens'].tolist() == [expected]
    with lx.Loader(source, rank=2, world=4) as loader:
        loader.load_state_dict(state)
        assert next(loader)['tokens'].tolist() == [expected]


def test_reads_samples_of_datatrove(tmp_path):
    """A file ends within a sample, and the order of files is that of NumPy."""
    contents = [[100 * i + np.arange(21 + i) for i in range(5)]]
    folder = write_folder(tmp_path / 'a', contents[0])
    order = [4, 2, 3, 1, 0]
    assert np.random.default_rng(42).permutation(5).tolist() == order
    nanoset = Nanoset([folder], 4, 2, 20)
    assert nanoset.dataset_lengths == [21]
    starts = sorted((int(nanoset.dataset_sample_index[k]), int(nanoset[k]['input_ids'][0]))
                    for k in range(20))
    expected = [100 * i + 5 * k for i in order for k in range((21 + i) // 5)]
    assert starts == [(k, expected[k]) for k, _ in starts]
    same(got(nanoset, range(20)), build(contents, 4, None, 20, datatrove=True))
    same(got(pickle.loads(pickle.dumps(nanoset)), range(20)), got(nanoset, range(20)))


# ---- torch's DataLoader


@needs_torch
@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('weights', [None, [3, 1]])
def test_a_loader_matches_the_loader_of_torch(two, workers, weights):
    folders, contents = two
    nanoset = Nanoset(folders, 16, 2, 300, weights, datatrove=False)
    collate = DataCollatorForCLM(16, 0, 0, current_pp_rank=0, out='torch')
    expected = build(contents, 16, weights, 300)
    for rank in range(3):
        sampler = data.DistributedSampler(nanoset, 3, rank, shuffle=False, drop_last=True)
        theirs = data.DataLoader(nanoset, batch_size=7, sampler=sampler, collate_fn=collate,
                                 drop_last=True, num_workers=workers)
        ours = lx.Loader(nanoset, batch_size=7, rank=rank, world=3, drop_last=True,
                         transform=collate)
        seen = 0
        for one, other in zip(theirs, ours):
            assert list(one) == ['input_ids', 'input_mask', 'label_ids', 'label_mask']
            assert all(torch.equal(one[key], other[key]) for key in one)
            rows = np.stack(expected[rank::3][seen:seen + 7])
            assert np.array_equal(one['input_ids'], rows[:, :-1])
            assert np.array_equal(one['label_ids'], rows[:, 1:])
            seen += 7
        assert seen == 98 and len(theirs) == len(ours) == 14


@needs_torch
@pytest.mark.parametrize('module', ['torch.utils.data', 'loaderx.torch'])
def test_respects_subclasses(two, module):
    class Mine(Nanoset):
        def __getitem__(self, idx):
            return {'number': idx}

    loader = importlib.import_module(module).DataLoader(Mine(two[0], 16, 2, 30), batch_size=8)
    assert [number for batch in loader for number in batch['number'].tolist()] == [*range(30)]


@needs_torch
def test_samples_are_tensors(two):
    nanoset = Nanoset(two[0], 16, 2, 50)
    sample = nanoset[3]['input_ids']
    assert isinstance(sample, torch.Tensor) and sample.dtype == torch.int64
    assert sample.shape == (17,)
    assert list(nanoset[3]) == ['input_ids']
    arrays = Nanoset(two[0], 16, 2, 50, out='numpy')
    assert isinstance(arrays[3]['input_ids'], np.ndarray)
    assert np.array_equal(arrays[torch.tensor(3)]['input_ids'], sample)
    batch = next(iter(data.DataLoader(nanoset, batch_size=5)))
    assert torch.equal(batch['input_ids'][3], sample)


def test_returns_arrays_without_torch(two):
    run_script(f"""
        sys.modules['torch'] = None
        from loaderx.nanoset import DataCollatorForCLM, Nanoset, SkipBatchSampler
        nanoset = Nanoset({two[0]!r}, 16, 2, 50)
        assert type(nanoset[3]['input_ids']) is np.ndarray
        batch = DataCollatorForCLM(16, 0, 0, current_pp_rank=0)([nanoset[3], nanoset[4]])
        assert type(batch['input_ids']) is np.ndarray and batch['label_mask'].all()
        assert list(SkipBatchSampler(range(5), 3)) == [3, 4]
        try:
            Nanoset({two[0]!r}, 16, 2, 50, out='torch')
        except ImportError as error:
            assert 'PyTorch' in str(error) and error.name == 'torch', error
        else:
            raise AssertionError('torch is absent')
    """)


@needs_torch
def test_plus_concatenates_as_in_torch(two):
    some, others = Nanoset(two[0], 16, 2, 30), Nanoset(two[0], 16, 2, 20, random_seed=1)
    array = lx.NPDataset(np.arange(5))
    listed = data.TensorDataset(torch.arange(3))
    for left, right in [(some, others), (some, array), (array, some), (some, listed),
                        (listed, some), (some + others, array),
                        (EmptyInfiniteDataset(4), EmptyInfiniteDataset(3))]:
        both = left + right
        assert type(both) is data.ConcatDataset and both.datasets == [left, right]
        assert len(both) == len(left) + len(right)
    both = some + others
    same(got(both, range(50)), got(some, range(30)) + got(others, range(20)))
    batches = list(data.DataLoader(both, batch_size=50))
    same(list(batches[0]['input_ids'].numpy()), got(both, range(50)))
    for wrong in 3, [some], None:
        with pytest.raises(TypeError, match='unsupported operand'):
            some + wrong


# ---- what it prints


def test_the_report(two, caplog):
    with caplog.at_level(logging.INFO, 'loaderx.nanoset'):
        nanoset = Nanoset(two[0], 16, 2, 300, [3, 1], datatrove=False)
    lines = [record.getMessage() for record in caplog.records]
    assert nanoset.report() == '\n'.join(lines)
    assert lines == [
        '> Total number of samples: 300',
        '> Total number of tokens: 4800',
        f'>   Total number of samples from the {two[0][0]} dataset: 224 (0.75)',
        f'>   Total number of samples from the {two[0][1]} dataset: 76 (0.25)',
    ]
    assert nanoset.dataset_counts == [224, 76]
    assert '0 (0.0)' in Nanoset(two[0], 16, 2, 0).report()
    caplog.clear()
    with caplog.at_level(logging.INFO, 'loaderx.nanoset'):
        copy.copy(nanoset)
    assert not caplog.records
    assert repr(nanoset) == 'Nanoset(300 samples of 16 + 1 tokens, folders: 2)'


def test_has_the_attributes_of_its_arguments(two):
    nanoset = Nanoset(two[0], 16, 2, 300, random_seed=7, datatrove=False)
    assert nanoset.dataset_folders == two[0]
    assert (nanoset.sequence_length, nanoset.token_size) == (16, 2)
    assert (nanoset.train_split_num_samples, nanoset.random_seed) == (300, 7)
    assert nanoset.dataset_lengths == [70, 39]
    assert nanoset.dataset_weights.tolist() == [70 / 109, 39 / 109]


def test_weights_are_arrays_as_in_nanotron(two):
    for weights in None, [3, 1], (3, 1), np.array([3, 1]), np.array([.75, .25]), np.float32([3, 1]):
        nanoset = Nanoset(two[0], 16, 2, 300, weights)
        given = nanoset.dataset_lengths if weights is None else weights
        assert isinstance(nanoset.dataset_weights, np.ndarray)
        assert nanoset.dataset_weights.dtype == np.float64
        assert np.array_equal(nanoset.dataset_weights, np.array(given) / np.sum(given))
        same(got(nanoset, range(300)), build(two[1], 16, weights, 300, datatrove=True))
        again = pickle.loads(pickle.dumps(nanoset))
        assert np.array_equal(again.dataset_weights, nanoset.dataset_weights)


def test_can_be_sent_to_other_processes(two, tmp_path):
    nanoset = Nanoset(two[0], 16, 2, 300, [3, 1], vocab_size=60000)
    (tmp_path / '1' / '00009_tokens.ds').write_bytes(bytes(1000))    # too late to have an effect
    for again in pickle.loads(pickle.dumps(nanoset)), copy.deepcopy(nanoset):
        same(got(again, range(300)), got(nanoset, range(300)))
        assert again.dataset_counts == nanoset.dataset_counts
    assert len(pickle.dumps(nanoset)) < 2000


# ---- with loaders


def test_states_and_starts_of_loaders(two):
    nanoset = Nanoset(two[0], 16, 2, 300)
    with lx.Loader(nanoset, batch_size=4) as loader:
        rows = [batch['tokens'] for batch in loader]
    with lx.Loader(nanoset, batch_size=4, rank=1, world=5) as loader:
        next(loader), next(loader)
        state = loader.state_dict()
    with lx.Loader(nanoset, batch_size=4) as loader:
        loader.load_state_dict(state)
        assert loader.tell() == 40
        same([batch['tokens'] for batch in loader], rows[10:])
    longer = Nanoset(two[0], 16, 2, 500)
    with lx.Loader(longer, batch_size=4) as loader:
        with pytest.raises(ValueError):
            loader.load_state_dict(state)
    with lx.Loader(longer, batch_size=4, start=40) as loader:    # continue by the count of samples
        assert np.array_equal(next(loader)['tokens'], rows[10])


@pytest.mark.parametrize('start, left', [(0, 37), (292, 1), (293, 0), (299, 0), (300, 0), (301, 0),
                                         (600, 0), (10**9, 0)])
def test_a_run_ends_for_good(two, start, left):
    """Nothing follows the last batch, on any rank or stage, however the run was resumed."""
    nanoset = Nanoset(two[0], 16, 2, 300)
    options = {'batch_size': 4, 'world': 2, 'rank': 1, 'drop_last': True}
    with lx.Loader(nanoset, **options) as whole:
        whole.seek(start)
        state = whole.state_dict()
    sources = [(nanoset, None), (lx.NullDataset(nanoset.source), nanoset.order),
               (pickle.loads(pickle.dumps(nanoset)), None)]
    for source, order in sources:
        with lx.Loader(source, order=order, start=start, **options) as loader:
            assert [len(list(loader)), len(list(loader))] == [left, 0]
            assert next(loader, None) is None and loader.tell() == max(start, 300)
        with lx.Loader(source, order=order, **options) as loader:
            loader.load_state_dict(state)
            assert next(loader, None) is None if left == 0 else len(list(loader)) == left
            assert list(loader) == []
            loader.seek(0)
            assert len(list(loader)) == 37
    assert next(lx.Loader(nanoset, epochs=None, start=300))['tokens'].shape == (1, 17)
    with lx.Loader(nanoset, epochs=2, start=599) as loader:
        assert [len(list(loader)), len(list(loader))] == [1, 0]


def test_a_run_that_was_left_is_neither_begun_again_nor_skipped(two):
    nanoset = Nanoset(two[0], 16, 2, 300)
    with lx.Loader(nanoset, batch_size=4) as loader:
        rows = [batch['tokens'] for batch in loader]
    with lx.Loader(nanoset, batch_size=4) as loader:
        for batch in loader:
            break
        with pytest.raises(lx.LoaderxError, match=r'whole training run.*next.*set_epoch\(0\)'):
            iter(loader)
        same([next(loader)['tokens'], next(loader)['tokens']], rows[1:3])
        loader.seek(loader.tell())
        same([batch['tokens'] for batch in loader], rows[3:])
        assert list(loader) == []
        loader.set_epoch(0)
        same([batch['tokens'] for batch in loader], rows)
        with pytest.raises(ValueError, match='epoch must be 0'):
            loader.set_epoch(1)


def test_a_rank_in_the_middle_reads_nothing(two):
    nanoset = Nanoset(two[0], 16, 2, 300)
    collate = DataCollatorForCLM(16, 0, 3, current_pp_rank=1, out='numpy')
    with lx.Loader(lx.NullDataset(nanoset.source), order=nanoset.order, batch_size=8,
                   transform=collate) as loader:
        batches = list(loader)
    assert len(batches) == 38
    assert all(batch['label_ids'].group_rank == 3 for batch in batches)


def test_a_loader_rejects_another_order(two):
    nanoset = Nanoset(two[0], 16, 2, 300, datatrove=False)
    with pytest.raises(ValueError, match='order must not be given'):
        lx.Loader(nanoset, order=lx.Shuffle())
    with lx.Loader(nanoset.source, order=lx.Shuffle(seed=1), batch_size=109) as loader:
        assert len(next(loader)['tokens']) == 109


# ---- errors


def test_rejects_weights_that_do_not_match(two):
    for error in AssertionError, ValueError:
        with pytest.raises(error, match='Specified 3 weights but 2 datasets were provided.'):
            Nanoset(two[0], 16, 2, 300, [1, 2, 3])
    with pytest.raises(ValueError, match=r'dataset_weights\[1\]'):
        Nanoset(two[0], 16, 2, 300, [1, -2])
    with pytest.raises(ValueError, match='dataset_weights must have at least one'):
        Nanoset(two[0], 16, 2, 300, [0, 0])


def test_rejects_folders_without_samples(two, tmp_path):
    (tmp_path / 'empty').mkdir()
    (tmp_path / 'empty' / 'tokens.bin').write_bytes(bytes(100))
    (tmp_path / 'empty' / 'folder.ds').mkdir()
    for missing in str(tmp_path / 'empty'), str(tmp_path / 'none'):
        with pytest.raises(FileNotFoundError, match=r'No files matching .*\.ds') as caught:
            Nanoset([*two[0], missing], 16, 2, 300)
        assert caught.value.filename == missing
    with pytest.raises(ValueError, match=r'dataset_folders\[1\] has no samples: .* 641 tokens'):
        Nanoset(two[0], 640, 2, 300)
    short = Nanoset(two[0], 639, 2, 300)    # some files contribute nothing
    assert len(short) == 300 and len(pickle.loads(pickle.dumps(short.source))) == len(short.source)
    with pytest.raises(ValueError, match='dataset_folders must have at least one path'):
        Nanoset([], 16, 2, 300)


def test_warns_of_a_single_folder(two):
    with pytest.warns(UserWarning, match='dataset_folders should be of type'):
        nanoset = Nanoset(two[0][0], 16, 2, 100)
    assert nanoset.dataset_folders == [two[0][0]]


def test_reports_damaged_files(two, tmp_path):
    path = tmp_path / '1' / '00000_tokens.ds'
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(lx.CorruptError, match='the file is truncated') as caught:
        Nanoset(two[0], 16, 2, 300)
    assert caught.value.path == str(path)
    path.write_bytes(whole)
    (tmp_path / '1' / '00000_tokens.ds.metadata').write_text('a/b|4\n320\n0.3 K\n')
    with pytest.raises(ValueError, match='uint16 tokens were requested, but the stored .* uint32'):
        Nanoset(two[0], 16, 2, 300)


def test_rejects_tokens_outside_the_vocabulary(tmp_path):
    tokens = np.arange(101)
    tokens[55] = 777
    folder = write_folder(tmp_path / 'a', [np.arange(11), tokens])
    nanoset = Nanoset([folder], 10, 2, 11, vocab_size=777)
    failed = 0
    for place in range(11):
        try:
            nanoset[place]
        except lx.CorruptError as error:
            assert (error.record, error.offset) == (5, 110)
            assert error.path == folder + '/00001_tokens.ds'
            failed += 1
    assert failed == 1
    with lx.Loader(nanoset, batch_size=11) as loader:
        with pytest.raises(lx.CorruptError, match='token 55 of the file'):
            next(loader)
    assert len([*Nanoset([folder], 10, 2, 11, vocab_size=778)]) == 11


@pytest.mark.parametrize('changed, error, word', [
    ({'sequence_length': 0}, ValueError, 'sequence_length'),
    ({'sequence_length': 1.5}, TypeError, 'sequence_length'),
    ({'token_size': 3}, ValueError, 'token_size must be 2 or 4'),
    ({'train_split_num_samples': -1}, ValueError, 'train_split_num_samples'),
    ({'train_split_num_samples': 2**63}, ValueError, 'train_split_num_samples'),
    ({'random_seed': 2**32}, ValueError, 'seed'),
    ({'divide_weights': 1}, TypeError, 'divide'),
    ({'datatrove': 1}, TypeError, 'datatrove'),
    ({'vocab_size': 0}, ValueError, 'vocab'),
    ({'out': 'jax'}, ValueError, 'out must be'),
    ({'use_cache': 1}, TypeError, 'use_cache'),
    ({'cache': True}, TypeError, 'cache'),
])
def test_rejects_invalid_arguments_by_name(two, changed, error, word):
    arguments = {'dataset_folders': two[0], 'sequence_length': 16, 'token_size': 2,
             'train_split_num_samples': 300}
    with pytest.raises(error, match=word):
        Nanoset(**{**arguments, **changed})


def test_accepts_the_cache_of_nanotron_which_changes_nothing(two, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob('*'))
    made = [Nanoset(two[0], 16, 2, 300, None, 5, *more) for more in [(), (True,), (False,)]]
    made.append(pickle.loads(pickle.dumps(Nanoset(two[0], 16, 2, 300, random_seed=5,
                                                  use_cache=True))))
    for nanoset in made[1:]:
        same(got(nanoset, range(300)), got(made[0], range(300)))
    assert sorted(tmp_path.rglob('*')) == before


def test_rejects_indices_out_of_range(two):
    nanoset = Nanoset(two[0], 16, 2, 300)
    for index in 300, -301:
        with pytest.raises(IndexError, match='the length is 300'):
            nanoset[index]
    with pytest.raises(TypeError, match='idx must be an int'):
        nanoset['3']
    with pytest.raises(IndexError):
        Nanoset(two[0], 16, 2, 0)[0]


def test_the_samples_are_those_of_nanotrons_current_code(two):
    """Without any argument beyond Nanotron's own."""
    for weights in None, [3, 1]:
        nanoset = Nanoset(dataset_folders=two[0], sequence_length=16, token_size=2,
                          train_split_num_samples=300, dataset_weights=weights, random_seed=7)
        assert nanoset.dataset_lengths == [58 + 7, 37]
        same(got(nanoset, range(300)), build(two[1], 16, weights, 300, 7, datatrove=True))


# ---- positions


def place(sample, ends, first):
    """Positions token by token; `ends` are the ends of documents in the file."""
    places, count = [], 0
    for k in range(len(sample)):
        count = 0 if k == 0 or first + k in ends else count + 1
        places.append(count)
    return places


@pytest.mark.parametrize('datatrove', [True, False])
@pytest.mark.parametrize('eos', [None, 3])
def test_positions_in_documents(tmp_path, eos, datatrove):
    """Each token of a file names its place, apart from the ends of documents."""
    rng = np.random.default_rng(6)
    step = 17 if datatrove else 16
    tokens = np.arange(1000) + 10
    ends = np.sort(rng.choice(np.arange(1, 1000), 150, replace=False)).tolist() + [1000]
    tokens[np.array(ends) - 1] = 3
    folder = write_folder(tmp_path / 'a', [tokens])
    if eos is None:
        np.array(sorted([*ends, ends[5]]), '<u8').tofile(folder + '/00000_tokens.ds.index')
    nanoset = Nanoset([folder], 16, 2, 100, datatrove=datatrove, eos_token_id=eos,
                      return_positions=True if eos is None else None)
    for again in nanoset, pickle.loads(pickle.dumps(nanoset)):
        for k, sample in enumerate(again):
            first = int(nanoset.dataset_sample_index[k]) * step
            assert list(sample) == ['input_ids', 'positions']
            assert np.array_equal(sample['input_ids'], tokens[first:first + 17])
            assert np.asarray(sample['positions']).tolist() == place(range(17), ends, first)
            assert np.asarray(sample['positions']).dtype == np.int64
    with pytest.raises(ValueError, match='return_positions=False'):
        lx.Loader(nanoset)
    plain = Nanoset([folder], 16, 2, 100, datatrove=datatrove, eos_token_id=eos,
                    return_positions=False)
    assert list(plain[0]) == ['input_ids'] and lx.Loader(plain).tell() == 0
    if torch is not None:
        collate = DataCollatorForCLMWithPositionIds(16, 0, 0, current_pp_rank=0)
        batch = next(iter(data.DataLoader(nanoset, 100, collate_fn=collate)))
        whole = np.stack([np.asarray(sample['positions']) for sample in nanoset])
        assert np.array_equal(batch['position_ids'], whole[:, :-1])
        assert np.array_equal(batch['label_mask'], whole[:, 1:] != 0)


def test_warns_that_nanotron_would_read_positions(two, caplog):
    """A choice ends the warning; without all indexes, Nanotron would fail."""
    files = [*sorted((pathlib.Path(two[0][0])).iterdir()), *pathlib.Path(two[0][1]).iterdir()]
    for file in files:
        Nanoset(two[0], 16, 2, 300)
        assert not caplog.records
        np.array([file.stat().st_size // 2], '<u8').tofile(f'{file}.index')
    for more in {'return_positions': False}, {'return_positions': True}, {'eos_token_id': 1}:
        Nanoset(two[0], 16, 2, 300, **more)
        assert not caplog.records
    nanoset = Nanoset(two[0], 16, 2, 300)
    record, = caplog.records
    assert record.levelname == 'WARNING' and 'return_positions=True' in record.getMessage()
    assert list(nanoset[0]) == ['input_ids']


def test_positions_need_an_index_or_a_token(two):
    with pytest.raises(FileNotFoundError, match='eos_token_id') as caught:
        Nanoset(two[0], 16, 2, 300, return_positions=True)
    assert caught.value.filename.endswith('.ds.index')
    with pytest.raises(TypeError, match='return_positions'):
        Nanoset(two[0], 16, 2, 300, return_positions=1)
    with pytest.raises(ValueError, match='eos_token_id'):
        Nanoset(two[0], 16, 2, 300, eos_token_id=-1)


# ---- the arguments of Nanotron's first version


@pytest.mark.parametrize('more, width', [({}, 2), ({'token_dtype': np.uint16}, 2),
                                         ({'token_dtype': np.int32}, 4), ({'token_size': 4}, 4)])
def test_paths_have_the_samples_of_the_first_version(tmp_path, caplog, more, width):
    """The files that its preprocess_data.py made hold raw tokens, and are named .npy."""
    contents = random_files(np.random.default_rng(8), 1000, 161, 640)
    paths = [str(tmp_path / name) for name in ('a_input_ids.npy', 'b.bin', 'c.ds')]
    for path, tokens in zip(paths, contents):
        tokens.astype(f'<u{width}').tofile(path)
    sets = [[tokens] for tokens in contents]
    for weights in None, [5, 1, 2]:
        with caplog.at_level(logging.INFO, 'loaderx.nanoset'):
            nanoset = Nanoset(dataset_paths=paths, dataset_weights=weights, sequence_length=16,
                              train_split_num_samples=300, random_seed=5, **more)
        assert nanoset.dataset_lengths == [62, 10, 39]
        assert (nanoset.dataset_paths, nanoset.dataset_folders) == (paths, [])
        assert nanoset.token_size == width
        expected = build(sets, 16, weights, 300, 5)
        for again in nanoset, pickle.loads(pickle.dumps(nanoset)):
            same(got(again, range(300)), expected)
        with lx.Loader(nanoset, batch_size=300) as loader:
            same(next(loader)['tokens'], expected)
    assert 'from the a_input_ids.npy dataset' in caplog.records[2].getMessage()
    assert repr(nanoset) == 'Nanoset(300 samples of 16 + 1 tokens, paths: 3)'


def test_single_files_beside_folders(two, tmp_path):
    file = two[0][1] + '/00000_tokens.ds'
    for name, datatrove in ('dataset_folders', True), ('dataset_paths', False):
        nanoset = Nanoset(**{name: [two[0][0], file]}, sequence_length=16, token_size=2,
                          train_split_num_samples=300)
        same(got(nanoset, range(300)), build(two[1], 16, None, 300, datatrove=datatrove))
        other = Nanoset(**{name: [two[0][0], file]}, sequence_length=16, token_size=2,
                        train_split_num_samples=300, datatrove=not datatrove)
        same(got(other, range(300)), build(two[1], 16, None, 300, datatrove=not datatrove))
    with pytest.raises(FileNotFoundError) as caught:
        Nanoset(dataset_paths=[str(tmp_path / 'none.npy')], sequence_length=16,
                train_split_num_samples=9)
    assert 'none.npy' in str(caught.value)


@pytest.mark.parametrize('changed, error, word', [
    ({'dataset_folders': ['x']}, TypeError, 'either dataset_folders or'),
    ({'dataset_paths': None}, TypeError, 'either dataset_folders or'),
    ({'dataset_paths': []}, ValueError, 'dataset_paths must have at least one path'),
    ({'token_size': 2, 'token_dtype': np.uint16}, ValueError, 'token_dtype must only'),
    ({'token_dtype': np.int64}, ValueError, 'token_dtype must be uint16'),
    ({'sequence_length': None}, TypeError, 'sequence_length'),
    ({'train_split_num_samples': None}, TypeError, 'train_split_num_samples'),
    ({'sequence_length': 2000}, ValueError, r'dataset_paths\[0\] has no samples'),
])
def test_rejects_invalid_arguments_of_the_first_version(two, changed, error, word):
    arguments = {'dataset_paths': [two[0][1] + '/00000_tokens.ds'], 'sequence_length': 16,
                 'train_split_num_samples': 9}
    with pytest.raises(error, match=word):
        Nanoset(**{**arguments, **changed})


def test_folders_need_a_token_size(two):
    with pytest.raises(TypeError, match='token_size'):
        Nanoset(two[0], 16, train_split_num_samples=9)
    with pytest.raises(ValueError, match='token_dtype must only'):
        Nanoset(two[0], 16, train_split_num_samples=9, token_dtype=np.uint16)
