# SPDX-License-Identifier: MIT
"""A DataLoader iterator with processes as workers: torch's own, extended to be resumable."""

from __future__ import annotations

import os
import queue
from typing import Any, Dict, List, Tuple

from torch import multiprocessing
from torch.utils import data

from ._iterators import Iterator
from ._remote import BEGIN, END, Answer, Remote, RemoteStream, Start, same, unpack
from ._streams import is_stateful

__all__ = ['Processes']


class _Sent(Iterator):
    """Replaces what torch sends to its workers, before it starts them."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        make, dataset = loader._fetcher_maker(sent=True), loader.dataset
        context = loader.multiprocessing_context or multiprocessing
        self._channel: Any = context.Queue() if is_stateful(dataset) else None
        if loader._is_iterable():
            index = [None] * loader.batch_size if loader._auto_collation else None
            self._dataset: Any = RemoteStream(dataset, make, self._resumed_streams, self._channel,
                                              index)
        else:
            self._dataset = Remote(dataset, make, self._resumed_datasets, self._channel)
        self._auto_collation, self._collate_fn = False, same

    @property
    def _worker_init_fn(self) -> Start:
        return self._start

    @_worker_init_fn.setter
    def _worker_init_fn(self, init: Any) -> None:
        self._start = Start(init)    # torch sets the caller's function


class Processes(data.dataloader._MultiProcessingDataLoaderIter, _Sent):
    """torch's iterator with worker processes, which also tracks the position and the states."""

    def __init__(self, loader: Any) -> None:
        self._pid = os.getpid()
        self._iterable = loader._is_iterable()
        self._pass = 0
        self._reports: Dict[Tuple[str, int], Any] = {}    # this pass's reports, by kind and worker
        # The latest state of each worker; like all reports, unpacked only where it is used.
        self._latest: List[Any] = [None] * loader.num_workers
        super().__init__(loader)
        self._dataset = loader.dataset    # for torch's warnings

    def __del__(self) -> None:
        """End the workers, unless this process is a fork of the process that started them."""
        if self._pid == os.getpid():
            super().__del__()

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        self._pass += 1
        self._asked = self._returned = 0
        self._places: Dict[int, Any] = {}
        self._reports.clear()
        super()._reset(loader, first_iter)
        progress = self._progress
        progress.begin()
        begun = self._wait_for(BEGIN) if self._channel is not None and (
            first_iter or self._iterable) else self._latest
        if self._iterable:
            resumed = self._resumed_streams if first_iter else None
            progress.streams = (_unpack_all(begun) if self._channel is not None else
                                list(resumed or [None] * self._num_workers))
        elif self._channel is not None:
            progress.datasets, self._latest = _unpack_all(begun), list(begun)

    def _try_put_index(self) -> None:
        if self._asked == 0:
            self._progress.place = self._progress.look()
            for _ in range(self._progress.next_worker):
                next(self._worker_queue_idx_cycle)
        super()._try_put_index()

    def _next_index(self) -> Any:
        index = super()._next_index()
        self._asked += 1
        if self._iterable:
            return index    # torch drops the index if all workers have ended
        self._places[self._asked] = self._progress.look()
        return self._asked, index

    def _get_data(self) -> Any:
        number, made = super()._get_data()
        if isinstance(made, Answer) and self._channel is not None:
            self._latest[made.worker] = made.state
        return number, made

    def _next_data(self) -> Any:
        try:
            return super()._next_data()
        except StopIteration:
            self._finish()
            raise

    def _finish(self) -> None:
        """Keep the states of persistent workers, with which the next pass begins."""
        progress = self._progress
        if progress.finished:
            return
        progress.finished = True
        stay = progress.stays and self._channel is not None
        progress.streams = (_unpack_all(self._wait_for(END))
                            if stay and progress.streams is not None else None)
        progress.datasets = (_unpack_all(self._latest)
                             if stay and progress.datasets is not None else None)

    def _process_data(self, made: Any, *more: Any) -> Any:
        self._returned += 1
        progress, worker, number = self._progress, self._progress.next_worker, self._returned
        progress.batches += 1
        if isinstance(made, Answer):
            worker, number = made.worker, made.number or number
            states = progress.streams if progress.datasets is None else progress.datasets
            if states is not None:
                states[worker] = unpack(made.state)
            made = made.batch
        progress.ordered = progress.ordered and number == self._returned
        progress.place = self._places.pop(number, None)
        progress.next_worker = (worker + 1) % self._num_workers
        return super()._process_data(made, *more)

    def _wait_for(self, kind: str) -> List[Any]:
        """Return the packed states that the workers report when this pass begins or ends."""
        wanted = [(kind, worker) for worker in range(self._num_workers)]
        while not all(one in self._reports for one in wanted):
            try:
                when, passed, worker, state = self._channel.get(timeout=1)
            except queue.Empty:
                if all(worker.is_alive() for worker in self._workers):
                    continue
                break    # torch reports the failure when the next batch is requested
            if passed == self._pass:
                self._reports[when, worker] = state
        return [self._reports.get(one) for one in wanted]


def _unpack_all(states: List[Any]) -> List[Any]:
    return [unpack(state) for state in states]
