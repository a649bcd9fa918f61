# SPDX-License-Identifier: MIT
"""NumPy arrays and .npy files as datasets."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .._paths import absolute
from .._tables import is_tensor, to_array
from .records import Concatenable, positions_of
from .compared import ComparedByValue
from .where import Condition, find_records

__all__ = ['NPDataset']


class NPDataset(ComparedByValue, Concatenable):
    """A dataset of the records along the first axis of an array or .npy file.

    It is indexed like the array. Comparing the dataset raises a TypeError: compare
    ``dataset.array`` instead.

    Parameters
    ----------
    array : path, numpy.ndarray or torch.Tensor
        The path of an .npy file, which is memory-mapped; or an array, or a tensor in CPU memory,
        which is not copied.

    Examples
    --------
    >>> np.save('labels.npy', np.arange(6) * 10)
    >>> labels = NPDataset('labels.npy')
    >>> labels[[5, 1]].tolist()
    [50, 10]
    """

    array: np.ndarray[Any, Any]

    def __init__(self, array: Any) -> None:
        self._path: Optional[str] = None
        if isinstance(array, (str, bytes, os.PathLike)):
            self._path = absolute(array)
            array = np.load(self._path, mmap_mode='r', allow_pickle=False)
        array = to_array(array, 'array') if is_tensor(array) else array
        if not isinstance(array, np.ndarray):
            raise TypeError('array must be a path, a NumPy array or a tensor, not '
                            f'{type(array).__name__}')
        if array.ndim == 0:
            raise ValueError('array is a scalar: pass an array with one record per '
                             'index of its first axis')
        self.array = array

    @property
    def shape(self) -> Tuple[int, ...]:
        """The number of records, followed by the shape of a record."""
        shape: Tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an element."""
        dtype: np.dtype[Any] = self.array.dtype
        return dtype

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self.array[tuple(to_array(one, 'index') for one in key)]
        return self.array[to_array(key, 'index')]

    def __contains__(self, value: object) -> bool:
        return value in self.array

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Return several records at once, for torch's DataLoader."""
        return list(self.array[positions_of(indices)])

    def where(self, condition: Condition) -> Any:
        """Return the records that meet a condition as a `SubsetDataset`; see `Dataset.where`.

        A function looks up the records as ``'data'``.
        """
        as_records = Concatenable._concatenate([self])
        return Concatenable._select(self, find_records(as_records, condition))

    def close(self) -> None:
        """Do nothing: a file remains mapped until the last array that uses it is freed."""

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        if copy:
            return np.array(self.array, dtype=dtype)
        return np.asarray(self.array, dtype=dtype)

    def __getstate__(self) -> Dict[str, Any]:
        """Return the attributes to pickle: for a file, its path instead of its content."""
        return {name: value for name, value in self.__dict__.items()
                if name != 'array' or self._path is None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._path is not None:
            self.array = np.load(self._path, mmap_mode='r', allow_pickle=False)

    def __repr__(self) -> str:
        return f'NPDataset({len(self)} x {self.dtype}{list(self.shape[1:])})'
