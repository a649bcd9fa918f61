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
from ..sources import ConcatDataset, TokenDataset, Tokens
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
    ``tokens // (sequence_length + 1)`` samples, which share no tokens. (Different versions of
    Nanotron define samples differently; see `datatrove`.) An epoch contains as many samples as all
    sets combined, mixed by weight and shuffled; a set that is exhausted restarts. All epochs are
    equal. The Nanoset has as many samples as training needs.

    A Nanoset works with torch's DataLoader: ``nanoset[i]`` is ``{'input_ids': tokens}``, with int64
    tokens. A `Loader` reads the Nanoset in the same order, in threads that run no Python code, and
    returns batches with the int64 field ``tokens``.

    On rank 0, the constructor logs a report to the logger ``loaderx.nanoset``, at level INFO. The
    report contains the total number of samples and the number of samples from each folder;
    ``nanoset.report()`` returns it.

    Paths that are not local are not supported. The index uses only 4 bytes per sample of one epoch.

    Parameters
    ----------
    dataset_folders : list of path
        The folders that contain the files; a single str causes a warning, as in Nanotron. A path
        may also name a single file, which is then the only file of its set.
    sequence_length : int
        The number of tokens in an input.
    token_size : int
        The size in bytes of a token in the files: 2 or 4. With `dataset_paths`, the default is 2.
    train_split_num_samples : int
        The number of samples that training needs: the number of steps times the global batch size.
    dataset_weights : sequence or array of float, optional
        The weight of each set, 0 or more; None: weights proportional to the numbers of samples.
    random_seed : int
        The seed of the shuffle, from 0 to 2**32 - 1.
    use_cache : bool
        Accepted because Nanotron has this argument, but without effect. Nanotron keeps the index in
        a file, with the same samples; here, computing the index of a million samples takes a tenth
        of a second.
    dataset_paths : list of path
        The argument of Nanotron's first version, in place of `dataset_folders`: files of raw
        tokens, with any names, which are cut into samples as in that version; see `datatrove`. Each
        is a set. A path may also name a folder with ``*.ds`` files. Pass the other arguments by
        name.
    token_dtype : dtype, optional
        The argument of Nanotron's first version, in place of `token_size`: uint16 or int32. (This
        version returns int32 tokens; samples here are always int64.)
    divide_weights : bool
        True: weights are divided by their sum, as in Nanotron's code. False: weights are used
        unchanged, as in the example in Nanotron's documentation. Because of rounding, the two
        settings can break ties differently.
    datatrove : bool, optional
        None: True for `dataset_folders`, and False for `dataset_paths`. True: the samples described
        above, as in Nanotron's current code, which reads files through datatrove. False: the
        samples of the first version of Nanosets. A file then contains
        ``(tokens - 1) // sequence_length`` samples; sample i consists of ``sequence_length + 1``
        tokens, starting at token ``i * sequence_length``. The files of a folder are sorted by name.
    eos_token_id : int, optional
        The last token of each document, from which to compute positions.
    return_positions : bool, optional
        Whether samples also contain ``positions``, as in Nanotron: an int64 number for each token,
        which counts from 0 at the start of the sample and of each document. Without `eos_token_id`,
        the ends of documents are read from ``x.ds.index``. None: True if `eos_token_id` is given.
        (Nanotron's default is True. A warning is logged if neither argument is given, but all files
        have an index.) A `Loader` cannot read positions.
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
        The order of these samples. The whole training run is one epoch; after the end of the epoch,
        a `Loader` yields nothing, even if it starts at that position.
    dataset_lengths : list of int
        The number of samples in each set.
    dataset_weights : array of float64
        The weights in use.
    dataset_counts : list of int
        The number of samples in the Nanoset that come from each set.

    Raises
    ------
    FileNotFoundError
        A folder contains no ``*.ds`` file, or a file or the index that positions require does not
        exist.
    ValueError
        The numbers of weights and sets differ (this exception is also an AssertionError, as in
        Nanotron), a set contains no sample, a file's metadata specify a different `token_size`,
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

    dataset_folders: List[str]
    dataset_paths: List[str]
    sequence_length: int
    token_size: int
    train_split_num_samples: int
    random_seed: int
    eos_token_id: Optional[int]
    return_positions: bool
    source: ConcatDataset
    order: Order
    dataset_lengths: List[int]
    dataset_weights: np.ndarray[Any, np.dtype[np.float64]]
    dataset_counts: List[int]

    def __init__(
        self,
        dataset_folders: Optional[Iterable[Any]] = None,
        sequence_length: Optional[int] = None,
        token_size: Optional[int] = None,
        train_split_num_samples: Optional[int] = None,
        dataset_weights: Any = None,
        random_seed: int = 1234,
        use_cache: bool = True,
        *,
        dataset_paths: Optional[Iterable[Any]] = None,
        token_dtype: Any = None,
        divide_weights: bool = True,
        datatrove: Optional[bool] = None,
        eos_token_id: Optional[int] = None,
        return_positions: Optional[bool] = None,
        vocab_size: Optional[int] = None,
        out: Optional[str] = None,
    ) -> None:
        boolean('use_cache', use_cache)
        argument, paths = _paths_of(dataset_folders, dataset_paths)
        as_folders = argument == 'dataset_folders'
        cut = as_folders if datatrove is None else boolean('datatrove', datatrove)
        self._set({
            'argument': argument,
            'paths': paths,
            'sequence_length': natural('sequence_length', sequence_length, minimum=1),
            'token_size': _token_size(token_size, token_dtype, as_folders),
            'train_split_num_samples': natural('train_split_num_samples', train_split_num_samples,
                                               maximum=_MAX),
            'given_weights': dataset_weights,
            'random_seed': random_seed,
            'divide_weights': divide_weights,
            'datatrove': cut,
            'eos_token_id': None if eos_token_id is None else natural('eos_token_id', eos_token_id),
            'return_positions': (eos_token_id is not None if return_positions is None
                                 else boolean('return_positions', return_positions)),
            'vocab_size': vocab_size,
            'out': choose_out(out),
            'files': [_list_files(path, cut, as_folders) for path in paths],
        })
        if _rank() == 0:
            if return_positions is None and eos_token_id is None and as_folders and cut:
                _warn_of_positions(self._given['files'])
            for line in self.report().splitlines():
                logger.info('%s', line)

    def _set(self, arguments: Dict[str, Any]) -> None:
        self._given = arguments
        self._argument: str = arguments['argument']
        self._paths: List[str] = arguments['paths']
        as_folders = self._argument == 'dataset_folders'
        self.dataset_folders = self._paths if as_folders else []
        self.dataset_paths = [] if as_folders else self._paths
        self.sequence_length = arguments['sequence_length']
        self.token_size = arguments['token_size']
        self.train_split_num_samples = arguments['train_split_num_samples']
        self.random_seed = arguments['random_seed']
        self.eos_token_id = arguments['eos_token_id']
        self.return_positions = arguments['return_positions']
        self._vocab_size: Optional[int] = arguments['vocab_size']
        self._out: str = arguments['out']
        self._overlap: bool = not arguments['datatrove']
        self._open(arguments['files'])
        self._mix(arguments['given_weights'], arguments['divide_weights'])

    def _open(self, sets: List[List[str]]) -> None:
        """Open the files, and compute the index of the first sample of each file and each set."""
        self._step = self.sequence_length if self._overlap else self.sequence_length + 1
        self.dataset_lengths = []
        datasets: List[TokenDataset] = []
        for i, files in enumerate(sets):
            some = [self._open_file(file) for file in files]
            self.dataset_lengths.append(sum(map(len, some)))
            if self.dataset_lengths[-1] == 0:
                raise ValueError(f'{self._argument}[{i}] has no samples: none of its files has the '
                                 f'{self.sequence_length + 1} tokens that a sample requires: '
                                 f'{self._paths[i]}')
            datasets += some
        self.source = ConcatDataset(datasets)
        ends = np.cumsum([len(dataset) for dataset in datasets]).tolist()
        self._begins: List[int] = [0, *ends[:-1]]
        self._set_begins = np.cumsum([0, *self.dataset_lengths[:-1]])

    def _open_file(self, file: str) -> TokenFile:
        # Nanotron's first version reads raw tokens from files of any name.
        raw = self._argument == 'dataset_paths' and not file.endswith('.ds') and not _is_npy(file)
        tokens = Tokens(file, _DTYPES[self.token_size], raw=raw)
        index = f'{file}.index'
        if self.return_positions and self.eos_token_id is None and not os.path.isfile(index):
            raise FileNotFoundError(errno.ENOENT, 'Without eos_token_id, return_positions=True '
                                    'requires an index', index)
        return TokenFile(tokens, self.sequence_length, out=np.int64, vocabulary=self._vocab_size,
                         overlap=self._overlap)

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
        self.order = _Run(Repeat(epoch, times), 0, self.train_split_num_samples)
        self._epoch = epoch
        if weights is None:
            weights, divide = np.array(lengths, np.float64), True
        self.dataset_weights = weights / weights.sum() if divide else weights
        self.dataset_counts = self._count()

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
        if self.return_positions:
            raise ValueError('a Loader cannot read the positions of a Nanoset: read it with a '
                             'DataLoader, or pass return_positions=False')
        return self.source, self.order

    # ---- samples

    def __len__(self) -> int:
        return self.train_split_num_samples

    def __getitem__(self, idx: int) -> Dict[str, Any]:
        return Nanoset.__getitems__(self, [idx])[0]    # a subclass may override it

    def __getitems__(self, indices: Iterable[int]) -> List[Dict[str, Any]]:
        """Return several samples at once, for torch's DataLoader."""
        rows = [self._read(index) for index in indices_at(self.order, indices)]
        return [dict(zip(row, arrays_of(list(row.values()), self._out))) for row in rows]

    def _read(self, index: int) -> Dict[str, np.ndarray[Any, Any]]:
        """Return the sample at an index among all samples of all files."""
        file = bisect_right(self._begins, index) - 1
        dataset: TokenDataset = self.source.datasets[file]
        number = index - self._begins[file]
        first, count = number * self._step, self.sequence_length + 1
        sample: np.ndarray[Any, Any] = dataset.tokens._core.read(first, count, True)
        if self._vocab_size is not None and sample.max() >= self._vocab_size:
            # The loader raises an error that names the token and the file.
            next(Loader(dataset, order=Slice(Sequential(), number, number + 1), rank=0, world=1,
                        threads=0))
        if not self.return_positions:
            return {'input_ids': sample}
        ends = (_ends_in(dataset.tokens, first, count) if self.eos_token_id is None
                else np.flatnonzero(sample[:-1] == self.eos_token_id) + 1)
        return {'input_ids': sample, 'positions': _count_from(ends, count)}

    # ---- properties

    def report(self) -> str:
        """Return the logged report: the number of samples in total and from each folder."""
        lines = [f'> Total number of samples: {len(self)}',
                 f'> Total number of tokens: {len(self) * self.sequence_length}']
        names = self.dataset_folders or [os.path.basename(path) for path in self.dataset_paths]
        for name, count in zip(names, self.dataset_counts):
            share = round(count / max(len(self), 1), 2)
            lines.append(f'>   Total number of samples from the {name} dataset: {count} ({share})')
        return '\n'.join(lines)

    def __repr__(self) -> str:
        return (f'Nanoset({len(self)} samples of {self.sequence_length} + 1 tokens, '
                f'{self._argument[8:]}: {len(self._paths)})')

    def __getstate__(self) -> Dict[str, Any]:
        return self._given

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._set(state)


