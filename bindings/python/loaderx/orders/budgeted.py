# SPDX-License-Identifier: MIT
"""Orders divided into batches by a budget, for example a number of tokens."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Tuple

import numpy as np

from .. import _core
from .._check import boolean, natural, naturals
from .combined import _part
from .grouped import _narrow
from .order import Order

__all__ = ['Budgeted']


class Budgeted(Order):
    """An order that is divided into batches of as many samples as fit in a budget.

    Each position has the same index as in the inner order. Starting at the beginning of each epoch,
    each batch takes as many consecutive samples as fit; the last batch of an epoch takes the
    remaining samples. Samples fit if the sum of their costs is at most the budget. With `padded`,
    the cost of a batch is the number of its samples times the largest cost among them, which is
    what a batch that is padded to its longest sample costs. With a `Bucketed` inner order, batches
    contain little padding.

    A `Loader` with a budgeted order returns these batches, and does not accept `batch_size`. Each
    of N ranks reads one of every N consecutive batches. The budget therefore applies to each
    device, and a step of 4 ranks reads the same batches as two steps of 2 ranks. At the end of an
    epoch, fewer batches than ranks may remain. In a loader, ranks that get none of these batches
    repeat batches from the start of the epoch, and ``batch.real`` marks the repeated records. With
    ``drop_last=True``, no rank gets any of the remaining batches.

    The order stores two copies of the costs, which use 4 or 8 bytes per cost, and the starts of the
    batches of two epochs, which use one bit per position. The first access to an epoch reads the
    whole epoch. A budgeted order cannot be part of another order: apply the budget last.

    Parameters
    ----------
    order : Order
        The inner order. If it has no length, its length becomes ``len(costs)``. Its own position is
        ignored.
    costs : sequence or array of int
        The cost of each index, from 1 to the budget: for example, the number of tokens in a text,
        such as ``ds['tokens'].lengths()``.
    budget : int
        The maximum cost of a batch.
    rows : int, optional
        The maximum number of samples in a batch; None: as many as fit. A loader reserves memory for
        the largest possible batch, which consists of the cheapest samples: set `rows` if some
        samples are far cheaper than most.
    padded : bool
        Whether each sample of a batch costs as much as the most expensive sample in the batch.

    Examples
    --------
    >>> lengths = [3, 4, 4, 9, 8, 8]
    >>> order = Budgeted(Sequential(n=6), lengths, 16, padded=True)
    >>> [batch.tolist() for batch in order.batches()]
    [[0, 1, 2], [3], [4, 5]]
    """

    def __init__(
        self,
        order: Order,
        costs: Any,
        budget: int,
        *,
        rows: Optional[int] = None,
        padded: bool = False,
    ) -> None:
        self._part = _part('order', order)
        wide = naturals('costs', costs)
        self._costs = _narrow(wide)
        self._budget = natural('budget', budget, minimum=1)
        self._rows = None if rows is None else natural('rows', rows, minimum=1)
        self._padded = boolean('padded', padded)
        self._records = len(wide)
        self._order = _core.budgeted(order._for_length(len(wide), 'costs'), wide, self._budget,
                                     self._rows or 0, self._padded)

    def take_batch(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return the next batch, epoch after epoch, and advance the position.

        In a sharded order (see `shard`), the call returns the batch of this order's rank, and the
        position advances past one batch of each rank. After a `seek` into the middle of a batch,
        the call returns the rest of that batch.

        Returns
        -------
        numpy.ndarray
            The indices, as uint64. The array is empty only if the order is empty or at its end.

        Raises
        ------
        ValueError
            The next 100 epochs contain no batch for this rank.
        """
        return self._get_core().take_batch()

    def batches(
        self, *, drop_last: bool = False
    ) -> Iterator[np.ndarray[Any, np.dtype[np.uint64]]]:
        """Iterate over the remaining batches of the current epoch.

        Each batch advances the position. The iteration ends at the end of the epoch; the next call
        iterates over the next epoch. To choose a different position or rank, use `seek` or `shard`.

        Parameters
        ----------
        drop_last : bool
            Whether to drop the last batches of the epoch if there are fewer batches than ranks.

        Yields
        ------
        numpy.ndarray
            The indices of a batch, as `take_batch` returns them.

        Examples
        --------
        >>> order = Budgeted(Sequential(n=6), [3, 4, 4, 9, 8, 8], 16)
        >>> for indices in order.shard(0, 2).batches():
        ...     print(indices)
        [0 1 2]
        [4 5]
        """
        drop_last = boolean('drop_last', drop_last)
        core = self._get_core()
        if core.length == 0:
            return
        epoch = core.tell() // core.length
        count, end = self.count_batches(epoch), min((epoch + 1) * core.length, 2**64 - 1)
        while core.tell() < end:
            found = _core.find_batch(core, core.tell())
            number = 0 if found is None else found[0]
            target = number + (self.rank - number) % self.world
            if target >= count or (drop_last and count - number < self.world):
                core.seek(end)
                return
            yield core.take_batch()

    def count_batches(self, epoch: int = 0) -> int:
        """Return the number of batches in an epoch, over all ranks."""
        return _core.count_batches(self._get_core(), natural('epoch', epoch))

    def find_batch(self, position: int) -> Tuple[int, int, int]:
        """Find the batch that contains a position.

        Parameters
        ----------
        position : int
            A position in the global order.

        Returns
        -------
        number, begin, end : int
            The number of the batch in its epoch, the first position of the batch, and the position
            after its last position.

        Raises
        ------
        IndexError
            The order is empty, or the position is 2**64 - 1.
        """
        found = _core.find_batch(self._get_core(), natural('position', position))
        if found is None:
            raise IndexError(f'position {position} is out of range')
        return found

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._part, self._costs, self._budget)

    def _arguments(self) -> Dict[str, Any]:
        rows = {} if self._rows is None else {'rows': self._rows}
        return {**rows, **({'padded': True} if self._padded else {})}
