# SPDX-License-Identifier: MIT
"""Mixtures: several orders in one, each with its share of the positions."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, folder, natural, number
from .combined import _Combined, _listed, _part
from .order import Order

__all__ = ['Blend']

_Weights = Optional[Tuple[float, ...]]    # None: by the lengths
_GivenWeights = Optional[Sequence[float]]

_EXHAUSTED = ('repeat', 'stop', 'redistribute')
_METHODS = ('closed', 'greedy', 'exhaustive')
_MOST = 2**53    # positions that are computed one by one


class Blend(_Combined):
    """A mixture of orders: each position takes the next index of one part, by weights.

    In any range of positions that starts where weights start, each part has its share of positions,
    to within half of log2 of the number of parts, rounded up: half a sample for two parts. Nothing
    is drawn at random. Each part continues in its own order. A position is computed directly,
    without a table (doc/orders.md, section 8).

    Parameters
    ----------
    parts : sequence of Order
        One or more orders that are not empty. Their own positions are ignored.
    weights : sequence of float, optional
        One for each part, 0 or more; the share of a part is its weight over the sum of weights.
        None: in proportion to the lengths of the parts.
    n : int, optional
        Positions in an epoch; None: the sum of the lengths of the parts.
    offsets : sequence of int, optional
        The number to add to the indices of each part; None: 0. For parts with a source each, which
        the loader reads as one (`ConcatDataset`): the index of the first record of each.
    exhausted : {'repeat', 'stop', 'redistribute'}
        What happens when a part has delivered one of its epochs. 'repeat': it continues with its
        next epoch, also in the next epoch of the mixture. 'stop': the epoch of the mixture ends
        before the first position that would take from this part. 'redistribute': the other parts
        take its share, by their weights, until all are exhausted. With the latter two an epoch can
        be shorter than `n`, and each epoch restarts the parts.
    schedule : mapping or sequence of pairs, optional
        A curriculum: other weights from later offsets of an epoch on, as ``{offset: weights}``, or
        as pairs ``(offset, weights)`` with ascending offsets. An offset of 0 replaces `weights`;
        weights of None are in proportion to the lengths.
    method : {'closed', 'greedy', 'exhaustive'}
        The rule that assigns positions to parts. 'closed': the formula above, of this library. The
        other two reproduce Megatron-LM exactly, to continue a training or to compare. 'greedy':
        its BlendedDataset with weights, which it divides by their sum in float64 as numpy.sum adds
        them; each position goes to the part that lags furthest behind its weight. `exhausted` and
        `offsets` apply as above. 'exhaustive': its BlendedDataset without weights, which are the
        lengths over their sum; each part delivers all its indices once an epoch, as with
        'redistribute'; omit `weights` and `n`. Neither of the two takes a `schedule`, and both
        compute all positions of an epoch, at most 2**53, when they are made: about 15 ns each.
    tables : path, optional
        A folder for the table, which is created if needed: the first process writes the table to a
        file, and other processes and later runs map that file. A failed write or a damaged file
        raises. None: the table is in memory.

    Examples
    --------
    Two sources of 1000 and 500 records, mixed equally, with more of the second from position 10,000
    on:

    >>> mixed = Blend([Shuffle(1000, seed=1), Shuffle(500, seed=2)], [0.5, 0.5],
    ...               offsets=[0, 1000], n=20_000, schedule={10_000: [0.2, 0.8]})
    >>> mixed.counts(0, 20_000)
    array([ 7000, 13000], dtype=uint64)
    """

    def __init__(
        self,
        parts: Sequence[Order],
        weights: _GivenWeights = None,
        *,
        n: Optional[int] = None,
        offsets: Optional[Sequence[int]] = None,
        exhausted: str = 'repeat',
        schedule: Union[Mapping[int, _GivenWeights], Sequence[Tuple[int, _GivenWeights]],
                        None] = None,
        method: str = 'closed',
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        given = _listed('parts', parts)
        if not given:
            raise ValueError('parts must have at least one order')
        self._weights = _take_weights('weights', weights, len(given))
        self._schedule = _take_schedule(schedule, len(given))
        if self._schedule and self._schedule[0][0] == 0 and weights is not None:
            raise ValueError('schedule has weights from 0 on, and so has weights: give one of them')
        self._n = None if n is None else natural('n', n, least=1)
        self._offsets = None if offsets is None else _take_offsets(offsets, len(given))
        _take_word('method', method, _METHODS)
        _take_word('exhausted', exhausted, _EXHAUSTED)
        self._method = method
        self._exhausted = exhausted
        self._check_method()
        self._set_parts(*(_part(f'parts[{i}]', part) for i, part in enumerate(given)))

    def _check_method(self) -> None:
        """Raise ValueError for arguments that the method does not take."""
        if self._method == 'closed' and self._tables is not None:
            raise ValueError("tables must not be given with the method 'closed', which has no "
                             "table")
        if self._method != 'closed' and self._schedule:
            raise ValueError(f"schedule goes with the method 'closed', not {self._method!r}")
        if self._method != 'exhaustive':
            return
        if self._exhausted == 'stop':
            raise ValueError("exhausted is 'redistribute' with the method 'exhaustive'")
        for name, value in ('weights', self._weights), ('n', self._n):
            if value is not None:
                raise ValueError(f"{name} must not be given with the method 'exhaustive'")

    def counts(self, first: int, end: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Count the positions of each part among those from `first` up to, but excluding, `end`.

        Positions are those of the global order. The time does not depend on their number.

        Parameters
        ----------
        first, end : int
            Positions of the global order, ``first <= end``.

        Returns
        -------
        numpy.ndarray
            uint64, one for each part; their sum is ``end - first``.
        """
        first, end = natural('first', first), natural('end', end)
        if end < first:
            raise ValueError(f'end must not be below first, {first}, but is {end}')
        return _core.count_sets(self._walk(), first, end)

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        lengths = [part.length for part in parts]
        if 0 in lengths:
            raise ValueError(f'parts[{lengths.index(0)}] is empty: leave it out')
        together = sum(lengths)
        if self._n is None and together > UINT64_MAX:
            raise ValueError('n is needed: parts together have more than 2**64 - 1 positions')
        by_length = tuple(map(float, lengths))
        weightings = list(self._schedule)
        if not weightings or weightings[0][0] != 0:
            weightings.insert(0, (0, self._weights))
        length = together if self._n is None else self._n
        if weightings[-1][0] >= length:
            raise ValueError(f'schedule has weights from {weightings[-1][0]} on, after the end of '
                             f'an epoch of {length} positions')
        first = weightings[0][1]
        others = [(begin, by_length if weights is None else weights)
                  for begin, weights in weightings[1:]]
        exhausted = self._exhausted
        if self._method != 'closed':
            if length > _MOST:
                raise ValueError(f'n must be at most {_MOST} with the method {self._method!r}, '
                                 f'not {length}')
            exhausted = 'redistribute' if self._method == 'exhaustive' else exhausted
            first = self._divide(lengths if first is None else first)
        return _core.blend(tuple(parts), self._offsets, by_length if first is None else first,
                           tuple(others), self._n or 0, exhausted, self._method != 'closed',
                           self._tables)

    def _divide(self, weights: Sequence[float]) -> Tuple[float, ...]:
        """The weights as Megatron uses them."""
        if self._method == 'exhaustive':
            total = float(sum(weights))
            return tuple(weight / total for weight in weights)
        given = np.array(weights, np.float64)
        with np.errstate(over='ignore'):
            whole = np.sum(given)
        if not np.isfinite(whole):
            raise ValueError('weights: their sum is beyond float64')
        return tuple((given / whole).tolist())

    def _first_arguments(self) -> Tuple[Any, ...]:
        parts = list(self._parts)
        return (parts,) if self._weights is None else (parts, list(self._weights))

    def _arguments(self) -> Dict[str, Any]:
        schedule = {begin: None if weights is None else list(weights)
                    for begin, weights in self._schedule}
        given = {
            'n': self._n,
            'offsets': None if self._offsets is None else list(self._offsets),
            'exhausted': None if self._exhausted == 'repeat' else self._exhausted,
            'schedule': schedule or None,
            'method': None if self._method == 'closed' else self._method,
        }
        return {**{name: value for name, value in given.items() if value is not None},
                **self._kept()}


