# SPDX-License-Identifier: MIT
"""Files of bare records."""

from __future__ import annotations

import functools
import os
from typing import Any, Dict

import numpy as np

from .. import _core
from .records import Records

__all__ = ['FlatDataset']


class FlatDataset(Records):
    """A file of bare records, one after the other, which is mapped.

    Parameters
    ----------
    path : str, bytes or path-like
        A regular file, little-endian.
    dtype : dtype or str
        Of an element.
    shape : tuple of int, optional
        Of a record; a scalar by default.
    offset : int, optional
        Bytes of a header, before the first record.
    name : str, optional
        Of its one column.

    Raises
    ------
    CorruptError
        The file ends within a record.

    Examples
    --------
    >>> tokens = FlatDataset('train.bin', np.uint16, (2048,))
    """

    path: str

    def __init__(
        self, path: Any, dtype: Any, shape: Any = (), *, offset: int = 0, name: str = 'data'
    ) -> None:
        # The path, the numbers and the name are checked where the file is opened.
        given = np.dtype(dtype)
        if given.newbyteorder('<') != given:
            raise ValueError(f'dtype is {dtype!r}, and records of flat files are little-endian')
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self._source = _core.source_flat(path, (name, given.name, extents, 'raw'), offset)
        self._nameless = name == 'data'
        self._arguments = (path, given, extents)
        self._more: Dict[str, Any] = {'offset': offset, 'name': name}
        self.path = os.fsdecode(path)

    def _recipe(self) -> Any:
        return functools.partial(FlatDataset, **self._more), self._arguments

    def __repr__(self) -> str:
        name, dtype, shape = self._source.columns[0]
        return f'FlatDataset({self.path!r}, {dtype!r}, {shape!r})'
