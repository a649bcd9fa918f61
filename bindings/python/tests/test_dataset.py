# SPDX-License-Identifier: MIT
"""Datasets: opening, records, columns, refreshing, and damage."""

import gc
import json
import operator
import os
import pickle
import threading

import numpy as np
import pytest

import loaderx as lx
from damage import corrupt
from processes import run_script

N = 500
RNG = np.random.default_rng(7)
IMAGES = RNG.integers(0, 256, (N, 6, 5), np.uint8)
LABELS = RNG.integers(-100, 100, N)
TEXTS = [None if i % 7 == 0 else b'' if i % 5 == 0 else bytes([i % 256]) * (i % 40)
         for i in range(N)]


def make(path, sealed=False):
    writer = lx.create(path, {'data': lx.Field('uint8', (6, 5)), 'label': lx.Field('int64'),
                              'text': lx.Field(bytes, compress='flate')})
    writer.extend(data=IMAGES, label=LABELS, text=TEXTS)
    if sealed:
        writer.seal()
    writer.close()
    return path


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    return make(tmp_path_factory.mktemp('dataset') / 'd')


@pytest.fixture
def dataset(path):
    with lx.open(path) as opened:
        yield opened


# ---- records and columns


def test_a_record_is_a_dict(dataset):
    record = dataset[5]
    assert list(record) == ['data', 'label', 'text']
    assert np.array_equal(record['data'], IMAGES[5]) and record['data'].shape == (6, 5)
    assert record['label'] == LABELS[5] and isinstance(record['label'], np.int64)
    assert record['text'] == TEXTS[5]
    assert dataset[0]['text'] is None
    assert dataset[-1]['label'] == LABELS[-1]
    assert dataset[np.int32(3)]['label'] == LABELS[3]


def test_iterating_gives_all_records(dataset):
    records = list(dataset)
    assert len(records) == len(dataset) == N
    assert [record['label'] for record in records] == LABELS.tolist()
    assert [record['text'] for record in records] == TEXTS


MASK = LABELS > 0


@pytest.mark.parametrize('key', [
    [3, 1, 2], [-1, 0, -N], [4, 4, 4], [], range(10, 0, -2), slice(10, 20), slice(None, None, -3),
    slice(400, 10**9), slice(5, 5), np.array([3, 1, 2]), np.array([], np.int64), list(MASK),
    np.array([-1, 2], np.int8), np.array([1, 2], np.uint64), np.array([5, 499], '>i4'),
    np.array([5, 499], '>u2'), np.arange(N)[::-7], MASK, MASK.tolist(), np.repeat(MASK, 2)[::2],
    np.zeros(N, bool), memoryview(np.array([1, 2])), [np.int64(3), np.uint8(4)],
], ids=repr)
def test_keys_of_a_column_are_those_of_an_array(dataset, key):
    like = key
    if isinstance(key, (memoryview, list, range)):
        like = np.asarray(key) if len(key) else np.array([], int)
    for name, values in (('data', IMAGES), ('label', LABELS)):
        got = dataset[name][key]
        assert got.dtype == values.dtype and np.array_equal(got, values[like])
    numbers = np.arange(N)[like]
    assert dataset['text'][key] == [TEXTS[i] for i in numbers]
    gathered = dataset.gather(key)
    assert np.array_equal(gathered['data'], IMAGES[like])
    assert gathered['text'] == [TEXTS[i] for i in numbers]


