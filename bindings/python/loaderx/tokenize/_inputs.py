# SPDX-License-Identifier: MIT
"""Reads inputs: text files, JSON lines, Parquet and Arrow files, and dataset fields."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import IO, Any, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from .._arrow_files import ArrowFiles
from .._paths import is_dataset
from ._forms import JSON_LINES, choose_key, has_json_lines, is_arrow, opened
from ._sources import ReadSize, Texts, texts_of
from ._texts import LONGEST, Text, make_error

__all__ = ['Block', 'Input', 'blocks_of', 'open_input']

# The maximum numbers of bytes and documents to tokenize at a time.
_BLOCK = 1 << 20
_MAX = 1024


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
               lines: bool = False, split_at: Optional[str] = None, whole: bool = False) -> Input:
    """Determine the kind of an input without reading its texts.

    A directory or a URL is a dataset, and the first bytes of a file tell whether it is compressed,
    and whether it is a Parquet or Arrow file. By default, a file contains JSON lines if its name or
    its first lines say so, and is otherwise one document.
    """
    name = os.fsdecode(path)
    if is_dataset(name):
        return Input(_records(texts_of(name, field)), None, None)
    size = _file_size(name)    # fails now, not hours later, if the file does not exist
    if size is not None and is_arrow(name):
        return Input(_rows(name, _choose_column(name, field or key)), None, None)
    if field is not None:
        raise ValueError(f'field: {name} is a file of text: only datasets, Parquet and Arrow files '
                         'have fields')
    kind: Any = _whole
    if lines:
        kind = _lines
    elif split_at is not None:
        kind = _Split(split_at)
    elif key is None and not whole:
        if size is None:    # a pipe, which can be read only once
            key, kind = ('text', None) if name.endswith(JSON_LINES) else (None, _whole_of_pipe)
        else:
            key = choose_key(name)
    if key is not None:
        kind = _json_lines
    if size is not None:
        with opened(name) as file:    # fails now if it is not text
            size = size if isinstance(getattr(file, 'raw', None), io.FileIO) else None
    return Input(_read(name, kind), key, size)


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


def _choose_column(path: str, name: Optional[str]) -> str:
    """Return the requested column of a Parquet or Arrow file, the only one of text, or 'text'."""
    schema = ArrowFiles([path], None, []).schema()    # raises ImportError without pyarrow
    import pyarrow as pa    # type: ignore[import-untyped, unused-ignore]

    def is_text(kind: Any) -> bool:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string,
                                             pa.types.is_binary, pa.types.is_large_binary))

    found = [one.name for one in schema if is_text(one.type)]
    name = name or ('text' if 'text' in found else found[0] if len(found) == 1 else None)
    if name in found:
        return str(name)
    kinds = ', '.join(map(repr, found)) or 'none'
    raise ValueError(f'field must be one of the columns of text in {path}: {kinds}')


def _rows(path: str, column: str) -> Iterator[Text]:
    """Iterate over the texts of a column."""
    for _, first, batch in ArrowFiles([path], [column], []).batches(0):
        for number, text in enumerate(batch.column(0).to_pylist(), first):
            yield Text(text or b'', path, field=column, record=number)


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


def _read(path: str, texts_of: Any) -> Iterator[Text]:
    with opened(path) as file:
        yield from texts_of(file, path)


def _whole(file: IO[bytes], path: str) -> Iterator[Text]:
    data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise _too_long('the document', path, None, 0)
    yield Text(data, path, None, 0)


def _whole_of_pipe(file: IO[bytes], path: str) -> Iterator[Text]:
    """Iterate over the only document, which must not be JSON lines: nothing could tell before."""
    for text in _whole(file, path):
        if has_json_lines(io.BytesIO(text.data), 2):
            raise make_error("the pipe has JSON lines: set key='text' (--key text), or tokenize "
                             'their syntax with whole=True (--whole)', path)
        yield text


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
