# SPDX-License-Identifier: MIT
"""Batches of values that vary in size."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Optional, Type

import numpy as np

__all__ = ['Ragged']


class Ragged:
    """Values that vary in length, one after another in a single array.

    Value i consists of ``values[offsets[i]:offsets[i + 1]]``. Indexing with an int returns a value:
    an array that shares the memory of `values` or, for a bytes field, a bytes object. Indexing with
    a slice, or with an array of indices or bools, returns a Ragged.

    Parameters
    ----------
    values : array
        The items of all values, along the first axis.
    offsets : array of int64
        Where each value begins, and where the last one ends; the first offset need not be 0.
    item : type, optional
        `bytes` if values are bytes objects; None: they are arrays.

    Examples
    --------
    >>> ragged = Ragged(np.arange(6), np.array([0, 4, 4, 6]))
    >>> len(ragged), ragged[0], ragged.lengths
    (3, array([0, 1, 2, 3]), array([4, 0, 2]))
    >>> ragged[1:].tolist()
    [[], [4, 5]]
    >>> ragged.pad(-1)
    array([[ 0,  1,  2,  3],
           [-1, -1, -1, -1],
           [ 4,  5, -1, -1]])
    """

    __slots__ = ('values', 'offsets', 'item')

    def __init__(self, values: Any, offsets: Any, item: Optional[Type[bytes]] = None) -> None:
        self.values = values
        self.offsets = offsets
        self.item = item

    @classmethod
    def of(cls, values: Iterable[Any], dtype: Any = None) -> Ragged:
        """Create a Ragged from a sequence of arrays, lists or bytes objects, which it copies."""
        items = list(values)
        if items and all(isinstance(item, bytes) for item in items):
            joined: Any = np.frombuffer(bytearray(b''.join(items)), np.uint8)
        else:
            arrays = [np.asarray(item, dtype) for item in items]
            joined = np.concatenate(arrays) if arrays else np.empty(0, dtype)
        offsets = np.zeros(len(items) + 1, np.int64)
        np.cumsum([len(item) for item in items], out=offsets[1:])
        return cls(joined, offsets, bytes if items and isinstance(items[0], bytes) else None)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        what = 'bytes' if self.item is bytes else self.values.dtype
        return f'<loaderx.Ragged of {len(self)} values of {what}, {len(self.values)} items>'

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step == 1:
                return Ragged(self.values, self.offsets[first:max(first, last) + 1], self.item)
            index = np.arange(first, last, step)
        if np.ndim(index) == 0:
            return self._value(self._position(index))
        return self._select(np.arange(len(self))[np.asarray(index)])

    def _position(self, index: Any) -> int:
        number = int(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f'index {number} is out of range for {len(self)} values')
        return number % len(self)

    def _value(self, i: int) -> Any:
        value = self.values[int(self.offsets[i]):int(self.offsets[i + 1])]
        return np.asarray(value).tobytes() if self.item is bytes else value

    def _select(self, chosen: np.ndarray[Any, Any]) -> Ragged:
        values, offsets = np.asarray(self.values), np.asarray(self.offsets)
        lengths = np.diff(offsets)[chosen]
        made = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=made[1:])
        places = np.arange(made[-1]) + np.repeat(offsets[chosen] - made[:-1], lengths)
        return Ragged(values[places], made, self.item)

    def __iter__(self) -> Iterator[Any]:
        return (self._value(i) for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError('values that vary in length do not form one array: use pad(), or values '
                         'and offsets')

    @property
    def lengths(self) -> np.ndarray[Any, Any]:
        """The length of each value."""
        return np.diff(np.asarray(self.offsets))

    def tolist(self) -> List[Any]:
        """Return a list of bytes objects, or of lists."""
        return [value if self.item is bytes else value.tolist() for value in self]

    def pad(self, value: Any = 0, **options: Any) -> np.ndarray[Any, Any]:
        """Return the values padded to a common length; see `Pad` for the arguments."""
        from .padding import Pad    # it needs the extension module, which needs this module
        return Pad(value, **options)(self)

    def to_torch(self) -> Any:
        """Return a nested tensor of layout torch.jagged that shares the memory of the values."""
        import torch
        make = getattr(torch.nested, 'nested_tensor_from_jagged', None)
        if make is None:
            raise ImportError(f'torch {torch.__version__} has no jagged nested tensors: use torch '
                              '2.4 or newer', name='torch')
        return make(torch.as_tensor(self.values), torch.as_tensor(self.offsets))

    def to_arrow(self) -> Any:
        """Return a pyarrow array (large_binary or large_list) that shares the memory."""
        import pyarrow as pa    # type: ignore[import-untyped, unused-ignore]
        offsets = pa.py_buffer(np.ascontiguousarray(self.offsets))
        values = np.asarray(self.values)
        if self.item is bytes:
            return pa.Array.from_buffers(pa.large_binary(), len(self),
                                         [None, offsets, pa.py_buffer(values)])
        if values.ndim == 1:
            items = pa.array(values)
        else:
            items = pa.FixedShapeTensorArray.from_numpy_ndarray(values)
        return pa.LargeListArray.from_arrays(pa.array(np.asarray(self.offsets)), items)
