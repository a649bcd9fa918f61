# SPDX-License-Identifier: MIT
"""Batches, which are dicts of arrays."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any, Dict, Iterable, Set, Tuple

import numpy as np

__all__ = ['Batch', 'register_batches']


class Batch(Dict[str, Any]):
    """A batch of a loader: a dict of arrays by field name, with attributes that describe the batch.

    A batch can be used wherever a dict can, and is a pytree for JAX and torch. If a JAX function
    also takes a dict of specifications, such as shardings, pass ``dict(batch)``. An object that is
    created from a batch, for example a new dict that a transform returns, does not have these
    attributes: copy the ones that you need. The arrays in the attributes are NumPy arrays, whatever
    the `out` of the loader.

    Attributes
    ----------
    real : array of bool
        Whether each record counts. False marks padding: records that are repeated so that all ranks
        have the same number of batches, or all batches the same size. An evaluation must leave them
        out.
    index : array of int64
        The index of each record in the source: ``source[batch.index]`` reads them again, and
        `Loader.explain` reports where they come from.
    position : int
        The position in the global order at which the batches of all ranks for this step begin:
        ``loader.seek(batch.position)`` returns to them.
    present : dict
        With ``missing='mask'``, an array of bool for each field: whether each record has a value.

    Examples
    --------
    >>> ds = {'label': np.arange(5)}
    >>> for batch in Loader(ds, batch_size=2, rank=1, world=2):
    ...     print(batch['label'], batch.real, batch.index, batch.position)
    [1 3] [ True  True] [1 3] 0
    [0] [False] [0] 4
    """

    # The attributes are computed from _origin when they are read for the first time, since most
    # programs read none of them.
    __slots__ = ('__dict__', '_origin')

    # Numbers of type uint64: the position, the number of records that are not padding, and the
    # index of each record.
    _origin: bytes

    def _numbers(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        try:
            return np.frombuffer(self._origin, np.uint64)
        except AttributeError:
            raise AttributeError('this Batch was not returned by a loader, so nothing describes '
                                 'its records') from None

    @cached_property
    def real(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        numbers = self._numbers()
        return np.arange(len(numbers) - 2) < int(numbers[1])

    @cached_property
    def index(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        # a source with 2**63 records or more contains no data
        return self._numbers()[2:].astype(np.int64)

    @cached_property
    def position(self) -> int:
        return int(self._numbers()[0])

    @cached_property
    def present(self) -> Dict[str, np.ndarray[Any, np.dtype[np.bool_]]]:
        self._numbers()
        return {}    # the loader has set the attribute if there are marks

    def with_values(self, values: Dict[str, Any]) -> Batch:
        """Return a batch with other values and the same attributes."""
        made = Batch(values)
        if hasattr(self, '_origin'):
            made._origin = self._origin
        made.__dict__.update(self.__dict__)
        return made


_registered: Set[str] = set()    # the names of the libraries


def _flatten(batch: Batch) -> Tuple[Iterable[Tuple[Any, Any]], Tuple[str, ...]]:
    names = tuple(sorted(batch))
    key = sys.modules['jax'].tree_util.DictKey
    return [(key(name), batch[name]) for name in names], names


def _unflatten(names: Tuple[str, ...], values: Iterable[Any]) -> Batch:
    return Batch(zip(names, values))


def register_batches() -> None:
    """If the program uses JAX or torch, register batches with it as pytrees."""
    jax: Any = sys.modules.get('jax')
    if 'jax' not in _registered and hasattr(jax, 'tree_util'):
        _registered.add('jax')
        jax.tree_util.register_pytree_with_keys(Batch, _flatten, _unflatten)
    pytree: Any = sys.modules.get('torch.utils._pytree')
    register = getattr(pytree, 'register_pytree_node', None) or getattr(
        pytree, '_register_pytree_node', None)
    if 'torch' not in _registered and register is not None:
        _registered.add('torch')
        register(Batch, lambda batch: (list(batch.values()), list(batch)),
                 lambda values, names: Batch(zip(names, values)))
