# SPDX-License-Identifier: MIT
"""Workers of loaderx.torch.DataLoader that are threads and run the code of a dataset."""

import gc
import threading
import time
import warnings
from functools import partial

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

import numpy as np
from torch.utils import data
from torch.utils.data import get_worker_info

import loaderx as lx
import loaderx.torch as lt
from processes import run_script
from torch_loaders import Pairs, Stream, make_dataset, outcome, same

# torch itself warns, for bool scalars
pytestmark = pytest.mark.filterwarnings('ignore:In future, it will be an error')

BOUND = 30    # in seconds; generous for immediate events


def workers():
    return [one for one in threading.enumerate() if one.name.startswith('loaderx.torch worker')]


def wait_until(condition):
    end = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < end, 'it does not happen'
        time.sleep(.005)


def threaded(*arguments, **more):
    return lt.DataLoader(*arguments, workers='threads', **more)


class Failing(Pairs):
    """Records of which one cannot be read."""

    def __init__(self, make):
        self.make = make

    def __getitem__(self, index):
        if index == 5:
            raise self.make()
        return super().__getitem__(index)


def raised(loader):
    """Return the exception for the batch of record 5; all other batches must be returned."""
    iterator, got, error = iter(loader), [], None
    while True:
        try:
            got.append(next(iterator))
        except StopIteration:
            assert len(got) == len(loader) - 1
            return error
        except Exception as caught:
            error = caught


@pytest.mark.parametrize('make', [
    partial(ValueError, 'five'), partial(KeyError, 'five'), partial(OSError, 5, 'five'),
    partial(UnicodeDecodeError, 'ascii', b'', 0, 1, 'five'), partial(lx.LoaderxError, 'five'),
], ids=['value', 'key', 'os', 'decode', 'ours'])
def test_errors_match_those_of_torch_workers(make):
    ours, theirs = (raised(make_loader(Failing(make), 2, num_workers=2))
                    for make_loader in (threaded, data.DataLoader))
    assert type(ours) is type(theirs)
    first = str(theirs).split('Original')[0].replace('worker process', 'worker thread')
    assert str(ours).startswith(first)
    assert 'in __getitem__' in str(ours) and 'raise self.make()' in str(ours)
    assert type(ours.__cause__) is type(make()) and ours.__cause__.args == make().args


def test_raises_the_original_error_without_workers():
    error = raised(lt.DataLoader(Failing(lambda: ValueError('five')), 2))
    assert str(error) == 'five'


def test_a_base_exception_ends_a_worker_as_in_torch():
    error = raised(threaded(Failing(SystemExit), 2, num_workers=1))
    assert isinstance(error, RuntimeError) and isinstance(error.__cause__, SystemExit)


def test_damage_names_its_location():
    """An exception that cannot be constructed again is kept as the cause."""
    made = lx.CorruptError('damaged')
    error = raised(threaded(Failing(lambda: made), 2, num_workers=1))
    assert error.__cause__ is made


# ---- worker information


def test_a_worker_has_worker_info():
    class Asking(Pairs):
        def __getitem__(self, index):
            info = get_worker_info()
            assert info.dataset is self
            return torch.tensor([info.id, info.num_workers]), info.seed

    generator = torch.Generator().manual_seed(3)
    seed = torch.empty((), dtype=torch.int64).random_(generator=generator).item()
    generator.manual_seed(3)
    loader = threaded(Asking(), 1, num_workers=2, generator=generator)
    for number, (info, seeds) in enumerate(loader):
        assert info.tolist() == [[number % 2, 2]]
        assert seeds.item() == seed + number % 2
    assert get_worker_info() is None


def test_init_is_refused():
    """It usually seeds the global generators, which are also those of the training loop."""
    for more in {'worker_init_fn': print}, {'multiprocessing_context': 'fork', 'num_workers': 1}:
        with pytest.raises(ValueError, match=f"combined with {[*more][0]}"):
            threaded(Pairs(), **more)
    with pytest.raises(ValueError, match="must be 'threads', 'processes' or None, not 'fork'"):
        lt.DataLoader(Pairs(), workers='fork')


def test_reads_a_stream_that_cannot_be_copied():
    stream = Stream(9)
    stream.lock = threading.Lock()
    got = [batch['i'].item() for batch in threaded(stream, num_workers=2)]
    assert got == list(range(9))


def test_collation_makes_no_shared_memory():
    batch = next(iter(threaded([torch.zeros(3)] * 4, 4, num_workers=1)))
    assert not batch.is_shared()


def test_keeps_the_gradient_mode_of_the_caller():
    class Asking(Pairs):
        def __getitem__(self, index):
            return torch.is_grad_enabled()

    for enabled in True, False:
        with torch.set_grad_enabled(enabled):
            loader = threaded(Asking(), None, num_workers=1)
            assert set(loader) == {enabled}


def test_processes_of_torch_have_worker_info():
    assert len(list(threaded(Pairs(), num_workers=1))) == 41
    got = list(data.DataLoader(Stream(6), None, num_workers=2))
    assert [one['worker'] for one in got] == [0, 1, 0, 1, 0, 1]


def test_warns_of_more_items_than_len_promised():
    class Sized(Stream):
        def __len__(self):
            return 5

    loader = threaded(Sized(9), num_workers=2)
    assert len(loader) == 5
    with pytest.warns(UserWarning, match='was reported to be 5 .* but [6-9] samples have been'):
        assert len(list(loader)) == 9


# ---- waiting and closing


