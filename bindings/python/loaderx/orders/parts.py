# SPDX-License-Identifier: MIT
"""Finds the part of a mixture that each position of an order comes from."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from .. import _core
from .blend import Blend
from .budgeted import Budgeted
from .combined import Concat, Padded, Repeat, Slice, Subset
from .order import Order
from .parity import Nanoset

__all__ = ['Finder', 'finder']

# Returns, for a position, the index of the part of the outermost mixture, then the index of the
# part of the mixture within this part, and so on.
Finder = Callable[[int], Tuple[int, ...]]


def finder(order: Order, n: int) -> Optional[Finder]:
    """Return a function that finds the parts of positions; None if the order has no mixture.

    Parts of the order that have no length take on the length `n`.
    """
    for kind in type(order).__mro__:
        if kind in _MAKERS:
            return _MAKERS[kind](order, n)
    return None


def _core_of(order: Order, n: int) -> _core.Order:
    return order._make(n) if order._order is None else order._order


def _of_blend(order: Any, n: int) -> Finder:
    core = _core_of(order, n)
    inner = [finder(part, n) for part in order._parts]
    lengths = [_core_of(part, n).length for part in order._parts]
    continues = order._exhausted == 'repeat' and order._method != 'exhaustive'

    def find(position: int) -> Tuple[int, ...]:
        number = int(np.argmax(_core.count_sets(core, position, position + 1)))
        find_inner = inner[number]
        if find_inner is None:
            return (number,)
        epoch = position // core.length
        begin = 0 if continues else epoch * core.length    # where the part began its epochs
        place = int(_core.count_sets(core, begin, position)[number])
        return (number, *find_inner(place if continues else epoch * lengths[number] + place))

    return find


def _of_nanoset(order: Any, n: int) -> Finder:
    cursor, ends = order._order.shard(0, 1), np.cumsum(order._lengths)

    def find(position: int) -> Tuple[int, ...]:
        cursor.seek(position)
        return (int(np.searchsorted(ends, cursor.take(1)[0], 'right')),)

    return find


def _of_slice(order: Any, n: int) -> Optional[Finder]:
    inner, core = order._parts[0], _core_of(order, n)
    find, length = finder(inner, n), _core_of(inner, n).length
    first = slice(order._start, None).indices(length)[0]
    return None if find is None else lambda position: find(
        position // core.length * length + first + position % core.length)


def _of_padded(order: Any, n: int) -> Optional[Finder]:
    inner, core = order._parts[0], _core_of(order, n)
    find, length = finder(inner, n), _core_of(inner, n).length
    return None if find is None else lambda position: find(
        position // core.length * length + position % core.length % length)


def _of_concat(order: Any, n: int) -> Optional[Finder]:
    core, finders = _core_of(order, n), [finder(part, n) for part in order._parts]
    lengths = [_core_of(part, n).length for part in order._parts]
    ends = np.cumsum(lengths)

    def find(position: int) -> Tuple[int, ...]:
        epoch, offset = divmod(position, core.length)
        number = int(np.searchsorted(ends, offset, 'right'))
        find_inner = finders[number]
        return () if find_inner is None else find_inner(
            epoch * lengths[number] + offset - int(ends[number]) + lengths[number])

    return find if any(finders) else None


# The orders that are mixtures, or that consist of other orders. Positions of a Repeat, a Subset and
# a Budgeted order are those of the inner order.
_MAKERS: Dict[type, Callable[[Any, int], Optional[Finder]]] = {
    Blend: _of_blend,
    Budgeted: lambda order, n: finder(order._part, len(order._costs)),
    Concat: _of_concat,
    Nanoset: _of_nanoset,
    Padded: _of_padded,
    Repeat: lambda order, n: finder(order._parts[0], n),
    Slice: _of_slice,
    Subset: lambda order, n: order._inner and finder(order._inner, len(order._indices)),
}