def _take_word(name: str, value: Any, words: Tuple[str, ...]) -> None:
    if not isinstance(value, str):
        raise TypeError(f'{name} must be a str, not {type(value).__name__}')
    if value not in words:
        raise ValueError(f'{name} must be one of {", ".join(map(repr, words))}, not {value!r}')


def _take_weights(name: str, values: Any, count: int) -> _Weights:
    """The weights of `count` parts; None, for their lengths, stays None."""
    if values is None:
        return None
    if isinstance(values, (Mapping, str, bytes)):
        raise TypeError(f'{name} must be a sequence of numbers, not {type(values).__name__}')
    given = _listed(name, values)
    if len(given) != count:
        raise ValueError(f'{name}: {len(given)} were given for {count} parts')
    weights = tuple(number(f'{name}[{i}]', value) for i, value in enumerate(given))
    if not any(weights):
        raise ValueError(f'{name}: at least one of them must be above 0')
    return weights


def _take_schedule(schedule: Any, count: int) -> Tuple[Tuple[int, _Weights], ...]:
    """Pairs of an offset and the weights from there on, ascending."""
    if schedule is None:
        return ()
    taken = []
    if isinstance(schedule, Mapping):
        for key, weights in schedule.items():
            begin = natural('schedule: an offset', key)
            taken.append((begin, _take_weights(f'schedule[{begin}]', weights, count)))
        return tuple(sorted(taken, key=lambda pair: pair[0]))
    for i, pair in enumerate(_listed('schedule', schedule)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f'schedule[{i}] must be a pair of an offset and weights')
        begin = natural(f'schedule[{i}][0]', pair[0])
        if taken and begin <= taken[-1][0]:
            raise ValueError(f'schedule[{i}][0] must be above {taken[-1][0]}, the offset before '
                             f'it, not {begin}')
        taken.append((begin, _take_weights(f'schedule[{i}][1]', pair[1], count)))
    return tuple(taken)


def _take_offsets(offsets: Any, count: int) -> Tuple[int, ...]:
    given = _listed('offsets', offsets)
    if len(given) != count:
        raise ValueError(f'offsets: {len(given)} were given for {count} parts')
    return tuple(natural(f'offsets[{i}]', offset) for i, offset in enumerate(given))
