# SPDX-License-Identifier: MIT
"""The collation of torch, faster for arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils import data

from .. import _core
from ._worker_info import hidden

__all__ = ['default_collate', 'is_torchs']

_torchs = data._utils.collate
# The rules of torch by type, which its users may change.
_KNOWN = dict(getattr(_torchs, 'default_collate_fn_map', {}))

# The dtypes of NumPy that torch has.
_SCALARS = frozenset(np.dtype(name).type for name in (
    'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64',
    'complex64', 'complex128'))


def default_collate(batch: Any) -> Any:
    """Collate a list of items to one item of tensors: a faster default_collate of torch.

    The library collates arrays of one dtype and shape, ints and floats, also in dicts, tuples and
    lists. All else is left to torch, and so is everything if its ``default_collate_fn_map`` was
    changed.

    Parameters
    ----------
    batch : list
        At least one item, all of one kind.

    Examples
    --------
    >>> default_collate([(np.zeros(2), 3), (np.ones(2), 4)])
    [tensor([[0., 0.],
            [1., 1.]], dtype=torch.float64), tensor([3, 4])]
    """
    if not is_torchs():
        return _leave(batch)
    return _core.collate(batch, torch.from_numpy, _leave)


def is_torchs() -> bool:
    """Whether the rules of torch are unchanged."""
    return bool(_KNOWN == getattr(_torchs, 'default_collate_fn_map', {}))


def _leave(batch: Any) -> Any:
    """Collate by torch, in memory that is not shared with processes."""
    if type(batch) in (list, tuple) and batch:
        kind = type(batch[0])
        if kind in _SCALARS and is_torchs() and set(map(type, batch)) == {kind}:
            return torch.from_numpy(np.array(batch, kind))
    with hidden():
        return data._utils.collate.default_collate(batch)
