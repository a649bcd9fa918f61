# SPDX-License-Identifier: MIT
"""Orders that exactly reproduce those of other libraries, to continue or compare training runs."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, boolean, folder, natural, naturals, reals
from .basic import Basic, Seeded
from .grouped import _narrow
from .order import Order

__all__ = ['Distributed', 'Nanoset', 'TorchRandom', 'TorchSubset']

_MAX = 2**32 - 1
_MAX_REPLACED = 2**28 - 1    # beyond this, versions of torch differ


class TorchRandom(Seeded):
    """The order of torch's RandomSampler with its own CPU generator.

    The indices are those of
    ``RandomSampler(data, replacement, num_samples, torch.Generator().manual_seed(seed))``, iterated
    epoch after epoch. Any epoch can be accessed directly. Each epoch needs a table of 4 bytes per
    position, created on first access; `Shuffle` and `Random` need no table.

    Parameters
    ----------
    n : int, optional
        The number of indices, from 1 to 2**32 - 1. With replacement, the maximum is 2**28 - 1,
        because versions of torch differ above this number. None: the length of the loader's source.
    replacement : bool
        True: each index is chosen independently. False: an epoch consists of consecutive
        permutations, and the last permutation is truncated.
    num_samples : int, optional
        The number of positions in an epoch, from 1 to 2**32 - 1; None: `n`.
    seed : int
        The seed, from 0 to 2**64 - 1; torch uses only the lower 32 bits.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.
    """

    def __init__(
        self,
        *,
        n: Optional[int] = None,
        replacement: bool = False,
        num_samples: Optional[int] = None,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        self._replacement = boolean('replacement', replacement)
        self._samples = (None if num_samples is None
                         else natural('num_samples', num_samples, minimum=1, maximum=_MAX))
        super().__init__(n=n, seed=seed)

    def _make(self, n: int) -> _core.Order:
        n = natural('n', n, minimum=1, maximum=_MAX_REPLACED if self._replacement else _MAX)
        return _core.torch_random(n, self._samples or n, self._seed, self._replacement,
                                  self._tables)

    def _arguments(self) -> Dict[str, Any]:
        arguments = {'replacement': self._replacement or None, 'num_samples': self._samples}
        return {**super()._arguments(), **self._tables_argument(),
                **{name: value for name, value in arguments.items() if value is not None}}


class TorchSubset(Order):
    """The order of torch's SubsetRandomSampler with its own CPU generator.

    The indices are those of ``SubsetRandomSampler(indices, torch.Generator().manual_seed(seed))``,
    iterated epoch after epoch. `Subset` with a `seed` shuffles indices without needing a table for
    each epoch.

    Parameters
    ----------
    indices : sequence or array of int
        At most 2**32 - 1 indices, each 0 or more.
    seed : int
        The seed, from 0 to 2**64 - 1; torch uses only the lower 32 bits.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.
    """

    def __init__(self, indices: Any, *, seed: int = 0, tables: Folder = None) -> None:
        self._tables = folder('tables', tables)
        wide = naturals('indices', indices)
        self._indices = _narrow(wide)
        self._seed = natural('seed', seed)
        self._order = _core.torch_subset(wide, self._seed, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._indices,)

    def _arguments(self) -> Dict[str, Any]:
        return {'seed': self._seed, **self._tables_argument()}


class Distributed(Basic):
    """The order of torch's DistributedSampler, for all ranks together.

    The indices are those of ``DistributedSampler(data, num_replicas=world, shuffle=shuffle,
    seed=seed, drop_last=drop_last)``; epoch e matches torch's epoch after ``set_epoch(e)``. A
    loader with the same `world` reads the same indices on each rank as torch's sampler; a loader
    with a different `world` continues in the same global order. Indices that torch's sampler
    repeats are part of the order: ``batch.real`` does not mark them, so an evaluation would count
    them twice.

    Parameters
    ----------
    n : int, optional
        The number of indices, at most 2**32 - 1 if they are shuffled; None: the length of the
        loader's source.
    world : int
        The number of ranks of torch's sampler (``num_replicas``).
    shuffle : bool
        Whether indices are shuffled.
    drop_last : bool
        What to do if the number of indices is not a multiple of `world`. True: drop the last
        indices of the epoch. False: repeat the first indices of the epoch at its end.
    seed : int
        The seed, from 0 to 2**64 - 1; torch uses only the lower 32 bits.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.

    Examples
    --------
    >>> Distributed(n=5, world=2, shuffle=False).take(6).tolist()
    [0, 1, 2, 3, 4, 0]
    """

    def __init__(
        self,
        *,
        n: Optional[int] = None,
        world: int,
        shuffle: bool = True,
        drop_last: bool = False,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._ranks = natural('world', world, minimum=1)
        self._shuffle = boolean('shuffle', shuffle)
        self._drop_last = boolean('drop_last', drop_last)
        self._seed = natural('seed', seed)
        self._tables = folder('tables', tables)
        if self._tables is not None and not self._shuffle:
            raise ValueError('tables must not be given with shuffle=False, which needs no table')
        self._set_length(n)

    def _make(self, n: int) -> _core.Order:
        n = natural('n', n, maximum=_MAX if self._shuffle else UINT64_MAX)
        if not self._drop_last and -(-n // self._ranks) * self._ranks > UINT64_MAX:
            raise ValueError(f'n is too large: {n} indices padded to a multiple of {self._ranks} '
                             'exceed 2**64 - 1')
        return _core.torch_distributed(n, self._ranks, self._seed, self._shuffle, self._drop_last,
                                       self._tables)

    def _arguments(self) -> Dict[str, Any]:
        return {**super()._arguments(), 'world': self._ranks,
                **({} if self._shuffle else {'shuffle': False}),
                **({'drop_last': True} if self._drop_last else {}), 'seed': self._seed,
                **self._tables_argument()}


class Nanoset(Order):
    """The order of Nanotron's Nanosets: several sets, mixed by weights and shuffled.

    Sets are mixed as in Megatron's BlendedDataset and restart when they are exhausted; the result
    is shuffled by numpy.random.RandomState. An epoch contains as many samples as all sets combined,
    and all epochs are equal. Indices refer to the concatenation of the sets. The order needs a
    table of 4 bytes per sample; `Blend` needs no table.

    Parameters
    ----------
    lengths : sequence or array of int
        The number of samples in each of 1 to 65,535 sets; each number is at least 1.
    weights : sequence or array of float, optional
        The weight of each set, 0 or more; None: weights proportional to the lengths.
    divide : bool
        True: weights are divided by their sum, as in Nanotron's code. False: weights are used
        unchanged, as in an example in Nanotron's documentation. Because of rounding, the two
        settings can break ties differently.
    seed : int
        The seed, from 0 to 2**32 - 1. Nanotron's default is 1234.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.
    """

    def __init__(
        self,
        lengths: Any,
        weights: Any = None,
        *,
        divide: bool = True,
        seed: int = 1234,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        self._lengths = naturals('lengths', lengths)
        self._divide = boolean('divide', divide)
        self._seed = natural('seed', seed, maximum=_MAX)
        self._weights = None if weights is None else reals('weights', weights)
        if len(self._lengths) == 0:
            raise ValueError('lengths must not be empty')
        for i in np.flatnonzero(self._lengths == 0)[:1]:
            raise ValueError(f'lengths[{i}] is 0: omit the set')
        if self._weights is not None and len(self._weights) != len(self._lengths):
            raise ValueError(f'weights must have {len(self._lengths)} numbers, one for each '
                             f'length, not {len(self._weights)}')
        if self._weights is not None and not self._weights.any():
            raise ValueError('weights must have at least one positive number')
        self._order = _core.nanoset(self._lengths, self._weights, self._seed, self._divide,
                                    self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        lengths = self._lengths.tolist()
        return (lengths,) if self._weights is None else (lengths, self._weights.tolist())

    def _arguments(self) -> Dict[str, Any]:
        return {**({} if self._divide else {'divide': False}), 'seed': self._seed,
                **self._tables_argument()}
