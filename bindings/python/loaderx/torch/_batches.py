# SPDX-License-Identifier: MIT
"""A resumable version of torch's BatchSampler."""

from __future__ import annotations

import copy
import itertools
from typing import Any, Dict, Iterator, List, Mapping

from torch.utils import data

from .._check import natural
from .._states import differs, number
from ._iterations import Stateful

__all__ = ['BatchSampler']


class _Batches:
    """One pass through a BatchSampler."""

    def __init__(self, returned: int = 0, skip: int = 0, ended: bool = False) -> None:
        self.returned = returned    # number of indices in the batches returned so far
        self.skip = skip      # number of indices to skip
        self.ended = ended    # the inner sampler has ended, but no further batch was requested
        self.inner: Any = None
        self.saved: Any = None    # the inner sampler's state, if this is a copy
        self.done = False


class BatchSampler(Stateful, data.BatchSampler):
    """A resumable version of torch's BatchSampler, which yields lists of a sampler's indices.

    Parameters
    ----------
    sampler : iterable
        The sampler that returns the indices. A sampler of this module, or any other sampler with
        ``state_dict()`` and ``load_state_dict()``, continues from its state, even with a different
        `batch_size`; other samplers are iterated again up to the position. ``seek()`` counts
        indices, not batches.
    batch_size : int
        The number of indices per batch.
    drop_last : bool
        Whether to drop the last batch if it is not full.
    """

    _kind = 'torch.BatchSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {}

    def _recorded(self) -> Dict[str, Any]:
        return {'batch_size': self.batch_size, 'drop_last': self.drop_last}

    def _describe(self, iteration: Any) -> Dict[str, Any]:
        replaced = iteration is None or iteration.done or self._moved(iteration)
        position = _Batches() if replaced else iteration
        return {'given': position.returned, 'ended': position.ended,
                'sampler': self._inner_state(position)}

    def _moved(self, iteration: Any) -> bool:
        if iteration is None or not isinstance(self.sampler, Stateful):
            return False
        return self.sampler._moved(self.sampler._pending if iteration.inner is None
                                   else iteration.inner)

    def _copy_of(self, iteration: Any) -> Any:
        made = copy.copy(iteration)
        if iteration.inner is not None and isinstance(self.sampler, Stateful):
            made.inner = self.sampler._copy_of(iteration.inner)
        else:
            made.saved = self._inner_state(iteration)
        return made

    def _origin_of(self, iteration: Any, earlier: Any) -> Any:
        if iteration.inner is None or not isinstance(self.sampler, Stateful):
            return earlier
        made = copy.copy(earlier)
        made.inner, made.saved = self.sampler._origin_of(iteration.inner, None), None
        return made

    def _inner_state(self, position: _Batches) -> Any:
        if position.saved is not None:
            return position.saved
        if position.inner is not None and isinstance(self.sampler, Stateful):
            return self.sampler._state_of(position.inner)
        save = getattr(self.sampler, 'state_dict', None)
        return None if save is None else save()

    def _resume(self, state: Mapping[str, Any]) -> Any:
        returned = number(state, 'given')
        load = getattr(self.sampler, 'load_state_dict', None)
        inner = state.get('sampler')
        if (load is None) != (inner is None):
            kinds = 'not resumable', 'resumable'
            raise differs('sampler', kinds[inner is not None], kinds[load is not None])
        if load is not None:
            load(inner)
        return _Batches(returned, returned if load is None else 0, state.get('ended') is True)

    def _seek_to(self, samples: int) -> Any:
        samples = natural('samples', samples)
        if isinstance(self.sampler, Stateful):
            self.sampler.seek(samples)
            return _Batches(samples)
        return _Batches(samples, samples)

    def _skip_entries(self, count: int) -> None:
        self.seek(min(count * self.batch_size, len(self.sampler)))

    def _begin(self) -> Any:
        replaced = self._pending is None or self._moved(self._pending)
        self._current = _Batches() if replaced else copy.deepcopy(self._pending)
        self._pending = None
        return self._current

    def __iter__(self) -> Iterator[List[Any]]:
        return self._batches(self._begin())

    def _batches(self, iteration: _Batches) -> Iterator[List[Any]]:
        if iteration.ended:
            iteration.done = True
            return
        indices = iter(self.sampler)
        iteration.inner = self.sampler._current if isinstance(self.sampler, Stateful) else None
        for _ in itertools.islice(indices, iteration.skip):
            pass
        while True:
            batch = list(itertools.islice(indices, self.batch_size))
            if len(batch) < self.batch_size and (self.drop_last or not batch):
                break
            iteration.returned += len(batch)
            iteration.ended = len(batch) < self.batch_size
            yield batch
            if iteration.ended:
                break
        iteration.done = True
