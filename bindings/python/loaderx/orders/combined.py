# SPDX-License-Identifier: MIT
"""Orders that are made of other orders."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, folder, integer, natural, naturals
from .basic import Sequential, Shuffle
from .order import Order

__all__ = ['Concat', 'Padded', 'Repeat', 'Slice', 'Subset']


def _part(name: str, order: Any) -> Order:
    """Check an order that another one is made of."""
    if not isinstance(order, Order):
        raise TypeError(f'{name} must be an Order, not {type(order).__name__}')
    if order.world != 1:
        raise ValueError(
            f'{name} is rank {order.rank} of {order.world} of an order: combine the whole order, '
            'and shard the result'
        )
    return order


class _Combined(Order):
    """An order that is made of parts. It has no length as long as one of them has none."""

    _parts: Tuple[Order, ...]

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        raise NotImplementedError

    def _make(self, n: int) -> _core.Order:
        return self._combine([part._for_length(n) for part in self._parts])

    def _set_parts(self, *parts: Order) -> None:
        self._parts = parts
        if all(part._order is not None for part in parts):
            self._order = self._make(0)    # no part needs the length


class Slice(_Combined):
    """The positions of each epoch of an order from `start` up to, but not including, `stop`.

    As in a slice of a list, negative positions count from the end, and positions after the end mean
    the end. If the order shuffles, each epoch of the slice has other indices.

    Parameters
    ----------
    order : Order
        The whole order. Its own position does not matter.
    start, stop : int
        Positions in an epoch; None: the end.

    Examples
    --------
    >>> Slice(Sequential(10), 2, -5).take(6).tolist()
    [2, 3, 4, 2, 3, 4]
    """

    def __init__(self, order: Order, start: int = 0, stop: Optional[int] = None) -> None:
        self._start = integer('start', start)
        self._stop = None if stop is None else integer('stop', stop)
        self._set_parts(_part('order', order))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        first, end, _ = slice(self._start, self._stop).indices(parts[0].length)
        return _core.slice(parts[0], first, max(end - first, 0))

    def _first_arguments(self) -> Tuple[Any, ...]:
        return self._parts

    def _arguments(self) -> Dict[str, Any]:
        stop = {} if self._stop is None else {'stop': self._stop}
        return {'start': self._start, **stop}


class Padded(_Combined):
    """The epochs of an order, each extended by its first positions to a multiple of a length.

    If that length is the number of samples in a batch of all ranks, all ranks have the same number
    of batches, and all batches are full.

    Parameters
    ----------
    order : Order
        The order to extend. Its own position does not matter.
    multiple : int
        The length of an epoch becomes the next multiple of this; 1 or more.

    Examples
    --------
    >>> Padded(Sequential(5), 4).take(8).tolist()
    [0, 1, 2, 3, 4, 0, 1, 2]
    """

    def __init__(self, order: Order, multiple: int) -> None:
        self._multiple = natural('multiple', multiple, least=1)
        self._set_parts(_part('order', order))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if -(-parts[0].length // self._multiple) * self._multiple > UINT64_MAX:
            raise ValueError(
                f'multiple is too large: {parts[0].length} positions, extended to a multiple of '
                f'{self._multiple}, are more than 2**64 - 1'
            )
        return _core.padded(parts[0], self._multiple)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return self._parts

    def _arguments(self) -> Dict[str, Any]:
        return {'multiple': self._multiple}


class Repeat(_Combined):
    """Several epochs of an order as one: the same indices in longer epochs.

    Parameters
    ----------
    order : Order
        The order to repeat. If it shuffles, each repetition has another permutation. Its own
        position does not matter.
    times : int
        The number of its epochs in one epoch; 1 or more.

    Examples
    --------
    >>> len(Repeat(Shuffle(10, seed=1), 3))
    30
    """

    def __init__(self, order: Order, times: int) -> None:
        self._times = natural('times', times, least=1)
        self._set_parts(_part('order', order))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if parts[0].length * self._times > UINT64_MAX:
            raise ValueError(
                f'times is too large: {self._times} epochs of {parts[0].length} positions are '
                'more than 2**64 - 1'
            )
        return _core.repeat(parts[0], self._times)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return self._parts

    def _arguments(self) -> Dict[str, Any]:
        return {'times': self._times}


class Concat(_Combined):
    """Several orders as one: an epoch is one of the first, then one of the second, and so on.

    Parameters
    ----------
    orders : sequence of Order
        One or more orders. Their own positions do not matter.
    offsets : sequence of int, optional
        Numbers to add to the indices of each order, such as the first indices of their sources in a
        `ConcatDataset`; None: 0 each.

    Examples
    --------
    >>> Concat([Sequential(2), Sequential(3)], offsets=[0, 100]).take(5).tolist()
    [0, 1, 100, 101, 102]
    """

    def __init__(self, orders: Sequence[Order], offsets: Optional[Sequence[int]] = None) -> None:
        parts = _listed('orders', orders)
        if not parts:
            raise ValueError('orders must have at least one order')
        self._offsets: Optional[Tuple[int, ...]] = None
        if offsets is not None:
            given = _listed('offsets', offsets)
            if len(given) != len(parts):
                raise ValueError(f'offsets has {len(given)} numbers for {len(parts)} orders')
            self._offsets = tuple(natural(f'offsets[{i}]', n) for i, n in enumerate(given))
        self._set_parts(*(_part(f'orders[{i}]', part) for i, part in enumerate(parts)))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if sum(part.length for part in parts) > UINT64_MAX:
            raise ValueError('orders together have more than 2**64 - 1 positions')
        return _core.concat(tuple(parts), self._offsets)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (list(self._parts),)

    def _arguments(self) -> Dict[str, Any]:
        return {} if self._offsets is None else {'offsets': list(self._offsets)}


class Subset(Order):
    """Given indices, in the sequence in which another order has their places.

    The indices may be in any sequence and occur repeatedly. They are copied, and take 8 bytes each,
    or 16 if one of them is 2**32 or more.

    Parameters
    ----------
    indices : sequence or array of int
        The indices, each 0 or more: the order has no length of a source to count from its end.
    order : Order, optional
        The order of places: where it has i, the subset has ``indices[i]``. Without a length it
        gets ``len(indices)``; None: `Sequential`. Its own position does not matter.
    seed : int, optional
        Short for ``order=Shuffle(seed=seed)``.
    tables : path, optional
        A folder for the table, which is created if needed. The process that first makes the order
        writes the table to a file; others and later runs open the file and share its memory. A
        file that is damaged, or cannot be written, raises. None: the table is in memory.

    Examples
    --------
    >>> Subset([7, 3, 3, 9]).take(5).tolist()
    [7, 3, 3, 9, 7]
    >>> labels = np.array([7, 1, 7, 2])
    >>> training = Subset(np.flatnonzero(labels != 7), seed=42)
    >>> sorted(training.take(2).tolist())
    [1, 3]
    """

    def __init__(
        self,
        indices: Any,
        order: Optional[Order] = None,
        *,
        seed: Optional[int] = None,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        if order is not None and seed is not None:
            raise ValueError('seed and order exclude each other: give one of them')
        self._seed = None if seed is None else natural('seed', seed)
        self._given = None if order is None else _part('order', order)
        wide = naturals('indices', indices)
        narrow = len(wide) == 0 or wide.max() < 2**32
        self._indices = wide.astype(np.uint32) if narrow else wide
        if order is None:
            order = Sequential() if seed is None else Shuffle(seed=seed)
        self._order = _core.subset(order._for_length(len(wide)), wide, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._indices,)

    def _arguments(self) -> Dict[str, Any]:
        given = {'order': self._given, 'seed': self._seed}
        return {**{name: value for name, value in given.items() if value is not None},
                **self._kept()}


def _listed(name: str, values: Any) -> Tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f'{name} must be a sequence, not {type(values).__name__}') from None
