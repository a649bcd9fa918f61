# SPDX-License-Identifier: MIT
"""A DataLoader iterator that reads a loaderx dataset with a loader of the library."""

from __future__ import annotations

import copy
from typing import Any, Dict, Optional
from typing import Iterator as Iterating

import numpy as np

from .. import _core
from .._check import UINT64_MAX
from .._pinning import pinned_allocator
from ._batches import BatchSampler
from ._fetchers import Gathered
from ._iterations import Block, Iteration, Stateful
from ._iterators import Iterator, Progress, pinning
from ._remote import same

__all__ = ['Direct', 'is_direct']

# The maximum number of threads of a library loader.
_MAX_THREADS = 64


def is_direct(loader: Any) -> bool:
    """Return whether the library can read a whole pass without running the caller's code."""
    batches = loader._wrap_sampler()
    if loader._source is None or type(batches) is not BatchSampler or not loader._collates:
        return False
    inner = batches.sampler
    return (isinstance(inner, Stateful) and inner._at_once() and len(inner) > 0  # type: ignore
            and loader.worker_init_fn is None and loader.timeout == 0
            and getattr(loader, 'in_order', True))


class _Whole:
    """A pass through a BatchSampler whose batches are all read in advance.

    Random numbers are generated at the same points as in torch's sampler.
    """

    def __init__(self, batches: BatchSampler, iteration: Any) -> None:
        self._size, self._drop_last = batches.batch_size, batches.drop_last
        self._sampler: Any = batches.sampler
        self._iteration = iteration
        self._inner: Optional[Iteration] = None
        self._blocks: Iterating[Block] = iter(())
        self._pulls = 0               # number of batches that torch would have requested
        self._count = 0               # number of indices
        self._ended: Any = None       # copy of the inner pass, made before its sampler ended
        self.order: Optional[_core.Order] = None
        self.start = 0                # position in the order where the pass begins
        self.invalid_indices: Any = None    # replaces the order if some indices are out of range

    def pull(self, length: int) -> None:
        """Advance the generator as if a batch were requested; `length` is the source's length."""
        self._pulls += 1
        if self._pulls == 1 and not self._iteration.ended:
            self._draw(length)
        if self._inner is not None and self._pulls == self._count // self._size + 1:
            self._ended = self._inner.copy(self._sampler.generator)
            for _ in self._blocks:    # advances the generator; the result is discarded
                pass
            self._inner.done = True

    def _draw(self, length: int) -> None:
        inner = self._inner = self._sampler._begin()
        minimum = self._size if self._drop_last else 1
        order = self._sampler._of_library(inner)
        if order is not None:
            self.start = inner.enter()
            self._count = len(self._sampler) - self.start
            if len(self._sampler.data_source) > length:
                order.seek(self.start)
                self.invalid_indices, order = order.take(self._count), None
        else:
            self._blocks = iter(self._sampler._drawn(inner))
            block = inner.take(next(self._blocks, range(0)))
            self._count = len(block)
            self.start = inner.returned    # positions count from the beginning of the pass
            if self._count >= minimum:
                order = self._order_of(self._sampler._numbers(block), length)
        self.order = order if self._count >= minimum else None

    def _order_of(self, numbers: np.ndarray[Any, Any], length: int) -> Optional[_core.Order]:
        """Return an order that consists of `numbers`; negative numbers count from the end."""
        if numbers.dtype.kind not in 'iu' or numbers.min() < -length or numbers.max() >= length:
            self.invalid_indices = numbers
            return None
        if numbers.dtype.kind == 'i':
            numbers = np.where(numbers < 0, numbers + length, numbers)
        numbers = np.concatenate([np.zeros(self.start, np.uint64), numbers.astype(np.uint64)])
        return _core.subset(_core.sequential(len(numbers), 1, 1), numbers, None)

    def at(self, handed: int) -> Any:
        """Return the position of the pass after `handed` batches."""
        if self._inner is None:
            return self._iteration
        position, size = copy.copy(self._iteration), self._size
        returned = min(handed * size, self._count)
        position.returned += returned
        position.ended = returned < handed * size
        if position.ended or self._ended is None:
            position.inner = self._inner.copy(self._sampler.generator)
        else:
            position.inner = copy.copy(self._ended)
        if not position.ended:
            position.inner.give(returned)
        return position

    def finish(self) -> None:
        self._iteration.inner, self._iteration.done = self._inner, True


class _OneByOne:
    """Reads batches, some of whose indices are out of range, and skips the batches that fail."""

    def __init__(self, fetcher: Gathered, numbers: np.ndarray[Any, Any], size: int,
                 drop_last: bool, progress: Progress) -> None:
        self._fetcher, self._progress = fetcher, progress
        end = len(numbers) - (len(numbers) % size if drop_last else 0)
        self._batches = enumerate([numbers[first:first + size] for first in range(0, end, size)])

    def __iter__(self) -> _OneByOne:
        return self

    def __next__(self) -> Dict[str, Any]:
        number, indices = next(self._batches)
        return self._fetcher.gather(indices, self._progress.place_of(number))


class Direct(Iterator):
    """Returns batches that library threads prefetch."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._fetcher: Gathered = loader._fetcher_maker()(loader.dataset)
        self._pin = pinning(loader)
        # The allocator pins memory for the current device only.
        direct = self._pin is not same and not loader.pin_memory_device
        self._allocate = pinned_allocator() if direct else None
        self._ahead = loader.prefetch_factor * self._num_workers if self._num_workers else 0
        self._begin_pass()

    def _begin_pass(self) -> None:
        progress = self._progress
        progress.whole = self._whole = _Whole(self._sampler, progress.iteration)
        self._loader: Any = None
        self._engine: Any = None    # the library's loader, if it reads the batches
        for _ in range(self._ahead):
            self._whole.pull(self._fetcher.source.length)
        if self._num_workers:
            self._open()

    def _reset(self, loader: Any) -> None:
        super()._reset(loader)
        self._begin_pass()

    def _open(self) -> None:
        whole, batches = self._whole, self._sampler
        if whole.invalid_indices is not None:
            self._loader = _OneByOne(self._fetcher, whole.invalid_indices, batches.batch_size,
                                     batches.drop_last, self._progress)
            return
        if whole.order is None:
            self._loader = iter(())
            return
        self._engine = _core.Loader(
            self._fetcher.source, whole.order, self._fetcher.names, batches.batch_size, 1,
            whole.start, 0, 1, batches.drop_last, False,
            False, min(self._num_workers, _MAX_THREADS), None, None, None, 'raise', None,
            UINT64_MAX, None, (), None, self._allocate, self._progress.epoch)
        self._loader = iter(self._engine)

    def _next_data(self) -> Any:
        progress = self._progress
        if self._num_workers == 0:
            self._whole.pull(self._fetcher.source.length)
            if self._loader is None:
                self._open()
        before = self._engine.tell() if self._engine is not None else None
        try:
            batch = next(self._loader)
        except StopIteration:
            self._whole.finish()
            progress.finished = True
            self._loader = iter(())
            raise
        except Exception:
            # The next call continues with the next batch, unless there was no memory for this one,
            # or a disk or a network did not answer.
            if self._engine is None or self._engine.tell() != before:
                progress.batches += 1
            raise
        if self._num_workers:
            self._whole.pull(self._fetcher.source.length)
        progress.batches += 1
        return self._pin(self._fetcher.tensors(batch))
