# SPDX-License-Identifier: MIT
"""Executors: the number of threads, and closing."""

import gc
import pickle

import pytest

import loaderx as lx
from processes import run_script


def test_numbers_of_threads():
    with lx.Executor(readers=3, writers=2) as executor:
        assert (executor.readers, executor.writers) == (3, 2)
        assert repr(executor) == 'loaderx.Executor(readers=3, writers=2)'
    with lx.Executor(None, writers=None) as executor:
        assert 0 < executor.readers <= 64 and executor.writers == 1
    with lx.Executor(readers=0) as executor:
        assert executor.readers == 0


def test_starts_threads_with_the_first_task():
    with lx.Executor() as executor:
        stats = executor.stats()
        assert list(stats) == ['read', 'write']
        assert all(queue['threads'] == queue['tasks'] == 0 for queue in stats.values())


@pytest.mark.parametrize('options, error', [
    ({'readers': 65}, ValueError), ({'readers': -1}, ValueError), ({'readers': 2.0}, TypeError),
    ({'readers': '2'}, TypeError), ({'readers': True}, TypeError), ({'writers': True}, TypeError),
    ({'readers': 2 ** 80}, ValueError), ({'writers': 0}, ValueError),
    ({'writers': 5}, ValueError),
    ({'threads': 3}, TypeError),
])
def test_rejects_invalid_numbers_by_name(options, error):
    with pytest.raises(error, match=next(iter(options))):
        lx.Executor(**options)


def test_reports_use_after_close():
    executor = lx.Executor()
    assert not executor.closed
    executor.close()
    executor.close()
    assert executor.closed and 'closed' in repr(executor)
    for function in (executor.stats, lambda: executor.readers):
        with pytest.raises(lx.LoaderxError, match='closed') as caught:
            function()
        assert caught.value.status == 'LX_ERR_STATE'


def test_rejects_pickling():
    with lx.Executor() as executor, pytest.raises(TypeError, match='threads'):
        pickle.dumps(executor)


def test_reports_a_closed_executor_to_its_writer(tmp_path):
    executor = lx.Executor()
    writer = lx.create(tmp_path / 'd', {'x': lx.Field('uint8', 100)}, executor=executor)
    executor.close()
    with pytest.raises((lx.LoaderxError, OSError)):
        writer.extend(x=[[1] * 100] * 50000)
        writer.commit()
    writer.rollback()
    writer.close()
    del executor
    gc.collect()


def test_use_in_a_child_of_fork_is_an_error():
    run_script("""
    executor = lx.Executor()
    child = os.fork()
    if child == 0:
        try:
            executor.stats()
        except lx.LoaderxError as error:
            ok = error.status == 'LX_ERR_FORKED'
        executor.close()
        del executor
        os._exit(not ok)
    assert os.waitpid(child, 0)[1] == 0
    executor.close()
    """)