@pytest.mark.parametrize('key, error', [
    (N, IndexError), (-N - 1, IndexError), (2 ** 70, IndexError), ([0, N], IndexError),
    (np.array([0, -N - 1]), IndexError), (np.array([2 ** 63], np.uint64), IndexError),
    (np.array([2 ** 64 - 1], np.uint64), IndexError), ([-2 ** 63 - 1], IndexError),
    (np.array([True]), IndexError), ([True, False], IndexError), (True, TypeError),
    (np.bool_(True), TypeError), ([1, np.bool_(True)], TypeError), ([np.bool_(True)], IndexError),
    ([True, 1], TypeError), ([1, True], TypeError), (1.0, TypeError), ([1.0], TypeError),
    (np.array([1.0]), TypeError), ('1', TypeError), (b'1', TypeError), (None, TypeError),
    (np.array([[1]]), ValueError), (np.array(1), ValueError), ([[1]], TypeError),
    (([1], 1.0), IndexError), (np.array(['a']), TypeError), (object(), TypeError),
], ids=repr)
def test_rejects_invalid_keys(dataset, key, error):
    for name in ('data', 'text'):
        with pytest.raises(error):
            dataset[name][key]
    if not isinstance(key, (int, float)) or error is TypeError:
        with pytest.raises(TypeError if isinstance(key, tuple) else error):
            dataset.gather(key)


@pytest.mark.parametrize('key', [
    (), (7,), (slice(3, 9),), ([3, 1],), (0, 5), (-1, -1), (0, 5, 2), (0, slice(1, 3)), (0, ..., 2),
    (slice(3, 9), 0), (slice(None, None, -100), slice(None), [4, 0]), ([3, 1, 3], 2),
    ([3, 1, 3], [0, 5, 2]), ([3, 1], slice(None), [4, 0]), (0, slice(None), [4, 0]), (0, [1, 2]),
    (MASK, 1), (MASK.tolist(), ..., 0), (0, None), (0, IMAGES[0, :, 0] > 9), (slice(0, 0), 1),
], ids=repr)
def test_a_tuple_indexes_the_axes_like_numpy(dataset, key):
    got = dataset['data'][key]
    assert got.shape == IMAGES[key].shape and got.dtype == np.uint8
    assert np.array_equal(got, IMAGES[key])


def test_a_tuple_reads_only_the_records_of_its_first_index(dataset):
    with pytest.raises(IndexError, match='500 records'):
        dataset['data'][N, 0]
    with pytest.raises(IndexError, match='axis 1 with size 6'):
        dataset['data'][0, 6]
    with pytest.raises(IndexError):
        dataset['label'][0, 5]
    with pytest.raises(IndexError, match="'text' has one axis"):
        dataset['text'][0, 5]
    for key in ((..., 0), (None, 0)):
        with pytest.raises(IndexError, match='first index'):
            dataset['data'][key]
    assert dataset['text'][5,] == TEXTS[5] and dataset['text'][()] == TEXTS


