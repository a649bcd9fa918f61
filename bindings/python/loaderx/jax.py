# SPDX-License-Identifier: MIT
"""Batches as arrays of JAX, on one device or split over many.

`loaderx` itself does without JAX; this module needs it.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple, Type, TypeVar

import numpy as np

try:
    import jax as _jax    # the one that is installed, not this module
except ModuleNotFoundError as error:
    if error.name != 'jax':
        raise
    raise ImportError('loaderx.jax needs JAX, and there is no module jax: install it', name='jax'
                      ) from None

from . import loader as _loader
from ._check import natural
from ._outputs import Output, Shapes, Sizes, convert_arrays

__all__ = ['Loader']

_Self = TypeVar('_Self', bound='Loader')


class Arrays(Output):
    """Arrays of JAX, on its default device or as a sharding tells."""

    def __init__(self, sharding: Optional[_jax.sharding.Sharding] = None, world: int = 1) -> None:
        self._sharding: Any = sharding
        self._world = world
        # Whether other processes have parts of the arrays.
        self._shared = sharding is not None and not sharding.is_fully_addressable

    def _check_split(self, name: str, size: int, total: int, shape: Tuple[int, ...]) -> None:
        whole = (total if self._shared else size, *shape)
        if self._shared and total != size * self._world:
            why = f'{total} records are not the same number for each process'
        else:
            try:
                self._sharding.shard_shape(whole)
                return
            except ValueError as error:
                why = str(error)
        raise ValueError(f'sharding: batches of {name!r} have the shape {whole}, which it cannot '
                         f'split: take another batch_size, and drop_last=True or a Padded order '
                         f'if it is that of the last one ({why})')

    def check(self, shapes: Shapes, sizes: Sizes) -> None:
        if self._sharding is None:
            return
        for name, (_, shape) in shapes.items():
            for size, total in sizes:
                self._check_split(name, size, total, shape)

    def _place(self, array: np.ndarray[Any, Any]) -> Any:
        if self._shared:
            return _jax.make_array_from_process_local_data(self._sharding, array)
        return _jax.device_put(array, self._sharding)

    def convert(self, batch: Any) -> Any:
        return convert_arrays(batch, self._place)


class Loader(_loader.Loader):
    """A `loaderx.Loader` whose batches are dicts of ``jax.Array``.

    The loader's threads copy to the devices, too, so batches lie there ahead, as many as
    `prefetch_bytes` allows. A `transform` gets arrays of NumPy, on the host; the arrays of what it
    returns, in dicts, lists and tuples, are placed after it. ``batch['keys']`` stay with NumPy.
    Where JAX is not told to use 64 bits (``jax_enable_x64``), it makes arrays of 64 bits narrower,
    as it always does.

    Parameters
    ----------
    source
        As that of `loaderx.Loader`.
    sharding : jax.sharding.Sharding, optional
        How a batch lies on devices, by its first axis; None: whole, on the default device. Where
        it has devices of other processes, each process reads the part of the batch that is its own,
        and the arrays are global: ``batch_size`` is then that of a process.
    rank, world : int, optional
        Which share of each global batch this process takes, of how many. None: those of JAX's
        processes where the sharding has devices of several, and 0 of 1 else.
    **options
        All other arguments of `loaderx.Loader`, but `out`.

    Raises
    ------
    ValueError
        A batch, or the last one of an epoch, cannot be split as the sharding tells.

    Examples
    --------
    >>> mesh = jax.make_mesh((jax.device_count(),), ('data',))
    >>> rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('data'))
    >>> with Loader(ds, batch_size=256, drop_last=True, sharding=rows) as loader:
    ...     for batch in loader:
    ...         state = step(state, batch['data'], batch['label'])
    """

    def __new__(
        cls: Type[_Self],
        source: Any,
        *,
        sharding: Optional[_jax.sharding.Sharding] = None,
        rank: Optional[int] = None,
        world: Optional[int] = None,
        **options: Any,
    ) -> _Self:
        if sharding is not None and not isinstance(sharding, _jax.sharding.Sharding):
            raise TypeError('sharding must be a jax.sharding.Sharding or None, not '
                            f'{type(sharding).__name__}')
        if 'out' in options:
            raise TypeError('out: arrays of JAX are what this loader hands out; leave it out')
        shared = sharding is not None and not sharding.is_fully_addressable
        if world is None:
            world = _jax.process_count() if shared else 1
        if rank is None:
            rank = _jax.process_index() if shared else 0
        world = natural('world', world, least=1)
        return super().__new__(cls, source, rank=rank, world=world,
                               out=Arrays(sharding, world), **options)
