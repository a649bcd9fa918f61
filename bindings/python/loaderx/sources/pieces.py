# SPDX-License-Identifier: MIT
"""Division of indices into pieces, for long operations that report their progress."""

from __future__ import annotations

from typing import Any, Iterator, Tuple

from .. import _core


class Pieces:
    """The indices of records, divided into pieces for the extension module.

    Parameters
    ----------
    dataset : Dataset
        The dataset.
    indices : sequence of int, slice, mask or None
        The records; None: all records, whose indices are then not stored.
    """

    def __init__(self, dataset: _core.Dataset, indices: Any) -> None:
        self._indices = None if indices is None else dataset._resolve(indices)
        self._total = len(dataset if self._indices is None else self._indices)

    def __len__(self) -> int:
        return self._total

    def of(self, size: int) -> Iterator[Tuple[Any, int]]:
        for first in range(0, self._total, size):
            last = min(first + size, self._total)
            part = slice(first, last)
            yield part if self._indices is None else self._indices[part], last - first
