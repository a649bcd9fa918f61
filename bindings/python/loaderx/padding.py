# SPDX-License-Identifier: MIT
"""Padding of values that vary in length."""

from __future__ import annotations

from typing import Any, Iterable, Optional, Tuple

import numpy as np

from . import _core
from ._check import boolean, natural
from .ragged import Ragged

__all__ = ['Pad']

_SIDES = ('right', 'left')


class Pad:
    """How a loader pads the values of a field to a common length.

    Parameters
    ----------
    value : number
        The item to pad with.
    side : {'right', 'left'}
        Where to put the padding: after the values, or before them.
    multiple : int
        The common length is the smallest multiple of this number that fits the longest value.
    lengths : list of int, optional
        The common length is the smallest of these that fits the longest value, so that batches have
        few different shapes, as compilers such as torch.compile and XLA prefer. A longer value is
        an error. Must not be given with `multiple`.
    mask : bool
        Whether the batch has a mask: an array of bool, under the name of the field followed by
        ``_mask``, which is True for the items of the values.

    Examples
    --------
    >>> ragged = Ragged.of([[1, 2, 3], [4]], dtype=np.int32)
    >>> Pad(-1, multiple=4)(ragged)
    array([[ 1,  2,  3, -1],
           [ 4, -1, -1, -1]], dtype=int32)
    """

    __slots__ = ('value', 'side', 'multiple', 'lengths', 'mask')

    def __init__(self, value: Any = 0, *, side: str = 'right', multiple: int = 1,
                 lengths: Optional[Iterable[int]] = None, mask: bool = False) -> None:
        if side not in _SIDES:
            raise ValueError(f"side must be 'right' or 'left', not {side!r}")
        self.value = value
        self.side = side
        self.multiple = natural('multiple', multiple, minimum=1)
        self.lengths = None if lengths is None else sorted(
            natural('a length', length) for length in lengths)
        if self.lengths is not None and not self.lengths:
            raise ValueError('lengths must contain at least one length')
        if self.lengths is not None and multiple != 1:
            raise ValueError('lengths and multiple are mutually exclusive: pass only one of them')
        self.mask = boolean('mask', mask)

    def __repr__(self) -> str:
        parts = [repr(self.value)]
        if self.side != 'right':
            parts.append(f'side={self.side!r}')
        if self.multiple != 1:
            parts.append(f'multiple={self.multiple}')
        if self.lengths is not None:
            parts.append(f'lengths={self.lengths}')
        if self.mask:
            parts.append('mask=True')
        return f'Pad({", ".join(parts)})'

    def length_for(self, longest: int) -> int:
        """Return the common length of values of which the longest has this length."""
        if self.lengths is None:
            return -(-longest // self.multiple) * self.multiple
        for length in self.lengths:
            if length >= longest:
                return length
        raise ValueError(f'a value has the length {longest}, which exceeds the greatest of '
                         f'lengths, {self.lengths[-1]}: add a greater one, or truncate the values')

    def __call__(self, ragged: Ragged) -> np.ndarray[Any, Any]:
        """Return the padded values, an array of shape (records, length, ...)."""
        return self.with_mask(ragged)[0]

    def with_mask(self, ragged: Ragged) -> Tuple[np.ndarray[Any, Any],
                                                 Optional[np.ndarray[Any, Any]]]:
        """Return the padded values, and the mask if `mask` is set."""
        values = np.ascontiguousarray(ragged.values)
        offsets = np.ascontiguousarray(ragged.offsets, np.int64)
        longest = int(np.diff(offsets).max()) if len(offsets) > 1 else 0
        shape = (len(offsets) - 1, self.length_for(longest))
        padded = np.empty(shape + values.shape[1:], values.dtype)
        mask = np.empty(shape, np.bool_) if self.mask else None
        item = np.empty(values.shape[1:], values.dtype)
        item[...] = _checked(self.value, values.dtype)
        _core.pad(values, offsets, item, self.side == 'left', padded, mask)
        return padded, mask


def _checked(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the value as the dtype; raise if it is not representable."""
    array = np.asarray(value)
    with np.errstate(all='ignore'):
        item = array.astype(dtype)
    same = item == array if item.dtype.kind != 'f' else np.isclose(item, array, equal_nan=True)
    if array.ndim != 0 or not same:
        raise ValueError(f'value {value!r} cannot be stored as {dtype}')
    return item
