# SPDX-License-Identifier: MIT
"""Orders in which indices come as often, or as early, as a weight of each says."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from .. import _core
from .._check import Folder, boolean, folder, natural, reals
from .order import Order

__all__ = ['Weighted']


class Weighted(Order):
    """Indices drawn by weights: each as often, or as early, as its weight among all says.

    The same weights and seed give the same indices on every machine. They take 8 bytes each, and
    another 8 for what can be printed and pickled.

    Parameters
    ----------
    weights : sequence or array of float
        One for each index, 0 or more, one at least above 0; 1 to 2**31 - 1 of them. What counts is
        what they are of their sum. Those of 0 are never drawn.
    n : int, optional
        Positions in an epoch; None: as many as there are weights, and without replacement as many
        as are above 0, which is also the most.
    replacement : bool
        True: independent draws; any index may come at any position, with the probability of its
        weight among all, as of torch's WeightedRandomSampler (its numbers are others). False: in an
        epoch each index comes once at most, and at each position each of those left has the
        probability of its weight among theirs: heavy ones come early. Each epoch is drawn anew; of
        each that is read, a table of 4 bytes a position is made first.
    seed : int
        0 to 2**64 - 1.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.

    Examples
    --------
    Rare classes as often as frequent ones:

    >>> order = Weighted(1 / np.bincount(labels)[labels], seed=42)
    """

    def __init__(
        self,
        weights: Any,
        n: Optional[int] = None,
        *,
        replacement: bool = True,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        self._weights = reals('weights', weights)
        self._replacement = boolean('replacement', replacement)
        self._seed = natural('seed', seed)
        if len(self._weights) == 0:
            raise ValueError('weights must have at least one')
        some = int(np.count_nonzero(self._weights))
        if some == 0:
            raise ValueError('weights: one of them at least must be above 0')
        if n is None:
            n = len(self._weights) if self._replacement else some
        n = natural('n', n)
        if not self._replacement and n > some:
            raise ValueError(f'n must be at most {some}, the weights above 0, without replacement, '
                             f'not {n}')
        make = _core.weighted if self._replacement else _core.weighted_shuffle
        self._order = make(self._weights, n, self._seed, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._weights, *super()._first_arguments())

    def _arguments(self) -> Dict[str, Any]:
        return {**({} if self._replacement else {'replacement': False}), 'seed': self._seed,
                **self._kept()}
