# SPDX-License-Identifier: MIT
"""Conversion of batches to JAX arrays."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

try:
    import jax as _jax    # the JAX library, not loaderx.jax
except ModuleNotFoundError as error:
    if error.name != 'jax':
        raise
    raise ImportError('loaderx.jax needs JAX: install jax', name='jax'
                      ) from None

from ._outputs import Output, Shapes, Sizes, convert_arrays
from .ragged import Pad

__all__ = ['Arrays']


class Arrays(Output):
    """Output as JAX arrays, on the default device or split across devices by a sharding."""

    def __init__(self, sharding: Optional[_jax.sharding.Sharding] = None, world: int = 1) -> None:
        self._sharding: Any = sharding
        self._world = world
        # Whether the sharding includes devices of other processes.
        self._shared = sharding is not None and not sharding.is_fully_addressable

    def _check_split(self, name: str, size: int, total: int, shape: Tuple[int, ...]) -> None:
        batch_shape = (total if self._shared else size, *shape)
        if self._shared and total != size * self._world:
            reason = f'{total} records do not divide evenly among the processes'
        else:
            try:
                self._sharding.shard_shape(batch_shape)
                return
            except ValueError as error:
                reason = str(error)
        raise ValueError(f'sharding cannot split batches of {name!r} with shape {batch_shape}: '
                         f'choose a different batch_size, or drop_last=True or a Padded order '
                         f'if the last batch has that shape ({reason})')

    def check_dtype(self, name: str, dtype: np.dtype[Any]) -> None:
        if dtype.kind == 'M':
            raise ValueError(f'JAX does not support {dtype}, the dtype of {name!r}: choose '
                             'other fields, or convert this field in a transform')

    def check(self, shapes: Shapes, sizes: Sizes) -> None:
        if self._sharding is None:
            return
        for name, (_, shape) in shapes.items():
            for size, total in sizes:
                self._check_split(name, size, total, shape)

    def check_varying(self, name: str, form: Any) -> None:
        lengths = form.lengths if isinstance(form, Pad) else None
        if self._sharding is not None and (lengths is None or len(lengths) != 1):
            raise ValueError(f'sharding cannot split {name!r}, whose records vary in length, '
                             'unless all batches have the same shape: use '
                             'ragged=Pad(lengths=[length])')

    def _place(self, array: np.ndarray[Any, Any]) -> Any:
        if self._shared:
            return _jax.make_array_from_process_local_data(self._sharding, array)
        return _jax.device_put(array, self._sharding)

    def convert(self, batch: Any) -> Any:
        return convert_arrays(batch, self._place)
