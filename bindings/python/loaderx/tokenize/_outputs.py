# SPDX-License-Identifier: MIT
"""Writes token files in the formats of Megatron, Nanotron and NumPy, or as raw tokens."""

from __future__ import annotations

import os
import struct
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Type

import numpy as np

from ..errors import LoaderxError
from ._files import Files, naming

__all__ = ['FORMATS', 'Output', 'choose_dtype', 'choose_output']

_Array = np.ndarray[Any, Any]

# The number of documents of an index to process at a time.
_BLOCK = 1 << 16


class Output:
    """Writes the tokens of documents.

    This class writes raw tokens; subclasses write other formats.

    Parameters
    ----------
    path : str
        The path of the output file, or of one of the output files.
    dtype : numpy.dtype
        The dtype of a token.
    name : str
        The name of the tokenizer.
    """

    dtypes: Sequence[str] = ('uint16', 'uint32')    # narrow and wide
    files: Files

    def __init__(self, path: str, dtype: np.dtype[Any], name: str) -> None:
        self.path = path
        self.dtype = dtype
        self.name = name
        self.documents = self.tokens = 0

    def paths(self) -> List[str]:
        """Return the paths, starting with the path that readers open."""
        return [self.path]

    def begin(self) -> None:
        """Write the header of the file, if the format has a header."""

    def write(self, tokens: _Array, lengths: _Array) -> None:
        """Write the tokens of some documents."""
        self.files.write(self.path, tokens.astype(self.dtype, copy=False).data)
        self.documents += len(lengths)
        self.tokens += len(tokens)

    def finish(self) -> None:
        """Write the parts that depend on all tokens."""


class Npy(Output):
    """Writes an .npy file that contains a one-dimensional array."""

    _HEADER = 128    # large enough for any array length; a multiple of 64

    def begin(self) -> None:
        described = (f"{{'descr': '{self.dtype.str}', 'fortran_order': False, "
                     f"'shape': ({self.tokens},), }}")
        text = described.ljust(self._HEADER - 11) + '\n'
        head = b'\x93NUMPY\1\0' + struct.pack('<H', len(text)) + text.encode()
        self.files.write(self.path, head)

    def finish(self) -> None:
        with naming(self.path):
            self.files[self.path].seek(0)
        self.begin()


class Nanotron(Output):
    """Writes tokens, the end of each document, and a text file, in the formats of datatrove."""

    def paths(self) -> List[str]:
        return [self.path, f'{self.path}.index', f'{self.path}.metadata']

    def write(self, tokens: _Array, lengths: _Array) -> None:
        ends = self.tokens + np.cumsum(lengths, dtype='<u8')
        super().write(tokens, lengths)
        self.files.write(f'{self.path}.index', ends.astype('<u8').data)

    def finish(self) -> None:
        name = ' '.join(self.name.split())
        text = f'{name}|{self.dtype.itemsize}\n{self.tokens}\n{self.tokens:,} tokens\n'
        self.files.write(f'{self.path}.metadata', text.encode())


class Megatron(Output):
    """Writes tokens, and an index with the lengths, offsets and indices of documents."""

    dtypes = 'uint16', 'int32'
    _CODES = {'uint16': 8, 'int32': 4}
    _LONGEST = 2**31 - 1

    def __init__(self, path: str, dtype: np.dtype[Any], name: str) -> None:
        super().__init__(f'{path[:-4]}.bin', dtype, name)
        self.index = f'{path[:-4]}.idx'

    def paths(self) -> List[str]:
        return [self.index, self.path]

    def begin(self) -> None:
        head = struct.pack('<9sQBQQ', b'MMIDIDX\0\0', 1, self._CODES[self.dtype.name],
                           self.documents, self.documents + 1)
        self.files.write(self.index, head)

    def write(self, tokens: _Array, lengths: _Array) -> None:
        if len(lengths) and int(lengths.max()) > self._LONGEST:
            raise LoaderxError(f"a document has {lengths.max()} tokens, but Megatron's format "
                               f'allows at most {self._LONGEST}: split the document, or choose a '
                               'different format')
        super().write(tokens, lengths)
        self.files.write(self.index, lengths.astype('<i4').data)

    def finish(self) -> None:
        """Write the offsets and the indices; to save memory, read the lengths from the file."""
        file = self.files[self.index]
        with naming(self.index):
            head, place = file.tell() - 4 * self.documents, 0    # the lengths were written last
            for first, count in _blocks(self.documents):
                file.seek(head + 4 * first)
                sizes = np.frombuffer(file.read(4 * count), '<i4').astype('<i8')
                ends = place + np.cumsum(sizes) * self.dtype.itemsize
                file.seek(0, os.SEEK_END)
                file.write((ends - sizes * self.dtype.itemsize).data)
                place = int(ends[-1])
            for first, count in _blocks(self.documents + 1):
                file.write(np.arange(first, first + count, dtype='<i8').data)
            file.seek(0)
        self.begin()


def _blocks(count: int) -> Iterator[Tuple[int, int]]:
    return ((first, min(_BLOCK, count - first)) for first in range(0, count, _BLOCK))


FORMATS: Dict[str, Type[Output]] = {'megatron': Megatron, 'ds': Nanotron, 'npy': Npy,
                                    'flat': Output}
_ENDINGS = {'.bin': 'megatron', '.idx': 'megatron', '.ds': 'ds', '.npy': 'npy'}
# The file name suffixes that each format requires.
_MUST_END = {'megatron': ('.bin', '.idx'), 'ds': ('.ds',), 'npy': ('.npy',)}


def choose_output(path: Any, requested: Optional[str]) -> str:
    """Return the requested format, or the format that the file name implies."""
    name = os.fsdecode(path)
    if requested is None:
        ending = os.path.splitext(name)[1]
        if ending not in _ENDINGS:
            raise ValueError(f'format must be given: the name {name!r} does not end with '
                             f"{', '.join(_ENDINGS)}")
        return _ENDINGS[ending]
    if requested not in FORMATS:
        raise ValueError(f'format must be one of {", ".join(map(repr, FORMATS))}, not '
                         f'{requested!r}')
    ends = _MUST_END.get(requested)
    if ends is not None and not name.endswith(ends):
        raise ValueError(f'files of format {requested!r} must have a name that ends with '
                         f'{" or ".join(ends)}, not {name!r}')
    if requested == 'flat' and name.endswith(('.npy', '.ds', '.idx')):
        raise ValueError(f'raw tokens in {name!r} would be read in a different format: choose '
                         'a different name')
    if requested == 'flat' and name.endswith('.bin') and os.path.exists(f'{name[:-4]}.idx'):
        raise ValueError(f'{name} has an .idx file of the same name and would be read '
                         "in Megatron's format: choose a different name")
    return requested


def choose_dtype(format_name: str, requested: Any, vocabulary: int) -> np.dtype[Any]:
    """Return the requested dtype of tokens, or the smallest dtype that fits the vocabulary."""
    dtypes = FORMATS[format_name].dtypes
    if requested is None:
        name = dtypes[0] if vocabulary <= 2**16 else dtypes[1]
    else:
        name = np.dtype(requested).name
        if name not in dtypes and (name, format_name) != ('int32', 'npy'):
            raise ValueError(f'dtype must be {" or ".join(dtypes)} for format {format_name!r}, '
                             f'not {name}')
    largest = int(np.iinfo(name).max)
    if vocabulary - 1 > largest:
        raise ValueError(f'dtype: the tokenizer has tokens up to {vocabulary - 1}, but {name} '
                         f'can represent at most {largest}: choose {dtypes[1]}')
    return np.dtype(name).newbyteorder('<')
