# SPDX-License-Identifier: MIT
"""Documents packed into samples of equal length."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._check import boolean, natural
from .records import Records
from .tokens import (POSITIONS, SEGMENTS, Tokens, columns_of, token, tokens_of, vocabulary_of,
                     wide_of)

__all__ = ['PackedDataset', 'cu_seqlens']

_CAPACITY_MAX = 2**24


class PackedDataset(Records):
    """Samples of `capacity` tokens, packed from documents by a best-fit algorithm.

    Only documents longer than a sample are cut, into pieces of `capacity` tokens and a remainder; a
    shorter document is one piece. Pieces are placed in order of length, longest first. Each piece
    goes into the sample with the least sufficient space (if there are several such samples, the one
    to which a piece was added last), or into a new sample. Each token of each document is therefore
    in exactly one sample. Unused space in a sample is filled with padding.

    A `Loader` over the dataset returns the field ``tokens`` and, if requested, the int32 fields
    ``segments`` and ``positions``. Packing a million documents takes less than a second; a process
    that unpickles the dataset packs the documents again, with the same result.

    Parameters
    ----------
    tokens : Tokens, path, Column, or sequence of paths and Columns
        The tokens and their documents; a file without document boundaries counts as one document.
    capacity : int
        The number of tokens per sample, at most 2**24.
    dtype : dtype or str, optional
        The dtype of a stored token, as for `Tokens`; must not be given if `tokens` is a `Tokens`.
    out : dtype or str, optional
        The dtype of the field ``tokens``: ``int32`` or ``int64``.
    vocabulary : int, optional
        The exclusive upper bound on token values: reading a sample with a token at or above it
        raises `CorruptError`, which contains the file and the offset.
    pad : int, optional
        The padding value in ``tokens``; it may exceed `vocabulary`.
    segments : bool, optional
        Whether to return a field ``segments``, which numbers the pieces of each sample, starting
        with 1. It is 0 for padding.
    positions : bool, optional
        Whether to return a field ``positions``, which counts from 0 in each piece, even in a piece
        that continues a document from a different sample. It is 0 for padding.

    Raises
    ------
    CorruptError
        An index file lists a document beyond the end of the tokens.

    Examples
    --------
    >>> np.arange(7, dtype=np.uint16).tofile('a.bin')
    >>> np.arange(3, dtype=np.uint16).tofile('b.bin')
    >>> samples = PackedDataset(['a.bin', 'b.bin'], 5, 'uint16', segments=True)
    >>> samples.padding_share
    0.0
    >>> for batch in Loader(samples, batch_size=2):
    ...     print(batch['tokens'].tolist(), batch['segments'].tolist())
    [[0, 1, 2, 3, 4], [0, 1, 2, 5, 6]] [[1, 1, 1, 1, 1], [1, 1, 1, 2, 2]]
    """

    tokens: Tokens
    capacity: int
    vocabulary: Optional[int]
    pad: int

    _nameless = False

    def __init__(
        self,
        tokens: Any,
        capacity: int,
        dtype: Any = None,
        *,
        out: Any = np.int32,
        vocabulary: Optional[int] = None,
        pad: int = 0,
        segments: bool = False,
        positions: bool = False,
    ) -> None:
        self.tokens = tokens_of(tokens, dtype)
        self.capacity = natural('capacity', capacity, minimum=1, maximum=_CAPACITY_MAX)
        self.vocabulary = vocabulary_of(vocabulary)
        self._wide = wide_of(out)
        self.pad = token('pad', pad, self._wide)
        self._columns = columns_of(segments, positions)
        self._source = _core.source_packed(
            self.tokens._core,
            self.capacity,
            self._wide,
            self.vocabulary or 0,
            self.pad,
            self._columns,
        )

    def _files(self, index: int) -> Sequence[Any]:
        """Return the files and columns of all samples."""
        return self.tokens._paths

    def _recipe(self) -> Any:
        arguments = (self.tokens, self.capacity, self._wide, self.vocabulary, self.pad,
                     self._columns)
        return _remake, arguments

    @property
    def padding(self) -> int:
        """The number of padding tokens in all samples."""
        return _core.source_padding(self._source)[0]

    @property
    def padding_share(self) -> float:
        """The fraction of all tokens that are padding, from 0.0 to less than 1.0."""
        padding, total = _core.source_padding(self._source)
        return padding / total if total else 0.0

    def __repr__(self) -> str:
        share = f'{self.padding_share:.2%} of them padding'
        return f'PackedDataset({len(self)} samples of {self.capacity} tokens, {share})'


def _remake(
    tokens: Tokens, capacity: int, wide: bool, vocabulary: Optional[int], pad: int, columns: int
) -> PackedDataset:
    return PackedDataset(
        tokens,
        capacity,
        out=np.int64 if wide else np.int32,
        vocabulary=vocabulary,
        pad=pad,
        segments=bool(columns & SEGMENTS),
        positions=bool(columns & POSITIONS),
    )


def cu_seqlens(segments: Any, *, padding: bool = True) -> Tuple[np.ndarray[Any, Any], int]:
    """Find the pieces in a batch, for variable-length attention.

    Functions such as `flash_attn_varlen_func` take the concatenated rows of a batch and the offset
    of each piece in the concatenation.

    Parameters
    ----------
    segments : array of integers
        The field ``segments`` of a batch or of one sample. A piece is a run of equal numbers in one
        row; 0 stands for padding.
    padding : bool, optional
        True: the padding of a row also counts as a piece, so that the pieces cover the whole batch;
        use them with ``tokens.reshape(-1)``. False: padding is left out; use the pieces with
        ``tokens[segments != 0]``.

    Returns
    -------
    cu_seqlens : numpy.ndarray
        The int32 offset of each piece, starting with 0, followed by the end of the last piece.
    max_seqlen : int
        The length of the longest piece, in tokens.

    Examples
    --------
    >>> places, longest = cu_seqlens(np.array([[1, 1, 2, 2, 2, 0], [1, 1, 1, 1, 0, 0]]))
    >>> places, longest
    (array([ 0,  2,  5,  6, 10, 12], dtype=int32), 4)
    """
    array = np.asarray(segments)
    if array.dtype.kind not in 'iu':
        raise TypeError(f'segments must be integers, not {array.dtype}')
    if array.ndim not in (1, 2):
        raise ValueError(f'segments must have 1 or 2 axes, not {array.ndim}')
    numbers = np.ascontiguousarray(array, np.int32)
    if array.dtype != np.int32 and not np.array_equal(numbers, array):
        raise ValueError('segments must fit in int32')
    length = numbers.shape[-1]
    rows = numbers.shape[0] if numbers.ndim == 2 else 1
    return _core.segments_measure(numbers, rows, length, boolean('padding', padding))
