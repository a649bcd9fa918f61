# SPDX-License-Identifier: MIT
"""The names of the array types that a loader can return."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable, Mapping, Union

import numpy as np

from ._outputs import Output, convert_arrays
from ._tensors import to_tensor

__all__ = ['choose_output']


class _Tensors(Output):
    """Output as PyTorch tensors that share the memory of the NumPy arrays."""

    def __init__(self) -> None:
        try:
            import_module('torch')
        except ModuleNotFoundError as error:
            if error.name != 'torch':
                raise
            raise ImportError("out='torch' needs PyTorch: install torch",
                              name='torch') from None

    def check_dtype(self, name: str, dtype: np.dtype[Any]) -> None:
        try:
            to_tensor(np.empty(0, dtype))
        except TypeError:
            raise ValueError(
                f"out='torch': the installed torch does not support {dtype}, the dtype of "
                f'{name!r}: choose other fields, or convert this field in a transform'
            ) from None

    def convert(self, batch: Any) -> Any:
        return convert_arrays(batch, to_tensor)


def _arrays_of_jax() -> Output:
    from ._jax_arrays import Arrays    # imported here because JAX may not be installed
    return Arrays()


_MAKERS: Mapping[str, Callable[[], Output]] = {'numpy': Output, 'torch': _Tensors,
                                               'jax': _arrays_of_jax}


def choose_output(out: Union[str, Output]) -> Output:
    """Return the output named `out`, or `out` itself if it is an `Output`."""
    if isinstance(out, Output):
        return out
    if not isinstance(out, str):
        raise TypeError(f'out must be a str, not {type(out).__name__}')
    if out not in _MAKERS:
        names = ', '.join(repr(name) for name in _MAKERS)
        raise ValueError(f'out must be one of {names}, not {out!r}')
    return _MAKERS[out]()
