# SPDX-License-Identifier: MIT
"""A sampler that skips samples already used in training, and a dataset for ranks without data."""

from __future__ import annotations

from itertools import islice
from typing import Any, Dict, Iterator, List, Sequence

from .._check import natural
from ..orders import Order
from ..sources.records import BatchReadable

__all__ = ['EmptyInfiniteDataset', 'SkipBatchSampler']

try:
    import torch    # noqa: F401
    from torch.utils.data import BatchSampler
except ModuleNotFoundError as error:
    if error.name != 'torch':
        raise
    BatchSampler = object

# The number of indices of an order to read at a time.
_BLOCK = 4096


class SkipBatchSampler(BatchSampler):
    """A sampler that skips its first entries, like Nanotron's SkipBatchSampler.

    If PyTorch is installed, this is a subclass of torch's BatchSampler, as in Nanotron.

    Each ``iter()`` skips these entries. Orders and the samplers of `loaderx.torch` seek past the
    entries, which takes time only if a generator must be advanced; other samplers are iterated
    until the entries have been skipped.

    Parameters
    ----------
    batch_sampler : iterable with a length, or Order
        A sampler of batches or indices. An order yields one epoch of the entries that belong to its
        rank.
    skip_batches : int
        The total number of entries to skip, over all ranks.
    dp_size : int
        The number of ranks; each rank skips ``skip_batches // dp_size`` entries.

    Attributes
    ----------
    skip_batches : int
        The number of entries that this rank skips.
    total_length : int
        The length of `batch_sampler`.

    Examples
    --------
    >>> sampler = SkipBatchSampler(lx.Distributed(n=len(nanoset), world=4, shuffle=False,
    ...                                           drop_last=True).shard(2, 4),
    ...                            skip_batches=consumed_train_samples, dp_size=4)
    >>> torch.utils.data.DataLoader(nanoset, batch_size=8, sampler=sampler, collate_fn=collate)
    """

    def __init__(self, batch_sampler: Any, skip_batches: int, dp_size: int = 1) -> None:
        ranks = natural('dp_size', dp_size, minimum=1)
        self.batch_sampler = batch_sampler
        self.skip_batches = natural('skip_batches', skip_batches) // ranks

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.batch_sampler, Order):
            return _epoch(self.batch_sampler, self.skip_batches)
        skip = getattr(self.batch_sampler, '_skip_entries', None)
        if skip is None:
            return islice(iter(self.batch_sampler), self.skip_batches, None)
        skip(self.skip_batches)
        return iter(self.batch_sampler)

    @property
    def total_length(self) -> int:
        if isinstance(self.batch_sampler, Order):
            return _share(self.batch_sampler)
        return len(self.batch_sampler)

    def __len__(self) -> int:
        return max(self.total_length - self.skip_batches, 0)


def _share(order: Order) -> int:
    """Return the number of positions in an epoch that belong to the order's rank."""
    return max(len(order) - order.rank + order.world - 1, 0) // order.world


def _epoch(order: Order, skip: int) -> Iterator[int]:
    """Iterate over the rest of an epoch."""
    left = _share(order) - skip
    cursor = order.shard(order.rank, order.world)
    if left > 0:
        cursor.seek(skip * order.world)
    for first in range(0, left, _BLOCK):
        yield from cursor.take(min(_BLOCK, left - first)).tolist()


class EmptyInfiniteDataset(BatchReadable):
    """A dataset of empty samples, ``{}``, for pipeline ranks without data, as in Nanotron.

    Parameters
    ----------
    length : int
        The length of the dataset that this dataset replaces.
    """

    def __init__(self, length: int) -> None:
        self._length = natural('length', length)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, item: int) -> Dict[str, Any]:
        if isinstance(item, int):
            return {}
        raise NotImplementedError(f'{item} of type {type(item)} is not supported yet')

    def __getitems__(self, items: Sequence[int]) -> List[Dict[str, Any]]:
        return [{} for _ in items]
