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
    """An order that another one is made of."""
    if not isinstance(order, Order):
        raise TypeError(f'{name} must be an Order, not {type(order).__name__}')
    if order.world != 1:
        raise ValueError(
            f'{name} is rank {order.rank} of {order.world} of an order; make one of the whole '
            'order, and shard that'
        )
    return order


class _Combined(Order):
    """An order that is made of parts, and waits for a length as long as one of them does."""

    _parts: Tuple[Order, ...]

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        raise NotImplementedError

    def _make(self, n: int) -> _core.Order:
        return self._combine([part._for_length(n) for part in self._parts])

    def _set_parts(self, *parts: Order) -> None:
        self._parts = parts
        if all(part._order is not None for part in parts):
            self._order = self._make(0)    # which none of them asks for


class Slice(_Combined):
    """A part of each epoch of an order: its positions from `start` up to, and without, `stop`.

    They mean what they do in a slice of a list: negative ones count from the end, and those that
    are too large are the end. Where the order shuffles, each epoch of the slice has other indices.

    Parameters
    ----------
    order : Order
        What a part is taken of. Its own position does not count.
    start, stop : int
        Positions of an epoch; None: the end.

    Examples
    --------
    >>> half = Slice(Shuffle(seed=1), 0, 30000)
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
    """Epochs of an order, made longer: behind their end their first positions come again.

    With as many samples as a batch of all ranks has, each rank has as many batches as every other
    one, all of them whole.

    Parameters
    ----------
    order : Order
        What is padded. Its own position does not count.
    multiple : int
        An epoch has the least multiple of it that holds all of the order's; 1 or more.
    """

    def __init__(self, order: Order, multiple: int) -> None:
        self._multiple = natural('multiple', multiple, least=1)
        self._set_parts(_part('order', order))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if -(-parts[0].length // self._multiple) * self._multiple > UINT64_MAX:
            raise ValueError(
                f'multiple is too large: the one of {self._multiple} that holds '
                f'{parts[0].length} positions is beyond 2**64 - 1'
            )
        return _core.padded(parts[0], self._multiple)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return self._parts

    def _arguments(self) -> Dict[str, Any]:
        return {'multiple': self._multiple}


class Repeat(_Combined):
    """So many epochs of an order as one: the same indices, but longer epochs.

    Parameters
    ----------
    order : Order
        What is repeated; where it shuffles, each time is shuffled anew. Its own position does not
        count.
    times : int
        How many of its epochs are one; 1 or more.
    """

    def __init__(self, order: Order, times: int) -> None:
        self._times = natural('times', times, least=1)
        self._set_parts(_part('order', order))

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        if parts[0].length * self._times > UINT64_MAX:
            raise ValueError(
                f'times is too large: {self._times} epochs of {parts[0].length} positions are '
                'beyond 2**64 - 1'
            )
        return _core.repeat(parts[0], self._times)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return self._parts

    def _arguments(self) -> Dict[str, Any]:
        return {'times': self._times}


class Concat(_Combined):
    """One order after the other: an epoch is that of the first, then that of the second, and so on.

    Parameters
    ----------
    orders : sequence of Order
        One or more. Their own positions do not count.
    offsets : sequence of int, optional
        What is added to the indices of each; None: nothing. For instance where the sources of the
        orders begin in one that holds them all.

    Examples
    --------
    >>> both = Concat([Shuffle(1000, seed=1), Shuffle(500, seed=2)], offsets=[0, 1000])
    """

    def __init__(self, orders: Sequence[Order], offsets: Optional[Sequence[int]] = None) -> None:
        parts = _listed('orders', orders)
        if not parts:
            raise ValueError('orders must have at least one order')
        self._offsets: Optional[Tuple[int, ...]] = None
        if offsets is not None:
            given = _listed('offsets', offsets)
            if len(given) != len(parts):
                raise ValueError(f'offsets: {len(given)} are given, for {len(parts)} orders')
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
    """The given indices, in the order of their places that another order says.

    They may come in any order, and more than once. They are copied, and take 8 bytes each, or 16
    where one of them is 2**32 or more.

    Parameters
    ----------
    indices : sequence or array of int
        0 or more each: nothing is known of a length from whose end to count.
    order : Order, optional
        Which place follows which: where it has i, this has ``indices[i]``. Without a length it is
        an order of ``len(indices)``; None: `Sequential`. Its own position does not count.
    seed : int, optional
        In place of `order`: ``Shuffle(seed=seed)``.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.

    Examples
    --------
    >>> training = Subset(np.flatnonzero(labels != 7), seed=42)
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
            raise ValueError('seed is of a shuffle in place of order: give one of them')
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
