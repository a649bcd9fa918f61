# SPDX-License-Identifier: MIT
"""A DataLoader iterator without workers: the calling thread prepares each batch."""

from __future__ import annotations

from typing import Any

from torch.utils import data

from ._iterators import Iterator

__all__ = ['Inline']


class Inline(Iterator):
    """Prepares each batch when it is requested."""

    def __init__(self, loader: Any) -> None:
        if loader.timeout != 0:
            data.dataloader._SingleProcessDataLoaderIter(loader)    # raises torch's error
        super().__init__(loader)
        streams = self._resumed_streams
        self._fetcher = fetcher = loader._fetcher_maker()(self._dataset, streams and streams[0])
        if loader._is_iterable():
            self._progress.streams = lambda: [fetcher.state()]

    def _next_data(self) -> Any:
        progress = self._progress
        try:
            index = self._next_index()
        except StopIteration:
            progress.finished = True
            raise
        progress.batches += 1
        try:
            made = self._fetcher.fetch(index)
        except StopIteration:
            progress.finished = True    # torch treats StopIteration as the end of the pass
            raise
        return self._pinned(made)
