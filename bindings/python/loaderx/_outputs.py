# SPDX-License-Identifier: MIT
"""What kind of arrays a loader hands out."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

__all__ = ['Output', 'choose_output', 'convert_arrays']

_Transform = Callable[[Dict[str, Any]], Any]
# Of records, by field.
Shapes = Mapping[str, Tuple[np.dtype[Any], Tuple[int, ...]]]
# How many records a batch has: of this rank, and of all.
Sizes = Sequence[Tuple[int, int]]


class Output:
    """The last step of a batch, on the thread that prepared it."""

    def check(self, shapes: Shapes, sizes: Sizes) -> None:
        """Refuse fields, and sizes of batches, that cannot be handed out so.

        Not called where a transform makes the batches.
        """

    def convert(self, batch: Any) -> Any:
        """Make of a batch what is handed out."""
        return batch

    def after(self, transform: Optional[_Transform]) -> Optional[_Transform]:
        """What is done with a batch that was read: a transform, and then this."""
        if type(self) is Output:
            return transform
        if transform is None:
            return self.convert
        made = transform
        return lambda batch: self.convert(made(batch))


def convert_arrays(batch: Any, convert: Callable[[np.ndarray[Any, Any]], Any]) -> Any:
    """Convert the arrays of dicts, lists and tuples, and leave all else as it is.

    So are ``batch['keys']``, which are for NumPy's generators and wider than others have integers.
    """
    if isinstance(batch, np.ndarray):
        return convert(batch)
    if type(batch) is dict:
        return {name: value if name == 'keys' else convert_arrays(value, convert)
                for name, value in batch.items()}
    if type(batch) in (list, tuple):
        return type(batch)(convert_arrays(value, convert) for value in batch)
    return batch


class _Tensors(Output):
    """Tensors over the memory of the arrays."""

    def __init__(self) -> None:
        try:
            import torch
        except ModuleNotFoundError as error:
            if error.name != 'torch':
                raise
            raise ImportError("out='torch' needs PyTorch, and there is no module torch",
                              name='torch') from None
        self._from_numpy: Callable[[np.ndarray[Any, Any]], Any] = torch.from_numpy

    def check(self, shapes: Shapes, sizes: Sizes) -> None:
        for name, (dtype, _) in shapes.items():
            try:
                self._from_numpy(np.empty(0, dtype))
            except TypeError:
                raise ValueError(
                    f"out='torch': the torch that is installed has no {dtype}, which {name!r} is: "
                    'choose fields without it, or convert it in a transform'
                ) from None

    def convert(self, batch: Any) -> Any:
        return convert_arrays(batch, self._from_numpy)


def _arrays_of_jax() -> Output:
    from .jax import Arrays
    return Arrays()


_MAKERS: Mapping[str, Callable[[], Output]] = {'numpy': Output, 'torch': _Tensors,
                                               'jax': _arrays_of_jax}


def choose_output(out: Union[str, Output]) -> Output:
    """The output of that name."""
    if isinstance(out, Output):
        return out
    if not isinstance(out, str):
        raise TypeError(f'out must be a str, not {type(out).__name__}')
    if out not in _MAKERS:
        names = ', '.join(repr(name) for name in _MAKERS)
        raise ValueError(f'out must be one of {names}, not {out!r}')
    return _MAKERS[out]()
