# SPDX-License-Identifier: MIT
"""How the batches of a loader of torch's kind are read."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch
from torch.utils import data

from . import _core
from ._torch_collate import default_collate
from .dataset import Dataset
from .source import _SOURCES, NPDataset, _of_one, as_source

__all__ = ['Gathered', 'Records', 'Together', 'collation', 'find_source', 'together']

_KINDS = (Dataset, NPDataset, *_SOURCES)


class Together:
    """Datasets of one length side by side, as `Loader` has them of a tuple."""

    def __init__(self, datasets: Any) -> None:
        self.datasets = datasets
        self._source = as_source(datasets, 'dataset')

    def __len__(self) -> int:
        return self._source.length


def together(dataset: Any) -> Any:
    """A tuple or list of loaderx datasets as one of them; anything else as it is."""
    if isinstance(dataset, (tuple, list)) and dataset and all(isinstance(one, _KINDS)
                                                              for one in dataset):
        return Together(tuple(dataset))
    return dataset


def find_source(dataset: Any) -> Optional[_core.Source]:
    """What the library reads of a dataset of ours; None where it is read record by record."""
    if isinstance(dataset, Together):
        source = dataset._source
    elif isinstance(dataset, _KINDS):
        try:
            source = _of_one(dataset, 'dataset')[0]
        except (TypeError, ValueError):
            return None    # an array of a kind that only NumPy reads
    else:
        return None
    return None if any(dtype is None for _, dtype, _ in source.columns) else source


def collation(function: Any) -> Any:
    """What makes a batch of items: in place of torch's own, ours, which gives the same."""
    return default_collate if function is data._utils.collate.default_collate else function


class Gathered:
    """Batches of tensors of a dataset of ours, read by the library."""

    def __init__(self, dataset: Any, source: _core.Source, batched: bool) -> None:
        self._dataset = dataset
        self.source = source
        self._batched = batched
        self.names: Tuple[str, ...] = tuple(name for name, _, _ in source.columns)

    def fetch(self, index: Any) -> Any:
        """The records of a list of indices, or of one."""
        if self._batched:
            return self.tensors(self.gather(_integers(index)))
        batch = self.tensors(self.gather(_integers([index])))
        return {name: values[0] for name, values in batch.items()} if isinstance(
            batch, dict) else batch[0]

    def tensors(self, batch: Dict[str, Any]) -> Any:
        """The arrays as tensors, without a copy: of an NPDataset, whose items are arrays, one."""
        made = {name: torch.from_numpy(values) for name, values in batch.items()}
        return made[self.names[0]] if isinstance(self._dataset, NPDataset) else made

    def gather(self, indices: np.ndarray[Any, Any]) -> Dict[str, Any]:
        """The arrays of a batch."""
        if isinstance(self._dataset, Dataset):
            return self._dataset.gather(indices, self.names)
        if isinstance(self._dataset, NPDataset):
            return {self.names[0]: self._dataset.array[indices]}
        resolved = _resolve(indices, self.source.length)
        order = _core.subset(_core.sequential(len(indices), 1, 1), resolved, None)
        loader = _core.Loader(self.source, order, self.names, len(indices), 1, 0, 0, 1, False, 0,
                              None, None, None, 'raise', None)
        made: Dict[str, Any] = next(loader)
        return made


class Records:
    """The records of a dataset of ours that gives batches alone, for who collates them himself."""

    def __init__(self, dataset: Any, source: _core.Source) -> None:
        self._gathered = Gathered(dataset, source, True)

    def __getitems__(self, indices: Any) -> List[Dict[str, Any]]:
        batch = self._gathered.gather(_integers(indices))
        return [{name: values[row] for name, values in batch.items()}
                for row in range(len(indices))]

    def __getitem__(self, index: Any) -> Dict[str, Any]:
        return self.__getitems__([index])[0]


def _integers(index: Any) -> np.ndarray[Any, Any]:
    if len(index) == 0:
        raise IndexError('list index out of range')    # as torch's collation of no items
    made = np.array(index)
    if made.ndim != 1 or made.dtype.kind not in 'iu':
        raise TypeError(f'indices must be ints, not {type(index[0]).__name__}')
    return made


def _resolve(indices: np.ndarray[Any, Any], length: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Indices that may count from the end, as such that do not."""
    wrong = np.flatnonzero((indices >= length) | (indices < -length))
    if len(wrong):
        raise IndexError(f'index {indices[wrong[0]]} is out of range: the dataset has {length} '
                         'records')
    return np.where(indices < 0, indices + length, indices).astype(np.uint64)
