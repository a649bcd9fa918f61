# SPDX-License-Identifier: MIT
"""The quick start of the original loaderx, and its defects that this package does not have."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import loaderx as lx
from loaderx import ARDataset, DataLoader, NPDataset, converter
from loaderx.compat import identity
from processes import run_on_terminal, run_script

N = 1000


@pytest.fixture(scope='module')
def images():
    return (np.arange(N * 28 * 28) % 251).astype(np.uint8).reshape(N, 28, 28)


@pytest.fixture(scope='module')
def labels():
    return np.arange(N)


def take(loader, count):
    return [batch['label'].tolist() for _, batch in zip(range(count), loader)]


def test_the_quick_start(tmp_path, monkeypatch, images, labels):
    monkeypatch.chdir(tmp_path)
    np.save('train_data.npy', images)
    np.save('train_label.npy', labels)
    converter(np.load('train_data.npy', mmap_mode='r'), 'train_data')
    loader = DataLoader(ARDataset('train_data'), NPDataset('train_label.npy'))
    for i, batch in enumerate(loader):
        if i >= 256:
            break
    assert batch['data'].shape == (256, 28, 28) and batch['label'].shape == (256,)
    assert np.array_equal(batch['data'], images[batch['label']])


# ---- converter and ARDataset


def test_ardataset_reads_output_of_converter(tmp_path, images):
    converter(images, tmp_path / 'd')
    with ARDataset(tmp_path / 'd') as dataset:
        assert len(dataset) == N and dataset.shape == images.shape
        assert dataset.dtype == np.uint8 and 'uint8' in repr(dataset)
        assert np.array_equal(dataset[7], images[7]) and np.array_equal(dataset[-1], images[-1])
        assert np.array_equal(dataset[10:20], images[10:20])
        assert np.array_equal(dataset[[3, 1, 2]], images[[3, 1, 2]])
        assert np.array_equal(np.asarray(dataset), images)
        assert np.array_equal(dataset.__getitems__(iter([3, -1])), images[[3, -1]])
        assert dataset.__getitems__([]).shape == (0, 28, 28)
        with pytest.raises(IndexError):
            dataset[N]
    assert lx.open(tmp_path / 'd')['data'].shape == images.shape


@pytest.mark.parametrize('array', [
    np.zeros((0, 3)), np.zeros(0, dtype=np.int8), np.arange(5), np.arange(6).reshape(3, 2)[:, ::-1],
    np.arange(5, dtype='>i4'), np.zeros((3, 0)), np.ones((2, 2), dtype=bool),
    np.arange(12).reshape(3, 4).T, np.zeros((3, 1, 1), dtype=np.complex128),
], ids=lambda a: f'{a.dtype}{a.shape}')
def test_any_array_is_a_dataset(tmp_path, array):
    converter(array, tmp_path / 'd')
    dataset = ARDataset(tmp_path / 'd')
    assert dataset.shape == array.shape
    assert np.array_equal(np.asarray(dataset), array)


def test_writes_a_long_array_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr('loaderx.compat._BLOCK', 1000)
    array = np.random.default_rng(1).integers(0, 255, (777, 13), dtype=np.uint8)
    converter(array, tmp_path / 'd')
    assert np.array_equal(np.asarray(ARDataset(tmp_path / 'd')), array)


def test_replaces_existing_data_only_on_request(tmp_path):
    converter(np.arange(5), tmp_path / 'd')
    with pytest.raises(FileExistsError, match='pass replace=True to replace it'):
        converter(np.arange(3), tmp_path / 'd')
    assert len(ARDataset(tmp_path / 'd')) == 5
    with ARDataset(tmp_path / 'd') as reader:
        with pytest.raises(BlockingIOError, match='read'):
            converter(np.arange(3), tmp_path / 'd', replace=True)
        assert reader[4] == 4
    converter(np.arange(3) * 1.5, tmp_path / 'd', replace=True)
    assert np.asarray(ARDataset(tmp_path / 'd')).tolist() == [0, 1.5, 3]
    assert [entry.name for entry in tmp_path.iterdir()] == ['d']
    for target in 'new', 'empty':
        if target == 'empty':
            (tmp_path / target).mkdir()
        converter(np.arange(2), tmp_path / target, replace=True)
        assert len(ARDataset(tmp_path / target)) == 2


def snapshot(folder):
    return {str(p): p.read_bytes() for p in sorted(folder.rglob('*')) if p.is_file()}


@pytest.mark.parametrize('spoil', [
    lambda d: (d / 'meta.json').unlink(),
    lambda d: (d / 'meta.json').write_text('{}'),
    lambda d: (d / 'meta.json').write_text('no json'),
    lambda d: (d / 'mine.txt').write_text('mine'),
    lambda d: (d / 'folder').mkdir(),
    lambda d: (d / 'chunk' / 'mine').write_text('mine'),
    lambda d: (d / 'link').symlink_to('/etc/passwd'),
], ids=['no meta', 'empty meta', 'wrong meta', 'a file', 'a folder', 'in chunk', 'a link'])
def test_never_removes_other_than_datasets(tmp_path, spoil):
    folder = tmp_path / 'd'
    converter(np.arange(50_000), folder)
    spoil(folder)
    before = snapshot(folder)
    with pytest.raises(FileExistsError, match='nothing (is|was) removed'):
        converter(np.arange(3), folder, replace=True)
    assert snapshot(folder) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ['d']


def test_does_not_remove_a_dataset_with_a_writer(tmp_path):
    writer = lx.create(tmp_path / 'd', {'data': lx.Field('int64')})
    writer.extend(data=np.arange(5))
    writer.commit()
    with pytest.raises(BlockingIOError, match='process'):
        converter(np.arange(3), tmp_path / 'd', replace=True)
    writer.close()
    assert len(ARDataset(tmp_path / 'd')) == 5


def test_keeps_the_old_dataset_after_a_failure(tmp_path, monkeypatch):
    converter(np.arange(5), tmp_path / 'd')

    def fail(*arguments, **options):
        raise OSError(28, 'no space')

    monkeypatch.setattr('loaderx.compat.create', fail)
    with pytest.raises(OSError):
        converter(np.arange(3), tmp_path / 'd', replace=True)
    assert len(ARDataset(tmp_path / 'd')) == 5
    assert [entry.name for entry in tmp_path.iterdir()] == ['d']


def test_keeps_a_link_to_a_directory(tmp_path):
    converter(np.arange(5), tmp_path / 'real')
    (tmp_path / 'link').symlink_to('real')
    converter(np.arange(3), tmp_path / 'link', replace=True)
    assert (tmp_path / 'link').is_symlink() and len(ARDataset(tmp_path / 'real')) == 3


def test_reports_a_file_in_place_of_a_directory(tmp_path):
    (tmp_path / 'file').write_text('mine')
    for replace in False, True:
        with pytest.raises(OSError):
            converter(np.arange(3), tmp_path / 'file', replace=replace)
    assert (tmp_path / 'file').read_text() == 'mine'


@pytest.mark.parametrize('arguments, error, word', [
    ((np.array(3), 'd'), ValueError, 'array'),
    ((np.array(['text']), 'd'), TypeError, 'array'),
    (([object()], 'd'), TypeError, 'array'),
    ((np.arange(3), 5), TypeError, 'int'),
    ((np.arange(3), 'd', 1), TypeError, 'replace'),
])
def test_converter_rejects_invalid_arguments_by_name(tmp_path, monkeypatch, arguments, error, word):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=word):
        converter(*arguments)
    assert not list(tmp_path.iterdir())


def test_ardataset_rejects_other_than_datasets(tmp_path):
    with pytest.raises(FileNotFoundError):
        ARDataset(tmp_path / 'nothing')
    with lx.create(tmp_path / 'd', {'a': lx.Field('int8'), 'b': lx.Field('int8')}):
        pass
    with pytest.raises(ValueError, match='path'):
        ARDataset(tmp_path / 'd')


def test_shows_a_progress_bar_on_a_terminal(tmp_path):
    pytest.importorskip('tqdm')
    script = 'import sys, numpy, loaderx; loaderx.converter(numpy.arange(1000), sys.argv[1])'
    assert '1000/1000' in run_on_terminal(script, tmp_path / 'a').replace('1.00k', '1000')
    without = "import sys; sys.modules['tqdm'] = None\n" + script
    assert run_on_terminal(without, tmp_path / 'b') == ''
    quiet = subprocess.run([sys.executable, '-c', script, str(tmp_path / 'c')],
                           stderr=subprocess.PIPE, timeout=60)
    assert quiet.returncode == 0 and quiet.stderr == b''


# ---- DataLoader


def test_the_defaults_match_the_original():
    import inspect

    parameters = inspect.signature(DataLoader).parameters
    assert list(parameters) == ['dataset', 'labelset', 'num_workers', 'batch_size',
                                'prefetch_size', 'mode', 'seed', 'transform']
    defaults = [p.default for p in parameters.values()][2:]
    assert defaults == [4, 256, 4, 1, 42, identity]


@pytest.mark.parametrize('size', [1, 7, 256, N, 3 * N + 1])
def test_mode_0_wraps_around_with_full_batches(images, labels, size):
    loader = DataLoader(images, labels, batch_size=size, mode=0)
    got = sum(take(loader, 30), [])
    assert got == [k % N for k in range(30 * size)]


@pytest.mark.parametrize('n', [1, 10, N, 70_001])
def test_mode_1_gives_every_record_once_a_round(n):
    labels = np.arange(n)
    loader = DataLoader(labels, labels, batch_size=max(1, n // 7), seed=3)
    count = 3 * n // max(1, n // 7) + 1
    batches = take(loader, count)
    assert {len(batch) for batch in batches} == {max(1, n // 7)}
    got = sum(batches, [])
    assert got[: 3 * n] == lx.Shuffle(n=n, seed=3).take(3 * n).tolist()
    for first in range(0, 3 * n, n):
        assert sorted(got[first : first + n]) == list(range(n))


@pytest.mark.parametrize('mode', [0, 1])
def test_training_continues_by_the_count_of_samples(images, labels, mode):
    whole = DataLoader(images, labels, batch_size=30, mode=mode)
    expected = take(whole, 100)
    assert whole.tell() == 3000
    loader = DataLoader(images, labels, batch_size=30, mode=mode)
    for steps in 0, 1, 40, 99:
        loader.seek(30 * steps)
        assert take(loader, 100 - steps) == expected[steps:]


def test_the_order_does_not_depend_on_the_workers(images, labels):
    expected = take(DataLoader(images, labels, num_workers=0, batch_size=64), 60)
    for workers, ahead in (1, 1), (2, 4), (4, 1), (16, 2), (64, 64):
        loader = DataLoader(images, labels, num_workers=workers, batch_size=64,
                            prefetch_size=ahead, transform=lambda pair: pair)
        assert take(loader, 60) == expected


def test_seeds_differ(images, labels):
    one, two, three = (take(DataLoader(images, labels, seed=seed), 3) for seed in (42, 43, 42))
    assert one == three != two


def test_the_transform_takes_and_returns_a_pair(images, labels):
    def transform(pair):
        data, label = pair
        assert isinstance(pair, tuple) and data.shape == (64, 28, 28)
        return data / 255, label.tolist()

    loader = DataLoader(images, labels, batch_size=64, transform=transform)
    for batch in take_batches(loader, 40):
        assert isinstance(batch, dict) and list(batch) == ['data', 'label']
        assert np.array_equal(batch['data'], images[batch['label']] / 255)


def take_batches(loader, count):
    return [batch for _, batch in zip(range(count), loader)]


@pytest.mark.parametrize('workers', [0, 1, 4])
def test_raises_exceptions_of_the_transform(images, labels, workers):
    def transform(pair):
        raise ZeroDivisionError('mine')

    loader = DataLoader(images, labels, num_workers=workers, transform=transform)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match='mine'):
            next(loader)
    for wrong in None, 5, (1, 2, 3):
        with pytest.raises(TypeError, match='transform'):
            next(DataLoader(images, labels, num_workers=workers, transform=lambda pair: wrong))


@pytest.mark.parametrize('used', [False, True])
def test_close_returns_with_more_workers_than_batches(images, labels, used):
    for _ in range(10):
        loader = DataLoader(images, labels, num_workers=16, prefetch_size=1,
                            transform=lambda pair: pair)
        if used:
            next(loader)
        closer = threading.Thread(target=loader.close)
        closer.start()
        closer.join(50)
        assert not closer.is_alive()
        with pytest.raises(lx.LoaderxError):
            next(loader)


def test_leaves_datasets_open(tmp_path, images, labels):
    converter(images, tmp_path / 'd')
    dataset, labelset = ARDataset(tmp_path / 'd'), NPDataset(labels)
    with DataLoader(dataset, labelset) as loader:
        next(loader)
    del loader
    assert np.array_equal(dataset[5], images[5]) and labelset[5] == 5


def test_arrays_can_be_closed_as_other_datasets(tmp_path, labels):
    np.save(tmp_path / 'labels.npy', labels)
    labelset = NPDataset(tmp_path / 'labels.npy')
    with DataLoader(labels, labelset, mode=0) as loader:
        labelset.close()
        assert next(loader)['label'].tolist() == list(range(256))


def test_del_of_a_half_built_loader_prints_nothing():
    printed = run_script("""
        sys.stderr = sys.stdout
        for arguments in ({}, {'batch_size': 0}, {'mode': 5}):
            try:
                lx.DataLoader(np.arange(3), np.arange(4), **arguments)
            except ValueError:
                pass
        try:
            lx.DataLoader(None)
        except TypeError:
            pass
        lx.DataLoader.__new__
        gc.collect()
    """)
    assert printed == ''


def test_iterates_forever_without_a_length(images, labels):
    loader = DataLoader(images, labels)
    with pytest.raises(TypeError):
        len(loader)
    assert 'DataLoader' in repr(loader)
    for _, batch in zip(range(20), loader):
        assert len(batch['label']) == 256


@pytest.mark.parametrize('size', [10, 64])
def test_each_loop_begins_with_an_epoch(images, labels, size):
    sequential = DataLoader(images, labels, batch_size=size, mode=0)
    first = take(sequential, 4)
    next(iter(sequential))
    assert take(sequential, 4) == first == [
        list(range(size * k, size * k + size)) for k in range(4)]
    assert take(sequential, 1 + N // size)[-1][-1] == (N // size * size + size - 1) % N

    shuffled = DataLoader(images, labels, batch_size=size)
    one, rest = shuffled.__iter__(), take(shuffled, 2)
    assert next(one)['label'].tolist() == rest[0]    # neither loop had begun
    order = lx.Shuffle(n=N, seed=42)
    for count, epoch in (3, 1), (N // size + 1, 2), (1, 4):
        order.seek(epoch * N)
        assert sum(take(shuffled, count), []) == order.take(count * size).tolist()
    begun = iter(shuffled)
    assert next(begun) is not None
    expected = shuffled.peek()['label'].tolist()
    assert next(shuffled)['label'].tolist() == expected != next(begun)['label'].tolist()


@pytest.mark.parametrize('arguments, error, word', [
    ({'num_workers': -1}, ValueError, 'num_workers'),
    ({'num_workers': 65}, ValueError, 'num_workers'),
    ({'num_workers': 1.5}, TypeError, 'num_workers'),
    ({'batch_size': 0}, ValueError, 'batch_size'),
    ({'prefetch_size': 0}, ValueError, 'prefetch_size'),
    ({'mode': 2}, ValueError, 'mode'),
    ({'mode': 'random'}, TypeError, 'mode'),
    ({'seed': -1}, ValueError, 'seed'),
    ({'transform': None}, TypeError, 'transform'),
    ({'dataset': None}, TypeError, 'dataset'),
    ({'labelset': 5}, TypeError, 'labelset'),
    ({'labelset': np.arange(3)}, ValueError, 'labelset'),
    ({'dataset': np.zeros((0, 3)), 'labelset': np.zeros(0)}, ValueError, 'dataset'),
])
def test_dataloader_rejects_invalid_arguments_by_name(images, labels, arguments, error, word):
    with pytest.raises(error, match=word):
        DataLoader(**{'dataset': images, 'labelset': labels, **arguments})
