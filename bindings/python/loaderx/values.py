# SPDX-License-Identifier: MIT
"""Conversion of the caller's values to the stored form; loss of information raises an error.

The extension module calls these functions for values whose memory layout does not match the field.
A conversion to arrays returns the values, their offsets in bytes if they vary in length, and a mask
of the present values. The mask is None if all values are present.
"""

from __future__ import annotations

import datetime
import json
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._tables import to_array
from ._types import BYTE_STRINGS, array_type, find_dtype
from .ragged import Ragged

# Dtype kinds; each kind can represent the numbers of the preceding kinds.
_KINDS = 'biufc'

# The types of single values that have no dtype.
_PLAIN = (bool, int, float, complex, str, datetime.date)

_Array = np.ndarray[Any, Any]
_Arrays = Tuple[_Array, Optional[_Array], Optional[_Array]]
_Shape = Tuple[Any, ...]    # the first extent is None if it varies


def _kind(dtype: np.dtype[Any]) -> str:
    """Return the kind of a dtype; those of ml_dtypes are floats."""
    return 'f' if dtype.kind == 'V' and array_type(dtype) is not None else dtype.kind


def _as_array(value: Any, dtype: np.dtype[Any], name: str) -> _Array:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f'field {name!r} must not be a masked array: pass a list, with None for '
                        f'missing values')
    times = dtype.kind == 'M'
    try:
        array: _Array = np.asarray(to_array(value, f'field {name!r}'))
        if times and array.dtype.kind in 'OU':    # datetime objects, or texts
            array = np.asarray(value, 'datetime64')
    except ValueError as error:
        raise ValueError(f'field {name!r}: {error}') from None
    kind = _kind(array.dtype)
    if kind not in _KINDS and not (times and kind == 'M'):
        if kind == 'O' and array.size and all(isinstance(x, int) for x in array.flat):
            raise ValueError(f'field {name!r}: an integer does not fit in 64 bits')
        raise TypeError(f'field {name!r} must contain {"times" if times else "numbers"}, not '
                        f'{array.dtype.name} (a {type(value).__name__})')
    return array


def _is_typed(value: Any, casting: Any) -> bool:
    """Return whether the value has a dtype, unlike a plain Python number or list.

    A NumPy float64 is also a Python float, and is treated like one unless there is a casting rule.
    """
    if casting is not None and isinstance(value, np.generic):
        return True
    return not isinstance(value, (*_PLAIN, list, tuple, range))


def _check_integers(array: _Array, dtype: np.dtype[Any], name: str) -> None:
    limits = np.iinfo(dtype)
    for bound in (int(array.min()), int(array.max())):
        if not limits.min <= bound <= limits.max:
            raise ValueError(f'field {name!r}: {bound} does not fit in {dtype.name}')


def _cast_times(array: _Array, dtype: np.dtype[Any], name: str) -> _Array:
    """Convert times of any unit; raise ValueError if one is not a multiple of the field's unit."""
    try:
        result = array.astype(dtype, order='C')
    except OverflowError as error:    # NumPy 2.5 and newer; older ones wrap around
        raise ValueError(f'field {name!r}: a time cannot be stored as {dtype.name} without loss: '
                         f'{error}') from None
    wrong = np.flatnonzero((result.astype(array.dtype) != array) & ~np.isnat(array))
    if wrong.size:
        raise ValueError(f'field {name!r}: {array.flat[wrong[0]]} cannot be stored as '
                         f'{dtype.name} without loss')
    return result


