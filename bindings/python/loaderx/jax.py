# SPDX-License-Identifier: MIT
"""Batches as JAX arrays, on one device or distributed over several.

`loaderx` itself does not need JAX; this module does.
"""

from __future__ import annotations

from typing import Any, Optional, Type, TypeVar

from . import loader as _loader
from ._check import natural
from ._jax_arrays import Arrays    # raises ImportError if JAX is not installed

import jax as _jax    # the library jax, not this module

__all__ = ['Loader']

_Self = TypeVar('_Self', bound='Loader')


class Loader(_loader.Loader):
    """A `loaderx.Loader` whose batches are dicts of ``jax.Array``.

    The loader's threads also copy to the devices, so devices hold prefetched batches, within the
    limit of `prefetch_bytes`. A `transform` gets NumPy arrays, on the host; the arrays that it
    returns, in dicts, lists and tuples, are converted after it. ``batch['keys']`` stays a NumPy
    array. Unless 64-bit types are enabled in JAX (``jax_enable_x64``), JAX converts 64-bit arrays
    to 32 bits, as usual.

    Parameters
    ----------
    source
        As for `loaderx.Loader`.
    sharding : jax.sharding.Sharding, optional
        How the first axis of a batch is distributed over devices; None: the whole batch is on the
        default device. If the sharding has devices of other processes, each process reads its own
        part of the batch, and the arrays are global: ``batch_size`` is then that of one process.
    rank, world : int, optional
        The share of each global batch that this process reads, and the number of shares. None: the
        index and number of JAX's processes if the sharding has devices of several processes;
        otherwise 0 and 1.
    **options
        All other arguments of `loaderx.Loader` except `out`.

    Raises
    ------
    ValueError
        The sharding cannot split a batch, or the last batch of an epoch.

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
            raise TypeError('out must not be given: this loader always returns JAX arrays')
        shared = sharding is not None and not sharding.is_fully_addressable
        if world is None:
            world = _jax.process_count() if shared else 1
        if rank is None:
            rank = _jax.process_index() if shared else 0
        world = natural('world', world, minimum=1)
        return super().__new__(cls, source, rank=rank, world=world,
                               out=Arrays(sharding, world), **options)
