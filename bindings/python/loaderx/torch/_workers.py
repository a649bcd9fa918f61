# SPDX-License-Identifier: MIT
"""The worker threads of a DataLoader."""

from __future__ import annotations

import queue
from typing import Any, Callable, List, Optional

import torch
from torch._utils import ExceptionWrapper

from . import _worker_info as worker_info
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
    """The state that an iterator and its threads share; it does not reference the iterator."""

    def __init__(self, count: int) -> None:
        self.tasks: List[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(count)]
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.pass_number = 0        # number of the current pass; tasks of other passes are dropped
        self.stopped = False
        self.streams: List[Any] = [None] * count    # positions in the iterable dataset, by worker
        self.init: Optional[Callable[[int], object]] = None
        self.pin: Callable[[Any], Any] = _same
        self.prepare: Callable[[], object] = _nothing

    def stop(self) -> None:
        """Stop the threads after their current task, without waiting for them."""
        self.stopped = True
        for tasks in self.tasks:
            tasks.put(None)


def _same(batch: Any) -> Any:
    return batch


def _nothing() -> None:
    pass


def work(shared: Shared, number: int, info: Any, make: Callable[[Any, Any], Any]) -> None:
    """Process tasks until the iterator stops the thread: the main function of a worker thread."""
    worker_info.set_info(info)
    refused: Optional[Failed] = None
    fetcher: Any = None
    pass_number = ended = -1
    try:
        shared.prepare()
        if shared.init is not None:
            shared.init(number)
    except BaseException as error:
        refused = Failed(number, error)
    while True:
        task = shared.tasks[number].get()
        if task is None or shared.stopped:
            return
        task_pass, place, index = task
        if task_pass != shared.pass_number or task_pass == ended:
            continue
        made: Any = refused
        try:
            if made is None:
                if pass_number != task_pass:
                    fetcher, pass_number = make(info.dataset, shared.streams[number]), task_pass
                    shared.streams[number] = None
                made = shared.pin(fetcher.fetch(index))
        except BaseException as error:
            made = Failed(number, error)
            if isinstance(error, StopIteration) and isinstance(fetcher, Streamed):
                made, ended = Ended(), task_pass
        stream = fetcher.state() if isinstance(fetcher, Streamed) else None
        shared.results.put((task_pass, place, made, stream))
        del task, index, made, stream


def copy_thread_settings(pins: bool) -> Callable[[], object]:
    """Return a function that applies this thread's torch settings to the thread that calls it."""
    gradients = torch.is_grad_enabled()
    device = torch.cuda.current_device() if pins and torch.cuda.is_available() else None

    def prepare() -> None:
        torch.set_grad_enabled(gradients)
        if device is not None:
            torch.cuda.set_device(device)

    return prepare
