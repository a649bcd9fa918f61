#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the small dataset of doc/zrecord-format.md and the hex dumps that the document shows.

A minimal writer of zrecord format 1, written from the document and independent of the library: it
serves as the origin of every hexadecimal number in the document, which test_example.py compares
with its output. It needs the standard library only, and it makes the bytes of the Deflate stream
itself, so that no version of zlib can change them.

usage: make_example.py [BLOCK ..]          print blocks of the document (default: all)
       make_example.py --write DIR         make the dataset in the new directory DIR
       make_example.py --write-sealed DIR  make it as it is after sealing
       make_example.py --update DOCUMENT   put the blocks into the document
"""
import argparse
import json
import pathlib
import re
import struct

UUID = bytes.fromhex('00112233445566778899aabbccddeeff')
BOOT = bytes.fromhex('4f1c2a907be34d58')      # of the boot id 4f1c2a90-7be3-4d58-9c06-1e2f3a4b5c6d
GENERATION = 0
TABLE_GENERATION = 0
IN_ENTRY = 0xFFFFFFFF                         # the chunk id of inline and empty values
SNAPSHOT, SYNCED = 1, 2

IMAGE, LABEL, CAPTION = 0, 1, 2
NAMES = ('image', 'label', 'caption')
ALIGN = (4, 8, 8)
CODEC = ('raw', 'raw', 'flate')
RECORDS = (
    (bytes(range(0x00, 0x0c)), 7, b'go, go, go, go!'),
    (bytes(range(0x10, 0x1c)), -1, None),
    (bytes(range(0x20, 0x2c)), 300, b''),
)


# --- CRC-32C -------------------------------------------------------------------------------------

def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC_TABLE = _crc_table()


def crc32c(*parts):
    """CRC-32C of the parts one after another."""
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


# --- Deflate with the fixed codes ----------------------------------------------------------------

class _Bits:
    """Bits packed as in Deflate: from the least significant bit of each byte on."""

    def __init__(self):
        self.bits = []

    def number(self, value, count):
        self.bits += [value >> k & 1 for k in range(count)]

    def code(self, value, count):
        self.bits += [value >> k & 1 for k in reversed(range(count))]

    def bytes(self):
        padded = self.bits + [0] * (-len(self.bits) % 8)
        return bytes(sum(padded[at + k] << k for k in range(8)) for at in range(0, len(padded), 8))


def deflate(value):
    """Raw Deflate: one final block of fixed codes; matches of 3 to 10 bytes, 1 to 4 bytes back."""
    out = _Bits()
    out.number(1, 1)                                       # the final block
    out.number(1, 2)                                       # of fixed codes
    at = 0
    while at < len(value):
        matches = []
        for back in range(1, min(at, 4) + 1):
            size = 0
            while (size < 10 and at + size < len(value)
                   and value[at + size] == value[at + size - back]):
                size += 1
            matches.append((size, -back))
        size, back = max(matches, default=(0, 0))
        if size >= 3:
            out.code(size - 2, 7)                          # symbol 257 to 264, no extra bits
            out.code(-back - 1, 5)                         # symbol 0 to 3, no extra bits
            at += size
        else:
            literal = value[at]
            out.code(*((0x30 + literal, 8) if literal < 144 else (0x190 + literal - 144, 9)))
            at += 1
    out.code(0, 7)                                         # the end of the block
    return out.bytes()


# --- entries and frames --------------------------------------------------------------------------

class Row:
    """One value's 16-byte entry and 8-byte check."""

    def __init__(self, field, index, chunk, offset, stored, logical, entry_offset=None):
        self.field, self.index, self.chunk, self.offset = field, index, chunk, offset
        self.stored, self.physical, self.logical = stored, len(stored), logical
        self.seed = UUID + struct.pack('<IIQII', field, chunk, offset, self.physical, logical)
        self.body_crc = crc32c(self.seed, stored)
        self.index_crc = crc32c(struct.pack('<Q', index))
        self.crc = self.body_crc ^ self.index_crc
        slot = struct.pack('<Q', offset) if entry_offset is None else entry_offset
        self.entry = struct.pack('<II', chunk, self.physical) + slot
        self.check = struct.pack('<II', logical, self.crc)

    def kind(self):
        if self.chunk != IN_ENTRY:
            return 'stored'
        return 'inline' if self.physical else 'empty'


