# SPDX-License-Identifier: MIT
"""Iterating on a thread: order, exceptions, early ends, and processes that end or fork."""

import gc
import random
import threading
import time
import traceback

import numpy as np
import pytest

import loaderx as lx
from processes import run_script


class Source:
    """Generators of the numbers below `end`, which count what they do."""

    def __init__(self, end, failing=None, pause=0):
        self.end, self.failing, self.pause = end, failing, pause
        self.made, self.thread, self.closed = 0, None, False

    def numbers(self):
        self.thread = threading.current_thread()
        try:
            for i in range(self.end):
                if i == self.failing:
                    raise ValueError(f'number {i} is bad')
                if self.pause and i % 3 == 0:
                    time.sleep(self.pause)
                self.made = i + 1
                yield i
        finally:
            self.closed = True


def threads():
    return [thread for thread in threading.enumerate() if thread.name == 'loaderx.prefetch']


def eventually(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    assert not threads()


def test_items_arrive_in_order_from_another_thread():
    source = Source(100)
    assert list(lx.prefetch(source.numbers(), 3)) == list(range(100))
    assert source.thread is not threading.current_thread() and source.closed


@pytest.mark.parametrize('n', [1, 2, 5])
def test_at_most_n_items_are_ready(n):
    source = Source(50)
    with lx.prefetch(source.numbers(), n) as items:
        for i in range(45):
            eventually(lambda i=i: source.made == i + n)
            if i % 10 == 0:
                time.sleep(0.005)
                assert source.made == i + n
            assert next(items) == i


def test_the_default_is_two_items():
    source = Source(50)
    items = lx.prefetch(source.numbers())
    eventually(lambda: source.made == 2)
    time.sleep(0.01)
    assert source.made == 2
    items.close()


@pytest.mark.parametrize('iterable', [[], [1, 2], 'text', range(5), {'a': 1}, iter([None] * 2)])
def test_any_iterable(iterable):
    expected = [None, None] if not hasattr(iterable, '__len__') else list(iterable)
    items = lx.prefetch(iterable)
    assert iter(items) is items and list(items) == expected
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(items)


def test_loaders():
    data = {'x': np.arange(100)}
    with lx.Loader(data, batch_size=8) as loader:
        got = [batch['x'] for batch in lx.prefetch(loader)]
    assert np.array_equal(np.concatenate(got), np.arange(100))


def test_random_histories():
    rng = random.Random(20261126)
    for _ in range(300):
        end = rng.randrange(15)
        failing = rng.choice([None, rng.randrange(15)])
        source = Source(end, failing, rng.choice([0, 0.0002]))
        taken, slow = rng.randrange(17), rng.choice([0, 0.0002])
        items, got, error = lx.prefetch(source.numbers(), rng.randint(1, 4)), [], None
        try:
            for item in items:
                if len(got) == taken:
                    break
                got.append(item)
                time.sleep(slow)
        except ValueError as failure:
            error = str(failure)
        most = min(end, taken, end if failing is None else failing)
        assert got == list(range(most))
        fails = failing is not None and failing < end and failing <= taken
        assert error == (f'number {failing} is bad' if fails else None)
        items.close()
        assert source.thread is None or source.closed
        assert next(items, 'ended') == 'ended'


def test_an_exception_follows_the_items_before_it_with_its_traceback():
    items = lx.prefetch(Source(9, failing=2).numbers(), 5)
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(ValueError, match='number 2 is bad') as info:
        next(items)
    names = [frame.name for frame in traceback.extract_tb(info.value.__traceback__)]
    assert names[-1] == 'numbers'
    assert list(items) == []


class Stubborn:
    """An iterator that continues after an exception."""

    def __init__(self):
        self.calls = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.calls += 1
        if self.calls % 3 == 0:
            raise KeyError(self.calls)
        if self.calls > 10:
            raise StopIteration
        return self.calls


def test_an_iterator_can_continue_after_an_exception_once_it_is_asked_to():
    source, got = Stubborn(), []
    items = lx.prefetch(source, 4)
    eventually(lambda: source.calls == 3)
    while True:
        try:
            got.append(next(items))
        except KeyError as error:
            calls = source.calls
            assert calls == error.args[0]
            time.sleep(0.002)
            assert source.calls == calls    # the thread waits
            got.append(-calls)
        except StopIteration:
            break
    assert got == [1, 2, -3, 4, 5, -6, 7, 8, -9, 10]


class Empty(Exception):
    """An exception that is false."""

    def __len__(self):
        return 0


@pytest.mark.parametrize('kind', [Empty, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_unusual_exceptions_arrive(kind):
    def fail():
        yield 1
        raise kind

    items = lx.prefetch(fail())
    assert next(items) == 1
    with pytest.raises(kind):
        next(items)
    assert next(items, None) is None


@pytest.mark.parametrize('how', ['close', 'with', 'drop', 'cycle', 'raise'])
def test_an_early_end_closes_the_generator(how):
    source = Source(1000)
    items = lx.prefetch(source.numbers())
    if how == 'with':
        with items:
            next(items)
    elif how == 'raise':
        with pytest.raises(KeyError), items:
            raise KeyError
    else:
        next(items)
    if how == 'close':
        items.close()
        items.close()
    elif how == 'cycle':
        items._itself = items
        del items
        gc.collect()
    elif how == 'drop':
        del items
    assert source.closed and source.made < 10


def test_iterators_that_are_not_generators_stay_open(tmp_path):
    (tmp_path / 'lines').write_text('a\nb\nc\nd\ne\nf\n')
    with open(tmp_path / 'lines') as file:
        with lx.prefetch(file, 1) as lines:
            assert next(lines) == 'a\n'
        assert not file.closed


def test_close_raises_what_the_generator_raises():
    def bad():
        try:
            yield 1
            yield 2
        finally:
            raise OSError('cannot clean up')

    items = lx.prefetch(bad(), 1)
    assert next(items) == 1
    with pytest.raises(OSError, match='cannot clean up'):
        items.close()
    items.close()


def test_close_drops_what_was_not_taken():
    source = Source(9, failing=1)
    items = lx.prefetch(source.numbers())
    eventually(lambda: source.closed)
    items.close()
    assert list(items) == []


def test_close_wakes_a_thread_that_waits():
    release, got = threading.Event(), []

    def slow():
        yield 1
        release.wait(10)
        yield 2

    items = lx.prefetch(slow())
    waiting = threading.Thread(target=lambda: got.extend(items))
    waiting.start()
    eventually(lambda: got == [1])
    closing = threading.Thread(target=items.close)
    closing.start()
    waiting.join(10)
    assert not waiting.is_alive() and got == [1]
    release.set()
    closing.join(10)


def test_several_threads_share_the_items():
    items, got = lx.prefetch(range(2000), 3), []
    consumers = [threading.Thread(target=lambda: got.extend(items)) for _ in range(4)]
    for consumer in consumers:
        consumer.start()
    for consumer in consumers:
        consumer.join(20)
    assert sorted(got) == list(range(2000))


def test_prefetchers_nest():
    source = Source(1000)
    inner = lx.prefetch(source.numbers())
    items = lx.prefetch(inner, 3)
    del inner
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    items.close()
    eventually(lambda: source.closed)


def test_invalid_arguments():
    with pytest.raises(TypeError, match='not iterable'):
        lx.prefetch(5)
    for n in (0, -1):
        with pytest.raises(ValueError, match='n must be from 1'):
            lx.prefetch([], n)
    with pytest.raises(TypeError, match='n must be an int'):
        lx.prefetch([], 1.5)


def test_a_signal_interrupts_the_wait_and_no_item_is_lost():
    run_script("""
    caught = threading.Event()

    def slow():
        for i in range(5):
            assert caught.wait(60)
            yield i

    def interrupt():
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    items = lx.prefetch(slow())
    try:
        threading.Thread(target=interrupt).start()
        next(items)
        sys.exit(3)
    except KeyboardInterrupt:
        caught.set()
    assert list(items) == [0, 1, 2, 3, 4]
    """, silent=True)


def test_the_end_of_the_process_closes_the_generator():
    assert run_script("""
    def endless():
        try:
            while True:
                yield 1
        finally:
            print('closed', flush=True)

    items = lx.prefetch(endless())
    next(items)
    """, silent=True) == 'closed\n'


def test_the_end_of_the_process_waits_once_for_all_that_are_blocked():
    assert run_script("""
    import atexit, threading
    from loaderx import prefetching

    def blocked():
        try:
            yield 1
            waiting.release()
            time.sleep(60)
        finally:
            print('closed')    # if the process waits for too long

    def failing():
        try:
            while True:
                yield 1
        finally:
            raise RuntimeError('of the last step')

    waiting = threading.Semaphore(0)
    prefetching._PATIENCE = 1
    atexit.unregister(prefetching._stop_all)
    @atexit.register
    def measure():
        begun = time.monotonic()
        prefetching._stop_all()
        assert 0.9 < time.monotonic() - begun < 20
        for one in items:
            one.close()    # does not wait again
        print('ended in time', flush=True)

    sys.excepthook = lambda kind, error, traceback: print(error)
    items = [lx.prefetch(make(), 1) for make in [blocked] * 30 + [failing] * 2]
    assert [next(one) for one in items] == [1] * 32
    for _ in range(30):
        waiting.acquire()
    """, silent=True) == 'of the last step\nof the last step\nended in time\n'


def test_a_child_of_fork_gets_an_error():
    run_script("""
    from loaderx import prefetching

    def slow():
        while True:
            yield 1
            time.sleep(0.01)

    items = lx.prefetch(slow())
    next(items)
    child = os.fork()
    if child == 0:
        try:
            next(items)
        except lx.LoaderxError as error:
            ok = error.status == 'LX_ERR_FORKED' and 'prefetcher' in str(error)
        items.close()
        prefetching._stop_all()
        del items
        os._exit(not ok)
    assert os.waitpid(child, 0)[1] == 0
    assert next(items) == 1
    """)
