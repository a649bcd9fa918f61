# SPDX-License-Identifier: MIT
"""Readers while a writer writes: live, pinned, refreshed, waiting; in threads and processes."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import loaderx as lx
from processes import run_script

FIELDS = {'a': lx.Field('int64'), 'b': lx.Field('int64'), 'v': lx.Field('int64', 50),
          'text': lx.Field(bytes)}
N = 40


def columns(value, count=N):
    """Return records whose fields all contain the same number."""
    return {'a': np.full(count, value), 'b': np.full(count, value),
            'v': np.full((count, 50), value), 'text': [b'%d' % value] * count}


def number(record):
    """Return the number that all fields of a record contain."""
    numbers = {int(record['a']), int(record['b']), int(record['text']), *record['v'].tolist()}
    assert len(numbers) == 1, numbers
    return numbers.pop()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'dataset'
    with lx.create(path, FIELDS) as writer:
        writer.extend(columns(0))
    return path


@pytest.fixture
def writer(path):
    writer = lx.open(path, mode='r+', durability='none')
    yield writer
    writer.close()


# ---- live


def test_each_call_shows_the_latest_commit(path, writer):
    live, still = lx.open(path, live=True), lx.open(path)
    assert live.live and not still.live
    before = live.identity
    writer.append({name: column[0] for name, column in columns(5).items()})
    assert len(live) == N
    writer.commit()
    assert len(live) == N + 1 and len(still) == N
    assert number(live[-1]) == 5 and number(still[-1]) == 0
    writer[3] = {'a': 7}
    writer.commit()
    assert live['a'][3] == 7 and live.gather([3], ['a'])['a'] == 7 and live[3]['a'] == 7
    with live.views([3], fields=['a']) as views:
        assert views['a'][0] == 7
    assert still['a'][3] == 0
    assert live.identity != before and live['a'].shape == (N + 1,)
    del writer[:N]
    writer.commit()
    assert len(live) == 1 and list(live['a']) == [5] and len(list(live)) == 1
    with pytest.raises(IndexError):
        live[1]
    writer.truncate(0)
    writer.commit()
    assert len(live) == 0 and live.stat()['length'] == 0 and live.verify()['records'] == 0
    assert live.refresh() is False and still['text'][:] == [b'0'] * N
    assert live['a'].present().shape == (0,) and live.probe([]).shape == (0,)


def test_a_live_dataset_follows_all_writer_operations(path, writer):
    live = lx.open(path, live=True)
    writer.add_field('new', lx.Field('int8'))
    writer[0] = {'a': 1}
    writer.commit()
    assert live['a'][0] == 1 and list(live.fields) == list(FIELDS)
    writer.checkpoint()
    assert live['a'][0] == 1
    writer[1] = {'a': 2}
    writer.rebalance()
    assert live['a'][:3].tolist() == [1, 2, 0]
    writer.rename_field('a', 'c')
    writer[2] = {'c': 3}
    writer.seal()
    assert live['a'][:3].tolist() == [1, 2, 3] and live.identity['sealed']
    writer.close()
    lx.unseal(path)
    with lx.open(path, mode='r+') as again:
        again[3] = {'c': 4}
    assert live['a'][:4].tolist() == [1, 2, 3, 4]
    with lx.open(path, mode='r+') as again:
        again.drop_field('c')
    for read in (lambda: live[0], lambda: live['b'][0], lambda: live.gather([0]), live.pin,
                 live.refresh, lambda: live.wait(1)):
        with pytest.raises(lx.LoaderxError, match="'?c'?") as caught:
            read()
        assert caught.value.status == 'LX_ERR_STATE' and 'open' in str(caught.value)


def test_rejects_invalid_arguments(path):
    with pytest.raises(TypeError, match='live'):
        lx.open(path, live=1)
    with pytest.raises(ValueError, match='live'):
        lx.open(path, 'a', live=True)
    with lx.open(path) as dataset:
        for arguments, error, named in [((), TypeError, 'length'), ((-1,), ValueError, 'length'),
                                        (('1',), TypeError, 'length'),
                                        ((True,), TypeError, 'length'),
                                        ((1, True), TypeError, 'timeout'),
                                        ((1, 'x'), TypeError, 'timeout'),
                                        ((1, -0.1), ValueError, 'timeout')]:
            with pytest.raises(error, match=named):
                dataset.wait(*arguments)


# ---- pins


def test_a_pin_keeps_its_snapshot(path, writer):
    for dataset in (lx.open(path, live=True), lx.open(path)):
        writer[:] = {'a': 0}
        writer.commit()
        dataset.refresh()
        pinned = dataset.pin()
        assert type(pinned) is lx.Dataset and not pinned.live
        writer[:] = {'a': 9}
        writer.commit()
        assert not pinned['a'][:].any() and pinned.fields == dataset.fields
        dataset.refresh()
        assert (dataset['a'][:] == 9).all() and not pinned['a'][:].any()
        dataset.close()
        assert not pinned['a'][:].any() and not pinned.closed
        again = pinned.pin()
        assert pinned.refresh() and (pinned['a'][:] == 9).all()
        assert not again['a'][:].any() and again.path == str(path)
        again.close()
        with pytest.raises(lx.LoaderxError, match='closed'):
            again.pin()


def test_a_pin_of_a_live_dataset_shows_the_newest_snapshot(path, writer):
    live = lx.open(path, live=True)
    writer[:] = {'b': 3}
    writer.commit()
    with live.pin() as state:
        assert (state['b'][:] == 3).all()


# ---- waiting


def test_waits_for_more_records(path, writer):
    for dataset in (lx.open(path), lx.open(path, live=True)):
        before = len(dataset)
        assert dataset.wait(before) == before and dataset.wait(0, timeout=0) == before
        with pytest.raises(TimeoutError, match=str(before + 1)):
            dataset.wait(before + 1, timeout=0)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            dataset.wait(length=before + 1, timeout=0.1)
        assert 0.1 <= time.monotonic() - begun < 10

        def append():
            time.sleep(0.15)
            writer.extend(columns(1, 3))
            writer.commit()

        thread = threading.Thread(target=append)
        thread.start()
        assert dataset.wait(before + 1) == before + 3 == len(dataset)
        thread.join()


def test_a_wait_that_times_out_has_refreshed(path, writer):
    with lx.open(path) as dataset:
        writer[0] = {'a': 5}
        writer.commit()
        with pytest.raises(TimeoutError):
            dataset.wait(N + 1, timeout=0)
        assert dataset['a'][0] == 5


def test_ctrl_c_ends_a_wait(path):
    out = run_script(f"""
    dataset = lx.open({str(path)!r})
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        dataset.wait(10 ** 9)
    except KeyboardInterrupt:
        print('interrupted')
    """)
    assert out == 'interrupted\n'


def test_close_does_not_wait_for_waiting_threads(path):
    dataset = lx.open(path)
    outcomes = []

    def wait():
        try:
            dataset.wait(10 ** 9, timeout=30)
        except lx.LoaderxError as error:
            outcomes.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    dataset.close()
    thread.join(20)
    assert not thread.is_alive() and 'closed' in outcomes[0]


# ---- several readers while a writer writes


class Changing:
    """A thread that repeatedly changes all records in one commit."""

    def __init__(self, writer, each=lambda value: None):
        self.value = 0
        self.stop = threading.Event()
        self.failure = None

        def work():
            try:
                while not self.stop.is_set():
                    self.value += 1
                    writer[:] = columns(self.value, len(writer))
                    each(self.value)
                    writer.commit()
            except BaseException as error:
                self.failure = error

        self.thread = threading.Thread(target=work)

    def __enter__(self):
        self.thread.start()
        return self

    def wait_for_more(self):
        """Wait until a commit that has not begun yet has ended."""
        wanted, end = self.value + 2, time.monotonic() + 60
        while self.value < wanted:
            assert time.monotonic() < end
            time.sleep(0.01)

    def __exit__(self, *details):
        self.stop.set()
        self.thread.join(60)
        assert not self.thread.is_alive()
        if self.failure is not None:
            raise self.failure


def check_batch(batch):
    """Check that all records of a batch are of one commit."""
    numbers = {int(n) for name in ('a', 'b') for n in batch[name]} | set(np.unique(batch['v']))
    assert len(numbers) == 1, numbers
    return numbers.pop()


def test_each_call_reads_one_commit(path, writer):
    live, shared = lx.open(path, live=True), lx.open(path)
    with Changing(writer) as changing:
        last = 0
        end = time.monotonic() + 1.5
        while time.monotonic() < end or changing.value <= 10:
            batch = live.gather(slice(None))
            value = check_batch(batch)
            assert batch['text'] == [b'%d' % value] * N and value >= last
            last = number(live[N // 2])
            assert last >= value
            shared.refresh()
            check_batch(shared.gather(slice(None)))
            with live.pin() as state:
                assert len({check_batch(state.gather([1, 2])), number(state[5]),
                            int(state['text'][7])}) == 1
        assert last > 0


def test_threads_read_one_dataset_that_is_refreshed(path, writer):
    dataset = lx.open(path)
    failures = []
    stop = threading.Event()

    def read():
        try:
            while not stop.is_set():
                check_batch(dataset.gather(slice(None)))
                number(dataset[-1])
                dataset.refresh()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    with Changing(writer):
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        stop.set()
        for thread in threads:
            thread.join(60)
    assert not failures


@pytest.mark.parametrize('threads', [0, 2])
def test_a_loader_over_a_live_dataset_reads_each_batch_from_one_snapshot(path, writer, threads):
    live = lx.open(path, live=True)
    loader = lx.Loader(live, fields=['a', 'b', 'v'], batch_size=8, order=lx.Shuffle(seed=1),
                       epochs=None, threads=threads, prefetch_bytes=1 << 12)
    with loader, Changing(writer):
        seen = [check_batch(next(loader)) for _ in range(1500)]
        while seen[-1] == seen[0]:
            seen.append(check_batch(next(loader)))
    assert seen[-1] > seen[0]


def test_a_loader_over_a_pinned_dataset_reads_one_snapshot(path, writer):
    loader = lx.Loader(lx.open(path), fields=['a', 'b', 'v'], batch_size=8, epochs=5)
    with Changing(writer):
        assert {check_batch(batch) for batch in loader} == {0}


def test_lengths_that_change(path, writer):
    live = lx.open(path, live=True)
    draw = np.random.default_rng(1)

    def resize(value):
        writer.truncate(int(draw.integers(0, min(len(writer), N) + 1)))
        writer.extend(columns(value, int(draw.integers(1, N))))

    with Changing(writer, resize):
        end = time.monotonic() + 1
        while time.monotonic() < end:
            batch = live.gather(slice(None))
            check_batch(batch)
            for record in live:
                number(record)
            assert len(live['text'][:]) >= 1
            with pytest.raises(IndexError):
                live[3 * N]


READER = """
import sys, time
import numpy as np
import loaderx as lx
live = lx.open(sys.argv[1], live=True)
print('open', flush=True)
end = time.monotonic() + float(sys.argv[2])
seen = set()
while time.monotonic() < end or len(seen) <= 3:
    batch = live.gather(slice(None), fields=['a', 'b', 'v'])
    numbers = {*np.unique(batch['a']), *np.unique(batch['b']), *np.unique(batch['v'])}
    assert len(numbers) == 1, numbers
    seen |= numbers
print(len(seen))
"""


def test_readers_in_other_processes(path, writer):
    readers = [subprocess.Popen([sys.executable, '-c', READER, path, seconds],
                                stdout=subprocess.PIPE, universal_newlines=True)
               for seconds in ('1.5', '1.5', '60')]
    with Changing(writer) as changing:
        for reader in readers:
            assert reader.stdout.readline() == 'open\n'
        readers[2].send_signal(signal.SIGSTOP)      # a process may be stopped at any time
        for reader in readers[:2]:
            assert int(reader.communicate(timeout=120)[0]) > 3 and reader.returncode == 0
        changing.wait_for_more()
        readers[2].kill()
        readers[2].communicate(timeout=60)
        changing.wait_for_more()


def test_a_child_of_fork_continues_reading(path, writer):
    run_script(f"""
    path = {str(path)!r}
    live, still = lx.open(path, live=True), lx.open(path)
    child = os.fork()
    if child == 0:
        assert len(live) == {N} and live['a'][0] == 0
        with live.pin() as state:
            assert state[0]['a'] == 0
        still.refresh()
        assert still['b'][:].sum() == 0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """)