class Missing:
    """A missing value: all zero."""
    entry, check = bytes(16), bytes(8)
    chunk = physical = offset = logical = crc = 0

    @staticmethod
    def kind():
        return 'missing'


def frame(sequence, length, rows, chunks, updates, previous, flags, next_chunk):
    """One frame of LOG as a list of (bytes, meaning)."""
    size = 64 + 16 * len(chunks) + 40 * len(updates) + 8
    names = {SNAPSHOT | SYNCED: 'snapshot, synced', SYNCED: 'synced'}
    out = [
        (b'LXLF', 'magic "LXLF"'),
        (struct.pack('<I', size), f'bytes of the frame: {size}'),
        (struct.pack('<Q', sequence), f'sequence number: {sequence}'),
        (struct.pack('<Q', length), f'length: {length}'),
        (struct.pack('<Q', rows), f'rows: {rows}'),
        (struct.pack('<I', len(chunks)), f'chunk items: {len(chunks)}'),
        (struct.pack('<I', len(updates)), f'update items: {len(updates)}'),
        (struct.pack('<I', previous),
         f'crc of the previous frame: {previous:08x}' if sequence else 'no previous frame'),
        (struct.pack('<I', flags), f'flags: {names[flags]}'),
        (BOOT, 'boot'),
        (struct.pack('<I', TABLE_GENERATION), f'table generation: {TABLE_GENERATION}'),
        (struct.pack('<I', next_chunk), f'next chunk id: {next_chunk}'),
    ]
    for number, (chunk, count, used) in enumerate(chunks):
        out += [
            (struct.pack('<I', chunk), f'chunk item {number}: chunk {chunk}'),
            (struct.pack('<I', count), f'  records: {count}'),
            (struct.pack('<Q', used), f'  bytes: {used}'),
        ]
    for number, row in enumerate(updates):
        out += [
            (struct.pack('<I', row.field),
             f'update item {number}: field {row.field}, {NAMES[row.field]}'),
            (bytes(4), '  zero'),
            (struct.pack('<Q', row.index), f'  index: {row.index}'),
        ] + [(part, '  ' + text) for part, text in row_pieces(row)]
    out.append((bytes(4), 'zero'))
    body = b''.join(part for part, _ in out)
    crc = crc32c(UUID, struct.pack('<Q', GENERATION), body)
    out.append((struct.pack('<I', crc), f'crc of the frame: {crc:08x}'))
    return out


def row_pieces(row):
    """An entry and its check as (bytes, meaning)."""
    return entry_pieces(row) + check_pieces(row)


def entry_pieces(row):
    kind = row.kind()
    chunk, slot = {
        'stored': (row.chunk, f'offset: {row.offset}'),
        'inline': ('inline', 'the value itself, filled up with zeros'),
        'empty': ('empty', 'offset: 0'),
        'missing': (0, 'offset: 0 (all zero: missing)'),
    }[kind]
    return [(row.entry[:4], f'chunk_id: {chunk}'),
            (row.entry[4:8], f'physical_length: {row.physical}'),
            (row.entry[8:], slot)]


def check_pieces(row):
    return [(row.check[:4], f'logical_length: {row.logical}'),
            (row.check[4:], f'crc: {row.crc:08x}' if row.crc else 'crc: 0')]


# --- the dataset ---------------------------------------------------------------------------------

