# SPDX-License-Identifier: MIT
"""Reads iterable datasets, and keeps track of the position in them."""

from __future__ import annotations

import copy
import itertools
from typing import Any, Dict, Mapping, Optional

from torch.utils.data import _utils

from ..errors import CorruptError

__all__ = ['Streamed', 'check_streams', 'copy_for_worker', 'is_stateful', 'own_state']


def is_stateful(one: Any) -> bool:
    """Return whether an object can save and restore its own state."""
    return hasattr(one, 'state_dict') and hasattr(one, 'load_state_dict')


def own_state(dataset: Any) -> Optional[Any]:
    """Return a copy of the dataset's own state, or None if it has none."""
    return copy.deepcopy(dataset.state_dict()) if is_stateful(dataset) else None


def copy_for_worker(dataset: Any) -> Any:
    """Copy a dataset so that a thread can iterate over it and set its attributes.

    If a deep copy is impossible, the copy is shallow, and shares the objects that the attributes
    reference.
    """
    try:
        return copy.deepcopy(dataset)
    except Exception:
        return copy.copy(dataset)


class Streamed(_utils.fetch._IterableDatasetFetcher):
    """torch's fetcher for iterable datasets, extended to be resumable.

    The position consists of the states of the dataset and of the iterator, if they have
    ``state_dict()`` and ``load_state_dict()``; if neither does, it is the number of items returned,
    and resuming skips that many.
    """

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool,
                 resumed: Optional[Mapping[str, Any]] = None) -> None:
        resumed = resumed or {}
        if 'dataset' in resumed:
            dataset.load_state_dict(copy.deepcopy(resumed['dataset']))
        # The position at the beginning; the dataset's state is copied before iter() can change it.
        self.begin = dict(resumed) or _between(dataset)
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self._taken = resumed.get('taken', 0)
        self.ended = resumed.get('ended', False)
        if 'iterator' in resumed:
            self.dataset_iter.load_state_dict(copy.deepcopy(resumed['iterator']))
        elif 'dataset' not in resumed and not self.ended:
            for _ in itertools.islice(self.dataset_iter, self._taken):
                pass

    def fetch(self, possibly_batched_index: Any) -> Any:
        self._taken += len(possibly_batched_index) if self.auto_collation else 1
        return super().fetch(possibly_batched_index)

    def state(self) -> Dict[str, Any]:
        """Return the position."""
        state = _between(self.dataset)
        state.update(taken=self._taken, ended=self.ended)
        if self.dataset_iter is not self.dataset and is_stateful(self.dataset_iter):
            state['iterator'] = own_state(self.dataset_iter)
        return state

    def end(self) -> Dict[str, Any]:
        """Return the position between this pass, which has ended, and the next pass."""
        return _between(self.dataset)


def _between(dataset: Any) -> Dict[str, Any]:
    """Return the position between two passes."""
    state: Dict[str, Any] = {'taken': 0, 'ended': False}
    if is_stateful(dataset):
        state['dataset'] = own_state(dataset)
    return state


def check_streams(streams: Any, count: int) -> None:
    """Check the positions in a state for `count` workers; None is valid."""
    if streams is not None and (not isinstance(streams, list) or len(streams) != count) or not all(
            one is None or (isinstance(one, dict) and isinstance(one.get('taken'), int)
                            and one['taken'] >= 0 and isinstance(one.get('ended'), bool))
            for one in streams or []):
        raise CorruptError('the state is damaged: its "streams" are invalid')
