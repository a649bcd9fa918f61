# SPDX-License-Identifier: MIT
"""Batches as JAX arrays, on one device or split across several devices.

Only this module requires JAX.
"""

from __future__ import annotations

from typing import Any, Optional, Type, TypeVar

from . import _installation    # raises ImportError if another package has replaced ours
from . import loader as _loader
from ._jax_arrays import Arrays    # raises ImportError if JAX is not installed
from .ranks import choose_rank

import jax as _jax    # the JAX library, not this module

__all__ = ['Loader']

_Self = TypeVar('_Self', bound='Loader')


class Loader(_loader.Loader):
    """A `loaderx.Loader` whose batches are dicts of ``jax.Array``.

    The loader's threads also copy batches to the devices, so prefetched batches occupy device
    memory, within the limit of `prefetch_bytes`. A `transform` receives NumPy arrays on the host;
    the loader then converts the arrays in the dicts, lists and tuples that the transform returns.
    ``batch['keys']`` remains a NumPy array. As usual, JAX converts 64-bit arrays to 32 bits unless
    ``jax_enable_x64`` is set.

    Parameters
    ----------
    source
        See `loaderx.Loader`.
    sharding : jax.sharding.Sharding, optional
        How to shard a batch across devices along its first axis. None: the whole batch goes to the
        default device. If the sharding includes devices of other processes, each process reads its
        own part of the batch, and the arrays are global: ``batch_size`` is then the number of
        records per process.
    rank, world : int, optional
        The part of each global batch that this process reads, and the number of parts. None: JAX's
        process index and process count if the sharding includes devices of several processes;
        otherwise 0 and 1, with a warning if there are several processes.
    **options
        All other arguments of `loaderx.Loader` except `out`.

    Raises
    ------
    ValueError
        The sharding cannot split a full batch, or the last batch of an epoch.

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
        if sharding is not None and not sharding.is_fully_addressable:
            world = _jax.process_count() if world is None else world
            rank = _jax.process_index() if rank is None else rank
        rank, world = choose_rank(rank, world)
        return super().__new__(cls, source, rank=rank, world=world,
                               out=Arrays(sharding, world), **options)
