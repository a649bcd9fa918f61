# SPDX-License-Identifier: MIT
"""Messages of the library in Python's logging."""

import logging
import threading

import numpy as np
import pytest

import loaderx as lx
from processes import run_script


@pytest.fixture
def path(tmp_path):
    """A dataset whose writer was interrupted: opening a writer logs a warning."""
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(3))
    spoil(tmp_path / 'd')
    return tmp_path / 'd'


def spoil(path):
    with open(path / 'LOG', 'ab') as file:
        file.write(b'half a frame')


class Handler(logging.Handler):
    """Passes each message to a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def emit(self, record):
        self.function(record)


@pytest.fixture
def listen():
    """Return a function that adds a handler to the logger."""
    added = []
    logger = logging.getLogger('loaderx')

    def listen(function):
        added.append(Handler(function))
        logger.addHandler(added[-1])

    yield listen
    for handler in added:
        logger.removeHandler(handler)


def test_messages_reach_logging(path, caplog):
    caplog.set_level(logging.INFO, 'loaderx')
    lx.open(path, 'r+').close()
    assert [record.levelname for record in caplog.records] == ['WARNING']
    assert caplog.records[0].name == 'loaderx'
    assert str(path) in caplog.records[0].getMessage()
    (path / 'chunk' / '99.zr').write_bytes(b'')
    caplog.clear()
    lx.open(path, 'r+').close()
    assert [record.levelname for record in caplog.records] == ['INFO']
    assert '99.zr' in caplog.text
    caplog.clear()
    lx.open(path, 'r+').close()
    assert not caplog.records


def test_warnings_are_visible_without_a_configuration(path):
    shown = run_script(f'sys.stderr = sys.stdout; lx.open({str(path)!r}, "a").close()')
    assert str(path) in shown


def test_a_handler_may_use_the_library(path, listen):
    lengths = []

    def use(record):
        with lx.open(path) as dataset:
            lengths.append(len(dataset))
        lx.Executor(readers=1, writers=1).close()

    listen(use)
    lx.open(path, 'a').close()
    assert lengths == [3]


def test_no_deadlock_between_threads(tmp_path, listen):
    seen = []
    listen(lambda record: seen.append(record.getMessage()))

    def work(number):
        path = tmp_path / str(number)
        lx.create(path, {'x': lx.Field('int64')}).close()
        for _ in range(20):
            spoil(path)
            with lx.open(path, 'a') as writer:
                writer.append(x=1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(seen) == 80
    assert all(any(f'{tmp_path}/{number}' in text for text in seen) for number in range(4))


def test_an_error_of_a_handler_does_not_fail_the_call(path, listen, monkeypatch):
    unraisable = []
    monkeypatch.setattr('sys.unraisablehook', lambda details: unraisable.append(details.exc_type))

    def fail(record):
        raise ZeroDivisionError

    listen(fail)
    lx.open(path, 'a').close()
    assert unraisable == [ZeroDivisionError]


def test_a_signal_in_a_handler_is_raised_after_the_call(path, listen):
    opened = []

    def interrupt(record):
        raise KeyboardInterrupt

    listen(interrupt)
    with pytest.raises(KeyboardInterrupt):
        opened.extend(map(lambda path: lx.open(path, 'a'), [path]))
        for _ in range(1000):
            pass
