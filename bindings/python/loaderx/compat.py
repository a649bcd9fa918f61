# SPDX-License-Identifier: MIT
"""The API of the original loaderx: converter, ARDataset and DataLoader.

Differences from the original:

- Mode 1 of `DataLoader` shuffles without replacement. The original samples with replacement, and
  so misses 37% of the records in each epoch.
- Batches and their order do not depend on the number of workers.
- `close()` always returns, even if there are more workers than batches to prefetch, or if no batch
  has been returned yet.
- If a transform raises an exception, ``next()`` raises it instead of waiting forever.
- A loader does not close the datasets it reads.
- Each loop over a `DataLoader` is a separate pass, which begins with an epoch. In the original, a
  loop continues where the last one ended, so a validation loop sees other records each time.
"""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Dict, Optional, Tuple, Type, TypeVar

import numpy as np

from . import _core
from ._check import UINT64_MAX, natural
from ._progress import open_bar
from ._replacement import replacing
from ._types import array_type, find_dtype, varies
from .sources.records import BatchReadable
from .sources.compared import ComparedByValue
from .sources import Dataset
from .field import Field
from .loader import Loader
from .opening import create
from .orders import Repeat, Sequential, Shuffle
from .sources.source import PLACES, zip_sources

__all__ = ['ARDataset', 'DataLoader', 'converter', 'identity']

# The number of bytes that converter copies at a time.
_BLOCK = 8 << 20

# The number of positions in the order of a DataLoader, which is practically endless.
_POSITIONS = 1 << 62

_Pair = Tuple[Any, Any]
_Self = TypeVar('_Self', bound='DataLoader')


def identity(pair: _Pair) -> _Pair:
    """Return the pair unchanged; this is the default transform."""
    return pair


# ---- converter


def _size(dtype: np.dtype[Any], shape: Tuple[int, ...]) -> int:
    """Return the size of a record in bytes."""
    return dtype.itemsize * math.prod(shape)


