# SPDX-License-Identifier: MIT
"""Entries: the 24 bytes that locate one value (16 in <stem>.offset, 8 in <stem>.check)."""

import struct
import zlib

ENTRY = struct.Struct('<IIQ')       # chunk id, physical length, offset
CHECK = struct.Struct('<II')        # logical length, crc
SEED = struct.Struct('<16sIIQII')   # uuid, field id, chunk id, offset, physical, logical
ROW_BYTES = ENTRY.size + CHECK.size
MISSING = bytes(ROW_BYTES)
INLINE = 0xFFFFFFFF
INLINE_BYTES = 8
ALIGN = 8


class Damage(Exception):
    """The dataset is damaged, and the model reports it instead of returning a wrong value."""


class Lost:
    """Takes the place of a damaged value."""

    def __repr__(self):
        return 'LOST'


LOST = Lost()


def crc(*parts):
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return total


def make_row(uuid, field, index, value, place=(0, 0)):
    """The row of `value` at `index`; `place` is the (chunk id, offset) of a stored one."""
    if value is None:
        return MISSING
    size = len(value)
    if size <= INLINE_BYTES:
        entry = struct.pack('<II8s', INLINE, size, value)
        seed = SEED.pack(uuid, field, INLINE, 0, size, size)
    else:
        chunk, offset = place
        entry = ENTRY.pack(chunk, size, offset)
        seed = SEED.pack(uuid, field, chunk, offset, size, size)
    return entry + CHECK.pack(size, crc(seed, value) ^ index_crc(index))


def move_row(row, old, new):
    """The same entry for another index: a swap changes only the index in the checksum."""
    if row == MISSING:
        return row
    size, check = CHECK.unpack_from(row, ENTRY.size)
    return row[:ENTRY.size] + CHECK.pack(size, check ^ index_crc(old) ^ index_crc(new))


def split_rows(rows):
    """The bytes of rows for <stem>.offset and for <stem>.check."""
    rows = list(rows)
    return (b''.join(row[:ENTRY.size] for row in rows), b''.join(row[ENTRY.size:] for row in rows))


def read_row(row, uuid, field, index, read_chunk, verify=True):
    """The value of a row; raises Damage.

    `read_chunk(chunk, offset, size)` returns the bytes of a stored value, and raises Damage if they
    lie beyond the committed end.
    """
    if row == MISSING:
        return None
    chunk, size, offset = ENTRY.unpack_from(row)
    logical, check = CHECK.unpack_from(row, ENTRY.size)
    if chunk == INLINE:
        if size > INLINE_BYTES or any(row[8 + size:ENTRY.size]):
            raise Damage('inline entry')
        value, offset = row[8:8 + size], 0
    elif size == 0 or offset % ALIGN:
        raise Damage('entry')
    else:
        value = read_chunk(chunk, offset, size)
    seed = SEED.pack(uuid, field, chunk, offset, size, logical)
    if verify and (logical != size or check != crc(seed, value) ^ index_crc(index)):
        raise Damage(f'field {field} record {index}: checksum mismatch')
    return value


def index_crc(index):
    return crc(struct.pack('<Q', index))
