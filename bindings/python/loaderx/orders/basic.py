# SPDX-License-Identifier: MIT
"""Sequential and random orders, computed from the position alone."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .. import _core
from .._check import natural
from .order import Order

__all__ = ['Basic', 'Blocks', 'Random', 'Seeded', 'Sequential', 'Shuffle']


class Basic(Order):
    """An order of the `n` indices of a source.

    All arguments are keyword-only: in ``Shuffle(42)``, 42 could be a length or a seed.
    """

    def _set_length(self, n: Optional[int]) -> None:
        if n is not None:
            self._records = natural('n', n)
            self._order = self._make(self._records)

    def _arguments(self) -> Dict[str, Any]:
        return {} if self._records is None else {'n': self._records}


class Sequential(Basic):
    """Indices in sequence, optionally in a sliding window.

    With the default stride, which equals the window, each epoch contains every index once. With a
    smaller stride, windows overlap; with a larger stride, the indices between windows are skipped.
    An epoch then consists of ``ceil(n / stride)`` whole windows: the index at offset o is
    ``((o // window) * stride + o % window) % n``. With a `batch_size` of `window`, a loader returns
    one window in each batch.

    Parameters
    ----------
    n : int, optional
        The number of indices, which must be the length of the source; None: the length of the
        loader's source.
    window : int, optional
        The number of positions in a window; None: 1.
    stride : int, optional
        The number of indices by which the window advances; None: `window`.

    Examples
    --------
    >>> windows = Sequential(n=6, window=4, stride=2)
    >>> len(windows), windows.take(14).tolist()
    (12, [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 0, 1, 0, 1])
    """

    def __init__(
        self,
        *,
        n: Optional[int] = None,
        window: Optional[int] = None,
        stride: Optional[int] = None,
    ) -> None:
        self._window = None if window is None else natural('window', window, minimum=1)
        self._stride = None if stride is None else natural('stride', stride, minimum=1)
        self._set_length(n)

    def _make(self, n: int) -> _core.Order:
        return _core.sequential(n, self._window or 0, self._stride or 0)

    def _arguments(self) -> Dict[str, Any]:
        arguments = {'window': self._window, 'stride': self._stride}
        return {**super()._arguments(),
                **{name: value for name, value in arguments.items() if value is not None}}


class Seeded(Basic):
    """An order that depends on a seed."""

    def __init__(self, *, n: Optional[int] = None, seed: int = 0) -> None:
        self._seed = natural('seed', seed)
        self._set_length(n)

    def _arguments(self) -> Dict[str, Any]:
        return {**super()._arguments(), 'seed': self._seed}


class Blocks(Seeded):
    """Blocks of adjacent indices in random order, with each block shuffled; suits slow disks.

    Block b contains the indices ``[b * block, (b + 1) * block)``. Each epoch is a different
    permutation of all indices that keeps the indices of each block together. The last block may be
    shorter; its position is random, too.

    Parameters
    ----------
    n : int, optional
        The number of indices, which must be the length of the source; None: the length of the
        loader's source.
    block : int
        The number of indices in a block.
    seed : int
        The seed, from 0 to 2**64 - 1.

    Examples
    --------
    >>> order = Blocks(n=12, block=4, seed=1).take(12)
    >>> [len(set(block)) for block in (order // 4).reshape(3, 4).tolist()]
    [1, 1, 1]
    """

    def __init__(self, *, n: Optional[int] = None, block: int, seed: int = 0) -> None:
        self._block = natural('block', block, minimum=1)
        super().__init__(n=n, seed=seed)

    def _make(self, n: int) -> _core.Order:
        return _core.blocks(n, self._block, self._seed)

    def _arguments(self) -> Dict[str, Any]:
        return {'block': self._block, **super()._arguments()}


class Random(Seeded):
    """Random indices with replacement: each position has an independent random index.

    An epoch of n positions contains about 63% of the n indices; an epoch of `Shuffle` contains all
    of them.

    Parameters
    ----------
    n : int, optional
        The number of indices, which must be the length of the source; None: the length of the
        loader's source.
    seed : int
        The seed, from 0 to 2**64 - 1. The indices for different seeds are independent.

    Examples
    --------
    >>> len(Random(n=1000, seed=1).take(10))
    10
    """

    def _make(self, n: int) -> _core.Order:
        return _core.random(n, self._seed)


class Shuffle(Seeded):
    """A random order without replacement: each epoch is a different permutation of all indices.

    Parameters
    ----------
    n : int, optional
        The number of indices, which must be the length of the source; None: the length of the
        loader's source.
    seed : int
        The seed, from 0 to 2**64 - 1. The permutations for different seeds or epochs are
        independent.

    Examples
    --------
    >>> order = Shuffle(n=5, seed=1)
    >>> sorted(order.take(5).tolist()), sorted(order.take(5).tolist())
    ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    """

    def _make(self, n: int) -> _core.Order:
        return _core.shuffle(n, self._seed)
