# SPDX-License-Identifier: MIT
"""A DataLoader iterator that runs the caller's code in torch's own DataLoader."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import weakref
from typing import Any, Dict, List
from typing import Iterator as Iterating

import torch
from torch._utils import ExceptionWrapper
from torch.utils import data

from ._iterators import Iterator, Progress
from ._remote import END, Answer, Remote, RemoteStream, Start, same, unpack
from ._streams import is_stateful, own_state

__all__ = ['ByTorch']

# The arguments that torch's loader takes from the caller's. Old versions of torch lack some.
_OPTIONS = ('num_workers', 'pin_memory', 'timeout', 'multiprocessing_context', 'prefetch_factor',
            'persistent_workers', 'pin_memory_device', 'in_order')

# torch's iterators. A forked process must not delete those of its parent, not even if they are
# garbage already: they would try to end the parent's workers. It keeps them in the second list.
_iterators: weakref.WeakSet[Any] = weakref.WeakSet()
_kept: List[List[Any]] = []

os.register_at_fork(before=lambda: _kept.append(list(_iterators)), after_in_parent=_kept.pop)


class _Loader(data.DataLoader):
    """torch's loader, for the wrappers."""

    def check_worker_number_rationality(self) -> None:
        """Do nothing: the caller's loader has warned."""


class _Tasks:
    """What torch's loader iterates in place of a sampler; it does not reference the iterator."""

    def __init__(self, ahead: bool) -> None:
        self._ahead = ahead    # torch requests indices in advance

    def begin(self, indices: Iterating[Any], progress: Progress, reports: int) -> None:
        """Begin a pass: first, request `reports` states."""
        self._indices, self._progress, self._reports = indices, progress, reports
        self.asked = 0
        self.places: Dict[int, Any] = {}    # the sampler's position after each index
        if self._ahead:
            progress.place = progress.look()

    def __iter__(self) -> _Tasks:
        return self

    def __next__(self) -> Any:
        if self._reports:
            self._reports -= 1
            return None
        index = next(self._indices)
        self.asked += 1
        if self._ahead:
            self.places[self.asked] = self._progress.look()
        return self.asked, index, self._progress.place_of(self.asked - 1)


class ByTorch(Iterator):
    """Returns the batches of torch's loader, without workers or with worker processes.

    torch's loader reads a wrapper of the dataset, whose items are whole batches, in the order of a
    sampler that numbers them. The state of a worker comes with each batch. If the dataset has its
    own state, a pass begins with a request to each worker for its state.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._iterable = loader._is_iterable()
        self._stateful = is_stateful(loader.dataset)
        self._reports = self._stateful and self._num_workers > 0    # workers report their states
        self._tasks = _Tasks(self._num_workers > 0)
        self._remote = self._wrap(loader)
        options = {name: getattr(loader, name) for name in _OPTIONS if hasattr(loader, name)}
        # A generator of its own: the seed that torch draws is replaced by Start.
        self._loader = _Loader(
            self._remote, None, sampler=None if self._iterable else self._tasks, collate_fn=same,
            worker_init_fn=Start(loader.worker_init_fn, self._base_seed),
            generator=torch.Generator(), **options)
        if self._iterable and loader._was_measured:
            len(self._loader)    # so that torch warns about items beyond this length
        self._begin_pass(self._progress.next_worker)

    def _wrap(self, loader: Any) -> Remote:
        dataset, make = loader.dataset, loader._fetcher_maker(self._num_workers > 0)
        if self._iterable:
            return RemoteStream(dataset, make, self._resumed_streams, self._reports,
                                next(self._indices), self._progress.next_worker)
        if self._resumed_datasets is not None and not self._num_workers:
            dataset.load_state_dict(copy.deepcopy(self._resumed_datasets[0]))
        return Remote(dataset, make, self._resumed_datasets, self._reports)

    def _reset(self, loader: Any) -> None:
        super()._reset(loader)
        self._begin_pass(0)

    def _begin_pass(self, first: int) -> None:
        """Begin a pass whose first batch comes from the worker `first`."""
        progress, count = self._progress, self._num_workers
        # torch begins with worker 0: the workers before the first one return a state instead.
        reports = count * self._reports + first
        self._returned = 0
        self._ends: List[Any] = [None] * count
        self._tasks.begin(self._indices, progress, reports)
        self._batches = self._start()
        _iterators.add(self._batches)
        if not count:
            self._track_inline()
            return
        begun = list(self._resumed_streams or [None] * count)
        self._resumed_streams = None
        for _ in range(reports):
            answer = next(self._batches)
            if self._reports:
                begun[answer.worker] = unpack(answer.state)
        progress.begin()    # now that the first indices have been requested
        if self._iterable:
            progress.streams = begun
        elif self._reports:
            progress.datasets = begun

    def _start(self) -> Any:
        """Return torch's iterator; where it cannot pickle something, its error says what to do."""
        try:
            return iter(self._loader)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            if self._num_workers and 'pickle' in str(error):
                context = self._loader.multiprocessing_context or multiprocessing
                error.args = (f'{error}; a process started by {context.get_start_method()!r} gets '
                              'the dataset, collate_fn and worker_init_fn as pickles: define their '
                              'classes and functions in a module, open files and locks in the '
                              "worker, or pass multiprocessing_context='fork'",)
            raise

    def _track_inline(self) -> None:
        """Track the states without workers: they are saved only if they are asked for."""
        progress, remote = self._progress, self._remote
        if self._iterable:
            progress.streams = lambda: [remote.fetcher.state()]
        elif self._stateful:
            progress.datasets = lambda: [own_state(remote.dataset)]

    def __next__(self) -> Any:
        self._check_options()
        try:
            answer = next(self._batches)
            while answer.kind == END:
                self._ends[answer.worker] = unpack(answer.state)
                answer = next(self._batches)
            return self._deliver(answer)
        except StopIteration:
            self._finish()
            raise
        except Exception:
            if not self._num_workers:
                self._progress.batches += 1
            raise

    def _deliver(self, answer: Answer) -> Any:
        progress = self._progress
        progress.batches += 1
        if not self._num_workers:
            return answer.batch
        self._returned += 1
        number = answer.number or self._returned
        progress.ordered = progress.ordered and number == self._returned
        progress.place = self._tasks.places.pop(number, None)
        progress.next_worker = (answer.worker + 1) % self._num_workers
        states = progress.streams if self._iterable else progress.datasets
        if states is not None:
            states[answer.worker] = unpack(answer.state)
        if isinstance(answer.batch, ExceptionWrapper):
            answer.batch.reraise()
        return answer.batch

    def _finish(self) -> None:
        """Keep the states with which the next pass begins: those of datasets that stay."""
        progress = self._progress
        if progress.finished:
            return
        progress.finished = True
        stays = self._stateful and (progress.stays or not self._num_workers)
        if not stays:
            progress.streams = progress.datasets = None
        elif self._iterable:
            progress.streams = self._ends if self._num_workers else [self._remote.fetcher.end()]
