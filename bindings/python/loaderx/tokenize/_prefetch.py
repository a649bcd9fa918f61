# SPDX-License-Identifier: MIT
"""Prefetches the items of an iterator on a thread."""

from __future__ import annotations

import collections
import os
import threading
import weakref
from typing import Any, Callable, Deque, Iterator, Optional

__all__ = ['Prefetcher']

# The number of seconds for which closing waits for the thread. Closing waits because the process
# aborts if a thread is still in the tokenizers library when the interpreter ends. The wait is
# limited because a thread in the caller's code may never return.
_PATIENCE = 10.0


class _Shared:
    """The state that the thread and its owner share; it does not reference the owner."""

    def __init__(self, maximum: int) -> None:
        self.changed = threading.Condition()    # protects all members below
        self.items: Deque[Any] = collections.deque()
        self.maximum = maximum
        self.ended = self.stopped = False
        self.pid = os.getpid()
        self.error: Optional[BaseException] = None

    def is_stopped(self) -> bool:
        return self.stopped


class Prefetcher:
    """A thread that prefetches up to `maximum` items, in order.

    Dropping the last reference to the object ends the thread, as `close` does.

    Parameters
    ----------
    make : callable
        ``make(is_stopped)`` returns the iterator, which should call `is_stopped` regularly.
    maximum : int
        The maximum number of items that are ready but not yet taken.
    """

    def __init__(self, make: Callable[[Callable[[], bool]], Iterator[Any]], maximum: int) -> None:
        self._shared = _Shared(maximum)
        thread = threading.Thread(target=_work, args=(self._shared, make), daemon=True,
                                  name='loaderx.TokenStream')
        thread.start()
        self.close = weakref.finalize(self, _stop, self._shared, thread)

    def take(self) -> Any:
        """Return the next item; at the end, raise StopIteration or the iterator's exception."""
        shared = self._shared
        with shared.changed:
            while not shared.items and not shared.ended:
                shared.changed.wait()
            if shared.items:
                item = shared.items.popleft()
                shared.changed.notify_all()
                return item
        if shared.error is not None:
            raise shared.error
        raise StopIteration


def _work(shared: _Shared, make: Callable[[Callable[[], bool]], Iterator[Any]]) -> None:
    try:
        for item in make(shared.is_stopped):
            with shared.changed:
                while len(shared.items) >= shared.maximum and not shared.stopped:
                    shared.changed.wait()
                if shared.stopped:
                    break
                shared.items.append(item)
                shared.changed.notify_all()
    except BaseException as error:
        shared.error = error
    with shared.changed:
        shared.ended = True
        shared.changed.notify_all()


def _stop(shared: _Shared, thread: threading.Thread) -> None:
    if shared.pid != os.getpid():
        return    # the thread does not exist in a child of fork()
    with shared.changed:
        shared.stopped = True
        shared.changed.notify_all()
    if thread is not threading.current_thread():
        thread.join(_PATIENCE)
