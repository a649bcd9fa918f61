# SPDX-License-Identifier: MIT
"""The code of a DataLoader's worker processes, which read whole batches and report states.

torch's worker processes run this module's datasets in place of the caller's. Each of their items is
a batch, together with the state of the worker after the batch.
"""

from __future__ import annotations

import pickle
from typing import Any, Callable, NamedTuple, Optional

from torch._utils import ExceptionWrapper
from torch.utils import data
from torch.utils.data import _utils

from . import _worker_info as worker_info
from ._streams import own_state

__all__ = ['BEGIN', 'END', 'Answer', 'Remote', 'RemoteStream', 'Start', 'same', 'unpack']

# When a state was taken: at the beginning or at the end of a pass.
BEGIN, END = 'begin', 'end'


class Answer(NamedTuple):
    """A batch, or the exception it caused, from a worker process."""

    batch: Any
    number: Optional[int]      # of the batch in the pass; None for an iterable dataset
    worker: int
    state: Optional[bytes]     # after the batch


def same(batch: Any) -> Any:
    """Replace the collate function: the batches are already collated."""
    return batch


def pack(state: Any) -> Optional[bytes]:
    """Copy a state, which may change before torch sends it."""
    return None if state is None else pickle.dumps(state)


def unpack(state: Optional[bytes]) -> Any:
    return None if state is None else pickle.loads(state)


def _fetch(worker: int, fetch: Callable[[Any], Any], index: Any, ends: Any = ()) -> Any:
    """Fetch a batch; return an exception in torch's form, so that it arrives with the state."""
    try:
        return fetch(index)
    except ends:
        raise
    except Exception:
        return ExceptionWrapper(where=f'in DataLoader worker process {worker}')


class Remote:
    """A map-style dataset in a worker process.

    Parameters
    ----------
    dataset : object
        The caller's dataset.
    make : callable
        Creates a fetcher for the dataset.
    states : list, optional
        The states to restore, one for each worker.
    channel : queue, optional
        Where to report the state of the dataset at the beginning and at the end of a pass.
    """

    def __init__(self, dataset: Any, make: Callable[..., Any], states: Any, channel: Any) -> None:
        self.dataset = dataset
        self._make = make
        self._states = states
        self._channel = channel
        self._passes = 0
        self._fetcher: Any = None

    def report(self, when: str, worker: int, state: Any) -> None:
        if self._channel is not None:
            self._channel.put((when, self._passes, worker, pack(state)))

    def begin(self, worker: int) -> None:
        """Restore the dataset's state, after `worker_init_fn`."""
        self._passes = 1
        if self._states is not None and self._states[worker] is not None:
            self.dataset.load_state_dict(self._states[worker])
        self.report(BEGIN, worker, self._state())

    def fail(self, worker: int) -> None:
        """Report in the first pass that there is no state: the loader waits for a report."""
        self._passes = 1
        self.report(BEGIN, worker, None)

    def _state(self) -> Any:
        return None if self._channel is None else own_state(self.dataset)

    def __getitem__(self, task: Any) -> Answer:
        number, index = task
        worker = _worker_number()
        if self._fetcher is None:
            self._fetcher = self._make(self.dataset)
        made = _fetch(worker, self._fetcher.fetch, index)
        return Answer(made, number, worker, pack(self._state()))


class RemoteStream(Remote, data.IterableDataset):
    """An iterable dataset in a worker process; `index` is what torch requests for each batch."""

    def __init__(self, dataset: Any, make: Callable[..., Any], states: Any, channel: Any,
                 index: Any) -> None:
        super().__init__(dataset, make, states, channel)
        self._index = index

    def begin(self, worker: int) -> None:
        """Do nothing: each pass begins with iter()."""

    def __iter__(self) -> RemoteStream:
        worker = _worker_number()
        self._passes += 1
        resumed = None if self._states is None else self._states[worker]
        self._states = None
        try:
            self._fetcher = self._make(self.dataset, resumed)
        except BaseException:
            self.report(BEGIN, worker, None)
            raise
        self.report(BEGIN, worker, self._fetcher.begin)
        return self

    def __next__(self) -> Answer:
        worker, fetcher = _worker_number(), self._fetcher
        try:
            made = _fetch(worker, fetcher.fetch, self._index, StopIteration)
        except StopIteration:
            self.report(END, worker, fetcher.end())
            raise
        return Answer(made, None, worker, pack(fetcher.state()))


class Start:
    """The `worker_init_fn` of each worker process; it calls the caller's `worker_init_fn`."""

    def __init__(self, init: Optional[Callable[[int], object]]) -> None:
        self._init = init

    def __call__(self, worker: int) -> None:
        worker_info.forget()
        info = _utils.worker._worker_info
        remote: Any = info.dataset
        object.__setattr__(info, 'dataset', remote.dataset)    # WorkerInfo allows no other way
        try:
            if self._init is not None:
                self._init(worker)
            remote.begin(worker)
        except BaseException:
            remote.fail(worker)
            raise


def _worker_number() -> int:
    return int(_utils.worker._worker_info.id)
