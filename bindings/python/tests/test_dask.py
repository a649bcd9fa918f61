# SPDX-License-Identifier: MIT
"""Datasets written by Dask, by threads, by processes, and by a distributed scheduler."""

import os

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')
dask = pytest.importorskip('dask', reason='dask is not installed')

import loaderx.dask

THREADS = {'scheduler': 'threads', 'num_workers': 2}
FIELDS = {'id': lx.Field('int64'), 'text': lx.Field(str, compress='flate')}


@pytest.fixture
def bag():
    db = pytest.importorskip('dask.bag')
    return db.from_sequence(range(1000), npartitions=4).map(record)


def record(i):
    return {'id': i, 'text': f'n{i}'}


def fail(record, folder, times):
    """Fail in the third partition, after some records."""
    if record['id'] == 600 and len(os.listdir(folder)) < times:
        open(os.path.join(folder, os.urandom(8).hex()), 'x').close()
        raise OSError('a bad disk')
    return record


def check(url, count=1000):
    ds = lx.open(url)
    assert ds['id'][:].tolist() == list(range(count)) and ds.identity['sealed']
    assert ds['text'][::333] == [f'n{i}' for i in range(0, count, 333)]
    ds.verify(progress=False)
    return ds


def parts_of(url):
    return os.listdir(url / 'part')


@pytest.mark.parametrize('scheduler', ['threads', 'processes'])
def test_bags_of_records(bag, tmp_path, scheduler):
    compute = {'scheduler': scheduler, 'num_workers': 2}
    assert loaderx.dask.write(bag, tmp_path / 'all', FIELDS, compute=compute) == 1000
    assert check(tmp_path / 'all').fields == FIELDS and len(parts_of(tmp_path / 'all')) == 4


def test_bags_need_fields_and_records(bag, tmp_path):
    with pytest.raises(TypeError, match='fields must be given'):
        loaderx.dask.write(bag, tmp_path / 'all', compute=THREADS)
    with pytest.raises((TypeError, ValueError)):
        loaderx.dask.write(bag.map(str), tmp_path / 'all', FIELDS, compute=THREADS)
    assert not os.path.exists(tmp_path / 'all')


def test_arrays(tmp_path):
    da = pytest.importorskip('dask.array')
    images = da.arange(600, chunks=100).reshape((100, 2, 3)).rechunk((40, 1, 3))
    assert loaderx.dask.write(images, tmp_path / 'one', compute=THREADS) == 100
    ds = lx.open(tmp_path / 'one')
    assert ds.fields == {'data': lx.Field('int64', (2, 3))}
    assert np.array_equal(ds['data'][:], np.arange(600).reshape(100, 2, 3))
    assert len(parts_of(tmp_path / 'one')) == 3

    labels = da.arange(100, chunks=7).astype('uint8')
    loaderx.dask.write({'image': images, 'label': labels}, tmp_path / 'two', compute=THREADS,
                       chunk_records=10, card={'license': 'MIT'})
    ds = lx.open(tmp_path / 'two')
    assert ds['image'][99].tolist() == [[594, 595, 596], [597, 598, 599]]
    assert ds['label'][:].tolist() == list(range(100)) and ds.card['license'] == 'MIT'


def test_frames(tmp_path):
    dd, pd = pytest.importorskip('dask.dataframe'), pytest.importorskip('pandas')
    frame = pd.DataFrame({'id': range(1000), 'text': [f'n{i}' for i in range(1000)],
                          'half': np.arange(1000) / 2}, index=range(5000, 6000))
    frame.loc[5003, 'half'] = float('nan')
    written = loaderx.dask.write(dd.from_pandas(frame, npartitions=4), tmp_path / 'all',
                                 compute=THREADS)
    ds = check(tmp_path / 'all')
    assert written == 1000 and list(ds.fields) == ['id', 'text', 'half']
    assert np.array_equal(ds['half'][:], frame['half'], equal_nan=True)
    empty = dd.from_pandas(frame, npartitions=4).query('id >= 500')
    assert loaderx.dask.write(empty, tmp_path / 'half', compute=THREADS) == 500
    assert len(parts_of(tmp_path / 'half')) == 2
    with pytest.raises(ValueError, match='no task wrote a record'):
        loaderx.dask.write(empty.query('id < 0'), tmp_path / 'none', compute=THREADS)


@pytest.mark.parametrize('collection', [[1, 2], {}, {'x': [1]}, np.arange(4)])
def test_other_objects_are_refused(tmp_path, collection):
    with pytest.raises(TypeError, match='collection must be a DataFrame, a Bag or an Array'):
        loaderx.dask.write(collection, tmp_path / 'all')


def test_arrays_without_a_common_length_are_refused(tmp_path):
    da = pytest.importorskip('dask.array')
    with pytest.raises(ValueError, match="'y' has 7 records, but 'x' has 9"):
        loaderx.dask.write({'x': da.zeros(9), 'y': da.zeros(7)}, tmp_path / 'all')
    with pytest.raises(ValueError, match="'x' has no axes"):
        loaderx.dask.write({'x': da.zeros(9).sum()}, tmp_path / 'all')
    numbers = da.arange(9)
    with pytest.raises(ValueError, match="chunks of 'data' are unknown: call its method"):
        loaderx.dask.write(numbers[numbers > 4], tmp_path / 'all')


def test_a_job_that_fails_publishes_nothing(bag, tmp_path):
    marks = tmp_path / 'marks'
    marks.mkdir()
    with pytest.raises(OSError, match='a bad disk'):
        loaderx.dask.write(bag.map(fail, str(marks), 1), tmp_path / 'all', FIELDS, compute=THREADS)
    with pytest.raises(FileNotFoundError):
        lx.open(tmp_path / 'all')
    loaderx.dask.write(bag, tmp_path / 'all', FIELDS, compute=THREADS)
    check(tmp_path / 'all')


def test_a_dataset_is_not_replaced(bag, tmp_path):
    loaderx.dask.write(bag, tmp_path / 'all', FIELDS, compute=THREADS)
    with pytest.raises(FileExistsError, match='a dataset is there already'):
        loaderx.dask.write(bag.map(str), tmp_path / 'all', FIELDS, compute=THREADS)
    check(tmp_path / 'all')


def test_a_distributed_task_that_fails_runs_again(bag, tmp_path):
    distributed = pytest.importorskip('distributed')
    marks = tmp_path / 'marks'
    marks.mkdir()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  host='127.0.0.1', local_directory=str(tmp_path)) as cluster:
        with distributed.Client(cluster):
            loaderx.dask.write(bag.map(fail, str(marks), 2), tmp_path / 'all', FIELDS,
                               compute={'retries': 3})
    assert len(os.listdir(marks)) == 2
    check(tmp_path / 'all')
