# SPDX-License-Identifier: MIT
"""Group commits of several threads, submitted commits, and closing during other calls."""

import threading
import time

import numpy as np
import pytest

import loaderx as lx
from places import is_in_memory
from processes import run_script

FIELDS = {'x': lx.Field('int64')}


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'dataset'


def together(*functions):
    """Call each function in a thread; raise the first exception of any."""
    failures = []

    def call(function):
        try:
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=call, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


# ---- tickets


def test_a_ticket_reports_its_commit(path):
    writer = lx.create(path, FIELDS)
    reader = lx.open(path)
    writer.append(x=1)
    ticket = writer.commit(wait=False)
    assert isinstance(ticket, lx.Ticket)
    assert ticket.wait() is None and ticket.done
    assert ticket.wait(0) is None and ticket.wait(timeout=2.5) is None
    assert reader.refresh() and reader['x'][:].tolist() == [1]
    writer.close()
    assert ticket.wait() is None and ticket.done


def test_many_tickets_in_the_order_of_the_calls(path):
    writer = lx.create(path, FIELDS, durability='full')
    tickets = []
    for i in range(50):
        writer.append(x=i)
        tickets.append(writer.commit(wait=False))
    tickets[-1].wait()
    assert all(ticket.done for ticket in tickets)
    with lx.open(path) as dataset:
        assert dataset['x'][:].tolist() == list(range(50))
    writer.close()


def test_a_rollback_keeps_submitted_calls(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1)
    ticket = writer.commit(wait=False)
    writer.append(x=2)
    writer.rollback()
    ticket.wait()
    assert len(writer) == 1
    writer.close()


def test_a_ticket_can_be_dropped(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1)
    writer.commit(wait=False)
    writer.close()
    with lx.open(path) as dataset:
        assert len(dataset) == 1


def test_a_ticket_outlives_its_writer(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1)
    ticket = writer.commit(wait=False)
    writer.close()
    del writer
    ticket.wait(10)


def test_rejects_invalid_arguments(path):
    with lx.create(path, FIELDS) as writer:
        with pytest.raises(lx.LoaderxError, match='with-block'):
            writer.commit(wait=False)
    writer = lx.open(path, mode='a')
    for wrong in (0, None, 'no'):
        with pytest.raises(TypeError, match='wait'):
            writer.commit(wait=wrong)
    ticket = writer.commit(wait=False)
    for wrong, error in [('1', TypeError), (-1, ValueError), (float('nan'), ValueError),
                         (True, TypeError)]:
        with pytest.raises(error, match='timeout'):
            ticket.wait(wrong)
    ticket.wait(float('inf'))
    with pytest.raises(TypeError):
        lx.Ticket()
    writer.close()


def test_a_wait_times_out(path):
    out = run_script(f"""
    path = {str(path)!r}
    writer = lx.create(path, {{'x': lx.Field('uint8', 1 << 20)}}, durability='full')
    block = np.ones((200, 1 << 20), np.uint8)
    writer.extend(x=block)
    ticket = writer.commit(wait=False)
    try:
        ticket.wait(0)
        print('done')
    except TimeoutError as error:
        print('late' if 'not done' in str(error) else error)
    ticket.wait()
    writer.close()
    print(len(lx.open(path)))
    """)
    assert out.split() in (['late', '200'], ['done', '200'])


# ---- several threads


def append_by_threads(path, commit):
    """Append 40 records in each of 8 threads, and commit each. Return the number of frames."""
    writer = lx.create(path, FIELDS, durability='full')

    def work():
        for i in range(40):
            writer.append(x=i)
            commit(writer)

    together(*[work] * 8)
    writer.close()
    with lx.open(path) as dataset:
        assert len(dataset) == 320
        assert sorted(dataset['x'][:]) == sorted(list(range(40)) * 8)
        return dataset.identity['sequence']


