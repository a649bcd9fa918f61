# SPDX-License-Identifier: MIT
"""Reads inputs: text files, JSON lines and dataset fields."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import zlib
from typing import IO, Any, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from .._paths import is_dataset
from ._sources import ReadSize, Texts, texts_of
from ._texts import LONGEST, Text, make_error

__all__ = ['Block', 'Input', 'blocks_of', 'open_input']

# The maximum numbers of bytes and documents to tokenize at a time.
_BLOCK = 1 << 20
_MAX = 1024

_JSON = ('.jsonl', '.ndjson')


class Block(NamedTuple):
    """A block of texts to tokenize, which are JSON lines if the block has a key."""

    key: Optional[str]
    texts: List[Text]


class Input(NamedTuple):
    """An input that has not been read yet."""

    texts: Iterator[Text]
    key: Optional[str]
    size: Optional[int]    # size of the texts in bytes, if known


def open_input(path: Any, field: Optional[str] = None, key: Optional[str] = None,
               lines: bool = False, split_at: Optional[str] = None) -> Input:
    """Determine the kind of an input without reading its texts.

    A directory or a URL is a dataset. By default, a file whose name ends with .jsonl or .ndjson
    contains JSON lines, and any other file is one document. A file whose name ends with .gz is
    decompressed.
    """
    name = os.fsdecode(path)
    if is_dataset(name):
        return Input(_records(texts_of(name, field)), None, None)
    if field is not None:
        raise ValueError(f'field: {name} is a file: only datasets have fields')
    inflated = name.endswith('.gz')
    if key is None and not lines and split_at is None:
        key = 'text' if name[:-3 if inflated else None].endswith(_JSON) else None
    size = _file_size(name)    # fails now, not hours later, if the file does not exist
    size = None if inflated else size
    if key is not None:
        return Input(_read(name, inflated, _json_lines), key, size)
    if lines:
        return Input(_read(name, inflated, _lines), None, size)
    if split_at is not None:
        return Input(_read(name, inflated, _Split(split_at)), None, size)
    return Input(_read(name, inflated, _whole), None, size)


def _file_size(path: str) -> Optional[int]:
    """Return the size of a regular file, or None for any other file.

    The file is not opened, because a pipe can be read only once.
    """
    status = os.stat(path)
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _records(texts: Texts) -> Iterator[Text]:
    """Iterate over the texts of a field."""
    read_size, first = ReadSize(_BLOCK, _MAX), 0
    while first < len(texts):
        read = texts.read(slice(first, first + read_size.count))
        yield from read
        read_size.update(read)
        first += len(read)


def blocks_of(inputs: Iterable[Input]) -> Iterator[Block]:
    """Iterate over blocks of texts from all inputs, in order."""
    block, size = Block(None, []), 0
    for one in inputs:
        if one.key != block.key and block.texts:
            yield block
            block, size = Block(one.key, []), 0
        block = block._replace(key=one.key)
        for text in one.texts:
            block.texts.append(text)
            size += len(text.data)
            if size >= _BLOCK or len(block.texts) == _MAX:
                yield block
                block, size = Block(one.key, []), 0
    if block.texts:
        yield block


# ---- files


def _read(path: str, inflated: bool, texts_of: Any) -> Iterator[Text]:
    try:
        with (gzip.open(path, 'rb') if inflated else open(path, 'rb')) as file:
            yield from texts_of(file, path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as cause:
        raise make_error(f'cannot decompress: {cause}', path) from cause


def _whole(file: IO[bytes], path: str) -> Iterator[Text]:
    data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise _too_long('the document', path, None, 0)
    yield Text(data, path, None, 0)


def _numbered(file: IO[bytes], path: str) -> Iterator[Tuple[int, int, bytes]]:
    """Yield the number, the offset and the content of each line, including the line ending."""
    offset = number = 0
    while True:
        line = file.readline(LONGEST + 1)
        if not line:
            return
        number += 1
        if len(line) > LONGEST:
            raise _too_long('the line', path, number, offset)
        yield number, offset, line
        offset += len(line)


def _lines(file: IO[bytes], path: str) -> Iterator[Text]:
    for number, offset, line in _numbered(file, path):
        yield Text(_without_end(line), path, number, offset)


def _json_lines(file: IO[bytes], path: str) -> Iterator[Text]:
    for number, offset, line in _numbered(file, path):
        if not line.isspace():
            yield Text(_without_end(line), path, number, offset)


class _Split:
    """A function that iterates over the documents between separator lines."""

    def __init__(self, text: str) -> None:
        if '\n' in text:
            raise ValueError(f'split_at must be a single line, not {text!r}')
        self._text = text.encode()

    def __call__(self, file: IO[bytes], path: str) -> Iterator[Text]:
        document: List[bytes] = []
        begin = first = size = 0
        for number, offset, line in _numbered(file, path):
            if _without_end(line) != self._text:
                if not document:
                    begin, first = offset, number
                document.append(line)
                size += len(line)
                if size > LONGEST:
                    raise _too_long('the document', path, first, begin)
            elif document:
                yield Text(_without_end(b''.join(document)), path, first, begin)
                document, size = [], 0
        if document:
            yield Text(_without_end(b''.join(document)), path, first, begin)


def _without_end(line: bytes) -> bytes:
    """Return a line without its line ending."""
    line = line[:-1] if line.endswith(b'\n') else line
    return line[:-1] if line.endswith(b'\r') else line


def _too_long(what: str, path: str, line: Optional[int], offset: int) -> Exception:
    return make_error(f'{what} is longer than the limit of {LONGEST} bytes: split it',
                      path, line, offset=offset)
