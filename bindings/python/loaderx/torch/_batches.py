# SPDX-License-Identifier: MIT
"""The BatchSampler of torch, with a state."""

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

    def __init__(self, given: int = 0, skip: int = 0, ended: bool = False) -> None:
        self.given = given    # indices in the batches returned so far
        self.skip = skip      # indices to skip
        self.ended = ended    # the sampler has ended, but no further batch was requested
        self.below: Any = None
        self.saved: Any = None    # the sampler's state, for a copy
        self.done = False


class BatchSampler(Stateful, data.BatchSampler):
    """The BatchSampler of torch, with a state: lists of the indices of another sampler.

    Parameters
    ----------
    sampler : iterable
        The indices. A sampler of this module, or another one with ``state_dict()``, continues
        from its state, also with another `batch_size`; any other sampler is iterated up to the
        position again. ``seek()`` counts indices, not batches.
    batch_size : int
        Indices per batch.
    drop_last : bool
        Whether to drop the last batch if it is not full.
    """

    _kind = 'torch.BatchSampler'

    def _configuration(self) -> Dict[str, Any]:
        return {}

    def _recorded(self) -> Dict[str, Any]:
        return {'batch_size': self.batch_size, 'drop_last': self.drop_last}

    def _describe(self, begun: Any) -> Dict[str, Any]:
        here = _Batches() if begun is None or begun.done else begun
        return {'given': here.given, 'ended': here.ended, 'sampler': self._state_below(here)}

    def _copy_of(self, begun: Any) -> Any:
        made = copy.copy(begun)
        if begun.below is not None and isinstance(self.sampler, Stateful):
            made.below = self.sampler._copy_of(begun.below)
        else:
            made.saved = self._state_below(begun)
        return made

    def _origin_of(self, begun: Any, known: Any) -> Any:
        if begun.below is None or not isinstance(self.sampler, Stateful):
            return known
        made = copy.copy(known)
        made.below, made.saved = self.sampler._origin_of(begun.below, None), None
        return made

    def _state_below(self, here: _Batches) -> Any:
        if here.saved is not None:
            return here.saved
        if here.below is not None and isinstance(self.sampler, Stateful):
            return self.sampler._state_of(here.below)
        save = getattr(self.sampler, 'state_dict', None)
        return None if save is None else save()

    def _resume(self, state: Mapping[str, Any]) -> Any:
        given = number(state, 'given')
        load = getattr(self.sampler, 'load_state_dict', None)
        below = state.get('sampler')
        if (load is None) != (below is None):
            kinds = 'one without a state', 'one with a state'
            raise differs('sampler', kinds[below is not None], kinds[load is not None])
        if load is not None:
            load(below)
        return _Batches(given, given if load is None else 0, state.get('ended') is True)

    def _sought(self, samples: int) -> Any:
        samples = natural('samples', samples)
        if isinstance(self.sampler, Stateful):
            self.sampler.seek(samples)
            return _Batches(samples)
        return _Batches(samples, samples)

    def _skip_entries(self, count: int) -> None:
        self.seek(min(count * self.batch_size, len(self.sampler)))

    def _begin(self) -> Any:
        self._current = _Batches() if self._pending is None else copy.deepcopy(self._pending)
        self._pending = None
        return self._current

    def __iter__(self) -> Iterator[List[Any]]:
        return self._batches(self._begin())

    def _batches(self, begun: _Batches) -> Iterator[List[Any]]:
        if begun.ended:
            begun.done = True
            return
        indices = iter(self.sampler)
        begun.below = self.sampler._current if isinstance(self.sampler, Stateful) else None
        for _ in itertools.islice(indices, begun.skip):
            pass
        while True:
            batch = list(itertools.islice(indices, self.batch_size))
            if len(batch) < self.batch_size and (self.drop_last or not batch):
                break
            begun.given += len(batch)
            begun.ended = len(batch) < self.batch_size
            yield batch
            if begun.ended:
                break
        begun.done = True
