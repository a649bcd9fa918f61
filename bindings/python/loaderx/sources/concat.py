# SPDX-License-Identifier: MIT
"""Datasets built from other datasets: concatenations and subsets."""

from __future__ import annotations

import itertools
import os
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from .. import _core
from .._paths import is_dataset
from .._tables import to_array
from .dataset import Dataset
from .records import Concatenable, Records, Seed
from .source import core_of, located, seeds_of

__all__ = ['ConcatDataset', 'Parted', 'SubsetDataset', 'readable']

_Places = np.ndarray[Any, np.dtype[np.int64]]    # indices of records


def _kept(part: Any) -> Any:
    """Return a part, to keep and to pickle: the arrays of an .npz file are read once."""
    return dict(part) if isinstance(part, Mapping) else part


def readable(part: Any) -> Any:
    """Return a dataset from which any field can be read; if `part` is a path to one, open it."""
    if isinstance(part, (str, bytes, os.PathLike)) and is_dataset(part):
        return Dataset(part)
    return getattr(part, '_dataset', part)    # that of an ARDataset


class Parted(Records):
    """A dataset whose records are those of other datasets."""

    def _sizes(self, name: str, key: Any) -> _Places:
        sizes = super()._sizes(name, key)
        for part, chosen, inner in self._parts_of(self._places(key)):
            if isinstance(part, (Dataset, Records)):    # values may be missing, or vary in length
                sizes[chosen] = part._sizes(name, inner)
        return sizes


class ConcatDataset(Parted):
    """The concatenation of datasets, whose records are indexed one dataset after another.

    Parameters
    ----------
    datasets : sequence
        The datasets: each is a `Dataset`, an `NPDataset`, an array, a path, a table (a dict of
        arrays, a list of dicts, a pandas DataFrame or the arrays of an .npz file) or a dataset of
        this module. All datasets must have columns with the same names, dtypes and shapes.

    Notes
    -----
    ``a + b`` concatenates two datasets. ``both[5]`` reads one record. ``both[:2]``,
    ``both[[0, 1]]`` and `gather` read several records, as a dict of arrays (lists for fields whose
    values vary in length). ``both['data']`` is a `Column`, and notebooks show the first records, as
    of a `Dataset`.

    Examples
    --------
    >>> both = ConcatDataset([np.arange(3), np.arange(10, 12)])
    >>> both.gather([4, 0])['data'].tolist()
    [11, 0]
    >>> loader = Loader(both, batch_size=2, order=Shuffle(seed=42))
    """

    datasets: Tuple[Any, ...]
    _parts: Optional[List[Any]] = None    # the parts as datasets, for reading any field

    def __init__(self, datasets: Sequence[Any]) -> None:
        if isinstance(datasets, (str, bytes, os.PathLike, np.ndarray, Mapping)):
            raise TypeError(
                f'datasets must be a list or a tuple of datasets, not {type(datasets).__name__}'
            )
        self.datasets = tuple(map(_kept, datasets))
        if not self.datasets:
            raise ValueError('datasets is empty: pass at least one dataset')
        self._located = tuple(map(located, self.datasets))
        made = [core_of(one, f'datasets[{place}]') for place, one in enumerate(self.datasets)]
        self._source = _core.source_concat(tuple(core for core, _ in made))
        self._ends = list(itertools.accumulate(core.length for core, _ in made))
        self._nameless = all(nameless for _, nameless in made)

    def _parts_of(self, places: _Places) -> Iterable[Tuple[Any, _Places, _Places]]:
        if self._parts is None:
            self._parts = [readable(one) for one in self._located]
        numbers = np.searchsorted(self._ends, places, 'right')
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            first = self._ends[number - 1] if number else 0
            yield self._parts[number], chosen, places[chosen] - first

    def _seeds(self) -> Set[Seed]:
        return seeds_of(self.datasets)

    def _recipe(self) -> Any:
        return ConcatDataset, (self._located,)

    def __repr__(self) -> str:
        return f'ConcatDataset({list(self.datasets)!r})'


Concatenable._concatenate = ConcatDataset


class SubsetDataset(Parted):
    """Selected records of a dataset, in any order; a record may occur more than once.

    Parameters
    ----------
    dataset : Dataset, NPDataset, array, path, table or dataset of this module
        The dataset; see `ConcatDataset`.
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
    _part: Any = None    # the dataset and the indices in it, for any field

    def __init__(self, dataset: Any, indices: Any) -> None:
        self.dataset = _kept(dataset)
        self._located = located(self.dataset)
        core, self._nameless = core_of(self.dataset, 'dataset')
        indices = to_array(indices, 'indices')
        self._source = _core.source_subset(core, indices)
        self._indices = indices

    def _parts_of(self, places: _Places) -> Iterable[Tuple[Any, _Places, _Places]]:
        if self._part is None:
            length = core_of(self._located, 'dataset')[0].length
            self._part = readable(self._located), np.arange(length)[self._indices]
        part, indices = self._part
        yield part, np.arange(len(places)), indices[places]

    def _seeds(self) -> Set[Seed]:
        return seeds_of(self.dataset)

    def _recipe(self) -> Any:
        return SubsetDataset, (self._located, self._indices)

    def __repr__(self) -> str:
        return f'SubsetDataset({self.dataset!r}, {len(self)} indices)'


Concatenable._select = SubsetDataset
