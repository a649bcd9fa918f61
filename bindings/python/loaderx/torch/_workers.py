# SPDX-License-Identifier: MIT
"""Threads that make batches for a loader of torch's kind."""

from __future__ import annotations

import queue
from typing import Any, Callable, List, Optional

import torch
from torch._utils import ExceptionWrapper

from . import _worker_info as worker_info
from ._streams import Streamed

__all__ = ['Ended', 'Failed', 'Shared', 'like_this_thread', 'work']


class Ended:
    """In place of a batch: the iterable dataset of a worker has no more."""


class Failed:
    """In place of a batch: what was raised, as torch tells it of its workers."""

    def __init__(self, worker: int, error: BaseException) -> None:
        self.error = error
        self.worker = worker
        where = f'in DataLoader worker thread {worker}'
        self.told = ExceptionWrapper(where=where) if isinstance(error, Exception) else None

    def reraise(self) -> None:
        """Raise the same type with the thread's traceback in its text, and the cause itself."""
        if self.told is None:
            raise RuntimeError(f'DataLoader worker thread {self.worker} exited unexpectedly'
                               ) from self.error
        try:
            self.told.reraise()
        except Exception as error:
            raise error from self.error


class Shared:
    """What the threads of an iterator use; none of it leads to the iterator."""

    def __init__(self, count: int) -> None:
        self.tasks: List[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(count)]
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.turn = 0               # of the pass; tasks of others are not begun
        self.stopped = False
        self.streams: List[Any] = [None] * count    # where an iterable dataset is gone on with
        self.init: Optional[Callable[[int], object]] = None
        self.pin: Callable[[Any], Any] = _same
        self.prepare: Callable[[], object] = _nothing

    def stop(self) -> None:
        """End the threads once what they are at is done; nobody waits for that."""
        self.stopped = True
        for tasks in self.tasks:
            tasks.put(None)


def _same(batch: Any) -> Any:
    return batch


def _nothing() -> None:
    pass


def work(shared: Shared, number: int, info: Any, make: Callable[[Any, Any], Any]) -> None:
    """What a thread does."""
    worker_info.set_info(info)
    refused: Optional[Failed] = None
    fetcher: Any = None
    turn = ended = -1
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
        of_turn, place, index = task
        if of_turn != shared.turn or of_turn == ended:
            continue
        made: Any = refused
        try:
            if made is None:
                if turn != of_turn:
                    fetcher, turn = make(info.dataset, shared.streams[number]), of_turn
                    shared.streams[number] = None
                made = shared.pin(fetcher.fetch(index))
        except BaseException as error:
            made = Failed(number, error)
            if isinstance(error, StopIteration) and isinstance(fetcher, Streamed):
                made, ended = Ended(), of_turn
        stream = fetcher.state() if isinstance(fetcher, Streamed) else None
        shared.results.put((of_turn, place, made, stream))
        del task, index, made, stream


def like_this_thread(pins: bool) -> Callable[[], object]:
    """What makes a thread as this one is, where torch keeps that by thread."""
    gradients = torch.is_grad_enabled()
    device = torch.cuda.current_device() if pins and torch.cuda.is_available() else None

    def prepare() -> None:
        torch.set_grad_enabled(gradients)
        if device is not None:
            torch.cuda.set_device(device)

    return prepare
