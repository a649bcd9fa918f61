# SPDX-License-Identifier: MIT
"""push publishes a dataset at a URL; prune removes what nobody needs there."""

import os
import pathlib
import signal
import threading
import time

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')


def make(path, count=1000, width=100):
    with lx.create(path, {'x': lx.Field('int32', (width,)), 'i': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(count * width, dtype=np.int32).reshape(count, width),
                      i=np.arange(count))
    seal(path)
    return path


def seal(path):
    with lx.open(path, 'a') as writer:
        writer.seal()


def grow(path):
    """Append to a sealed dataset, in new files."""
    lx.unseal(path)
    with lx.open(path, 'a') as writer:
        writer.extend(x=np.zeros((1, 100), 'int32'), i=[-1])
    with lx.open(path, 'a') as writer:
        writer.rebalance()
    seal(path)


def size_of(path):
    return sum(file.stat().st_size for file in path.rglob('*')
               if file.is_file() and file.name not in ('meta.json', 'LOCK'))


def make_old(path):
    for file in path.rglob('*'):
        os.utime(file, (time.time() - 30 * 86400,) * 2)


def test_push(tmp_path):
    path, there = make(tmp_path / 'train'), tmp_path / 'there'
    calls = []
    for source, url in ((path, f'file://{there}'), (lx.open(path), str(there)),
                        (f'file://{path}', there), (lx.open(f'file://{path}'), bytes(there))):
        calls.clear()
        sent = lx.push(source, url, progress=lambda *numbers: calls.append(numbers))
        assert sent == (size_of(path) if source is path else 0)
        assert calls[-1] == (size_of(path),) * 2
        assert calls == sorted(calls)
    a, b = lx.open(path), lx.open(f'file://{there}')
    assert a.diff(b)['same'] and a.identity == b.identity
    assert lx.push(path, there, replace=True, connections=1, patience=1, progress=False) == 0


def test_errors(tmp_path):
    path = make(tmp_path / 'train')
    for arguments, error in (((path, 'ftp://host/x'), lx.LoaderxError),
                             ((path, 'https://host/x'), ValueError),
                             ((path, ''), FileNotFoundError),
                             ((tmp_path / 'absent', 'x'), FileNotFoundError),
                             ((path, 3), TypeError)):
        with pytest.raises(error):
            lx.push(*arguments)
    for options in ({'replace': 1}, {'anonymous': 'no'}, {'endpoint': 3}, {'progress': 3},
                    {'credentials': 'key'}):
        with pytest.raises(TypeError):
            lx.push(path, 's3://bucket/x', **options)
    for options in {'connections': 0}, {'patience': -1}, {'endpoint': 'http://host'}:
        with pytest.raises(ValueError):
            lx.push(path, tmp_path / 'there', **options)
    assert not (tmp_path / 'there').exists()
    lx.push(path, tmp_path / 'there', progress=False)
    with pytest.raises(FileExistsError, match=lx.open(path).identity['uuid']):
        lx.push(make(tmp_path / 'other', 10), tmp_path / 'there')
    lx.unseal(path)
    with pytest.raises(lx.LoaderxError, match='not sealed'):
        lx.push(path, tmp_path / 'there')
    closed = lx.open(tmp_path / 'other')
    closed.close()
    with pytest.raises(lx.LoaderxError, match='closed'):
        lx.push(closed, tmp_path / 'there')


def test_an_exception_ends_it_and_it_continues(tmp_path):
    path, there = make(tmp_path / 'train', 20_000), tmp_path / 'there'

    def stop(done, total):
        if done > 0:
            raise KeyError(done)

    with pytest.raises(KeyError):
        lx.push(path, there, progress=stop)
    assert not (there / 'meta.json').exists()
    lx.push(path, there, progress=False)
    assert lx.open(path).diff(lx.open(there))['same']


def test_ctrl_c(tmp_path):
    path, there = make(tmp_path / 'train', 20_000), tmp_path / 'there'
    pressed = []

    def press(done, total):
        if not pressed:
            pressed.append(threading.get_ident())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        lx.push(path, there, progress=press)
    assert pressed == [threading.get_ident()]
    lx.push(path, there, progress=False)
    assert len(lx.open(there)) == 20_000


def test_generations(tmp_path):
    path, there = make(tmp_path / 'train'), tmp_path / 'there'
    lx.push(path, there, progress=False)
    former = {file for file in there.rglob('*') if file.is_file()}
    reader = lx.open(f'file://{there}')
    grow(path)
    lx.push(path, there, progress=False)
    assert len(lx.open(there)) == 1001 and len(reader) == 1000
    assert np.array_equal(reader[999]['x'], lx.open(there)[999]['x'])
    assert lx.prune(there) == []
    make_old(there)
    for older in '1d', 86400, 86400.5, '24h', '1440m', '0s', 0:
        found = lx.prune(f'file://{there}', older=older, dry_run=True)
        assert {there / file.name for file in found} == former - {there / 'meta.json'}
    assert lx.prune(there) == found
    assert all(file.bytes > 0 and time.time() - file.modified > 86400 for file in found)
    assert not any((there / file.name).exists() for file in found)
    assert lx.open(path).diff(lx.open(there))['same']


def test_errors_of_prune(tmp_path):
    with pytest.raises(FileNotFoundError):
        lx.prune(tmp_path / 'absent')
    with pytest.raises(FileNotFoundError):
        lx.prune(tmp_path)
    for older in '7', '1w', '-1d', -1, float('nan'):
        with pytest.raises(ValueError, match='older'):
            lx.prune(tmp_path, older=older)
    with pytest.raises(TypeError):
        lx.prune(tmp_path, older=None)
    with pytest.raises(TypeError):
        lx.prune(tmp_path, dry_run=1)
    path = make(pathlib.Path(tmp_path, 'train'), 10)
    lx.unseal(path)
    with pytest.raises(lx.LoaderxError, match='not sealed'):
        lx.prune(path)


def test_a_reader_of_a_generation_that_was_removed(tmp_path):
    path, there = make(tmp_path / 'train', 3000), tmp_path / 'there'
    lx.push(path, there, progress=False)
    reader = lx.open(f'file://{there}')
    grow(path)
    lx.push(path, there, progress=False)
    make_old(there)
    lx.prune(there)
    with pytest.raises(lx.LoaderxError, match='open the dataset again') as caught:
        reader[2999]
    assert not isinstance(caught.value, lx.CorruptError)
    # a file that is missing although the dataset was not replaced is damage
    reader = lx.open(f'file://{there}')
    for file in (there / 'chunk').iterdir():
        file.unlink()
    with pytest.raises(lx.CorruptError):
        reader[2999]
