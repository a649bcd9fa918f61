# SPDX-License-Identifier: MIT
"""What a loader does with missing values."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence, Tuple, Union

import numpy as np

from .values import convert_record

__all__ = ['missing_rules']

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
    """Convert the argument `missing` of a loader to a rule for each field.

    The loader reads `columns`, and the fields `varying`, whose records vary in length.
    """
    names = [*columns, *varying]
    if not isinstance(missing, Mapping):
        chosen: Dict[str, Any] = dict.fromkeys(names, missing)
    else:
        chosen = dict(missing)
    for name in chosen:
        if name not in names:
            raise ValueError(f'missing: {name!r} is not a field that the loader reads: '
                             f'it reads {_listed(names)}')
    return tuple(_rule(name, what, *columns[name]) if name in columns else _varying_rule(name, what)
                 for name, what in chosen.items())


def _listed(names: Sequence[str]) -> str:
    return ', '.join(map(repr, names)) or 'no fields'
