# SPDX-License-Identifier: MIT
"""Sources: what a loader reads."""

from __future__ import annotations

import functools
import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _core
from .dataset import Dataset
from .packing import PackedDataset
from .tokens import TokenDataset

__all__ = ['ConcatDataset', 'FlatDataset', 'NPDataset', 'NullDataset', 'SubsetDataset']

# What the arrays of a pair are called, as in DataLoader.
PLACES = ('data', 'label')


class NPDataset:
    """An array, or an .npy file, as a dataset: its first axis counts the records.

    Parameters
    ----------
    array : path or numpy.ndarray
        An .npy file, which is mapped and not read as a whole, or an array, which is not copied.

    Examples
    --------
    >>> labels = NPDataset("train_label.npy")
    >>> labels[3], labels[[5, 1]]
    """

    array: np.ndarray[Any, Any]

    def __init__(self, array: Any) -> None:
        if isinstance(array, (str, bytes, os.PathLike)):
            array = np.load(os.fsdecode(array), mmap_mode='r', allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise TypeError(f'array must be a path or a NumPy array, not {type(array).__name__}')
        if array.ndim == 0:
            raise ValueError('array has no axis to count records by')
        self.array = array

    @property
    def shape(self) -> Tuple[int, ...]:
        """Records first, then the shape of a record."""
        shape: Tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of an element."""
        dtype: np.dtype[Any] = self.array.dtype
        return dtype

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        if copy:
            return np.array(self.array, dtype=dtype)
        return np.asarray(self.array, dtype=dtype)

    def __repr__(self) -> str:
        return f'NPDataset({len(self)} x {self.dtype}{list(self.shape[1:])})'


class ConcatDataset:
    """Datasets one behind the other: the indices of each come behind all of those before it.

    Parameters
    ----------
    datasets : sequence
        Each a `Dataset`, `NPDataset`, array, path, or another of these; all with columns of the
        same names, dtypes and shapes.

    Examples
    --------
    >>> both = ConcatDataset([lx.open('2023'), lx.open('2024')])
    >>> loader = lx.Loader(both, batch_size=256, order=lx.Shuffle(seed=42))
    """

    datasets: Tuple[Any, ...]

    def __init__(self, datasets: Sequence[Any]) -> None:
        if isinstance(datasets, (str, bytes, os.PathLike, np.ndarray, Mapping)):
            raise TypeError(
                f'datasets must be a list or a tuple of datasets, not {type(datasets).__name__}'
            )
        self.datasets = tuple(datasets)
        if not self.datasets:
            raise ValueError('datasets is empty: there is nothing to read')
        made = [_of_one(one, f'datasets[{place}]') for place, one in enumerate(self.datasets)]
        self._source = _core.source_concat(tuple(core for core, _ in made))
        self._nameless = all(nameless for _, nameless in made)

    def __len__(self) -> int:
        return self._source.length

    def __reduce__(self) -> Any:
        return ConcatDataset, (self.datasets,)

    def __repr__(self) -> str:
        return f'ConcatDataset({list(self.datasets)!r})'


class SubsetDataset:
    """Some records of a dataset, in any order, and as often as they are named.

    Parameters
    ----------
    dataset : Dataset, NPDataset, array, path or another of these
        What they are of.
    indices : slice, mask, sequence or array of int
        Which, as in ``dataset['field'][indices]``; they take 4 or 8 bytes each. In an order of
        its own: `lx.Subset` leaves the dataset as it is and says what is read of it.

    Examples
    --------
    >>> training = SubsetDataset(images, labels != 7)
    """

    dataset: Any

    def __init__(self, dataset: Any, indices: Any) -> None:
        core, self._nameless = _of_one(dataset, 'dataset')
        self.dataset = dataset
        self._source = _core.source_subset(core, indices)
        self._indices = indices

    def __len__(self) -> int:
        return self._source.length

    def __reduce__(self) -> Any:
        return SubsetDataset, (self.dataset, self._indices)

    def __repr__(self) -> str:
        return f'SubsetDataset({self.dataset!r}, {len(self)} indices)'


class FlatDataset:
    """A file of bare records, one after the other, which is mapped.

    Parameters
    ----------
    path : str, bytes or path-like
        A regular file, little-endian.
    dtype : dtype or str
        Of an element.
    shape : tuple of int, optional
        Of a record; a scalar by default.
    offset : int, optional
        Bytes of a header, before the first record.
    name : str, optional
        Of its one column.

    Raises
    ------
    CorruptError
        The file ends within a record.

    Examples
    --------
    >>> tokens = FlatDataset('train.bin', np.uint16, (2048,))
    """

    path: str

    def __init__(
        self, path: Any, dtype: Any, shape: Any = (), *, offset: int = 0, name: str = 'data'
    ) -> None:
        # The path, the numbers and the name are checked where the file is opened.
        given = np.dtype(dtype)
        if given.newbyteorder('<') != given:
            raise ValueError(f'dtype is {dtype!r}, and records of flat files are little-endian')
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self._source = _core.source_flat(path, (name, given.name, extents, 'raw'), offset)
        self._nameless = name == 'data'
        self._arguments = (path, given, extents)
        self._more = {'offset': offset, 'name': name}
        self.path = os.fsdecode(path)

    def __reduce__(self) -> Any:
        return functools.partial(FlatDataset, **self._more), self._arguments

    def __len__(self) -> int:
        return self._source.length

    def __repr__(self) -> str:
        name, dtype, shape = self._source.columns[0]
        return f'FlatDataset({self.path!r}, {dtype!r}, {shape!r})'


class NullDataset:
    """A dataset without data, that stands for another one: for a rank that needs none.

    A `Loader` over it goes the same way as those that read: the same number of batches and the same
    positions, and states that either loads of the other. Its batches are dicts without fields
    (``{}``, or with ``keys=`` only those), nothing is read, and no memory is taken for values. So
    the ranks of a pipeline run one loop: the first stage over the dataset, or some fields of it,
    one in the middle over the `NullDataset`.

    In a tuple it leaves out the fields of one of several: ``(NullDataset(images), labels)`` reads
    labels alone, with the states of ``(images, labels)``.

    Parameters
    ----------
    source : Dataset, NPDataset, array, path, tuple, list or dict
        What it stands for, as in `Loader`. It is looked at now, and not held: files and arrays may
        be closed, and what a path names is open during this call alone. Kept is what states say of
        it, and of a dataset the commit that it shows now.

    Examples
    --------
    >>> source = lx.open('tokens') if stage in (0, last) else lx.NullDataset('tokens')
    >>> loader = lx.Loader(source, batch_size=8, order=lx.Shuffle(seed=42), rank=dp, world=dp_world)
    """

    def __init__(self, source: Any) -> None:
        self._source = _core.source_null(as_source(source))
        self._nameless = False

    def __len__(self) -> int:
        return self._source.length

    def __reduce__(self) -> Any:
        raise TypeError('a NullDataset cannot be pickled; make it anew of what it stands for')

    def __repr__(self) -> str:
        return f'NullDataset({len(self)} records)'


def _of_array(array: np.ndarray[Any, Any], name: str) -> _core.Source:
    """A source over the array's own memory."""
    if array.ndim == 0:
        raise ValueError(f'{name} has no axis to count records by')
    if array.dtype.newbyteorder('=').name not in _core.DTYPES:
        raise TypeError(f'{name} has the dtype {array.dtype}, which cannot be loaded')
    if not array.dtype.isnative:
        raise ValueError(
            f'{name} has the dtype {array.dtype}, of the other byte order: use '
            "array.astype(array.dtype.newbyteorder('='))"
        )
    if len(array) and not array[0].flags.c_contiguous:
        raise ValueError(
            f'{name} has records that are not contiguous: use numpy.ascontiguousarray()'
        )
    return _core.source_array(array, array.dtype.name)


_SOURCES = (ConcatDataset, SubsetDataset, FlatDataset, NullDataset, TokenDataset, PackedDataset)


def _of_one(source: Any, name: str) -> Tuple[_core.Source, bool]:
    """A source, and whether it has no name of its own for its column."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return _core.source_open(source), not os.path.isdir(source)
    if isinstance(source, _SOURCES):
        return source._source, source._nameless
    if isinstance(source, NPDataset):
        source = source.array
    if isinstance(source, np.ndarray):
        return _of_array(source, name), True
    dataset = getattr(source, '_dataset', source)
    if isinstance(dataset, Dataset):
        return _core.source_dataset(dataset), False
    raise TypeError(
        f'{name} must be a Dataset, an NPDataset or another of these, an array, a path, or '
        f'several of them in a tuple or a dict, not {type(source).__name__}'
    )


def zip_sources(
    sources: Sequence[Any], names: Sequence[Optional[str]], arguments: Sequence[str]
) -> _core.Source:
    """Several side by side; a name is for the only column of one, and errors name arguments."""
    made = [_of_one(one, argument)[0] for one, argument in zip(sources, arguments)]
    return _zip(made, names, ' and '.join(arguments))


def _zip(made: Sequence[_core.Source], names: Sequence[Optional[str]], what: str) -> _core.Source:
    try:
        return _core.source_zip(tuple(made), tuple(names))
    except ValueError as error:
        raise ValueError(f'{what}: {error}') from None


def as_source(source: Any, what: str = 'source') -> _core.Source:
    """What a loader reads, of what its user gave."""
    if isinstance(source, Mapping):
        if not source:
            raise ValueError(f'{what} is empty: there is nothing to read')
        for name in source:
            if not isinstance(name, str):
                raise TypeError(f'{what} must have names that are str, not {type(name).__name__}')
        made = [_of_one(one, f'{what}[{name!r}]')[0] for name, one in source.items()]
        return _zip(made, list(source), what)
    if not isinstance(source, (tuple, list)):
        return _of_one(source, what)[0]
    if not source:
        raise ValueError(f'{what} is empty: there is nothing to read')
    cores: List[_core.Source] = []
    names: List[Optional[str]] = []
    for place, one in enumerate(source):
        core, nameless = _of_one(one, f'{what}[{place}]')
        if nameless and place >= len(PLACES):
            raise ValueError(
                f'{what}[{place}]: an array here has no name: give a dict, '
                "{'name': array, ..}, in place of the tuple"
            )
        cores.append(core)
        names.append(PLACES[place] if nameless else None)
    return _zip(cores, names, what)
