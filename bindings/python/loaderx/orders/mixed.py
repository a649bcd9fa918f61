# SPDX-License-Identifier: MIT
"""Helpers that find the dataset of each sample in an order that mixes several datasets."""

from __future__ import annotations

from typing import Any, Iterable, List, Tuple

import numpy as np

from .._check import integer
from .order import Order

__all__ = ['indices_at', 'locate']

_Array = np.ndarray[Any, Any]
_Numbers = np.ndarray[Any, np.dtype[np.int64]]


def indices_at(order: Order, positions: Iterable[int]) -> List[int]:
    """Return the indices at positions of an order; negative positions count from the end."""
    cursor = order._get_core().shard(0, 1)    # a copy with its own position, for concurrent readers
    length = len(order)
    indices = []
    for position in positions:
        place = integer('idx', position)
        if not -length <= place < length:
            raise IndexError(f'sample {place} is out of range: the length is {length}')
        cursor.seek(place % length)
        indices.append(int(cursor.take(1)[0]))
    return indices


def locate(indices: _Array, begins: _Array) -> Tuple[_Numbers, _Numbers]:
    """Return the index of each sample's dataset, and the index of the sample in that dataset.

    `begins` contains the index of the first sample of each dataset, starting with 0.
    """
    numbers = indices.astype(np.int64)
    sets = np.searchsorted(begins, numbers, 'right') - 1
    return sets, numbers - begins[sets]
