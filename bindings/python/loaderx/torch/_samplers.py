# SPDX-License-Identifier: MIT
"""torch's samplers of indices, with states."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

import numpy as np
import torch
from torch.utils import data

from .. import _core
from .._check import UINT64_MAX
from .._states import number
from ..errors import CorruptError
from ._iterations import Block, Iteration, Stateful

__all__ = ['DistributedSampler', 'RandomSampler', 'SequentialSampler', 'SubsetRandomSampler',
           'WeightedRandomSampler']

# Length of the longest permutation that is equal in all versions of torch; the library makes it.
_MAX = 2**32 - 1
# The same for draws with replacement.
_MAX_REPLACED = 2**28 - 1
# Number of draws with replacement that torch makes at a time.
_DRAWS = 32
# Indices of an order that are read at a time.
_BLOCK = 4096


class SequentialSampler(Stateful, data.SequentialSampler):
    """torch's SequentialSampler, with a state.

    Parameters
    ----------
    data_source : sized
        The object with the length.
    """

    _kind = 'torch.SequentialSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.data_source)}

    def __iter__(self) -> Iterator[int]:
        iteration = self._begin()
        return iteration.run(self._drawn(iteration))

    def _drawn(self, iteration: Iteration) -> Iterable[Block]:
        return [range(iteration.enter(), len(self.data_source))]

    def _at_once(self) -> bool:
        return True

    def _of_library(self, iteration: Iteration) -> Optional[_core.Order]:
        return _core.sequential(len(self.data_source), 1, 1) if len(self.data_source) else None


class RandomSampler(Stateful, data.RandomSampler):
    """torch's RandomSampler, with a state.

    Like torch, it draws on demand: a whole permutation, or 32 indices with replacement. So a pass
    that is left by ``break`` has advanced the generator as far as with torch, and a complete pass
    has drawn one more permutation than it returned, if torch does.

    Parameters
    ----------
    data_source : sized
        The object with the length.
    replacement : bool
        Whether draws are independent.
    num_samples : int, optional
        The number of indices in a pass; None: the length.
    generator : torch.Generator, optional
        The generator; None: one for each pass, with a seed from the default generator.

    Examples
    --------
    >>> sampler = RandomSampler(ds, generator=torch.Generator().manual_seed(42))
    >>> for index in sampler:
    ...     step(ds[index])
    ...     state = sampler.state_dict()
    """

    _kind = 'torch.RandomSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.data_source), 'num_samples': int(self.num_samples),
                'replacement': self.replacement}

    def __iter__(self) -> Iterator[int]:
        iteration = self._begin()
        return iteration.run(self._drawn(iteration))

    def _at_once(self) -> bool:
        return not self.replacement and int(self.num_samples) <= len(self.data_source)

    def _of_library(self, iteration: Iteration) -> Optional[_core.Order]:
        n, count = len(self.data_source), int(self.num_samples)
        if self.generator is not None or not 0 < count <= n <= _MAX or self.replacement:
            return None
        return self._order(n, count, self._seed(iteration))

    def _seed(self, iteration: Iteration) -> int:
        if iteration.seed is None:
            iteration.seed = int(torch.empty((), dtype=torch.int64).random_().item())
        return iteration.seed

    def _drawn(self, iteration: Iteration) -> Iterator[Block]:
        n, count, private = len(self.data_source), int(self.num_samples), self.generator is None

        def make(source: Optional[torch.Generator], draws: int) -> torch.Tensor:
            if self.replacement:
                return torch.randint(high=n, size=(draws,), dtype=torch.int64, generator=source)
            return torch.randperm(n, generator=source)[:draws]

        if self.replacement and not private:
            yield from iteration.draw(self.generator, count, _DRAWS, make)
            return
        generator = self.generator
        if generator is None:
            seed = self._seed(iteration)
            order = self._order(n, count, seed)
            if order is not None:
                yield from _of_order(order, iteration, count)
                return
            generator = torch.Generator()
            generator.manual_seed(seed)
        size = _DRAWS if self.replacement else n
        yield from iteration.draw_again(generator, count, size, count // size + 1, make, private)

    def _order(self, n: int, count: int, seed: int) -> Optional[_core.Order]:
        """Return the library's order for a seed, which is faster; None if the library has none."""
        if self.replacement and 0 < n <= _MAX_REPLACED:
            return _core.torch_random(n, min(count, _BLOCK), seed, True, None)  # epochs continue
        if not self.replacement and count <= n <= _MAX:
            return _core.torch_random(n, count, seed, False, None)
        return None


class SubsetRandomSampler(Stateful, data.SubsetRandomSampler):
    """torch's SubsetRandomSampler, with a state.

    Parameters
    ----------
    indices : sequence
        The indices to return, in a new random order in each pass.
    generator : torch.Generator, optional
        The generator; None: the default generator, which loading a state does not restore: the
        caller saves ``torch.get_rng_state()``.
    """

    _kind = 'torch.SubsetRandomSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.indices), 'indices': self._digest(self.indices)}

    def __iter__(self) -> Iterator[Any]:
        iteration = self._begin()
        return iteration.run(self._drawn(iteration), partial(operator.getitem, self.indices))

    def _at_once(self) -> bool:
        return self._digest(self.indices) is not None

    def _numbers(self, block: Block) -> np.ndarray[Any, Any]:
        return np.asarray(self.indices)[block]

    def _drawn(self, iteration: Iteration) -> Iterator[Block]:
        n = len(self.indices)
        yield from iteration.draw_again(self.generator, n, n, 1,
                              lambda source, count: torch.randperm(count, generator=source))


