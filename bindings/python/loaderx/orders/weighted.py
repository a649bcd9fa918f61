# SPDX-License-Identifier: MIT
"""Orders in which the weight of an index determines how often, or how early, the index occurs."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from .. import _core
from .._check import Folder, boolean, folder, natural, reals
from .order import Order

__all__ = ['Weighted']


class Weighted(Order):
    """Indices chosen at random by weight.

    The same weights and seed give the same indices on every machine. The order uses 16 bytes per
    weight, 8 of them for `repr` and pickling.

    Parameters
    ----------
    weights : sequence or array of float
        The weight of each index, 0 or more. At least one weight must be above 0, and there can be
        at most 2**31 - 1 weights. Only the ratio of a weight to the sum of all weights matters.
        Indices of weight 0 never occur.
    n : int, optional
        The number of positions in an epoch; None: the number of weights. Without replacement, both
        the default and the maximum are the number of weights above 0.
    replacement : bool
        True: each position is chosen independently, with probabilities proportional to the weights,
        as in torch's WeightedRandomSampler (which returns different indices, however). False: an
        epoch contains each index at most once; each position is chosen from the remaining indices
        by weight, so indices with large weights tend to come early. Each epoch then needs a table
        of 4 bytes per position, created on first access.
    seed : int
        The seed, from 0 to 2**64 - 1.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.

    Examples
    --------
    Choose rare classes as often as frequent classes:

    >>> labels = np.array([0, 0, 0, 1])
    >>> order = Weighted(1 / np.bincount(labels)[labels], n=10_000, seed=42)
    >>> round(float(labels[order.take(10_000)].mean()), 1)
    0.5
    """

    def __init__(
        self,
        weights: Any,
        *,
        n: Optional[int] = None,
        replacement: bool = True,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        self._weights = reals('weights', weights)
        self._replacement = boolean('replacement', replacement)
        self._seed = natural('seed', seed)
        if len(self._weights) == 0:
            raise ValueError('weights must have at least one number')
        positive = int(np.count_nonzero(self._weights))
        if positive == 0:
            raise ValueError('weights must have at least one positive number')
        if n is None:
            n = len(self._weights) if self._replacement else positive
        n = natural('n', n)
        if not self._replacement and n > positive:
            raise ValueError(f'n must be at most {positive} (the number of positive weights) if '
                             f'replacement is False, not {n}')
        make = _core.weighted if self._replacement else _core.weighted_shuffle
        self._records = len(self._weights)
        self._order = make(self._weights, n, self._seed, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._weights,)

    def _arguments(self) -> Dict[str, Any]:
        return {'n': len(self), **({} if self._replacement else {'replacement': False}),
                'seed': self._seed,
                **self._tables_argument()}
