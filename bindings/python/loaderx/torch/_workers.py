# SPDX-License-Identifier: MIT
"""The worker threads of a DataLoader."""

from __future__ import annotations

import queue
from typing import Any, Callable, List, Optional

import torch
from torch._utils import ExceptionWrapper

from . import _worker_info as worker_info
from ._forks import task
from ._streams import Streamed

__all__ = ['Ended', 'Failed', 'Shared', 'copy_thread_settings', 'work']


class Ended:
    """The result of a task if the worker's iterable dataset has ended."""


class Failed:
    """The result of a task that raised an exception, which is kept in torch's form for workers."""

    def __init__(self, worker: int, error: BaseException) -> None:
        self.error = error
        self.worker = worker
        where = f'in DataLoader worker thread {worker}'
        self.wrapped = ExceptionWrapper(where=where) if isinstance(error, Exception) else None

    def reraise(self) -> None:
        """Raise an exception of the same type whose text contains the thread's traceback."""
        if self.wrapped is None:
            raise RuntimeError(f'DataLoader worker thread {self.worker} exited unexpectedly'
                               ) from self.error
        try:
            self.wrapped.reraise()
        except Exception as error:
            raise error from self.error


class Shared:
    """The state that an iterator and its threads share; it does not reference the iterator.

    Parameters
    ----------
    count : int
        The number of threads.
    prepare : callable
        Called by each thread before its first task.
    pin : callable
        Moves a batch to pinned memory, if requested.
    """

    def __init__(self, count: int, prepare: Callable[[], object],
                 pin: Callable[[Any], Any]) -> None:
        self.tasks: List[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(count)]
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.pass_number = 0        # number of the current pass; tasks of other passes are dropped
        self.stopped = False
        self.streams: List[Any] = [None] * count    # positions in the iterable dataset, by worker
        self.prepare, self.pin = prepare, pin

    def stop(self) -> None:
        """Stop the threads after their current task, without waiting for them."""
        self.stopped = True
        for tasks in self.tasks:
            tasks.put(None)


class _Worker:
    """The state of one worker thread."""

    def __init__(self, shared: Shared, number: int, info: Any,
                 make: Callable[[Any, Any], Any]) -> None:
        self._shared, self._number, self._info, self._make = shared, number, info, make
        self._fetcher: Any = None
        self._pass_number = self._ended = -1

    def process(self, task_pass: int, place: Optional[int], index: Any) -> Any:
        """Return the result of a task: its pass, its place, the batch, and the position."""
        if place is None:
            return task_pass, None, self._number, self._begin(task_pass)
        made: Any = None
        try:
            self._open(task_pass)
            made = self._shared.pin(self._fetcher.fetch(*index))
        except BaseException as error:
            made = Failed(self._number, error)
            if isinstance(error, StopIteration) and isinstance(self._fetcher, Streamed):
                self._ended = task_pass
                return task_pass, place, Ended(), self._fetcher.end()
        stream = self._fetcher.state() if isinstance(self._fetcher, Streamed) else None
        return task_pass, place, made, stream

    def _begin(self, task_pass: int) -> Any:
        """Return the position at the beginning of a pass; the first batch reports any error."""
        try:
            self._open(task_pass)
        except BaseException:
            return None
        return self._fetcher.begin

    def _open(self, task_pass: int) -> None:
        if self._pass_number == -1:
            self._shared.prepare()
        if self._pass_number != task_pass:
            streams = self._shared.streams
            self._fetcher = self._make(self._info.dataset, streams[self._number])
            self._pass_number = task_pass
            streams[self._number] = None

    def is_current(self, task_pass: int) -> bool:
        """Return whether a task belongs to this pass and the worker's dataset has not ended."""
        return task_pass == self._shared.pass_number and task_pass != self._ended


def work(shared: Shared, number: int, info: Any, make: Callable[[Any, Any], Any]) -> None:
    """Process tasks until the iterator stops the thread: the main function of a worker thread."""
    worker_info.set_info(info)
    worker = _Worker(shared, number, info, make)
    while True:
        item = shared.tasks[number].get()
        if item is None or shared.stopped:
            return
        if worker.is_current(item[0]):
            with task():
                result = worker.process(*item)
            shared.results.put(result)
            del result
        del item


def copy_thread_settings(pins: bool) -> Callable[[], object]:
    """Return a function that applies this thread's torch settings to the thread that calls it."""
    gradients = torch.is_grad_enabled()
    device = torch.cuda.current_device() if pins and torch.cuda.is_available() else None

    def prepare() -> None:
        torch.set_grad_enabled(gradients)
        if device is not None:
            torch.cuda.set_device(device)

    return prepare
