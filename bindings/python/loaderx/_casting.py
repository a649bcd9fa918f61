# SPDX-License-Identifier: MIT
"""Conversion of the stored values of a field to a different type."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import numpy as np

from ._types import BYTE_STRINGS, find_dtype
from .field import Field
from .values import offsets_of

__all__ = ['Converter', 'converter']

# Converts the bytes of values, their offsets and the mask of the present values; values of a fixed
# length have offsets, too.
Converter = Callable[[Any, Any, Any], Tuple[Any, Any, Any]]

# Casting rules, each of which allows more than the preceding ones. The content of a text is checked
# when it is written, so a conversion to a text can fail, as one of 'same_kind' can.
_RULES = ('safe', 'same_kind', 'unsafe')


def converter(name: str, before: Field, after: Field, casting: str) -> Converter:
    """Return the function that converts the values of a field; raise TypeError if `casting` does
    not allow the conversion."""
    if casting not in _RULES:
        raise ValueError(f'casting must be one of {", ".join(map(repr, _RULES))}, not {casting!r}')
    old, new = before._type, after._type
    if _rule(before, after) > _RULES.index(casting):
        raise TypeError(f'field {name!r} cannot be converted from {before!r} to {after!r} with '
                        f'casting={casting!r}')
    if old in BYTE_STRINGS or new in BYTE_STRINGS:
        return lambda data, offsets, present: (data, offsets, present)
    return _Arrays(name, before, after)


def _rule(before: Field, after: Field) -> int:
    """Return the position of the first casting rule that allows a conversion."""
    old, new = before._type, after._type
    if old in BYTE_STRINGS and new in BYTE_STRINGS:
        return 0 if new in (old, 'bytes') or (old, new) == ('json', 'str') else 1
    if old in BYTE_STRINGS or new in BYTE_STRINGS:
        return 2    # the bytes of the elements
    dtypes = find_dtype(old), find_dtype(new)
    return next(i for i, rule in enumerate(_RULES)
                if rule == 'unsafe' or np.can_cast(*dtypes, rule))    # type: ignore[arg-type]


class _Arrays:
    """Converts arrays."""

    def __init__(self, name: str, before: Field, after: Field) -> None:
        self._name = name
        self._dtypes = find_dtype(before._type), find_dtype(after._type)
        self._shapes = before.shape, after.shape
        self._sizes = _item_size(before), _item_size(after)

    def __call__(self, data: Any, offsets: Any, present: Any) -> Tuple[Any, Any, Any]:
        starts = np.frombuffer(offsets, np.uint64)
        lengths = np.diff(starts.astype(np.int64)) // self._dtypes[0].itemsize
        mask = np.ones(len(lengths), np.bool_) if present is None else np.frombuffer(
            present, np.bool_)
        self._check(lengths[mask])
        with np.errstate(all='ignore'):
            array = np.frombuffer(data, self._dtypes[0]).astype(self._dtypes[1])
        if self._shapes[1][:1] == (None,):
            return array, offsets_of(lengths * array.itemsize), present
        return _with_gaps(array, mask, self._sizes[1]), None, present

    def _check(self, lengths: np.ndarray[Any, Any]) -> None:
        """Raise ValueError if the elements of a value do not form one of the new shape."""
        size, shape = self._sizes[1], self._shapes[1]
        wrong = lengths % size if shape[:1] == (None,) else lengths - size
        for length in lengths[wrong != 0][:1]:
            raise ValueError(f'field {self._name!r}: a value has {length} elements, which do not '
                             f'form a value of shape {shape}')


def _item_size(field: Field) -> int:
    """Return the number of elements of a value or, if it varies in length, of an item."""
    return int(np.prod([extent for extent in field.shape if extent is not None], dtype=np.int64))


def _with_gaps(array: np.ndarray[Any, Any], mask: np.ndarray[Any, Any],
               size: int) -> np.ndarray[Any, Any]:
    """Return rows of `size` elements, with zeros for the missing values."""
    if mask.all():
        return array
    made = np.zeros((len(mask), size), array.dtype)
    made[mask] = array.reshape(-1, size)
    return made
