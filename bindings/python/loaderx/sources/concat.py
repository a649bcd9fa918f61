# SPDX-License-Identifier: MIT
"""Datasets built from other datasets: concatenations and subsets."""

from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._tables import to_array
from .dataset import Dataset
from .records import Concatenable, Records, resolved
from .source import core_of

__all__ = ['ConcatDataset', 'SubsetDataset']


def _readable(part: Any) -> Any:
    """Return a dataset from which bytes fields can be read; if `part` is a path, open it."""
    return Dataset(part) if isinstance(part, (str, bytes, os.PathLike)) else part


class ConcatDataset(Records):
    """The concatenation of datasets, whose records are indexed one dataset after another.

    Parameters
    ----------
    datasets : sequence
        The datasets: each is a `Dataset`, an `NPDataset`, an array, a path or a dataset of this
        module. All datasets must have columns with the same names, dtypes and shapes.

    Notes
    -----
    ``a + b`` concatenates two datasets. ``both[5]`` reads one record. ``both[:2]``,
    ``both[[0, 1]]`` and `gather` read several records, as a dict of arrays, but cannot read bytes
    fields.

    Examples
    --------
    >>> both = ConcatDataset([np.arange(3), np.arange(10, 12)])
    >>> both.gather([4, 0])['data'].tolist()
    [11, 0]
    >>> loader = Loader(both, batch_size=2, order=Shuffle(seed=42))
    """

    datasets: Tuple[Any, ...]
    _parts: Optional[List[Any]] = None    # the parts as datasets, for reading bytes fields

    def __init__(self, datasets: Sequence[Any]) -> None:
        if isinstance(datasets, (str, bytes, os.PathLike, np.ndarray, Mapping)):
            raise TypeError(
                f'datasets must be a list or a tuple of datasets, not {type(datasets).__name__}'
            )
        self.datasets = tuple(datasets)
        if not self.datasets:
            raise ValueError('datasets is empty: pass at least one dataset')
        made = [core_of(one, f'datasets[{place}]') for place, one in enumerate(self.datasets)]
        self._source = _core.source_concat(tuple(core for core, _ in made))
        self._nameless = all(nameless for _, nameless in made)

    def _read_from_parts(self, indices: Sequence[int]) -> List[Any]:
        if self._parts is None:
            self._parts = [_readable(one) for one in self.datasets]
        ends = np.cumsum([len(part) for part in self._parts])
        positions = resolved(indices, len(self))
        return [self._parts[number][int(place - ends[number])]    # a negative index
                for number, place in zip(np.searchsorted(ends, positions, 'right'), positions)]

    def _recipe(self) -> Any:
        return ConcatDataset, (self.datasets,)

    def __repr__(self) -> str:
        return f'ConcatDataset({list(self.datasets)!r})'


Concatenable._concatenate = ConcatDataset


class SubsetDataset(Records):
    """Selected records of a dataset, in any order; a record may occur more than once.

    Parameters
    ----------
    dataset : Dataset, NPDataset, array, path or dataset of this module
        The dataset.
    indices : slice, mask, sequence or array of int
        The records, as in ``dataset['field'][indices]``. Each record uses 4 or 8 bytes of memory,
        and the dataset keeps `indices` as well. To select records with an order instead, use
        `Subset`.

    Examples
    --------
    >>> images, labels = np.zeros((3, 4, 4)), np.array([1, 7, 2])
    >>> len(SubsetDataset(images, labels != 7))
    2
    """

    dataset: Any
    _part: Any = None    # the dataset and the indices in it, for reading bytes fields

    def __init__(self, dataset: Any, indices: Any) -> None:
        core, self._nameless = core_of(dataset, 'dataset')
        self.dataset = dataset
        indices = to_array(indices, 'indices')
        self._source = _core.source_subset(core, indices)
        self._indices = indices

    def _read_from_parts(self, indices: Sequence[int]) -> List[Any]:
        if self._part is None:
            part = _readable(self.dataset)
            self._part = part, np.arange(len(part))[self._indices]
        part, chosen = self._part
        return [part[int(place)] for place in chosen[resolved(indices, len(self))]]

    def _recipe(self) -> Any:
        return SubsetDataset, (self.dataset, self._indices)

    def __repr__(self) -> str:
        return f'SubsetDataset({self.dataset!r}, {len(self)} indices)'


Concatenable._select = SubsetDataset