def test_a_tuple_for_a_missing_record_gives_none(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64', 3)}) as writer:
        writer.extend(x=[None, [4, 5, 6]])
    column = lx.open(tmp_path / 'd')['x']
    assert column[0, 1] is None and column[1, 1] == 5
    assert column.filled('zeros')[:, 1].tolist() == [0, 5]


def test_in_tests_the_names_of_fields_without_reading(path, monkeypatch):
    class Unread(lx.Dataset):
        def __getitem__(self, key):
            raise AssertionError('a record was read')

        __iter__ = __getitem__
    with Unread(path) as dataset:
        assert 'label' in dataset and 'labels' not in dataset and np.str_('data') in dataset
        for key in (5, b'label', None, {'label': 5}, [0]):
            with pytest.raises(TypeError, match='names of the fields'):
                key in dataset


COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize('compare', COMPARISONS)
def test_comparing_a_column_is_an_error(dataset, compare):
    with pytest.raises(TypeError, match=r"ds\['label'\]\[:\] == value"):
        compare(dataset['label'], 7)
    with pytest.raises(TypeError, match='Column cannot be compared'):
        compare(dataset['label'], dataset['label'])
    with pytest.raises(TypeError, match=r"value in ds\['label'\]\[:\]"):
        LABELS[0] in dataset['label']
    assert len({dataset['label'], dataset['data']}) == 2    # still hashed by identity


def test_describes_a_column(dataset):
    column = dataset['data']
    assert column.shape == (N, 6, 5) and column.dtype == np.uint8 and column.ndim == 3
    assert len(column) == N and column.name == 'data' and column.field == lx.Field('u1', (6, 5))
    assert np.array_equal(np.asarray(column), IMAGES)
    assert np.asarray(dataset['label'], np.float32).dtype == np.float32
    assert np.array_equal(np.stack(list(column)), IMAGES)
    assert "'data'" in repr(column)
    texts = dataset['text']
    assert texts.dtype == object and texts.shape == (N,)
    assert np.asarray(texts).tolist() == TEXTS and list(texts) == TEXTS
    assert texts.present().tolist() == [text is not None for text in TEXTS]


def test_a_column_is_a_copy(dataset):
    with pytest.raises(ValueError, match='copy'):
        dataset['data'].__array__(copy=False)
    array = np.asarray(dataset['data'])
    array[:] = 0
    assert np.array_equal(dataset['data'][:], IMAGES)


def test_rejects_unknown_fields(dataset):
    for function in (lambda: dataset['nix'], lambda: dataset.gather([0], fields=['nix']),
                     lambda: dataset.views([0], fields=['nix'])):
        with pytest.raises(KeyError, match='nix'):
            function()
    for key in (1.5, None, (1, 2), b'data'):
        with pytest.raises(TypeError, match='key of a dataset must be an int, a slice'):
            dataset[key]


@pytest.mark.parametrize('key', [slice(0, 2), slice(None, None, -90), slice(5, 5), [0, 1], [], MASK,
                                 range(4), np.array([-1, 3])], ids=repr)
def test_several_records_are_a_dict_of_arrays(dataset, key):
    got, expected = dataset[key], dataset.gather(key)
    assert list(got) == ['data', 'label', 'text']
    assert np.array_equal(got['data'], expected['data'])
    assert got['label'].tolist() == expected['label'].tolist() and got['text'] == expected['text']


def test_a_dataset_is_a_mapping_of_columns(dataset):
    assert list(dataset.keys()) == list(dict(dataset)) == ['data', 'label', 'text']
    assert all(isinstance(column, lx.Column) for column in {**dataset}.values())
    assert np.array_equal(dict(dataset)['label'][:], LABELS)
    assert dataset._ipython_key_completions_() == ['data', 'label', 'text']


def test_reports_its_properties(dataset, path):
    assert dataset.path == str(path) and not dataset.closed
    assert dataset.fields['data'] == lx.Field('uint8', (6, 5))
    assert len(dataset.uuid) == 36 and dataset.identity['uuid'] == dataset.uuid
    assert dataset.identity['sealed'] is False
    assert f'{N} records' in repr(dataset)
    with pytest.raises(TypeError):
        dataset.fields['more'] = 3


def test_stat(dataset):
    stat = dataset.stat()
    assert stat['length'] == N and stat['uuid'] == dataset.uuid and stat['sealed'] is False
    data, label, text = stat['fields']
    assert data['shape'] == (6, 5) and data['bytes'] == N * 30 and data['present'] == N
    assert label['inline'] == N and label['inline_bytes'] == label['bytes']
    assert stat['inline_bytes'] == label['bytes'] + text['inline_bytes'] < stat['bytes']
    assert stat['inline'] == N + text['inline']
    assert label['stored_bytes'] == 0 and label['ratio'] is None
    assert text['missing'] == TEXTS.count(None) and text['dtype'] == 'bytes'
    assert sum(chunk['payloads'] for chunk in stat['chunks']) == stat['payloads']
    json.dumps(stat)


def test_verify(dataset):
    seen = []
    result = dataset.verify(progress=lambda done, total: seen.append((done, total)))
    assert result['records'] == N and result['values'] == 3 * N
    assert seen and all(done <= total for done, total in seen)
    for name in ('progress', 'damaged'):
        with pytest.raises(TypeError, match=name):
            dataset.verify(**{name: 3})


def test_verify_raises_exceptions_of_progress(dataset):
    def stop(done, total):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        dataset.verify(progress=stop)
    assert dataset.verify()['records'] == N


# ---- states


def test_shows_one_snapshot_until_a_refresh(tmp_path):
    path = make(tmp_path / 'd')
    dataset = lx.open(path)
    before = dataset.identity
    with lx.open(path, mode='a') as writer:
        writer.append(data=IMAGES[0], label=1, text=b'new')
    assert len(dataset) == N
    with pytest.raises(IndexError):
        dataset[N]
    assert dataset.refresh() is True
    assert len(dataset) == N + 1 and dataset['text'][-1] == b'new'
    assert dataset.refresh() is False
    assert dataset.identity != before and dataset.identity['uuid'] == before['uuid']


def test_an_empty_dataset(tmp_path):
    lx.create(tmp_path / 'd', {'x': lx.Field('f4', (2, 3)), 'b': lx.Field(bytes)}).close()
    with lx.open(tmp_path / 'd') as dataset:
        assert len(dataset) == 0 and list(dataset) == []
        assert dataset['x'][:].shape == (0, 2, 3) and np.asarray(dataset['x']).shape == (0, 2, 3)
        assert dataset['b'][[]] == [] and dataset.gather([])['x'].dtype == np.float32
        assert dataset.views([]) == {'x': [], 'b': []}
        assert dataset.verify()['records'] == 0 and dataset.stat()['chunks'] == []
        with pytest.raises(IndexError):
            dataset[0]
        with pytest.raises(IndexError):
            dataset[-1]


def test_records_of_no_bytes(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('f4', (0, 3))}) as writer:
        writer.extend(x=np.zeros((4, 0, 3), np.float32))
    with lx.open(tmp_path / 'd') as dataset:
        assert dataset['x'][:].shape == (4, 0, 3) and dataset[0]['x'].shape == (0, 3)
        with dataset.views([0]) as views:
            assert views['x'][0].shape == (0, 3)