def _cast(array: _Array, dtype: np.dtype[Any], typed: bool, name: str, casting: Any) -> _Array:
    """Convert the array to a C-contiguous array with the dtype `dtype`."""
    if casting == 'unsafe' or (casting is not None and typed):
        # Only dtypes count. Before NumPy 2, astype() also looked at the value of a scalar.
        if not np.can_cast(array.dtype, dtype, casting):
            raise TypeError(f'field {name!r}: {array.dtype.name} cannot be converted to '
                            f'{dtype.name} with casting={casting!r}')
        return array.astype(dtype, order='C', copy=False)
    source, target = _kind(array.dtype), _kind(dtype)
    if (np.can_cast(array.dtype, dtype, 'safe') and 'M' not in (source, target)
            or array.dtype == dtype or (array.size == 0 and not typed)):
        return array.astype(dtype, order='C', copy=False)
    if source == target == 'M' and (not typed or np.can_cast(array.dtype, dtype, 'safe')):
        return _cast_times(array, dtype, name)    # a safe conversion can still overflow
    if typed:
        raise TypeError(f'field {name!r}: {array.dtype.name} cannot always be converted to '
                        f'{dtype.name} without loss: use astype(), or the argument casting of '
                        'append(), extend() and modify()')
    if target in 'bM' or (source in 'fc' and _KINDS.index(source) > _KINDS.index(target)):
        raise TypeError(f'field {name!r}: {array.dtype.name} cannot be converted to {dtype.name}')
    if target in 'iu':
        _check_integers(array, dtype, name)
        return array.astype(dtype, order='C')
    with np.errstate(over='ignore'):
        result: _Array = array.astype(dtype, order='C')
    for value in array[np.isfinite(array) & ~np.isfinite(result)].flat:
        raise ValueError(f'field {name!r}: {value} does not fit in {dtype.name}')
    return result


def _fits(array: _Array, shape: _Shape) -> bool:
    """Return whether the array is a value of a field of this shape."""
    return array.ndim == len(shape) and all(
        wanted is None or extent == wanted for extent, wanted in zip(array.shape, shape))


def _check_shape(array: _Array, shape: _Shape, name: str, wanted: _Shape) -> None:
    if not _fits(array, shape):
        raise ValueError(f'field {name!r} must have records of shape {wanted}, not '
                         f'{array.shape[len(shape) - len(wanted):]}')


def _as_item(value: Any, dtype: np.dtype[Any], shape: _Shape, name: str) -> _Array:
    """Return the value of one record as an array of any dtype."""
    array = _as_array(value, dtype, name)
    if array.shape == (0,) and shape[:1] == (None,):
        array = array.reshape(0, *shape[1:])    # an empty list has no further axes
    _check_shape(array, shape, name, shape)
    return array


def convert_record(value: Any, type_name: str, shape: _Shape, name: str,
                   casting: Any = None) -> _Arrays:
    """Convert the value of one record to an array of `shape` with the field's dtype."""
    dtype = find_dtype(type_name)
    array = _as_item(value, dtype, shape, name)
    return _cast(array, dtype, _is_typed(value, casting), name, casting), None, None


def convert_column(value: Any, type_name: str, shape: _Shape, name: str,
                   casting: Any = None) -> _Arrays:
    """Convert values of a fixed length to an array with a row of `shape` for each."""
    dtype = find_dtype(type_name)
    if isinstance(value, (list, tuple)) and any(item is None for item in value):
        return _convert_with_missing(value, type_name, shape, name, casting)
    array = _as_array(value, dtype, name)
    if array.ndim == 0:
        raise TypeError(f'field {name!r} must have one value for each record, not a '
                        f'{type(value).__name__}')
    if array.size == 0 and array.shape == (0,):
        array = array.reshape(0, *shape)
    _check_shape(array, (None, *shape), name, shape)
    return _cast(array, dtype, _is_typed(value, casting), name, casting), None, None


def _convert_with_missing(values: Any, type_name: str, shape: _Shape, name: str,
                          casting: Any) -> _Arrays:
    present = np.fromiter((item is not None for item in values), np.bool_, len(values))
    array: _Array = np.zeros((len(values), *shape), find_dtype(type_name))
    found = [item for item in values if item is not None]
    if found:
        array[present] = convert_column(found, type_name, shape, name, casting)[0]
    return array, None, present


