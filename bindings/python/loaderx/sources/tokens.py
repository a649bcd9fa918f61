# SPDX-License-Identifier: MIT
"""Tokens in files and fields, and samples of these tokens for language models."""

from __future__ import annotations

import os
from typing import Any, Iterable, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._check import UINT64_MAX, boolean, integer, natural
from .._fixed import Fixed
from .._paths import absolute, is_dataset
from ..errors import LoaderxError
from .column import Column
from .dataset import Dataset
from .records import Records
from .compared import ComparedByValue

__all__ = ['TokenDataset', 'Tokens']

_WIDE = {'int32': False, 'int64': True}

# The values of lx_packed_columns.
SEGMENTS, POSITIONS = 1, 2

_SEQUENCE_MAX = 2**31 - 2


def wide_of(out: Any) -> bool:
    """Return whether `out` is int64, as opposed to int32."""
    try:
        return _WIDE[np.dtype(out).name]
    except (KeyError, TypeError):
        raise ValueError(f'out must be int32 or int64, not {out!r}') from None


def columns_of(segments: Any, positions: Any) -> int:
    """Return the flags for the additional fields."""
    chosen = SEGMENTS if boolean('segments', segments) else 0
    return chosen | (POSITIONS if boolean('positions', positions) else 0)


def vocabulary_of(vocabulary: Any) -> Optional[int]:
    """Check and return the exclusive upper bound on token values, if there is one."""
    if vocabulary is None:
        return None
    return natural('vocabulary', vocabulary, minimum=1, maximum=UINT64_MAX)


def token(name: str, value: Any, wide: bool) -> int:
    """Check that a token, such as the padding token, fits the dtype of the samples."""
    found = integer(name, value)
    bits = 63 if wide else 31
    if not -(2**bits) <= found < 2**bits:
        raise ValueError(f'{name} must fit in {"int64" if wide else "int32"}, but is {found}')
    return found


