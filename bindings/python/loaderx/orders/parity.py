# SPDX-License-Identifier: MIT
"""Orders of other libraries, number for number: to go on with a training, or to compare."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, boolean, folder, natural, naturals, reals
from .basic import Seeded
from .grouped import _narrow
from .order import Order

__all__ = ['Distributed', 'Nanoset', 'TorchRandom', 'TorchSubset']

_MOST = 2**32 - 1
_MOST_REPLACED = 2**28 - 1    # from there on versions of torch differ


class TorchRandom(Seeded):
    """The order of torch's RandomSampler, with a generator of its own, on a CPU.

    ``RandomSampler(data, replacement, num_samples, torch.Generator().manual_seed(seed))``, gone
    through epoch after epoch. Any epoch is entered at once. Of each that is read, a table of 4
    bytes a position is made first; `Shuffle` and `Random` do without.

    Parameters
    ----------
    n : int, optional
        Number of indices, 1 to 2**32 - 1; with replacement to 2**28 - 1, as versions of torch
        differ from there on. None: the length of the source it is given to.
    replacement : bool
        True: each is drawn from all. False: whole permutations follow each other, the last one cut.
    num_samples : int, optional
        Positions in an epoch, 1 to 2**32 - 1; None: `n`.
    seed : int
        0 to 2**64 - 1, of which torch uses the lower 32 bits.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.
    """

    def __init__(
        self,
        n: Optional[int] = None,
        *,
        replacement: bool = False,
        num_samples: Optional[int] = None,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        self._replacement = boolean('replacement', replacement)
        self._samples = (None if num_samples is None
                         else natural('num_samples', num_samples, least=1, most=_MOST))
        self._n = None if n is None else natural('n', n)
        super().__init__(n, seed=seed)

    def _make(self, n: int) -> _core.Order:
        n = natural('n', n, least=1, most=_MOST_REPLACED if self._replacement else _MOST)
        return _core.torch_random(n, self._samples or n, self._seed, self._replacement,
                                  self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return () if self._n is None else (self._n,)

    def _arguments(self) -> Dict[str, Any]:
        given = {'replacement': self._replacement or None, 'num_samples': self._samples}
        return {**{name: value for name, value in given.items() if value is not None},
                'seed': self._seed, **self._kept()}


class TorchSubset(Order):
    """The order of torch's SubsetRandomSampler, with a generator of its own, on a CPU.

    ``SubsetRandomSampler(indices, torch.Generator().manual_seed(seed))``, gone through epoch after
    epoch. `Subset` with a `seed` does the same without a table for each epoch.

    Parameters
    ----------
    indices : sequence or array of int
        0 or more each, at most 2**32 - 1 of them.
    seed : int
        0 to 2**64 - 1, of which torch uses the lower 32 bits.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.
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
        return {'seed': self._seed, **self._kept()}


class Distributed(Order):
    """The order of torch's DistributedSampler, of all ranks together.

    ``DistributedSampler(data, num_replicas=world, shuffle=shuffle, seed=seed,
    drop_last=drop_last)``, epoch e as after ``set_epoch(e)``. With the same `world`, and rank r, a
    loader reads what torch's sampler of rank r gives; with another one it goes on in the same
    order.

    Parameters
    ----------
    n : int, optional
        Number of indices, at most 2**32 - 1 if they are shuffled; None: the length of the source
        it is given to.
    world : int
        How many ranks the epoch is made for.
    shuffle : bool
        False: indices come in their own order.
    drop_last : bool
        True: those are left out that do not give one to each rank. False: the epoch's first ones
        come again at its end.
    seed : int
        0 to 2**64 - 1, of which torch uses the lower 32 bits.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.

    Examples
    --------
    >>> loader = Loader(ds, order=Distributed(world=8, seed=42), rank=rank, world=8)
    """

    def __init__(
        self,
        n: Optional[int] = None,
        *,
        world: int,
        shuffle: bool = True,
        drop_last: bool = False,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._ranks = natural('world', world, least=1)
        self._shuffle = boolean('shuffle', shuffle)
        self._drop_last = boolean('drop_last', drop_last)
        self._seed = natural('seed', seed)
        self._tables = folder('tables', tables)
        if self._tables is not None and not self._shuffle:
            raise ValueError('tables: an order without a shuffle has no table')
        self._n = None if n is None else natural('n', n)
        self._set_length(n)

    def _make(self, n: int) -> _core.Order:
        n = natural('n', n, most=_MOST if self._shuffle else UINT64_MAX)
        if not self._drop_last and -(-n // self._ranks) * self._ranks > UINT64_MAX:
            raise ValueError(f'n is too large: the multiple of {self._ranks} that holds {n} '
                             'indices is beyond 2**64 - 1')
        return _core.torch_distributed(n, self._ranks, self._seed, self._shuffle, self._drop_last,
                                       self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return () if self._n is None else (self._n,)

    def _arguments(self) -> Dict[str, Any]:
        return {'world': self._ranks, **({} if self._shuffle else {'shuffle': False}),
                **({'drop_last': True} if self._drop_last else {}), 'seed': self._seed,
                **self._kept()}


class Nanoset(Order):
    """The order of Nanotron's Nanosets: several sets, mixed by weights and shuffled.

    They are mixed as Megatron's BlendedDataset mixes, each set from its beginning again when it is
    used up, and shuffled by numpy.random.RandomState. An epoch has as many samples as all sets
    together, and all epochs are alike. Indices are those of the sets one behind the other. It takes
    4 bytes a sample; `Blend` does without.

    Parameters
    ----------
    lengths : sequence or array of int
        Samples of each set, 1 or more; 1 to 65,535 sets.
    weights : sequence or array of float, optional
        Of each set, 0 or more; None: as their lengths.
    divide : bool
        True: weights are divided by their sum, as Nanotron's code has it. False: they are used as
        they are, as in an example of its documentation: rounding may turn a tie.
    seed : int
        0 to 2**32 - 1; Nanotron's default is 1234.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.
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
        self._seed = natural('seed', seed, most=_MOST)
        self._weights = None if weights is None else reals('weights', weights)
        if len(self._lengths) == 0:
            raise ValueError('lengths must have at least one')
        for i in np.flatnonzero(self._lengths == 0)[:1]:
            raise ValueError(f'lengths[{i}] is 0: leave the set out')
        if self._weights is not None and len(self._weights) != len(self._lengths):
            raise ValueError(f'weights: {len(self._weights)} are given, for {len(self._lengths)} '
                             'lengths')
        if self._weights is not None and not self._weights.any():
            raise ValueError('weights: one of them at least must be above 0')
        self._order = _core.nanoset(self._lengths, self._weights, self._seed, self._divide,
                                    self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        lengths = self._lengths.tolist()
        return (lengths,) if self._weights is None else (lengths, self._weights.tolist())

    def _arguments(self) -> Dict[str, Any]:
        return {**({} if self._divide else {'divide': False}), 'seed': self._seed,
                **self._kept()}
