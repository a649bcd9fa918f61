# SPDX-License-Identifier: MIT
"""Transforms: Python on the threads of the library, and exceptions in it."""

import gc
import sys
import threading
import time
import traceback

import numpy as np
import pytest

import loaderx as lx
from processes import run_script

N = 1003


@pytest.fixture(scope='module')
def data():
    return {'data': np.arange(N * 30, dtype=np.int32).reshape(N, 30), 'label': np.arange(N)}


@pytest.fixture(params=[0, 1, 4])
def threads(request):
    return request.param


def test_takes_the_dict_and_its_result_is_delivered(data, threads):
    def transform(batch):
        assert type(batch) is lx.Batch and list(batch) == ['data', 'label']
        batch['data'] *= 2
        return batch['label'].tolist(), batch['data']

    for labels, array in lx.Loader(data, batch_size=50, threads=threads, transform=transform):
        assert np.array_equal(array, data['data'][labels] * 2)


@pytest.mark.parametrize('result', [None, 0, 'text', [], {}, StopIteration, object()])
def test_any_object_can_be_a_result(data, threads, result):
    got = list(lx.Loader(data, batch_size=300, threads=threads, transform=lambda b: result))
    assert len(got) == 4 and all(one is result for one in got)


def test_results_come_in_order_however_long_each_takes(data, threads):
    def transform(batch):
        time.sleep(0.005 * (batch['label'][0] % 3))
        return batch['label'][0]

    got = list(lx.Loader(data, batch_size=10, threads=threads, transform=transform))
    assert got == list(range(0, N, 10))


def test_several_run_at_a_time(data):
    meeting = threading.Barrier(3)

    def transform(batch):
        if batch['label'][0] < 30:
            meeting.wait(50)
        return batch['label'][0]

    assert len(list(lx.Loader(data, batch_size=10, threads=4, transform=transform))) == 101


def consume(loader):
    """Return the result or exception of each call of next, up to the end."""
    iterator, got = iter(loader), []
    while True:
        try:
            got.append(next(iterator))
        except StopIteration:
            return got
        except Exception as error:
            got.append(error)


def test_raises_an_exception_in_order(data, threads):
    class Mine(Exception):
        pass

    raised = {}

    def transform(batch):
        first = batch['label'][0]
        if first % 200 == 100:
            raised[first] = Mine('at', first)
            raise raised[first]
        return first

    loader = lx.Loader(data, batch_size=50, threads=threads, transform=transform)
    got = consume(loader)
    assert len(got) == 21
    for place, one in enumerate(got):
        first = place * 50
        assert one is raised[first] if first % 200 == 100 else one == first
    stats = loader.stats()
    assert stats['failures'] == 5 and stats['batches'] == 16
    assert loader.tell() == N


def test_the_traceback_shows_the_transform(data, threads):
    def deep(batch):
        raise KeyError('deep')

    def transform(batch):
        deep(batch)

    with pytest.raises(KeyError) as caught:
        next(lx.Loader(data, threads=threads, transform=transform))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ['transform', 'deep'] and names[0].startswith('test_')


def test_stop_iteration_does_not_end_the_loop(data, threads):
    loader = lx.Loader(data, batch_size=500, threads=threads, transform=lambda b: next(iter(())))
    with pytest.raises(RuntimeError, match='StopIteration') as caught:
        list(loader)
    assert isinstance(caught.value.__cause__, StopIteration)


@pytest.mark.parametrize('error', [SystemExit, GeneratorExit, MemoryError, RecursionError])
def test_raises_any_exception(data, threads, error):
    def transform(batch):
        raise error('mine')

    with pytest.raises(error, match='mine'):
        next(lx.Loader(data, threads=threads, transform=transform))


def test_arrays_kept_by_a_transform_stay_readable(data, threads):
    kept = []
    with lx.Loader(data, batch_size=100, threads=threads, transform=kept.append) as loader:
        assert list(loader) == [None] * 11
        loader.seek(50)
        next(loader)
        loader.seek(0)
    del loader
    gc.collect()
    for batch in kept:
        assert np.array_equal(batch['data'], data['data'][batch['label']])


def test_drops_untaken_results(data, threads):
    alive = set()

    class Result:
        def __init__(self, batch):
            self.batch = batch
            alive.add(id(self))

        def __del__(self):
            alive.discard(id(self))

    for end in 'close', 'del', 'seek', 'exception':
        loader = lx.Loader(data, batch_size=10, threads=threads, transform=Result)
        next(loader)
        if end == 'close':
            loader.close()
        elif end == 'seek':
            loader.seek(0)
        del loader
        gc.collect()
        assert not alive