def test_reports_use_after_close(path):
    dataset = lx.open(path)
    dataset.close()
    dataset.close()
    assert dataset.closed and 'closed' in repr(dataset)
    for function in (lambda: dataset[0], lambda: dataset['data'][0], lambda: len(dataset),
                     lambda: dataset.gather([0]), lambda: dataset.views([0]), dataset.stat,
                     dataset.verify, dataset.refresh, lambda: dataset.identity,
                     lambda: dataset['text'].present(), lambda: list(dataset)):
        with pytest.raises(lx.LoaderxError, match='closed'):
            function()
    assert dataset.path == str(path) and list(dataset.fields) == ['data', 'label', 'text']


def test_sealed_and_verified_in_every_way(tmp_path):
    path = make(tmp_path / 'd', sealed=True)
    for verify in ('first', 'always', 'never'):
        with lx.open(path, verify=verify, durable=True) as dataset:
            assert np.array_equal(dataset['data'][:], IMAGES)


# ---- bad input


def test_rejects_other_than_datasets(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        lx.open(tmp_path / 'nowhere')
    assert 'nowhere' in str(caught.value)
    with pytest.raises(FileNotFoundError):
        lx.open(tmp_path)
    (tmp_path / 'file').write_text('no dataset')
    with pytest.raises(OSError):
        lx.open(tmp_path / 'file')
    with pytest.raises(FileNotFoundError):
        lx.open(tmp_path, mode='a')


@pytest.mark.parametrize('text', ['', '{', '[]', '{"format": 99}', '\0' * 100])
def test_a_hostile_meta_json(tmp_path, text):
    path = make(tmp_path / 'd')
    (path / 'meta.json').write_text(text)
    for mode in 'ra':
        with pytest.raises(lx.LoaderxError) as caught:
            lx.open(path, mode=mode)
        assert 'meta.json' in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason='root may read everything')
def test_reports_missing_permissions(tmp_path):
    path = make(tmp_path / 'd')
    (path / 'meta.json').chmod(0)
    with pytest.raises(PermissionError):
        lx.open(path)


