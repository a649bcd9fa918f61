# SPDX-License-Identifier: MIT
"""What differs between two datasets."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .._progress import Progress, reporting
from ..field import Field

__all__ = ['describe_difference']

_Compare = Callable[[List[Tuple[int, int]], Any], List[Tuple[int, List[int]]]]


def describe_difference(a: Any, b: Any, compare: _Compare, progress: Progress) -> Dict[str, Any]:
    """Return the result of `Dataset.diff`.

    `compare` counts the records that differ in each pair of fields, which are given by their
    positions in the two datasets, and lists the first of these records.
    """
    here, there = list(a.fields), list(b.fields)
    fields = {name: _describe_field(a.fields.get(name), b.fields.get(name))
              for name in {**a.fields, **b.fields}}
    compared = [name for name in here if _same_form(a.fields[name], b.fields.get(name))]
    pairs = [(here.index(name), there.index(name)) for name in compared]
    with reporting(progress, 'diff') as report:
        for name, (count, first) in zip(compared, compare(pairs, report)):
            fields[name].update(records=count, first=first)
    order = [name for name in there if name in a.fields]
    made = {'lengths': (len(a), len(b)), 'fields': fields, 'card': _differing(a.card, b.card),
            'same_order': order == [name for name in here if name in b.fields]}
    same = (len(a) == len(b) and made['same_order'] and not made['card']
            and all(field['records'] == 0 for field in fields.values()))
    return {'same': same, **made}


def _describe_field(a: Optional[Field], b: Optional[Field]) -> Dict[str, Any]:
    return {'a': a, 'b': b, 'records': None, 'first': []}


def _same_form(a: Field, b: Optional[Field]) -> bool:
    return b is not None and (a._type, a.shape) == (b._type, b.shape)


def _differing(a: Mapping[str, str], b: Mapping[str, str]
               ) -> Dict[str, Tuple[Optional[str], Optional[str]]]:
    """Return the texts of the entries that differ; None for one that is absent."""
    return {key: (a.get(key), b.get(key)) for key in {**a, **b} if a.get(key) != b.get(key)}
