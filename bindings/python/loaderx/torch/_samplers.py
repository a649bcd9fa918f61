# SPDX-License-Identifier: MIT
"""Resumable versions of torch's samplers."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, TypeVar

import numpy as np
import torch
from torch.utils import data

from .. import _core
from .._check import UINT64_MAX
from .._states import number, other_length
from ..errors import CorruptError
from ..sources import Dataset
from ._iterations import Block, Iteration, Stateful

__all__ = ['DistributedSampler', 'RandomSampler', 'SequentialSampler', 'SubsetRandomSampler',
           'WeightedRandomSampler']

# The type of the records, for annotations, as in torch.
T = TypeVar('T', covariant=True)

# The length of the longest permutation that is the same in all versions of torch. The library
# generates permutations up to this length.
_MAX = 2**32 - 1
# The same limit for indices chosen with replacement.
_MAX_REPLACED = 2**28 - 1
# The number of indices that torch generates at a time when it chooses with replacement.
_DRAWS = 32
# The number of indices of an order to read at a time.
_BLOCK = 4096


class SequentialSampler(Stateful, data.SequentialSampler):
    """A resumable version of torch's SequentialSampler.

    Parameters
    ----------
    data_source : sized
        An object whose length is the number of indices.
    """

    _kind = 'torch.SequentialSampler'

    def _explain(self, key: str, state: Mapping[str, Any]) -> Optional[ValueError]:
        return _explain_length(self.data_source, key, state)

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
    """A resumable version of torch's RandomSampler.

    Like torch's sampler, this sampler generates random indices on demand: a whole permutation at a
    time or, with replacement, 32 indices. A pass that is ended early with ``break`` has therefore
    advanced the generator as far as torch's sampler would. If torch's sampler generates one more
    permutation than it returns, a complete pass of this sampler does, too.

    Parameters
    ----------
    data_source : sized
        An object whose length is the number of indices.
    replacement : bool
        Whether each index is chosen independently.
    num_samples : int, optional
        The number of indices in a pass; None: the length of `data_source`.
    generator : torch.Generator, optional
        The generator; None: a new generator for each pass, seeded from the default generator.

    Examples
    --------
    >>> sampler = RandomSampler(ds, generator=torch.Generator().manual_seed(42))
    >>> for index in sampler:
    ...     step(ds[index])
    ...     state = sampler.state_dict()
    """

    _kind = 'torch.RandomSampler'

    def _explain(self, key: str, state: Mapping[str, Any]) -> Optional[ValueError]:
        return _explain_length(self.data_source, key, state)

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
        """Return a library order for a seed, which is faster, or None if there is no such order."""
        if self.replacement and 0 < n <= _MAX_REPLACED:
            # The epochs of this order form one sequence.
            return _core.torch_random(n, min(count, _BLOCK), seed, True, None)
        if not self.replacement and count <= n <= _MAX:
            return _core.torch_random(n, count, seed, False, None)
        return None


class SubsetRandomSampler(Stateful, data.SubsetRandomSampler):
    """A resumable version of torch's SubsetRandomSampler.

    Parameters
    ----------
    indices : sequence
        The indices to return, in a different random order in each pass.
    generator : torch.Generator, optional
        The generator; None: the default generator. Loading a state does not restore the default
        generator; the caller must save ``torch.get_rng_state()`` and restore it.
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
    """A resumable version of torch's WeightedRandomSampler, which calls torch.multinomial().

    Parameters
    ----------
    weights : sequence of float
        The weight of each index, 0 or more. If the weights are not on the CPU, the position in a
        pass cannot be saved.
    num_samples : int
        The number of indices in a pass.
    replacement : bool
        False: each index occurs at most once.
    generator : torch.Generator, optional
        The generator; None: the default generator. Loading a state does not restore the default
        generator; the caller must save ``torch.get_rng_state()`` and restore it.
    """

    _kind = 'torch.WeightedRandomSampler'

    def _configuration(self) -> Dict[str, Any]:
        if self.weights.device.type != 'cpu':
            raise ValueError(f'weights are on {self.weights.device}, but a pass is resumable '
                             'only with weights on the CPU: pass weights on the CPU')
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


