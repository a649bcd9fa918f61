# SPDX-License-Identifier: MIT
"""Mixtures of Megatron-LM datasets."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .._check import Folder, folder, natural
from ..orders.mixed import indices_at, locate
from ..sources.records import BatchReadable, refuse_own_method
from ..orders import Blend, Order, Sequential
from ..sources import ConcatDataset
from ..sources.tokens import tokens_of
from ._samples import GPTDataset
from ._splits import normalize, samples_per_dataset, split_documents

__all__ = ['BlendedDataset']

_Array = np.ndarray[Any, Any]

_SETS_MAX = 32766
_PARTS = ('train', 'valid', 'test')


class BlendedDataset(BatchReadable):
    """A mixture of GPT datasets that exactly reproduces Megatron's class of the same name.

    A blend works with torch's DataLoader: ``blend[i]`` is a sample, in which ``dataset_id`` is the
    index of the dataset that contains the sample. A `Loader` reads the blend in the same order and
    returns the fields of the datasets, which must all have the same fields;
    ``transform=blend.collate`` converts the batches to Megatron's form.

    Parameters
    ----------
    datasets : sequence of GPTDataset
        The datasets, each with enough samples for its share; see `samples_per_dataset`.
    weights : sequence of float, optional
        The weights of the datasets, each above 0; they are divided by their sum. None: weights
        proportional to the lengths of the datasets.
    size : int, optional
        The number of samples in the blend. None: the blend contains each sample of each dataset
        once; omit `weights` in this case.
    tables : path, optional
        The directory in which to store the table of the blend; see `GPTDataset`.

    Attributes
    ----------
    source : ConcatDataset
        All samples of all datasets, once each.
    order : Order
        The order in which these samples appear in the blend.

    Raises
    ------
    IndexError
        A dataset has fewer samples than the blend needs, as in Megatron.

    Examples
    --------
    >>> blend = BlendedDataset.build(['wiki.bin', 'code.bin'], 4096, train_samples, [0.7, 0.3],
    ...                              split='969,30,1', part='train')
    >>> loader = lx.Loader(blend, batch_size=8, transform=blend.collate)
    """

    datasets: List[GPTDataset]
    weights: List[float]
    size: Optional[int]
    source: ConcatDataset
    order: Order

    def __init__(
        self,
        datasets: Sequence[GPTDataset],
        weights: Optional[Sequence[float]] = None,
        size: Optional[int] = None,
        *,
        tables: Folder = None,
    ) -> None:
        self.datasets = list(datasets)
        if not 1 <= len(self.datasets) <= _SETS_MAX:
            raise ValueError(f'datasets must have 1 to {_SETS_MAX} items, not {len(self.datasets)}')
        for i, one in enumerate(self.datasets):
            if not isinstance(one, GPTDataset):
                raise TypeError(f'datasets[{i}] must be a GPTDataset, not {type(one).__name__}')
        if size is None and weights is not None:
            raise ValueError('weights require size: without size, each sample occurs once')
        self.size = None if size is None else natural('size', size, minimum=1, maximum=2**53)
        self._weights = None if weights is None else list(map(float, weights))
        self._tables = folder('tables', tables)
        self._build()

    def _build(self) -> None:
        lengths = [len(one) for one in self.datasets]
        self.source = ConcatDataset([one.source for one in self.datasets])
        self._begins = np.cumsum([0, *lengths[:-1]])
        parts = [Sequential(n=length) for length in lengths]
        offsets = self._begins.tolist()
        if self.size is None:
            self.order = Blend(parts, offsets=offsets, method='exhaustive', tables=self._tables)
            self.weights = [float(length) for length in lengths]
            return
        raw_weights = list(map(float, lengths)) if self._weights is None else self._weights
        if len(raw_weights) != len(lengths):
            raise ValueError(f'weights must have {len(lengths)} numbers, one for each dataset, not '
                             f'{len(raw_weights)}')
        self.weights = normalize(raw_weights)
        blend = Blend(parts, raw_weights, n=self.size, offsets=offsets, method='greedy',
                      tables=self._tables)
        self.order = blend
        for i, (count, length) in enumerate(zip(blend.counts(0, self.size).tolist(), lengths)):
            if count > length:
                raise IndexError(f'the blend needs {count} samples of datasets[{i}], which has '
                                 f'only {length}: create that dataset with more samples; see '
                                 'samples_per_dataset()')

    @classmethod
    def build(
        cls,
        tokens: Sequence[Any],
        sequence_length: int,
        size: Optional[int] = None,
        weights: Optional[Sequence[float]] = None,
        *,
        split: str = '1',
        part: str = 'train',
        surplus: float = 0.005,
        tables: Folder = None,
        **options: Any,
    ) -> BlendedDataset:
        """Create the datasets and the blend for one part of a split, as Megatron's builder does.

        With weights, each dataset is created with its share of `size` samples, increased by the
        fraction `surplus`, and the length of the blend is the sum of the shares, each rounded up.
        Without weights, each dataset contains one epoch, and the blend contains all samples of all
        datasets or, with `size`, at most `size` samples, in proportion to the lengths of the
        datasets.

        Parameters
        ----------
        tokens : sequence of Tokens, paths or Columns
            The tokens of each dataset.
        sequence_length : int
            The number of tokens in an input.
        size : int, optional
            The number of samples needed.
        weights : sequence of float, optional
            The weights of the datasets, each above 0. Requires `size`.
        split : str, optional
            The shares of the split; see `split_documents`.
        part : {'train', 'valid', 'test'}
            The part of the split to use.
        surplus : float, optional
            Megatron's ``mid_level_dataset_surplus``.
        tables : path, optional
            The directory in which to store the tables of the datasets and of the blend.
        **options
            Further arguments of `GPTDataset`.

        Returns
        -------
        BlendedDataset
        """
        if part not in _PARTS:
            raise ValueError(f'part must be one of {", ".join(_PARTS)}, not {part!r}')
        opened = [tokens_of(one, options.get('dtype')) for one in tokens]
        options.pop('dtype', None)
        if len(opened) == 1 and weights is None:
            raise ValueError('without weights, tokens must have at least two items: use GPTDataset '
                             'for a single dataset')
        if weights is not None and size is None:
            raise ValueError('weights require size: pass the number of samples')
        numbers: List[Optional[int]] = [None] * len(opened)
        shares = None
        if weights is not None and size is not None:
            if len(weights) != len(opened):
                raise ValueError(f'weights must have {len(opened)} numbers, one for each dataset, '
                                 f'not {len(weights)}')
            shares = normalize(weights)
            numbers = list(samples_per_dataset(weights, size, surplus))
            size = sum(samples_per_dataset(weights, size))
        made = []
        for i, one in enumerate(opened):
            documents = split_documents(one, split)[_PARTS.index(part)]
            if documents is None:
                raise ValueError(f'split {split!r} gives {part} a share of 0')
            if documents[0] == documents[1]:
                raise ValueError(f'split {split!r} assigns no documents of tokens[{i}] to {part}: '
                                 f'tokens[{i}] has only {len(one.documents)} documents')
            made.append(GPTDataset(one, sequence_length, numbers[i], documents=documents,
                                   tables=tables, **options))
        if shares is None and size is not None:
            size = min(size, sum(map(len, made)))
        return cls(made, shares, size, tables=tables)

    def collate(self, batch: Mapping[str, Any]) -> Dict[str, Any]:
        """Convert a Loader's batch to Megatron's form; see `GPTDataset.collate`."""
        return self.datasets[0].collate(batch)

    def _pairs(self) -> Tuple[_Array, _Array]:
        return locate(self.order.shard(0, 1).take(len(self)), self._begins)

    @property
    def dataset_index(self) -> _Array:
        """The dataset index of each sample, as in Megatron; computed on each access."""
        return self._pairs()[0].astype(np.int16)

    @property
    def dataset_sample_index(self) -> _Array:
        """The index of each sample in its dataset, as in Megatron; computed on each access."""
        return self._pairs()[1]

    def _for_loader(self, order: Optional[Order]) -> Tuple[ConcatDataset, Order]:
        """Return the source and the order to use in a Loader."""
        if order is not None:
            raise ValueError('order must not be given: a blend has its own order; use blend.source')
        for i, one in enumerate(self.datasets):
            refuse_own_method(one, f'source.datasets[{i}]')
        return self.source, self.order

    def __len__(self) -> int:
        return len(self.source) if self.size is None else self.size

    def __getitem__(self, idx: int) -> Dict[str, Any]:
        return BlendedDataset.__getitems__(self, [idx])[0]    # a subclass may override it

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Return several samples at once, for torch's DataLoader."""
        sets, numbers = locate(np.array(indices_at(self.order, indices)), self._begins)
        made: List[Dict[str, Any]] = [{} for _ in sets]
        for i in set(sets.tolist()):
            rows = np.flatnonzero(sets == i)
            samples = self.datasets[i].__getitems__(numbers[rows].tolist())
            for row, sample in zip(rows.tolist(), samples):
                made[row] = {'dataset_id': i, **sample}
        return made

    def __repr__(self) -> str:
        return f'BlendedDataset({len(self)} samples, datasets: {len(self.datasets)})'

    def __getstate__(self) -> Dict[str, Any]:
        return {'datasets': self.datasets, 'weights': self._weights, 'size': self.size,
                'tables': self._tables}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.datasets, self.size = state['datasets'], state['size']
        self._weights, self._tables = state['weights'], state['tables']
        self._build()