def test_drops_an_untaken_exception(data):
    def transform(batch):
        raise ValueError(batch)

    for _ in range(10):
        loader = lx.Loader(data, batch_size=10, threads=4, transform=transform)
        with pytest.raises(ValueError):
            next(loader)
        loader.close()


@pytest.mark.parametrize('use', [
    lambda loader: next(loader),
    lambda loader: iter(loader),
    lambda loader: loader.seek(0),
    lambda loader: loader.load_state_dict(loader.state_dict()),
    lambda loader: loader.close(),
    lambda loader: loader.__exit__(None, None, None),
], ids=['next', 'iter', 'seek', 'load_state_dict', 'close', 'exit'])
def test_use_of_its_own_loader_is_an_error(data, threads, use):
    def transform(batch):
        use(loader)

    loader = lx.Loader(data, batch_size=10, threads=threads, transform=transform)
    with pytest.raises(lx.LoaderxError, match='transform') as caught:
        next(loader)
    assert caught.value.status == 'LX_ERR_STATE'
    loader.close()


def test_can_use_calls_that_do_not_wait(data, threads):
    def transform(batch):
        return loader.tell(), loader.stats()['batches'], len(loader), loader.closed, repr(loader)

    loader = lx.Loader(data, batch_size=10, threads=threads, transform=transform)
    assert len(list(loader)) == 101


def test_can_cancel_its_loader(data, threads):
    def transform(batch):
        if batch['label'][0] >= 50:
            loader.cancel()
        return batch['label'][0]

    loader = lx.Loader(data, batch_size=10, threads=threads, transform=transform)
    with pytest.raises(lx.LoaderxError) as caught:
        list(loader)
    assert caught.value.status == 'LX_ERR_CANCELED'


@pytest.mark.parametrize('shared', [False, True])
def test_can_use_another_loader(data, threads, shared):
    executor = lx.Executor(readers=threads) if shared else None
    options = dict(executor=executor) if shared else dict(threads=threads)
    inner = lx.Loader(data, batch_size=5, epochs=None, transform=lambda b: b['label'], **options)

    def transform(batch):
        with lx.Loader(data, batch_size=N, transform=dict, **options) as own:
            assert len(list(own)) == 1
        return next(inner)

    outer = lx.Loader(data, batch_size=100, transform=transform, **options)
    assert len(np.concatenate(list(outer))) == 55
    outer.close()
    inner.close()


@pytest.fixture
def few_objects():
    """Let the garbage collector visit only new objects; the objects of other tests make it slow."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures('few_objects')
def test_a_loader_dropped_in_its_own_transform(data, threads):
    """No thread can wait there until the transform ends; the loader is closed soon after."""
    for _ in range(5):
        holder = {}

        def transform(batch, holder=holder):
            holder.clear()
            gc.collect()
            return batch

        holder['loader'] = lx.Loader(data, batch_size=10, threads=threads, transform=transform)
        iterator = iter(holder['loader'])
        next(iterator)
        del iterator
    list(lx.Loader(data, batch_size=500))


@pytest.mark.usefixtures('few_objects')
def test_a_loader_collected_in_a_transform(data):
    def collect(batch):
        gc.collect()
        return batch

    loader = lx.Loader(data, batch_size=10, threads=4, transform=collect)
    for count, batch in enumerate(loader):
        other = lx.Loader(data, batch_size=10, threads=2, transform=lambda b, n=count: (n, b))
        next(other)
        other._cycle = other
        del other
    assert count == 100


@pytest.mark.parametrize('when', ['waiting', 'holding', 'prepared'])
def test_another_thread_closes_its_loader(data, threads, when):
    running, release = threading.Event(), threading.Event()

    def transform(batch):
        running.set()
        if when != 'prepared':
            release.wait(0.2)
        return batch

    loader = lx.Loader(data, batch_size=10, epochs=None, threads=threads, transform=transform)
    outcome = []

    def work():
        try:
            for batch in loader:
                if when == 'holding':
                    time.sleep(0.01)
        except lx.LoaderxError as error:
            outcome.append(error.status)

    worker = threading.Thread(target=work)
    worker.start()
    assert running.wait(50)
    loader.close()
    release.set()
    worker.join(50)
    assert not worker.is_alive()
    assert outcome in (['LX_ERR_STATE'], ['LX_ERR_CANCELED'])


def test_references_do_not_leak(data, threads):
    token = object()

    def transform(batch):
        batch['token'] = token
        return batch

    gc.collect()
    before = sys.getrefcount(token), sys.getrefcount(transform), sys.getrefcount(None)
    for _ in range(5):
        with lx.Loader(data, batch_size=10, threads=threads, transform=transform) as loader:
            for batch in loader:
                pass
            next(iter(loader))
            del batch
    del loader
    gc.collect()
    after = sys.getrefcount(token), sys.getrefcount(transform), sys.getrefcount(None)
    assert after[:2] == before[:2] and abs(after[2] - before[2]) < 50


def test_the_interpreter_waits_for_a_transform_that_runs():
    printed = run_script("""
        started, done = threading.Event(), []
        def transform(batch):
            started.set()
            time.sleep(0.3)
            done.append(1)
            sys.stdout.write('.')
            return batch
        loader = lx.Loader(arrays(), batch_size=8, threads=1, epochs=None, transform=transform)
        threading.Thread(target=lambda: [b for b in loader], daemon=True).start()
        started.wait()
    """)
    assert set(printed) <= {'.'}


def test_no_loader_is_opened_when_the_interpreter_ends():
    """Functions registered before loaderx is imported run after it has closed its loaders."""
    script = """
