# SPDX-License-Identifier: MIT
"""What a ByTorch gives to torch's DataLoader: wrappers of a dataset and of a `worker_init_fn`.

torch reads the wrappers in place of the caller's dataset, in this process or in its worker
processes. Each item is a batch, together with the state of the worker after the batch.
"""

from __future__ import annotations

import pickle
import random
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import torch
from torch._utils import ExceptionWrapper
from torch.utils import data

from . import _worker_info as worker_info
from ._streams import own_state

__all__ = ['BATCH', 'BEGIN', 'END', 'Answer', 'Remote', 'RemoteStream', 'Start', 'same', 'unpack']

# What an answer is: the state at the beginning of a pass, a batch, or the state at the end.
BEGIN, BATCH, END = 'begin', 'batch', 'end'


class Answer(NamedTuple):
    """An item of a wrapper."""

    kind: str
    worker: int
    state: Optional[bytes]           # of the worker, after the batch
    number: Optional[int] = None     # of the batch in the pass; None for an iterable dataset
    batch: Any = None                # or the exception that a worker process raised


def same(answer: Answer) -> Answer:
    """Replace the collate function: the batches are already collated."""
    return answer


def _pack(state: Any) -> Optional[bytes]:
    """Copy a state, which may change before torch sends it."""
    return None if state is None else pickle.dumps(state)


def unpack(state: Optional[bytes]) -> Any:
    return None if state is None else pickle.loads(state)


class Remote:
    """A map-style dataset; its indices are a batch's number, index and place.

    The index None requests only the state of the worker.

    Parameters
    ----------
    dataset : object
        The caller's dataset.
    make : callable
        Creates a fetcher for the dataset.
    states : list, optional
        The states to restore, one for each worker.
    reports : bool
        Whether answers contain the state of the dataset.
    """

    def __init__(self, dataset: Any, make: Callable[..., Any], states: Any, reports: bool) -> None:
        self.dataset = dataset
        self._make = make
        self._states = states
        self._reports = reports
        self._broken: Optional[Exception] = None     # what `start` raised
        self._failure: Optional[Exception] = None    # raised in place of each batch
        self.fetcher: Any = None

    def start(self, init: Optional[Callable[[int], object]], worker: int) -> None:
        """Call the caller's `worker_init_fn`, and restore the state."""
        try:
            if init is not None:
                init(worker)
            self._restore(worker)
        except Exception as error:
            self._broken = self._failure = error

    def _restore(self, worker: int) -> None:
        if self._states is not None and self._states[worker] is not None:
            self.dataset.load_state_dict(self._states[worker])

    def _pack_state(self) -> Optional[bytes]:
        return _pack(own_state(self.dataset)) if self._reports else None

    def __getitem__(self, task: Any) -> Answer:
        if task is None:
            return Answer(BEGIN, _worker_number(), self._pack_state())
        number, index, place = task
        if self.fetcher is None:
            self.fetcher = self._make(self.dataset)
        made = self._attempt(index, place)
        return Answer(BATCH, _worker_number(), self._pack_state(), number, made)

    def _attempt(self, index: Any, place: Any = None, ends: Any = ()) -> Any:
        """Fetch a batch; in a worker process, return an exception in torch's form.

        The exception thus arrives together with the worker's state.
        """
        try:
            if self._failure is not None:
                raise self._failure
            return self.fetcher.fetch(index, place)
        except ends:
            raise
        except Exception:
            if data.get_worker_info() is None:
                raise
            return ExceptionWrapper(where=f'in DataLoader worker process {_worker_number()}')


class RemoteStream(Remote, data.IterableDataset):
    """An iterable dataset.

    Parameters
    ----------
    index : list or None
        What torch requests for each batch.
    first : int
        The worker that provides the first batch. Each worker before it returns one more state, so
        that torch, which begins with worker 0, comes to the first worker.
    """

    def __init__(self, dataset: Any, make: Callable[..., Any], states: Any, reports: bool,
                 index: Any, first: int) -> None:
        super().__init__(dataset, make, states, reports)
        self._index = index
        self._first = first

    def __len__(self) -> int:
        return len(self.dataset)

    def __repr__(self) -> str:
        return repr(self.dataset)    # in torch's warnings

    def _restore(self, worker: int) -> None:
        """Do nothing: each pass begins with iter()."""

    def __iter__(self) -> RemoteStream:
        worker = _worker_number()
        self._begins = self._reports + (worker < self._first)
        self._ended = False
        self._failure, self.fetcher = self._broken, None
        resumed = None if self._states is None else self._states[worker]
        self._states, self._first = None, 0
        try:
            if self._failure is None:
                self.fetcher = self._make(self.dataset, resumed)
        except Exception as error:
            if data.get_worker_info() is None:
                raise
            self._failure = error
        return self

    def __next__(self) -> Answer:
        worker, fetcher = _worker_number(), self.fetcher
        if self._begins:
            self._begins -= 1
            return Answer(BEGIN, worker, _pack(fetcher and fetcher.begin))
        if self._ended:
            raise StopIteration
        try:
            made = self._attempt(self._index, ends=StopIteration)
        except StopIteration:
            if not self._reports:
                raise
            self._ended = True
            return Answer(END, worker, _pack(fetcher.end()))
        sent = fetcher is not None and data.get_worker_info() is not None
        return Answer(BATCH, worker, _pack(fetcher.state()) if sent else None, None, made)


class Start:
    """The `worker_init_fn` of each worker process; it calls the caller's `worker_init_fn`.

    It seeds the generators as torch does, with the seed of a pass that may have begun earlier.
    """

    def __init__(self, init: Optional[Callable[[int], object]], base_seed: int) -> None:
        self._init = init
        self._base_seed = base_seed

    def __call__(self, worker: int) -> None:
        worker_info.forget()
        info: Any = data.get_worker_info()
        remote, base, seed = info.dataset, self._base_seed, self._base_seed + worker
        random.seed(seed)
        torch.manual_seed(seed)
        words = np.random.SeedSequence([worker, base & 0xffffffff, base >> 32]).generate_state(4)
        np.random.seed(words)
        for name, value in ('dataset', remote.dataset), ('seed', seed):
            object.__setattr__(info, name, value)    # WorkerInfo allows no other way
        remote.start(self._init, worker)


def _worker_number() -> int:
    info = data.get_worker_info()
    return 0 if info is None else int(info.id)