class Tokens(Fixed, ComparedByValue):
    """The tokens of files or dataset fields, as one sequence, and their documents.

    The name of a file determines its format: ``x.npy`` is a one-dimensional array; ``x.idx``, or
    ``x.bin`` with an ``x.idx`` next to it, is a Megatron indexed dataset, whose sequences are the
    documents; ``x.ds`` is a Nanotron token file, which is divided into documents if ``x.ds.index``
    exists; any other file contains raw little-endian tokens; see also `raw`. A file whose first
    bytes show something else, such as a .npy array of another name, a table, compressed data or
    text, is an error.

    The files are memory-mapped and must not change.

    A field, such as ``dataset['text']``, contains one document per record: bytes that contain the
    tokens, or an array whose elements are the tokens. A missing value is a document without tokens.
    The tokens come from the current snapshot of the dataset; later changes have no effect. The
    lengths of all documents are read immediately, which takes about 0.1 microseconds per document.
    The lengths use 8.5 bytes of memory per document, or no memory if the field contains arrays.
    Reading a sample decompresses every compressed record that contains a part of the sample.

    Parameters
    ----------
    paths : str, bytes, path-like, Column, or a sequence of these
        The files and fields, in order. A file without document boundaries counts as one document.
    dtype : dtype or str, optional
        The dtype of a token, for example ``'uint16'``. Required for files that do not specify a
        dtype, and for bytes fields; for ``x.ds`` without metadata, the default is uint16.
    field : str, optional
        The field to read from those paths that are datasets.
    raw : bool
        Whether every file contains raw tokens, regardless of its name. Requires `dtype`.

    Raises
    ------
    CorruptError
        A file or a record ends within a token, or a file does not match its index.
    ValueError
        A file or field has a dtype that differs from `dtype`, or the files and fields have
        different dtypes.
    KeyError
        A dataset does not have the field.

    Examples
    --------
    >>> np.arange(100, 107, dtype=np.uint16).tofile('a.bin')
    >>> np.arange(3, dtype=np.uint16).tofile('b.bin')
    >>> tokens = Tokens(['a.bin', 'b.bin'], 'uint16')
    >>> len(tokens), len(tokens.documents)
    (10, 2)
    >>> tokens[5:9]
    array([105, 106,   0,   1], dtype=int32)
    """

    def __init__(
        self, paths: Any, dtype: Any = None, *, field: Optional[str] = None, raw: bool = False
    ) -> None:
        self._paths = _as_list(paths)
        if field is not None and not any(map(_is_directory, self._paths)):
            raise ValueError(f'field {field!r} must not be given: none of the paths is a '
                             'dataset directory')
        name = None if dtype is None else np.dtype(dtype).name
        if dtype is not None and np.dtype(dtype).newbyteorder('<') != np.dtype(dtype):
            raise ValueError(f'dtype must be little-endian, not {dtype!r}')
        self._dtype = name
        self._field = field
        self._raw = boolean('raw', raw)
        if raw and dtype is None:
            raise ValueError('raw=True requires dtype')
        opened = tuple(_open(path, name, field, raw) for path in self._paths)
        self._opened = tuple(one if isinstance(one, Column) else absolute(one)
                             for one in self._paths)
        self._core = opened[0] if len(opened) == 1 else _core.tokens_concat(opened)
        self._ends = np.cumsum([one.length for one in opened])

    def _files_of(self, first: int, count: int) -> Sequence[Any]:
        """Return the paths and columns that contain any of these tokens."""
        begin, last = np.searchsorted(self._ends, [first, first + count - 1], 'right')
        return self._paths[begin:last + 1]

    def __reduce__(self) -> Any:
        expected = len(self), len(self.documents)
        return _reopen, (self._opened, self._dtype, self._field, expected, self._raw)

    def __len__(self) -> int:
        return self._core.length

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a stored token."""
        return self._core.dtype

    @property
    def documents(self) -> Documents:
        """The documents, each as an array of its tokens."""
        return Documents(self)

    def read(self, first: int, count: int, out: Any = np.int32) -> np.ndarray[Any, Any]:
        """Read consecutive tokens.

        Parameters
        ----------
        first : int
            The position of the first token.
        count : int
            The number of tokens.
        out : dtype or str, optional
            The dtype of the result: ``int32`` or ``int64``.

        Returns
        -------
        numpy.ndarray
            A new array of `count` tokens.

        Raises
        ------
        CorruptError
            A token does not fit `out`.
        """
        start = natural('first', first, maximum=len(self))
        number = natural('count', count, maximum=len(self) - start)
        return self._core.read(start, number, wide_of(out))

    def __getitem__(self, key: Union[int, slice]) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f'slices of tokens must have a step of 1, not {step}')
            return self.read(start, max(stop - start, 0))
        place = _place(key, len(self), 'token')
        return self.read(place, 1)[0]

    def _expression(self) -> str:
        return 'tokens'

    def __repr__(self) -> str:
        return f'Tokens({len(self)} of {self.dtype}, documents: {len(self.documents)})'


def _as_list(paths: Any) -> Tuple[Any, ...]:
    if isinstance(paths, (str, bytes, os.PathLike, Column)):
        return (paths,)
    if not isinstance(paths, Iterable):
        raise TypeError('paths must be a path, a Column, or a sequence of these, not '
                        f'{type(paths).__name__}')
    if not (listed := tuple(paths)):
        raise ValueError('paths must have at least one path')
    return listed


def _is_directory(path: Any) -> bool:
    return isinstance(path, (str, bytes, os.PathLike)) and is_dataset(path)


def _open(path: Any, dtype: Optional[str], field: Optional[str], raw: bool) -> _core.Tokens:
    if isinstance(path, Column):
        return _core.tokens_from_field(path._dataset, path.name, dtype)
    if not _is_directory(path):
        return _core.tokens_open(path, dtype, raw)
    if field is None:
        raise ValueError(f'{os.fsdecode(path)} is a directory: pass field= to read a dataset')
    with Dataset(path) as dataset:
        return _core.tokens_from_field(dataset, field, dtype)


def _reopen(
    paths: Tuple[Any, ...],
    dtype: Optional[str],
    field: Optional[str],
    expected: Tuple[int, int],
    raw: bool = False,
) -> Tokens:
    """Reopen unpickled tokens, from the newest snapshots of datasets."""
    made = Tokens(paths, dtype, field=field, raw=raw)
    found = len(made), len(made.documents)
    if found != expected:
        raise LoaderxError(
            f'{expected[0]} tokens in {expected[1]} documents were pickled, but now there are '
            f'{found[0]} tokens in {found[1]} documents: a file or a dataset has changed'
        )
    return made


class Documents:
    """The documents of a `Tokens` object, as a sequence of arrays."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def __len__(self) -> int:
        return self._tokens._core.documents

    def span(self, number: int) -> Tuple[int, int]:
        """Return the position of the first token of a document, and the document's length."""
        return self._tokens._core.document(_place(number, len(self), 'document'))

    def __getitem__(self, number: int) -> np.ndarray[Any, Any]:
        return self._tokens.read(*self.span(number))

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f'Documents({len(self)})'


def _place(key: Any, length: int, what: str) -> int:
    place = integer(what, key)
    if not -length <= place < length:
        raise IndexError(f'{what} {place} is out of range: the length is {length}')
    return place % length


def tokens_of(tokens: Any, dtype: Any) -> Tokens:
    """Open tokens, or return a `Tokens` unchanged."""
    if not isinstance(tokens, Tokens):
        return Tokens(tokens, dtype)
    if dtype is not None:
        raise ValueError('dtype must not be given with a Tokens object, which has a dtype')
    return tokens


