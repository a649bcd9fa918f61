# SPDX-License-Identifier: MIT
"""The numbers in doc/zrecord-format.md equal the output of make_example.py, and are correct."""
import json
import pathlib
import re
import struct
import subprocess
import sys
import zlib

import pytest

import make_example as example

HERE = pathlib.Path(__file__).resolve().parent
DOC = HERE.parents[1] / 'doc'
DOCUMENT = (DOC / 'zrecord-format.md').read_text('utf-8')
SHOWN = {name: text for _, name, text, _ in example.MARKED.findall(DOCUMENT)}


def bitwise_crc32c(data):
    """The definition: one bit after another, no table."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize('name', example.BLOCKS)
def test_document_shows_the_block(name):
    assert SHOWN[name] == example.block(name)


def test_document_has_no_other_block():
    assert DOCUMENT.count('<!-- make_example.py ') == len(SHOWN) == len(example.BLOCKS)
    assert example.update(DOCUMENT) == DOCUMENT


def test_update_restores_a_changed_block():
    changed = DOCUMENT.replace(SHOWN['frame0'], 'something else\n')
    assert changed != DOCUMENT and example.update(changed) == DOCUMENT


def test_manual_page_shows_the_sealed_meta_json():
    page = (DOC / 'man' / '5' / 'loaderx-meta.5').read_text('utf-8')
    shown, = re.findall(r'^\.Bd .*\n(\{.*?^\})\n\.Ed$', page, re.DOTALL | re.MULTILINE)
    assert json.loads(shown) == json.loads(example.Example().seal().meta)


def test_meta_json_begins_with_its_checksum():
    for meta in (example.Example().meta, example.Example().seal().meta):
        start, digits, rest = meta[:14], meta[14:22], meta[22:]
        assert start == '{"checksum": "' and rest.startswith('",')
        assert digits == f'{bitwise_crc32c(rest[2:].encode()):08x}'


def test_crc32c():
    assert example.crc32c(b'123456789') == 0xE3069283
    for size in (0, 1, 7, 8, 9, 40, 257):
        data = bytes(k * 37 & 0xFF for k in range(size))
        assert example.crc32c(data) == bitwise_crc32c(data)
        assert example.crc32c(data[:size // 3], data[size // 3:]) == bitwise_crc32c(data)


@pytest.mark.parametrize('value', [
    b'', b'a', b'abcabcabcabcabcab', b'\xff\x90' * 9, b'xyz' + b'z' * 12, bytes(range(256)),
    b'go, go, go, go!'])
def test_zlib_inflates_the_stream(value):
    inflater = zlib.decompressobj(-15)
    assert inflater.decompress(example.deflate(value)) == value
    assert inflater.eof and inflater.unused_data == b''


def test_document_spells_out_the_deflate_stream():
    table = DOCUMENT[DOCUMENT.index('| bits, in the order'):]
    spelled = ''.join(re.findall(r'^\| ([01]+) \|', table[:table.index('\n\n')], re.MULTILINE))
    stream = example.deflate(b'go, go, go, go!')
    assert spelled == ''.join(f'{byte:08b}'[::-1] for byte in stream)


def walk(log):
    """The frames of a log; the sequence number and the crc of each are checked here."""
    at, previous, frames = 0, 0, []
    while at < len(log):
        head = struct.unpack_from('<4sIQQQIIII8sII', log, at)
        (magic, size, sequence, length, rows, chunks, updates, chained, flags, _, _,
         next_chunk) = head
        assert (magic, size) == (b'LXLF', 64 + 16 * chunks + 40 * updates + 8)
        assert (sequence, chained, flags) == (len(frames), previous, 2 if frames else 3)
        body = log[at:at + size - 4]
        previous, = struct.unpack_from('<I', log, at + size - 4)
        assert previous == bitwise_crc32c(example.UUID + bytes(8) + body)
        assert body[-4:] == bytes(4)
        frames.append({'length': length, 'rows': rows, 'next': next_chunk,
                       'updates': [body[64 + 16 * chunks + 40 * k:][:40] for k in range(updates)]})
        at += size
    return frames


def value(meta, files, field, index, entry, check):
    """One value, by the rules of the document."""
    if entry + check == bytes(24):
        return None
    chunk, physical, offset, logical, crc = struct.unpack('<IIQII', entry + check)
    stored = files['chunk/0.zr'][offset:offset + physical]
    if chunk == 0xFFFFFFFF:
        assert physical == logical <= 8 and not any(entry[8 + physical:])
        stored, offset = entry[8:8 + physical], 0
    else:
        assert chunk == 0 and offset % meta['fields'][field]['align'] == 0
    seed = example.UUID + struct.pack('<IIQII', field, chunk, offset, physical, logical)
    assert crc == bitwise_crc32c(seed + stored) ^ bitwise_crc32c(struct.pack('<Q', index))
    return stored if physical == logical else zlib.decompress(stored, -15)


@pytest.mark.parametrize('sealed', [False, True])
def test_records_read_back(sealed, tmp_path):
    target = tmp_path / 'dataset'
    subprocess.run([sys.executable, str(HERE / 'make_example.py'),
                    '--write-sealed' if sealed else '--write', str(target)], check=True, timeout=30)
    files = {path.relative_to(target).as_posix(): path.read_bytes()
             for path in target.rglob('*') if path.is_file()}
    meta = json.loads(files['meta.json'])
    frames = walk(files['LOG'])
    last = frames[-1]
    assert (last['length'], last['rows'], last['next']) == (3, 3 if sealed else 2, 1)
    updates = {struct.unpack_from('<I4xQ', item): (item[16:32], item[32:])
            for frame in frames for item in frame['updates'] if not sealed}
    for index, (image, label, caption) in enumerate(example.RECORDS):
        for field, expected in enumerate((image, struct.pack('<q', label), caption)):
            stem = meta['fields'][field]['stem']
            entry, check = updates.get((field, index)) or (
                files[stem + '.offset'][16 * index:][:16], files[stem + '.check'][8 * index:][:8])
            assert value(meta, files, field, index, entry, check) == expected
    if sealed:
        assert meta['length'] == 3 and meta['chunks']['unfull'] == [[0, 48, 4]]
        assert {name: {'bytes': len(files[name]), 'crc': bitwise_crc32c(files[name])}
                for name in files if name.endswith(('.offset', '.check'))} == meta['tables']
