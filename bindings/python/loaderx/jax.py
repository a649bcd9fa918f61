# SPDX-License-Identifier: MIT
"""Batches as JAX arrays, on one device or split across several devices.

Only this module requires JAX.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Type, TypeVar

from . import _installation    # raises ImportError if another package has replaced ours
from . import loader as _loader
from ._jax_arrays import Arrays    # raises ImportError if JAX is not installed
from ._jax_ranks import find_rank
from .orders import Budgeted
from .ranks import choose_rank

import jax as _jax    # the JAX library, not this module

__all__ = ['Loader']

_Self = TypeVar('_Self', bound='Loader')


class Loader(_loader.Loader):
    """A `loaderx.Loader` whose batches are dicts of ``jax.Array``.

    The loader's threads also copy batches to the devices, so prefetched batches occupy device
    memory, within the limit of `prefetch_bytes`. A `transform` receives NumPy arrays on the host;
    the loader then converts the arrays in the dicts, lists and tuples that the transform returns,
    and places JAX arrays in them by the sharding, if there is one. ``batch['keys']`` remains a
    NumPy array. Unless ``jax_enable_x64`` is set, JAX has no 64-bit arrays, and their values are
    converted to 32 bits: floats are rounded, and a value that is out of range is an error.

    Parameters
    ----------
    source
        See `loaderx.Loader`.
    sharding : jax.sharding.Sharding, optional
        How to shard a batch across devices along its first axis. None: the whole batch goes to the
        default device. If the sharding includes devices of other processes, the arrays are global,
        and each process reads the records whose rows its devices have: ``batch_size`` is then the
        number of these records. Processes whose devices have the same rows, because the sharding
        replicates batches or splits another axis, read the same records.
    rank, world : int, optional
        The part of each global batch that this process reads, and the number of parts. If the
        sharding includes devices of several processes, it determines both. None: 0 and 1, with a
        warning if there are several processes.
    **options
        All other arguments of `loaderx.Loader` except `out`. With a sharding across devices,
        ``on_damage='skip'`` needs `pad_last`.

    Raises
    ------
    ValueError
        The sharding cannot split a full batch, or the last batch of an epoch, or does not divide
        batches evenly among processes; `rank` or `world` is not what it determines; or batches
        would not have the same shape in all processes. ``next()`` raises this error for a batch
        with a value that is out of range.

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
        if sharding is not None:
            _check_shapes(sharding, options)
            if not sharding.is_fully_addressable:
                rank, world = find_rank(sharding, rank, world)
        rank, world = choose_rank(rank, world)
        return super().__new__(cls, source, rank=rank, world=world,
                               out=Arrays(sharding, world), **options)


def _check_shapes(sharding: _jax.sharding.Sharding, options: Mapping[str, Any]) -> None:
    """Raise an error if batches would differ in shape where the parts of an array must not."""
    if (options.get('on_damage') == 'skip' and not options.get('pad_last')
            and len(sharding.device_set) > 1):
        raise ValueError("on_damage='skip' makes batches of different sizes, which sharding cannot "
                         'split: pass pad_last=True, with which other records take the place of '
                         "damaged ones, or on_damage='zeros'")
    if sharding.is_fully_addressable:
        return
    if options.get('uneven'):
        raise ValueError('uneven must not be given with a sharding across processes, all of which '
                         'need equally many records: pass pad_last=True or drop_last=True, or '
                         'neither')
    if isinstance(options.get('order'), Budgeted):
        raise ValueError('a Budgeted order, whose batches differ in size from process to process, '
                         'must not be given with a sharding across processes')
