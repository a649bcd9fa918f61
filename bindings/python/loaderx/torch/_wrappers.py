# SPDX-License-Identifier: MIT
"""Resumable wrappers of torch's samplers, which yield the same indices."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Type

from torch.utils import data

from ._batches import BatchSampler
from ._iterations import Stateful
from ._samplers import (DistributedSampler, RandomSampler, SequentialSampler,
                        SubsetRandomSampler, WeightedRandomSampler)

__all__ = ['wrap']

_PACKAGE = __name__.rpartition('.')[0]

# The attributes of the wrapper itself. The wrapper shares all other attributes with the sampler.
_OWN = ('_current', '_pending', '_known')


def _wrapper_type(kind: Type[Any]) -> Type[Any]:
    return type(kind.__name__, (kind,), {'__slots__': _OWN, '__doc__': kind.__doc__})


# Only these exact classes are wrapped: a subclass may yield different indices.
_WRAPPERS: Dict[Type[Any], Type[Any]] = {
    data.DistributedSampler: _wrapper_type(DistributedSampler),
    data.RandomSampler: _wrapper_type(RandomSampler),
    data.SequentialSampler: _wrapper_type(SequentialSampler),
    data.SubsetRandomSampler: _wrapper_type(SubsetRandomSampler),
    data.WeightedRandomSampler: _wrapper_type(WeightedRandomSampler),
}


class _Opaque:
    """A user's subclass of a sampler of this package, whose passes only its own code knows."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        if type(sampler).state_dict is not Stateful.state_dict:
            self.state_dict = sampler.state_dict
            self.load_state_dict = sampler.load_state_dict

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sampler)

    def __len__(self) -> int:
        return len(self._sampler)


def _is_opaque(sampler: Any) -> bool:
    """Return whether a subclass defines the passes of a sampler of this package."""
    if not isinstance(sampler, Stateful):
        return False
    method = getattr(type(sampler), '__iter__', None)
    if not getattr(method, '__module__', '').startswith(_PACKAGE):
        return True
    return isinstance(sampler, BatchSampler) and _is_opaque(getattr(sampler, 'sampler', None))


def wrap(sampler: Any) -> Any:
    """Return a sampler that yields the same indices as `sampler`, resumable if possible.

    Attributes that are set on `sampler` later, for example by ``set_epoch()``, take effect.
    """
    if type(sampler) is data.BatchSampler:
        return BatchSampler(wrap(sampler.sampler), sampler.batch_size, sampler.drop_last)
    if _is_opaque(sampler):
        return _Opaque(sampler)
    kind = _WRAPPERS.get(type(sampler))
    if kind is None or isinstance(sampler, Stateful):
        return sampler
    made = object.__new__(kind)
    made.__dict__ = sampler.__dict__
    for name in _OWN:
        setattr(made, name, None)
    return made
