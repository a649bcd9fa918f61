# SPDX-License-Identifier: MIT
"""Makes ``os.fork()`` wait until no worker thread is running a task.

A task may hold locks, such as the lock of the dataset, of the logging module or of an import. The
child has no thread that would release them, so it would wait forever.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import Iterator, Set

__all__ = ['task']

# How long fork() waits for tasks, in seconds. A task may itself wait for the thread that forks.
_LONGEST = 10.0


class _Tasks:
    """The threads that are running a task."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.Lock())
        self.running: Set[int] = set()


_tasks = _Tasks()


@contextlib.contextmanager
def task() -> Iterator[None]:
    """Mark the calling thread as running a task; wait while another thread forks."""
    here, tasks = threading.get_ident(), _tasks
    with tasks.changed:
        tasks.running.add(here)
    try:
        yield
    finally:
        with tasks.changed:
            tasks.running.discard(here)
            tasks.changed.notify_all()


def _before() -> None:
    """Wait for the tasks of other threads, and keep new ones from starting."""
    here, end = threading.get_ident(), time.monotonic() + _LONGEST
    _tasks.changed.acquire()
    own = here in _tasks.running
    _tasks.running.discard(here)    # so two tasks that fork do not wait for each other
    _tasks.changed.notify_all()
    while _tasks.running and time.monotonic() < end:
        _tasks.changed.wait(max(end - time.monotonic(), 0))
    if own:
        _tasks.running.add(here)


def _in_parent() -> None:
    _tasks.changed.release()


def _in_child() -> None:
    global _tasks
    _tasks = _Tasks()    # the other threads do not exist here


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
