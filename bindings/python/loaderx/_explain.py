# SPDX-License-Identifier: MIT
"""Where the records of a batch come from, found without reading them."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._check import natural
from ._paths import shown
from .batch import Batch
from .orders import Budgeted, Order
from .orders.parts import finder
from .sources import ConcatDataset, SubsetDataset
from .sources.source import as_source, describe

__all__ = ['Planner']

Origin = Tuple[str, int]    # the path or description of a source, and an index in it


class Planner:
    """Explains batches of a loader.

    Parameters
    ----------
    loader : Loader
        A loader that reads nothing, but has the same order, batches and ranks.
    source
        The source of the loader whose batches are explained.
    order, core
        The order: the caller's object, and that of the extension module.
    batch
        The batch size, the rank, and the number of ranks.
    end : int, optional
        The position at which the run ends; None: the run does not end.
    """

    def __init__(self, loader: Any, source: Any, order: Order, core: _core.Order,
                 batch: Tuple[int, int, int], end: Optional[int]) -> None:
        self._loader, self._source, self._order, self._core = loader, source, order, core
        self._size, self._rank, self._world = batch
        self._end = end
        self._find_parts = finder(order, as_source(source).length)
        self._lock = threading.Lock()    # protects the position of the loader

    def explain(self, step: Union[int, Batch]) -> List[Dict[str, Any]]:
        """Return a dict for each record of a batch of this rank; see `Loader.explain`."""
        with self._lock:
            position = step.position if isinstance(step, Batch) else self._find(step)
            if self._end is not None and position >= self._end:
                raise IndexError(f'step {step} is beyond the end of the run')
            self._loader.seek(position)
            batch = next(self._loader)
        indices = batch.index.tolist()
        return [{'index': index, 'real': real, 'position': position, **chosen, 'read': read}
                for index, real, chosen, read in zip(
                    indices, batch.real.tolist(), self._sets(position, len(indices)),
                    _locate(self._source, indices))]

    def _find(self, step: int) -> int:
        """Return the position of a batch, counted from the beginning of the first epoch."""
        number = natural('step', step)
        if isinstance(self._order, Budgeted):
            return self._find_budgeted(number)
        self._loader.seek(0)
        batches = len(self._loader)
        if batches == 0:
            raise IndexError('this rank has no batches')
        epoch, number = divmod(number, batches)
        return epoch * self._core.length + number * self._size * self._world

    def _find_budgeted(self, number: int) -> int:
        epoch = 0
        while True:    # the number of batches in an epoch depends on the order of its records
            self._loader.seek(epoch * self._core.length)
            batches = len(self._loader)
            if batches == 0:
                raise IndexError('this rank has no batches')
            if number < batches:
                break
            epoch, number = epoch + 1, number - batches
        for _ in range(number):
            next(self._loader)
        position: int = self._loader.tell()
        return position

    def _sets(self, position: int, count: int) -> List[Dict[str, Any]]:
        """Return, for each record, the index of the part of a mixture that it comes from."""
        if self._find_parts is None:
            return [{}] * count
        numbers = [self._find_parts(place) for place in self._places(position, count)]
        return [{} if not found else {'set': found[0] if len(found) == 1 else found}
                for found in numbers]

    def _places(self, position: int, count: int) -> Iterable[int]:
        """Return the position in the order of each record of the batch of this rank."""
        length, rank, world = self._core.length, self._rank, self._world
        epoch, first = divmod(position, length)
        if isinstance(self._order, Budgeted):
            begin = self._find_begin(self._order, epoch, position)
            return range(begin, begin + count)
        first += (rank - first) % world    # the first offset of this rank
        return (epoch * length + (first + i * world) % length for i in range(count))

    def _find_begin(self, order: Budgeted, epoch: int, position: int) -> int:
        """Return the begin of this rank's batch among those of a step that begins at a position."""
        begin, number = position, order.find_batch(position)[0]
        target, count = number + (self._rank - number) % self._world, order.count_batches(epoch)
        if target >= count:    # this rank repeats a batch from the start of the epoch
            begin, number, target = epoch * self._core.length, 0, (target - count) % count
        for _ in range(target - number):
            begin = order.find_batch(begin)[2]
        return begin


def _locate(source: Any, indices: Sequence[int]) -> List[List[Origin]]:
    """Return what is read for each index: one record from each source that is read side by side."""
    if isinstance(source, Mapping):
        return _beside(list(source.values()), indices)
    if isinstance(source, (tuple, list)) and not (source and isinstance(source[0], Mapping)):
        return _beside(source, indices)
    if isinstance(source, ConcatDataset):
        return _locate_concatenated(source, indices)
    if isinstance(source, SubsetDataset):
        chosen = np.arange(as_source(source._located).length)[source._indices]
        return _locate(source.dataset, chosen[list(indices)].tolist())
    files_of = getattr(source, '_files', None)    # of a source that reads tokens
    if files_of is not None:
        return [[(_name(path), index) for path in files_of(index)] for index in indices]
    name = _name(source)
    return [[(name, index)] for index in indices]


def _beside(sources: Sequence[Any], indices: Sequence[int]) -> List[List[Origin]]:
    return [sum(parts, []) for parts in zip(*(_locate(one, indices) for one in sources))]


def _locate_concatenated(source: ConcatDataset, indices: Sequence[int]) -> List[List[Origin]]:
    ends = np.cumsum([as_source(one).length for one in source._located]).tolist()
    numbers = np.searchsorted(ends, indices, 'right').tolist()
    return [_locate(source.datasets[number], [index - (ends[number - 1] if number else 0)])[0]
            for number, index in zip(numbers, indices)]


def _name(source: Any) -> str:
    """Return the path of a source, or its description if it has none."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return shown(source)
    source = getattr(source, '_dataset', source)    # of an ARDataset or a Column
    paths = (getattr(source, name, None) for name in ('path', '_path'))
    return next((path for path in paths if isinstance(path, str)), None) or describe(source)
