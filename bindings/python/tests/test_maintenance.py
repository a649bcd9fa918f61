# SPDX-License-Identifier: MIT
"""Whole datasets: copies, subsets and merges, backups, exports, and progress reports."""

import os
import subprocess
import sys

import numpy as np
import pytest

import loaderx as lx
from damage import corrupt
from processes import run_on_terminal, run_script

N = 300
FIELDS = {'x': lx.Field('int64'), 'v': lx.Field('float32', (2, 3), compress='flate'),
          'text': lx.Field(bytes, compress='flate'), 'c': lx.Field('complex64', 2)}
V = np.arange(N * 6, dtype=np.float32).reshape(N, 2, 3)
C = (V[:, 0, :2] + 1j).astype(np.complex64)
TEXTS = [None if i % 9 == 0 else b'text %d ' % i * 20 for i in range(N)]


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp('maintenance') / 'd'
    with lx.create(path, FIELDS) as writer:
        writer.extend(x=range(N), v=V, text=TEXTS, c=C)
    return path


@pytest.fixture
def dataset(path):
    with lx.open(path) as opened:
        yield opened


def check(path, indices):
    with lx.open(path) as dataset:
        assert len(dataset) == len(indices)
        dataset.verify()
        if 'x' in dataset.fields:
            assert dataset['x'][:].tolist() == list(indices)
        if 'v' in dataset.fields:
            assert np.array_equal(dataset['v'][:], V[indices])
        if 'text' in dataset.fields:
            assert dataset['text'][:] == [TEXTS[i] for i in indices]


# ---- copies


def test_a_copy(path, dataset, tmp_path):
    assert lx.copy(path, tmp_path / 'a') is None
    lx.copy(dataset, str(tmp_path / 'b'), durability='full', chunk_records=10)
    for name in 'ab':
        check(tmp_path / name, range(N))
        with lx.open(tmp_path / name) as copied:
            assert copied.fields == dataset.fields and copied.uuid != dataset.uuid
            assert copied.stat()['live_bytes'] == dataset.stat()['live_bytes']


@pytest.mark.parametrize('indices, expected', [
    (slice(10, 50), range(10, 50)),
    ([5, 3, 3, -1], [5, 3, 3, N - 1]),
    (np.arange(N) % 2 == 0, range(0, N, 2)),
    ([], []),
])
def test_a_subset(dataset, tmp_path, indices, expected):
    lx.copy(dataset, tmp_path / 'd', indices=indices)
    check(tmp_path / 'd', list(expected))


def test_some_fields(dataset, tmp_path):
    lx.copy(dataset, tmp_path / 'd', fields=['text', 'x'], indices=slice(9))
    with lx.open(tmp_path / 'd') as copied:
        assert list(copied.fields) == ['text', 'x']
    check(tmp_path / 'd', range(9))


def test_chains_several_slices(path, dataset, tmp_path):
    with lx.create(tmp_path / 'more', {'y': lx.Field('u1'), 'x': lx.Field('int64')}) as writer:
        writer.extend(x=[1000, 1001], y=[1, 2])
    lx.copy([path, tmp_path / 'more', dataset], tmp_path / 'd')
    with lx.open(tmp_path / 'd') as merged:
        assert list(merged.fields) == [*FIELDS, 'y'] and len(merged) == 2 * N + 2
        assert merged['x'][:].tolist() == [*range(N), 1000, 1001, *range(N)]
        assert np.flatnonzero(merged['y'].present()).tolist() == [N, N + 1]
        assert merged[N]['text'] is None and merged[N + 3]['text'] == TEXTS[1]


