# SPDX-License-Identifier: MIT
"""The types of values: their names in the library, and what they are in Python."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from . import _core

__all__ = ['BYTE_STRINGS', 'array_type', 'describe_type', 'find_dtype', 'torch_name', 'type_name',
           'varies']

# The types whose values are byte strings, and what stands for them in a Field.
BYTE_STRINGS: Dict[str, Union[type, str]] = {'bytes': bytes, 'str': str, 'json': 'json',
                                             'image': 'image'}

_found: Dict[str, np.dtype[Any]] = {}


def find_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype of the arrays of a type; raise ImportError if it needs ml_dtypes."""
    known = _core.DTYPES[name] or _found.get(name)
    if known is not None:
        return known
    try:
        import ml_dtypes
    except ModuleNotFoundError as error:
        if error.name != 'ml_dtypes':
            raise
        raise ImportError(f'arrays of {name} need the package ml_dtypes: install ml_dtypes',
                          name='ml_dtypes') from None
    found = getattr(ml_dtypes, name, None)
    if found is None:
        raise ImportError(f'arrays of {name} need a newer ml_dtypes: {ml_dtypes.__version__} is '
                          'installed', name='ml_dtypes')
    return _found.setdefault(name, np.dtype(found))


def varies(name: str, shape: Tuple[Any, ...]) -> bool:
    """Return whether values of a type and a shape vary in length."""
    return name in BYTE_STRINGS or shape[:1] == (None,)


def array_type(dtype: np.dtype[Any]) -> Optional[str]:
    """Return the name of the type of arrays of this dtype; None if they cannot be stored."""
    name = dtype.name
    # NumPy has fixed-width strings with names such as 'bytes'.
    return name if name in _core.DTYPES and name not in BYTE_STRINGS else None


def torch_name(dtype: Any) -> str:
    """Return the name of a torch dtype, which is the same in NumPy and ml_dtypes."""
    return str(dtype).rpartition('.')[2]


def type_name(dtype: Any) -> str:
    """Return the name of the type that the caller's argument `dtype` of a field stands for."""
    if (type(dtype).__module__, type(dtype).__name__) == ('torch', 'dtype'):
        dtype = torch_name(dtype)
    if isinstance(dtype, str) and dtype in _core.DTYPES:
        return dtype
    if dtype is bytes or dtype is str:
        return str(dtype.__name__)
    if dtype is None:
        raise TypeError('dtype must not be None')    # NumPy converts None to float64
    known = ', '.join(_core.DTYPES)
    try:
        parsed = np.dtype(dtype)
    except TypeError:
        raise TypeError(f'dtype must be one of {known}, not {dtype!r}') from None
    name = array_type(parsed)
    if name is None:
        raise ValueError(f'dtype must be one of {known}, not {parsed}')
    return name


def describe_type(name: str) -> Union[np.dtype[Any], type, str]:
    """Return what stands for a type in a Field."""
    return BYTE_STRINGS.get(name) or find_dtype(name)
