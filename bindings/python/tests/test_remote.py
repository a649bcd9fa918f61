# SPDX-License-Identifier: MIT
"""Datasets that are elsewhere: the same records as here, the cache, statistics and errors."""

import copy
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st

import loaderx as lx
from loaderx._loader_stats import LoaderStats
from processes import run_script

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')

N = 3000
WIDTH = 256


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    """Return the path of a sealed dataset: rows of numbers, texts of any length, and labels."""
    folder = tmp_path_factory.mktemp('elsewhere') / 'train'
    numbers = np.random.default_rng(1)
    fields = {'x': lx.Field('int32', (WIDTH,)), 'text': lx.Field(bytes, compress='flate'),
              'label': lx.Field('int64')}
    with lx.create(folder, fields, chunk_records=1000) as writer:
        writer.extend(x=numbers.integers(0, 2**31, (N, WIDTH), dtype=np.int32),
                      text=[None if i % 50 == 0 else b'%d ' % i * (i % 90) for i in range(N)],
                      label=np.arange(N))
    with lx.open(folder, 'a') as writer:
        writer.seal()
    return str(folder)


@pytest.fixture(scope='module')
def url(path):
    return f'file://{path}'


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)


def same(a, b):
    return list(a) == list(b) and all(
        np.array_equal(a[name], b[name]) if isinstance(a[name], np.ndarray) else a[name] == b[name]
        for name in a)


# ---- records, orders and states


def test_opens_urls_and_paths(path, url, tmp_path):
    for ds in (lx.open(url), lx.Dataset(url.encode()), lx.open(path, cache=tmp_path / 'cache'),
               lx.open(path, memory='16MiB'), lx.open(url, patience=0.5, connections=2)):
        assert len(ds) == N and ds.remote_stats()['requests'] > 0
        assert ds.access == 'pread' and ds.identity['sealed']
        assert same(ds[N - 1], lx.open(path)[N - 1])
        ds.close()
        with pytest.raises(lx.LoaderxError, match='closed'):
            ds.remote_stats()
    assert repr(lx.open(url)).startswith(f'<loaderx.Dataset {url!r}: {N} records of ')
    assert lx.open(path).remote_stats() is None


@pytest.fixture(scope='module')
def pair(path, url, tmp_path_factory):
    cache = tmp_path_factory.mktemp('pair') / 'cache'
    return lx.open(path), lx.open(url, cache=cache), lx.open(url, memory='16MiB')


@settings(max_examples=60, deadline=None)
@given(indices=st.lists(st.integers(-N, N - 1), max_size=300),
       fields=st.sampled_from([None, ['x'], ['text', 'label'], ['label', 'x']]))
def test_reads_the_same_records(pair, indices, fields):
    here, *others = pair
    expected = here.gather(indices, fields)
    for one in others:
        assert same(one.gather(indices, fields), expected)


def test_answers_the_same_questions(pair):
    here, there, _ = pair
    assert there.stat() == {**here.stat(), 'path': there.path, 'access': 'pread',
                            'network': 'file'}
    assert there.digest(progress=False) == here.digest(progress=False)
    assert there.verify(progress=False) == lx.open(here.path, access='pread').verify(progress=False)
    assert here.diff(there, progress=False)['same']
    assert there.uuid == here.uuid and there.card == here.card
    assert there['text'].present().tolist() == here['text'].present().tolist()
    with there.views([5, 7]) as views:
        assert bytes(views['text'][0]) == here['text'][5]


@pytest.mark.parametrize('threads', [0, 2])
def test_loaders_and_states_are_the_same(path, url, threads):
    def load(source, state=None):
        loader = lx.Loader(source, fields=['x', 'label'], batch_size=64, order=lx.Shuffle(seed=3),
                           epochs=2, rank=1, world=2, threads=threads)
        if state is not None:
            loader.load_state_dict(state)
        return loader

    here, there = load(path), load(url)
    for _ in range(7):
        assert same(next(here), next(there))
    state = there.state_dict()
    assert state == here.state_dict() and json.loads(json.dumps(state)) == state
    here, there = list(load(path, state)), list(load(url, state))
    assert all(map(same, here, there)) and len(here) == len(there) == 2 * 24 - 7


def test_what_accepts_paths_accepts_urls(path, url, tmp_path):
    parts = lx.ConcatDataset([url, path])
    assert len(parts) == 2 * N and same(parts[N + 3], parts[3])
    assert same(lx.SubsetDataset(url, [5, 6])[1], lx.open(path)[6])
    zipped = lx.Loader((np.arange(N), url), fields=['data', 'label'], batch_size=100)
    assert all(batch['label'].tolist() == batch['data'].tolist() for batch in zipped)
    assert repr(url) in repr(zipped)
    copied = tmp_path / 'copied'
    lx.copy(url, copied, fields=['label'], progress=False)
    assert lx.open(copied)['label'][:].tolist() == list(range(N))


# ---- the cache


