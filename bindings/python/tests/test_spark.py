# SPDX-License-Identifier: MIT
"""Datasets written by Spark, in one process with two tasks at a time."""

import os
import sys

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')
pytest.importorskip('pyspark', minversion='4.0', reason='pyspark 4.0 is not installed')
pytest.importorskip('pyarrow')

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import loaderx.spark


@pytest.fixture(scope='module')
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp('spark')
    os.environ.setdefault('PYSPARK_PYTHON', sys.executable)
    try:
        session = (SparkSession.builder.master('local[2, 3]')    # each task may fail twice
                   .config('spark.ui.enabled', False).config('spark.driver.memory', '1g')
                   .config('spark.driver.host', '127.0.0.1')
                   .config('spark.driver.bindAddress', '127.0.0.1')
                   .config('spark.sql.warehouse.dir', str(folder))
                   .config('spark.sql.execution.arrow.maxRecordsPerBatch', 100).getOrCreate())
    except (PySparkException, RuntimeError) as error:
        pytest.skip(f'Spark does not start: {error}')
    session.sparkContext.setLogLevel('OFF')
    yield session
    session.stop()


@pytest.fixture
def spark(session):
    loaderx.spark.register(session)
    return session


def save(frame, url, mode='append'):
    frame.write.format('loaderx').mode(mode).save(str(url))


def parts_of(url):
    return os.listdir(url / 'part')


def numbers(spark, count=1000, tasks=4):
    return spark.range(count, numPartitions=tasks).selectExpr(
        'id', "concat('n', id) AS text", 'float(id) / 2 AS half')


def fail(folder, times):
    """Return a function for mapInArrow that fails in the third task, after some records."""
    def function(batches):
        for number, batch in enumerate(batches):
            if batch['id'][0].as_py() // 250 == 2 and number == 1:
                if len(os.listdir(folder)) < times:
                    open(os.path.join(folder, os.urandom(8).hex()), 'x').close()
                    raise OSError('a bad disk')
            yield batch
    return function


def test_records_are_in_the_order_of_the_partitions(spark, tmp_path):
    save(numbers(spark), tmp_path / 'all')
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == {'id': lx.Field('int64'), 'text': lx.Field(str),
                         'half': lx.Field('float64')} and ds.identity['sealed']
    assert ds['id'][:].tolist() == list(range(1000)) and ds['half'][999] == 499.5
    assert ds['text'][::333] == ['n0', 'n333', 'n666', 'n999']
    assert len(parts_of(tmp_path / 'all')) == 4
    ds.verify(progress=False)


def test_types_and_missing_values(spark, tmp_path):
    frame = spark.sql("""SELECT cast(id AS tinyint) AS small, id = 1 AS flag, array(id, id) AS list,
        encode(cast(id AS string), 'utf-8') AS raw, timestamp '2026-01-02 03:04:05 UTC' AS time,
        if(id = 0, NULL, id) AS gap FROM range(0, 2, 1, 1)""")
    save(frame, tmp_path / 'all')
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == {'small': lx.Field('int8'), 'flag': lx.Field('bool'),
                         'list': lx.Field('int64', (None,)), 'raw': lx.Field(bytes),
                         'time': lx.Field('datetime64[us]'), 'gap': lx.Field('int64')}
    assert ds['list'][1].tolist() == [1, 1] and ds['raw'][:] == [b'0', b'1']
    assert ds['time'][0] == np.datetime64('2026-01-02T03:04:05')
    assert ds['gap'].present().tolist() == [False, True]


def test_given_fields_and_options(session, tmp_path):
    fields = {'id': lx.Field('int64', compress='flate')}
    loaderx.spark.register(session, fields, chunk_records=10, card={'license': 'MIT'})
    save(session.range(50, numPartitions=2), tmp_path / 'all')
    ds = lx.open(tmp_path / 'all')
    assert ds.fields == fields and ds.card['license'] == 'MIT' and len(ds) == 50
    with pytest.raises(TypeError, match='durability'):
        loaderx.spark.register(session, durability='full')


def test_a_task_that_fails_runs_again(spark, tmp_path):
    marks = tmp_path / 'marks'
    marks.mkdir()
    frame = spark.range(1000, numPartitions=4).mapInArrow(fail(str(marks), 2), 'id long')
    save(frame, tmp_path / 'all')
    assert len(os.listdir(marks)) == 2
    assert lx.open(tmp_path / 'all')['id'][:].tolist() == list(range(1000))


def test_a_job_that_fails_publishes_nothing(spark, tmp_path):
    marks = tmp_path / 'marks'
    marks.mkdir()
    frame = spark.range(1000, numPartitions=4).mapInArrow(fail(str(marks), 99), 'id long')
    with pytest.raises(Exception, match='a bad disk'):
        save(frame, tmp_path / 'all')
    assert len(os.listdir(marks)) == 3
    with pytest.raises(FileNotFoundError):
        lx.open(tmp_path / 'all')
    save(numbers(spark), tmp_path / 'all')    # what the failed job has left does no harm
    assert lx.open(tmp_path / 'all')['id'][:].tolist() == list(range(1000))


def test_empty_partitions_and_jobs(spark, tmp_path):
    save(spark.range(1000, numPartitions=4).where('id >= 500'), tmp_path / 'all')
    assert lx.open(tmp_path / 'all')['id'][0] == 500 and len(parts_of(tmp_path / 'all')) == 2
    with pytest.raises(Exception, match='no task wrote a record'):
        save(spark.range(0), tmp_path / 'none')


def test_a_dataset_is_not_replaced(spark, tmp_path):
    save(spark.range(10), tmp_path / 'all')
    with pytest.raises(Exception, match='a dataset is there already'):
        save(spark.range(20), tmp_path / 'all')
    with pytest.raises(Exception, match="the mode 'overwrite' is not supported"):
        save(spark.range(20), tmp_path / 'all', 'overwrite')
    assert len(lx.open(tmp_path / 'all')) == 10


@pytest.mark.parametrize('columns, message', [
    ("id, named_struct('a', id) AS nested", 'nested'),
    ('id, cast(id AS decimal(20, 2)) AS price', 'price'),
])
def test_columns_without_a_type_are_refused(spark, tmp_path, columns, message):
    with pytest.raises(Exception, match=message):
        save(spark.range(10).selectExpr(*columns.split(', ', 1)), tmp_path / 'all')
    assert not os.path.exists(tmp_path / 'all')


def test_unknown_options_are_refused(spark, tmp_path):
    with pytest.raises(Exception, match="the option 'region' is unknown: pass it to"):
        spark.range(10).write.format('loaderx').mode('append').option('region', 'x').save(
            str(tmp_path / 'all'))
