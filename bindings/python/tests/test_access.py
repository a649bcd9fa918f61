# SPDX-License-Identifier: MIT
"""Access modes: all read the same records, and report files that are truncated meanwhile."""

import os

import numpy as np
import pytest

import loaderx as lx

N = 2000
DATA = np.random.default_rng(5).integers(1, 256, (N, 100), np.uint8)
ACCESS_MODES = ('mmap', 'pread')


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'dataset'
    with lx.create(path, {'data': lx.Field('uint8', 100), 'text': lx.Field(bytes)}) as writer:
        writer.extend(data=DATA, text=[bytes(row[:50]) for row in DATA])
    return path


@pytest.mark.parametrize('access', ACCESS_MODES)
def test_all_access_modes_give_the_same_values(path, access):
    with lx.open(path, access=access) as dataset:
        assert dataset.access == access == dataset.pin().access
        assert np.array_equal(dataset['data'][:], DATA)
        assert dataset['text'][[7, 3]] == [bytes(DATA[7, :50]), bytes(DATA[3, :50])]
        with dataset.views([5, 6]) as views:
            kept = views['data'][1]
            assert np.array_equal(views['data'][0], DATA[5])
        with lx.Loader(dataset, fields=['data'], batch_size=64, epochs=1) as loader:
            assert sum(len(batch['data']) for batch in loader) == N
    assert np.array_equal(kept, DATA[6])


def test_reports_a_truncated_file(path):
    with lx.open(path, access='pread') as dataset:
        assert np.array_equal(dataset['data'][:10], DATA[:10])
        os.truncate(path / 'chunk' / '0.zr', 0)
        with pytest.raises(lx.CorruptError) as raised:
            dataset['data'][100:200]
        assert raised.value.field == 'data' and raised.value.path.endswith('0.zr')


def test_reports_the_default(path):
    with lx.open(path) as dataset:
        stat = dataset.stat()
        assert dataset.access == stat['access']
        assert (stat['network'] is None) == (dataset.access == 'mmap')


@pytest.mark.parametrize('call, kind', [
    (lambda p: lx.open(p, access='direct'), ValueError),
    (lambda p: lx.open(p, access=1), TypeError),
    (lambda p: lx.open(p, 'a', access='pread'), ValueError),
])
def test_rejects_invalid_values(path, call, kind):
    with pytest.raises(kind, match='access'):
        call(path)
