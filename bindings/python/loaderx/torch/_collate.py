# SPDX-License-Identifier: MIT
"""torch's collation, faster for arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils import data

from .. import _core
from ._worker_info import hidden

__all__ = ['default_collate', 'is_torchs']

_torchs = data._utils.collate
# What torch does for each type, which its users may change.
_KNOWN = dict(getattr(_torchs, 'default_collate_fn_map', {}))

# NumPy's, of which torch has tensors.
_SCALARS = frozenset(np.dtype(name).type for name in (
    'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64',
    'complex64', 'complex128'))


def default_collate(batch: Any) -> Any:
    """Make one item of tensors of a list of items: torch's default_collate, faster.

    Arrays of one dtype and shape, ints and floats, in dicts, tuples and lists of them, are made one
    tensor by the library; all else is torch's to do, and so is all where its
    ``default_collate_fn_map`` was changed.

    Parameters
    ----------
    batch : list
        Items of one kind, one at least.

    Examples
    --------
    >>> default_collate([(np.zeros((28, 28)), 3), (np.ones((28, 28)), 4)])
    """
    if not is_torchs():
        return _leave(batch)
    return _core.collate(batch, torch.from_numpy, _leave)


def is_torchs() -> bool:
    """Whether torch's rules are those that it came with."""
    return bool(_KNOWN == getattr(_torchs, 'default_collate_fn_map', {}))


def _leave(batch: Any) -> Any:
    """What torch makes of it, in memory that is not shared with processes."""
    if type(batch) in (list, tuple) and batch:
        kind = type(batch[0])
        if kind in _SCALARS and is_torchs() and set(map(type, batch)) == {kind}:
            return torch.from_numpy(np.array(batch, kind))
    with hidden():
        return data._utils.collate.default_collate(batch)