def store():
    """Place the records: the rows of each, and chunk 0 with its gap, as (bytes, meaning)."""
    rows, chunk, used, counts = [], [], 0, []
    for index, (image, label, caption) in enumerate(RECORDS):
        values = (image, struct.pack('<q', label), caption)
        row = []
        for field, value in enumerate(values):
            if value is None:
                row.append(Missing)
            elif len(value) <= 8:
                row.append(Row(field, index, IN_ENTRY, 0, value, len(value), value.ljust(8, b'\0')))
            else:
                packed = deflate(value) if CODEC[field] == 'flate' else value
                compressed = len(packed) < len(value)
                stored = packed if compressed else value
                gap = -used % ALIGN[field]
                if gap:
                    why = f'gap: the align of {NAMES[field]} is {ALIGN[field]}'
                    chunk.append((bytes(gap), why))
                how = f', {len(value)} bytes by Deflate' if compressed else ''
                chunk.append((stored, f'{NAMES[field]} of record {index}{how}'))
                row.append(Row(field, index, 0, used + gap, stored, len(value)))
                used += gap + len(stored)
        rows.append(row)
        counts.append((sum(1 for r in rows for x in r if x.kind() == 'stored'), used))
    return rows, chunk, counts


def field_json(number, dtype, shape):
    return (f'{{"id": {number}, "name": "{NAMES[number]}", "stem": "{NAMES[number]}", '
            f'"dtype": "{dtype}", "shape": {json.dumps(shape)},\n'
            f'     "compress": "{CODEC[number]}", "align": {ALIGN[number]}, "dict": null}}')


def meta_json(sealed, length, num, unfull, tables=None):
    """The text of meta.json, laid out for people."""
    text = UUID.hex()
    uuid = '-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    fields = ',\n    '.join((field_json(0, 'uint8', [3, 4]), field_json(1, 'int64', []),
                             field_json(2, 'bytes', [])))
    lines = [
        '  "format": [1, 0]',
        '  "features": {"must": [], "may": []}',
        f'  "generation": {GENERATION}',
        f'  "uuid": "{uuid}"',
        f'  "sealed": {json.dumps(sealed)}',
        f'  "length": {length}',
        f'  "chunks": {{"num": {num}, "size": 1048576, "limit": 1073741824, '
        f'"unfull": {json.dumps(unfull)}}}',
        '  "next_field": 3',
        f'  "fields": [\n    {fields}\n  ]',
    ]
    if tables is not None:
        inner = ',\n'.join(f'    "{name}": {{"bytes": {len(data)}, "crc": {crc32c(data)}}}'
                           for name, data in tables.items())
        lines.append(f'  "tables": {{\n{inner}\n  }}')
    rest = '\n' + ',\n'.join(lines) + '\n}\n'
    return f'{{"checksum": "{crc32c(rest.encode()):08x}",{rest}'


def joined(pieces):
    return b''.join(part for part, _ in pieces)


class Example:
    """The dataset as created and filled by two commits, and the same dataset sealed.

    The first commit puts rows 0 and 1 into the tables, the second puts row 2 into its frame.
    """

    def __init__(self):
        self.rows, self.chunk, counts = store()
        self.frames = [frame(0, 0, 0, [], [], 0, SNAPSHOT | SYNCED, 0)]
        self._append(length=2, rows=2, chunks=[(0, *counts[1])])
        self._append(length=3, rows=2, chunks=[(0, *counts[2])], updates=self.rows[2])
        self.unfull = [[0, counts[2][1], counts[2][0]]]
        self.table_rows = 2
        self.meta = meta_json(False, 0, 0, [])

    def _append(self, length, rows, chunks=(), updates=()):
        previous = struct.unpack('<I', self.frames[-1][-1][0])[0]
        self.frames.append(
            frame(len(self.frames), length, rows, chunks, updates, previous, SYNCED, 1))

    def seal(self):
        self._append(length=3, rows=3)
        self.table_rows = 3
        self.meta = meta_json(True, 3, 1, self.unfull, self.tables())
        return self

    def tables(self):
        out = {}
        for field, name in enumerate(NAMES):
            rows = [row[field] for row in self.rows[:self.table_rows]]
            out[name + '.offset'] = b''.join(row.entry for row in rows)
            out[name + '.check'] = b''.join(row.check for row in rows)
        return out

    def files(self):
        """Each file's path and bytes."""
        out = {'meta.json': self.meta.encode(), 'LOG': b''.join(map(joined, self.frames)),
               'LOCK': b'4711\n', 'chunk/0.zr': joined(self.chunk)}
        out.update(self.tables())
        return out

    def write(self, directory):
        for path, data in self.files().items():
            target = pathlib.Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


