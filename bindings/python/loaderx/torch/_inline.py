# SPDX-License-Identifier: MIT
"""A DataLoader iterator without workers: the calling thread prepares each batch."""

from __future__ import annotations

import copy
from typing import Any

from torch.utils import data

from ._iterators import Iterator
from ._streams import is_stateful, own_state

__all__ = ['Inline']


class Inline(Iterator):
    """Prepares each batch when it is requested."""

    def __init__(self, loader: Any) -> None:
        if loader.timeout != 0:
            data.dataloader._SingleProcessDataLoaderIter(loader)    # raises torch's error
        super().__init__(loader)
        self._restore()
        streams, dataset = self._resumed_streams, self._dataset
        self._fetcher = fetcher = loader._fetcher_maker()(dataset, streams and streams[0])
        if loader._is_iterable():
            self._progress.streams = lambda: [fetcher.state()]
        elif is_stateful(dataset):
            self._progress.datasets = lambda: [own_state(dataset)]

    def _restore(self) -> None:
        states = self._resumed_datasets
        if states is not None:
            self._dataset.load_state_dict(copy.deepcopy(states[0]))

    def _finish(self) -> None:
        """End the pass; keep the dataset's state, with which the next pass continues."""
        progress = self._progress
        progress.finished = True
        if progress.streams is not None:
            progress.streams = [self._fetcher.end()] if is_stateful(self._dataset) else None

    def _next_data(self) -> Any:
        progress = self._progress
        try:
            index = self._next_index()
        except StopIteration:
            self._finish()
            raise
        progress.batches += 1
        try:
            made = self._fetcher.fetch(index)
        except StopIteration:
            self._finish()    # torch treats StopIteration as the end of the pass
            raise
        return self._pinned(made)
