# SPDX-License-Identifier: MIT
"""Samples of several datasets that an order mixes: which one stands where."""

from __future__ import annotations

from typing import Any, Iterable, List, Tuple

import numpy as np

from .._check import integer
from .order import Order

__all__ = ['indices_at', 'locate']

_Array = np.ndarray[Any, Any]
_Numbers = np.ndarray[Any, np.dtype[np.int64]]


def indices_at(order: Order, positions: Iterable[int]) -> List[int]:
    """What stands at positions of an order, which may count from its end."""
    walk = order._walk().shard(0, 1)    # its own, as others may be reading, too
    length = len(order)
    indices = []
    for position in positions:
        place = integer('idx', position)
        if not -length <= place < length:
            raise IndexError(f'sample {place} is out of range: there are {length}')
        walk.seek(place % length)
        indices.append(int(walk.take(1)[0]))
    return indices


def locate(indices: _Array, begins: _Array) -> Tuple[_Numbers, _Numbers]:
    """The datasets of samples, each of which begins somewhere among all, and their numbers there.

    The first one begins at 0.
    """
    places = indices.astype(np.int64)
    sets = np.searchsorted(begins, places, 'right') - 1
    return sets, places - begins[sets]