def _paths_of(folders: Any, paths: Any) -> Tuple[str, List[str]]:
    """Return the name of the argument that was given, and its paths as a list."""
    if (folders is None) == (paths is None):
        raise TypeError('pass either dataset_folders or, for the samples of the first version of '
                        'Nanotron, dataset_paths')
    name, given = (('dataset_paths', paths) if folders is None else
                   ('dataset_folders', folders))
    if isinstance(given, (str, bytes, os.PathLike)):
        warnings.warn(f'{name} should be of type List[str] but str was provided. '
                      'Converting to List[str]', stacklevel=3)
        given = [given]
    listed = [os.fsdecode(path) for path in given]
    if not listed:
        raise ValueError(f'{name} must have at least one path')
    return name, listed


def _token_size(size: Any, dtype: Any, as_folders: bool) -> int:
    """Return the size of a token in bytes."""
    if dtype is not None:
        if as_folders or size is not None:
            raise ValueError('token_dtype must only be given with dataset_paths, and without '
                             'token_size')
        if np.dtype(dtype).name not in ('uint16', 'int32', 'uint32'):
            raise ValueError(f'token_dtype must be uint16, int32 or uint32, not {dtype!r}')
        size = np.dtype(dtype).itemsize
    elif size is None and not as_folders:
        size = 2    # the only size in Nanotron's first version
    if natural('token_size', size) not in _DTYPES:
        raise ValueError(f'token_size must be 2 or 4, not {size}')
    return int(size)