# --- the blocks of the document ------------------------------------------------------------------

def dump(pieces, start=0):
    """Lines of hex: offset, at most 8 bytes, meaning."""
    lines, at = [], start
    for part, text in pieces:
        for k in range(0, len(part), 8):
            said = text if k == 0 else ''
            lines.append(f'{at + k:04x}  {part[k:k + 8].hex(" "):23}  {said}'.rstrip())
        at += len(part)
    return lines


def hexed(value):
    return value.hex(' ')


def block_crc():
    pack = struct.pack
    cases = [
        ('nothing', b''), ('the 9 characters 123456789', b'123456789'),
        ('32 zero bytes', bytes(32)), ('32 bytes of ff', b'\xff' * 32),
        ('the bytes 00 01 .. 1f', bytes(range(32))),
        ('le64 0', pack('<Q', 0)), ('le64 1', pack('<Q', 1)), ('le64 2', pack('<Q', 2)),
        ('le64 2^32', pack('<Q', 1 << 32)),
    ]
    return [f'{crc32c(data):08x}  crc32c of {name}' for name, data in cases]


def vector(title, row):
    seed = row.seed
    return [title,
            f'  seed    {hexed(seed[:16])}  uuid',
            f'          {hexed(seed[16:20]):47}  field id: {row.field}',
            f'          {hexed(seed[20:24]):47}  chunk_id',
            f'          {hexed(seed[24:32]):47}  offset: {row.offset}',
            f'          {hexed(seed[32:36]):47}  physical_length: {row.physical}',
            f'          {hexed(seed[36:40]):47}  logical_length: {row.logical}',
            f'  stored  {hexed(row.stored) or "(no bytes)"}',
            f'  index   {hexed(struct.pack("<Q", row.index)):47}  {row.index}',
            f'  crc32c(seed, stored) = {row.body_crc:08x}',
            f'  crc32c(index)        = {row.index_crc:08x}',
            f'  crc                  = {row.crc:08x}',
            f'  entry   {hexed(row.entry)}',
            f'  check   {hexed(row.check)}']


def block_records():
    rows = Example().rows
    moved = rows[2][IMAGE].crc ^ crc32c(struct.pack('<Q', 2)) ^ crc32c(struct.pack('<Q', 0))
    lines = vector('A. stored, raw: image of record 0', rows[0][IMAGE])
    lines += [''] + vector('B. stored, compressed: caption of record 0, "go, go, go, go!"',
                           rows[0][CAPTION])
    lines += [''] + vector('C. inline: label of record 2, the int64 300', rows[2][LABEL])
    lines += [''] + vector('D. inline, shorter than its slot: "hi" as the caption of record 2^32',
                           Row(CAPTION, 1 << 32, IN_ENTRY, 0, b'hi', 2, b'hi'.ljust(8, b'\0')))
    lines += [''] + vector('E. empty: caption of record 2', rows[2][CAPTION])
    lines += ['', 'F. moved: image of record 2, taken to row 0 by a delete of record 0',
              f'  crc in row 2         = {rows[2][IMAGE].crc:08x}',
              f'  crc32c(le64 2)       = {crc32c(struct.pack("<Q", 2)):08x}',
              f'  crc32c(le64 0)       = {crc32c(struct.pack("<Q", 0)):08x}',
              f'  crc in row 0         = {moved:08x}']
    return lines


def block_frame0():
    pieces = Example().frames[0]
    body = joined(pieces[:-1])
    return dump(pieces) + [
        '',
        f'crc32c({hexed(UUID)},',
        f'       {hexed(struct.pack("<Q", GENERATION))},',
        f'       the {len(body)} bytes above the crc) = '
        f'{crc32c(UUID, struct.pack("<Q", GENERATION), body):08x}']


def log_dump(frames, first=0):
    lines, at = [], sum(len(joined(f)) for f in frames[:first])
    for number in range(first, len(frames)):
        lines += [''] * bool(lines) + [f'frame {number}'] + dump(frames[number], at)
        at += len(joined(frames[number]))
    return lines