@pytest.mark.parametrize('arguments, options, error, named', [
    ((), {'mode': 'w'}, ValueError, 'mode'),
    ((), {'mode': 3}, TypeError, 'mode'),
    ((), {'verify': 'often'}, ValueError, 'verify'),
    ((), {'verify': True}, TypeError, 'verify'),
    ((), {'durable': 1}, TypeError, 'durable'),
    ((), {'durability': 'full'}, ValueError, 'durability'),
    ((), {'executor': 3}, TypeError, 'executor'),
    (('a',), {'executor': 3}, TypeError, 'executor'),
    (('a',), {'verify': 'first'}, ValueError, 'verify'),
    (('a',), {'durable': False}, ValueError, 'durable'),
    ((), {'speed': 1}, TypeError, 'speed'),
])
def test_open_rejects_invalid_arguments_by_name(path, arguments, options, error, named):
    with pytest.raises(error, match=named):
        lx.open(path, *arguments, **options)


def test_reports_a_damaged_record_with_all_details(tmp_path):
    path = make(tmp_path / 'd')
    name, place = corrupt(path, IMAGES[17].tobytes())
    with lx.open(path) as dataset:
        for function in (lambda: dataset[17], lambda: dataset['data'][17],
                         lambda: dataset.gather([3, 17]), lambda: dataset['data'][:],
                         lambda: dataset.views([17], fields=['data']), dataset.verify):
            with pytest.raises(lx.CorruptError) as caught:
                function()
            error = caught.value
            assert (error.field, error.record, error.offset) == ('data', 17, place)
            assert os.path.samefile(error.path, name) and error.status == 'LX_ERR_CORRUPT'
            assert 'data' in str(error) and '17' in str(error)
        assert np.array_equal(dataset['data'][[16, 18]], IMAGES[[16, 18]])
        assert dataset[16]['label'] == LABELS[16]


def test_verify_reports_each_damage(tmp_path):
    path = make(tmp_path / 'd')
    for index in (17, 300):
        corrupt(path, IMAGES[index].tobytes())
    found, seen = [], []
    with lx.open(path) as dataset:
        with pytest.raises(lx.CorruptError) as caught:
            dataset.verify(found.append, lambda done, total: seen.append(done))
    assert [error.record for error in found] == [17, 300] and caught.value.record == 17
    assert max(seen, default=0) >= 300


def test_errors_can_be_pickled(tmp_path):
    path = make(tmp_path / 'd')
    corrupt(path, IMAGES[17].tobytes())
    with lx.open(path) as dataset, pytest.raises(lx.CorruptError) as caught:
        dataset[17]
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.record == 17 and str(again) == str(caught.value)
    assert isinstance(again, lx.LoaderxError)


def test_half_built_datasets_are_silent(tmp_path, recwarn):
    for arguments in [(), (3.5,), (tmp_path / 'no',), (tmp_path, 'first')]:
        with pytest.raises((TypeError, OSError)):
            lx.Dataset(*arguments)
    gc.collect()
    assert not recwarn.list


# ---- threads and processes


def test_threads_read_while_one_refreshes_and_one_closes(tmp_path):
    path = make(tmp_path / 'd')
    dataset = lx.open(path)
    failures, rounds, stop = [], [0], threading.Event()

    def read(seed):
        rng = np.random.default_rng(seed)
        out = {'data': np.empty((64, 6, 5), np.uint8)}
        while not stop.is_set():
            indices = rng.integers(0, N, 64)
            try:
                got = dataset.gather(indices, fields=['data', 'label', 'text'], out=out)
                views = dataset.views(indices[:4], fields=['data'])
                if not (np.array_equal(got['data'], IMAGES[indices])
                        and got['text'] == [TEXTS[i] for i in indices]
                        and np.array_equal(views['data'][0], IMAGES[indices[0]])):
                    failures.append(indices)
                rounds[0] += 1
            except lx.LoaderxError as error:
                if 'closed' not in str(error):
                    failures.append(error)
                return

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    with lx.open(path, mode='a') as writer:
        writer.append(data=IMAGES[0], label=0, text=None)
    while rounds[0] < 100 and not failures:
        dataset.refresh()
    dataset.close()
    for thread in threads:
        thread.join(60)
    stop.set()
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_a_child_of_fork_continues_reading(path):
    run_script(f"""
    dataset = lx.open({str(path)!r})
    whole = dataset['data'][:]
    child = os.fork()
    if child == 0:
        ok = np.array_equal(dataset['data'][:], whole)
        dataset.close()
        os._exit(not ok)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(dataset['data'][:], whole)
    """)


