# SPDX-License-Identifier: MIT
"""The names of the array types that a loader can return."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable, Mapping, Union

import numpy as np

from ._check import boolean
from ._outputs import Output, convert_arrays
from ._pinning import pinned_allocator, pins
from ._tensors import to_tensor

__all__ = ['choose_output']


class _Tensors(Output):
    """Output as PyTorch tensors that share the memory of the NumPy arrays.

    With `pin`, they are in pinned memory.
    """

    is_light = True

    def __init__(self, pin: bool) -> None:
        try:
            import_module('torch')
        except ModuleNotFoundError as error:
            if error.name != 'torch':
                raise
            raise ImportError("out='torch' needs PyTorch: install torch",
                              name='torch') from None
        if pin and pins():
            self.allocate = pinned_allocator()

    def check_dtype(self, name: str, dtype: np.dtype[Any]) -> None:
        try:
            to_tensor(np.empty(0, dtype))
        except TypeError:
            raise ValueError(
                f"out='torch': the installed torch does not support {dtype}, the dtype of "
                f'{name!r}: choose other fields, or convert this field in a transform'
            ) from None

    def convert(self, batch: Any) -> Any:
        return convert_arrays(batch, _to_plain if self.allocate is None else _to_pinned)


def _to_plain(array: np.ndarray[Any, Any], _: str) -> Any:
    return to_tensor(array)


def _to_pinned(array: np.ndarray[Any, Any], _: str) -> Any:
    """Return a pinned tensor: without a copy, except of arrays that a transform has made."""
    return to_tensor(array).pin_memory()


def _arrays_of_jax() -> Output:
    from ._jax_arrays import Arrays    # imported here because JAX may not be installed
    return Arrays()


_MAKERS: Mapping[str, Callable[[], Output]] = {'numpy': Output, 'jax': _arrays_of_jax}


def choose_output(out: Union[str, Output], pin_memory: bool) -> Output:
    """Return the output named `out`, or `out` itself if it is an `Output`."""
    if boolean('pin_memory', pin_memory) and out != 'torch':
        raise ValueError("pin_memory=True needs out='torch', whose allocator owns the memory")
    if isinstance(out, Output):
        return out
    if not isinstance(out, str):
        raise TypeError(f'out must be a str, not {type(out).__name__}')
    if out == 'torch':
        return _Tensors(pin_memory)
    if out not in _MAKERS:
        raise ValueError(f"out must be one of 'numpy', 'torch', 'jax', not {out!r}")
    return _MAKERS[out]()