class Blocked(Pairs):
    """Records that block until they are released."""

    def __init__(self):
        self.go = threading.Event()

    def __getitem__(self, index):
        self.go.wait(BOUND)
        return index


def test_a_timeout_raises_as_in_torch():
    dataset = Blocked()
    loader = threaded(dataset, 2, num_workers=1, timeout=.05)
    iterator = iter(loader)
    with pytest.raises(RuntimeError, match=r'^DataLoader timed out after 0\.05 seconds$'):
        next(iterator)
    dataset.go.set()


def test_a_dropped_iterator_ends_without_waiting():
    wait_until(lambda: not workers())    # threads of earlier tests
    dataset = Blocked()
    iterator = iter(threaded(dataset, 2, num_workers=3))
    assert len(workers()) == 3
    begun = time.monotonic()
    del iterator
    gc.collect()
    assert time.monotonic() - begun < BOUND / 2
    dataset.go.set()
    wait_until(lambda: not workers())


def test_out_of_order_returns_finished_batches_first():
    """As with in_order=False, which old versions of torch lack."""
    go = threading.Event()

    class Slow(Pairs):
        def __getitem__(self, index):
            if index == 0:
                go.wait(BOUND)
            return index

    loader = threaded(Slow(), None, num_workers=2)
    loader.in_order = False
    iterator = iter(loader)
    got = [next(iterator)]
    with pytest.raises(ValueError, match='in_order'):
        loader.state_dict()
    go.set()
    got += iterator
    assert got[0] != 0 and sorted(got) == list(range(41))
    assert loader.state_dict()['batches'] == 0


@pytest.mark.parametrize('stream', [False, True])
def test_threads_end_with_the_pass(stream):
    for _ in range(3):
        list(threaded(Stream(20) if stream else Pairs(), 2, num_workers=3))
    wait_until(lambda: not workers())


def test_leaving_a_loop_ends_its_threads():
    loader = threaded(Pairs(), 1, num_workers=2)
    for _ in loader:
        break
    wait_until(lambda: not workers())
    assert len(list(loader)) == 41


def test_persistent_workers_stay():
    loader = threaded(Pairs(), 4, shuffle=True, num_workers=2, persistent_workers=True)
    list(loader)
    known = set(workers())
    iterator = iter(loader)
    next(iterator)
    assert len(list(iter(loader))) == 11 and set(workers()) == known and len(known) == 2
    del loader, iterator
    gc.collect()
    wait_until(lambda: not workers())


def test_a_process_exits_with_a_running_loader():
    run_script("""
        import threading
        import loaderx.torch as lt

        class Blocked:
            def __len__(self): return 100
            def __getitem__(self, index): threading.Event().wait()

        iterator = iter(lt.DataLoader(Blocked(), 2, num_workers=2, workers='threads'))
    """)


def test_reports_use_in_a_forked_process():
    run_script("""
        import os
        import loaderx.torch as lt
        iterator = iter(lt.DataLoader(range(100), num_workers=1, workers='threads'))
        next(iterator)
        child = os.fork()
        if child == 0:
            try:
                next(iterator)
            except RuntimeError as error:
                os._exit(7 if 'a different process' in str(error) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    """)


def test_no_thread_runs_code_of_a_dataset_during_a_fork():
    """The child gets no lock that a thread of the parent holds."""
    run_script("""
        import os, threading, time
        import loaderx.torch as lt

        lock = threading.Lock()

        class Locking:
            def __len__(self): return 100_000
            def __getitem__(self, index):
                with lock:
                    time.sleep(.002)
                return index

        iterator = iter(lt.DataLoader(Locking(), 2, num_workers=3, workers='threads'))
        for _ in range(20):
            next(iterator)
            child = os.fork()
            if child == 0:
                free = lock.acquire(timeout=5)
                other = lt.DataLoader(range(4), num_workers=1, workers='threads')
                os._exit(0 if free and len(list(other)) == 4 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)


def test_a_task_can_fork():
    run_script("""
        import os
        import loaderx.torch as lt

        class Forking:
            def __len__(self): return 20
            def __getitem__(self, index):
                child = os.fork()
                if child == 0:
                    os._exit(0)
                return os.waitpid(child, 0)[1]

        assert sum(map(int, lt.DataLoader(Forking(), num_workers=3, workers='threads'))) == 0
    """)


@pytest.mark.parametrize('workers', [0, 2])
def test_pinning_without_a_device_warns_as_torch_does(workers):
    array = lx.NPDataset(np.arange(9))

    def run(module, dataset, workers):
        return outcome(lambda: list(module.DataLoader(dataset, 4, num_workers=workers,
                                                      pin_memory=True)))

    if torch.cuda.is_available():
        pytest.skip('there is a device')
    for dataset in array, Pairs():
        assert same(run(lt, dataset, workers), run(data, dataset, 0))


def test_threads_cause_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        threaded(Pairs(), num_workers=64)
    with pytest.warns(UserWarning, match='This DataLoader will create 640 worker processes'):
        lt.DataLoader(Pairs(), num_workers=640, multiprocessing_context='fork')


def test_workers_over_a_stored_dataset_with_code_of_the_users(tmp_path):
    """Cases that the library cannot read itself."""
    with make_dataset(tmp_path / 'stored') as stored:
        expected = list(data.DataLoader(stored, 6))
        for more in {'timeout': BOUND}, {'sampler': np.arange(41)}:
            assert same(list(threaded(stored, 6, num_workers=2, **more)), expected)
        sizes = list(threaded(stored, 6, num_workers=2, collate_fn=len))
        assert sizes == [6] * 6 + [5]
