# SPDX-License-Identifier: MIT
"""Conversion of the stored values of a field to a different type."""

from __future__ import annotations

from typing import Any, Callable, Tuple

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
    if new in BYTE_STRINGS:
        return lambda data, offsets, present: (data, offsets, present)
    return _Arrays(name, Field(new, (None,)) if old in BYTE_STRINGS else before, after)


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
        self._before, self._after = before, after

    def __call__(self, data: bytes, offsets: bytes, present: bytes) -> Tuple[Any, Any, Any]:
        old, new = self._dtypes
        sizes = np.diff(np.frombuffer(offsets, np.int64))
        mask = np.frombuffer(present, np.bool_)
        self._check(sizes[mask])
        with np.errstate(all='ignore'):
            array: Any = np.frombuffer(data, old).astype(new)
        if self._after.varies:
            return array, offsets_of(sizes // old.itemsize * new.itemsize), present
        if self._before.varies and not mask.all():    # missing values have no elements
            some = array
            array = np.zeros((len(mask), _item_size(self._after)), new)
            array[mask] = some.reshape(-1, array.shape[1])
        return array, None, present

    def _check(self, sizes: np.ndarray[Any, Any]) -> None:
        """Raise ValueError if a value cannot have the new shape; the sizes are in bytes."""
        size = _item_size(self._after) * self._dtypes[0].itemsize
        wrong = sizes % size if self._after.varies else sizes - size
        for found in sizes[wrong != 0][:1]:
            raise ValueError(f'field {self._name!r}: a value of {found} bytes does not form an '
                             f'array of the shape {self._after.shape}, whose '
                             f'{"items" if self._after.varies else "values"} have {size} bytes')


def _item_size(field: Field) -> int:
    """Return the number of elements of a value or, if it varies in length, of an item."""
    return int(np.prod([extent for extent in field.shape if extent is not None], dtype=np.int64))
