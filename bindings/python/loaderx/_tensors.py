# SPDX-License-Identifier: MIT
"""Conversion between NumPy arrays and torch tensors that share their memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._types import find_dtype, torch_name

__all__ = ['to_numpy', 'to_tensor']

# The types for which the two libraries do not exchange memory, and the integers that they exchange
# instead. The names are the same in both libraries.
_INTEGERS = {'bfloat16': 'int16', 'float8_e4m3fn': 'uint8', 'float8_e5m2': 'uint8',
             'float8_e4m3fnuz': 'uint8', 'float8_e5m2fnuz': 'uint8', 'float8_e8m0fnu': 'uint8'}


def to_tensor(array: np.ndarray[Any, Any]) -> Any:
    """Return a tensor that shares the memory of an array; raise TypeError if torch cannot."""
    import torch
    name = array.dtype.name
    integers = _INTEGERS.get(name)
    if integers is None:
        return torch.from_numpy(array)
    dtype = getattr(torch, name, None)
    if dtype is None:
        raise TypeError(f'torch {torch.__version__} does not have the dtype {name}')
    return torch.from_numpy(array.view(integers)).view(dtype)


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
