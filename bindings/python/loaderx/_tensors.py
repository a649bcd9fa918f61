# SPDX-License-Identifier: MIT
"""Conversion between NumPy arrays and torch tensors that share their memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._types import find_dtype, torch_name

__all__ = ['to_numpy', 'to_tensor']

# The types for which the two libraries do not exchange memory, and the integers that they exchange
# instead. The names are the same in both libraries.
_INTEGERS = {'bfloat16': 'int16', 'float8_e4m3fn': 'uint8', 'float8_e5m2': 'uint8',
             'float8_e4m3fnuz': 'uint8', 'float8_e5m2fnuz': 'uint8', 'float8_e8m0fnu': 'uint8'}


def to_tensor(array: np.ndarray[Any, Any]) -> Any:
    """Return a tensor that shares the memory of an array; raise TypeError if torch cannot.

    If a tensor of bytes owns the memory, and the array is contiguous, the result is a view of that
    tensor: torch then knows which copies use the memory.
    """
    import torch
    name = array.dtype.name
    integers = _INTEGERS.get(name)
    dtype = None if integers is None else getattr(torch, name, None)
    if integers is not None and dtype is None:
        raise TypeError(f'torch {torch.__version__} does not have the dtype {name}')
    made = torch.from_numpy(array if integers is None else array.view(integers))
    block = _block(array, made)
    if block is not None:
        return block.view(made.dtype if dtype is None else dtype).view(made.shape)
    return made if dtype is None else made.view(dtype)


def _block(array: np.ndarray[Any, Any], tensor: Any) -> Any:
    """Return the bytes of an array as a view of the tensor of bytes that owns them, or None."""
    base: Any = array.base
    owner = base.base if type(base) is np.ndarray else None
    torch = sys.modules['torch']
    if not (isinstance(owner, torch.Tensor) and owner.dtype is torch.uint8 and owner.dim() == 1
            and owner.is_contiguous() and array.flags.c_contiguous):
        return None
    start = tensor.data_ptr() - owner.data_ptr() if tensor.numel() else 0
    return None if start % array.itemsize else owner[start:start + array.nbytes]


def to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    """Return an array that shares the memory of a tensor; raise an error of torch if it cannot."""
    name = torch_name(tensor.dtype)
    integers = _INTEGERS.get(name)
    if integers is None:
        array: np.ndarray[Any, Any] = tensor.numpy()
        return array
    import torch
    array = tensor.view(getattr(torch, integers)).numpy()
    return array.view(find_dtype(name))
