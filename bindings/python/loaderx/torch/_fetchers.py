# SPDX-License-Identifier: MIT
"""Fetchers, which read the batches of a DataLoader."""

from __future__ import annotations

import operator
import os
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Tuple

import numpy as np
import torch
from torch.utils import data

from .. import _core
from .._paths import is_dataset
from .._tables import is_frame
from .._tensors import to_tensor
from .._types import varies
from ..sources import Dataset, NPDataset
from ..sources.places import reading_at
from ..sources.records import Records, Seed, own_method, resolved
from ..sources.source import as_source, core_of, core_of_base, describe, located, seeds_of
from ._collate import default_collate
from ._token_stream import TokenStream

__all__ = ['Found', 'Gathered', 'Listed', 'Place', 'Together', 'collation', 'find_data',
           'find_source', 'is_ours', 'together']

_KINDS = (Dataset, NPDataset, Records)

# The epoch of a batch, and the position of its first record, on which random choices depend.
Place = Tuple[int, int]

# A library source, and whether its records are arrays rather than dicts.
Found = Tuple[_core.Source, bool]


class Together(Records):
    """A table, or datasets of equal length that are read side by side, as a `Loader` reads them."""

    datasets: Any

    def __init__(self, datasets: Any) -> None:
        self.datasets, self._located = datasets, located(datasets)
        self._source = as_source(datasets, 'dataset')
        self._nameless = False

    def _seeds(self) -> Set[Seed]:
        return seeds_of(self.datasets)

    def _recipe(self) -> Any:
        return Together, (self._located,)

    def __repr__(self) -> str:
        return describe(self.datasets)


def together(dataset: Any) -> Any:
    """Convert what a `Loader` reads, but torch does not, to a dataset of records.

    These are tuples and lists of loaderx datasets, tables, and paths. torch itself reads a list of
    dicts, and a dict with other keys than names.
    """
    if isinstance(dataset, (str, bytes, os.PathLike)):
        if is_dataset(dataset):
            return Dataset(dataset)
        return (Together(dataset) if os.fsdecode(dataset).endswith('.npz') else
                NPDataset(dataset))
    if isinstance(dataset, Mapping) and dataset and all(isinstance(one, str) for one in dataset):
        return Together(dict(dataset))
    several = isinstance(dataset, (tuple, list)) and dataset and all(
        isinstance(one, _KINDS) for one in dataset)
    return Together(dataset) if several or is_frame(dataset) else dataset


def is_ours(dataset: Any) -> bool:
    """Return whether only code of this package, which may run in any thread, reads the dataset."""
    if type(dataset) is data.ConcatDataset:
        return all(map(is_ours, dataset.datasets))
    if type(dataset) is data.Subset:
        return is_ours(dataset.dataset)
    if isinstance(dataset, TokenStream):
        return own_method(dataset, ['__iter__']) is None
    return isinstance(dataset, _KINDS) and own_method(dataset) is None


def find_source(dataset: Any) -> Optional[Found]:
    """Return the source of a loaderx dataset, or None if it must be read record by record."""
    found = _find(dataset)
    if found is None or any(varies(kind, shape) for _, kind, shape in found[0].columns):
        return None
    return found


def find_data(dataset: Any) -> Optional[_core.Source]:
    """Return a source that identifies the records, however they are read, or None.

    A user's subclass may read the records of a loaderx dataset in its own way.
    """
    try:
        found = _find(dataset, core_of_base)
    except AttributeError:
        return None    # its constructor did not call that of its base class
    return None if found is None else found[0]


def _find(dataset: Any, get: Callable[[Any, str], Found] = core_of) -> Optional[Found]:
    try:
        if isinstance(dataset, Together):
            return dataset._source, False
        if isinstance(dataset, _KINDS):
            return get(dataset, 'dataset')
        if type(dataset) is data.ConcatDataset:
            return _concat([_find(one, get) for one in dataset.datasets])
        if type(dataset) is data.Subset:
            return _subset(_find(dataset.dataset, get), dataset.indices)
    except (TypeError, ValueError, IndexError):
        pass    # only its class or NumPy can read it, or torch will raise an error later
    return None


def _concat(parts: Sequence[Optional[Found]]) -> Optional[Found]:
    """Return the source of a torch ConcatDataset whose parts are loaderx datasets of one kind."""
    found = [part for part in parts if part is not None]
    if len(found) != len(parts) or len({bare for _, bare in found}) != 1:
        return None
    return _core.source_concat(tuple(source for source, _ in found)), found[0][1]


