# SPDX-License-Identifier: MIT
"""Conversion of the caller's values to the stored form; loss of information raises an error.

The extension module calls these functions for values whose memory layout does not match the field.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ._tables import to_array

# Dtype kinds; each kind can represent the numbers of the preceding kinds.
_KINDS = 'biufc'


def _as_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f'field {name!r} must not be a masked array: pass a list, with None for '
                        f'missing values')
    try:
        array = np.asarray(to_array(value, f'field {name!r}'))
    except ValueError as error:
        raise ValueError(f'field {name!r}: {error}') from None
    if array.dtype.kind not in _KINDS:
        if array.dtype.kind == 'O' and array.size and all(isinstance(x, int) for x in array.flat):
            raise ValueError(f'field {name!r}: an integer does not fit in 64 bits')
        raise TypeError(f'field {name!r} must contain numbers, not {array.dtype.name} '
                        f'(a {type(value).__name__})')
    return array


def _is_typed(value: Any, casting: Any) -> bool:
    """Return whether the value has a dtype, unlike a plain Python number or list.

    A NumPy float64 is also a Python float, and is treated like one unless there is a casting rule.
    """
    if casting is not None and isinstance(value, np.generic):
        return True
    return not isinstance(value, (bool, int, float, complex, list, tuple, range))


def _check_integers(array: np.ndarray[Any, Any], dtype: np.dtype[Any], name: str) -> None:
    limits = np.iinfo(dtype)
    for bound in (int(array.min()), int(array.max())):
        if not limits.min <= bound <= limits.max:
            raise ValueError(f'field {name!r}: {bound} does not fit in {dtype.name}')


def _cast(array: np.ndarray[Any, Any], dtype: np.dtype[Any], typed: bool, name: str,
          casting: Any) -> np.ndarray[Any, Any]:
    """Convert the array to a C-contiguous array with the dtype `dtype`."""
    if casting == 'unsafe' or (casting is not None and typed):
        # Only dtypes count. Before NumPy 2, astype() also looked at the value of a scalar.
        if not np.can_cast(array.dtype, dtype, casting):
            raise TypeError(f'field {name!r}: {array.dtype.name} cannot be converted to '
                            f'{dtype.name} with casting={casting!r}')
        return array.astype(dtype, order='C', copy=False)
    source, target = array.dtype.kind, dtype.kind
    if np.can_cast(array.dtype, dtype, 'safe') or (array.size == 0 and not typed):
        return array.astype(dtype, order='C', copy=False)
    if typed:
        raise TypeError(f'field {name!r}: {array.dtype.name} cannot always be converted to '
                        f'{dtype.name} without loss: use astype(), or the argument casting of '
                        'append() and extend()')
    if target == 'b' or (source in 'fc' and _KINDS.index(source) > _KINDS.index(target)):
        raise TypeError(f'field {name!r}: {array.dtype.name} cannot be converted to {dtype.name}')
    if target in 'iu':
        _check_integers(array, dtype, name)
        return array.astype(dtype, order='C')
    with np.errstate(over='ignore'):
        result = array.astype(dtype, order='C')
    if bool(np.any(np.isfinite(array) & ~np.isfinite(result))):
        raise ValueError(f'field {name!r}: a number is too large for {dtype.name}')
    return result


def convert_record(value: Any, dtype: np.dtype[Any], shape: Tuple[int, ...], name: str,
                   casting: Any = None) -> Tuple[np.ndarray[Any, Any], None]:
    """Convert the value of one record to an array of `shape` with the field's dtype."""
    array = _as_array(value, name)
    if array.shape != shape:
        raise ValueError(f'field {name!r} must have records of shape {shape}, not {array.shape}')
    return _cast(array, dtype, _is_typed(value, casting), name, casting), None


def convert_column(value: Any, dtype: np.dtype[Any], shape: Tuple[int, ...], name: str,
                   casting: Any = None
                   ) -> Tuple[np.ndarray[Any, Any], Optional[np.ndarray[Any, Any]]]:
    """Return an array with a row of `shape` for each value, and a mask of the present values.

    The mask is None if all values are present.
    """
    if isinstance(value, (list, tuple)) and any(item is None for item in value):
        return _convert_with_missing(value, dtype, shape, name, casting)
    array = _as_array(value, name)
    if array.ndim == 0:
        raise TypeError(f'field {name!r} must have one value for each record, not a '
                        f'{type(value).__name__}')
    if array.size == 0 and array.shape == (0,):
        array = array.reshape(0, *shape)
    if array.shape[1:] != shape:
        raise ValueError(f'field {name!r} must have records of shape {shape}, not '
                         f'{array.shape[1:]}')
    return _cast(array, dtype, _is_typed(value, casting), name, casting), None


def _convert_with_missing(
        values: Any, dtype: np.dtype[Any], shape: Tuple[int, ...], name: str,
        casting: Any) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    present = np.fromiter((item is not None for item in values), np.bool_, len(values))
    array = np.zeros((len(values), *shape), dtype)
    found = [item for item in values if item is not None]
    if found:
        array[present] = convert_column(found, dtype, shape, name, casting)[0]
    return array, present


def broadcast_record(value: Any, dtype: Optional[np.dtype[Any]], shape: Tuple[int, ...], name: str,
                     count: int) -> Any:
    """Repeat the value of a single record `count` times; return any other value unchanged.

    A `dtype` of None stands for a bytes field.
    """
    if dtype is None:
        return [value] * count if isinstance(value, (bytes, bytearray, memoryview)) else value
    if isinstance(value, (np.generic, np.ndarray)):
        alone = value.ndim == len(shape)
    else:
        alone = shape == () and isinstance(value, (bool, int, float, complex))
    if not alone:
        return value
    return np.broadcast_to(convert_record(value, dtype, shape, name)[0], (count, *shape))