def read_in_process(url, cache):
    """Read a dataset through a cache in another process; return the statistics."""
    return json.loads(run_script(f'''
        import json
        ds = lx.open({url!r}, cache={str(cache)!r})
        loader = lx.Loader(ds, missing='zeros', batch_size=100)
        assert sum(batch['label'].sum() for batch in loader) == {N * (N - 1) // 2}
        print(json.dumps(ds.remote_stats()))
    '''))


def test_processes_share_the_cache(path, url, tmp_path):
    first, second = (read_in_process(url, tmp_path / 'cache') for _ in range(2))
    assert first['stored_bytes'] > 0 and first['bytes'] >= N * WIDTH * 4
    # what says which files there are is read again
    assert second['bytes'] <= sum(os.path.getsize(os.path.join(path, name))
                                  for name in ('meta.json', 'LOG'))
    assert second['stored_bytes'] == 0 and second['cached_bytes'] >= N * WIDTH * 4


def test_reads_after_kill(path, url, tmp_path):
    script = (f'import loaderx as lx, time\n'
              f'ds = lx.open({url!r}, cache={str(tmp_path / "cache")!r})\n'
              'loader = lx.Loader(ds, fields=["x"], order=lx.Shuffle(seed=1), epochs=None)\n'
              'next(loader); print("reading", flush=True)\n'
              'for batch in loader: pass\n')
    child = subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b'reading\n'
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=60)
    ds = lx.open(url, cache=tmp_path / 'cache')
    assert same(ds[:], lx.open(path)[:])


