# SPDX-License-Identifier: MIT
"""Orders based on the class or the length of each record, and splits of records."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, folder, integers, natural, naturals, number
from .combined import _as_list
from .order import Order

__all__ = ['Balanced', 'Bucketed', 'split']

_Array = np.ndarray[Any, np.dtype[np.uint64]]

# A sum of fractions this close to 1 counts as 1.
_ROUNDING = 1e-9


class Balanced(Order):
    """An order in which all classes are equally frequent.

    The positions form rounds. Each round takes one index from each class, with the classes in
    random order. The indices of a class are shuffled, and shuffled again once all of them have been
    taken. Indices of small classes repeat more often than indices of large classes.

    Parameters
    ----------
    classes : sequence or array
        The class of each index: integers (which may be negative), strings or bytes. There can be at
        most 2**32 - 1 indices.
    n : int, optional
        The number of positions in an epoch; None: the number of indices. Rounds continue across
        epochs.
    seed : int
        The seed, from 0 to 2**64 - 1.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 0, 1, 1])
    >>> int(labels[Balanced(labels, n=100, seed=42).take(100)].sum())
    50
    """

    def __init__(
        self, classes: Any, *, n: Optional[int] = None, seed: int = 0, tables: Folder = None
    ) -> None:
        self._tables = folder('tables', tables)
        self._classes = _take_classes(classes)
        self._seed = natural('seed', seed)
        n = natural('n', len(self._classes) if n is None else n)
        if n != 0 and len(self._classes) == 0:
            raise ValueError('classes must not be empty unless n is 0')
        self._records = len(self._classes)
        self._order = _core.balanced(_count_classes(self._classes), n, self._seed,
                                     self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._classes,)

    def _arguments(self) -> Dict[str, Any]:
        return {'n': len(self), 'seed': self._seed, **self._tables_argument()}


class Bucketed(Order):
    """A different permutation in each epoch, with batches of similar lengths.

    The batches need little padding. The indices are sorted by length and cut into buckets. Each
    bucket is shuffled and cut into batches, and the batches are shuffled. The remaining indices,
    which have the largest lengths and do not fill a batch, come last.

    Parameters
    ----------
    lengths : sequence or array of int
        The length of the record at each index, 0 or more, such as ``ds['tokens'].lengths()``. There
        can be at most 2**32 - 1 indices.
    batch : int
        The number of indices in a global batch: the loader's ``batch_size * world``.
    bucket : int, optional
        The number of indices in a bucket, a multiple of `batch`; None: 100 batches. Larger buckets
        shuffle better; in smaller buckets, lengths are more similar.
    seed : int
        The seed, from 0 to 2**64 - 1.
    tables : path, optional
        The directory in which to store the table; it is created if necessary. The first process
        writes the table to a file, and other processes and later runs map that file. A failed write
        or a damaged file raises an error. None: the table is kept in memory.
    """

    def __init__(
        self,
        lengths: Any,
        *,
        batch: int,
        bucket: Optional[int] = None,
        seed: int = 0,
        tables: Folder = None,
    ) -> None:
        self._tables = folder('tables', tables)
        wide = naturals('lengths', lengths)
        self._lengths = _narrow(wide)
        self._batch = natural('batch', batch, minimum=1, maximum=UINT64_MAX // 100)
        self._bucket = None if bucket is None else natural('bucket', bucket, minimum=1)
        self._seed = natural('seed', seed)
        size = 100 * self._batch if self._bucket is None else self._bucket
        if size % self._batch != 0:
            raise ValueError(f'bucket must be a multiple of batch ({self._batch}), not {size}')
        self._records = len(wide)
        self._order = _core.bucketed(wide, self._batch, size, self._seed, self._tables)

    def _first_arguments(self) -> Tuple[Any, ...]:
        return (self._lengths,)

    def _arguments(self) -> Dict[str, Any]:
        return {'batch': self._batch, **({} if self._bucket is None else {'bucket': self._bucket}),
                'seed': self._seed, **self._tables_argument()}


@overload
def split(n_or_keys: Any, fractions: Sequence[float], *, seed: int = 0,
          formula: int = 2) -> List[_Array]: ...
@overload
def split(n_or_keys: Any, fractions: Mapping[str, float], *, seed: int = 0,
          formula: int = 2) -> Dict[str, _Array]: ...
def split(
    n_or_keys: Any,
    fractions: Union[Sequence[float], Mapping[str, float]],
    *,
    seed: int = 0,
    formula: int = 2,
) -> Union[List[_Array], Dict[str, _Array]]:
    """Split indices into sets by a hash, for example for training and validation.

    Each index is in at most one set, and in exactly one set if the fractions sum to 1. The set of
    an index does not depend on the number of indices: appending records never moves existing
    records to a different set. For this reason, the size of a set matches its fraction only
    approximately.

    Parameters
    ----------
    n_or_keys : int, or sequence or array of int, str or bytes
        The number of indices; or a key for each index, for example the ID of a patient or
        document, which is hashed instead of the index. Indices with equal keys are in the same set.
        (Do not pass ``hash(text)``: it differs in each process.)
    fractions : sequence or mapping of float
        The fraction of each set, from 0 to 1. The sum of the fractions must be at most 1. The order
        of the names in a mapping does not matter.
    seed : int
        The seed, from 0 to 2**64 - 1. Different seeds give different sets.
    formula : int
        1 gives the sets of version 1.0.0-rc1, which depend on the order of the names.

    Returns
    -------
    list or dict of numpy.ndarray
        The indices of each set, as ascending uint64 numbers: a list in the order of `fractions`, or
        a dict by name.

    Examples
    --------
    >>> sets = split(1000, {'train': 0.9, 'validation': 0.1}, seed=42)
    >>> len(sets['train']) + len(sets['validation'])
    1000
    >>> order = Subset(sets['train'], seed=42)
    """
    seed, formula = natural('seed', seed), natural('formula', formula, minimum=1, maximum=2)
    named = fractions.items() if isinstance(fractions, Mapping) else None
    if named is None and isinstance(fractions, (str, bytes)):
        raise TypeError(f'fractions must be a sequence or a mapping, not {fractions!r}')
    pairs: List[Tuple[Any, Any]] = list(
        enumerate(_as_list('fractions', fractions)) if named is None else named)
    placed = pairs if named is None or formula == 1 else sorted(pairs, key=_bytes_of_name)
    ends = _add_up([number(f'fractions[{name!r}]', value) for name, value in placed])
    if np.ndim(n_or_keys) == 0 and not isinstance(n_or_keys, (str, bytes)):
        keys, n = None, natural('n_or_keys', n_or_keys)
    else:
        keys, n = _take_keys(n_or_keys), 0
    found = {name: _core.split(keys, n, seed, begin, end)
             for (name, _), begin, end in zip(placed, [0.0, *ends], ends)}
    sets = {name: found[name] for name, _ in pairs}
    return list(sets.values()) if named is None else sets


def _bytes_of_name(pair: Tuple[Any, Any]) -> bytes:
    if not isinstance(pair[0], str):
        raise TypeError(f'fractions: a name must be a str, not {pair[0]!r}')
    return pair[0].encode()


def _take_keys(keys: Any) -> Any:
    """Return the keys as integers; those of texts are the hashes that doc/orders.md defines."""
    if isinstance(keys, (str, bytes)):
        raise TypeError(f'n_or_keys must be an int or a sequence of keys, not {keys!r}')
    if isinstance(keys, np.ndarray) and keys.dtype.kind not in 'OSU':
        return integers('n_or_keys', keys)
    texts = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if not texts or not isinstance(texts[0], (str, bytes)):
        return integers('n_or_keys', keys)
    kind = type(texts[0])
    for i, text in enumerate(texts):
        if not isinstance(text, kind):
            raise TypeError(f'n_or_keys[{i}] must be {kind.__name__}, as the first key, not '
                            f'{text!r}')
    encoded = texts if kind is bytes else [text.encode() for text in texts]
    hashes = (hashlib.blake2b(text, digest_size=8).digest() for text in encoded)
    return np.frombuffer(b''.join(hashes), '<u8').astype(np.uint64)


def _add_up(fractions: List[float]) -> List[float]:
    """Return the cumulative sums; a total that differs from 1 only by rounding becomes 1."""
    if not fractions:
        raise ValueError('fractions must have at least one number')
    ends = [math.fsum(fractions[:i + 1]) for i in range(len(fractions))]
    if ends[-1] > 1 + _ROUNDING:
        raise ValueError(f'fractions must have a sum of at most 1, not {ends[-1]:.9g}')
    sums_to_one = abs(ends[-1] - 1) <= _ROUNDING
    return [1.0 if sums_to_one and end >= ends[-1] else min(end, 1.0) for end in ends]


def _take_classes(classes: Any) -> np.ndarray[Any, Any]:
    """Return a copy of the classes if they are integers, bools, strings or bytes."""
    if isinstance(classes, (str, bytes, bytearray)):
        raise TypeError(f'classes must be a sequence, not {type(classes).__name__}')
    array = np.array(classes)
    if array.ndim == 0:
        raise TypeError(f'classes must be a sequence, not {type(classes).__name__}')
    if array.ndim != 1:
        raise ValueError(f'classes must have one axis, not {array.ndim}')
    if len(array) == 0 and array.dtype.kind == 'f':    # the dtype of an empty list
        return array.astype(np.uint64)
    if array.dtype.kind not in 'iubSU':
        raise TypeError(f'classes must be integers, strings or bytes, not {array.dtype}')
    return array


def _count_classes(classes: np.ndarray[Any, Any]) -> _Array:
    """Convert the classes to numbers; integers keep their values, modulo 2**64."""
    if classes.dtype.kind in 'SU':
        classes = np.unique(classes, return_inverse=True)[1]
    return integers('classes', classes if classes.dtype.kind != 'b' else classes.view(np.uint8))


def _narrow(numbers: _Array) -> np.ndarray[Any, Any]:
    return numbers.astype(np.uint32) if len(numbers) == 0 or numbers.max() < 2**32 else numbers
