# SPDX-License-Identifier: MIT
"""Fields: the type, shape and compression of the values that a dataset stores under a name."""

from __future__ import annotations

import operator
import re
from typing import Any, Dict, Iterable, Optional, Tuple, Union

import numpy as np

from . import _core
from ._check import natural
from ._types import BYTE_STRINGS, describe_type, type_name, varies

COMPRESSIONS = ('raw', 'flate', 'zstd')
_LEVELS = {'flate': 9, 'zstd': 22}

# The text of a type: a name, and a shape in brackets.
_TYPE = re.compile(r'(\w+)(?:\[((?:\?|[0-9]+)(?:,[0-9]+)*)\])?', re.ASCII)

# Bytes.
DEFAULT_DICTIONARY = 110 << 10
_MAX_DICTIONARY = 16 << 20


class Field:
    """A field of a dataset.

    >>> Field('uint8', (28, 28))
    Field('uint8', (28, 28))

    Parameters
    ----------
    dtype : dtype, type or str
        The dtype of the elements: bool, integers of 8 to 64 bits, floats of 16 to 64 bits, complex
        numbers of 64 or 128 bits, datetime64 with the unit D, s, ms, us or ns, or one of
        'bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float8_e4m3fnuz', 'float8_e5m2fnuz' and
        'float8_e8m0fnu', whose arrays need the package ml_dtypes. A torch dtype means the same.
        Values are stored in little-endian byte order, regardless of the byte order of `dtype`.
        Or a type of values of any length: `bytes`; `str`, stored as UTF-8; 'json', any value that
        the module json can write, which is stored as text and parsed when it is read; or 'image',
        the bytes of an image file. Writers and `Dataset.verify` check UTF-8 and JSON.
    shape : int or tuple of int, optional
        The shape of a value. By default, a value is a scalar. The first extent may be None: it
        varies from value to value, as in ``(None, 4)`` for a list of boxes. Not allowed for types
        of any length.
    compress : {'raw', 'flate', 'zstd'}, optional
        How values are stored. 'raw' values are the fastest to read, and can be read without a copy.
        'flate' stores a value as one Deflate stream, and 'zstd' as one Zstandard frame, if that is
        smaller than the value. 'zstd' is faster to read, and usually smaller. If the library was
        built without libzstd, creating a 'zstd' field and reading a compressed value of one raise
        `LoaderxError` (``'LX_ERR_UNSUPPORTED'``).
    level : int, optional
        The compression level: 1 (fastest) to 9 (smallest) for 'flate', 1 to 22 for 'zstd'. It is
        stored in the dataset, so it applies to all later writers, too. By default, the `level` of
        the writer applies; see `create`.
    dictionary : 'train' or int, optional
        For 'zstd': train a dictionary of what many values have in common, so that even short values
        shrink a lot: ones of a few KiB or less. The int is its maximum size in bytes, up to 16 MiB;
        'train' means 110 KiB. The first writer that has appended 100 times that size trains the
        dictionary on these values, which takes a few seconds, and compresses later values with it.
        A writer that is closed before that logs a warning: `Writer.train_dictionary` trains the
        dictionary on fewer values, and `copy` then compresses the stored ones with it.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid; the message names the argument.

    Examples
    --------
    >>> Field('float32', (None, 4)).varies
    True
    >>> Field(str, compress='flate').compress
    'flate'
    >>> Field(bytes, compress='zstd', level=9, dictionary='train')
    Field(bytes, compress='zstd', level=9, dictionary='train')
    """

    __slots__ = ('_type', '_shape', '_compress', '_level', '_dictionary')

    def __init__(self, dtype: Any, shape: Union[int, Iterable[Optional[int]]] = (),
                 compress: str = 'raw', *, level: Optional[int] = None,
                 dictionary: Union[None, str, int] = None) -> None:
        self._type = type_name(dtype)
        self._shape = _take_shape(shape)
        if self._type in BYTE_STRINGS and self._shape != ():
            raise ValueError(f'shape must be () for a {self._type} field, not {self._shape}')
        if not isinstance(compress, str) or compress not in COMPRESSIONS:
            error = ValueError if isinstance(compress, str) else TypeError
            raise error(f"compress must be 'raw', 'flate' or 'zstd', not {compress!r}")
        self._compress = compress
        self._level = _take_level(level, compress)
        self._dictionary = _take_dictionary(dictionary, compress)

    @property
    def dtype(self) -> Union[np.dtype[Any], type, str]:
        """The dtype of the elements, or `bytes`, `str`, 'json' or 'image'.

        Raises ImportError if the dtype belongs to ml_dtypes, which is not installed.
        """
        return describe_type(self._type)

    @property
    def shape(self) -> Tuple[Optional[int], ...]:
        """The shape of a value; the first extent is None if it varies."""
        return self._shape

    @property
    def varies(self) -> bool:
        """Whether values vary in length."""
        return varies(self._type, self._shape)

    @property
    def compress(self) -> str:
        """The compression of the values."""
        return self._compress

    @property
    def level(self) -> Optional[int]:
        """The compression level; None: that of the writer."""
        return self._level

    @property
    def dictionary(self) -> Optional[int]:
        """The maximum size of the dictionary in bytes; None: there is none, and none is trained."""
        return self._dictionary

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Field):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Tuple[Any, ...]:
        return self._type, self._shape, self._compress, self._level, self._dictionary

    def _describe(self, name: str) -> Tuple[str, str, Tuple[Optional[int], ...], str, int, int]:
        """Return the field as a tuple for the extension module."""
        return (name, self._type, self._shape, self._compress, self._level or 0,
                self._dictionary or 0)

    @classmethod
    def _from_descriptions(cls, descriptions: Iterable[Tuple[str, str, Tuple[Optional[int], ...],
                                                             str, int, int]]) -> Dict[str, Field]:
        """Return the fields that the extension module describes, by name."""
        return {name: cls(dtype, shape, compress, level=level or None,
                          dictionary=dictionary or None)
                for name, dtype, shape, compress, level, dictionary in descriptions}

    def __repr__(self) -> str:
        parts = [self._type if self._type in ('bytes', 'str') else repr(self._type)]
        if self._shape:
            parts.append(repr(self._shape))
        if self._compress != 'raw':
            parts.append(f'compress={self._compress!r}')
        if self._level is not None:
            parts.append(f'level={self._level}')
        if self._dictionary is not None:
            shown = 'train' if self._dictionary == DEFAULT_DICTIONARY else self._dictionary
            parts.append(f'dictionary={shown!r}')
        return f'Field({", ".join(parts)})'


