# SPDX-License-Identifier: MIT
"""What kind of arrays a loader hands out."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

__all__ = ['Output', 'convert_arrays']

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
