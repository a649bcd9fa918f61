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
        # Without a sharding, arrays that a transform has placed stay where they are.
        self._kinds: Any = np.ndarray if sharding is None else (np.ndarray, _jax.Array)

    def _check_split(self, name: str, shape: Tuple[int, ...]) -> None:
        try:
            self._sharding.check_compatible_aval(shape)    # the number of dimensions
            self._sharding.shard_shape(shape)
        except ValueError as error:
            raise ValueError(f'sharding cannot split batches of {name} with shape {shape}: '
                             'choose a different batch_size, or drop_last=True or pad_last=True '
                             f'if the last batch has that shape ({error})') from None

    def check_dtype(self, name: str, dtype: np.dtype[Any]) -> None:
        if dtype.kind == 'M':
            raise ValueError(f'JAX does not support {dtype}, the dtype of {name!r}: choose '
                             'other fields, or convert this field in a transform')

    def check(self, shapes: Shapes, sizes: Sizes) -> None:
        if self._sharding is None:
            return
        for name, (_, shape) in shapes.items():
            for size, total in sizes:
                self._check_split(repr(name), (total if self._shared else size, *shape))

    def check_varying(self, name: str, form: Any) -> None:
        lengths = form.lengths if isinstance(form, Pad) else None
        if self._sharding is not None and (lengths is None or len(lengths) != 1):
            raise ValueError(f'sharding cannot split {name!r}, whose records vary in length, '
                             'unless all batches have the same shape: use '
                             'ragged=Pad(lengths=[length])')

    def _place(self, array: Any, name: str) -> Any:
        if isinstance(array, np.ndarray):
            array = _fit(array, name)
        if not self._shared:
            return _jax.device_put(array, self._sharding)
        if isinstance(array, _jax.Array) and not array.is_fully_addressable:
            if array.sharding.is_equivalent_to(self._sharding, array.ndim):
                return array
            raise ValueError(f'{_named(name)} is a global array with {array.sharding}, which is '
                             'not the sharding of the loader: return an array of this process')
        shape = tuple(size * self._world for size in array.shape[:1]) + array.shape[1:]
        self._check_split(_named(name), shape)
        return _jax.make_array_from_process_local_data(self._sharding, array, shape)

    def convert(self, batch: Any) -> Any:
        return convert_arrays(batch, self._place, self._kinds)


def _named(name: str) -> str:
    return f'{name!r}' if name else 'the array that the transform returned'


def _fit(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Return an array of the type that JAX would give it; raise ValueError if a value is too large
    for that type, which JAX would not."""
    if array.dtype.kind not in 'iufc':
        return array
    dtype = _jax.dtypes.canonicalize_dtype(array.dtype)
    if dtype == array.dtype:
        return array
    with np.errstate(over='ignore'):
        made = array.astype(dtype)
    if _loses(array, made):
        with np.errstate(invalid='ignore'):
            wrong = np.isinf(made) & ~np.isinf(array) if dtype.kind in 'fc' else made != array
        raise ValueError(
            f'{_named(name)} has the value {array[wrong][0]}, which {dtype} cannot represent, and '
            f'without jax_enable_x64, JAX has no {array.dtype}: call jax.config.update('
            '"jax_enable_x64", True), or convert the values in a transform')
    return made


def _loses(array: np.ndarray[Any, Any], made: np.ndarray[Any, Any]) -> bool:
    """Return whether a value of an array is out of the range of the type of `made`."""
    if made.dtype.kind in 'fc':
        infinite = np.isinf(made)
        return bool(infinite.any() and (infinite & ~np.isinf(array)).any())
    limits = np.iinfo(made.dtype)
    return bool(array.size and (array.min() < limits.min or array.max() > limits.max))