def _list_files(path: str, shuffled: bool, as_folder: bool) -> List[str]:
    """Return the file at `path` or, if it is a folder, the sorted token files in it.

    If `shuffled` is True, the sorted files are then shuffled as datatrove does.
    """
    if os.path.isfile(path) or not as_folder and not os.path.isdir(path):
        return [os.path.abspath(path)]
    names: Iterator[str] = iter(())
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            names = iter(sorted(entry.name for entry in entries
                                if entry.name.endswith('.ds') and entry.is_file()))
    files = [os.path.abspath(os.path.join(path, name)) for name in names]
    if not files:
        raise FileNotFoundError(errno.ENOENT, 'No files matching "*.ds" found', path)
    if shuffled:
        return [files[i] for i in np.random.default_rng(42).permutation(len(files))]
    return files


def _is_npy(file: str) -> bool:
    """Return whether a file is a .npy array, by its name and its first bytes."""
    if not file.endswith('.npy'):
        return False
    with open(file, 'rb') as opened:
        return opened.read(6) == b'\x93NUMPY'


def _warn_of_positions(sets: List[List[str]]) -> None:
    if all(os.path.isfile(f'{file}.index') for files in sets for file in files):
        logger.warning('samples have no positions, which Nanotron reads from the .index files by '
                       'default: pass return_positions=True to read them, or False to omit them')


def _ends_in(tokens: Tokens, first: int, count: int) -> List[int]:
    """Return the ends of documents within `count` tokens, as offsets from the token `first`."""
    core = tokens._core
    low, high = 0, core.documents
    while low < high:    # find the first document that ends after the first token
        middle = (low + high) // 2
        if sum(core.document(middle)) > first:
            high = middle
        else:
            low = middle + 1
    ends: List[int] = []
    for number in range(low, core.documents):
        end = sum(core.document(number)) - first
        if end >= count:
            break
        ends.append(end)
    return ends


def _count_from(begins: Iterable[int], count: int) -> _Numbers:
    """Count up from 0, and restart at 0 at each place where a document begins."""
    origins = np.zeros(count, np.int64)
    for begin in begins:
        origins[begin:] = begin
    numbers: _Numbers = np.arange(count) - origins
    return numbers


def _rank() -> int:
    """Return the rank of this process; 0 if torch.distributed is not in use."""
    torch = sys.modules.get('torch')
    if torch is None or not torch.distributed.is_available() \
            or not torch.distributed.is_initialized():
        return 0
    rank: int = torch.distributed.get_rank()
    return rank
