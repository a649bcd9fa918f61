# SPDX-License-Identifier: MIT
"""Orders that are computed from the position alone: sequential and random ones."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .. import _core
from .._check import natural
from .order import Order

__all__ = ['Blocks', 'Random', 'Seeded', 'Sequential', 'Shuffle']


class Sequential(Order):
    """One index after the other, round and round, through a window that slides.

    Position k gives ``((k // window) * stride + k % window) % n``. With the stride equal to the
    window, which is the default, that is ``k % n``. A smaller stride lets windows overlap, a larger
    one skips between them.

    Parameters
    ----------
    n : int, optional
        Number of indices; None: the length of the source it is given to.
    window : int, optional
        Positions from one slide to the next; None: 1.
    stride : int, optional
        How many indices the window slides; None: the window.
    """

    def __init__(
        self,
        n: Optional[int] = None,
        *,
        window: Optional[int] = None,
        stride: Optional[int] = None,
    ) -> None:
        self._window = None if window is None else natural('window', window, least=1)
        self._stride = None if stride is None else natural('stride', stride, least=1)
        self._set_length(n)

    def _make(self, n: int) -> _core.Order:
        return _core.sequential(n, self._window or 0, self._stride or 0)

    def _arguments(self) -> Dict[str, Any]:
        given = {'window': self._window, 'stride': self._stride}
        return {name: value for name, value in given.items() if value is not None}


class Seeded(Order):
    """An order that a seed chooses."""

    def __init__(self, n: Optional[int] = None, *, seed: int = 0) -> None:
        self._seed = natural('seed', seed)
        self._set_length(n)

    def _arguments(self) -> Dict[str, Any]:
        return {'seed': self._seed}


class Blocks(Seeded):
    """Blocks of neighbours in a shuffled order, each shuffled within: for disks that are slow.

    Each epoch is another permutation of all indices, in which those of a block, ``[b * block,
    (b + 1) * block)``, follow one another. The last block may be shorter, and stands anywhere, too.

    Parameters
    ----------
    n : int, optional
        Number of indices, any; None: the length of the source it is given to.
    block : int
        Indices of a block.
    seed : int
        0 to 2**64 - 1.
    """

    def __init__(self, n: Optional[int] = None, *, block: int, seed: int = 0) -> None:
        self._block = natural('block', block, least=1)
        super().__init__(n, seed=seed)

    def _make(self, n: int) -> _core.Order:
        return _core.blocks(n, self._block, self._seed)

    def _arguments(self) -> Dict[str, Any]:
        return {'block': self._block, 'seed': self._seed}


class Random(Seeded):
    """Independent draws with replacement: any index may come at any position.

    Of an epoch of n draws about 63 % of the indices are seen; `Shuffle` gives all of them.

    Parameters
    ----------
    n : int, optional
        Number of indices; None: the length of the source it is given to.
    seed : int
        0 to 2**64 - 1; each gives draws of its own.
    """

    def _make(self, n: int) -> _core.Order:
        return _core.random(n, self._seed)


class Shuffle(Seeded):
    """Shuffled without replacement: each epoch is another permutation of all indices.

    Parameters
    ----------
    n : int, optional
        Number of indices, any; None: the length of the source it is given to.
    seed : int
        0 to 2**64 - 1; the permutations of two seeds, or two epochs, have nothing in common.
    """

    def _make(self, n: int) -> _core.Order:
        return _core.shuffle(n, self._seed)
