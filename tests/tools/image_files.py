# SPDX-License-Identifier: MIT
"""Images, made byte by byte, and what RecordIO files have of them."""

import random
import struct
import zlib


def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))


def write_png(rows):
    """A PNG of rows of pixels, each of which has 3 bytes."""
    head = struct.pack('>IIBBBBB', len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    data = zlib.compress(b''.join(b'\0' + row for row in rows), 1)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', data) +
            chunk(b'IEND', b''))


def png(number, width=4, height=3):
    """A PNG whose pixels depend on the number."""
    pixels = random.Random(number)
    return write_png([pixels.randbytes(width * 3) for _ in range(height)])


def read(path):
    """The records of a RecordIO file and its index: a list of (key, id, labels, image)."""
    data = path.read_bytes()
    found = []
    for line in path.with_suffix('.idx').read_text().splitlines():
        key, offset = line.split('\t')
        at, record = int(offset), b''
        while True:
            magic, head = struct.unpack_from('<II', data, at)
            assert magic == 0xced7230a
            size, kind = head & (1 << 29) - 1, head >> 29
            record += data[at + 8:at + 8 + size]
            at += 8 + size + -size % 4
            if kind in (0, 3):
                break
            record += struct.pack('<I', magic)
        flag, label, number, other = struct.unpack_from('<IfQQ', record)
        labels = list(struct.unpack_from(f'<{flag}f', record, 24)) if flag else [label]
        assert other == 0 and (flag != 1) and (not flag or label == 0)
        found.append((key, number, labels, record[24 + 4 * flag:]))
    assert sum(1 for _ in found) == 0 or at == len(data)
    return found


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def expected(photos, order=None, labels=lambda name: ['abcd'.index(name[0])]):
    listed = [(str(i), i, labels(name), data) for i, (name, data) in enumerate(photos.items())]
    return [listed[i] for i in order] if order is not None else listed
