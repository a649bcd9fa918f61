# SPDX-License-Identifier: MIT
"""Checks of arguments: what is wrong is an error that names the argument."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

UINT64_MAX = 2**64 - 1


def integer(name: str, value: Any) -> int:
    """`value` as an int, if it is an integer of any size and sign."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f'{name} must be an int, not bool')
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f'{name} must be an int, not {type(value).__name__}') from None


def natural(name: str, value: Any, least: int = 0, most: int = UINT64_MAX) -> int:
    """`value` as an int, if it is an integer from `least` to `most`."""
    number = integer(name, value)
    if not least <= number <= most:
        raise ValueError(f'{name} must be from {least} to {most}, not {number}')
    return number


def boolean(name: str, value: Any) -> bool:
    """`value` as a bool, if it is one."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f'{name} must be True or False, not {value!r}')


def naturals(name: str, value: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A new array of the numbers of a sequence or an array, if each is one of 0 to 2**64 - 2."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f'{name} must be a sequence of ints, not {type(value).__name__}')
    if isinstance(value, Sequence):
        return _of_sequence(name, value)
    array = np.asarray(value)
    if array.ndim == 0:
        raise TypeError(f'{name} must be a sequence of ints, not {type(value).__name__}')
    if array.ndim != 1:
        raise ValueError(f'{name} must have one axis, not {array.ndim}')
    if array.dtype.kind not in 'iu':
        raise TypeError(f'{name} must be ints, not {array.dtype}')
    wrong = np.flatnonzero(array < 0) if array.dtype.kind == 'i' else ()
    if len(wrong) == 0 and array.dtype.itemsize == 8 and array.dtype.kind == 'u':
        wrong = np.flatnonzero(array == UINT64_MAX)
    if len(wrong) != 0:
        natural(f'{name}[{wrong[0]}]', array[wrong[0]], most=UINT64_MAX - 1)
    return np.array(array, np.uint64, order='C')


def _of_sequence(name: str, items: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    if set(map(type, items)) <= {int}:
        try:
            array = np.array(items, np.int64)
        except OverflowError:
            array = np.array([-1])
        if len(array) == 0 or array.min() >= 0:
            return array.astype(np.uint64)
    most = UINT64_MAX - 1
    checked = (natural(f'{name}[{i}]', item, most=most) for i, item in enumerate(items))
    return np.fromiter(checked, np.uint64)
