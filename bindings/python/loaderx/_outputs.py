# SPDX-License-Identifier: MIT
"""Conversion of batches to the array type that a loader returns."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from .batch import Batch
from .ragged import Ragged

__all__ = ['Output', 'convert_arrays']

_Transform = Callable[[Batch], Any]
# The dtype and shape of each field, by name.
Shapes = Mapping[str, Tuple[np.dtype[Any], Tuple[int, ...]]]
# Pairs of batch sizes: the size on this rank, and the total size over all ranks.
Sizes = Sequence[Tuple[int, int]]


class Output:
    """The last step in preparing a batch; it runs on the thread that prepares the batch.

    If `is_light`, and there is no transform, it runs on the thread that requests the batch. This is
    faster, because the threads of the loader then do not need the GIL.
    """

    is_light = False

    # Allocates the memory of batches: returns a tensor of so many bytes. None: the library does.
    allocate: Optional[Callable[[int], Any]] = None

    def check_dtype(self, name: str, dtype: np.dtype[Any]) -> None:
        """Raise an error if arrays of a field's dtype cannot be converted.

        The loader does not call this method if it has a transform.
        """

    def check(self, shapes: Shapes, sizes: Sizes) -> None:
        """Raise an error if batches with these fields and sizes cannot be converted.

        The loader does not call this method if it has a transform.
        """

    def check_varying(self, name: str, form: Any) -> None:
        """Raise an error if a field whose records vary in length cannot be converted.

        `form` is the form in which the loader returns the field; see `choose_forms`.
        """

    def convert(self, batch: Any) -> Any:
        """Convert a batch to the form that the loader returns."""
        return batch

    def after(self, transform: Optional[_Transform]) -> Optional[_Transform]:
        """Return a function that transforms and converts a batch; None if it would do nothing."""
        if type(self) is Output:
            return transform
        if transform is None:
            return self.convert
        made = transform
        return lambda batch: self.convert(made(batch))


def convert_arrays(batch: Any, convert: Callable[[Any, str], Any],
                   kinds: Union[Type[Any], Tuple[Type[Any], ...]] = np.ndarray,
                   name: str = '') -> Any:
    """Convert an array, or the arrays in dicts, lists and tuples; leave other values unchanged.

    `convert` receives an array, and its name in the innermost dict. `kinds` are the types of arrays
    that it converts.

    ``batch['keys']``, ``batch.real`` and the offsets of a Ragged remain NumPy arrays, too: NumPy's
    generators use the keys, and other libraries may lack 64-bit integers.
    """
    if isinstance(batch, kinds):
        return convert(batch, name)
    if type(batch) in (dict, Batch):
        values = {key: value if key == 'keys' else convert_arrays(value, convert, kinds, key)
                  for key, value in batch.items()}
        return batch.with_values(values) if type(batch) is Batch else values
    if isinstance(batch, Ragged):
        return Ragged(convert_arrays(batch.values, convert, kinds, name), batch.offsets, batch.item)
    if type(batch) in (list, tuple):
        return type(batch)(convert_arrays(value, convert, kinds, name) for value in batch)
    return batch
