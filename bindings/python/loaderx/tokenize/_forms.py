# SPDX-License-Identifier: MIT
"""Tells by its first bytes what a file contains, and opens it, decompressed."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib
import io
import json
import lzma
import shlex
import zlib
from typing import IO, Any, Iterator, Optional

from ._texts import LONGEST, make_error

__all__ = ['JSON_LINES', 'choose_key', 'has_json_lines', 'is_arrow', 'opened']

_COMPRESSED = {'.gz': b'\x1f\x8b\x08', '.zst': b'\x28\xb5\x2f\xfd', '.xz': b'\xfd7zXZ\0',
               '.bz2': b'BZh'}
_ARROW = {b'PAR1': 'a Parquet file', b'ARROW1': 'an Arrow file'}
_NO_TEXT = {b'\x93NUMPY': 'a NumPy array', b'PK\x03\x04': 'a ZIP archive', b'%PDF-': 'a PDF file',
            b'\x89HDF': 'an HDF5 file', b'\x04"M\x18': 'an LZ4 file', b'7z\xbc\xaf': 'a 7z archive',
            b'MMIDIDX\0': 'an index of tokens'}
JSON_LINES = ('.jsonl', '.ndjson')    # the suffixes of such files, besides .json
# Where a tar archive has a signature, and its end.
_TAR = slice(257, 262)


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file of texts, decompressed if its first bytes say so.

    Raises
    ------
    CorruptError
        It is not text, or it is damaged; also if the with-block raises what decompressors do.
    """
    with contextlib.ExitStack() as stack:
        file: Any = stack.enter_context(open(path, 'rb'))
        suffix = _compression_of(file, path)
        try:
            if suffix is not None:
                file = stack.enter_context(_decompressed(file, suffix, path))
            head = file.peek(_TAR.stop)
            kind = next((kind for magic, kind in {**_NO_TEXT, **_ARROW}.items()
                         if head.startswith(magic)), None)
            if head[_TAR] == b'ustar':
                kind = 'a tar archive'
            if kind is not None:
                raise make_error(f'this is {kind}, not text: extract the texts from it', path)
            yield file
        except Exception as cause:
            if suffix is None or not _is_damage(cause):
                raise
            raise make_error(f'cannot decompress: {cause}', path) from cause


def _is_damage(cause: Exception) -> bool:
    """Return whether a decompressor raised an exception, and not the system."""
    return (isinstance(cause, (EOFError, zlib.error, lzma.LZMAError))
            or (isinstance(cause, OSError) and cause.errno is None)
            or type(cause).__name__ == 'ZstdError')


def _compression_of(file: Any, path: str) -> Optional[str]:
    """Return the suffix of a compression, or None."""
    head = file.peek(16)
    for suffix, magic in _COMPRESSED.items():
        if head.startswith(magic) and (suffix != '.bz2' or head[4:10] == b'1AY&SY'):
            return suffix
    named = next((suffix for suffix in _COMPRESSED if path.endswith(suffix)), None)
    if named is not None and head:
        raise make_error(f'cannot decompress: the file does not begin as a {named} file', path)
    return None


def _decompressed(file: Any, suffix: str, path: str) -> Any:
    if suffix == '.gz':
        return gzip.open(file)
    if suffix == '.xz':
        return lzma.open(file)
    if suffix == '.bz2':
        return bz2.open(file)
    with contextlib.suppress(ImportError):    # from Python 3.14 on
        return importlib.import_module('compression.zstd').open(file)
    with contextlib.suppress(ImportError):
        return io.BufferedReader(importlib.import_module('pyarrow').CompressedInputStream(
            file, 'zstd'))
    name = shlex.quote(path)
    raise ImportError(f'{path} is compressed with zstd, which Python 3.14 or pyarrow can read: '
                      f'install pyarrow, or use a pipe: zstd -dc {name} | python -m '
                      "loaderx.tokenize ... /dev/stdin, with --key text for JSON lines",
                      name='pyarrow')


def is_arrow(path: str) -> bool:
    """Return whether a regular file is a Parquet or Arrow file; its name must say so, too."""
    with open(path, 'rb') as file:
        head = file.read(8)
    for magic, kind in _ARROW.items():
        if head.startswith(magic):
            if path.lower().endswith(('.parquet', '.arrow', '.feather')):
                return True
            raise make_error(f'this is {kind}: let its name end with .parquet or .arrow', path)
    return False


def choose_key(path: str) -> Optional[str]:
    """Return the key of a regular file if it contains JSON lines, and None if it is one text.

    Raises
    ------
    CorruptError
        It is neither, but one document of JSON.
    """
    name = path
    for suffix in _COMPRESSED:
        name = name[:-len(suffix)] if name.endswith(suffix) else name
    if name.endswith(JSON_LINES):
        return 'text'
    with opened(path) as file:
        if has_json_lines(file, 1 if name.endswith('.json') else 2):
            return 'text'
    with opened(path) as file:
        head = file.peek(1).lstrip(b'\xef\xbb\xbf \t\r\n')[:1]
    if not name.endswith('.json') or head not in (b'[', b'{'):
        return None
    raise make_error('this is one document of JSON, not JSON lines, which have an object in each '
                     'line: convert it, for example with jq -c .[], or tokenize its syntax with '
                     'whole=True (--whole)', path)


def has_json_lines(file: IO[bytes], count: int) -> bool:
    """Return whether the first `count` lines are JSON objects, except for blank lines."""
    found = 0
    while found < count:
        line = file.readline(LONGEST + 1)
        if not line:
            return False
        if line.isspace():
            continue
        try:
            if not line.lstrip().startswith(b'{') or not isinstance(json.loads(line), dict):
                return False
        except (ValueError, RecursionError):
            return False
        found += 1
    return True
