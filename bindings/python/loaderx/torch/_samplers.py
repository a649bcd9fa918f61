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

# Permutations up to this length are the same in all versions of torch, and the library makes them.
_MOST = 2**32 - 1
# The same, of draws with replacement.
_MOST_REPLACED = 2**28 - 1
# Draws with replacement that torch makes at a time.
_DRAWS = 32
# Indices of an order that are taken at a time.
_STRETCH = 4096


class SequentialSampler(Stateful, data.SequentialSampler):
    """One index after the other: torch's SequentialSampler, with a state.

    Parameters
    ----------
    data_source : sized
        What has the length.
    """

    _kind = 'torch.SequentialSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.data_source)}

    def __iter__(self) -> Iterator[int]:
        begun = self._begin()
        return begun.run(self._drawn(begun))

    def _drawn(self, begun: Iteration) -> Iterable[Block]:
        return [range(begun.enter(), len(self.data_source))]

    def _at_once(self) -> bool:
        return True

    def _of_library(self, begun: Iteration) -> Optional[_core.Order]:
        return _core.sequential(len(self.data_source), 1, 1) if len(self.data_source) else None


class RandomSampler(Stateful, data.RandomSampler):
    """torch's RandomSampler, with a state.

    It draws when an index is asked for, as torch's: a whole permutation, or 32 indices with
    replacement. So a pass that is left by ``break`` has advanced the generator as far as torch's
    has, and one that is gone through to its end a permutation further than it gave, where torch
    draws one of which nothing is left.

    Parameters
    ----------
    data_source : sized
        What has the length.
    replacement : bool
        Whether indices are drawn from all, each time.
    num_samples : int, optional
        How many a pass gives; None: the length.
    generator : torch.Generator, optional
        What they are drawn from; None: for each pass one with a seed of its own, which is drawn
        from the default generator.

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
        begun = self._begin()
        return begun.run(self._drawn(begun))

    def _at_once(self) -> bool:
        return not self.replacement and int(self.num_samples) <= len(self.data_source)

    def _of_library(self, begun: Iteration) -> Optional[_core.Order]:
        n, count = len(self.data_source), int(self.num_samples)
        if self.generator is not None or not 0 < count <= n <= _MOST or self.replacement:
            return None
        return self._order(n, count, self._seed(begun))

    def _seed(self, begun: Iteration) -> int:
        if begun.seed is None:
            begun.seed = int(torch.empty((), dtype=torch.int64).random_().item())
        return begun.seed

    def _drawn(self, begun: Iteration) -> Iterator[Block]:
        n, count, private = len(self.data_source), int(self.num_samples), self.generator is None

        def make(source: Optional[torch.Generator], draws: int) -> torch.Tensor:
            if self.replacement:
                return torch.randint(high=n, size=(draws,), dtype=torch.int64, generator=source)
            return torch.randperm(n, generator=source)[:draws]

        if self.replacement and not private:
            yield from begun.draw(self.generator, count, _DRAWS, make)
            return
        generator = self.generator
        if generator is None:
            seed = self._seed(begun)
            order = self._order(n, count, seed)
            if order is not None:
                yield from _of_order(order, begun, count)
                return
            generator = torch.Generator()
            generator.manual_seed(seed)
        size = _DRAWS if self.replacement else n
        yield from begun.draw_again(generator, count, size, count // size + 1, make, private)

    def _order(self, n: int, count: int, seed: int) -> Optional[_core.Order]:
        """What the library makes of a seed, faster than torch; None for what it does not."""
        if self.replacement and 0 < n <= _MOST_REPLACED:
            return _core.torch_random(n, min(count, _STRETCH), seed, True, None)    # epochs go on
        if not self.replacement and count <= n <= _MOST:
            return _core.torch_random(n, count, seed, False, None)
        return None


class SubsetRandomSampler(Stateful, data.SubsetRandomSampler):
    """torch's SubsetRandomSampler, with a state.

    Parameters
    ----------
    indices : sequence
        What is given, in an order that each pass draws anew.
    generator : torch.Generator, optional
        What it is drawn from; None: the default generator. A state that is loaded leaves that as
        it is: ``torch.get_rng_state()`` is the caller's to save.
    """

    _kind = 'torch.SubsetRandomSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.indices), 'indices': self._digest(self.indices)}

    def __iter__(self) -> Iterator[Any]:
        begun = self._begin()
        return begun.run(self._drawn(begun), partial(operator.getitem, self.indices))

    def _at_once(self) -> bool:
        return self._digest(self.indices) is not None

    def _numbers(self, block: Block) -> np.ndarray[Any, Any]:
        return np.asarray(self.indices)[block]

    def _drawn(self, begun: Iteration) -> Iterator[Block]:
        n = len(self.indices)
        yield from begun.draw_again(self.generator, n, n, 1,
                              lambda source, count: torch.randperm(count, generator=source))


class WeightedRandomSampler(Stateful, data.WeightedRandomSampler):
    """torch's WeightedRandomSampler, which calls torch.multinomial(), with a state.

    Parameters
    ----------
    weights : sequence of float
        Of each index, 0 or more. A pass over weights that are not on the CPU has no state.
    num_samples : int
        How many a pass gives.
    replacement : bool
        False: none of them comes twice.
    generator : torch.Generator, optional
        What they are drawn from; None: the default generator. A state that is loaded leaves that
        as it is: ``torch.get_rng_state()`` is the caller's to save.
    """

    _kind = 'torch.WeightedRandomSampler'

    def _configuration(self) -> Dict[str, Any]:
        if self.weights.device.type != 'cpu':
            raise ValueError(f'weights are on {self.weights.device}, where a pass over them has no '
                             'state: give them on the CPU')
        return {'length': len(self.weights), 'weights': self._digest(self.weights),
                'num_samples': self.num_samples, 'replacement': self.replacement}

    def __iter__(self) -> Iterator[int]:
        if self.weights.device.type != 'cpu':
            given: Iterator[int] = super().__iter__()
            return given
        begun = self._begin()
        return begun.run(self._drawn(begun))

    def _at_once(self) -> bool:
        return bool(self.weights.device.type == 'cpu')

    def _drawn(self, begun: Iteration) -> Iterator[Block]:
        def make(source: Optional[torch.Generator], count: int) -> torch.Tensor:
            return torch.multinomial(self.weights, count, self.replacement, generator=source)

        yield from begun.draw_again(self.generator, self.num_samples, self.num_samples, 1, make)


class DistributedSampler(Stateful, data.DistributedSampler):
    """torch's DistributedSampler, with a state: a rank's share of one order of all ranks.

    All ranks are at the same place after the same number of indices, so the state of any of them
    is loaded by all. ``num_replicas`` stays what it was; `loaderx.Distributed` goes on in the same
    order with another one.

    Parameters
    ----------
    dataset : sized
        What has the length.
    num_replicas, rank : int, optional
        How many ranks there are, and which this is; None: as torch.distributed has them.
    shuffle : bool
        False: indices come in their own order.
    seed : int
        Of all epochs: that of epoch e is `seed` + e.
    drop_last : bool
        True: indices that do not give one to each rank are left out. False: the first ones come
        again.
    """

    _kind = 'torch.DistributedSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.dataset), 'num_replicas': operator.index(self.num_replicas),
                'shuffle': bool(self.shuffle), 'seed': operator.index(self.seed),
                'drop_last': bool(self.drop_last)}

    def _recorded(self) -> Dict[str, Any]:
        return {'rank': operator.index(self.rank)}

    def _describe(self, begun: Optional[Iteration]) -> Dict[str, Any]:
        given = 0 if begun is None or begun.done else begun.given
        epoch = self.epoch if begun is None or begun.epoch is None else begun.epoch
        return {'given': given, 'epoch': operator.index(epoch)}

    def _resume(self, state: Mapping[str, Any]) -> Iteration:
        given = number(state, 'given', most=len(self))
        epoch = state.get('epoch')
        if not isinstance(epoch, int):
            raise CorruptError(f'the state is damaged: its "epoch" is {epoch!r}')
        self.set_epoch(epoch)
        return Iteration(skip=given, epoch=epoch)

    def _begin(self) -> Iteration:
        begun = super()._begin()
        if begun.epoch is not None and begun.epoch != self.epoch:
            begun = self._current = Iteration()    # the state was of an epoch that is not wanted
        begun.epoch = self.epoch
        return begun

    def __iter__(self) -> Iterator[int]:
        begun = self._begin()
        return begun.run(self._drawn(begun))

    def _at_once(self) -> bool:
        return True

    def _drawn(self, begun: Iteration) -> Iterable[Block]:
        return [self._share()[begun.enter():]]

    def _share(self) -> np.ndarray[Any, Any]:
        """The indices of this rank: by the library where it can, which is faster."""
        n, seed = len(self.dataset), self.seed + self.epoch if self.shuffle else 0
        if n <= _MOST and isinstance(seed, int) and 0 <= seed <= UINT64_MAX:
            order = _core.torch_distributed(n, self.num_replicas, seed, bool(self.shuffle),
                                            bool(self.drop_last), None)
            if order.length == self.total_size:
                return order.shard(self.rank, self.num_replicas).take(self.num_samples)
        return np.fromiter(super().__iter__(), np.int64)


def _of_order(order: _core.Order, begun: Iteration, count: int) -> Iterator[Block]:
    """What is left of an epoch of an order, in stretches."""
    order.seek(begun.enter())
    while begun.given < count:
        yield order.take(min(_STRETCH, count - begun.given))
