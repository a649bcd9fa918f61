# SPDX-License-Identifier: MIT
"""The order that interleaves lanes, each of which goes through its own blocks."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

import numpy as np

from .. import _core
from .._check import byte_size, natural
from .basic import Seeded, Shuffle

__all__ = ['Lanes']

# The size of a record is the mean of so many: enough for a mean that is right to a few percent.
_MEASURED = 1000


class Lanes(Seeded):
    """Interleaved lanes, each of which goes through its own part of the records, block by block.

    Use it where each read is expensive, as over a network, and where many ranks share the reading.
    The indices are cut into one contiguous segment for each lane. A lane goes through its segment
    in blocks of adjacent indices, in random order, and each block is shuffled. Consecutive
    positions are in consecutive lanes, so that neighboring samples come from places far apart, and
    only `lanes` blocks are in use at any time. Each epoch is a different permutation of all
    indices.

    If the number of ranks divides `lanes`, each rank has its own lanes: a block is read by one
    rank, once in each epoch, and by the same rank in every epoch. Otherwise, several ranks read
    each block. The order itself does not depend on the number of ranks.

    Choose as `lanes` a multiple of the global batch size and of the number of ranks, so that a
    batch never has two records of one segment. With the batch size itself, records of any two
    segments can meet in a batch, which matters if a loss compares the samples of a batch. But the
    records of a block are then in consecutive batches. A larger multiple spreads them over more
    batches. The price is that the lanes form fixed groups of the batch size: in every epoch, a
    batch has one record of each lane of one group, so records of different groups never meet.

    Choose a `block` that is efficient to read, such as 1 MiB over a network, and keep
    ``lanes * block``, the window, small enough for the memory or cache that holds the blocks in
    use. A loader over a dataset on another machine needs room for two windows, because it fetches
    the blocks that follow in the meantime.

    Parameters
    ----------
    source : Dataset, optional
        The dataset, or another source of loaderx that has fields. It is needed only if `block` or
        `window` is a size in bytes, and also gives `n`. The size of a record is the mean size of up
        to 1,000 records, the same ones each time, with all fields and without compression.
        For an `images.ImageDataset`, pass the dataset of its files: tensors are larger.
    n : int, optional
        The number of indices, which must be the length of the source; None: the length of the
        loader's source.
    lanes : int, optional
        The number of lanes, from 1 to 2**20. Give either `lanes` or `window`.
    block : int or str
        The number of indices in a block, from 1 to 2**32 - 1, or the size of a block, such as
        ``'1MiB'``. One block of a segment may be shorter; it is read last.
    window : str, optional
        The size of all blocks that are in use at a time, such as ``'4GiB'``. It determines `lanes`:
        the window divided by `block`, rounded down. If both are sizes, the number of lanes is that
        of the sizes, such as 4096 for ``'4GiB'`` and ``'1MiB'``, unless a record is larger than a
        block.
    seed : int
        The seed, from 0 to 2**64 - 1.

    Raises
    ------
    ValueError
        There are fewer than ``lanes * block`` indices, or fewer than two in each lane.

    Notes
    -----
    Sizes are converted to numbers of records at once, and ``repr()`` shows these numbers. States
    contain them, too. If the mean size of a record has changed since a state was saved, loading the
    state raises a ValueError that names the number in the state: pass it as `block`.

    Examples
    --------
    >>> order = Lanes(n=12, lanes=3, block=2, seed=1).take(12)
    >>> sorted(order.tolist()) == list(range(12))
    True
    >>> [sorted(lane) for lane in sorted((order // 4).reshape(4, 3).T.tolist())]
    [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]
    >>> with create('images', {'x': Field('uint8', (512,))}) as writer:
    ...     first = writer.extend(x=np.zeros((4000, 512), 'uint8'))
    >>> Lanes(open('images'), window='1MiB', block='16KiB', seed=1)
    Lanes(n=4000, lanes=64, block=32, seed=1)
    """

    def __init__(
        self,
        source: Any = None,
        *,
        n: Optional[int] = None,
        lanes: Optional[int] = None,
        block: Union[int, str],
        window: Optional[str] = None,
        seed: int = 0,
    ) -> None:
        if (lanes is None) == (window is None):
            raise ValueError('pass either lanes or window' if lanes is None else
                             'lanes and window are mutually exclusive: pass only one of them')
        if source is not None:
            if n is not None:
                raise ValueError('n and source are mutually exclusive: the source has a length')
            n = len(source)
        size = _mean_size(source) if isinstance(block, str) or window is not None else 1
        if isinstance(block, str):
            self._block = max(1, byte_size('block', block) // size)
        else:
            self._block = natural('block', block, minimum=1, maximum=2**32 - 1)
        if window is None:
            self._lanes = natural('lanes', lanes, minimum=1, maximum=2**20)
        else:
            # The sizes alone determine the lanes, so that users can choose a multiple of the ranks.
            in_block = (max(byte_size('block', block), size) if isinstance(block, str)
                        else block * size)
            self._lanes = byte_size('window', window) // in_block
            if not 1 <= self._lanes <= 2**20:
                raise ValueError(f'window must be the size of 1 to {2**20} blocks of {in_block} '
                                 f'bytes, not {window}')
        super().__init__(n=n, seed=seed)

    def _make(self, n: int) -> _core.Order:
        return _core.lanes(n, self._lanes, self._block, self._seed)

    def _arguments(self) -> Dict[str, Any]:
        arguments = super()._arguments()
        seed = arguments.pop('seed')
        return {**arguments, 'lanes': self._lanes, 'block': self._block, 'seed': seed}


def _mean_size(source: Any) -> int:
    """Return the mean size of some records in bytes, at least 1."""
    if source is None:
        raise ValueError('a size in bytes needs the source, as in lx.Lanes(dataset, window=...): '
                         'pass the source, or pass lanes and block as numbers')
    if not hasattr(source, '_sizes') or not hasattr(source, 'fields'):
        raise TypeError(f'source must be a dataset of loaderx, not {type(source).__name__}: the '
                        'sizes of its records are unknown. Pass lanes and block as numbers')
    n = len(source)
    if n == 0:
        raise ValueError('source is empty: the sizes of its records are unknown')
    count = min(n, _MEASURED)
    places = np.sort(Shuffle(n=n).take(count))    # the same ones each time
    total = sum(int(np.maximum(source._sizes(name, places), 0).sum()) for name in source.fields)
    return max(1, round(total / count))
