# SPDX-License-Identifier: MIT
"""Orders that are cut into batches of as many samples as fit in a budget, of tokens say."""

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

    The same index stands at each position as in the order that it is made of. From the beginning of
    each epoch on, each batch takes as many samples as fit, in their order; the last one has what is
    left. They fit while the sum of their costs is no more than the budget; or with `padded`, while
    their number times the largest of their costs is, which is what they take when all are made as
    long as the longest. Over `Bucketed` lengths little of that is padding.

    A `Loader` that is given such an order takes no `batch_size`: its batches are these. Of N ranks
    each takes one of N that follow each other, so that the budget is that of one device, and a step
    of 4 ranks is two of 2. Where an epoch ends with fewer batches than ranks, some have none, or
    with ``drop_last=True`` none has.

    It holds the costs twice, 4 or 8 bytes each, and where the batches of two epochs begin, an
    eighth of a byte a position. Who enters an epoch first reads it once. No other order can be made
    of it: cut last.

    Parameters
    ----------
    order : Order
        What is cut. Without a length it is an order of ``len(costs)``. Its own position does not
        count.
    costs : sequence or array of int
        What each index costs, such as the tokens of its text: 1 or more, and none above the budget.
    budget : int
        What a batch may cost.
    rows : int, optional
        Samples of a batch at most; None: as many as fit. A loader keeps memory for the largest
        batch that there could be, which is of the cheapest sample alone: so give this where some
        are far cheaper than most.
    padded : bool
        Whether each sample of a batch costs as much as its most expensive one.

    Examples
    --------
    >>> tokens = ds['tokens'][:]
    >>> order = Budgeted(Bucketed(tokens, 32, seed=42), tokens, 16384, padded=True)
    >>> loader = Loader(ds, order=order, rank=rank, world=world)
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
        """Take the next batch, epoch after epoch, and move on behind it.

        Of a share (see `shard`) that is the one of its rank among as many as there are ranks, and
        all ranks go on behind the last of these. Where `seek` went into a batch, it is what is left
        of that.

        Returns
        -------
        numpy.ndarray
            The indices, uint64; empty only where nothing is left.

        Raises
        ------
        ValueError
            100 epochs have had no batch for this rank.
        """
        return self._walk().take_batch()

    def batches(
        self, *, drop_last: bool = False
    ) -> Iterator[np.ndarray[Any, np.dtype[np.uint64]]]:
        """Go through what is left of the epoch in which the order stands, batch by batch.

        It moves on with each of them, and in the end is where the next epoch begins, which the next
        call goes through. For another place or rank, there are `seek` and `shard`.

        Parameters
        ----------
        drop_last : bool
            Whether to leave out the last batches of the epoch where there is not one for each rank.

        Yields
        ------
        numpy.ndarray
            As of `take_batch`.

        Examples
        --------
        >>> for indices in order.shard(rank, world).batches():
        ...     step(ds['text'][indices])
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
        """Return how many batches an epoch has, those of all ranks together."""
        return _core.count_batches(self._walk(), natural('epoch', epoch))

    def find_batch(self, position: int) -> Tuple[int, int, int]:
        """Find the batch that has a position.

        Parameters
        ----------
        position : int
            Of the global order.

        Returns
        -------
        number, begin, end : int
            Which of its epoch it is, the position at which it begins, and that behind its last.

        Raises
        ------
        IndexError
            There is no such position: the order is empty, or it is 2**64 - 1.
        """
        found = _core.find_batch(self._walk(), natural('position', position))
        if found is None:
            raise IndexError(f'there is no position {position}')
        return found

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._part, self._costs, self._budget)

    def _arguments(self) -> Dict[str, Any]:
        rows = {} if self._rows is None else {'rows': self._rows}
        return {**rows, **({'padded': True} if self._padded else {})}
