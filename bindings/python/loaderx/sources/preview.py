# SPDX-License-Identifier: MIT
"""A small HTML table of the first records of a dataset, which notebooks show."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import Any, List, Mapping

import numpy as np

from ..errors import CorruptError, LoaderxError
from ..field import Field

__all__ = ['preview']

# The limits of a table, which keep the work and the page small for any dataset.
_ROWS = 5
_COLUMNS = 12
_TEXT = 80                # characters in a cell
_VALUE = 4096             # bytes: a larger value is not read, unless it is an image
_IMAGE = 256 << 10        # bytes: a larger image is not read
_SIDES = 8, 64            # pixels of an image's side: the minimum, and the most that are shown
_PIXELS = 1 << 24         # pixels: a larger image file is not decoded


def preview(dataset: Any, fields: Mapping[str, Field], kind: str = 'Dataset') -> str:
    """Return the first records of a dataset as HTML; large values are not read."""
    shown = list(fields.items())[:_COLUMNS]
    rows = range(min(len(dataset), _ROWS))
    columns = [_column(dataset, name, field, rows) for name, field in shown]
    head = ''.join(f'<th>{_escape(name)}<br><small>{_escape(_kind(field))}</small></th>'
                   for name, field in shown)
    body = ''.join(f'<tr><th>{row}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
                   for row, cells in zip(rows, zip(*columns)))
    path = getattr(dataset, 'path', '').encode('utf-8', 'replace').decode()
    name = f' <code>{html.escape(path)}</code>' if path else ''
    return (f'<div><p>{html.escape(kind)}{name}: {len(dataset):,} records'
            f'{_omissions(len(dataset), len(fields))}</p><table><thead><tr><th></th>{head}</tr>'
            f'</thead><tbody>{body}</tbody></table></div>')


def _omissions(records: int, fields: int) -> str:
    omitted = [f'the first {_ROWS} are shown'] if records > _ROWS else []
    if fields > _COLUMNS:
        omitted.append(f'the first {_COLUMNS} of {fields} fields')
    return f' ({", ".join(omitted)})' if omitted else ''


def _column(dataset: Any, name: str, field: Field, rows: range) -> List[str]:
    """Return the cells of a field."""
    try:
        sizes = dataset._sizes(name, rows).tolist()
    except (CorruptError, OSError):
        return ['<em>damaged</em>'] * len(rows)
    return [_cell(dataset, name, field, row, size) for row, size in zip(rows, sizes)]


def _cell(dataset: Any, name: str, field: Field, row: int, size: int) -> str:
    if size < 0:
        return '<em>missing</em>'
    if size > (_IMAGE if _is_image(field) or field._type == 'image' else _VALUE):
        return f'<em>{size:,} bytes</em>'
    try:
        value = dataset._get(name, row)
    except (CorruptError, OSError):
        return '<em>damaged</em>'
    if value is None:    # on_damage='zeros' treats a damaged value as missing
        return '<em>missing</em>'
    if _is_image(field):
        return _image(value)
    if field._type == 'image':
        return _file(value)
    return _escape(_text(value))


def _kind(field: Field) -> str:
    shape = ', '.join('varies' if extent is None else str(extent) for extent in field.shape)
    return f'{field._type}[{shape}]' if field.shape else field._type


def _escape(text: str) -> str:
    return html.escape(text if len(text) <= _TEXT else f'{text[:_TEXT]}…')


def _text(value: Any) -> str:
    """Return a value as text: bytes as UTF-8 if they are printable."""
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return repr(value)
        return text if all(char.isprintable() or char.isspace() for char in text) else repr(value)
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=', ', threshold=8, edgeitems=2).replace('\n', '')


def _is_image(field: Field) -> bool:
    """Return whether values are grey or RGB images with rows of at least a few pixels."""
    shape: Any = field.shape
    return (field._type == 'uint8' and not field.varies and min(shape[:2], default=0)
            >= _SIDES[0] and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))))


def _image(pixels: np.ndarray[Any, Any]) -> str:
    step = -(-max(pixels.shape[:2]) // _SIDES[1])
    shown = pixels[::step, ::step]
    content = base64.b64encode(_png(shown)).decode()
    return (f'<img src="data:image/png;base64,{content}" width="{shown.shape[1]}" '
            f'height="{shown.shape[0]}">')


def _file(data: bytes) -> str:
    """Return an image file, if it can be decoded, and what it says about itself."""
    try:
        from .._images import Image
    except ImportError:    # libloaderx was built without images
        return f'<em>{len(data):,} bytes</em>'
    try:
        file = Image(data, 3, True, 1, _PIXELS)
        kind, width, height, channels, *_ = file.info()
        pixels = np.empty((height, width, 3), np.uint8)
        file.read(0, 0, width, height, pixels)
    except (LoaderxError, ValueError) as error:
        return f'<em>{len(data):,} bytes: {_escape(str(error))}</em>'
    colours = {1: 'grey', 2: 'grey, alpha', 3: 'colour'}.get(
        channels, 'CMYK' if kind == 'jpeg' else 'colour, alpha')
    return f'{_image(pixels)}<br><small>{kind} {width} x {height}, {colours}</small>'


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Encode uint8 pixels of shape (height, width), (height, width, 1) or (height, width, 3)."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 and pixels.shape[2] == 3 else 0    # RGB or grey
    lines = np.zeros((height, 1 + pixels.size // height), np.uint8)    # 0: the line is not filtered
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack('>IIBBBBB', width, height, 8, colour, 0, 0, 0)
    return b''.join([b'\x89PNG\r\n\x1a\n', _chunk(b'IHDR', header),
                     _chunk(b'IDAT', zlib.compress(lines.tobytes())), _chunk(b'IEND', b'')])


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (struct.pack('>I', len(content)) + kind + content
            + struct.pack('>I', zlib.crc32(kind + content)))