def test_a_small_limit_passes_through_memory(path, url, tmp_path):
    whole = size_of(path)
    ds = lx.open(url, cache=tmp_path / 'cache', limit=whole // 2, memory='16MiB')
    assert same(ds[:], lx.open(path)[:])
    assert ds.remote_stats()['stored_bytes'] <= whole // 2
    assert size_of(tmp_path / 'cache') <= whole


def test_a_cache_of_many_files_needs_few_descriptors(tmp_path):
    path, cache, chunks = tmp_path / 'many', tmp_path / 'cache', 500
    with lx.create(path, {'x': lx.Field('int64', (512,))}, chunk_records=1) as writer:
        writer.extend(x=np.arange(chunks * 512).reshape(chunks, 512))
        writer.seal()
    for requests in ('> 0', '== 0'):
        run_script(f'''
            import resource, numpy as np, loaderx as lx
            resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
            ds = lx.open({f'file://{path}'!r}, cache={str(cache)!r})
            opened = ds.remote_stats()['bytes']
            loader = lx.Loader(ds, batch_size=10, order=lx.Shuffle(seed=1), epochs=2)
            assert sum(int(batch['x'].sum()) for batch in loader) == 2 * sum(range({chunks} * 512))
            assert ds.remote_stats()['bytes'] - opened {requests}
        ''')
    assert len(list(cache.glob('*/chunk/*'))) == chunks


def test_a_limit_below_the_tables_is_an_error(url, tmp_path):
    with pytest.raises(ValueError, match=r'[0-9].*[0-9]'):
        lx.open(url, cache=tmp_path / 'cache', limit=4096)


def test_refuses_a_cache_that_others_may_write(url, tmp_path):
    cache = tmp_path / 'cache'
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(lx.LoaderxError, match='cache') as info:
        lx.open(url, cache=cache)
    assert info.value.status == 'LX_ERR_STATE'


# ---- processes


def sum_of(ds, connection):
    connection.send(int(ds['label'][:].sum()))


def test_a_child_of_fork_reads(url, tmp_path):
    ds = lx.open(url, cache=tmp_path / 'cache')
    assert ds['label'][0] == 0
    context = multiprocessing.get_context('fork')
    receiver, sender = context.Pipe(False)
    child = context.Process(target=sum_of, args=(ds, sender))
    child.start()
    assert receiver.poll(60) and receiver.recv() == N * (N - 1) // 2
    child.join(60)
    assert child.exitcode == 0 and ds['label'][N - 1] == N - 1


def test_is_pickled_with_its_options(path, url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink(path, 'train')
    data = [pickle.dumps(lx.open(one, cache='cache', limit='1GiB', memory='32MiB', patience=1))
            for one in (url, 'train')]
    monkeypatch.chdir('/')
    for ds in map(pickle.loads, data):
        assert same(ds[:50], lx.open(path)[:50])
        assert sorted(os.listdir(tmp_path)) == ['cache', 'train']
        assert ds.remote_stats()['stored_bytes'] + ds.remote_stats()['cached_bytes'] > 0
    assert same(copy.copy(ds)[3], ds[3]) and same(pickle.loads(pickle.dumps(ds.pin()))[3], ds[3])


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_workers_of_torch(url, tmp_path, method):
    pytest.importorskip('torch')
    assert run_script(f'''
        import torch.utils.data, loaderx.torch
        ds = lx.open({url!r}, cache={str(tmp_path / 'cache')!r})
        ds['label'][0]
        for kind, source in ((torch.utils.data.DataLoader, ds), (loaderx.torch.DataLoader, ds),
                             (loaderx.torch.DataLoader, {url!r})):
            labels = []
            for batch in kind(source, batch_size=300, num_workers=2, collate_fn=list,
                              multiprocessing_context={method!r}):
                labels += [record['label'] for record in batch]
            print(labels == list(range({N})))
    ''').split() == ['True'] * 3


# ---- statistics


def test_loaders_add_up_statistics(path, url):
    a, b = lx.open(url), lx.open(url)
    source = lx.ConcatDataset([a, path, lx.SubsetDataset(b, range(100)), a.pin()])
    with lx.Loader(source, fields=['label'], batch_size=500) as loader:
        for _ in loader:
            pass
        found = loader.stats()
        assert found['remote'] == {name: value + b.remote_stats()[name]
                                   for name, value in a.remote_stats().items()}
        assert json.loads(json.dumps(found)) == found
        a.close()
        assert loader.stats()['remote']['requests'] >= found['remote']['requests']
    assert 'remote' not in lx.Loader(path, fields=['x']).stats()


def test_the_summary_blames_the_network():
    numbers = dict.fromkeys(['batches', 'bytes', 'failures', 'map_ns', 'transform_ns', 'read_ahead',
                             'records', 'damaged'], 0)
    numbers.update(time_ns=5 * 10**9, wait_ns=4 * 10**9, fill_ns=9 * 10**9)
    assert 'the network is the bottleneck' in LoaderStats(numbers, [{'wait_ns': 3 * 10**9},
                                                                    {'wait_ns': 3 * 10**9}]).summary
    assert 'reading is the bottleneck' in LoaderStats(numbers, [{'wait_ns': 10**9}]).summary


# ---- errors


@pytest.mark.parametrize('options, kind, text', [
    ({'limit': '1GiB'}, ValueError, 'limit requires cache'),
    ({'cache': 'c', 'limit': '1 gigabyte'}, ValueError, 'limit must be a size'),
    ({'cache': 'c', 'limit': 0}, ValueError, 'limit must be from 1'),
    ({'cache': ''}, ValueError, 'cache must be a path'),
    ({'cache': 7}, TypeError, 'cache must be a str'),
    ({'memory': '1MiB'}, ValueError, 'memory|16'),
    ({'memory': 1.5}, TypeError, 'memory must be an int'),
    ({'connections': 0}, ValueError, 'connections must be from 1 to 256'),
    ({'connections': 257}, ValueError, 'connections must be from 1 to 256'),
    ({'patience': -1}, ValueError, 'patience must be finite'),
    ({'patience': '3'}, TypeError, 'patience must be a number'),
    ({'live': True}, lx.LoaderxError, 'live'),
    ({'access': 'mmap', 'memory': '16MiB'}, lx.LoaderxError, 'mmap|map'),
])
def test_bad_options_are_errors(url, options, kind, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=text):
        lx.open(url, **options)
    assert os.listdir(tmp_path) == []


def test_elsewhere_is_for_reading(url):
    with pytest.raises(ValueError, match='can only be read'):
        lx.open(url, 'a')
    with pytest.raises(ValueError, match="cache requires mode 'r'"):
        lx.open('x', 'a', cache='y')


def test_a_missing_dataset(tmp_path):
    for one in (f'file://{tmp_path}/absent', f'file://{tmp_path}'):
        with pytest.raises(FileNotFoundError):
            lx.open(one, patience=0)


def test_an_unknown_scheme():
    with pytest.raises(lx.LoaderxError, match='gopher') as info:
        lx.open('gopher://host/train')
    assert info.value.status == 'LX_ERR_UNSUPPORTED'


def test_an_unsealed_dataset(tmp_path):
    lx.create(tmp_path / 'new', {'x': lx.Field('int64')}).close()
    with pytest.raises(lx.LoaderxError, match='seal') as info:
        lx.open(f'file://{tmp_path}/new')
    assert info.value.status == 'LX_ERR_UNSUPPORTED'


def test_an_outage_is_no_damage(url):
    """No policy for damage applies, and a loader stays before the batch. Here, nearly no files can
    be opened for a while: only in place of others that the library closes."""
    run_script(f'''
        import errno, resource
        ds = lx.open({url!r}, patience=0, on_damage='zeros')
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
        taken, labels, failures = [], [], 0
        try:
            while True:
                taken.append(os.open('/dev/null', os.O_RDONLY))
        except OSError:
            pass
        # made now, because it reads ahead
        loader = lx.Loader(ds, fields=['label', 'x'], batch_size=100, on_damage='skip', threads=2)
        while failures < 3:
            try:
                labels += next(loader)['label'].tolist()
            except OSError as error:
                assert error.errno == errno.EMFILE, error
                failures += 1
        assert ds.damaged == loader.stats()['damaged'] == 0
        assert loader.tell() == len(labels) < {N}
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        while len(labels) < {N}:
            labels += next(loader)['label'].tolist()
        assert labels == list(range({N})) and ds.damaged == loader.stats()['damaged'] == 0
    ''')


def test_says_that_the_library_has_no_remote_datasets(url):
    assert run_script(f'''
        class Absent:
            def find_spec(self, name, *rest):
                if name == 'loaderx._remote':
                    raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)
        sys.meta_path.insert(0, Absent())
        try:
            lx.open({url!r})
        except ImportError as error:
            print(error)
    ''').startswith('the Python package was installed without libloaderx-remote')