class DistributedSampler(Stateful, data.DistributedSampler[T]):
    """A resumable version of torch's DistributedSampler: one rank's part of a common order.

    All ranks have the same position after the same number of indices, so every rank can load the
    state of any rank. ``num_replicas`` cannot change; to continue in the same order with a
    different number of ranks, use `loaderx.Distributed`. An epoch set by ``set_epoch()`` takes
    precedence over the epoch in a state, whether ``set_epoch()`` is called before or after
    ``load_state_dict()``: if the epochs differ, the next pass is the complete epoch that was set.

    Parameters
    ----------
    dataset : sized
        An object whose length is the number of indices.
    num_replicas, rank : int, optional
        The number of ranks, and the rank of this process; None: the values of torch.distributed.
    shuffle : bool
        Whether indices are shuffled.
    seed : int
        The seed; epoch e uses `seed` + e.
    drop_last : bool
        What to do if the number of indices is not a multiple of the number of ranks. True: drop the
        last indices. False: repeat the first indices.
    """

    _kind = 'torch.DistributedSampler'

    def _explain(self, key: str, state: Mapping[str, Any]) -> Optional[ValueError]:
        if key == 'num_replicas':
            return ValueError(f'num_replicas is {state.get(key)} in the state, but '
                              f'{self.num_replicas} here: a loaderx.Loader with the order '
                              'loaderx.Distributed continues with any number of ranks')
        return _explain_length(self.dataset, key, state)

    def _configuration(self) -> Dict[str, Any]:
        return {'length': len(self.dataset), 'num_replicas': operator.index(self.num_replicas),
                'shuffle': bool(self.shuffle), 'seed': operator.index(self.seed),
                'drop_last': bool(self.drop_last)}

    def _recorded(self) -> Dict[str, Any]:
        return {'rank': operator.index(self.rank)}

    def _moved(self, iteration: Any) -> bool:
        return (iteration is not None and iteration.epoch is not None
                and iteration.epoch != self.epoch)

    def _describe(self, iteration: Optional[Iteration]) -> Dict[str, Any]:
        if iteration is None or iteration.done or self._moved(iteration):
            return {'given': 0, 'epoch': operator.index(self.epoch)}
        epoch = self.epoch if iteration.epoch is None else iteration.epoch
        return {'given': iteration.returned, 'epoch': operator.index(epoch)}

    def _resume(self, state: Mapping[str, Any]) -> Iteration:
        returned = number(state, 'given', maximum=len(self))
        epoch = state.get('epoch')
        if type(epoch) is not int:
            raise CorruptError(f'the state is damaged: its "epoch" is {epoch!r}')
        latest = self._pending if self._current is None else self._current
        if self.epoch == (0 if latest is None or latest.epoch is None else latest.epoch):
            self.set_epoch(epoch)    # the caller has not set an epoch since
        return Iteration(skip=returned, epoch=epoch)

    def _begin(self) -> Iteration:
        iteration = super()._begin()
        if self._moved(iteration):
            iteration = self._current = Iteration()    # set_epoch() has changed the epoch
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
        """Return the indices of this rank; the library computes them if possible, to save time."""
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


def _explain_length(records: Any, key: str, state: Mapping[str, Any]) -> Optional[ValueError]:
    """Say how to continue if records were appended to or removed from the data of a sampler."""
    saved = state.get(key)
    if key != 'length' or type(saved) is not int:
        return None
    if isinstance(records, Dataset):
        return other_length(records.path, saved, len(records))
    if len(records) < saved:
        return None
    return ValueError(f'the data has {len(records)} records, but had {saved} when the state was '
                      f'saved: to continue with those, pass the first {saved}, for example by '
                      'opening datasets with their old lengths (loaderx.Dataset(path, length=n)); '
                      'otherwise, start without the state')
