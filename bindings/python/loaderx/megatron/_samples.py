# SPDX-License-Identifier: MIT
"""Samples like those of Megatron-LM's GPT dataset."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._check import UINT64_MAX, Folder, boolean, folder, integer, natural
from ..sources.records import BatchReadable, Records
from ..nanoset._batches import arrays_of, choose_out
from ..orders import Order
from ..sources import Tokens
from ..sources.tokens import POSITIONS, SEGMENTS, token, tokens_of, vocabulary_of

__all__ = ['GPTDataset', 'Samples']

_Array = np.ndarray[Any, Any]
_Range = Tuple[int, int]

# The value that lx_megatron_columns adds to lx_packed_columns, and the values of
# lx_megatron_index.
_LOSS_MASK = 4
_DOCUMENTS, _SAMPLES, _SHUFFLE = 0, 1, 2

_SEQUENCE_MAX = 2**31 - 2
_NONE = UINT64_MAX


class Samples(Records):
    """The raw samples of a `GPTDataset`: tokens, loss mask, positions and segments.

    Like any other dataset, it can be part of a `ConcatDataset` or `SubsetDataset`. A record is a
    dict with ``tokens``, ``loss_mask`` and, depending on the options, ``positions`` and
    ``segments``.
    """

    _nameless = False

    def __init__(self, options: Dict[str, Any]) -> None:
        self._options = options
        resets = [name for name in ('reset_position_ids', 'reset_attention_mask', 'eod_mask_loss')
                  if options[name]]
        if resets and options['eod'] is None:
            raise ValueError(f'{resets[0]} requires eod')
        by_documents = options['inter_document_masking']
        columns = _LOSS_MASK
        if by_documents or (options['reset_attention_mask'] and options['create_attention_mask']):
            columns |= SEGMENTS
        if by_documents or options['reset_position_ids']:
            columns |= POSITIONS
        first, end = options['documents']
        self._source = _core.source_megatron(
            options['tokens']._core,
            first,
            end - first,
            options['sequence_length'],
            _NONE if options['num_samples'] is None else options['num_samples'],
            options['random_seed'],
            options['vocabulary'] or 0,
            columns,
            options['add_extra_token_to_sequence'],
            options['drop_last_partial_sequence'],
            True,
            bool(resets) and not by_documents,
            options['eod_mask_loss'],
            options['tables'],
            options['pad'],
            -1 if options['eod'] is None else options['eod'],
        )

    def _files(self, index: int) -> Sequence[Any]:
        """Return the files and columns of all samples."""
        paths: Sequence[Any] = self._options['tokens']._paths
        return paths

    def _recipe(self) -> Any:
        return Samples, (self._options,)

    def __repr__(self) -> str:
        return f'Samples({len(self)} of {self._options["sequence_length"]} tokens)'


class GPTDataset(BatchReadable):
    """A GPT dataset of documents that exactly reproduces Megatron's class of the same name.

    The documents of as many epochs as needed are shuffled, concatenated and cut into samples, and
    the samples are shuffled. If fewer than 80% of the samples of the last epoch are needed, the
    documents and samples of that epoch are shuffled separately and come last.

    The dataset works with torch's DataLoader: ``dataset[i]`` is the same dict as in Megatron. A
    `Loader` reads the dataset in threads that run no Python code. It returns batches with the
    fields ``tokens``, ``loss_mask`` and, depending on the arguments, ``positions`` and
    ``segments``. A sample has ``sequence_length + 1`` tokens, or ``sequence_length`` with
    ``add_extra_token_to_sequence=False``. ``transform=dataset.collate`` converts these batches to
    Megatron's form.

    Parameters
    ----------
    tokens : Tokens, path, Column, or sequence of paths and Columns
        Megatron's ``indexed_dataset``, for example ``corpus.bin``. A document here is what Megatron
        calls a sequence.
    sequence_length : int
        The number of tokens in an input.
    num_samples : int, optional
        The minimum number of samples. None: the number of samples in one epoch.
    documents : pair of int, optional
        The range of documents, ``(first, end)``; see `split_documents`. None: all documents.
    random_seed : int
        The seed, from 0 to 2**32 - 1.
    eod : int, optional
        The token at the end of each document; required by the next three arguments.
    reset_position_ids : bool
        Whether positions restart at 0 after each `eod`.
    reset_attention_mask : bool
        Whether to prevent tokens after an `eod` from attending to the tokens before it.
    eod_mask_loss : bool
        Whether the loss is masked where the input is an `eod`.
    create_attention_mask : bool
        Whether samples and batches contain an ``attention_mask``, which uses
        ``sequence_length ** 2`` bytes per sample.
    inter_document_masking : bool
        Whether to return ``cu_seqlens`` and ``max_seqlen``, which describe the pieces of documents,
        instead of attention masks. Positions then start at 0 in each piece. This argument does not
        require `eod`.
    add_extra_token_to_sequence : bool
        Whether consecutive samples share a token. False: the last label of each sample is padding.
    drop_last_partial_sequence : bool
        Whether to drop the tokens left over at the end. False: these tokens form a padded sample.
        Equivalent to Megatron's ``drop_last_partial_validation_sequence``.
    pad : int
        The padding value in the ``tokens`` that a Loader returns; the loss is masked at padding.
        Megatron uses the tokenizer's padding token, or -1 if that token also serves as another
        special token.
    dtype : dtype or str, optional
        The dtype of a stored token, as for `Tokens`; must not be given if `tokens` is a `Tokens`.
    vocabulary : int, optional
        The exclusive upper bound on token values: reading a sample with a token at or above it
        raises `CorruptError`.
    tables : path, optional
        The directory in which to store the tables, like Megatron's ``path_to_cache``. The first
        process writes the tables to a file, and other processes and later runs map that file. None:
        the tables are kept in memory.
    out : {'torch', 'numpy'}, optional
        The type of samples and batches. None: tensors if PyTorch is installed, or arrays if not.

    Attributes
    ----------
    source : Samples
        The source that a Loader reads.

    Raises
    ------
    ValueError
        An argument is invalid, or one epoch of the documents is shorter than one sample.
    CorruptError
        An index file lists a document beyond the end of the tokens, or the table file is damaged.

    Examples
    --------
    >>> tokens = lx.Tokens('corpus.bin')
    >>> train, valid, test = split_documents(tokens, '969,30,1')
    >>> dataset = GPTDataset(tokens, 4096, train_samples, documents=train, eod=50256)
    >>> loader = lx.Loader(dataset, batch_size=8, rank=dp_rank, world=dp_size,
    ...                    start=consumed_train_samples, transform=dataset.collate)
    """

    tokens: Tokens
    sequence_length: int
    num_samples: Optional[int]
    documents: _Range
    random_seed: int
    source: Samples

    def __init__(
        self,
        tokens: Any,
        sequence_length: int,
        num_samples: Optional[int] = None,
        *,
        documents: Optional[Sequence[int]] = None,
        random_seed: int = 1234,
        eod: Optional[int] = None,
        reset_position_ids: bool = False,
        reset_attention_mask: bool = False,
        eod_mask_loss: bool = False,
        create_attention_mask: bool = True,
        inter_document_masking: bool = False,
        add_extra_token_to_sequence: bool = True,
        drop_last_partial_sequence: bool = True,
        pad: int = -1,
        dtype: Any = None,
        vocabulary: Optional[int] = None,
        tables: Folder = None,
        out: Optional[str] = None,
    ) -> None:
        opened = tokens_of(tokens, dtype)
        self._set({
            'tokens': opened,
            'sequence_length': natural('sequence_length', sequence_length, 1, _SEQUENCE_MAX),
            'num_samples': None if num_samples is None
                           else natural('num_samples', num_samples, maximum=_NONE - 1),
            'documents': _range(documents, len(opened.documents)),
            'random_seed': natural('random_seed', random_seed, maximum=2**32 - 1),
            'eod': None if eod is None else natural('eod', eod, maximum=2**63 - 1),
            'reset_position_ids': boolean('reset_position_ids', reset_position_ids),
            'reset_attention_mask': boolean('reset_attention_mask', reset_attention_mask),
            'eod_mask_loss': boolean('eod_mask_loss', eod_mask_loss),
            'create_attention_mask': boolean('create_attention_mask', create_attention_mask),
            'inter_document_masking': boolean('inter_document_masking', inter_document_masking),
            'add_extra_token_to_sequence': boolean('add_extra_token_to_sequence',
                                                   add_extra_token_to_sequence),
            'drop_last_partial_sequence': boolean('drop_last_partial_sequence',
                                                  drop_last_partial_sequence),
            'pad': token('pad', pad, True),
            'vocabulary': vocabulary_of(vocabulary),
            'tables': folder('tables', tables),
            'out': choose_out(out),
        })

    def _set(self, arguments: Dict[str, Any]) -> None:
        self._options = options = arguments
        self.tokens = options['tokens']
        self.sequence_length = options['sequence_length']
        self.num_samples = options['num_samples']
        self.documents = options['documents']
        self.random_seed = options['random_seed']
        self.source = Samples(options)

    # ---- the tables

    def _read_table(self, index: int, dtype: Any) -> _Array:
        length = _core.source_megatron_index(self.source._source, index, 0, np.empty(0, np.uint64))
        numbers = np.empty(length, np.uint64)
        _core.source_megatron_index(self.source._source, index, 0, numbers)
        return numbers.astype(dtype)

    @property
    def document_index(self) -> _Array:
        """The documents of all epochs, as in Megatron's array; computed on each access."""
        return self._read_table(_DOCUMENTS, np.int32)

    @property
    def sample_index(self) -> _Array:
        """The starts of samples, as in Megatron's array; computed on each access."""
        return self._read_table(_SAMPLES, np.int64).reshape(-1, 2)

    @property
    def shuffle_index(self) -> _Array:
        """The order of samples, as in Megatron's array; computed on each access."""
        return self._read_table(_SHUFFLE, np.int64)

    # ---- samples

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, idx: Optional[int]) -> Dict[str, Any]:
        return GPTDataset.__getitems__(self, [idx])[0]    # a subclass may override it

    def __getitems__(self, indices: Sequence[Optional[int]]) -> List[Dict[str, Any]]:
        """Return several samples at once, for torch's DataLoader."""
        rows = self.source.gather([self._place(idx) for idx in indices])
        for i, idx in enumerate(indices):
            if idx is None:    # the sample that Megatron uses to pad batches
                rows['loss_mask'][i] = 0
        batch, out = self._arrays(rows), self._options['out']
        return [dict(zip(batch, arrays_of([values[i, ...] for values in batch.values()], out)))
                for i in range(len(indices))]

    def _place(self, idx: Optional[int]) -> int:
        place = 0 if idx is None else integer('idx', idx)
        if not -len(self) <= place < len(self):
            raise IndexError(f'sample {place} is out of range: the length is {len(self)}')
        return place

    def collate(self, batch: Mapping[str, Any]) -> Dict[str, Any]:
        """Convert a Loader's batch to Megatron's form.

        Parameters
        ----------
        batch : mapping
            A batch with the fields of this dataset.

        Returns
        -------
        dict
            ``tokens`` and ``labels``, in which padding is 0, ``loss_mask`` and ``position_ids``.
            Depending on the arguments of the dataset, the dict also contains ``attention_mask``,
            which is True where attention is masked, or ``cu_seqlens`` and ``max_seqlen``.
        """
        made = self._arrays({name: np.asarray(value) for name, value in batch.items()})
        return dict(zip(made, arrays_of(list(made.values()), self._options['out'])))

    def _for_loader(self, order: Optional[Order]) -> Tuple[Samples, Optional[Order]]:
        """Return the source and the order to use in a Loader."""
        return self.source, order

    def _arrays(self, fields: Mapping[str, _Array]) -> Dict[str, _Array]:
        length, pad = self.sequence_length, self._options['pad']
        text = fields['tokens']
        labels = np.full((len(text), length), pad, np.int64)
        labels[:, :text.shape[1] - 1] = text[:, 1:]
        tokens = text[:, :length].copy()
        for numbers in tokens, labels:
            numbers[numbers == pad] = 0
        made = {'tokens': tokens, 'labels': labels}
        if self._options['inter_document_masking']:
            made['loss_mask'] = fields['loss_mask']
            made['position_ids'] = fields['positions'][:, :length].astype(np.int64)
            made['cu_seqlens'], made['max_seqlen'] = _starts_of(fields['segments'][:, :length])
            return made
        if self._options['create_attention_mask']:
            made['attention_mask'] = _mask_of(fields.get('segments'), len(text), length)
        made['loss_mask'] = fields['loss_mask']
        if self._options['reset_position_ids']:
            made['position_ids'] = fields['positions'][:, :length].astype(np.int64)
        else:
            made['position_ids'] = np.tile(np.arange(length), (len(text), 1))
        return made

    def __repr__(self) -> str:
        first, end = self.documents
        return (f'GPTDataset({len(self)} samples of {self.sequence_length} tokens, '
                f'documents: {first} to {end})')

    def __getstate__(self) -> Dict[str, Any]:
        return self._options

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._set(state)