def _write(array: np.ndarray[Any, Any], directory: str, shown: str) -> None:
    dtype = array.dtype.newbyteorder('=')
    rows = max(1, _BLOCK // max(1, _size(dtype, array.shape[1:])))
    bar = open_bar(shown, ' records', len(array))
    writer = create(directory, {PLACES[0]: Field(dtype.name, array.shape[1:])})
    try:
        for first in range(0, len(array), rows):
            part = np.ascontiguousarray(array[first : first + rows], dtype=dtype)
            writer.extend(data=part)
            if bar is not None:
                bar.update(len(part))
        writer.commit()
    finally:
        writer.close()
        if bar is not None:
            bar.close()


def converter(array: Any, directory: Any, replace: bool = False) -> None:
    """Write an array to a new dataset, with one record per element of the array's first axis.

    The dataset has a single field, ``data``. Open it with `ARDataset` or ``loaderx.open``. An empty
    array creates an empty dataset. A bar shows the progress on a terminal or in a notebook, if
    tqdm is installed.

    Parameters
    ----------
    array : numpy.ndarray
        The array to write; it may be memory-mapped (``numpy.load(path, mmap_mode='r')``).
    directory : path
        The directory to create. An existing directory must be empty unless `replace` is True.
    replace : bool
        Whether to replace an existing dataset. The new dataset is first written to a temporary
        directory, and replaces the existing dataset once it is complete. Datasets that are open,
        and directories that are not datasets, are never removed.

    Raises
    ------
    FileExistsError
        The directory is not empty, and either `replace` is False or the directory is not a dataset.
    BlockingIOError
        The dataset to replace is in use.
    """
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    if array.ndim == 0:
        raise ValueError('array is a scalar: pass an array with one record per index of its '
                         'first axis')
    if array_type(array.dtype) is None:
        raise TypeError(f'array has the dtype {array.dtype}, which cannot be stored')
    if not isinstance(replace, bool):
        raise TypeError(f'replace must be True or False, not {replace!r}')
    shown = os.fsdecode(directory)
    target = os.path.realpath(shown)
    if not (replace and os.path.isdir(target) and os.listdir(target)):
        _write(array, target, shown)
        return
    with replacing(target, shown) as made:
        _write(array, made, shown)


# ---- datasets


class ARDataset(ComparedByValue, BatchReadable):
    """A dataset with a single field, as created by `converter`, that is indexed like an array.

    It is indexed like a `Column`, and comparing it also raises a TypeError: compare ``dataset[:]``
    instead.

    Parameters
    ----------
    path : path
        The dataset directory.

    Examples
    --------
    >>> converter(np.arange(6).reshape(3, 2), 'pairs')
    >>> pairs = ARDataset('pairs')
    >>> len(pairs), pairs[[2, 0]].tolist()
    (3, [[4, 5], [0, 1]])
    """

    def __init__(self, path: Any) -> None:
        dataset = Dataset(path)
        names = list(dataset.fields)
        if len(names) != 1:
            dataset.close()
            raise ValueError(
                f'path: {dataset.path} has the fields {", ".join(names)}, but an ARDataset '
                'must have exactly one field: use loaderx.open'
            )
        self._dataset = dataset
        self._column = dataset[names[0]]

    @property
    def shape(self) -> Tuple[int, ...]:
        """The number of records, followed by the shape of a record."""
        return self._column.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an element."""
        dtype: np.dtype[Any] = self._column.dtype
        return dtype

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, key: Any) -> Any:
        return self._column[key]

    def __getitems__(self, indices: Any) -> np.ndarray[Any, Any]:
        """Return several records as one array."""
        records: np.ndarray[Any, Any] = self._column[list(indices)]
        return records

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._column, dtype=dtype)

    def close(self) -> None:
        """Close the dataset.

        Loaders that read the dataset continue to work, and arrays remain valid.
        """
        self._dataset.close()

    def __enter__(self) -> ARDataset:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'ARDataset({len(self)} x {self.dtype}{list(self.shape[1:])})'


# ---- loader


def _on_pairs(transform: Callable[[_Pair], _Pair]) -> Callable[[Dict[str, Any]], Dict[str, Any]]:
    """Return a batch transform that applies `transform` to the pair of data and labels."""

    def on_batch(batch: Dict[str, Any]) -> Dict[str, Any]:
        pair = transform((batch['data'], batch['label']))
        try:
            data, label = pair
        except (TypeError, ValueError):
            raise TypeError(
                f'transform must return a pair (data, label), not {type(pair).__name__}'
            ) from None
        return {'data': data, 'label': label}

    return on_batch


class DataLoader(Loader):
    """An endless iterator over batches of data and labels.

    This is a `Loader` with the original's arguments. The epochs follow one another without end: use
    ``break`` to leave a loop. A batch is a dict of the arrays ``data`` and ``label``, and is always
    full: the last batch of an epoch is completed with records of the next epoch.

    Each ``for`` loop is a separate pass, as with a `Loader`: it begins with the first record of the
    epoch after the last one that was read. With ``mode=0``, each loop thus reads the same batches.
    In the original, all loops share one position. To continue in several loops, keep the iterator,
    ``batches = iter(loader)``, or call ``next(loader)``. To resume training, save the position with
    ``tell()`` and restore it with ``seek()``; the original can only start again from the beginning.

    Parameters
    ----------
    dataset, labelset : ARDataset, NPDataset, Dataset with one field, array or path
        The data and the labels. Their lengths must be equal, and at least 1. Closing the loader
        does not close them.
    num_workers : int
        The number of threads that prepare batches, from 0 to 64. With 0, the caller of ``next``
        prepares them. The batches do not depend on this number.
    batch_size : int
        The number of records in a batch.
    prefetch_size : int
        The number of batches to prefetch: at least 1, and at most 4 for each worker.
    mode : int
        0: sequential. 1: shuffled without replacement in each epoch (the original samples with
        replacement, and so misses 37% of the records).
    seed : int
        The seed for mode 1. Equal seeds give equal orders.
    transform : callable
        ``transform((data, label))`` receives the arrays of a batch, on any thread, and returns the
        pair that replaces them. If it raises an exception, so does ``next()``.

    Examples
    --------
    >>> data, labels = np.zeros((6, 2)), np.arange(6)
    >>> loader = DataLoader(NPDataset(data), NPDataset(labels), batch_size=2, mode=0)
    >>> next(iter(loader))['label'].tolist()
    [0, 1]
    """

    def __new__(
        cls: Type[_Self],
        dataset: Any,
        labelset: Any,
        num_workers: int = 4,
        batch_size: int = 256,
        prefetch_size: int = 4,
        mode: int = 1,
        seed: int = 42,
        transform: Callable[[_Pair], _Pair] = identity,
    ) -> _Self:
        num_workers = natural('num_workers', num_workers, maximum=64)
        batch_size = natural('batch_size', batch_size, minimum=1)
        prefetch_size = natural('prefetch_size', prefetch_size, minimum=1)
        mode = natural('mode', mode, maximum=1)
        if not callable(transform):
            raise TypeError(f'transform must be callable, not {type(transform).__name__}')
        source = zip_sources((dataset, labelset), PLACES, ('dataset', 'labelset'))
        if source.length == 0:
            raise ValueError('dataset must not be empty: batches are always full')
        for name, kind, shape in source.columns:
            if varies(kind, shape):
                raise ValueError(f'the records of {name!r} vary in length, which this class does '
                                 'not support: use a Loader')
        round_ = Sequential(n=source.length) if mode == 0 else Shuffle(n=source.length, seed=seed)
        # A batch is short only at the end of an epoch of the order, and this order has one
        # practically endless epoch.
        order = Repeat(round_, _POSITIONS // source.length)
        order._epoch = source.length
        size = sum(_size(find_dtype(kind), shape) for _, kind, shape in source.columns)
        ahead = prefetch_size * batch_size * size
        return super().__new__(
            cls, dict(zip(PLACES, (dataset, labelset))), batch_size=batch_size, order=order,
            epochs=None, rank=0, world=1, threads=num_workers,
            prefetch_bytes=min(ahead, UINT64_MAX),
            transform=None if transform is identity else _on_pairs(transform))

    def __repr__(self) -> str:
        place = 'closed' if self.closed else f'at sample {self.tell()}'
        return f'<loaderx.DataLoader of {self._shown[0]}{self._shown[2]}: {place}>'