def _subset(part: Optional[Found], indices: Any) -> Optional[Found]:
    """Return the source of a torch Subset, as random_split() creates it."""
    numbers = np.asarray(indices)
    if part is None or numbers.ndim != 1 or numbers.dtype.kind not in 'iu':
        return None
    return _core.source_subset(part[0], numbers), part[1]


def collation(function: Any) -> Any:
    """Return the collate function; this module's equivalent replaces torch's default function."""
    return default_collate if function is data.default_collate else function


class Listed:
    """Reads batches from any map-style dataset, as torch does."""

    def __init__(self, dataset: Any, batched: bool, collate: Callable[[Any], Any]) -> None:
        self._dataset, self._batched, self._collate = dataset, batched, collate

    def fetch(self, index: Any, place: Optional[Place] = None) -> Any:
        """Return the records at a list of indices, or the record at one index."""
        if place is None:
            return self._read(index)
        with reading_at(*place, operator.length_hint(index, 1)):
            return self._read(index)

    def _read(self, index: Any) -> Any:
        dataset = self._dataset
        if not self._batched:
            return self._collate(dataset[index])
        if getattr(dataset, '__getitems__', None):
            records = dataset.__getitems__(index)
        else:
            records = [dataset[one] for one in index]
        try:
            return self._collate(records)
        except (RuntimeError, TypeError) as error:    # the types of torch's errors about None
            if self._collate is default_collate and is_ours(dataset):
                numbers = resolved(index, len(dataset)).tolist()
                _explain_missing(error, dict(zip(numbers, records)))
            raise


def _explain_missing(error: Exception, records: Mapping[int, Any]) -> None:
    """Raise an error of the same type that names the missing value, if there is one.

    The records, by index, are those that torch cannot collate.
    """
    first = next(iter(records.values()))
    for name in first if isinstance(first, dict) else ():
        values = {index: record[name] for index, record in records.items()}
        missing = [index for index, value in values.items() if value is None]
        try:
            default_collate(list(values.values()))
        except type(error):
            if missing:
                raise type(error)(
                    f'field {name!r}, record {missing[0]}: the value is missing, so torch cannot '
                    'collate it: leave such records out, for example with '
                    f'ds.where(ds[{name!r}].present())') from error


class Gathered:
    """Reads batches of tensors from a loaderx dataset, using the library."""

    def __init__(self, dataset: Any, found: Found, batched: bool) -> None:
        self._dataset = dataset
        self.source, self._bare = found
        self._batched = batched
        self.names: Tuple[str, ...] = tuple(name for name, _, _ in self.source.columns)

    def fetch(self, index: Any, place: Optional[Place] = None) -> Any:
        """Return the records at a list of indices, or the record at one index."""
        numbers = _integers(index if self._batched else [index])
        if numbers is None:
            return self._fetch_as_torch(index, place)
        batch = self.tensors(self.gather(numbers, place))
        if self._batched:
            return batch
        return {name: values[0] for name, values in batch.items()} if isinstance(
            batch, dict) else batch[0]

    def _fetch_as_torch(self, index: Any, place: Optional[Place]) -> Any:
        """Read the records as torch does, for any other `index` and to raise torch's errors."""
        collate = default_collate if self._batched else data.default_convert
        return Listed(self._dataset, self._batched, collate).fetch(index, place)

    def tensors(self, batch: Dict[str, Any]) -> Any:
        """Convert the arrays to tensors without a copy; return one tensor if records are arrays."""
        made = {name: to_tensor(values) for name, values in batch.items()}
        return made[self.names[0]] if self._bare else made

    def gather(self, indices: np.ndarray[Any, Any], place: Optional[Place]) -> Dict[str, Any]:
        """Read the arrays of a batch."""
        try:
            return self.source.gather(indices, None, True, place)
        except IndexError:
            for index in indices.tolist():
                self._dataset[index]    # raises the dataset's error for an index out of range
            raise


def _integers(index: Any) -> Optional[np.ndarray[Any, Any]]:
    """Convert indices to an array; return None if there are none, or if not all are integers."""
    if not isinstance(index, (list, tuple, np.ndarray, torch.Tensor)):
        return None
    try:
        made = np.array(index)
    except ValueError:    # nested lists of different lengths
        return None
    return made if made.ndim == 1 and len(made) and made.dtype.kind in 'iu' else None
