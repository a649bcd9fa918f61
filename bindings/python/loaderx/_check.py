# SPDX-License-Identifier: MIT
"""Argument checks, whose errors name the invalid argument."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Optional, Union

import numpy as np

UINT64_MAX = 2**64 - 1

Folder = Union[str, bytes, 'os.PathLike[Any]', None]


def integer(name: str, value: Any) -> int:
    """Return `value` as an int if it is an integer, of any size and sign."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f'{name} must be an int, not bool')
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f'{name} must be an int, not {type(value).__name__}') from None


def natural(name: str, value: Any, minimum: int = 0, maximum: int = UINT64_MAX) -> int:
    """Return `value` as an int if it is an integer from `minimum` to `maximum`."""
    number = integer(name, value)
    if not minimum <= number <= maximum:
        raise ValueError(f'{name} must be from {minimum} to {maximum}, not {number}')
    return number


def boolean(name: str, value: Any) -> bool:
    """Return `value` as a bool if it is a Python or NumPy bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f'{name} must be True or False, not {value!r}')


def folder(name: str, value: Folder) -> Optional[bytes]:
    """Return the path `value` as bytes in the file system encoding; return None for None."""
    if value is None:
        return None
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f'{name} must be a str, bytes or os.PathLike object, not '
                        f'{type(value).__name__}')
    path = os.fsencode(value)
    if not path or b'\0' in path:
        raise ValueError(f'{name} must be a path, not {value!r}')
    return path


def real(name: str, value: Any) -> float:
    """Return `value` as a float, which may be infinite or NaN."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f'{name} must be a number, not {type(value).__name__}')
    try:
        return float(value)
    except TypeError:
        raise TypeError(f'{name} must be a number, not {type(value).__name__}') from None
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def finite(name: str, value: Any) -> float:
    """Return `value` as a float if it is finite."""
    converted = real(name, value)
    if not math.isfinite(converted):
        raise ValueError(f'{name} must be finite, not {value}')
    return converted


def number(name: str, value: Any) -> float:
    """Return `value` as a float if it is finite and at least 0."""
    converted = real(name, value)
    if not 0 <= converted < math.inf:
        raise ValueError(f'{name} must be finite and not negative, not {value}')
    return converted


_UNITS = {'B': 1, **{prefix + 'B': 1000**i for i, prefix in enumerate('kMGT', 1)},
          **{prefix + 'iB': 1024**i for i, prefix in enumerate('KMGT', 1)}}


def byte_size(name: str, value: Any) -> int:
    """Return the number of bytes, at least 1, of a size such as '4GiB', '1.5 MB' or '512B'."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a size such as '4GiB', not {type(value).__name__}")
    found = re.fullmatch(r'([0-9]{1,18}(?:\.[0-9]{1,18})?) ?([a-zA-Z]+)', value)
    if found is None or found[2] not in _UNITS:
        raise ValueError(f"{name} must be a size such as '4GiB', with one of the units "
                         f"{', '.join(_UNITS)}, not {value!r}")
    size = int(Fraction(found[1]) * _UNITS[found[2]])
    if not 1 <= size <= UINT64_MAX:
        raise ValueError(f'{name} must be from 1 byte to 2**64 - 1 bytes, not {value}')
    return size


def size(name: str, value: Union[int, str]) -> int:
    """Return a number of bytes, at least 1, that is given as an int or as in `byte_size`."""
    return byte_size(name, value) if isinstance(value, str) else natural(name, value, minimum=1)


def reals(name: str, value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Convert finite numbers that are at least 0, in a sequence or array, to a float64 array."""
    if isinstance(value, Sequence) and not set(map(type, _items(name, value))) <= {float}:
        value = np.array([number(f'{name}[{i}]', item) for i, item in enumerate(value)], float)
    array = _one_axis(name, value, 'numbers')
    if array.dtype.kind not in 'iuf':
        raise TypeError(f'{name} must be numbers, not {array.dtype}')
    made = np.array(array, np.float64, order='C')
    for i in np.flatnonzero(~((made >= 0) & np.isfinite(made)))[:1]:
        number(f'{name}[{i}]', made[i])
    return made


def integers(name: str, value: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Convert integers from -2**63 to 2**64 - 1, modulo 2**64, to a new uint64 array."""
    if isinstance(value, Sequence):
        items = (integer(f'{name}[{i}]', item) for i, item in enumerate(_items(name, value)))
        return np.fromiter((_wrap(f'{name}[{i}]', item) for i, item in enumerate(items)), np.uint64)
    array = _one_axis(name, value, 'ints')
    if array.dtype.kind not in 'iu':
        raise TypeError(f'{name} must be ints, not {array.dtype}')
    return np.array(array, np.uint64, order='C')


def _wrap(name: str, value: int) -> int:
    if not -2**63 <= value <= UINT64_MAX:
        raise ValueError(f'{name} must be from {-2**63} to {UINT64_MAX}, not {value}')
    return value % 2**64


def _items(name: str, value: Any) -> Any:
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f'{name} must be a sequence, not {type(value).__name__}')
    return value


def _one_axis(name: str, value: Any, what: str) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.ndim == 0:
        raise TypeError(f'{name} must be a sequence of {what}, not {type(value).__name__}')
    if array.ndim != 1:
        raise ValueError(f'{name} must have one axis, not {array.ndim}')
    return array


def naturals(name: str, value: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Convert integers from 0 to 2**64 - 2, in a sequence or array, to a new uint64 array."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f'{name} must be a sequence of ints, not {type(value).__name__}')
    if isinstance(value, Sequence):
        return _of_sequence(name, value)
    array = _one_axis(name, value, 'ints')
    if array.dtype.kind not in 'iu':
        raise TypeError(f'{name} must be ints, not {array.dtype}')
    wrong: Any = np.flatnonzero(array < 0) if array.dtype.kind == 'i' else ()
    if len(wrong) == 0 and array.dtype.itemsize == 8 and array.dtype.kind == 'u':
        wrong = np.flatnonzero(array == UINT64_MAX)
    if len(wrong) != 0:
        natural(f'{name}[{wrong[0]}]', array[wrong[0]], maximum=UINT64_MAX - 1)
    return np.array(array, np.uint64, order='C')


def _of_sequence(name: str, items: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    if set(map(type, items)) <= {int}:
        try:
            array = np.array(items, np.int64)
        except OverflowError:
            array = np.array([-1])
        if len(array) == 0 or array.min() >= 0:
            return array.astype(np.uint64)
    maximum = UINT64_MAX - 1
    checked = (natural(f'{name}[{i}]', item, maximum=maximum) for i, item in enumerate(items))
    return np.fromiter(checked, np.uint64)