def test_ctrl_c_interrupts_verify_and_long_reads(tmp_path):
    out = run_script(f"""
    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    path = {str(tmp_path / 'd')!r}
    with lx.create(path, {{'x': lx.Field('uint8', 1 << 20)}}) as writer:
        writer.append(x=np.ones(1 << 20, np.uint8))
        writer.extend(x=np.zeros((3, 1 << 20), np.uint8))
    dataset = lx.open(path)
    try:
        dataset.verify(progress=lambda done, total: interrupt())
    except KeyboardInterrupt:
        print('verify')
    out = {{'x': np.empty((128, 1 << 20), np.uint8)}}     # two pieces
    threading.Timer(0.05, interrupt).start()
    try:
        while True:
            dataset.gather(np.zeros(128, int), out=out)
    except KeyboardInterrupt:
        print('gather')
    """)
    assert out.split() == ['verify', 'gather']


def test_a_loader_keeps_its_state(tmp_path):
    path = make(tmp_path / 'd')
    dataset = lx.open(path)
    loader = lx.Loader(dataset, fields=['label'], batch_size=100)
    with lx.open(path, mode='r+') as writer:
        writer.append(data=IMAGES[0], label=1, text=b'new')
        writer[:] = {'label': 0}
    assert dataset.refresh() and len(dataset) == N + 1 and not dataset['label'][:].any()
    dataset.close()
    assert np.concatenate([batch['label'] for batch in loader]).tolist() == LABELS.tolist()
    with pytest.raises(lx.LoaderxError, match='closed'):
        dataset[0]


def test_a_dataset_shows_its_first_records(tmp_path):
    path = make(tmp_path / 'd')
    dataset = lx.Dataset(path, length=10)
    assert len(dataset) == 10
    assert dataset['label'][:].tolist() == LABELS[:10].tolist()
    assert dataset[-1]['label'] == LABELS[9]
    assert [record['text'] for record in dataset] == TEXTS[:10]
    for read in (lambda: dataset[10], lambda: dataset.gather([10]),
                 lambda: dataset['text'][[10]], lambda: dataset.views([10]),
                 lambda: dataset.export('label', tmp_path / 'l.npy', indices=[10])):
        with pytest.raises(IndexError):
            read()
    assert dataset.export('label', tmp_path / 'l.npy')['records'] == 10
    assert len(pickle.loads(pickle.dumps(dataset))) == 10
    assert len(lx.Dataset(path, length=0)) == 0
    assert len(lx.open(path, length=N)) == len(lx.Dataset(path, length=None)) == N


def test_a_dataset_shows_no_more_records_later(tmp_path):
    path = make(tmp_path / 'd')
    dataset, live = lx.Dataset(path, length=10), lx.Dataset(path, live=True, length=N)
    with lx.open(path, 'r+') as writer:
        writer.append(data=None, label=1, text=None)
    assert dataset.refresh() and len(dataset) == len(dataset.pin()) == 10
    assert len(live) == N
    with lx.open(path, 'r+') as writer:
        del writer[5:]
    assert dataset.refresh() and len(dataset) == len(live) == 5


def test_the_length_to_show_is_checked(tmp_path):
    path = make(tmp_path / 'd')
    with pytest.raises(ValueError, match=f'd: length is {N + 1}, but the dataset has only {N} '):
        lx.Dataset(path, length=N + 1)
    with pytest.raises(TypeError, match='length'):
        lx.Dataset(path, length='10')
    with pytest.raises(ValueError, match='length'):
        lx.Dataset(path, length=-1)
    with pytest.raises(ValueError, match='shows only its first 10 records'):
        lx.Dataset(path, length=10).wait(11)
    assert lx.Dataset(path, length=10).wait(10) == 10
    with pytest.raises(ValueError, match="length requires mode 'r'"):
        lx.open(path, 'a', length=3)
