# SPDX-License-Identifier: MIT
"""What stands for missing values in arrays: the argument `missing`."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union, cast

import numpy as np

from .field import Field
from .values import convert_record

__all__ = ['missing_rules', 'read_filled']

_POLICIES = ('raise', 'zeros', 'mask')

# The name of a field, and its policy or the bytes of the value that replaces missing values.
Rule = Tuple[str, Union[str, bytes]]
Columns = Mapping[str, Tuple[np.dtype[Any], Tuple[int, ...]]]


def _rule(name: str, what: Any, dtype: np.dtype[Any], shape: Tuple[int, ...]) -> Rule:
    if isinstance(what, str):
        if what not in _POLICIES:
            raise ValueError(f'missing: {what!r} for the field {name!r} is not one of '
                             f'{", ".join(map(repr, _POLICIES))}; any other value must be a number '
                             'or an array')
        return name, what
    if what is None:
        raise TypeError(f'missing: None for the field {name!r} is not one of '
                        f'{", ".join(map(repr, _POLICIES))}, a number or an array')
    try:
        plain = what.item() if isinstance(what, np.generic) else what
        value = convert_record(plain, dtype.name, () if np.ndim(what) == 0 else shape, name)[0]
    except (TypeError, ValueError) as error:
        raise type(error)(f'missing: {error}') from None
    return name, np.broadcast_to(value, shape).tobytes()


def _varying_rule(name: str, what: Any) -> Rule:
    if not isinstance(what, str):
        raise ValueError(f'missing: a value cannot replace missing ones in {name!r}, whose records '
                         "vary in length: use 'mask' or 'zeros', with which they are empty")
    return _rule(name, what, np.dtype(np.uint8), ())


def missing_rules(missing: Any, columns: Columns, varying: Sequence[str]) -> Tuple[Rule, ...]:
    """Convert the argument `missing` to a rule for each field.

    It applies to `columns`, and to the fields `varying`, whose records vary in length.
    """
    names = [*columns, *varying]
    if not isinstance(missing, Mapping):
        chosen: Dict[str, Any] = dict.fromkeys(names, missing)
    else:
        chosen = dict(missing)
    for name in chosen:
        if name not in names:
            raise ValueError(f'missing: {name!r} is not a field to which it applies: '
                             f'it applies to {_listed(names)}')
    return tuple(_rule(name, what, *columns[name]) if name in columns else _varying_rule(name, what)
                 for name, what in chosen.items())


def _listed(names: Sequence[str]) -> str:
    return ', '.join(map(repr, names)) or 'no fields'


def read_filled(read: Callable[[Any], Dict[str, Any]], missing: Any, dataset: Any,
                names: Optional[Iterable[Any]]) -> Dict[str, Any]:
    """Return the columns that `read` returns, with `missing` in place of missing values.

    `names` are the fields of the dataset that it reads, or None for all; lists, of values that vary
    in length, remain as they are. The argument of `read` is the `lacking` of
    ``_core.Dataset._gather``.
    """
    if isinstance(missing, str) and missing in ('raise', 'zeros'):
        return read({} if missing == 'raise' else None)
    fields: Mapping[str, Field] = dataset.fields
    chosen = {name: fields[name] for name in (fields if names is None else names)
              if name in fields and not fields[name].varies}
    rules = missing_rules(missing, {name: (np.dtype(field.dtype), cast(Any, field.shape))
                                    for name, field in chosen.items()}, ())
    lacking: Dict[str, Any] = {name: None for name, what in rules if what != 'raise'}
    columns = read(lacking)
    for name, what in rules:
        present = lacking.get(name)
        if what == 'mask':
            mask = np.zeros(np.shape(columns[name]), np.bool_)
            mask[slice(0) if present is None else ~present] = True
            columns[name] = np.ma.MaskedArray(columns[name], mask)
        elif isinstance(what, bytes) and present is not None:
            array = np.asarray(columns[name])    # a buffer of the caller is filled in place
            array[~present] = np.frombuffer(what, array.dtype).reshape(array.shape[1:])
    return columns
