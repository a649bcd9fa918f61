# SPDX-License-Identifier: MIT
"""How iterable datasets are read, and where in them a loader is."""

from __future__ import annotations

import copy
import itertools
from typing import Any, Dict, Mapping, Optional

from torch.utils.data import _utils

from ..errors import CorruptError

__all__ = ['Streamed', 'copy_for_worker']


def copy_for_worker(dataset: Any) -> Any:
    """What a thread goes through, and may set attributes of, as a process does with its own.

    Of what cannot be copied it is the dataset's attributes alone, and what they refer to is shared.
    """
    try:
        return copy.deepcopy(dataset)
    except Exception:
        return copy.copy(dataset)


class Streamed(_utils.fetch._IterableDatasetFetcher):
    """torch's reader of an iterable dataset, which can say where it is.

    The iterator tells where that is, or the dataset, where they have ``state_dict()`` and
    ``load_state_dict()``; else it is how many items were taken, and they are passed over.
    """

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool,
                 resumed: Optional[Mapping[str, Any]] = None) -> None:
        resumed = resumed or {}
        if 'dataset' in resumed:
            dataset.load_state_dict(resumed['dataset'])
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self._taken = resumed.get('taken', 0)
        self.ended = resumed.get('ended', False)
        if 'iterator' in resumed:
            self.dataset_iter.load_state_dict(resumed['iterator'])
        elif 'dataset' not in resumed and not self.ended:
            for _ in itertools.islice(self.dataset_iter, self._taken):
                pass

    def fetch(self, possibly_batched_index: Any) -> Any:
        self._taken += len(possibly_batched_index) if self.auto_collation else 1
        return super().fetch(possibly_batched_index)

    def state(self) -> Dict[str, Any]:
        """Where it is."""
        state: Dict[str, Any] = {'taken': self._taken, 'ended': self.ended}
        for name, one in ('iterator', self.dataset_iter), ('dataset', self.dataset):
            if hasattr(one, 'state_dict') and hasattr(one, 'load_state_dict'):
                state[name] = copy.deepcopy(one.state_dict())
                break
        return state


def check_streams(streams: Any, count: int) -> None:
    """Raise what is wrong with what a state says of so many workers; None: nothing."""
    if streams is not None and (not isinstance(streams, list) or len(streams) != count) or not all(
            one is None or (isinstance(one, dict) and isinstance(one.get('taken'), int)
                            and one['taken'] >= 0 and isinstance(one.get('ended'), bool))
            for one in streams or []):
        raise CorruptError('the state is damaged: its "streams" cannot be')
