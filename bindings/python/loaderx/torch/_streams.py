# SPDX-License-Identifier: MIT
"""Reads iterable datasets, and keeps track of the position in them."""

from __future__ import annotations

import copy
import itertools
from typing import Any, Callable, Dict, Mapping, Optional

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


class Streamed:
    """A resumable fetcher for iterable datasets.

    The position consists of the states of the dataset and of the iterator, if they have
    ``state_dict()`` and ``load_state_dict()``; if neither does, it is the number of items returned,
    and resuming skips that many.
    """

    def __init__(self, dataset: Any, batched: bool, collate: Callable[[Any], Any], drop_last: bool,
                 resumed: Optional[Mapping[str, Any]] = None) -> None:
        resumed = resumed or {}
        if 'dataset' in resumed:
            dataset.load_state_dict(copy.deepcopy(resumed['dataset']))
        # The position at the beginning; the dataset's state is copied before iter() can change it.
        self.begin = dict(resumed) or _between(dataset)
        self._dataset, self._items = dataset, iter(dataset)
        self._batched, self._collate, self._drop_last = batched, collate, drop_last
        self._taken = resumed.get('taken', 0)
        self._ended = resumed.get('ended', False)
        if 'iterator' in resumed:
            self._items.load_state_dict(copy.deepcopy(resumed['iterator']))
        elif 'dataset' not in resumed and not self._ended:
            for _ in itertools.islice(self._items, self._taken):
                pass

    def fetch(self, index: Any, _: Any = None) -> Any:
        """Return a batch of as many items as `index` has entries, or the next item."""
        self._taken += len(index) if self._batched else 1
        if self._ended:
            raise StopIteration
        if not self._batched:
            return self._collate(next(self._items))
        batch = list(itertools.islice(self._items, len(index)))
        self._ended = len(batch) < len(index)
        if not batch or (self._drop_last and self._ended):
            raise StopIteration
        return self._collate(batch)

    def state(self) -> Dict[str, Any]:
        """Return the position."""
        state = _between(self._dataset)
        state.update(taken=self._taken, ended=self._ended)
        if self._items is not self._dataset and is_stateful(self._items):
            state['iterator'] = own_state(self._items)
        return state

    def end(self) -> Dict[str, Any]:
        """Return the position between this pass, which has ended, and the next pass."""
        return _between(self._dataset)


def _between(dataset: Any) -> Dict[str, Any]:
    """Return the position between two passes."""
    state: Dict[str, Any] = {'taken': 0, 'ended': False}
    if is_stateful(dataset):
        state['dataset'] = own_state(dataset)
    return state


def check_streams(streams: Any, count: int) -> None:
    """Check the positions in a state for `count` workers; None is valid."""
    if streams is not None and (not isinstance(streams, list) or len(streams) != count) or not all(
            one is None or (isinstance(one, dict) and type(one.get('taken')) is int
                            and one['taken'] >= 0 and isinstance(one.get('ended'), bool))
            for one in streams or []):
        raise CorruptError('the state is damaged: its "streams" are invalid')