import atexit
def late():
    try:
        lx.Loader(np.arange(3), transform=dict)
    except lx.LoaderxError as error:
        print(error.status)
atexit.register(late)
import numpy as np, loaderx as lx
"""
    assert run_script(f'os.execv(sys.executable, [sys.executable, "-c", {script!r}])') == (
        'LX_ERR_STATE\n'
    )


# ---- random numbers per record


def keyed(order, world, threads, seed=42, **more):
    """Return the key of each record by epoch and index, from all ranks."""
    keys = {}
    for rank in range(world):
        loader = lx.Loader(np.arange(50), batch_size=7, order=order, rank=rank, world=world,
                           threads=threads, epochs=3, keys=seed, **more)
        seen = 0
        for batch in loader:
            assert batch['keys'].dtype == np.uint64 and batch['keys'].shape == (
                len(batch['data']), 2)
            for index, key in zip(batch['data'][batch.real], batch['keys']):
                keys.setdefault(int(index), []).append(tuple(int(k) for k in key))
            seen += len(batch['data'])
    return keys


def test_keys_depend_on_nothing_else():
    right = keyed(lx.Sequential(), 1, 0)
    assert len({key for keys in right.values() for key in keys}) == 150
    assert keyed(lx.Sequential(), 1, 3) == right
    for order in lx.Shuffle(seed=1), lx.Blocks(block=5, seed=2):
        one = keyed(order, 1, 0)
        assert sorted(sum(one.values(), [])) == sorted(sum(right.values(), []))
        assert {index: sorted(keys) for index, keys in keyed(order, 3, 2).items()} == {
            index: sorted(keys) for index, keys in one.items()}
    assert keyed(lx.Sequential(), 1, 0, seed=43) != right


def test_draws_of_one_record_have_different_keys():
    order = lx.Repeat(lx.Sequential(n=3), 4)
    batches = list(lx.Loader(np.arange(3), batch_size=5, order=order, keys=7, epochs=2))
    keys = np.concatenate([batch['keys'][batch.real] for batch in batches])
    assert len(keys) == 24 and len(np.unique(keys, axis=0)) == 24


def test_a_transform_receives_keys():
    def augment(batch):
        return [lx.generator(key).random() for key in batch['keys']]

    draws = [list(lx.Loader(np.arange(20), batch_size=3, transform=augment, keys=2**64 - 1,
                            threads=threads)) for threads in (0, 2)]
    assert draws[0] == draws[1]
    assert len({draw for batch in draws[0] for draw in batch}) == 20


def test_rejects_invalid_keys():
    for wrong, kind in (-1, ValueError), (2**64, ValueError), ('x', TypeError):
        with pytest.raises(kind, match='keys'):
            lx.Loader(np.arange(3), keys=wrong)
    with pytest.raises(ValueError, match="a field 'keys'"):
        lx.Loader({'keys': np.arange(3)}, keys=1)
    assert 'keys' not in next(lx.Loader(np.arange(3)))