class WeightedRandomSampler(Stateful, data.WeightedRandomSampler):
    """torch's WeightedRandomSampler, which calls torch.multinomial(), with a state.

    Parameters
    ----------
    weights : sequence of float
        The weight of each index, 0 or more. A pass over weights on another device than the CPU has
        no state.
    num_samples : int
        The number of indices in a pass.
    replacement : bool
        False: each index occurs at most once.
    generator : torch.Generator, optional
        The generator; None: the default generator, which loading a state does not restore: the
        caller saves ``torch.get_rng_state()``.
    """

    _kind = 'torch.WeightedRandomSampler'

    def _configuration(self) -> Dict[str, Any]:
        if self.weights.device.type != 'cpu':
            raise ValueError(f'weights are on {self.weights.device}, where a pass has no '
                             'state: pass weights on the CPU')
        return {'length': len(self.weights), 'weights': self._digest(self.weights),
                'num_samples': self.num_samples, 'replacement': self.replacement}

    def __iter__(self) -> Iterator[int]:
        if self.weights.device.type != 'cpu':
            indices: Iterator[int] = super().__iter__()
            return indices
        iteration = self._begin()
        return iteration.run(self._drawn(iteration))

    def _at_once(self) -> bool:
        return bool(self.weights.device.type == 'cpu')

    def _drawn(self, iteration: Iteration) -> Iterator[Block]:
        def make(source: Optional[torch.Generator], count: int) -> torch.Tensor:
            return torch.multinomial(self.weights, count, self.replacement, generator=source)

        yield from iteration.draw_again(self.generator, self.num_samples, self.num_samples, 1, make)


class DistributedSampler(Stateful, data.DistributedSampler):
    """torch's DistributedSampler, with a state: the part of one rank of a common order.

    All ranks have the same position after the same number of indices, so all can load the state of
    any rank. ``num_replicas`` cannot change; `loaderx.Distributed` continues in the same order with
    another number of ranks.

    Parameters
    ----------
    dataset : sized
        The object with the length.
    num_replicas, rank : int, optional
        The number of ranks, and the rank of this process; None: those of torch.distributed.
    shuffle : bool
        Whether indices are shuffled.
    seed : int
        The seed; epoch e uses `seed` + e.
    drop_last : bool
        True: indices that do not fill all ranks are dropped. False: the first ones are repeated.
    """

    _kind = 'torch.DistributedSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.dataset), 'num_replicas': operator.index(self.num_replicas),
                'shuffle': bool(self.shuffle), 'seed': operator.index(self.seed),
                'drop_last': bool(self.drop_last)}

    def _recorded(self) -> Dict[str, Any]:
        return {'rank': operator.index(self.rank)}

    def _describe(self, iteration: Optional[Iteration]) -> Dict[str, Any]:
        returned = 0 if iteration is None or iteration.done else iteration.returned
        epoch = self.epoch if iteration is None or iteration.epoch is None else iteration.epoch
        return {'given': returned, 'epoch': operator.index(epoch)}

    def _resume(self, state: Mapping[str, Any]) -> Iteration:
        returned = number(state, 'given', maximum=len(self))
        epoch = state.get('epoch')
        if not isinstance(epoch, int):
            raise CorruptError(f'the state is damaged: its "epoch" is {epoch!r}')
        self.set_epoch(epoch)
        return Iteration(skip=returned, epoch=epoch)

    def _begin(self) -> Iteration:
        iteration = super()._begin()
        if iteration.epoch is not None and iteration.epoch != self.epoch:
            iteration = self._current = Iteration()    # set_epoch() has set another epoch
        iteration.epoch = self.epoch
        return iteration

    def __iter__(self) -> Iterator[int]:
        iteration = self._begin()
        return iteration.run(self._drawn(iteration))

    def _at_once(self) -> bool:
        return True

    def _drawn(self, iteration: Iteration) -> Iterable[Block]:
        return [self._share()[iteration.enter():]]

    def _share(self) -> np.ndarray[Any, Any]:
        """Return the indices of this rank, by the library if possible, which is faster."""
        n, seed = len(self.dataset), self.seed + self.epoch if self.shuffle else 0
        if n <= _MAX and isinstance(seed, int) and 0 <= seed <= UINT64_MAX:
            order = _core.torch_distributed(n, self.num_replicas, seed, bool(self.shuffle),
                                            bool(self.drop_last), None)
            if order.length == self.total_size:
                return order.shard(self.rank, self.num_replicas).take(self.num_samples)
        return np.fromiter(super().__iter__(), np.int64)


def _of_order(order: _core.Order, iteration: Iteration, count: int) -> Iterator[Block]:
    """Iterate over the rest of an epoch of an order, in blocks."""
    order.seek(iteration.enter())
    while iteration.returned < count:
        yield order.take(min(_BLOCK, count - iteration.returned))
