# SPDX-License-Identifier: MIT
"""A version of torch's default_collate that is faster for arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils import data

from .. import _core
from ._worker_info import hidden

__all__ = ['default_collate', 'is_unmodified']

_torchs = data._utils.collate
# torch's collate functions, by type; users may change torch's map.
_KNOWN = dict(getattr(_torchs, 'default_collate_fn_map', {}))

# The NumPy scalar types whose dtypes torch supports.
_SCALARS = frozenset(np.dtype(name).type for name in (
    'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64',
    'complex64', 'complex128'))


def default_collate(batch: Any) -> Any:
    """Collate a list of items into one item of tensors, like torch's default_collate, but faster.

    The library collates ints, floats, and arrays of equal dtype and shape, including those in
    dicts, tuples and lists. torch collates everything else, and collates all items if its
    ``default_collate_fn_map`` was changed.

    Parameters
    ----------
    batch : list
        One or more items, all of the same kind.

    Examples
    --------
    >>> default_collate([(np.zeros(2), 3), (np.ones(2), 4)])
    [tensor([[0., 0.],
            [1., 1.]], dtype=torch.float64), tensor([3, 4])]
    """
    if not is_unmodified():
        return _collate_by_torch(batch)
    return _core.collate(batch, torch.from_numpy, _collate_by_torch)


def is_unmodified() -> bool:
    """Return whether torch's collate functions are unchanged."""
    return bool(_KNOWN == getattr(_torchs, 'default_collate_fn_map', {}))


def _collate_by_torch(batch: Any) -> Any:
    """Let torch collate, in memory that is not shared with other processes."""
    if type(batch) in (list, tuple) and batch:
        kind = type(batch[0])
        if kind in _SCALARS and is_unmodified() and set(map(type, batch)) == {kind}:
            return torch.from_numpy(np.array(batch, kind))
    with hidden():
        return data.default_collate(batch)
