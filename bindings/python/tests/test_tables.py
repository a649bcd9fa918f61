# SPDX-License-Identifier: MIT
"""Tables of orders in files of a directory."""

import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import loaderx as lx

N = 3000
WEIGHTS = np.arange(N) % 7
NUMBERS = np.arange(N) % 13


def greedy(**how):
    return lx.Blend([lx.Shuffle(n=N, seed=1), lx.Shuffle(n=N, seed=2)], [0.3, 0.7], offsets=[0, N],
                    method='greedy', **how)


# Each order with its number of files per epoch.
KINDS = {
    'greedy': (greedy, 1),
    'exhaustive': (lambda **how: lx.Blend([lx.Shuffle(n=N), lx.Shuffle(n=2 * N)],
                                          method='exhaustive', **how), 1),
    'nanoset': (lambda **how: lx.Nanoset([N, 2 * N], [2, 1], seed=5, **how), 1),
    'weighted': (lambda **how: lx.Weighted(WEIGHTS, seed=5, **how), 1),
    'weighted shuffle': (lambda **how: lx.Weighted(WEIGHTS, replacement=False, seed=5, **how), 1),
    'balanced': (lambda **how: lx.Balanced(NUMBERS, seed=5, **how), 1),
    'bucketed': (lambda **how: lx.Bucketed(NUMBERS, batch=8, seed=5, **how), 1),
    'subset': (lambda **how: lx.Subset(NUMBERS, seed=5, **how), 1),
    'torch random': (lambda **how: lx.TorchRandom(n=N, seed=5, **how), 1),
    'torch subset': (lambda **how: lx.TorchSubset(NUMBERS, seed=5, **how), 2),
    'distributed': (lambda **how: lx.Distributed(n=N, world=4, seed=5, **how), 1),
}
each_kind = pytest.mark.parametrize('make, files', KINDS.values(), ids=KINDS)


@each_kind
def test_the_same_with_files_and_without(make, files, tmp_path):
    right = make().take(2000).tolist()
    folder = tmp_path / 'tables'
    for path in folder, str(folder), os.fsencode(folder):
        order = make(tables=path)
        assert order.take(2000).tolist() == right
        assert len(os.listdir(folder)) == files
        plain = make()
        plain.load_state_dict(order.state_dict())    # the state does not mention files
        assert plain.tell() == 2000
        assert f'tables={str(folder)!r}' in repr(order)
        assert pickle.loads(pickle.dumps(order)).take(50).tolist() == order.take(50).tolist()


@each_kind
def test_damage_raises(make, files, tmp_path):
    make(tables=tmp_path).take(10)
    for path in tmp_path.iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        with pytest.raises(lx.CorruptError, match='to have the table rebuilt') as caught:
            make(tables=tmp_path).take(10)
        assert path.name in str(caught.value)
        path.unlink()
    assert make(tables=tmp_path).take(10).tolist() == make().take(10).tolist()


def test_other_processes_use_the_same_table(tmp_path):
    order = lx.Nanoset([N, 2 * N], seed=5, tables=tmp_path)
    [path] = tmp_path.iterdir()
    before = path.stat()
    script = (f'import loaderx as lx; '
              f'print(lx.Nanoset([{N}, {2 * N}], seed=5, tables={str(tmp_path)!r}).take(9).tolist())')
    shown = subprocess.run([sys.executable, '-c', script], check=True, capture_output=True,
                           text=True).stdout
    assert shown.strip() == str(order.take(9).tolist())
    assert path.stat().st_ino == before.st_ino


def test_files_of_epochs_do_not_add_up(tmp_path):
    order, plain = lx.TorchRandom(n=N, seed=5, tables=tmp_path), lx.TorchRandom(n=N, seed=5)
    assert order.take(10 * N).tolist() == plain.take(10 * N).tolist()
    assert len(os.listdir(tmp_path)) == 2


def test_rejects_invalid_arguments(tmp_path):
    for wrong, error in [(5, TypeError), ('', ValueError), ('a\0b', ValueError)]:
        with pytest.raises(error, match='tables'):
            lx.TorchRandom(n=N, tables=wrong)
    with pytest.raises(ValueError, match='tables'):
        lx.Blend([lx.Shuffle(n=N)], tables=tmp_path)
    with pytest.raises(ValueError, match='tables'):
        lx.Distributed(n=N, world=4, shuffle=False, tables=tmp_path)
    with pytest.raises(OSError):
        lx.TorchRandom(n=N, tables=tmp_path / 'no' / 'folder')
    (tmp_path / 'file').write_text('')
    with pytest.raises(OSError):
        greedy(tables=tmp_path / 'file')
    assert [path.name for path in pathlib.Path(tmp_path).iterdir()] == ['file']
