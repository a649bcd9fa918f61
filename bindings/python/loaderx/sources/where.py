# SPDX-License-Identifier: MIT
"""The records of a dataset that meet a condition: the method `where` of all datasets."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Mapping, Union

import numpy as np

from .._tables import to_array
from ..field import Field

__all__ = ['Condition', 'find_records']

Condition = Union[Callable[[Mapping[str, Any]], Any], Any]    # a function, or a mask

# The number of records whose values are passed to a function at a time.
_ROWS = 1024

_Mask = np.ndarray[Any, np.dtype[np.bool_]]


class _Block(Mapping[str, Any]):
    """The columns of adjacent records; a field is read when the function looks it up."""

    def __init__(self, dataset: Any, fields: Mapping[str, Field], rows: slice) -> None:
        self._dataset, self._fields, self._rows = dataset, fields, rows
        self._read: Dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._fields:
            raise KeyError(f'field {name!r} not found: the fields are {list(self._fields)}')
        if name not in self._read:
            self._check_present(name)
            self._read[name] = self._dataset._get(name, self._rows)
        return self._read[name]

    def _check_present(self, name: str) -> None:
        """Raise an error if zeros would stand for missing values."""
        if self._fields[name].varies:
            return    # the list contains None for a missing value
        present = self._dataset._present(name, self._rows)
        for row in np.flatnonzero(~present)[:1]:
            raise ValueError(
                f'field {name!r} of record {self._rows.start + row} is missing, so the condition '
                f"has no value there: pass a mask that excludes it, such as ds[{name!r}].present() "
                f"& (ds[{name!r}].filled('zeros')[:] == 0)")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def find_records(dataset: Any, condition: Condition) -> np.ndarray[Any, Any]:
    """Return the indices of the records that meet a condition: a mask, or a function.

    The dataset is a `Dataset` or a `Records`.
    """
    if not callable(condition):
        return np.flatnonzero(_take_mask(condition, len(dataset), 'condition'))
    fields, found = dataset.fields, []
    for first in range(0, len(dataset), _ROWS):
        rows = slice(first, min(first + _ROWS, len(dataset)))
        mask = _take_mask(condition(_Block(dataset, fields, rows)), rows.stop - first,
                          'the result of the condition')
        found.append(first + np.flatnonzero(mask))
    return np.concatenate([np.zeros(0, np.intp), *found])


def _take_mask(value: Any, count: int, name: str) -> _Mask:
    mask = np.asarray(to_array(value, name))
    if mask.dtype != np.bool_:
        raise TypeError(f'{name} must be bools, one for each record, not {mask.dtype}: to select '
                        'records by index, use SubsetDataset')
    if mask.shape != (count,):
        raise ValueError(f'{name} must be an array of {count} bools, one for each record, but its '
                         f'shape is {mask.shape}')
    return mask
