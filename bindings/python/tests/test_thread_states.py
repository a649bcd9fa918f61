# SPDX-License-Identifier: MIT
"""Python thread states on the library's threads, one for the life of each; and os.fork()."""

import ctypes
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import loaderx as lx
from processes import run_script

DATA = {'label': np.arange(1000)}


def count_thread_states():
    api = ctypes.pythonapi
    for function in (api.PyInterpreterState_Main, api.PyInterpreterState_ThreadHead,
                     api.PyThreadState_Next):
        function.restype = ctypes.c_void_p
    state = api.PyInterpreterState_ThreadHead(ctypes.c_void_p(api.PyInterpreterState_Main()))
    count = 0
    while state:
        count += 1
        state = api.PyThreadState_Next(ctypes.c_void_p(state))
    return count


@pytest.mark.parametrize('threads', [1, 4])
def test_thread_local_data_lives_as_long_as_its_thread(threads):
    local, counts = threading.local(), []

    def transform(batch):
        local.calls = getattr(local, 'calls', 0) + 1
        counts.append((threading.get_ident(), local.calls))

    list(lx.Loader(DATA, batch_size=10, threads=threads, transform=transform))
    for thread in {thread for thread, _ in counts}:
        calls = [count for one, count in counts if one == thread]
        assert calls == list(range(1, len(calls) + 1))


def test_a_thread_that_ends_drops_its_data():
    local, kept = threading.local(), []

    class Data:
        def __del__(self):
            ensure, release = ctypes.pythonapi.PyGILState_Ensure, ctypes.pythonapi.PyGILState_Release
            release(ensure())    # waits forever if the interpreter does not find the thread's state

    def transform(batch):
        if threading.current_thread() is threading.main_thread():
            while not kept:
                time.sleep(0.001)    # until a thread of the library has run another batch
        elif not hasattr(local, 'data'):
            local.data = Data()
            kept.append(weakref.ref(local.data))

    with lx.Loader(DATA, batch_size=10, threads=3, transform=transform) as loader:
        list(loader)
        assert all(reference() is not None for reference in kept)
    assert all(reference() is None for reference in kept)


def test_thread_states_do_not_accumulate():
    def use():
        with lx.Loader(DATA, batch_size=10, threads=4, transform=lambda batch: None) as loader:
            list(loader)

    use()
    gc.collect()
    before = count_thread_states()
    for _ in range(50):
        use()
    assert count_thread_states() == before


def test_threads_of_an_executor_outlive_the_interpreter():
    run_script("""
        executor = lx.Executor(readers=4)
        local = threading.local()
        def transform(batch):
            local.value = batch
        loader = lx.Loader(arrays()[0], batch_size=16, executor=executor, transform=transform)
        list(loader)
    """, silent=True)


def test_fork_while_transforms_run():
    """In CPython 3.11 and older, a child hung if a thread created or deleted its state."""
    run_script("""
        data = {'x': np.arange(100000)}
        end, children = time.monotonic() + 3, 0
        while time.monotonic() < end:
            with lx.Loader(data, batch_size=4, threads=4, transform=lambda b: b['x'][0]) as loader:
                for _ in range(100):
                    next(loader)
                    child = os.fork()
                    if child == 0:
                        os._exit(0)
                    children += 1
                    limit = time.monotonic() + 60
                    while os.waitpid(child, os.WNOHANG)[0] == 0:
                        if time.monotonic() > limit:
                            os.kill(child, signal.SIGKILL)
                            sys.exit(f'child {children} hangs within os.fork()')
                        time.sleep(0)
    """)


def test_a_child_of_fork_runs_transforms():
    run_script("""
        data = {'x': np.arange(1000)}
        def use():
            with lx.Loader(data, batch_size=4, threads=3, transform=lambda b: b['x'][0]) as loader:
                assert list(loader) == list(range(0, 1000, 4))
        parent = iter(lx.Loader(data, batch_size=4, threads=3, transform=lambda b: b))
        next(parent)
        child = os.fork()
        use()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
