# SPDX-License-Identifier: MIT
"""Batches as arrays of JAX, on one device or split over many.

`loaderx` itself does without JAX; this module needs it.
"""

from __future__ import annotations

from typing import Any, Optional, Type, TypeVar

from . import loader as _loader
from ._check import natural
from ._jax_arrays import Arrays    # raises ImportError where JAX is not installed

import jax as _jax    # the library, not this module

__all__ = ['Loader']

_Self = TypeVar('_Self', bound='Loader')


class Loader(_loader.Loader):
    """A `loaderx.Loader` whose batches are dicts of ``jax.Array``.

    The loader's threads copy to the devices, too, so batches lie there ahead, as many as
    `prefetch_bytes` allows. A `transform` gets arrays of NumPy, on the host; the arrays of what it
    returns, in dicts, lists and tuples, are placed after it. ``batch['keys']`` stay with NumPy.
    Unless JAX is set to use 64 bits (``jax_enable_x64``), it makes arrays of 64 bits narrower,
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
        A batch, or the last one of an epoch, cannot be split as the sharding requires.

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
