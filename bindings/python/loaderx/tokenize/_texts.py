# SPDX-License-Identifier: MIT
"""Texts as they are read, and what can be wrong with them."""

from __future__ import annotations

import json
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ..errors import CorruptError
from ._tokenizer import Encoder

__all__ = ['LONGEST', 'BadText', 'Text', 'decode', 'encode', 'fault']

# Bytes of a document, or of a line of JSON. The library takes many times as much to tokenize it.
LONGEST = 256 << 20


class Text(NamedTuple):
    """A document, and where it stands: a line of a file or a record of a dataset, if it is one."""

    data: Union[bytes, str]
    path: Optional[str] = None
    line: Optional[int] = None      # from 1
    offset: Optional[int] = None    # of its first byte in the file
    field: Optional[str] = None
    record: Optional[int] = None

    def fault(self, message: str, at: Optional[int] = None) -> CorruptError:
        """What is raised about it; `at` is the byte of it that is wrong."""
        return fault(message, self.path, self.line, self.field, self.record,
                     at if self.offset is None else self.offset + (at or 0))


class BadText(Exception):
    """One of several texts is wrong: which one, what, and at which byte of it."""

    def __init__(self, number: int, message: str, at: Optional[int] = None) -> None:
        super().__init__(number, message, at)
        self.number, self.message, self.at = number, message, at


def fault(message: str, path: Optional[str] = None, line: Optional[int] = None,
          field: Optional[str] = None, record: Optional[int] = None,
          offset: Optional[int] = None) -> CorruptError:
    """An error that tells where, in words and by its attributes."""
    places = [path, None if line is None else f'line {line}',
              None if field is None else f"field '{field}'",
              None if record is None else f'record {record}',
              None if offset is None else f'offset {offset}']
    where = ', '.join(place for place in places if place is not None)
    error = CorruptError(f'{where}: {message}' if where else message)
    error.message, error.path, error.field = message, path, field
    error.record, error.offset = record, offset
    return error


def decode(number: int, data: Any, errors: str) -> str:
    """The text of bytes, the first byte of which that is wrong is told."""
    try:
        return str(data, 'utf-8', errors)
    except UnicodeDecodeError as cause:
        raise BadText(number, f'the text is not UTF-8 (byte 0x{data[cause.start]:02x}, '
                      f"{cause.reason}): mend it, or replace such bytes by errors='replace'",
                      cause.start) from None


def _of_json(number: int, data: bytes, key: str, errors: str) -> str:
    line = decode(number, data, errors)
    try:
        found = json.loads(line)
    except json.JSONDecodeError as cause:
        raise BadText(number, f'this is no JSON: {cause.msg}',
                      len(line[:cause.pos].encode())) from None
    except (RecursionError, ValueError) as cause:    # nested too deep; a number of too many digits
        raise BadText(number, f'this is no JSON that can be read: {cause}') from None
    if not isinstance(found, dict):
        raise BadText(number, f'the line must be an object of JSON with the key {key!r}')
    if key not in found:
        there = ', '.join(map(repr, list(found)[:10])) or 'none'
        raise BadText(number, f'there is no key {key!r}; there are {there}')
    text = found[key]
    if not isinstance(text, str):
        raise BadText(number, f'what the key {key!r} has must be a text, not {_kind(text)}')
    return _whole(number, text, errors)


def _whole(number: int, text: str, errors: str) -> str:
    """A text without halves of pairs, which escapes of JSON can make."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError as cause:
        if errors == 'strict':
            raise BadText(number, f'the text has U+{ord(text[cause.start]):04X}, half a pair, '
                          f"which is no character: mend it, or use errors='replace'") from None
    return text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')


def _kind(value: Any) -> str:
    if value is None:
        return 'null'
    return {bool: 'true or false', list: 'an array', dict: 'an object'}.get(type(value), 'a number')


def encode(encoder: Encoder, data: Sequence[Any], key: Optional[str],
           errors: str) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The tokens of texts, or of lines of JSON which have them by a key, and how many each has.

    Raises
    ------
    BadText
        One of them is wrong.
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
        for number, text in enumerate(texts):    # of many, the library does not say which
            try:
                encoder.encode([text])
            except Exception as alone:
                raise BadText(number, f'the tokenizer refuses the text: {alone}') from cause
        raise