def field_of(name: str, given: Any) -> Field:
    """Return the field of the caller's argument ``fields[name]``, a Field or the text of a type.

    lx__import_type_parse() reads the same texts.
    """
    if isinstance(given, Field):
        return given
    if not isinstance(given, str):
        raise TypeError(f'fields[{name!r}] must be a Field or a str, not {given!r}')
    parts = _TYPE.fullmatch(given)
    if parts is None or parts[1] not in _core.DTYPES or (parts[2] and parts[1] in BYTE_STRINGS):
        raise ValueError(f"fields[{name!r}]: the type {given!r} is invalid: use 'bytes', 'str', "
                         "'json', 'image', 'ignore', or a dtype such as 'int64', 'float32[3,4]' "
                         "or, if the first extent varies, 'int32[?]'")
    extents = parts[2].split(',') if parts[2] else []
    return Field(parts[1], [None if extent == '?' else int(extent) for extent in extents])


def _take_level(level: Any, compress: str) -> Optional[int]:
    if level is None:
        return None
    if compress == 'raw':
        raise ValueError("level requires compress='flate' or 'zstd'")
    return natural(f'level of {compress!r}', level, 1, _LEVELS[compress])


def _take_dictionary(dictionary: Any, compress: str) -> Optional[int]:
    if dictionary is None:
        return None
    if compress != 'zstd':
        raise ValueError(f"dictionary requires compress='zstd', not {compress!r}")
    if isinstance(dictionary, str):
        if dictionary != 'train':
            raise ValueError(f"dictionary must be 'train' or an int, not {dictionary!r}")
        return DEFAULT_DICTIONARY
    try:
        return natural('dictionary', dictionary, 1, _MAX_DICTIONARY)
    except TypeError:
        raise TypeError(f"dictionary must be 'train' or an int, not {dictionary!r}") from None


def _take_extent(extent: Any) -> Optional[int]:
    if isinstance(extent, (bool, np.bool_)):
        raise TypeError
    return None if extent is None else operator.index(extent)


def _take_shape(shape: Any) -> Tuple[Optional[int], ...]:
    try:
        if shape is None:
            raise TypeError
        extents = tuple(map(_take_extent, shape if isinstance(shape, Iterable) else (shape,)))
    except TypeError:
        raise TypeError('shape must be an int or a tuple of ints, of which the first may be None, '
                        f'not {shape!r}') from None
    if any(extent is None for extent in extents[1:]):
        raise ValueError(f'shape must not have None after its first extent: {extents}')
    if any(extent < 0 for extent in extents if extent is not None):
        raise ValueError(f'shape must not have negative extents: {extents}')
    if extents[:1] == (None,) and 0 in extents:
        raise ValueError(f'shape must not have an extent of 0 after one that varies: {extents}')
    return extents
