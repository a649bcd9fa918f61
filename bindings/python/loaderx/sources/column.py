# SPDX-License-Identifier: MIT
"""Columns of a dataset, and views of its records."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, List, Optional, Tuple, cast

import numpy as np

from .._missing import missing_rules
from .._tables import is_tensor, to_array
from ..field import Field
from .compared import ComparedByValue


# The types of the keys that select several records of a dataset.
_SEVERAL = (slice, list, range, np.ndarray)


def selects_several(key: Any) -> bool:
    """Return whether a key selects several records of a dataset; a one-dimensional tensor does."""
    return isinstance(key, _SEVERAL) or (is_tensor(key) and key.ndim != 0)


class Views(Dict[str, List[Any]]):
    """Views into the mapped files of a dataset: a dict of lists with one item per record.

    An item is a read-only array of the field's dtype (for types of any length, a read-only
    memoryview of the bytes), or None if the value is missing. Leaving the with-block empties the
    dict. Items that are still referenced keep the dataset's files mapped.
    """

    __slots__ = ()

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *details: object) -> None:
        self.clear()


class Column(ComparedByValue):
    """One field of a dataset, or of a dataset built from others, as a sequence of values.

    Indexing with an int returns one value: an array, a NumPy scalar, bytes, a str, the value of a
    JSON text, or None if the value is missing. Indexing with a slice, a sequence of ints or a mask
    returns several values, in the order of the indices: an array or, if values vary in length, a
    list with None for missing values. An array has no place for missing values, so reading one
    raises a ValueError, as does ``np.asarray(column)``: `filled` says what stands for them.

    If values do not vary in length, a tuple of indices has the same meaning as for an array of all
    values: the first index selects records, and the others select along the axes of their values.
    Only the records that the first index selects are read. The first index cannot be ``...`` or
    None.

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

    __slots__ = ('_dataset', '_name', '_field', '_missing')

    def __init__(self, dataset: Any, name: str, field: Field, missing: Any = None) -> None:
        self._dataset = dataset
        self._name = name
        self._field = field
        self._missing = missing    # what stands for missing values, unless it is None

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
        """The dtype of an array of all values: the field's, or object if values vary in length."""
        return np.dtype(object) if self._field.varies else self._field.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of an array of all records."""
        return (len(self._dataset), *self._inner)

    @property
    def ndim(self) -> int:
        """The number of axes of an array of all records."""
        return 1 + len(self._inner)

    @property
    def _inner(self) -> Tuple[int, ...]:
        """The axes of an array of all records after the first one."""
        shape: Any = () if self._field.varies else self._field.shape
        return cast(Tuple[int, ...], shape)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self._get_along_axes(key)
        if self._missing is None:
            return self._dataset._get(self._name, key)
        if selects_several(key):
            return self._dataset.gather(key, [self._name], missing=self._missing)[self._name]
        return self[[key]][0]

    def _get_along_axes(self, key: Tuple[Any, ...]) -> Any:
        """Return what `key` selects from the array of all values, like NumPy."""
        if len(key) <= 1:
            return self[key[0] if key else slice(None)]
        if self._field.varies:
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
        if np.ndim(records) == len(self._inner):
            return np.asanyarray(records)[np.newaxis][(0, *key[1:])]
        again = slice(None) if isinstance(key[0], slice) else np.arange(len(records))
        return records[(again, *key[1:])]

    def _expression(self) -> str:
        return f'ds[{self._name!r}]'

    def __iter__(self) -> Iterator[Any]:
        state = self._dataset
        if getattr(state, 'live', False):
            state = state.pin()
        column = Column(state, self._name, self._field, self._missing)
        for index in range(len(state)):
            yield column[index]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError('copy must not be False: an array of all values is always a copy')
        records = self[:]
        if np.ma.is_masked(records):
            raise ValueError('a plain array has no mask: read the masked array, column[:]')
        if isinstance(records, list):
            values = np.empty(len(records), object)
            for i, record in enumerate(records):    # an assignment of all would join equal shapes
                values[i] = record
            records = values
        return np.asarray(records, dtype)

    def filled(self, missing: Any) -> Column:
        """Return this column with something in place of missing values.

        Parameters
        ----------
        missing : {'zeros', 'mask'}, number or array
            What stands for them, also if one value is read; see `Dataset.gather`.

        Returns
        -------
        Column
            A column that is read like this one. With 'mask', it returns masked arrays.

        Raises
        ------
        TypeError
            The values of the field vary in length, so that they come as lists, with None for
            missing values; or `missing` has the wrong type.

        Examples
        --------
        >>> with create('scores', {'x': Field('float32')}) as writer:
        ...     first = writer.extend(x=[0.5, None, 2.5])
        >>> x = open('scores')['x']
        >>> x.filled(np.nan)[:]
        array([0.5, nan, 2.5], dtype=float32)
        >>> x.filled('mask')[:].mean().item(), x[x.present()].mean().item()
        (1.5, 1.5)
        """
        if self._field.varies:
            raise TypeError(f'the values of the field {self._name!r} vary in length: they come as '
                            'lists, with None for missing values')
        missing_rules(missing, {self._name: (np.dtype(self.dtype), self._inner)}, ())
        return Column(self._dataset, self._name, self._field, missing)

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

    def lengths(self, indices: Any = slice(None)) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the lengths of values that vary in length, without reading the values.

        Parameters
        ----------
        indices : sequence of int, slice or mask, optional
            The records; by default, all records.

        Returns
        -------
        array of int64
            The number of items of each value, that is, of bytes for types of any length; 0 if the
            value is missing.

        Raises
        ------
        TypeError
            The values of the field do not vary in length.

        Examples
        --------
        >>> with create('docs', {'tokens': Field('int32', (None,))}) as writer:
        ...     first = writer.extend(tokens=[[1, 2, 3], [4], [5, 6]])
        >>> ds = open('docs')
        >>> ds['tokens'].lengths()
        array([3, 1, 2])
        >>> order = Bucketed(ds['tokens'].lengths(), batch=2)
        """
        field = self._field
        if not field.varies:
            raise TypeError(f'the values of the field {self._name!r} do not vary in length: their '
                            f'shape is {field.shape}')
        sizes: np.ndarray[Any, np.dtype[np.int64]] = self._dataset._sizes(self._name, indices)
        extents = cast(Tuple[int, ...], field.shape[1:])
        item = math.prod(extents) * np.dtype(cast(Any, field.dtype)).itemsize if field.shape else 1
        return np.maximum(sizes, 0) // item

    def read(self, index: int, start: int, n: int) -> Any:
        """Read a part of one value: the items from `start` to ``start + n`` of its first axis.

        Of an uncompressed value of more than 64 KiB, only these items are read. Their checksum
        covers the whole value, so they are **not verified** unless the dataset was opened with
        ``verify='always'``, which reads the whole value. Shorter values are verified as usual. A
        compressed value is read as a whole.

        Parameters
        ----------
        index : int
            The record.
        start : int
            The first item; an item of a bytes, str, JSON or image field is a byte.
        n : int
            The number of items. As with a slice, there are fewer if the value ends before.

        Returns
        -------
        array, bytes or None
            An array or, for types of any length, bytes; a part of a str need not be valid UTF-8.
            None if the value is missing.

        Raises
        ------
        TypeError
            The values of the field are scalars.

        Examples
        --------
        >>> with create('songs', {'audio': Field('int16', (None, 2))}) as writer:
        ...     first = writer.append(audio=np.arange(8, dtype='int16').reshape(4, 2))
        >>> open('songs')['audio'].read(0, 1, 2).tolist()
        [[2, 3], [4, 5]]
        """
        return self._dataset._read_part(self._name, index, start, n)

    def __repr__(self) -> str:
        path = getattr(self._dataset, 'path', None)
        source = f'a {type(self._dataset).__name__}' if path is None else repr(path)
        return f'<loaderx.Column {self._name!r} of {source}: {self._field!r}>'
