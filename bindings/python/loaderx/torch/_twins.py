# SPDX-License-Identifier: MIT
"""Samplers with states in place of torch's own, which give the same."""

from __future__ import annotations

from typing import Any, Dict, Type

from torch.utils import data

from ._batches import BatchSampler
from ._passes import Stateful
from ._samplers import (DistributedSampler, RandomSampler, SequentialSampler,
                        SubsetRandomSampler, WeightedRandomSampler)

__all__ = ['twin']

# What a twin has for itself. All else it shares with the sampler that it stands for.
_OWN = ('_current', '_pending', '_known')


def _twin_type(kind: Type[Any]) -> Type[Any]:
    return type(kind.__name__, (kind,), {'__slots__': _OWN, '__doc__': kind.__doc__})


# By the very class: what is derived from one may do anything.
_TWINS: Dict[Type[Any], Type[Any]] = {
    data.DistributedSampler: _twin_type(DistributedSampler),
    data.RandomSampler: _twin_type(RandomSampler),
    data.SequentialSampler: _twin_type(SequentialSampler),
    data.SubsetRandomSampler: _twin_type(SubsetRandomSampler),
    data.WeightedRandomSampler: _twin_type(WeightedRandomSampler),
}


def twin(sampler: Any) -> Any:
    """What gives what `sampler` gives, with a state where that can be.

    It sees what is set on the sampler later, as by ``set_epoch()``.
    """
    if type(sampler) is data.BatchSampler:
        below = twin(sampler.sampler)
        return BatchSampler(below, sampler.batch_size, sampler.drop_last)
    kind = _TWINS.get(type(sampler))
    if kind is None or isinstance(sampler, Stateful):
        return sampler
    made = object.__new__(kind)
    made.__dict__ = sampler.__dict__
    for name in _OWN:
        setattr(made, name, None)
    return made
