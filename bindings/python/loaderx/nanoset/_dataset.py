# SPDX-License-Identifier: MIT
"""Nanotron's mixture of token files."""

from __future__ import annotations

import errno
import logging
import os
import sys
import warnings
from bisect import bisect_right
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np

from .. import orders
from .._check import boolean, natural, reals
from ..orders.mixed import indices_at, locate
from ..sources.records import BatchReadable
from ..orders import Order, Repeat, Sequential, Slice
from ..loader import Loader
from ..sources import ConcatDataset, TokenDataset
from ..sources.tokens import TokenFile
from ._batches import Unfit, arrays_of, choose_out

__all__ = ['Nanoset']

logger = logging.getLogger('loaderx.nanoset')

_Numbers = np.ndarray[Any, np.dtype[np.int64]]
_DTYPES = {2: 'uint16', 4: 'uint32'}
# The maximum number of samples, chosen so that sample indices fit int64.
_MAX = 2**62
# The number of positions of an order to process at a time.
_BLOCK = 1 << 16


class _Run(Slice):
    """The order of a whole training run."""

    _is_run = True


class Nanoset(BatchReadable):
    """Samples of token files in several folders, mixed by weights and shuffled, as in Nanotron.

    Each folder is a set: the concatenated samples of its ``*.ds`` files, which are sorted by name
    and then shuffled by ``numpy.random.default_rng(42)``. A file contains
    ``tokens // (sequence_length + 1)`` samples, which share no tokens. (Versions of Nanotron define
    samples differently; see `datatrove`.) An epoch contains as many samples as all sets
    combined, mixed by weight and shuffled; a set that is exhausted restarts. All epochs are equal.
    The Nanoset has as many samples as training needs.

    A Nanoset works with torch's DataLoader: ``nanoset[i]`` is ``{'input_ids': tokens}``, with int64
    tokens. A `Loader` reads the Nanoset in the same order, in threads that run no Python code, and
    returns batches with the int64 field ``tokens``.

    On rank 0, the constructor logs a report to the logger ``loaderx.nanoset``, at level INFO. The
    report contains the total number of samples and the number of samples from each folder;
    ``nanoset.report()`` returns it.

    Token positions within documents (``return_positions``, ``eos_token_id``), paths that are not
    local, and an index cache (``use_cache``) are not supported. The index uses only 4 bytes per
    sample of one epoch.

    Parameters
    ----------
    dataset_folders : list of path
        The folders that contain the files; a single str causes a warning, as in Nanotron.
    sequence_length : int
        The number of tokens in an input.
    token_size : int
        The size in bytes of a token in the files: 2 or 4.
    train_split_num_samples : int
        The number of samples that training needs: the number of steps times the global batch size.
    dataset_weights : sequence of float, optional
        The weight of each folder, 0 or more; None: weights proportional to the numbers of samples.
    random_seed : int
        The seed of the shuffle, from 0 to 2**32 - 1.
    divide_weights : bool
        True: weights are divided by their sum, as in Nanotron's code. False: weights are used
        unchanged, as in the example in Nanotron's documentation. Because of rounding, the two can
        break ties differently.
    datatrove : bool
        True: the samples described above, as in Nanotron's current code, which reads files through
        datatrove. False: the samples of the first version of Nanosets; choose this to continue a
        training run that used this version. A file then contains
        ``(tokens - 1) // sequence_length`` samples; sample i consists of ``sequence_length + 1``
        tokens, starting at token ``i * sequence_length``. The files of a folder are sorted by name.
    vocab_size : int, optional
        The exclusive upper bound on token values: reading a sample with a token at or above it
        raises `CorruptError`.
    out : {'torch', 'numpy'}, optional
        The type of ``input_ids``. None: a tensor if PyTorch is installed, or an array if not.

    Attributes
    ----------
    source : ConcatDataset
        All samples of all files, once each.
    order : Order
        The order of these samples; the whole training run is one epoch, after which a `Loader`
        yields nothing, even if it starts there.
    dataset_lengths : list of int
        The number of samples in each folder.
    dataset_weights : list of float
        The weights in use.
    dataset_counts : list of int
        The number of samples in the Nanoset that come from each folder.

    Raises
    ------
    FileNotFoundError
        A folder contains no ``*.ds`` file.
    ValueError
        The numbers of weights and folders differ (this exception is also an AssertionError, as in
        Nanotron), a folder contains no sample, a file's metadata specify a different `token_size`,
        or an argument is invalid.
    CorruptError
        A file ends within a token.

    Examples
    --------
    >>> nanoset = Nanoset(['wiki', 'code'], sequence_length=4096, token_size=2,
    ...                   train_split_num_samples=1_000_000, dataset_weights=[0.7, 0.3])
    >>> collate = DataCollatorForCLM(4096, input_pp_rank=0, output_pp_rank=0, current_pp_rank=0)
    >>> loader = lx.Loader(nanoset, batch_size=8, rank=dp_rank, world=dp_size, drop_last=True,
    ...                    start=consumed_train_samples, transform=collate)
    """

    def __init__(
        self,
        dataset_folders: Iterable[Any],
        sequence_length: int,
        token_size: int,
        train_split_num_samples: int,
        dataset_weights: Any = None,
        random_seed: int = 1234,
        *,
        divide_weights: bool = True,
        datatrove: bool = True,
        vocab_size: Optional[int] = None,
        out: Optional[str] = None,
    ) -> None:
        if isinstance(dataset_folders, (str, bytes, os.PathLike)):
            warnings.warn('dataset_folders should be of type List[str] but str was provided. '
                          'Converting to List[str]', stacklevel=2)
            dataset_folders = [dataset_folders]
        if natural('token_size', token_size) not in _DTYPES:
            raise ValueError(f'token_size must be 2 or 4, not {token_size}')
        folders = [os.fsdecode(folder) for folder in dataset_folders]
        if not folders:
            raise ValueError('dataset_folders must have at least one folder')
        self._set({
            'dataset_folders': folders,
            'sequence_length': natural('sequence_length', sequence_length, minimum=1),
            'token_size': token_size,
            'train_split_num_samples': natural('train_split_num_samples', train_split_num_samples,
                                               maximum=_MAX),
            'given_weights': dataset_weights,
            'random_seed': random_seed,
            'divide_weights': divide_weights,
            'datatrove': boolean('datatrove', datatrove),
            'vocab_size': vocab_size,
            'out': choose_out(out),
            'files': [_list_files(folder, datatrove) for folder in folders],
        })
        if _rank() == 0:
            for line in self.report().splitlines():
                logger.info('%s', line)

    def _set(self, arguments: Dict[str, Any]) -> None:
        self._given = arguments
        self.dataset_folders: List[str] = arguments['dataset_folders']
        self.sequence_length: int = arguments['sequence_length']
        self.token_size: int = arguments['token_size']
        self.train_split_num_samples: int = arguments['train_split_num_samples']
        self.random_seed: int = arguments['random_seed']
        self._vocab_size: Optional[int] = arguments['vocab_size']
        self._out: str = arguments['out']
        self._open(arguments['files'], overlap=not arguments['datatrove'])
        self._mix(arguments['given_weights'], arguments['divide_weights'])

    def _open(self, folders: List[List[str]], overlap: bool) -> None:
        """Open the files, and compute the index of the first sample of each file and each set."""
        dtype = _DTYPES[self.token_size]
        self._step = self.sequence_length if overlap else self.sequence_length + 1
        self.dataset_lengths: List[int] = []
        datasets: List[TokenDataset] = []
        for i, files in enumerate(folders):
            some = [TokenFile(file, self.sequence_length, dtype, out=np.int64,
                              vocabulary=self._vocab_size, overlap=overlap) for file in files]
            self.dataset_lengths.append(sum(map(len, some)))
            if self.dataset_lengths[-1] == 0:
                raise ValueError(f'dataset_folders[{i}] has no samples: none of its files has the '
                                 f'{self.sequence_length + 1} tokens that a sample requires: '
                                 f'{self.dataset_folders[i]}')
            datasets += some
        self.source = ConcatDataset(datasets)
        ends = np.cumsum([len(dataset) for dataset in datasets]).tolist()
        self._begins: List[int] = [0, *ends[:-1]]
        self._set_begins = np.cumsum([0, *self.dataset_lengths[:-1]])

    def _mix(self, dataset_weights: Any, divide: bool) -> None:
        lengths = self.dataset_lengths
        weights = None if dataset_weights is None else reals('dataset_weights', dataset_weights)
        if weights is not None and len(weights) != len(lengths):
            raise Unfit(f'Specified {len(weights)} weights but {len(lengths)} datasets were '
                        'provided.')
        if weights is not None and not weights.any():
            raise ValueError('dataset_weights must have at least one positive number')
        epoch = orders.Nanoset(lengths, weights, divide=divide, seed=self.random_seed)
        times = self.train_split_num_samples // len(epoch) + 1
        self.order: Order = _Run(Repeat(epoch, times), 0, self.train_split_num_samples)
        self._epoch = epoch
        if weights is None:
            weights, divide = np.array(lengths, np.float64), True
        self.dataset_weights: List[float] = (weights / weights.sum() if divide
                                             else weights).tolist()
        self.dataset_counts: List[int] = self._count()

    # ---- the order

    def _count(self) -> List[int]:
        """Count the samples of each set, in the complete epochs and in the partial last epoch."""
        epochs, rest = divmod(self.train_split_num_samples, len(self._epoch))
        counts = np.zeros(len(self.dataset_lengths), np.int64)
        if epochs:
            counts += epochs * self._count_to(len(self._epoch))
        total: List[int] = (counts + self._count_to(rest)).tolist()
        return total

    def _count_to(self, end: int) -> _Numbers:
        cursor, sets = self._epoch.shard(0, 1), len(self.dataset_lengths)
        counts = np.zeros(sets, np.int64)
        for first in range(0, end, _BLOCK):
            indices = cursor.take(min(_BLOCK, end - first))
            counts += np.bincount(locate(indices, self._set_begins)[0], minlength=sets)
        return counts

    def _pairs(self) -> Tuple[_Numbers, _Numbers]:
        return locate(self.order.shard(0, 1).take(len(self)), self._set_begins)

    @property
    def dataset_index(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """The set of each sample, as in Nanotron's array; computed on each access."""
        return self._pairs()[0].astype(np.uint64)

    @property
    def dataset_sample_index(self) -> _Numbers:
        """The index of each sample in its set, as in Nanotron's array; computed on each access."""
        return self._pairs()[1]

    def _for_loader(self, order: Optional[Order]) -> Tuple[ConcatDataset, Order]:
        """Return the source and the order to use in a Loader."""
        if order is not None:
            raise ValueError('order must not be given: a Nanoset has its own order; use '
                             'nanoset.source')
        return self.source, self.order

    # ---- samples

    def __len__(self) -> int:
        return self.train_split_num_samples

    def __getitem__(self, idx: int) -> Dict[str, Any]:
        return self.__getitems__([idx])[0]

    def __getitems__(self, indices: Iterable[int]) -> List[Dict[str, Any]]:
        """Return several samples at once, for torch's DataLoader."""
        samples = [self._read(index) for index in indices_at(self.order, indices)]
        return [{'input_ids': sample} for sample in arrays_of(samples, self._out)]

    def _read(self, index: int) -> np.ndarray[Any, Any]:
        """Return the sample at an index among all samples of all files."""
        file = bisect_right(self._begins, index) - 1
        dataset: TokenDataset = self.source.datasets[file]
        number = index - self._begins[file]
        sample = dataset.tokens._core.read(number * self._step, self.sequence_length + 1, True)
        if self._vocab_size is not None and sample.max() >= self._vocab_size:
            # The loader raises an error that names the token and the file.
            next(Loader(dataset, order=Slice(Sequential(), number, number + 1), threads=0))
        return sample

    # ---- properties

    def report(self) -> str:
        """Return the logged report: the number of samples in total and from each folder."""
        lines = [f'> Total number of samples: {len(self)}',
                 f'> Total number of tokens: {len(self) * self.sequence_length}']
        for folder, count in zip(self.dataset_folders, self.dataset_counts):
            share = round(count / max(len(self), 1), 2)
            lines.append(f'>   Total number of samples from the {folder} dataset: {count} ({share})')
        return '\n'.join(lines)

    def __repr__(self) -> str:
        return (f'Nanoset({len(self)} samples of {self.sequence_length} + 1 tokens, '
                f'folders: {len(self.dataset_folders)})')

    def __getstate__(self) -> Dict[str, Any]:
        return self._given

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._set(state)


def _list_files(folder: str, shuffled: bool) -> List[str]:
    """Return the token files in a folder, sorted, or shuffled in the same way as by datatrove."""
    names: Iterator[str] = iter(())
    if os.path.isdir(folder):
        with os.scandir(folder) as entries:
            names = iter(sorted(entry.name for entry in entries
                                if entry.name.endswith('.ds') and entry.is_file()))
    files = [os.path.abspath(os.path.join(folder, name)) for name in names]
    if not files:
        raise FileNotFoundError(errno.ENOENT, 'No files matching "*.ds" found', folder)
    if shuffled:
        return [files[i] for i in np.random.default_rng(42).permutation(len(files))]
    return files


def _rank() -> int:
    """Return the rank of this process; 0 if torch.distributed is not in use."""
    torch = sys.modules.get('torch')
    if torch is None or not torch.distributed.is_available() \
            or not torch.distributed.is_initialized():
        return 0
    rank: int = torch.distributed.get_rank()
    return rank
