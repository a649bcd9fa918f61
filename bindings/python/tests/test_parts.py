# SPDX-License-Identifier: MIT
"""Datasets that many tasks write, without an engine: the tasks are functions and processes."""

import importlib
import json
import multiprocessing
import os
import pickle
import sys

import numpy as np
import pytest

import loaderx as lx
from loaderx.parts import PartJob

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')

FIELDS = {'x': lx.Field('int64'), 'text': lx.Field(str, compress='flate')}


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Return the directory for temporary files, which must be empty after each test."""
    path = tmp_path / 'scratch'
    path.mkdir()
    monkeypatch.setattr('tempfile.tempdir', str(path))
    yield path
    assert os.listdir(path) == []


def rows(task, count=5):
    """Return the columns that a task writes."""
    return {'x': np.arange(count) + 100 * task, 'text': [f'{task}-{i}' for i in range(count)]}


def write(url, task, count=5, **options):
    with lx.PartWriter(url, FIELDS, order=task, **options) as part:
        if count:
            part.extend(rows(task, count))
    return part.result


def test_a_url_that_can_only_be_read_is_refused_before_anything_is_written():
    with pytest.raises(ValueError, match='cannot write over HTTP'):
        lx.PartWriter('https://127.0.0.1:1/all', FIELDS, order=0)
    with pytest.raises(ValueError, match='cannot write over HTTP'):
        PartJob('http://127.0.0.1:1/all', {})


def parts_of(url):
    return sorted(f'part/{name}' for name in os.listdir(url / 'part'))


@pytest.mark.parametrize('scheme', ['', 'file://'])
def test_records_are_in_the_order_of_the_tasks(tmp_path, scheme):
    url = f'{scheme}{tmp_path}/all 100%20'
    results = [write(url, task, count) for task, count in ((30, 2), (7, 3), (0, 4))]
    assert [(part.order, part.length) for part in results] == [(30, 2), (7, 3), (0, 4)]
    assert sorted(part.name for part in results) == parts_of(tmp_path / 'all 100%20')
    assert lx.publish(url, iter(results)) == 9
    ds = lx.open(url)
    assert ds['x'][:].tolist() == [0, 1, 2, 3, 700, 701, 702, 3000, 3001]
    assert ds['text'][:] == [f'{i}-{k}' for i, n in ((0, 4), (7, 3), (30, 2)) for k in range(n)]
    assert ds.fields == FIELDS and ds.identity['sealed']
    ds.verify(progress=False)


def test_relative_paths_and_the_scratch_directory(tmp_path, scratch, monkeypatch):
    monkeypatch.chdir(tmp_path)
    disk = tmp_path / 'disk'
    disk.mkdir()
    with lx.PartWriter('all', FIELDS, order=0, scratch=disk) as part:
        part.extend(rows(0))
        assert len(os.listdir(disk)) == 1 and os.listdir(scratch) == []
        assert not os.path.exists('all')    # nothing appears before the part is complete
    assert os.listdir(disk) == []
    lx.publish('all', [part.result])
    assert len(lx.open('all')) == 5
    with pytest.raises(FileNotFoundError, match='none'):
        with lx.PartWriter('all', FIELDS, order=0, scratch=tmp_path / 'none'):
            pass


def test_results_can_be_pickled_and_saved(tmp_path):
    results = [write(tmp_path / 'all', task) for task in range(3)]
    saved = json.loads(json.dumps(results))
    assert pickle.loads(pickle.dumps(results)) == results
    assert lx.publish(tmp_path / 'all', saved) == 15


def test_records_are_appended_one_by_one(tmp_path):
    with lx.PartWriter(tmp_path / 'all', FIELDS, order=0) as part:
        for i in range(3):
            part.append({'x': i, 'text': None if i == 1 else str(i)})
    lx.publish(tmp_path / 'all', [part.result])
    assert lx.open(tmp_path / 'all')['text'][:] == ['0', None, '2']


# ---- fields


def test_fields_of_arrays(tmp_path):
    table = {'image': np.zeros((4, 2, 3), np.uint8), 'label': np.arange(4, dtype='>i2')}
    with lx.PartWriter(tmp_path / 'all', order=0) as part:
        part.extend(table)
        part.extend(table)
    lx.publish(tmp_path / 'all', [part.result])
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == {'image': lx.Field('uint8', (2, 3)), 'label': lx.Field('int16')}
    assert ds['label'][:].tolist() == [0, 1, 2, 3] * 2


def test_fields_of_arrow_tables(tmp_path):
    with lx.create(tmp_path / 'd', FIELDS) as writer:
        writer.extend(rows(3))
    table = lx.open(tmp_path / 'd').to_arrow()
    for order, fields in enumerate((None, FIELDS)):
        url = tmp_path / f'all{order}'
        with lx.PartWriter(url, fields, order=0) as part:
            part.extend(table)
        lx.publish(url, [part.result])
        ds = lx.open(url)
        assert ds['text'][:] == rows(3)['text'] and ds['x'][:].tolist() == rows(3)['x'].tolist()
        assert ds.fields['text'].compress == ('flate' if fields else 'raw')


def test_fields_of_frames(tmp_path):
    pandas, _ = pytest.importorskip('pandas'), pytest.importorskip('pyarrow')
    frame = pandas.DataFrame({'x': [1.5, float('nan')], 'text': ['a', None]}, index=[7, 9])
    with lx.PartWriter(tmp_path / 'all', order=0) as part:
        part.extend(frame)
    lx.publish(tmp_path / 'all', [part.result])
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == {'x': lx.Field('float64'), 'text': lx.Field(str)}
    assert np.isnan(ds['x'][1]) and ds['text'][:] == ['a', None]


@pytest.mark.parametrize('table, message', [
    ([{'x': 1}], 'fields must be given: a list does not tell'),
    ({'x': [1, 2]}, "fields must be given: the column 'x' is a list"),
    ({'x': np.array([{}, 2])}, "fields must be given: the column 'x' is an array of object"),
    ({'x': np.array(['a'])}, "fields must be given: the column 'x' is an array of <U1"),
    ({'x': np.array(3)}, "fields must be given: the column 'x' is an array of int64"),
])
def test_unknown_fields_are_refused(tmp_path, table, message):
    with lx.PartWriter(tmp_path / 'all', order=0) as part:
        with pytest.raises((TypeError, ValueError), match=message):
            part.extend(table)
        with pytest.raises(ValueError, match='fields must be given: a record'):
            part.append({'x': 1})
    assert part.result == lx.Part(None, 0, 0)


def test_parts_with_other_fields_are_refused(tmp_path):
    results = [write(tmp_path / 'all', 0)]
    with lx.PartWriter(tmp_path / 'all', {'x': lx.Field('float32')}, order=1) as part:
        part.extend({'x': [1]})
    with pytest.raises((ValueError, lx.LoaderxError)) as caught:
        lx.publish(tmp_path / 'all', [*results, part.result])
    assert 'text' in str(caught.value) or "'x'" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        lx.open(tmp_path / 'all')


# ---- tasks that fail, run twice or write nothing


def test_a_task_without_records_writes_nothing(tmp_path):
    url = tmp_path / 'all'
    results = [write(url, 0, 0), write(url, 1), write(url, 2, 0)]
    with lx.PartWriter(url, order=3) as part:
        part.extend({'x': np.zeros(0, np.int64), 'text': np.zeros(0, np.uint8)})
    assert results[0] == lx.Part(None, 0, 0) and part.result == lx.Part(None, 0, 3)
    assert parts_of(url) == [results[1].name]
    assert lx.publish(url, [*results, part.result]) == 5
    with pytest.raises(ValueError, match='no task wrote a record'):
        lx.publish(tmp_path / 'none', results[::2])
    with pytest.raises(ValueError, match='no task wrote a record'):
        lx.publish(tmp_path / 'none', [])


def test_results_are_checked(tmp_path):
    part = write(tmp_path / 'all', 0)
    with pytest.raises(TypeError, match='a list of the results .*, not a single one'):
        lx.publish(tmp_path / 'all', part)
    with pytest.raises(TypeError, match='result of each task, not of str'):
        lx.publish(tmp_path / 'all', [part.name])
    with pytest.raises(TypeError, match='result of each task, not of PartWriter'):
        lx.publish(tmp_path / 'all', [lx.PartWriter(tmp_path / 'all', order=1)])


def test_a_task_that_fails_pushes_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with lx.PartWriter(tmp_path / 'all', FIELDS, order=0) as part:
            part.extend(rows(0))
            1 // 0
    assert part._writer.closed and not os.path.exists(tmp_path / 'all')
    with pytest.raises(lx.LoaderxError, match='no result'):
        part.result
    with pytest.raises(lx.LoaderxError, match='already'):
        part.__enter__()
    with pytest.raises(lx.LoaderxError, match='not open'):
        lx.PartWriter(tmp_path / 'all', FIELDS, order=0).extend(rows(0))


def test_attempts_do_not_meet(tmp_path):
    url = tmp_path / 'all'
    first, second, other = write(url, 0), write(url, 0), write(url, 1)
    with pytest.raises(ValueError, match='both have the order 0: pass the result of one attempt'):
        lx.publish(url, [first, other, second])
    assert lx.publish(url, [other, second]) == 10
    assert parts_of(url) == sorted([first.name, second.name, other.name])
    assert lx.open(url)['x'][:].tolist() == [*range(5), *range(100, 105)]


def test_a_dataset_is_not_replaced(tmp_path):
    url = tmp_path / 'all'
    job = PartJob(url, {'fields': FIELDS})
    job.check()
    results = [write(url, 0), write(url, 1)]
    assert lx.publish(url, results) == lx.publish(url, results) == 10    # as after a crash
    with pytest.raises(FileExistsError, match='already'):
        job.check()
    with pytest.raises(FileExistsError):
        lx.publish(url, [write(url, 3)])
    assert lx.open(url)['x'][0] == 0


def test_jobs_check_their_options_before_any_task(tmp_path):
    with pytest.raises(TypeError, match='durability'):
        PartJob(tmp_path, {'durability': 'full'})
    with pytest.raises(TypeError, match='fields'):
        PartJob(tmp_path, {'fields': [1]})
    with pytest.raises(ValueError, match="'text'.*dictionary: each task would train another"):
        PartJob(tmp_path, {'fields': {
            'text': lx.Field(str, compress='zstd', dictionary='train')}})
    with pytest.raises(TypeError, match='order'):
        lx.PartWriter(tmp_path, order='1')


# ---- processes and engines


def attempt(url, task):
    return write(url, task)


def test_tasks_are_processes(tmp_path):
    url = str(tmp_path / 'all')
    with multiprocessing.get_context('spawn').Pool(2) as pool:
        results = pool.starmap(attempt, [(url, task) for task in (2, 0, 1)])
    assert lx.publish(url, results) == 15
    assert lx.open(url)['x'][::5].tolist() == [0, 100, 200]


@pytest.mark.parametrize('engine, package', [
    ('ray', 'ray'), ('spark', 'pyspark'), ('dask', 'dask')])
def test_an_engine_that_is_not_installed(monkeypatch, engine, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f'loaderx.{engine}', raising=False)
    with pytest.raises(ImportError, match=f'loaderx.{engine} needs .*: install'):
        importlib.import_module(f'loaderx.{engine}')
