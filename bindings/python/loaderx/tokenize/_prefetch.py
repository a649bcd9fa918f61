# SPDX-License-Identifier: MIT
"""Prefetches the items of an iterator on a thread."""

from __future__ import annotations

import collections
import os
import threading
import weakref
from typing import Any, Callable, Deque, Iterator, Optional

__all__ = ['Prefetcher']

# Seconds that closing waits for the thread. A thread within the library tokenizers would abort the
# process when the interpreter ends; one in the user's code may wait forever.
_PATIENCE = 10.0


class _Shared:
    """The state shared with the thread; it has no reference to the owner."""

    def __init__(self, most: int) -> None:
        self.changed = threading.Condition()    # protects all members below
        self.items: Deque[Any] = collections.deque()
        self.most = most
        self.ended = self.stopped = False
        self.pid = os.getpid()
        self.error: Optional[BaseException] = None

    def is_stopped(self) -> bool:
        return self.stopped


class Prefetcher:
    """A thread that prefetches up to `most` items, in order.

    Dropping the object ends the thread, as `close` does.

    Parameters
    ----------
    make : callable
        ``make(is_stopped)`` returns the iterator, which should call `is_stopped` regularly.
    most : int
        Maximum number of items that are ready.
    """

    def __init__(self, make: Callable[[Callable[[], bool]], Iterator[Any]], most: int) -> None:
        self._shared = _Shared(most)
        thread = threading.Thread(target=_work, args=(self._shared, make), daemon=True,
                                  name='loaderx.TokenStream')
        thread.start()
        self.close = weakref.finalize(self, _stop, self._shared, thread)

    def take(self) -> Any:
        """Return the next item; raise StopIteration, or the exception of the iterator."""
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
                while len(shared.items) >= shared.most and not shared.stopped:
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
        return    # a child of fork() does not have the thread
    with shared.changed:
        shared.stopped = True
        shared.changed.notify_all()
    if thread is not threading.current_thread():
        thread.join(_PATIENCE)
