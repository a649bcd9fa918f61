# SPDX-License-Identifier: MIT
"""Mixtures, which combine several orders and give each order a share of the positions."""

from __future__ import annotations

import decimal
import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, folder, natural, number
from .combined import _Combined, _as_list, _part
from .order import Order

__all__ = ['Blend']

_Weights = Optional[Tuple[float, ...]]    # None: in proportion to the lengths
_WeightsArgument = Optional[Sequence[float]]

_EXHAUSTED = ('repeat', 'stop', 'redistribute')
_METHODS = ('closed', 'greedy', 'exhaustive')
_MAX = 2**53    # the maximum number of positions if they are computed one by one


class Blend(_Combined):
    """A mixture of orders: each position takes the next index of a part that is chosen by weight.

    In any range of positions that starts where weights take effect and ends before they change
    again, the number of positions of each part deviates from the part's share by at most
    ``ceil(log2(len(parts))) / 2``: half a sample for two parts. The choice of the part is not
    random. The indices of each part follow the part's own order. Each position is computed
    directly, without a table (doc/orders.md, section 8).

    Parameters
    ----------
    parts : sequence of Order
        The orders to mix: at least one order, and no empty orders. Their own positions are ignored.
    weights : sequence of float, optional
        One weight for each part, 0 or more. The share of a part is its weight divided by the sum of
        all weights. None: weights proportional to the lengths of the parts.
    n : int, optional
        The number of positions in an epoch; None: the sum of the lengths of the parts.
    offsets : sequence of int, optional
        For each part, a number to add to its indices; None: 0. If the loader reads a
        `ConcatDataset` of the parts' sources, pass the index of the first record of each source.
    exhausted : {'repeat', 'stop', 'redistribute'}
        What happens when a part has returned one complete epoch. 'repeat': the part continues with
        its next epoch, and does not restart in the next epoch of the mixture. 'stop': the epoch of
        the mixture ends before the first position that would use the exhausted part.
        'redistribute': the other parts take over the share of the exhausted part, in proportion to
        their weights, until all parts are exhausted. With 'stop' and 'redistribute', an epoch can
        be shorter than `n`, and each epoch restarts the parts.
    schedule : mapping or sequence of pairs, optional
        A curriculum, which changes the weights at given offsets within each epoch:
        ``{offset: weights}``, or pairs ``(offset, weights)`` with ascending offsets. If offset 0 is
        given, omit `weights`. Weights of None are proportional to the lengths of the parts.
    temperature : float, optional
        A number T above 0. Where weights are None, each part has a weight of ``length ** (1 / T)``
        instead of ``length``. 1 keeps the proportions of the lengths, larger numbers raise the
        shares of short parts, and numbers below 1 lower them. The powers are rounded to float64
        from 50 decimal digits, so they are the same on every machine.
    method : {'closed', 'greedy', 'exhaustive'}
        The rule that assigns positions to parts. 'closed': this library's own rule, described
        above. The other two methods reproduce Megatron-LM exactly, so that you can continue a
        training run or compare results. 'greedy': Megatron's BlendedDataset with weights. As in
        Megatron, the weights are divided by their float64 sum, computed by numpy.sum, and each
        position goes to the part that lags furthest behind its share. `exhausted` and `offsets`
        apply as above. 'exhaustive': Megatron's BlendedDataset without weights. Each weight is the
        length of the part divided by the sum of the lengths, and each part returns all of its
        indices once per epoch, as with 'redistribute'. Omit `weights` and `n`. 'greedy' and
        'exhaustive' do not accept a `schedule`. They compute all positions of an epoch, at most
        2**53, when the order is created; this takes about 15 ns per position.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.

    Examples
    --------
    Two sources of 1000 and 500 records, mixed equally, with more records of the second source
    starting at position 10,000:

    >>> mixed = Blend([Shuffle(n=1000, seed=1), Shuffle(n=500, seed=2)], [0.5, 0.5],
    ...               offsets=[0, 1000], n=20_000, schedule={10_000: [0.2, 0.8]})
    >>> mixed.counts(0, 20_000)
    array([ 7000, 13000], dtype=uint64)
    """

    def __init__(
        self,
        parts: Sequence[Order],
        weights: _WeightsArgument = None,
        *,
        n: Optional[int] = None,
        offsets: Optional[Sequence[int]] = None,
        exhausted: str = 'repeat',
        schedule: Union[Mapping[int, _WeightsArgument], Sequence[Tuple[int, _WeightsArgument]],
                        None] = None,
        temperature: Optional[float] = None,
        method: str = 'closed',
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        entries = _as_list('parts', parts)
        if not entries:
            raise ValueError('parts must have at least one order')
        self._weights = _take_weights('weights', weights, len(entries))
        self._schedule = _take_schedule(schedule, len(entries))
        if self._schedule and self._schedule[0][0] == 0 and weights is not None:
            raise ValueError('weights and a schedule with offset 0 are mutually exclusive')
        self._temperature = None if temperature is None else number('temperature', temperature)
        self._check_temperature()
        self._n = None if n is None else natural('n', n, minimum=1)
        self._offsets = None if offsets is None else _take_offsets(offsets, len(entries))
        _take_word('method', method, _METHODS)
        _take_word('exhausted', exhausted, _EXHAUSTED)
        self._method = method
        self._exhausted = exhausted
        self._check_method()
        self._set_parts(*(_part(f'parts[{i}]', part) for i, part in enumerate(entries)))

    def _check_temperature(self) -> None:
        """Raise ValueError for a temperature that is not above 0, or that has no effect."""
        if self._temperature is None:
            return
        if self._temperature == 0:
            raise ValueError('temperature must be above 0')
        if self._weights is not None:
            raise ValueError('weights and temperature are mutually exclusive: pass only one of '
                             'them')
        if self._schedule and self._schedule[0][0] == 0 and all(
                weights is not None for _, weights in self._schedule):
            raise ValueError('temperature has no effect: the schedule contains all weights')

    def _check_method(self) -> None:
        """Raise ValueError for arguments that the method does not accept."""
        if self._method == 'closed' and self._tables is not None:
            raise ValueError("tables must not be given with the method 'closed', which needs no "
                             "table")
        if self._method != 'closed' and self._schedule:
            raise ValueError(f"schedule requires the method 'closed', not {self._method!r}")
        if self._method != 'exhaustive':
            return
        if self._exhausted == 'stop':
            raise ValueError("exhausted must be 'redistribute' with the method 'exhaustive'")
        for name, value in (('weights', self._weights), ('n', self._n),
                            ('temperature', self._temperature)):
            if value is not None:
                raise ValueError(f"{name} must not be given with the method 'exhaustive'")

    def counts(self, first: int, end: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Count the positions of each part from `first` up to but not including `end`.

        The time required does not depend on the number of positions.

        Parameters
        ----------
        first, end : int
            Positions in the global order, ``first <= end``.

        Returns
        -------
        numpy.ndarray
            One uint64 count for each part. The sum of the counts is ``end - first``.
        """
        first, end = natural('first', first), natural('end', end)
        if end < first:
            raise ValueError(f'end must be at least first ({first}), not {end}')
        return _core.count_sets(self._get_core(), first, end)

    def _combine(self, parts: List[_core.Order]) -> _core.Order:
        lengths = [part.length for part in parts]
        if 0 in lengths:
            raise ValueError(f'parts[{lengths.index(0)}] is empty: omit it')
        together = sum(lengths)
        if self._n is None and together > UINT64_MAX:
            raise ValueError('n must be given: the parts have more than 2**64 - 1 positions in '
                             'total')
        by_length = _powers(lengths, 1 if self._temperature is None else self._temperature)
        weightings = list(self._schedule)
        if not weightings or weightings[0][0] != 0:
            weightings.insert(0, (0, self._weights))
        length = together if self._n is None else self._n
        if weightings[-1][0] >= length:
            raise ValueError(f'schedule contains the offset {weightings[-1][0]}, after the end of '
                             f'an epoch of {length} positions')
        first = weightings[0][1]
        others = [(begin, by_length if weights is None else weights)
                  for begin, weights in weightings[1:]]
        exhausted = self._exhausted
        if self._method != 'closed':
            if length > _MAX:
                raise ValueError(f'n must be at most {_MAX} with the method {self._method!r}, '
                                 f'not {length}')
            exhausted = 'redistribute' if self._method == 'exhaustive' else exhausted
            # ints, because a sum of floats would be rounded
            own = lengths if self._temperature is None else by_length
            first = self._divide(own if first is None else first)
        return _core.blend(tuple(parts), self._offsets, by_length if first is None else first,
                           tuple(others), self._n or 0, exhausted, self._method != 'closed',
                           self._tables)

    def _divide(self, weights: Sequence[float]) -> Tuple[float, ...]:
        """Normalize the weights as Megatron does."""
        if self._method == 'exhaustive':
            total = float(sum(weights))
            return tuple(weight / total for weight in weights)
        entries = np.array(weights, np.float64)
        with np.errstate(over='ignore'):
            total = float(np.sum(entries))
        if not np.isfinite(total):
            raise ValueError('the sum of the weights exceeds the range of float64')
        return tuple((entries / total).tolist())

    def _first_arguments(self) -> Tuple[Any, ...]:
        parts = list(self._parts)
        return (parts,) if self._weights is None else (parts, list(self._weights))

    def _arguments(self) -> Dict[str, Any]:
        schedule = {begin: None if weights is None else list(weights)
                    for begin, weights in self._schedule}
        entries = {
            'n': self._n,
            'offsets': None if self._offsets is None else list(self._offsets),
            'exhausted': None if self._exhausted == 'repeat' else self._exhausted,
            'schedule': schedule or None,
            'temperature': self._temperature,
            'method': None if self._method == 'closed' else self._method,
        }
        return {**{name: value for name, value in entries.items() if value is not None},
                **self._tables_argument()}


def _take_word(name: str, value: Any, choices: Tuple[str, ...]) -> None:
    if not isinstance(value, str):
        raise TypeError(f'{name} must be a str, not {type(value).__name__}')
    if value not in choices:
        raise ValueError(f'{name} must be one of {", ".join(map(repr, choices))}, not {value!r}')


def _take_weights(name: str, values: Any, count: int) -> _Weights:
    """Check and return the weights of `count` parts; return None (the lengths) unchanged."""
    if values is None:
        return None
    if isinstance(values, (Mapping, str, bytes)):
        raise TypeError(f'{name} must be a sequence of numbers, not {type(values).__name__}')
    entries = _as_list(name, values)
    if len(entries) != count:
        raise ValueError(f'{name} must have {count} numbers, one for each part, not '
                         f'{len(entries)}')
    weights = tuple(number(f'{name}[{i}]', value) for i, value in enumerate(entries))
    if not any(weights):
        raise ValueError(f'{name} must have at least one positive number')
    return weights


def _powers(lengths: List[int], temperature: float) -> Tuple[float, ...]:
    """Return ``length ** (1 / temperature)`` of each length, the same on every machine.

    Different C libraries round powers differently, which would change an order.
    """
    if temperature == 1:
        return tuple(map(float, lengths))
    context = decimal.Context(prec=50, Emin=-decimal.MAX_EMAX // 4, Emax=decimal.MAX_EMAX // 4,
                              traps=[])
    exponent = context.divide(decimal.Decimal(1), decimal.Decimal(temperature))
    powers = tuple(float(context.power(decimal.Decimal(n), exponent)) for n in lengths)
    if max(powers) == math.inf:
        raise ValueError(f'temperature is too small: {max(lengths)} ** (1 / {temperature}) exceeds '
                         'the range of float64')
    return powers


def _take_schedule(schedule: Any, count: int) -> Tuple[Tuple[int, _Weights], ...]:
    """Return pairs of an offset and the weights that start there, in ascending order of offset."""
    if schedule is None:
        return ()
    pairs = []
    if isinstance(schedule, Mapping):
        for key, weights in schedule.items():
            begin = natural('schedule: an offset', key)
            pairs.append((begin, _take_weights(f'schedule[{begin}]', weights, count)))
        return tuple(sorted(pairs, key=lambda pair: pair[0]))
    for i, pair in enumerate(_as_list('schedule', schedule)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f'schedule[{i}] must be a pair of an offset and weights')
        begin = natural(f'schedule[{i}][0]', pair[0])
        if pairs and begin <= pairs[-1][0]:
            raise ValueError(f'schedule[{i}][0] must be greater than the previous offset '
                             f'({pairs[-1][0]}), not {begin}')
        pairs.append((begin, _take_weights(f'schedule[{i}][1]', pair[1], count)))
    return tuple(pairs)


def _take_offsets(offsets: Any, count: int) -> Tuple[int, ...]:
    entries = _as_list('offsets', offsets)
    if len(entries) != count:
        raise ValueError(f'offsets must have {count} numbers, one for each part, not '
                         f'{len(entries)}')
    return tuple(natural(f'offsets[{i}]', offset) for i, offset in enumerate(entries))