def test_threads_share_commits(path):
    """Without sharing there would be as many frames as appends."""
    frames = append_by_threads(path, lambda writer: writer.commit())
    if is_in_memory(path):
        pytest.skip('syncs on this file system are too fast for another thread to run')
    assert frames < 320


def test_threads_share_submitted_commits(path):
    assert append_by_threads(path, lambda writer: writer.commit(wait=False)) < 320


def test_close_waits_for_calls(path):
    writer = lx.create(path, {'x': lx.Field('uint8', 1 << 16)})
    block = np.ones((500, 1 << 16), np.uint8)
    results = []

    def extend():
        results.append(writer.extend(x=block))

    thread = threading.Thread(target=extend)
    thread.start()
    while len(writer) == 0 and thread.is_alive():
        pass
    writer.close()
    thread.join(60)
    assert results == [0]
    with lx.open(path) as dataset:
        assert len(dataset) == 500


def test_two_close_at_once(path):
    for round in range(20):
        writer = lx.create(path.parent / str(round), FIELDS)
        writer.append(x=1)
        together(writer.close, writer.close, writer.close)
        assert writer.closed


def test_threads_of_all_kinds(path):
    """The result of concurrent calls equals that of some sequence of the calls."""
    writer = lx.create(path, FIELDS, durability='none')
    writer.extend(x=np.zeros(1000, np.int64))
    stop = threading.Event()

    def until_stopped(function):
        def loop():
            while not stop.is_set():
                function()
        return loop

    def pause():
        time.sleep(1)
        stop.set()

    def shrink():
        """If several threads delete, the last record may be gone already."""
        writer.extend(x=[0, 1])
        writer.delete(-1)
        writer.delete(slice(-1, None))

    together(pause, until_stopped(shrink), until_stopped(lambda: writer.append(x=1)),
             until_stopped(writer.commit), until_stopped(lambda: writer.modify(slice(500), x=1)),
             until_stopped(lambda: writer.commit(wait=False).wait()),
             until_stopped(lambda: len(writer)))
    length = len(writer)
    writer.close()
    with lx.open(path) as dataset:
        assert len(dataset) == length and set(dataset['x'][:].tolist()) <= {0, 1}
        dataset.verify()


def test_closes_during_changes_of_other_threads(path):
    writer = lx.create(path, FIELDS)
    writer.extend(x=np.zeros(100, np.int64))
    refused = []

    def work():
        try:
            while True:
                writer.modify([1, 2], x=[5, 6])
                writer.commit()
        except lx.LoaderxError as error:
            refused.append(str(error))

    def close():
        time.sleep(0.2)
        writer.close()

    together(work, work, work, close)
    assert len(refused) == 3 and all('closed' in text for text in refused)


def test_a_ticket_in_a_child_of_fork_is_an_error(path):
    run_script(f"""
    writer = lx.create({str(path)!r}, {{'x': lx.Field('int64')}})
    writer.append(x=1)
    ticket = writer.commit(wait=False)
    ticket.wait()
    child = os.fork()
    if child == 0:
        for function in (lambda: writer.modify(0, x=3), lambda: writer.modify([0], x=3),
                         lambda: writer.delete([0]), lambda: writer.commit(wait=False)):
            try:
                function()
            except lx.LoaderxError:
                pass
            else:
                os._exit(1)
        try:
            ticket.wait(1)
        except lx.LoaderxError:
            pass
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    writer.close()
    """)


def test_a_fork_while_threads_call(path):
    run_script(f"""
    writer = lx.create({str(path)!r}, {{'x': lx.Field('int64')}})
    done = False
    def work():
        while not done:
            writer.append(x=1)
            writer.commit()
    threads = [threading.Thread(target=work) for i in range(3)]
    for thread in threads:
        thread.start()
    for i in range(20):
        child = os.fork()
        if child == 0:
            try:
                writer.close()
            except lx.LoaderxError as error:
                assert error.status == 'LX_ERR_FORKED'
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    done = True
    for thread in threads:
        thread.join()
    writer.close()
    """)