def table_dump(example, field, first=0):
    lines = []
    for suffix, pieces, size in (('offset', entry_pieces, 16), ('check', check_pieces, 8)):
        name = f'{NAMES[field]}.{suffix}'
        lines += [''] * bool(lines) + [f'{name}, {len(example.tables()[name])} bytes']
        for index in range(first, example.table_rows):
            row = example.rows[index][field]
            named = [(data, f'row {index}  {text}') for data, text in pieces(row)]
            lines += dump(named, size * index)
    return lines


def block_meta():
    return Example().meta.rstrip('\n').split('\n')


def block_chunk():
    example = Example()
    return [f'chunk/0.zr, {len(joined(example.chunk))} bytes'] + dump(example.chunk)


def block_tables():
    example, lines = Example(), []
    for field in range(len(NAMES)):
        lines += [''] * bool(lines) + table_dump(example, field)
    return lines


def block_log():
    example = Example()
    return [f'LOG, {len(example.files()["LOG"])} bytes', ''] + log_dump(example.frames)


def block_lock():
    return ['LOCK, 5 bytes'] + dump([(b'4711\n', 'the pid of the last writer and a newline')])


def block_sealed_meta():
    return Example().seal().meta.rstrip('\n').split('\n')


def block_sealed_tables():
    example, lines = Example().seal(), []
    for field in range(len(NAMES)):
        lines += [''] * bool(lines) + table_dump(example, field, 2)
    return lines


def block_sealed_log():
    example = Example().seal()
    return [f'LOG, {len(example.files()["LOG"])} bytes', ''] + log_dump(example.frames, 3)


def fold(total, *numbers):
    for number in numbers:
        total = (total * 0x9E3779B97F4A7C15 + number) % 2**64
    return total


def block_digest():
    digest, lines = fold(1, len(NAMES), len(RECORDS)), []
    for field, form in enumerate(('uint8 3 4', 'int64', 'bytes')):
        total = 0
        for record in RECORDS:
            value = record[field]
            if isinstance(value, int):
                value = struct.pack('<q', value)
            total = fold(total, *((0, 0) if value is None else (len(value) + 1, crc32c(value))))
        described = f'{NAMES[field]} {form}'.encode()
        lines.append(f'{total:016x}  the sum of the field described by "{described.decode()}"')
        digest = fold(digest, len(described), crc32c(described), total)
    return [*lines, f'{digest:016x}  the digest of the dataset in section 15']


BLOCKS = {name[6:].replace('_', '-'): function for name, function in list(globals().items())
          if name.startswith('block_')}

# In the document a block is the fenced text that follows its marker.
MARKED = re.compile(r'^(<!-- make_example\.py (\S+) -->\n```[a-z]*\n)(.*?)(^```$)',
                    re.DOTALL | re.MULTILINE)


def block(name):
    return '\n'.join(BLOCKS[name]()) + '\n'


def update(text):
    """The document's text with each marked block as this program makes it."""
    return MARKED.sub(lambda found: found[1] + block(found[2]) + found[4], text)


def main():
    parser = argparse.ArgumentParser(description='Make the example of doc/zrecord-format.md.')
    parser.add_argument('block', nargs='*', help=f'of {", ".join(BLOCKS)} (default: all)')
    parser.add_argument('--write', metavar='DIR', help='make the dataset')
    parser.add_argument('--write-sealed', metavar='DIR', help='make the dataset, sealed')
    parser.add_argument('--update', metavar='DOCUMENT', help='put the blocks into the document')
    arguments = parser.parse_args()
    unknown = set(arguments.block) - set(BLOCKS)
    if unknown:
        parser.error(f'no such block: {", ".join(sorted(unknown))}; see --help')
    if arguments.write or arguments.write_sealed:
        target = pathlib.Path(arguments.write or arguments.write_sealed)
        target.mkdir(parents=True)
        (Example() if arguments.write else Example().seal()).write(target)
    elif arguments.update:
        document = pathlib.Path(arguments.update)
        document.write_text(update(document.read_text('utf-8')), 'utf-8')
    else:
        for name in arguments.block or BLOCKS:
            print(f'--- {name}', block(name), sep='\n', end='')


if __name__ == '__main__':
    main()
