# SPDX-License-Identifier: MIT
"""Fields: the type, shape and compression of the values that a dataset stores under a name."""

from __future__ import annotations

import operator
from typing import Any, Iterable, Tuple, Union

import numpy as np

from . import _core

COMPRESSIONS = ('raw', 'flate', 'zstd')


class Field:
    """A field of a dataset.

    Parameters
    ----------
    dtype : dtype or bytes
        The dtype of the elements: bool, integers of 8 to 64 bits, floats of 16 to 64 bits, or
        complex numbers of 64 or 128 bits. Values are stored in little-endian byte order, regardless
        of the byte order of `dtype`. `bytes` stands for byte strings of any length.
    shape : int or tuple of int, optional
        The shape of a value. By default, a value is a scalar. Not allowed for bytes.
    compress : {'raw', 'flate', 'zstd'}, optional
        How values are stored. 'raw' values are the fastest to read, and can be read without a copy.
        'flate' stores a value as one Deflate stream if the stream is smaller than the value. 'zstd'
        is part of the format, but this version does not implement it: a dataset with a 'zstd' field
        can be opened, and its uncompressed values can be read, but reading a compressed value or
        creating a 'zstd' field raises `LoaderxError` (``'LX_ERR_UNSUPPORTED'``).

    Raises
    ------
    TypeError, ValueError
        An argument is invalid; the message names the argument.

    Examples
    --------
    >>> Field('uint8', (28, 28))
    Field('uint8', (28, 28))
    >>> Field(bytes, compress='flate').compress
    'flate'
    """

    __slots__ = ('_dtype', '_shape', '_compress')

    def __init__(self, dtype: Any, shape: Union[int, Iterable[int]] = (),
                 compress: str = 'raw') -> None:
        self._dtype = _take_dtype(dtype)
        self._shape = _take_shape(shape)
        if self._dtype is bytes and self._shape != ():
            raise ValueError(f'shape must be () for a bytes field, not {self._shape}')
        if not isinstance(compress, str) or compress not in COMPRESSIONS:
            error = ValueError if isinstance(compress, str) else TypeError
            raise error(f"compress must be 'raw', 'flate' or 'zstd', not {compress!r}")
        self._compress = compress

    @property
    def dtype(self) -> Union[np.dtype[Any], type]:
        """The dtype of the elements, or `bytes`."""
        return self._dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of a value."""
        return self._shape

    @property
    def compress(self) -> str:
        """The compression of the values."""
        return self._compress

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Field):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Tuple[Any, Tuple[int, ...], str]:
        return self._dtype, self._shape, self._compress

    def _describe(self, name: str) -> Tuple[str, str, Tuple[int, ...], str]:
        """Return the field as a tuple for the extension module."""
        return name, self._dtype_name(), self._shape, self._compress

    def _dtype_name(self) -> str:
        return 'bytes' if isinstance(self._dtype, type) else self._dtype.name

    def __repr__(self) -> str:
        parts = ['bytes' if self._dtype is bytes else repr(self._dtype_name())]
        if self._shape:
            parts.append(repr(self._shape))
        if self._compress != 'raw':
            parts.append(f'compress={self._compress!r}')
        return f'Field({", ".join(parts)})'


def _take_dtype(dtype: Any) -> Union[np.dtype[Any], type]:
    if dtype is bytes or (isinstance(dtype, str) and dtype == 'bytes'):
        return bytes
    if dtype is None:
        raise TypeError('dtype must not be None')    # NumPy converts None to float64
    try:
        parsed = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f'dtype must be a NumPy dtype or bytes: {error}') from None
    stored = _core.DTYPES.get(parsed.name)
    if stored is None:
        raise ValueError(f'dtype must be bytes or one of {", ".join(_core.DTYPES)}, not {parsed}')
    return stored


def _take_extent(extent: Any) -> int:
    if isinstance(extent, (bool, np.bool_)):
        raise TypeError
    return operator.index(extent)


def _take_shape(shape: Union[int, Iterable[int]]) -> Tuple[int, ...]:
    try:
        extents = tuple(map(_take_extent, shape if isinstance(shape, Iterable) else (shape,)))
    except TypeError:
        raise TypeError(f'shape must be an int or a tuple of ints, not {shape!r}') from None
    if any(extent < 0 for extent in extents):
        raise ValueError(f'shape must not have negative extents: {extents}')
    return extents
