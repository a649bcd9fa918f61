# SPDX-License-Identifier: MIT
"""Files of consecutive fixed-size records."""

from __future__ import annotations

import functools
import os
from typing import Any, Dict

import numpy as np

from .. import _core
from .._paths import absolute
from .._types import find_dtype
from .records import Records

__all__ = ['FlatDataset']


class FlatDataset(Records):
    """A memory-mapped file of consecutive fixed-size records.

    Parameters
    ----------
    path : str, bytes or path-like
        A regular file with little-endian elements.
    dtype : dtype or str
        The type of an element.
    shape : tuple of int, optional
        The shape of a record. By default, a record is a scalar.
    offset : int, optional
        The offset of the first record, in bytes: for example, the length of a header.
    name : str, optional
        The name of the dataset's only column.

    Raises
    ------
    CorruptError
        The file ends within a record.

    Examples
    --------
    >>> np.arange(8, dtype=np.uint16).tofile('train.bin')
    >>> FlatDataset('train.bin', np.uint16, (4,))[1]
    array([4, 5, 6, 7], dtype=uint16)
    """

    path: str

    def __init__(
        self, path: Any, dtype: Any, shape: Any = (), *, offset: int = 0, name: str = 'data'
    ) -> None:
        # source_flat() checks the path, the shape, the offset and the name.
        parsed = np.dtype(dtype)
        if parsed.newbyteorder('<') != parsed:
            raise ValueError(f'dtype must be little-endian, not {dtype!r}')
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self._source = _core.source_flat(path, (name, parsed.name, extents, 'raw'), offset)
        self._nameless = name == 'data'
        self._arguments = (absolute(path), parsed, extents)
        self._more: Dict[str, Any] = {'offset': offset, 'name': name}
        self.path = os.fsdecode(path)

    def _recipe(self) -> Any:
        return functools.partial(FlatDataset, **self._more), self._arguments

    def __repr__(self) -> str:
        _, kind, shape = self._source.columns[0]
        return f'FlatDataset({self.path!r}, {find_dtype(kind)!r}, {shape!r})'
