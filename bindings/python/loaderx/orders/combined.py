# SPDX-License-Identifier: MIT
"""Orders built from other orders."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, folder, integer, natural, naturals
from .basic import Sequential, Shuffle
from .order import Order

__all__ = ['Concat', 'Padded', 'Repeat', 'Slice', 'Subset']


def _part(name: str, order: Any) -> Order:
    """Check and return an order that is to become part of another order."""
    if not isinstance(order, Order):
        raise TypeError(f'{name} must be an Order, not {type(order).__name__}')
    if order.world != 1:
        raise ValueError(
            f'{name} is a shard of an order (rank {order.rank} of {order.world}): combine whole '
            'orders, and shard the result'
        )
    return order


class _Combined(Order):
    """An order made of parts; it has no length if any part has no length."""

    _parts: Tuple[Order, ...]

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        raise NotImplementedError

    def _make(self, n: int) -> _core.Order:
        return self._combine([part._make(n) if part._order is None else part._order
                              for part in self._parts])

    def _set_parts(self, *parts: Order) -> None:
        self._parts = parts
        if all(part._order is not None for part in parts):
            self._order = self._make(0)    # no part needs the length of the source


class _Derived(_Combined):
    """An order that has a single part, and orders the same records as that part."""

    def _set_part(self, order: Order) -> None:
        self._set_parts(_part('order', order))
        self._records = order._records

    def _first_arguments(self) -> Tuple[Any, ...]:
        return self._parts


class Slice(_Derived):
    """The positions of each epoch of an order from `start` up to but not including `stop`.

    As in a list slice, negative positions count from the end, and positions past the end stand for
    the end. If the order shuffles, each epoch of the slice contains different indices.

    Parameters
    ----------
    order : Order
        The order to slice. Its own position is ignored.
    start, stop : int
        Positions in an epoch; None: the end.

    Examples
    --------
    >>> Slice(Sequential(n=10), 2, -5).take(6).tolist()
    [2, 3, 4, 2, 3, 4]
    """

    def __init__(self, order: Order, start: int = 0, stop: Optional[int] = None) -> None:
        self._start = integer('start', start)
        self._stop = None if stop is None else integer('stop', stop)
        self._set_part(order)

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        first, end, _ = slice(self._start, self._stop).indices(parts[0].length)
        return _core.slice(parts[0], first, max(end - first, 0))

    def _arguments(self) -> Dict[str, Any]:
        stop = {} if self._stop is None else {'stop': self._stop}
        return {'start': self._start, **stop}


class Padded(_Derived):
    """An order whose epochs are padded to a multiple of a length by repeating their first indices.

    If `multiple` is the number of samples in a global batch, all ranks have the same number of
    batches, and all batches are full. The repeated indices are part of the order: ``batch.real``
    does not mark them, so an evaluation would count them twice. ``Loader(pad_last=True)`` makes the
    same batches, and marks them.

    Parameters
    ----------
    order : Order
        The order to extend. Its own position is ignored.
    multiple : int
        The length of an epoch is rounded up to a multiple of this number, which is at least 1.

    Examples
    --------
    >>> Padded(Sequential(n=5), 4).take(8).tolist()
    [0, 1, 2, 3, 4, 0, 1, 2]
    """

    def __init__(self, order: Order, multiple: int) -> None:
        self._multiple = natural('multiple', multiple, minimum=1)
        self._set_part(order)

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if -(-parts[0].length // self._multiple) * self._multiple > UINT64_MAX:
            raise ValueError(
                f'multiple is too large: {parts[0].length} positions, extended to a multiple of '
                f'{self._multiple}, exceed 2**64 - 1'
            )
        return _core.padded(parts[0], self._multiple)

    def _arguments(self) -> Dict[str, Any]:
        return {'multiple': self._multiple}


class Repeat(_Derived):
    """Several epochs of an order combined into one epoch.

    Parameters
    ----------
    order : Order
        The order to repeat. Its own position is ignored. If it shuffles, each repetition uses a
        different permutation.
    times : int
        The number of epochs of `order` in one epoch; at least 1.

    Examples
    --------
    >>> len(Repeat(Shuffle(n=10, seed=1), 3))
    30
    """

    def __init__(self, order: Order, times: int) -> None:
        self._times = natural('times', times, minimum=1)
        self._set_part(order)

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if parts[0].length * self._times > UINT64_MAX:
            raise ValueError(
                f'times is too large: {self._times} epochs of {parts[0].length} positions '
                'exceed 2**64 - 1'
            )
        return _core.repeat(parts[0], self._times)

    def _arguments(self) -> Dict[str, Any]:
        return {'times': self._times}


class Concat(_Combined):
    """The concatenation of orders: an epoch contains one epoch of each order, in sequence.

    Parameters
    ----------
    orders : sequence of Order
        One or more orders. Their own positions are ignored.
    offsets : sequence of int, optional
        For each order, a number to add to its indices; None: 0. For example, pass the index of the
        first record of each source in a `ConcatDataset`.

    Examples
    --------
    >>> Concat([Sequential(n=2), Sequential(n=3)], offsets=[0, 100]).take(5).tolist()
    [0, 1, 100, 101, 102]
    """

    def __init__(self, orders: Sequence[Order], offsets: Optional[Sequence[int]] = None) -> None:
        parts = _as_list('orders', orders)
        if not parts:
            raise ValueError('orders must have at least one order')
        self._offsets: Optional[Tuple[int, ...]] = None
        if offsets is not None:
            entries = _as_list('offsets', offsets)
            if len(entries) != len(parts):
                raise ValueError(f'offsets must have {len(parts)} numbers, one for each order, '
                                 f'not {len(entries)}')
            self._offsets = tuple(natural(f'offsets[{i}]', n) for i, n in enumerate(entries))
        self._set_parts(*(_part(f'orders[{i}]', part) for i, part in enumerate(parts)))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if sum(part.length for part in parts) > UINT64_MAX:
            raise ValueError('orders have more than 2**64 - 1 positions in total')
        return _core.concat(tuple(parts), self._offsets)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (list(self._parts),)

    def _arguments(self) -> Dict[str, Any]:
        return {} if self._offsets is None else {'offsets': list(self._offsets)}


class Subset(Order):
    """Given indices, visited in the sequence of another order.

    Where the other order has i, this order has ``indices[i]``. The indices may be in any sequence
    and may repeat. The order copies them, and uses 8 bytes per index, or 16 bytes per index if any
    index is 2**32 or more.

    Parameters
    ----------
    indices : sequence or array of int
        The indices, each 0 or more. Negative indices are not supported, because an order does not
        know the length of the source.
    order : Order, optional
        The order in which to visit the indices; None: `Sequential`. If it has no length, its length
        becomes ``len(indices)``. Its own position is ignored.
    seed : int, optional
        Shorthand for ``order=Shuffle(seed=seed)``.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.

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
            raise ValueError('seed and order are mutually exclusive: pass only one of them')
        self._seed = None if seed is None else natural('seed', seed)
        self._inner = None if order is None else _part('order', order)
        wide = naturals('indices', indices)
        narrow = len(wide) == 0 or wide.max() < 2**32
        self._indices = wide.astype(np.uint32) if narrow else wide
        if order is None:
            order = Sequential() if seed is None else Shuffle(seed=seed)
        self._order = _core.subset(order._for_length(len(wide), 'indices'), wide, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._indices,)

    def _arguments(self) -> Dict[str, Any]:
        entries = {'order': self._inner, 'seed': self._seed}
        return {**{name: value for name, value in entries.items() if value is not None},
                **self._tables_argument()}


def _as_list(name: str, values: Any) -> Tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f'{name} must be a sequence, not {type(values).__name__}') from None