@pytest.mark.parametrize('options, error, named', [
    ({'source': []}, ValueError, 'source'),
    ({'source': 3}, TypeError, 'source must'),
    ({'source': [5]}, TypeError, r'source\[0\] must'),
    ({'source': '/nowhere/at/all'}, FileNotFoundError, 'nowhere'),
    ({'fields': ['no']}, ValueError, 'no'),
    ({'fields': 'x'}, TypeError, 'fields'),
    ({'fields': []}, ValueError, 'field'),
    ({'fields': 5}, TypeError, 'fields must .* not int'),
    ({'fields': [5]}, TypeError, 'fields must .* not int'),
    ({'fields': ['x', 'x']}, ValueError, "fields: 'x' .* twice"),
    ({'indices': [N]}, IndexError, str(N)),
    ({'indices': [0.5]}, TypeError, 'indices'),
    ({'chunk_records': 0}, ValueError, 'chunk_records'),
    ({'progress': 3}, TypeError, 'progress'),
    ({'destination': 3}, TypeError, 'destination'),
])
def test_invalid_arguments_leave_no_files(path, tmp_path, options, error, named):
    arguments = {'source': path, 'destination': tmp_path / 'd', **options}
    with pytest.raises(error, match=named):
        lx.copy(arguments.pop('source'), arguments.pop('destination'), **arguments)
    assert not os.listdir(tmp_path)


def test_rejects_fields_that_do_not_fit_together(path, tmp_path):
    lx.create(tmp_path / 'more', {'x': lx.Field('int32')}).close()
    with pytest.raises(ValueError, match="'x'"):
        lx.copy([path, tmp_path / 'more'], tmp_path / 'd')
    with pytest.raises(ValueError, match='indices'):
        lx.copy([path, path], tmp_path / 'd', indices=[0])
    with pytest.raises(FileExistsError):
        lx.copy(path, tmp_path / 'more')
    assert os.listdir(tmp_path) == ['more']


def test_a_copy_that_fails_leaves_nothing(path, tmp_path):
    lx.copy(path, tmp_path / 'bad', fields=['x', 'c'])
    corrupt(tmp_path / 'bad', C[200].tobytes())
    with pytest.raises(lx.CorruptError) as caught:
        lx.copy(tmp_path / 'bad', tmp_path / 'd')
    assert caught.value.record == 200 and caught.value.field == 'c'

    def stop(done, total):
        raise ZeroDivisionError(total)

    with pytest.raises(ZeroDivisionError, match=str(N)):
        lx.copy(path, tmp_path / 'd', progress=stop)
    assert os.listdir(tmp_path) == ['bad']


def test_a_signal_while_the_copy_is_created_leaves_nothing(path, tmp_path):
    run_script(f"""
        import _thread, functools

        def make_level():
            # Returns 5 and sends a signal in C code, before Python can run the handler.
            index = functools.partial(sum, iter(_thread.interrupt_main, None), 5)
            return type('Level', (), {{'__index__': staticmethod(index)}})()

        def copy(destination):
            try:
                try:
                    lx.copy({str(path)!r}, destination, level=make_level())
                finally:
                    time.sleep(0)    # the handler runs here at the latest
            except (KeyboardInterrupt, FileExistsError):
                return
            raise AssertionError

        os.chdir({str(tmp_path)!r})
        copy('d')
        assert os.listdir() == []
        lx.create('d', {{'x': lx.Field('u1')}}).close()
        copy('d')
        assert os.listdir() == ['d'] and len(lx.open('d')) == 0
    """)


@pytest.mark.parametrize('keep', [lx.open, lambda path: open(path / 'mine', 'w')])
def test_raises_the_error_of_the_copy_even_if_the_removal_fails(path, tmp_path, keep):
    kept = []

    def stop(done, total):
        kept.append(keep(tmp_path / 'd'))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lx.copy(path, tmp_path / 'd', progress=stop)
    for one in kept:
        one.close()
    with lx.open(tmp_path / 'd') as left:
        assert len(left) == 0


# ---- backups


