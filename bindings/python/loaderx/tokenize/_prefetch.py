# SPDX-License-Identifier: MIT
"""What an iterator gives, made ahead by a thread."""

from __future__ import annotations

import collections
import os
import threading
import weakref
from typing import Any, Callable, Deque, Iterator, Optional

__all__ = ['Prefetcher']

# Seconds that closing waits for what the thread is at. One that is within the library tokenizers
# when the interpreter ends would abort the process; one that waits in code of the user's may do so
# for ever.
_PATIENCE = 10.0


class _Shared:
    """What the thread and its user share; none of it leads to the user."""

    def __init__(self, most: int) -> None:
        self.changed = threading.Condition()    # guards all below
        self.items: Deque[Any] = collections.deque()
        self.most = most
        self.ended = self.stopped = False
        self.pid = os.getpid()
        self.error: Optional[BaseException] = None

    def is_stopped(self) -> bool:
        return self.stopped


class Prefetcher:
    """A thread that makes up to `most` items before they are asked for, in their order.

    One that is dropped ends the thread, as `close` does.

    Parameters
    ----------
    make : callable
        ``make(is_stopped)`` gives the iterator; it should look now and then whether it is stopped.
    most : int
        Items that are made and not taken.
    """

    def __init__(self, make: Callable[[Callable[[], bool]], Iterator[Any]], most: int) -> None:
        self._shared = _Shared(most)
        thread = threading.Thread(target=_work, args=(self._shared, make), daemon=True,
                                  name='loaderx.TokenStream')
        thread.start()
        self.close = weakref.finalize(self, _stop, self._shared, thread)

    def take(self) -> Any:
        """The next item; StopIteration at the end, and what the iterator raised in its place."""
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
        return    # a child of fork has neither the thread, nor whom it might wait for
    with shared.changed:
        shared.stopped = True
        shared.changed.notify_all()
    if thread is not threading.current_thread():
        thread.join(_PATIENCE)
