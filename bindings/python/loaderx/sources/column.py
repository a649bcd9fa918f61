# SPDX-License-Identifier: MIT
"""Columns of a dataset, and views of its records."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from .._tables import to_array
from ..field import Field
from .compared import ComparedByValue


class Views(Dict[str, List[Any]]):
    """Views into the mapped files of a dataset: a dict of lists with one item per record.

    An item is a read-only array of the field's dtype and shape (for a bytes field, a read-only
    memoryview), or None if the value is missing. Leaving the with-block empties the dict. Items
    that are still referenced keep the dataset's files mapped.
    """

    __slots__ = ()

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *details: object) -> None:
        self.clear()


class Column(ComparedByValue):
    """One field of a dataset or of a dataset built from others, which is indexed like an array of the values of all records.

    Indexing with an int returns one value: an array, a NumPy scalar, bytes, or None if the value is
    missing. Indexing with a slice, a sequence of ints or a mask returns several values, in the
    order of the indices: an array with zeros for missing values or, for a bytes field, a list with
    None for missing values.

    For a dense field, a tuple of indices has the same meaning as for an array of all values: the
    first index selects records, and the others select along the axes of their values. Only the
    records that the first index selects are read. The first index cannot be ``...`` or None.

    Comparing a column, or searching it with ``in``, raises a TypeError: compare the array of its
    values, ``column[:]``, instead.

    Examples
    --------
    >>> with create('pairs', {'x': Field('int32', (2,)), 'label': Field('int64')}) as writer:
    ...     first = writer.extend(x=np.arange(8).astype('int32').reshape(4, 2), label=[7, 3, 7, 1])
    >>> ds = open('pairs')
    >>> ds['x'][[0, 3]].tolist(), ds['x'][0, 1].item(), ds['x'][1:, 0].tolist()
    ([[0, 1], [6, 7]], 1, [2, 4, 6])
    >>> ds['label'][:] == 7
    array([ True, False,  True, False])
    """

    __slots__ = ('_dataset', '_name', '_field')

    def __init__(self, dataset: Any, name: str, field: Field) -> None:
        self._dataset = dataset
        self._name = name
        self._field = field

    @property
    def name(self) -> str:
        """The name of the field."""
        return self._name

    @property
    def field(self) -> Field:
        """The type, shape and compression of the field."""
        return self._field

    @property
    def dtype(self) -> Any:
        """The dtype of an array of all values: the field's dtype, or object for a bytes field."""
        return np.dtype(object) if self._field.dtype is bytes else self._field.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of an array of all records."""
        return (len(self._dataset), *self._field.shape)

    @property
    def ndim(self) -> int:
        """The number of axes of an array of all records."""
        return 1 + len(self._field.shape)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self._get_along_axes(key)
        return self._dataset._get(self._name, key)

    def _get_along_axes(self, key: Tuple[Any, ...]) -> Any:
        """Return what `key` selects from the array of all values, like NumPy."""
        if len(key) <= 1:
            return self[key[0] if key else slice(None)]
        if self._field.dtype is bytes:
            raise IndexError(f'the column {self._name!r} has one axis, but the index {key!r} is '
                             f'for {len(key)} axes: pass a list to select several records')
        if key[0] is None or key[0] is Ellipsis:
            raise IndexError('the first index of a column must select records, not be '
                             f"{key[0]!r}: index the array of all values instead, ds['name'][:]")
        key = (key[0], *(to_array(one, 'index') for one in key[1:]))
        records = self[key[0]]
        if records is None:    # the value is missing
            return None
        # The records that were read are selected again, because NumPy combines an int or an array
        # with the arrays among the other indices.
        if np.ndim(records) == len(self._field.shape):
            return np.asarray(records)[np.newaxis][(0, *key[1:])]
        again = slice(None) if isinstance(key[0], slice) else np.arange(len(records))
        return records[(again, *key[1:])]

    def _expression(self) -> str:
        return f'ds[{self._name!r}]'

    def __iter__(self) -> Iterator[Any]:
        state = self._dataset
        if getattr(state, 'live', False):
            state = state._pin()
        for index in range(len(state)):
            yield state._get(self._name, index)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError('copy must not be False: an array of all values is always a copy')
        records = self._dataset._get(self._name, slice(None))
        if isinstance(records, list):
            values = np.empty(len(records), object)
            values[:] = records
            records = values
        return np.asarray(records, dtype)

    def present(self, indices: Any = slice(None)) -> np.ndarray[Any, Any]:
        """Return which records have a value.

        Parameters
        ----------
        indices : sequence of int, slice or mask, optional
            The records; by default, all records.

        Returns
        -------
        array of bool
            False for each record whose value is missing.
        """
        present: np.ndarray[Any, Any] = self._dataset._present(self._name, indices)
        return present

    def __repr__(self) -> str:
        path = getattr(self._dataset, 'path', None)
        source = f'a {type(self._dataset).__name__}' if path is None else repr(path)
        return f'<loaderx.Column {self._name!r} of {source}: {self._field!r}>'
