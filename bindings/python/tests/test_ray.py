# SPDX-License-Identifier: MIT
"""Datasets written by Ray Data, with two workers on this machine."""

import os

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')
ray = pytest.importorskip('ray', reason='ray is not installed')
pytest.importorskip('ray.data', reason='ray[data] is not installed')
pa = pytest.importorskip('pyarrow')

import loaderx.ray


@pytest.fixture(scope='module', autouse=True)
def cluster(tmp_path_factory):
    ray.init(num_cpus=2, object_store_memory=128 << 20, include_dashboard=False,
             logging_level='ERROR', log_to_driver=False, _node_ip_address='127.0.0.1')
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    yield
    ray.shutdown()


def parts_of(url):
    return os.listdir(url / 'part')


def numbers(count=1000, blocks=4):
    return ray.data.range(count, override_num_blocks=blocks)


def test_records_are_in_the_order_of_the_dataset(tmp_path):
    frame = numbers().map_batches(lambda batch: {
        **batch, 'text': np.array([f'n{i}' for i in batch['id']]),
        'image': np.multiply.outer(batch['id'], np.ones((2, 3), np.int64)).astype(np.uint8),
        'mask': np.multiply.outer(batch['id'], np.ones((2, 2))) > 10})
    frame.write_datasink(loaderx.ray.Datasink(tmp_path / 'all'))
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == {'id': lx.Field('int64'), 'text': lx.Field(str),
                         'image': lx.Field('uint8', (2, 3)), 'mask': lx.Field('bool', (2, 2))}
    assert ds['id'][:].tolist() == list(range(1000)) and ds.identity['sealed']
    assert ds['text'][::333] == ['n0', 'n333', 'n666', 'n999']
    assert ds['image'][999].tolist() == [[999 % 256] * 3] * 2
    assert ds['mask'][:].all(axis=(1, 2)).tolist() == [i > 10 for i in range(1000)]
    assert len(parts_of(tmp_path / 'all')) == 4
    ds.verify(progress=False)


def test_given_fields_and_options(tmp_path):
    fields = {'id': lx.Field('int64', compress='flate')}
    numbers().write_datasink(loaderx.ray.Datasink(tmp_path / 'all', fields, min_rows=500,
                                                  card={'license': 'MIT'}))
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == fields and ds.card['license'] == 'MIT' and len(ds) == 1000
    assert len(parts_of(tmp_path / 'all')) == 2
    with pytest.raises(TypeError, match='durability'):
        loaderx.ray.Datasink(tmp_path, durability='full')
    with pytest.raises(ValueError, match='min_rows'):
        loaderx.ray.Datasink(tmp_path, min_rows=0)


def failing(folder, times):
    """Return a class whose third task fails after it has pushed its part."""
    class Failing(loaderx.ray.Datasink):
        def write(self, blocks, ctx):
            part = super().write(blocks, ctx)
            if ctx.task_idx == 2 and len(os.listdir(folder)) < times:
                open(os.path.join(folder, os.urandom(8).hex()), 'x').close()
                raise OSError('a bad disk')
            return part

    return Failing


def test_a_task_that_fails_runs_again(tmp_path):
    (tmp_path / 'marks').mkdir()
    numbers().write_datasink(failing(str(tmp_path / 'marks'), 2)(tmp_path / 'all'),
                             ray_remote_args={'max_retries': 3, 'retry_exceptions': [OSError]})
    assert len(parts_of(tmp_path / 'all')) == 4 + 2
    assert lx.open(tmp_path / 'all')['id'][:].tolist() == list(range(1000))


def test_a_job_that_fails_publishes_nothing(tmp_path):
    (tmp_path / 'marks').mkdir()
    with pytest.raises(Exception, match='a bad disk'):
        numbers().write_datasink(failing(str(tmp_path / 'marks'), 1)(tmp_path / 'all'))
    with pytest.raises(FileNotFoundError):
        lx.open(tmp_path / 'all')
    numbers().write_datasink(loaderx.ray.Datasink(tmp_path / 'all'))    # what is left does no harm
    assert lx.open(tmp_path / 'all')['id'][:].tolist() == list(range(1000))


def test_empty_blocks_and_jobs(tmp_path):
    numbers().filter(lambda row: row['id'] >= 500).write_datasink(
        loaderx.ray.Datasink(tmp_path / 'all'))
    assert lx.open(tmp_path / 'all')['id'][:].tolist() == list(range(500, 1000))
    with pytest.raises(ValueError, match='no task wrote a record'):
        numbers().filter(lambda row: False).write_datasink(loaderx.ray.Datasink(tmp_path / 'none'))


def test_a_dataset_is_not_replaced(tmp_path):
    numbers(10).write_datasink(loaderx.ray.Datasink(tmp_path / 'all'))
    with pytest.raises(FileExistsError, match='a dataset is there already'):
        numbers(20).write_datasink(loaderx.ray.Datasink(tmp_path / 'all'))
    assert len(lx.open(tmp_path / 'all')) == 10


@pytest.mark.parametrize('value, message', [
    ({'a': 1}, 'odd'),
    (object(), "the column 'odd' has the type .* of Ray"),
])
def test_columns_without_a_type_are_refused(tmp_path, value, message):
    data = ray.data.from_items([{'odd': value}])
    with pytest.raises(Exception, match=message):
        data.write_datasink(loaderx.ray.Datasink(tmp_path / 'all'))
    assert not os.path.exists(tmp_path / 'all')
