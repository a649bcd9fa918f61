# SPDX-License-Identifier: MIT
"""Reads iterable datasets, and keeps track of the position in them."""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, List, Mapping, Optional

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
        self._dataset, self._resumed = dataset, resumed or {}
        self._batched, self._collate, self._drop_last = batched, collate, drop_last
        self._taken = self._resumed.get('taken', 0)
        self._ended = self._resumed.get('ended', False)
        self._begun = False            # whether a batch was requested
        self._ahead: List[Any] = []    # the first item, if it was read before
        self._load()
        # The position at the beginning; the dataset's state is copied before iter() can change it.
        self.begin = dict(self._resumed) or _between(dataset)
        self._items = iter(dataset)
        self._restore()

    def _load(self) -> None:
        if 'dataset' in self._resumed:
            self._dataset.load_state_dict(copy.deepcopy(self._resumed['dataset']))

    def _restore(self) -> None:
        """Move the items to the loaded position."""
        resumed = self._resumed
        if 'iterator' in resumed:
            self._items.load_state_dict(copy.deepcopy(resumed['iterator']))
        elif 'dataset' not in resumed:
            for _ in range(0 if self._ended else self._taken):
                self._take(1)
        elif self._items is self._dataset and own_state(self._dataset) != resumed['dataset']:
            self._load()    # iter() has begun anew
        if 'dataset' in resumed and (self._ended or not self._taken):
            self._enter()

    def _enter(self) -> None:
        """Read an item, if the loaded state was saved between two passes.

        The state that a dataset has then is the end of a pass or the beginning of the next one, and
        a generator applies it only with its first item: in a later pass, if not now.
        """
        self._ahead = self._take(1)
        if self._ended and self._ahead:    # of the next pass: return to its beginning
            self._items, self._ahead = iter(()), []    # closes a generator
            self._load()
        elif not self._ended and not self._ahead:
            self._items = iter(self._dataset)

    def _take(self, count: int) -> List[Any]:
        """Return up to `count` items, without iter(), which may make a dataset begin anew."""
        items, self._ahead = self._ahead, []
        while len(items) < count:
            try:
                items.append(next(self._items))
            except StopIteration:
                break
        return items

    def fetch(self, index: Any, _: Any = None) -> Any:
        """Return a batch of as many items as `index` has entries, or the next item."""
        count = len(index) if self._batched else 1
        self._begun = True
        self._taken += count
        if self._ended:
            raise StopIteration
        items = self._take(count)
        self._ended = len(items) < count
        if not items or (self._drop_last and self._ended):
            raise StopIteration
        return self._collate(items if self._batched else items[0])

    def state(self) -> Dict[str, Any]:
        """Return the position."""
        if not self._begun:
            return copy.deepcopy(self.begin)
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
