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
    try:
        value = convert_record(what, dtype, () if np.ndim(what) == 0 else shape, name)[0]
    except (TypeError, ValueError) as error:
        raise type(error)(f'missing: {error}') from None
    return name, np.broadcast_to(value, shape).tobytes()


def missing_rules(missing: Any, columns: Columns) -> Tuple[Rule, ...]:
    """Convert the argument `missing` of a loader that reads `columns` to a rule for each field."""
    if not isinstance(missing, Mapping):
        chosen: Dict[str, Any] = dict.fromkeys(columns, missing)
    else:
        chosen = dict(missing)
    for name in chosen:
        if name not in columns:
            raise ValueError(f'missing: {name!r} is not a field that the loader reads: '
                             f'it reads {_listed(list(columns))}')
    return tuple(_rule(name, what, *columns[name]) for name, what in chosen.items())


def _listed(names: Sequence[str]) -> str:
    return ', '.join(map(repr, names)) or 'no fields'