def convert_varying(values: Any, type_name: str, shape: _Shape, name: str,
                    casting: Any = None) -> _Arrays:
    """Convert arrays that vary in length to one array of all items."""
    dtype = find_dtype(type_name)
    if isinstance(values, Ragged) and values.item is None:
        joined, offsets = values._as_arrays()
        return _joined(joined[offsets[0]:offsets[-1]], np.diff(offsets), None, dtype, shape, name,
                       casting)
    values = to_array(values, f'field {name!r}')
    if isinstance(values, np.ndarray) and values.dtype.kind != 'O':
        values = _as_array(values, dtype, name)
        _check_shape(values, (None, *shape), name, shape)
        lengths = np.full(len(values), values.shape[1], np.int64)
        return _joined(values.reshape(-1, *values.shape[2:]), lengths, None, dtype, shape, name,
                       casting)
    if isinstance(values, (str, bytes)) or not hasattr(values, '__iter__'):
        raise TypeError(f'field {name!r} must have one array for each record, not a '
                        f'{type(values).__name__}')
    return _join(list(values), dtype, shape, name, casting)


def _join(values: Sequence[Any], dtype: np.dtype[Any], shape: _Shape, name: str,
          casting: Any) -> _Arrays:
    """Join arrays and lists; None is a missing value."""
    none: _Array = np.zeros((0, *shape[1:]), dtype)
    arrays = [none if value is None else _as_item(value, dtype, shape, name) for value in values]
    lengths = np.array([len(array) for array in arrays], np.int64)
    present = np.array([value is not None for value in values], np.bool_)
    mask = None if present.all() else present
    kinds = {(type(value), array.dtype) for value, array in zip(values, arrays)
             if value is not None}
    if len(kinds) == 1 and mask is None:    # they can be converted together
        return _joined(np.concatenate(arrays), lengths, None, dtype, shape, name, casting,
                       _is_typed(values[0], casting))
    cast = [array if value is None else
            _cast(array, dtype, _is_typed(value, casting), name, casting)
            for value, array in zip(values, arrays)]
    return _joined(np.concatenate([none, *cast]), lengths, mask, dtype, shape, name, casting)


def _joined(values: _Array, lengths: _Array, present: Optional[_Array], dtype: np.dtype[Any],
            shape: _Shape, name: str, casting: Any, typed: bool = True) -> _Arrays:
    """Return all items, of which each value has the number that `lengths` says."""
    _check_shape(values, shape, name, shape)
    array = _cast(values, dtype, typed, name, casting)
    size = array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
    return array, offsets_of(lengths * size), present


def offsets_of(sizes: _Array) -> _Array:
    """Return the offsets of values with these sizes in bytes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets.view(np.uint64)


def to_json(value: Any, name: str) -> bytes:
    """Return a value as JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False,
                          separators=(',', ':')).encode()
    except UnicodeEncodeError:
        raise ValueError(f'field {name!r}: a str contains surrogates, which UTF-8 does not allow'
                         ) from None
    except (TypeError, ValueError, RecursionError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f'field {name!r}: the value is not JSON: {error}') from None


def _count_axes(value: Any) -> Optional[int]:
    """Return the number of axes of an array, or of lists as deep as their first items; None if that
    does not tell a value of one record from a list of values."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.ndim if value.dtype.kind != 'O' else None
    if isinstance(value, (list, tuple)) and value:
        inner = _count_axes(value[0])
        return None if inner is None else 1 + inner
    return 0 if isinstance(value, _PLAIN) else None


def broadcast_record(value: Any, type_name: str, shape: _Shape, name: str, count: int,
                     casting: Any) -> Any:
    """Repeat the value of a single record `count` times; return any other value unchanged."""
    if type_name in BYTE_STRINGS:
        alone: Tuple[type, ...] = (bytes, bytearray, memoryview)
        if type_name == 'str':
            alone = (*alone, str)
        elif type_name == 'json':
            alone = (*alone, str, dict, bool, int, float)
        return [value] * count if isinstance(value, alone) else value
    value = to_array(value, f'field {name!r}')
    if _count_axes(value) != len(shape):
        return value
    array = convert_record(value, type_name, shape, name, casting)[0]
    if shape[:1] == (None,):
        repeated: List[_Array] = [array] * count
        return repeated
    return np.broadcast_to(array, (count, *shape))
