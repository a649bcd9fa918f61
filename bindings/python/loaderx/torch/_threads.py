# SPDX-License-Identifier: MIT
"""A DataLoader iterator with threads as workers."""

from __future__ import annotations

import itertools
import os
import queue
import threading
import warnings
import weakref
from typing import Any, Dict, List, Optional

from .._check import UINT64_MAX
from . import _worker_info as worker_info
from ._iterators import Iterator, pinning
from ._streams import is_stateful
from ._workers import Ended, Failed, Shared, copy_thread_settings, work

__all__ = ['Threaded']


def _refuse() -> Any:
    raise ValueError("the dataset's own state cannot be saved: threads share the dataset, and have "
                     "changed it ahead of the batches returned; use workers='processes'")


class Threaded(Iterator):
    """Prefetches batches on threads and returns them in order.

    Batches are assigned to threads, and indices are requested in advance, as with torch's
    processes.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        worker_info.install()
        self._dataset, self._timeout = loader.dataset, loader.timeout
        # The number of items that len() was told, if the dataset is iterable.
        self._length = (len(loader.dataset) if loader._is_iterable() and loader._was_measured
                        else UINT64_MAX)
        self._in_order = getattr(loader, 'in_order', True)
        self._ahead = loader.prefetch_factor * self._num_workers
        self._pid = os.getpid()
        make = loader._fetcher_maker()
        self._shared = shared = Shared(self._num_workers, copy_thread_settings(loader.pin_memory),
                                       pinning(loader))
        if self._resumed_streams is not None:
            shared.streams = list(self._resumed_streams)
        self._begin_pass(loader)
        self._start_threads(loader, make)
        self.close = weakref.finalize(self, shared.stop)
        self._begin_streams()
        self._prefetch_indices()

    def _start_threads(self, loader: Any, make: Any) -> None:
        for number in range(self._num_workers):
            dataset = loader._dataset_for_worker(self._dataset)
            info = worker_info.WorkerInfo(id=number, num_workers=self._num_workers,
                                          seed=self._base_seed + number, dataset=dataset)
            threading.Thread(target=work, args=(self._shared, number, info, make),
                             name=f'loaderx.torch worker {number}', daemon=True).start()

    def _begin_streams(self) -> None:
        """Begin a pass through the threads' copies of a dataset that can save its state."""
        shared = self._shared
        if self._progress.streams is None or not is_stateful(self._dataset):
            return
        for tasks in shared.tasks:
            tasks.put((shared.pass_number, None, None))
        for _ in range(self._num_workers):
            _, number, stream = self._receive()
            self._progress.streams[number] = stream

    def _begin_pass(self, loader: Any) -> None:
        if not loader._is_iterable() and is_stateful(self._dataset):
            self._progress.datasets = _refuse
        self._progress.place = self._progress.look()
        self._shared.pass_number += 1
        self._sent = self._next = 0
        self._worker_of: Dict[int, int] = {}    # worker of each batch not received yet
        self._ready: Dict[int, Any] = {}
        self._places: Dict[int, Any] = {}
        self._active = [True] * self._num_workers
        self._ends: List[Any] = [None] * self._num_workers
        self._cycle = itertools.cycle(range(self._num_workers))
        for _ in range(self._progress.next_worker):
            next(self._cycle)
        if loader._is_iterable():
            self._progress.streams = list(self._shared.streams)
        self._streams: Dict[int, Any] = {}

    def _reset(self, loader: Any) -> None:
        super()._reset(loader)
        self._begin_pass(loader)
        self._begin_streams()
        self._prefetch_indices()

    def _prefetch_indices(self) -> None:
        for _ in range(self._ahead):
            self._send_indices()
        self._progress.begin()

    def _choose(self) -> Optional[int]:
        """Return the next active worker; with in_order=False, skip the busiest workers."""
        tasks = [] if self._in_order else list(self._worker_of.values())
        for number in itertools.islice(self._cycle, self._num_workers):
            if self._active[number] and (
                    self._in_order or tasks.count(number) * sum(self._active) <= len(tasks)):
                return number
        return None

    def _send_indices(self) -> None:
        try:
            index = next(self._indices)
        except StopIteration:
            return
        number = self._choose()
        if number is None:
            return
        self._places[self._sent] = self._progress.look()
        self._worker_of[self._sent] = number
        self._shared.tasks[number].put((self._shared.pass_number, self._sent,
                                        (index, self._progress.place_of(self._sent))))
        self._sent += 1

    def _next_data(self) -> Any:
        if self._pid != os.getpid():
            raise RuntimeError('the iterator and its threads belong to a different process: '
                               'create an iterator in this process')
        while True:
            while self._next < self._sent and self._is_lost(self._next):
                self._worker_of.pop(self._next, None)
                self._places.pop(self._next, None)
                self._next += 1
            if self._next == self._sent:
                self._finish()
                if not self._progress.stays:
                    self.close()
                raise StopIteration
            if self._next in self._ready:
                return self._deliver(self._next)
            place, made, stream = self._receive()
            number = self._worker_of[place]
            if isinstance(made, Ended):
                self._ends[number] = stream
                self._active[number] = False
                self._send_indices()
                continue
            self._ready[place] = made
            self._streams[place] = number, stream
            del self._worker_of[place]
            if not self._in_order:
                return self._deliver(place)

    def _finish(self) -> None:
        """Keep the states of persistent threads' copies, with which the next pass begins."""
        progress = self._progress
        progress.finished = True
        keep = progress.stays and is_stateful(self._dataset) and progress.streams is not None
        progress.streams = list(self._ends) if keep else None

    def _is_lost(self, place: int) -> bool:
        """Return whether a batch will not arrive, because it was returned or its worker ended."""
        if place in self._ready:
            return False
        number = self._worker_of.get(place)
        return number is None or not self._active[number]

    def _receive(self) -> Any:
        while True:
            try:
                pass_number, place, made, stream = self._shared.results.get(
                    timeout=self._timeout if self._timeout > 0 else None)
            except queue.Empty:
                raise RuntimeError(f'DataLoader timed out after {self._timeout} seconds') from None
            if pass_number == self._shared.pass_number:
                return place, made, stream

    def _deliver(self, place: int) -> Any:
        made = self._ready.pop(place)
        progress = self._progress
        progress.ordered = progress.ordered and place == self._next
        progress.place = self._places.pop(place)
        progress.batches += 1
        number, stream = self._streams.pop(place)
        progress.next_worker = (number + 1) % self._num_workers
        if progress.streams is not None:
            progress.streams[number] = stream
        if place == self._next:
            self._next += 1
        self._send_indices()
        if progress.batches_here > self._length:
            warnings.warn(f'Length of IterableDataset {self._dataset} was reported to be '
                          f'{self._length} (when accessing len(dataloader)), but '
                          f'{progress.batches_here} samples have been fetched.', stacklevel=4)
        if isinstance(made, Failed):
            made.reraise()
        return made
