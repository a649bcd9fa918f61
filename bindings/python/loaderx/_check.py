# SPDX-License-Identifier: MIT
"""Checks of arguments: what is wrong is an error that names the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

UINT64_MAX = 2**64 - 1


def natural(name: str, value: Any, least: int = 0, most: int = UINT64_MAX) -> int:
    """`value` as an int, if it is an integer from `least` to `most`."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f'{name} must be an int, not bool')
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'{name} must be an int, not {type(value).__name__}') from None
    if not least <= number <= most:
        raise ValueError(f'{name} must be from {least} to {most}, not {number}')
    return number


def boolean(name: str, value: Any) -> bool:
    """`value` as a bool, if it is one."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f'{name} must be True or False, not {value!r}')
