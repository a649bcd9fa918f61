# SPDX-License-Identifier: MIT
"""Orders that are cut into batches by a budget, for example of tokens."""

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
    """An order that is cut into batches of as many samples as fit in a budget.

    Each position has the same index as in the inner order. From the start of each epoch, each batch
    takes as many samples as fit, in order; the last batch of an epoch has the rest. Samples fit
    while the sum of their costs is at most the budget; with `padded`, while their number times
    their largest cost is, which is the cost of a batch padded to its longest sample. Over
    `Bucketed` lengths little of that is padding.

    A `Loader` over such an order takes these batches, and no `batch_size`. Of N ranks, each takes
    one of N consecutive batches: the budget is that of one device, and a step of 4 ranks equals two
    steps of 2. If an epoch ends with fewer batches than ranks, some ranks get none; with
    ``drop_last=True`` no rank gets any of these.

    The order holds the costs twice, 4 or 8 bytes each, and the starts of the batches of two epochs,
    an eighth of a byte a position. The first access to an epoch reads all of it. Other orders
    cannot be made of a budgeted one: cut last.

    Parameters
    ----------
    order : Order
        The inner order. Without a length, it takes the length ``len(costs)``. Its own position is
        ignored.
    costs : sequence or array of int
        The cost of each index, such as the tokens of its text: 1 up to the budget.
    budget : int
        The largest cost of a batch.
    rows : int, optional
        The most samples of a batch; None: as many as fit. A loader reserves memory for the largest
        possible batch, of the cheapest samples only: set this if some are far cheaper than most.
    padded : bool
        Whether each sample of a batch costs as much as the most expensive one.

    Examples
    --------
    >>> lengths = [3, 4, 4, 9, 8, 8]
    >>> order = Budgeted(Sequential(6), lengths, 16, padded=True)
    >>> [batch.tolist() for batch in order.batches()]
    [[0, 1, 2], [3], [4, 5]]
    """

    def __init__(
        self,
        order: Order,
        costs: Any,
        budget: int,
        rows: Optional[int] = None,
        padded: bool = False,
    ) -> None:
        self._part = _part('order', order)
        wide = naturals('costs', costs)
        self._costs = _narrow(wide)
        self._budget = natural('budget', budget, least=1)
        self._rows = None if rows is None else natural('rows', rows, least=1)
        self._padded = boolean('padded', padded)
        self._order = _core.budgeted(order._for_length(len(wide)), wide, self._budget,
                                     self._rows or 0, self._padded)

    def take_batch(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return the next batch, epoch after epoch, and advance the position.

        For one rank (see `shard`) that is its batch among the next one for each rank, and the
        position of each rank advances past all of these. After a `seek` into a batch, it is the
        rest of that batch.

        Returns
        -------
        numpy.ndarray
            The indices, uint64; empty only if the order is empty or ends.

        Raises
        ------
        ValueError
            100 epochs had no batch for this rank.
        """
        return self._walk().take_batch()

    def batches(
        self, *, drop_last: bool = False
    ) -> Iterator[np.ndarray[Any, np.dtype[np.uint64]]]:
        """Iterate over the remaining batches of the current epoch.

        Each batch advances the position; the iteration ends at the start of the next epoch, and the
        next call iterates over that one. `seek` and `shard` choose another position or rank.

        Parameters
        ----------
        drop_last : bool
            Whether to drop the last batches of the epoch if there is not one for each rank.

        Yields
        ------
        numpy.ndarray
            The indices of a batch, as of `take_batch`.

        Examples
        --------
        >>> order = Budgeted(Sequential(6), [3, 4, 4, 9, 8, 8], 16)
        >>> for indices in order.shard(0, 2).batches():
        ...     print(indices)
        [0 1 2]
        [4 5]
        """
        drop_last = boolean('drop_last', drop_last)
        walk = self._walk()
        if walk.length == 0:
            return
        epoch = walk.tell() // walk.length
        count, end = self.count_batches(epoch), min((epoch + 1) * walk.length, 2**64 - 1)
        while walk.tell() < end:
            found = _core.find_batch(walk, walk.tell())
            number = 0 if found is None else found[0]
            own = number + (self.rank - number) % self.world
            if own >= count or (drop_last and count - number < self.world):
                walk.seek(end)
                return
            yield walk.take_batch()

    def count_batches(self, epoch: int = 0) -> int:
        """Return the number of batches of an epoch, for all ranks together."""
        return _core.count_batches(self._walk(), natural('epoch', epoch))

    def find_batch(self, position: int) -> Tuple[int, int, int]:
        """Find the batch of a position.

        Parameters
        ----------
        position : int
            A position of the global order.

        Returns
        -------
        number, begin, end : int
            The number of the batch in its epoch, its first position, and the one after its last.

        Raises
        ------
        IndexError
            The order is empty, or the position is 2**64 - 1.
        """
        found = _core.find_batch(self._walk(), natural('position', position))
        if found is None:
            raise IndexError(f'position {position} is out of range')
        return found

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._part, self._costs, self._budget)

    def _arguments(self) -> Dict[str, Any]:
        rows = {} if self._rows is None else {'rows': self._rows}
        return {**rows, **({'padded': True} if self._padded else {})}