class TokenDataset(Records):
    """Samples of equal length, cut from a sequence of tokens.

    Sample i consists of ``sequence_length + 1`` tokens, starting at token ``i * sequence_length``.
    Consecutive samples share one token, so each token between the first and the last is in exactly
    one input ``[:-1]`` and in exactly one label ``[1:]``. Tokens left over at the end are not used.
    A `Loader` over the dataset returns the field ``tokens``.

    Parameters
    ----------
    tokens : Tokens, path, Column, or sequence of paths and Columns
        The tokens. Several files or fields form one sequence. To cut each of them into samples
        separately, create several `TokenDataset` objects and combine these in a `ConcatDataset`.
    sequence_length : int
        The number of tokens in an input.
    dtype : dtype or str, optional
        The dtype of a stored token, as for `Tokens`; must not be given if `tokens` is a `Tokens`.
    out : dtype or str, optional
        The dtype of the samples: ``int32`` or ``int64``.
    vocabulary : int, optional
        The exclusive upper bound on token values: reading a sample with a token at or above it
        raises `CorruptError`, which contains the file and the offset.
    overlap : bool, optional
        Whether consecutive samples share a token. False: sample i starts at token
        ``i * (sequence_length + 1)``, and the first token of a sample is never a label. False
        cannot be combined with `separator`, `segments` or `positions`.
    separator : int, optional
        A token to insert after each document, such as the end-of-text token. The inserted token
        belongs to the document.
    segments : bool, optional
        Whether to return an int32 field ``segments``, which numbers the pieces of documents in each
        sample, starting with 1. A file without document boundaries counts as one document.
    positions : bool, optional
        Whether to return an int32 field ``positions``, which counts from 0 in each of these pieces,
        as with Megatron's ``reset_position_ids``.

    Raises
    ------
    ValueError
        An argument is invalid, or `tokens` contains fewer tokens than one sample.

    See Also
    --------
    PackedDataset : Samples in which only documents longer than a sample are cut.

    Examples
    --------
    >>> np.arange(9, dtype=np.uint16).tofile('corpus.bin')
    >>> samples = TokenDataset('corpus.bin', 4, 'uint16', vocabulary=50257)
    >>> for batch in Loader(samples, batch_size=2):
    ...     print(batch['tokens'][:, :-1].tolist(), batch['tokens'][:, 1:].tolist())
    [[0, 1, 2, 3], [4, 5, 6, 7]] [[1, 2, 3, 4], [5, 6, 7, 8]]
    """

    tokens: Tokens
    sequence_length: int
    overlap: bool
    vocabulary: Optional[int]
    separator: Optional[int]

    _nameless = False
    _minimum = 1    # the minimum number of samples

    def __init__(
        self,
        tokens: Any,
        sequence_length: int,
        dtype: Any = None,
        *,
        out: Any = np.int32,
        vocabulary: Optional[int] = None,
        overlap: bool = True,
        separator: Optional[int] = None,
        segments: bool = False,
        positions: bool = False,
    ) -> None:
        self.tokens = tokens_of(tokens, dtype)
        self.sequence_length = natural(
            'sequence_length', sequence_length, minimum=1, maximum=UINT64_MAX - 1
        )
        self.overlap = boolean('overlap', overlap)
        self.vocabulary = vocabulary_of(vocabulary)
        self._wide = wide_of(out)
        self._columns = columns_of(segments, positions)
        if separator is not None:
            maximum = 2**63 if self.vocabulary is None else self.vocabulary
            separator = natural('separator', separator, maximum=maximum - 1)
            token('separator', separator, self._wide)
        self.separator = separator
        self._source = self._open()
        if len(self) < self._minimum:
            raise ValueError(
                f'sequence_length: a sample requires {self.sequence_length} + 1 tokens, more than '
                f'there are in {self.tokens!r}'
            )

    def _open(self) -> _core.Source:
        """Open the source; document boundaries matter only for separators and additional fields."""
        core, length, vocabulary = self.tokens._core, self.sequence_length, self.vocabulary or 0
        if self.separator is None and not self._columns:
            return _core.source_tokens(core, length, self._wide, vocabulary, self.overlap)
        if not self.overlap:
            raise ValueError(
                'overlap=False cannot be combined with separator, segments or positions'
            )
        natural('sequence_length', length, maximum=_SEQUENCE_MAX)
        separator = -1 if self.separator is None else self.separator
        return _core.source_joined(core, length, self._wide, vocabulary, separator, self._columns)

    def _files(self, index: int) -> Sequence[Any]:
        """Return the files and columns of a sample; of all samples, if tokens are added."""
        if self.separator is not None:
            return self.tokens._paths
        step = self.sequence_length + (not self.overlap)
        return self.tokens._files_of(index * step, self.sequence_length + 1)

    def _recipe(self) -> Any:
        arguments = (self._minimum, self.tokens, self.sequence_length, self._wide, self.vocabulary)
        return _remake, (*arguments, self.overlap, self.separator, self._columns)

    def __repr__(self) -> str:
        return f'TokenDataset({len(self)} samples of {self.sequence_length} + 1 tokens)'


class TokenFile(TokenDataset):
    """The samples of one of many files; the file may be shorter than one sample."""

    _minimum = 0


def _remake(
    minimum: int,
    tokens: Tokens,
    length: int,
    wide: bool,
    vocabulary: Optional[int],
    overlap: bool,
    separator: Optional[int],
    columns: int,
) -> TokenDataset:
    return (TokenDataset if minimum else TokenFile)(
        tokens,
        length,
        out=np.int64 if wide else np.int32,
        vocabulary=vocabulary,
        overlap=overlap,
        separator=separator,
        segments=bool(columns & SEGMENTS),
        positions=bool(columns & POSITIONS),
    )