def _range(documents: Optional[Sequence[int]], count: int) -> _Range:
    if documents is None:
        return 0, count
    if isinstance(documents, (str, bytes)) or not hasattr(documents, '__len__') \
            or len(documents) != 2:
        raise ValueError(f'documents must be a pair (first, end), not {documents!r}')
    first = natural('documents[0]', documents[0], maximum=count)
    end = natural('documents[1]', documents[1], maximum=count)
    if end <= first:
        raise ValueError(f'documents must not be empty: the range is {first} to {end}')
    return first, end


def _mask_of(segments: Optional[_Array], rows: int, length: int) -> _Array:
    """Mask the tokens that each token must not attend to.

    These are later tokens and tokens of other segments.
    """
    mask = np.triu(np.ones((length, length), np.bool_), 1)
    if segments is None:
        return np.tile(mask, (rows, 1, 1, 1))
    of = segments[:, None, :length]
    masks: _Array = mask | (of[:, :, :, None] != of[:, :, None, :])
    return masks


def _starts_of(segments: _Array) -> Tuple[_Array, _Array]:
    """Return the starts of the pieces, and the length of the longest piece, in each row.

    The starts are padded with the length of the row.
    """
    rows, length = segments.shape
    starts = np.full((rows, length + 1), length, np.int32)
    longest = np.empty(rows, np.int32)
    for i, row in enumerate(segments):
        begins = np.flatnonzero(np.diff(row, prepend=0))
        starts[i, :len(begins)] = begins
        longest[i] = np.diff(begins, append=length).max()
    return starts, longest
