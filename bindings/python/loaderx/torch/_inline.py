# SPDX-License-Identifier: MIT
"""A loader of torch's kind without workers: who asks for a batch makes it."""

from __future__ import annotations

from typing import Any

from torch.utils import data

from ._iterators import Iterator

__all__ = ['Inline']


class Inline(Iterator):
    """Batches made when they are asked for."""

    def __init__(self, loader: Any) -> None:
        if loader.timeout != 0:
            data.dataloader._SingleProcessDataLoaderIter(loader)    # which refuses it
        super().__init__(loader)
        streams = self._resumed_streams
        self._fetcher = fetcher = loader._fetcher_maker()(self._dataset, streams and streams[0])
        if loader._is_iterable():
            self._progress.streams = lambda: [fetcher.state()]

    def _next_data(self) -> Any:
        here = self._progress
        try:
            index = self._next_index()
        except StopIteration:
            here.finished = True
            raise
        here.batches += 1
        try:
            made = self._fetcher.fetch(index)
        except StopIteration:
            here.finished = True    # the dataset has no more; or says so, and torch believes it
            raise
        return self._pinned(made)