def test_backs_up_during_writes(path, tmp_path):
    lx.copy(path, tmp_path / 'd')
    writer = lx.open(tmp_path / 'd', mode='r+')
    reader = lx.open(tmp_path / 'd')
    writer[0] = {'x': 99}
    writer.truncate(10)
    writer.commit()
    seen = []
    reader.backup(tmp_path / 'backup', progress=lambda done, total: seen.append((done, total)))
    check(tmp_path / 'backup', range(N))
    assert seen and seen[-1][0] == seen[-1][1]
    assert lx.open(tmp_path / 'backup').uuid == reader.uuid
    reader.refresh()
    reader.backup(tmp_path / 'later')
    with lx.open(tmp_path / 'later') as later:
        assert later['x'][:].tolist() == [99, *range(1, 10)]
    writer.close()


def test_rejects_invalid_backups(dataset, tmp_path):
    (tmp_path / 'file').write_text('mine')
    for wrong, error in [(tmp_path, FileExistsError), (tmp_path / 'file', OSError),
                         (tmp_path / 'a' / 'b', FileNotFoundError), (3, TypeError)]:
        with pytest.raises(error):
            dataset.backup(wrong)

    def stop(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        dataset.backup(tmp_path / 'd', progress=stop)
    assert os.listdir(tmp_path) == ['file']


# ---- exports


@pytest.mark.parametrize('field, values', [('x', np.arange(N)), ('v', V), ('c', C)])
def test_an_npy_file(dataset, tmp_path, field, values):
    target = tmp_path / 'x.npy'
    done = dataset.export(field, target)
    assert done == {'records': N, 'missing': 0, 'damaged': 0, 'bytes': values.nbytes}
    array = np.load(target)
    assert array.dtype == values.dtype and np.array_equal(array, values)
    dataset.export(field, str(target), indices=[3, -1, 3])
    assert np.array_equal(np.load(target, mmap_mode='r'), values[[3, -1, 3]])
    dataset.export(field, target, indices=np.arange(N) < 5)
    assert np.array_equal(np.load(target), values[:5])
    dataset.export(field, target, indices=slice(0))
    assert np.load(target).shape == (0, *values.shape[1:])
    assert os.listdir(tmp_path) == ['x.npy']


def test_reports_the_progress_of_a_large_export(tmp_path):
    data = np.arange(5_000_000).reshape(50, 100_000)
    with lx.create(tmp_path / 'd', {'data': lx.Field('int64', 100_000)}) as writer:
        writer.extend(data=data)
    seen = []
    with lx.open(tmp_path / 'd') as dataset:
        dataset.export('data', tmp_path / 'x.npy', progress=lambda *report: seen.append(report))
    assert np.array_equal(np.load(tmp_path / 'x.npy'), data)
    assert seen[-1] == (50, 50)


def read_files(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def test_files(dataset, tmp_path):
    done = dataset.export('text', tmp_path / 'texts', suffix='.txt')
    there = [i for i in range(N) if TEXTS[i] is not None]
    assert done == {'records': N, 'missing': N - len(there), 'damaged': 0,
                    'bytes': sum(len(TEXTS[i]) for i in there)}
    assert read_files(tmp_path / 'texts') == {f'{i:08}.txt': TEXTS[i] for i in there}
    dataset.export('text', tmp_path / 'some', indices=[5, 0, -1])
    assert read_files(tmp_path / 'some') == {'00000005': TEXTS[5], f'{N - 1:08}': TEXTS[-1]}
    dataset.export('x', tmp_path / 'numbers', indices=[2], files=True)
    assert read_files(tmp_path / 'numbers') == {'00000002': np.int64(2).tobytes()}


def test_rejects_invalid_exports(dataset, tmp_path):
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full' / '00000001').write_text('mine')
    target = tmp_path / 'x.npy'
    for arguments, options, error in [
            (('no', target), {}, KeyError), ((3, target), {}, TypeError), (('x', 3), {}, TypeError),
            (('x', target), {'suffix': '.npy'}, ValueError),
            (('x', target), {'files': 1}, TypeError),
            (('x', target), {'indices': [N]}, IndexError),
            (('x', target), {'indices': 'all'}, TypeError),
            (('x', tmp_path / 'a' / 'b'), {}, FileNotFoundError),
            (('text', tmp_path / 'full'), {'indices': [1]}, FileExistsError),
            (('text', target), {}, ValueError), (('text', target), {'files': False}, ValueError),
            (('text', tmp_path / 'new'), {'suffix': '/../x'}, ValueError),
            (('text', tmp_path / 'new'), {'suffix': 3}, TypeError),
            (('text', tmp_path / 'new'), {'suffix': 'a\0b'}, ValueError),
            (('text', tmp_path / 'new'), {'suffix': 'a\ud800'}, ValueError),
            (('x', target), {'progress': 'no'}, TypeError)]:
        with pytest.raises(error):
            dataset.export(*arguments, **options)
    assert read_files(tmp_path / 'full') == {'00000001': b'mine'}
    assert not target.exists()


def test_removes_a_failed_export(tmp_path):
    with lx.create(tmp_path / 'd', {'data': lx.Field('uint8', 100)}) as writer:
        writer.extend(data=np.ones((10, 100), np.uint8))
    corrupt(tmp_path / 'd', b'\1' * 100)

    def stop(done, total):
        raise ZeroDivisionError

    with lx.open(tmp_path / 'd') as dataset:
        with pytest.raises(lx.CorruptError) as caught:
            dataset.export('data', tmp_path / 'x.npy')
        assert caught.value.record == 0 and caught.value.field == 'data'
        with pytest.raises(ZeroDivisionError):
            dataset.export('data', tmp_path / 'x.npy', indices=[1, 2], progress=stop)
    assert os.listdir(tmp_path) == ['d']


# ---- progress on a terminal


SCRIPT = """
import sys
import loaderx as lx
path, work = sys.argv[1:3]
with lx.open(path) as dataset:
    dataset.verify(); dataset.backup(work + '/backup'); dataset.export('v', work + '/v.npy')
lx.copy(path, work + '/copy'); lx.repair(work + '/copy')
with lx.open(work + '/copy', mode='r+') as writer:
    writer.rebalance()
"""
JOBS = ['verify', 'backup', 'export v', 'copy', 'repair', 'rebalance']


def test_shows_bars_only_on_a_terminal(path, tmp_path):
    pytest.importorskip('tqdm')
    shown = run_on_terminal(SCRIPT, path, tmp_path)
    assert all(job in shown for job in JOBS), shown


def test_no_bars_without_tqdm_or_a_terminal(path, tmp_path):
    (tmp_path / 'a').mkdir()
    (tmp_path / 'b').mkdir()
    without = "import sys; sys.modules['tqdm'] = None\n"
    assert run_on_terminal(without + SCRIPT, path, tmp_path / 'a') == ''
    done = subprocess.run([sys.executable, '-c', SCRIPT, path, tmp_path / 'b'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    assert done.stdout == b''


def test_shows_bars_in_a_notebook(path, tmp_path):
    pytest.importorskip('tqdm')
    notebook = '''
import sys, types
shell = types.SimpleNamespace(config={'IPKernelApp': {}})
sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: shell, version_info=(8, 0))
'''
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', notebook + SCRIPT, path, tmp_path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                          universal_newlines=True)
    assert all(job in done.stdout for job in JOBS), done.stdout


# ---- removal


def test_removes_a_dataset(path, tmp_path):
    copied = tmp_path / 'copy'
    lx.copy(path, copied)
    with lx.open(copied):
        with pytest.raises(BlockingIOError):
            lx.remove(copied)
    (copied / 'mine').write_text('mine')
    with pytest.raises(FileExistsError, match="'mine' does not belong"):
        lx.remove(copied)
    (copied / 'mine').unlink()
    lx.remove(str(copied))
    assert not copied.exists()
    with pytest.raises(FileNotFoundError):
        lx.remove(copied)
    with pytest.raises(TypeError, match='path'):
        lx.remove(3)
