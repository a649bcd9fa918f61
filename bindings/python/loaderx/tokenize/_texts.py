# SPDX-License-Identifier: MIT
"""Texts, and errors that describe invalid texts."""

from __future__ import annotations

import json
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ..errors import CorruptError
from ._tokenizer import Encoder

__all__ = ['LONGEST', 'BadText', 'Text', 'decode', 'encode', 'make_error']

# The maximum size of a document or JSON line, in bytes. Tokenizing it needs many times as much
# memory.
LONGEST = 256 << 20


class Text(NamedTuple):
    """A document and its location: a line of a file, or a record of a dataset."""

    data: Union[bytes, str]
    path: Optional[str] = None
    line: Optional[int] = None      # line number, counted from 1
    offset: Optional[int] = None    # offset of the document's first byte in the file
    field: Optional[str] = None
    record: Optional[int] = None

    def make_error(self, message: str, at: Optional[int] = None) -> CorruptError:
        """Return an error with the location of the text; `at` is the offset of the invalid byte."""
        return make_error(message, self.path, self.line, self.field, self.record,
                          at if self.offset is None else self.offset + (at or 0))


class BadText(Exception):
    """An invalid text: its number in the block, the message, and the offset in the text."""

    def __init__(self, number: int, message: str, at: Optional[int] = None) -> None:
        super().__init__(number, message, at)
        self.number, self.message, self.at = number, message, at


def make_error(message: str, path: Optional[str] = None, line: Optional[int] = None,
               field: Optional[str] = None, record: Optional[int] = None,
               offset: Optional[int] = None) -> CorruptError:
    """Return an error that contains the location, in the message and as attributes."""
    parts = [path, None if line is None else f'line {line}',
             None if field is None else f"field '{field}'",
             None if record is None else f'record {record}',
             None if offset is None else f'offset {offset}']
    where = ', '.join(place for place in parts if place is not None)
    error = CorruptError(f'{where}: {message}' if where else message)
    error.message, error.path, error.field = message, path, field
    error.record, error.offset = record, offset
    return error


def decode(number: int, data: Any, errors: str) -> str:
    """Decode bytes; an error contains the offset of the first invalid byte."""
    try:
        return str(data, 'utf-8', errors)
    except UnicodeDecodeError as cause:
        raise BadText(number, f'the text is not UTF-8 (byte 0x{data[cause.start]:02x}, '
                      f"{cause.reason}): fix it, or use errors='replace'",
                      cause.start) from None


def _of_json(number: int, data: bytes, key: str, errors: str) -> str:
    line = decode(number, data, errors)
    try:
        found = json.loads(line)
    except json.JSONDecodeError as cause:
        raise BadText(number, f'invalid JSON: {cause.msg}',
                      len(line[:cause.pos].encode())) from None
    except (RecursionError, ValueError) as cause:    # nested too deeply, or too many digits
        raise BadText(number, f'cannot parse JSON: {cause}') from None
    if not isinstance(found, dict):
        raise BadText(number, f'the line must be a JSON object with the key {key!r}')
    if key not in found:
        keys = ', '.join(map(repr, list(found)[:10])) or 'none'
        raise BadText(number, f'key {key!r} not found: the keys are {keys}')
    text = found[key]
    if not isinstance(text, str):
        raise BadText(number, f'the value of key {key!r} must be a string, not {_kind(text)}')
    return _whole(number, text, errors)


def _whole(number: int, text: str, errors: str) -> str:
    """Return a text without lone surrogates, which JSON escapes can produce."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError as cause:
        if errors == 'strict':
            raise BadText(number, f'the text has a lone surrogate, U+{ord(text[cause.start]):04X}: '
                          f"fix it, or use errors='replace'") from None
    return text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')


def _kind(value: Any) -> str:
    if value is None:
        return 'null'
    return {bool: 'true or false', list: 'an array', dict: 'an object'}.get(type(value), 'a number')


def encode(encoder: Encoder, data: Sequence[Any], key: Optional[str],
           errors: str) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the tokens of texts (JSON lines if `key` is given), and the number of tokens per text.

    Raises
    ------
    BadText
        A text is invalid.
    """
    texts: List[str] = []
    for number, one in enumerate(data):
        if isinstance(one, str):
            texts.append(_whole(number, one, errors))
        elif key is None:
            texts.append(decode(number, one, errors))
        else:
            texts.append(_of_json(number, one, key, errors))
    try:
        return encoder.encode(texts)
    except Exception as cause:
        for number, text in enumerate(texts):    # find the text that causes the error
            try:
                encoder.encode([text])
            except Exception as alone:
                raise BadText(number, f'the tokenizer cannot process the text: {alone}') from cause
        raise
