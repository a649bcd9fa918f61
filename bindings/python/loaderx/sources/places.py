# SPDX-License-Identifier: MIT
"""The places of records in an order, on which the random choices of maps depend."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, Callable, ContextManager, Iterator, Optional, Tuple, Union

__all__ = ['in_data_loader', 'place_of_next', 'reading_a_batch', 'reading_at']

# An odd number of 64 bits, whose multiples are far apart: from each other, and from the epochs of
# ranks (torch/_iterators.py).
_STEP = 0xd1342543de82ef95


class _Batch:
    """The places of the records of a batch.

    Parameters
    ----------
    epoch, first : int
        The epoch, and the position of the first record.
    length : int
        The number of records in the batch.
    """

    def __init__(self, epoch: int, first: int, length: int) -> None:
        self._epoch, self._first, self._length = epoch, first, length
        self._read = 0

    def take(self, count: int) -> Tuple[int, int]:
        """Return the epoch of the next `count` records, and the position of the first one."""
        before = self._read
        self._read += count
        if self._read <= self._length:
            return self._epoch, (self._first + before) % 2**64
        # The caller's dataset reads several records for each one of the batch. The following
        # positions belong to the next batch, so these records get an epoch of their own.
        return _mixed(self._epoch, self._first + 1), before


class _Reading(threading.local):
    """What a thread reads."""

    batch: Optional[_Batch] = None    # a batch of a DataLoader
    reads = 0                         # how often torch's own DataLoader has read


_reading = _Reading()


def _mixed(seed: int, number: int) -> int:
    return (seed + number * _STEP) % 2**64


@contextlib.contextmanager
def reading_at(epoch: int, first: int, length: int) -> Iterator[None]:
    """Let the records that this thread reads be those of a batch, in the order of the reads."""
    before = _reading.batch    # of a DataLoader whose dataset reads from this one
    _reading.batch = _Batch(epoch, first, length)
    try:
        yield
    finally:
        _reading.batch = before


def reading_a_batch() -> ContextManager[None]:
    """Let the records of a batch of torch's own DataLoader be an epoch of their own.

    Only that DataLoader calls ``__getitems__()`` outside `reading_at`. In its workers, any read is
    an epoch of its own, see `place_of_next`.
    """
    if 'torch.utils.data' not in sys.modules or in_data_loader():
        return contextlib.nullcontext()
    return reading_at(_next_epoch(sys.modules['torch'].initial_seed()), 0, 2**64)


def place_of_next(count: Callable[[], int]) -> Union[int, Tuple[int, int]]:
    """Return the place of the next records that this thread reads, for ``_core.Source.gather``.

    A worker of torch's own DataLoader has no epochs: it gets another number for each read.
    Otherwise, outside a batch, records are those of epoch 0, at positions equal to their indices.

    Parameters
    ----------
    count : callable
        Returns the number of these records.
    """
    if _reading.batch is not None:
        return _reading.batch.take(count())
    worker = _worker()
    return 0 if worker is None else (_next_epoch(worker.seed), 0)


def in_data_loader() -> bool:
    """Return whether a DataLoader reads in this thread, so that each read has another place."""
    return _reading.batch is not None or _worker() is not None


def _worker() -> Any:
    """Return what torch knows of the worker of a DataLoader that this process is, or None."""
    data = sys.modules.get('torch.utils.data')
    return None if data is None else data.get_worker_info()


def _next_epoch(seed: int) -> int:
    """Return the number of a read that depends on a seed of torch.

    No random number of torch is drawn for it, so that those of the caller's code stay the same.
    """
    _reading.reads += 1
    return _mixed(seed, _reading.reads)
