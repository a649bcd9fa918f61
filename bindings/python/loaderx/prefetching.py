# SPDX-License-Identifier: MIT
"""Prefetches the items of any iterable on a thread."""

from __future__ import annotations

import atexit
import collections
import os
import sys
import threading
import time
import weakref
from collections.abc import Generator
from types import TracebackType
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, Optional, Type, TypeVar

from ._check import natural
from ._fixed import Fixed
from .errors import LoaderxError

__all__ = ['Prefetcher', 'prefetch']

# The number of seconds for which closing, or the end of the process, waits for threads. Closing
# waits because generators must have ended when it returns. The process waits because it aborts if a
# library in C++ or Rust, such as torch or tokenizers, returns while the interpreter ends: Python
# then unwinds the stack of the thread, which these languages do not allow. Nothing tells such a
# thread from one that waits for a socket and is harmless. The wait is limited because a thread in
# the caller's code may never return.
_PATIENCE = 10.0

# The threads that have not been stopped, by what they share.
_running: Dict[_Shared, threading.Thread] = {}

_Item = TypeVar('_Item')
_Self = TypeVar('_Self', bound='Prefetcher[Any]')


def prefetch(iterable: Iterable[_Item], n: int = 2) -> Prefetcher[_Item]:
    """Iterate over `iterable` on a thread, up to `n` items in advance.

    While the caller works on an item, the thread prepares the following ones. This helps if both
    spend their time in code that releases the GIL, such as reading, decompressing, or NumPy and
    torch. A `Loader` prefetches its batches itself, and needs no `prefetch`.

    The caller gets the items, exceptions and the end that it would get without `prefetch`, in the
    same order; an exception has the traceback of the thread. The thread begins at once. After an
    exception, it pauses until the caller asks for the next item.

    Parameters
    ----------
    iterable : iterable
        What to iterate over. ``iter()`` is called immediately, by the caller; all else happens on
        the thread.
    n : int, default 2
        The maximum number of items that are ready but not yet taken, at least 1.

    Returns
    -------
    Prefetcher
        The iterator. To stop early, close it, use it in a ``with`` statement, or drop it. Close
        it if `iterable` refers to it, for example through the ``self`` of a generator: then it
        cannot be dropped.

    Examples
    --------
    >>> def squares():
    ...     try:
    ...         for i in range(1000):
    ...             yield i * i
    ...     finally:
    ...         print('the generator has ended')
    >>> with lx.prefetch(squares(), 4) as items:
    ...     for item in items:
    ...         print(item)
    ...         if item > 3:
    ...             break
    0
    1
    4
    the generator has ended
    """
    return Prefetcher(lambda is_stopped: iter(iterable), natural('n', n, minimum=1))


class _Shared:
    """What the thread and its owner share; it does not reference the owner."""

    def __init__(self, maximum: int) -> None:
        self.pid = os.getpid()
        self.changed = threading.Condition()    # protects all members below
        self.items: Deque[Any] = collections.deque()
        self.maximum = maximum
        self.error: Optional[BaseException] = None    # what follows the items
        self.paused = self.ended = self.stopped = False
        self.error_of_closing: Optional[BaseException] = None

    def is_stopped(self) -> bool:
        return self.stopped

    def stop(self) -> None:
        """Let the thread end after its current step."""
        with self.changed:
            self.stopped = True
            self.items.clear()
            self.error = None
            self.changed.notify_all()

    def wait_for_room(self) -> bool:
        """Wait until an item may be prepared; return False if the thread must end instead."""
        with self.changed:
            while not self.stopped and (self.paused or len(self.items) >= self.maximum):
                self.changed.wait()
            return not self.stopped


class Prefetcher(Fixed, Iterator[_Item]):
    """An iterator that prefetches items on a thread; `prefetch` creates it.

    Any thread can take items; each item is returned once. In a child of ``os.fork()``, taking items
    raises LoaderxError. Dropping the last reference to the object closes it, and so does the end of
    the process, which waits for up to 10 seconds for the current steps of all prefetchers.

    Parameters
    ----------
    make : callable
        ``make(is_stopped)`` returns the iterator, which can call `is_stopped` to end early.
    maximum : int
        The maximum number of items that are ready but not yet taken.
    """

    def __init__(self, make: Callable[[Callable[[], bool]], Iterator[_Item]],
                 maximum: int) -> None:
        self._shared = shared = _Shared(maximum)
        thread = threading.Thread(target=_work, args=(shared, make(shared.is_stopped)), daemon=True,
                                  name='loaderx.prefetch')
        thread.start()
        _running[shared] = thread
        self._stop = weakref.finalize(self, _stop, shared)
        self._stop.atexit = False    # `_stop_all` does it

    def __iter__(self: _Self) -> _Self:
        return self

    def __next__(self) -> _Item:
        if self._shared.pid != os.getpid():    # the lock may be held forever
            error = LoaderxError('the prefetcher belongs to the parent process: create another one '
                                 'in this process')
            error.status = 'LX_ERR_FORKED'
            raise error
        shared = self._shared
        with shared.changed:
            while not (shared.items or shared.error is not None or shared.ended or shared.stopped):
                if shared.paused:
                    shared.paused = False
                    shared.changed.notify_all()
                shared.changed.wait()
            if shared.items:
                item: _Item = shared.items.popleft()
                shared.changed.notify_all()
                return item
            failure, shared.error = shared.error, None
        if failure is None:
            raise StopIteration
        try:
            raise failure
        finally:
            del failure    # its traceback references this frame

    def close(self) -> None:
        """Stop the thread after its current step; further calls have no effect.

        If the iterator is a generator, the thread closes it, so that its ``finally`` blocks run; an
        exception in them is raised here. Items that were not taken are dropped. If the current step
        takes more than 10 seconds, the call returns, and the thread ends later.
        """
        self._stop()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()


def _work(shared: _Shared, iterator: Iterator[Any]) -> None:
    while shared.wait_for_room():
        item = failure = None
        try:
            item = next(iterator)
        except StopIteration:
            break
        except BaseException as error:
            failure = error
        with shared.changed:
            if shared.stopped:
                break
            if failure is None:
                shared.items.append(item)
            else:
                shared.error, shared.paused = failure, True
            shared.changed.notify_all()
        del item, failure
    try:
        if isinstance(iterator, Generator):
            iterator.close()
    except BaseException as error:
        shared.error_of_closing = error
    with shared.changed:
        shared.ended = True
        shared.changed.notify_all()


def _stop(shared: _Shared, patience: Optional[float] = None) -> None:
    thread = _running.pop(shared, None)
    if thread is None or shared.pid != os.getpid():
        return    # it was stopped before, or does not exist in a child of fork()
    shared.stop()
    if thread is not threading.current_thread():
        thread.join(_PATIENCE if patience is None else patience)
    failure, shared.error_of_closing = shared.error_of_closing, None
    if failure is not None:
        raise failure


@atexit.register
def _stop_all() -> None:
    """Stop the threads of all prefetchers, and wait for all of them together."""
    mine = [shared for shared in list(_running) if shared.pid == os.getpid()]
    for shared in mine:
        shared.stop()
    end = time.monotonic() + _PATIENCE
    for shared in mine:
        try:
            _stop(shared, max(end - time.monotonic(), 0))
        except Exception:
            sys.excepthook(*sys.exc_info())    # as for any error of a finalizer
