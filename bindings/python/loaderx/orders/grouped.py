# SPDX-License-Identifier: MIT
"""Orders by what is known of each record, its class or its length; and splits of records."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, folder, integers, natural, naturals, number
from .combined import _listed
from .order import Order

__all__ = ['Balanced', 'Bucketed', 'split']

_Array = np.ndarray[Any, np.dtype[np.uint64]]

# How far the sum of fractions may be off 1 and is meant to be 1.
_ROUNDING = 1e-9


class Balanced(Order):
    """Every class as often as every other one.

    Positions go by in rounds, each of which has all classes once, in an order of its own; and each
    time a class gives the next of its indices, which are shuffled anew whenever it has given all.
    Indices of small classes come more often than those of large ones.

    Parameters
    ----------
    classes : sequence or array
        The class of each index: integers of any sign, or texts, or bytes; equal ones are one class.
        At most 2**32 - 1 of them.
    n : int, optional
        Positions in an epoch; None: as many as there are indices. Rounds go on from one epoch to
        the next.
    seed : int
        0 to 2**64 - 1.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.

    Examples
    --------
    >>> order = Balanced(ds['label'][:], seed=42)
    """

    def __init__(
        self, classes: Any, n: Optional[int] = None, *, seed: int = 0, tables: Folder = None
    ) -> None:
        self._tables = folder('tables', tables)
        self._classes = _take_classes(classes)
        self._seed = natural('seed', seed)
        n = natural('n', len(self._classes) if n is None else n)
        if n != 0 and len(self._classes) == 0:
            raise ValueError('classes must have at least one, where n is not 0')
        self._order = _core.balanced(_count_classes(self._classes), n, self._seed,
                                     self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._classes, *super()._first_arguments())

    def _arguments(self) -> Dict[str, Any]:
        return {'seed': self._seed, **self._kept()}


class Bucketed(Order):
    """Batches of indices of like lengths, so that little is padded: a permutation in each epoch.

    Sorted by their lengths, the indices are cut into buckets; each is shuffled, and cut into
    batches; and the batches are shuffled. What is left over, fewer indices than a batch, comes
    last, and is of the longest.

    Parameters
    ----------
    lengths : sequence or array of int
        The length of each index, 0 or more; at most 2**32 - 1 of them.
    batch : int
        Indices of a batch, those of all ranks together: ``batch_size * world`` of a loader.
    bucket : int, optional
        Indices of a bucket, a multiple of `batch`; None: 100 batches. A larger one is shuffled
        better, in a smaller one lengths are closer to each other.
    seed : int
        0 to 2**64 - 1.
    tables : path, optional
        A folder that keeps the table in a file: who makes the order first makes it, and other
        processes and later runs open it at once, and share its memory. It is made if it is not
        there. What cannot be kept raises, and so does a file that is damaged. None: memory keeps
        the table.
    """

    def __init__(
        self,
        lengths: Any,
        batch: int,
        bucket: Optional[int] = None,
        *,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        wide = naturals('lengths', lengths)
        self._lengths = _narrow(wide)
        self._batch = natural('batch', batch, least=1, most=UINT64_MAX // 100)
        self._bucket = None if bucket is None else natural('bucket', bucket, least=1)
        self._seed = natural('seed', seed)
        size = 100 * self._batch if self._bucket is None else self._bucket
        if size % self._batch != 0:
            raise ValueError(f'bucket must be a multiple of batch, {self._batch}, not {size}')
        self._order = _core.bucketed(wide, self._batch, size, self._seed, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        first = (self._lengths, self._batch)
        return first if self._bucket is None else (*first, self._bucket)

    def _arguments(self) -> Dict[str, Any]:
        return {'seed': self._seed, **self._kept()}


@overload
def split(n_or_keys: Any, fractions: Sequence[float], *, seed: int = 0) -> List[_Array]: ...
@overload
def split(
    n_or_keys: Any, fractions: Mapping[str, float], *, seed: int = 0
) -> Dict[str, _Array]: ...
def split(
    n_or_keys: Any,
    fractions: Union[Sequence[float], Mapping[str, float]],
    *,
    seed: int = 0,
) -> Union[List[_Array], Dict[str, _Array]]:
    """Split indices into sets by a hash: for training and validation, say.

    Each index is in one of them, or in none where the fractions are less than 1 together. Where it
    goes does not depend on how many others there are: records that are appended move none from one
    set to another. So a set has its fraction about, and not to the record.

    Parameters
    ----------
    n_or_keys : int, or sequence or array of int
        How many indices there are. Or for each index the number that is hashed in its place, such
        as one of its patient or its document: those with the same number are in the same set.
    fractions : sequence or mapping of float
        Of each set, 0 to 1, and together 1 at most.
    seed : int
        0 to 2**64 - 1; each gives other sets.

    Returns
    -------
    list or dict of numpy.ndarray
        For each fraction, in order or by its name, the indices in its set: uint64, ascending.

    Examples
    --------
    >>> sets = split(len(ds), {'train': 0.9, 'validation': 0.1}, seed=42)
    >>> loader = Loader(ds, order=Subset(sets['train'], seed=42))
    """
    seed = natural('seed', seed)
    named = fractions.items() if isinstance(fractions, Mapping) else None
    if named is None and isinstance(fractions, (str, bytes)):
        raise TypeError(f'fractions must be a sequence or a mapping, not {fractions!r}')
    pairs: List[Tuple[Any, Any]] = list(
        enumerate(_listed('fractions', fractions)) if named is None else named)
    ends = _add_up([number(f'fractions[{name!r}]', value) for name, value in pairs])
    if np.ndim(n_or_keys) == 0 and not isinstance(n_or_keys, (str, bytes)):
        keys, n = None, natural('n_or_keys', n_or_keys)
    else:
        keys, n = integers('n_or_keys', n_or_keys), 0
    sets = [_core.split(keys, n, seed, begin, end) for begin, end in zip([0.0, *ends], ends)]
    return sets if named is None else {name: found for (name, _), found in zip(pairs, sets)}


def _add_up(fractions: List[float]) -> List[float]:
    """Where the part of each ends, if they are 1 together at most; if they are about 1, at 1."""
    if not fractions:
        raise ValueError('fractions must have at least one')
    ends = [math.fsum(fractions[:i + 1]) for i in range(len(fractions))]
    if ends[-1] > 1 + _ROUNDING:
        raise ValueError(f'fractions must be 1 together at most, not {ends[-1]:.9g}')
    whole = abs(ends[-1] - 1) <= _ROUNDING
    return [1.0 if whole and end >= ends[-1] else min(end, 1.0) for end in ends]


def _take_classes(classes: Any) -> np.ndarray[Any, Any]:
    """A copy of the classes, if they are integers, bools, texts or bytes."""
    if isinstance(classes, (str, bytes, bytearray)):
        raise TypeError(f'classes must be a sequence, not {type(classes).__name__}')
    array = np.array(classes)
    if array.ndim == 0:
        raise TypeError(f'classes must be a sequence, not {type(classes).__name__}')
    if array.ndim != 1:
        raise ValueError(f'classes must have one axis, not {array.ndim}')
    if len(array) == 0 and array.dtype.kind == 'f':    # of an empty list
        return array.astype(np.uint64)
    if array.dtype.kind not in 'iubSU':
        raise TypeError(f'classes must be integers, texts or bytes, not {array.dtype}')
    return array


def _count_classes(classes: np.ndarray[Any, Any]) -> _Array:
    """The number of each class: of integers they themselves, modulo 2**64."""
    if classes.dtype.kind in 'SU':
        classes = np.unique(classes, return_inverse=True)[1]
    return integers('classes', classes if classes.dtype.kind != 'b' else classes.view(np.uint8))


def _narrow(numbers: _Array) -> np.ndarray[Any, Any]:
    return numbers.astype(np.uint32) if len(numbers) == 0 or numbers.max() < 2**32 else numbers
