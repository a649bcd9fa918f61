# SPDX-License-Identifier: MIT
"""torch's collation, faster for arrays and numbers."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Optional

import numpy as np
import torch
from torch.utils import data

from . import _core
from ._torch_worker_info import hidden

__all__ = ['default_collate']

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
    if _KNOWN == getattr(_torchs, 'default_collate_fn_map', {}):
        return _collate(batch)
    return _leave(batch)


def _collate(batch: Any) -> Any:
    if type(batch) not in (list, tuple) or not batch:
        return _leave(batch)
    first = batch[0]
    kind = type(first)
    made: Optional[Any] = None
    if kind is np.ndarray:
        made = _stack(batch, first)
    elif kind is int or kind is float:
        made = np.empty(len(batch), np.int64 if kind is int else np.float64)
        if not _core.collate_numbers(batch, kind is int, made):
            made = None
    elif kind in _SCALARS and set(map(type, batch)) == {kind}:
        made = np.array(batch, kind)
    elif kind is dict:
        return {key: _collate(list(map(itemgetter(key), batch))) for key in first}
    elif (kind is tuple or kind is list) and set(map(len, batch)) == {len(first)}:
        return [_collate(column) for column in zip(*batch)]
    return _leave(batch) if made is None else torch.from_numpy(made)


def _stack(batch: Any, first: np.ndarray[Any, Any]) -> Optional[np.ndarray[Any, Any]]:
    """Arrays of one dtype and shape as one; None where they are no such."""
    if first.dtype.kind not in 'biufc' or not first.dtype.isnative:
        return None
    made = np.empty((len(batch), *first.shape), first.dtype)
    return made if _core.collate_arrays(batch, made) else None


def _leave(batch: Any) -> Any:
    """What torch makes of it, in memory that is not shared with processes."""
    with hidden():
        return data._utils.collate.default_collate(batch)
