# SPDX-License-Identifier: MIT
"""The plain reader and the library reject invalid datasets with the same class of error.

Each case is one error in a valid dataset.
"""

import json
import os
import re
import shutil
import socket
import struct

import pytest

import make_golden
from common import folder, golden, library, plain_text  # noqa: F401
from compose import SNAPSHOT, BOOT, SYNCED, Composer, edit_meta, field
from make_golden import (DICTIONARY, DICTIONARY_FRAME, DICTIONARY_TEXT, PLAIN_TEXT,
                         with_dictionary)
from zrbase import Absent, Corrupt, Unsupported, crc32c
from zrecord import Dataset
from zrlog import HEADER, ROWS_MAX


def small():
    """Two records of three fields, and a row; valid before a change."""
    new = Composer([field(0, "x"), field(1, "n", "int16", (2,), align=4),
                    field(2, "z", compress="flate")])
    for number in range(3):
        new.tables[number].append(new.entry(number, 0, b"4444"))
    new.frame(0)
    new.frame(1, 1, [0])
    return new


def meta_case(change):
    """Return a function that changes meta.json."""
    def apply(new):
        change(new.meta)
        return new
    return apply


def put(path, *keys):
    """Return a function that gives a key of meta.json, by its path, each of several values."""
    *way, last = path

    def change(what):
        def apply(meta):
            for key in way:
                meta = meta[key]
            meta[last] = what
        return meta_case(apply)
    return [(f"{'.'.join(map(str, path))} = {str(what)[:40]}", change(what)) for what in keys]


def ragged(*shapes):
    """Return functions that give a field a shape, in a dataset that says that it may be ragged."""
    def change(shape):
        def apply(meta):
            meta["fields"][1]["shape"] = shape
            meta["features"]["must"] = ["ragged"]
        return meta_case(apply)
    return [(f"ragged {shape}", change(shape)) for shape in shapes]


def without(path):
    """Return a function that removes a key from meta.json."""
    *way, last = path

    def apply(meta):
        for key in way:
            meta = meta[key]
        del meta[last]
    return f"no {'.'.join(map(str, path))}", meta_case(apply)


def nested(levels):
    """Return lists within lists."""
    return [] if levels == 1 else [nested(levels - 1)]


U32, U63 = 0xFFFFFFFF, (1 << 63) - 1
FIELD = ("fields", 1)
DAMAGED_META = [
    *put(["format"], [], [1], [1, 0, 0], [1, -1], [1, 1 << 32], ["1", 0], "1.0", [1, 0.5],
         [True, 0]),
    *put(["features"], [], {"must": []}, {"may": []}, {"must": "", "may": []},
         {"must": [1], "may": []}, {"must": [], "may": [None]}),
    *put(["generation"], -1, 1.0, (1 << 62) + 1, "0", None, True),
    *put(["uuid"], "", "00112233-4455-6677-8899-AABBCCDDEEFF",
         "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff\n"),
    *put(["sealed"], 0, None, "false"), *put(["length"], -1, 0.0, U63 + 1),
    *put(["chunks", "num"], -1, U32 + 1), *put(["chunks", "size"], 0, U32 + 1),
    *put(["chunks", "limit"], 0, (1 << 62) + 1),
    *put(["chunks", "unfull"], {}, [[0, 0]], [[0, 0, 0, 0]], [[0, -1, 0]], [[0, 0, U32 + 1]],
         [[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]], [0, 0, 0], [[U32 + 1, 0, 0]]),
    *put(["next_field"], 2, 0, U32 + 1), *put(["fields"], [], {}, [1]),
    *put([*FIELD, "id"], 0, -1, 3), *put([*FIELD, "name"], "", ".n", "n/", "n" * 65, "x", "n\n"),
    *put([*FIELD, "stem"], "", "x", "n~", "n~0", "n~01", "n~4294967296", "~1", "../n", "n~1~1",
         "n" * 65),
    *put([*FIELD, "shape"], [1], [2, -1], [2.0], [1] * 33, [1 << 32], [1 << 62, 1 << 62], 2,
         [1 << 62, 0], [0, 1 << 31]),
    *put([*FIELD, "shape"], [None], [None, 2]),    # without the feature
    *ragged([2, None], [None, None], [None, 0], [None, 2, 0], [None, 1 << 31], [None, -1],
            [None, 1 << 62, 1 << 62], [None, 1.0], ["", 2], [False, 2]),
    *put(["fields", 0, "dtype"], 1, None),
    *put([*FIELD, "shared"], None, [], {}, {"chunk": 0, "offset": 0},
         {"chunk": U32, "offset": 0, "bytes": 9}, {"chunk": 0, "offset": -1, "bytes": 9},
         {"chunk": 0, "offset": 0, "bytes": 0}, {"chunk": 0, "offset": 0, "bytes": U32 + 1}),
    *put([*FIELD, "align"], 0, 3, 8192), *put([*FIELD, "dict"], {}, {"bytes": 1, "crc": 0}, 0),
    *put([*FIELD, "complete"], 1, None, "true"),
    *put([*FIELD, "changes"], -1, U63 + 1, None, "0", 1.0, True),
    *put(["changes"], -1, U63 + 1, None, "0", 1.0, True),
    *put(["card"], [], None, "x", {"": "x"}, {"a b": "x"}, {"a": 1}, {"a": None}, {"a": "\0"},
         {"a" * 65: ""}, {f"k{i}": "" for i in range(65)}, {"a": "x" * 65536}),
    *put(["fields", 0, "shape"], [1]), *put(["deep"], nested(16), {"a": nested(15)}),
    *(without(path) for path in (
        ["format"], ["features"], ["generation"], ["uuid"], ["sealed"], ["length"], ["chunks"],
        ["next_field"], ["fields"], ["chunks", "num"], ["chunks", "size"], ["chunks", "limit"],
        ["chunks", "unfull"], *([*FIELD, key] for key in (
            "id", "name", "stem", "dtype", "shape", "compress", "align", "dict")))),
]
NEWER_META = [
    *put(["format"], [0, 0], [2, 0]), *put(["features"], {"must": ["fast"], "may": []}),
    *put([*FIELD, "dtype"], "int128", "", "float8_e4m3", "datetime64", "datetime64[h]", "text"),
    *put(["features"], {"must": ["ragged", "fast"], "may": []}), *put([*FIELD, "compress"], "lz4", "RAW"),
]


def refused(folder, new, error, library, status):
    """Both must reject the dataset."""
    new.write(folder / "d")
    with pytest.raises(error):
        plain_text(folder / "d")
    assert library.read(folder / "d")[0] == status


@pytest.mark.parametrize("what, change", DAMAGED_META, ids=[what for what, _ in DAMAGED_META])
def test_rejects_damaged_meta(folder, library, what, change):
    refused(folder, change(small()), Corrupt, library, "LX_ERR_CORRUPT")


@pytest.mark.parametrize("what, change", NEWER_META, ids=[what for what, _ in NEWER_META])
def test_rejects_newer_meta(folder, library, what, change):
    refused(folder, change(small()), Unsupported, library, "LX_ERR_UNSUPPORTED")


@pytest.mark.parametrize("dtype", ["str", "json", "image", "bytes"])
def test_rejects_a_shape_of_byte_strings(folder, library, dtype):
    new = small()
    new.meta["fields"][0].update(dtype=dtype, shape=[None])
    new.meta["features"]["must"] = ["ragged"]
    refused(folder, new, Corrupt, library, "LX_ERR_CORRUPT")


@pytest.mark.parametrize("size", [4, 9, 16, 17, 18])
def test_a_length_must_be_a_multiple_of_the_stride(folder, library, size):
    new = Composer([field(0, "x", "int16", (None, 3))],
                   meta={"features": {"must": ["ragged"], "may": []}})
    text = bytes(range(size))
    words = new.entry(0, 0, text) if size <= 8 else new.stored(0, 0, text)
    new.frame(0)
    new.frame(1, 0, [0] if size > 8 else [], [(0, 0, words)])
    if size % 6 != 0:
        refused(folder, new, Corrupt, library, "LX_ERR_CORRUPT")
        return
    new.write(folder / "d")
    assert plain_text(folder / "d") == library.text(folder / "d") == new.text([{"x": text}])


@pytest.mark.parametrize("change", [
    lambda text: b"\xef\xbb\xbf" + text, lambda text: text[:-3], lambda text: text + b"x",
    lambda text: b"[" + text + b"]", lambda text: b"", lambda text: text + b" " * (16 << 20),
    lambda text: text.replace(b'"length"', b'"length": 0, "length"'),
    lambda text: text.replace(b'"length"', b'"note": {"a": 1, "a": 1}, "length"'),
    lambda text: text.replace(b'"length"', b'"note": "\xff", "length"'),
    lambda text: text.replace(b'"length"', b'"note": NaN, "length"'),
    lambda text: text.replace(b'"length"', b'"note": 01, "length"'),
    lambda text: text.replace(b'"length"', b'"note": "a\tb", "length"'),
    lambda text: text.replace(b'"length"', b'"note": 0.' + b"1" * 63 + b', "length"'),
    lambda text: text.replace(b'"length"', b'"note": ' + b"[" * 100000 + b', "length"')])
def test_rejects_invalid_meta(folder, library, change):
    small().write(folder / "d")
    edit_meta(folder / "d", change)
    with pytest.raises(Corrupt):
        Dataset(folder / "d")
    assert library.read(folder / "d")[0] == "LX_ERR_CORRUPT"


@pytest.mark.parametrize("change", [
    lambda text: b"", lambda text: b"{}", lambda text: b" " + text, lambda text: text[:-1],
    lambda text: text + b" ", lambda text: b"{" + text[24:],
    lambda text: text.replace(b'{"checksum"', b'{ "checksum"'),
    lambda text: text.replace(b'"checksum": "', b'"checksum": "0'),
    lambda text: text[:14] + text[14:22].swapcase() + text[22:] + b" ",
    lambda text: text.replace(b'"name": "n"', b'"name": "m"'),
    lambda text: text.replace(b'"raw"', b'"riw"'),
    lambda text: text.replace(b"[\n  1,", b"[\n  2,")])
def test_rejects_meta_with_a_wrong_checksum(folder, library, change):
    """A change is damage, even if the result looks like a meta.json of another version."""
    small().write(folder / "d")
    path = folder / "d" / "meta.json"
    text = path.read_bytes()
    path.write_bytes(change(text))
    assert change(text) != text
    with pytest.raises(Corrupt, match="checksum"):
        Dataset(folder / "d")
    status, said = library.read(folder / "d")
    assert status == "LX_ERR_CORRUPT"


@pytest.mark.parametrize("change", [
    lambda text: text.replace(b'"length": 0', b'"length": -0'),
    lambda text: text.replace(b'"length"', b'"\\u006cen\\u0067th"'),
    lambda text: text.replace(b'"length"', b'"note": "\\ud83d\\ude00", "length"'),
    lambda text: text.replace(b'"length"', b'"note": 0.' + b"1" * 62 + b', "length"'),
    lambda text: text + b"\r\n\t ",
    lambda text: text.replace(b'"length": 0', b'"length": 9223372036854775807'),
    lambda text: text.replace(b'"unfull": []', b'"unfull": [[0, 9223372036854775807, 4294967295]]'),
    lambda text: text.replace(b'"sealed"', b'"tables": 1, "sealed"')])
def test_accepts_valid_meta(folder, library, change):
    small().write(folder / "d")
    text = (folder / "d" / "meta.json").read_bytes()
    edit_meta(folder / "d", change)
    assert change(text) != text
    assert library.text(folder / "d") == plain_text(folder / "d")


def test_accepts_the_largest_size_and_depth(folder):
    new = small()
    new.meta["deep"] = nested(15)
    new.write(folder / "d")
    edit_meta(folder / "d", lambda text: text + b" " * ((16 << 20) - len(text)))
    assert plain_text(folder / "d").startswith("length 1\n")


PART = {"path": "part/a", "chunks": [[0, 0, 2], [2, 5, 1]]}
WRONG_PARTS = [
    [], {}, None, [PART, 7], [{"path": "part/a"}], [{"chunks": [[0, 0, 1]]}],
    *([{**PART, "path": path}] for path in (
        "", "/", "/etc", "..", ".", "part/..", "part/../x", "part//x", "part/a/", ".a", "a b",
        "https://host/x", "a" * 65, "/".join("abcdefghi"), "/".join("x" * 50 for _ in range(4)),
        "part/a\n", 7, None)),
    *([{**PART, "chunks": runs}] for runs in (
        [], {}, [7], [[]], [[0, 0]], [[0, 0, 1, 1]], [[0, 0, 0]], [[-1, 0, 1]], [[0, -1, 1]],
        [[0, 0, 1.0]], [[U32, 0, 1]], [[0, U32, 1]], [[U32 - 1, 0, 2]], [[0, U32 - 1, 2]],
        [[0, 0, U32 + 1]], [[0, 5, 1], [1, 0, 1]], [[0, 0, 2], [2, 1, 1]], [[0, 0, 2], [1, 5, 1]])),
    [PART, PART], [PART, {"path": "part/b", "chunks": [[2, 0, 1]]}],
    [{**PART, "path": "part/b"}, {"path": "part/a", "chunks": [[7, 0, 1]]}],
]


def joined_with(**changes):
    """Return the golden of a joined dataset with other keys in meta.json; None removes one."""
    new = make_golden.joined()[0]
    new.meta.update(changes)
    return new


@pytest.mark.parametrize("parts", WRONG_PARTS, ids=lambda parts: str(parts)[:60])
def test_rejects_parts_that_break_a_rule(folder, library, parts):
    refused(folder, joined_with(parts=parts), Corrupt, library, "LX_ERR_CORRUPT")


@pytest.mark.parametrize("changes", [
    {"features": {"must": [], "may": []}}, {"features": {"must": ["ragged"], "may": ["parts"]}},
    {"sealed": False}], ids=str)
def test_parts_need_the_feature_and_a_sealed_dataset(folder, library, changes):
    refused(folder, joined_with(**changes), Corrupt, library, "LX_ERR_CORRUPT")


def test_the_feature_needs_parts(folder, library):
    new = small()
    new.seal(1)
    new.meta["features"]["must"].append("parts")
    refused(folder, new, Corrupt, library, "LX_ERR_CORRUPT")


@pytest.mark.parametrize("harm", ["absent", "link to a part", "link", "file", "short", "long"])
def test_rejects_a_part_that_is_damaged(folder, library, harm):
    path = golden("joined", folder)
    part, chunk = path / "part" / "b", path / "part" / "b" / "part" / "x" / "chunk" / "1.zr"
    if harm == "absent":
        shutil.rmtree(part)
    elif harm == "link to a part":
        part.rename(path / "part" / "moved")
        part.symlink_to("moved")
    elif harm == "link":
        chunk.rename(chunk.parent / "moved")
        chunk.symlink_to("moved")
    elif harm == "file":
        shutil.rmtree(part)
        part.write_bytes(b"")
    else:
        chunk.write_bytes(chunk.read_bytes()[:-1] if harm == "short" else bytes(71))
    with pytest.raises(Corrupt):
        plain_text(path)
    assert library.read(path)[0] == "LX_ERR_CORRUPT"
    with Dataset(path) as dataset:
        assert dataset.verify()


def frame_case(**options):
    """Return a function that adds a frame to the log."""
    def apply(new):
        new.frame(**{"length": 1, "rows": 1, **options})
        return new
    return apply


def reserved(new):
    """An update with a reserved number that is not zero, in an otherwise valid frame."""
    new.frame(2, 1, [], [(0, 1, new.entry(0, 1, b"x"))])
    del new.log[-112:]
    new.sequence -= 1
    new.crc = struct.unpack("<I", new.log[-4:])[0]
    body = HEADER.pack(b"LXLF", 112, new.sequence, 2, 1, 0, 1, new.crc, SYNCED, BOOT, 0, 1)
    body += struct.pack("<IIQ24s", 0, 1, 1, new.entry(0, 1, b"x")) + bytes(4)
    uuid = bytes.fromhex("00112233445566778899aabbccddeeff")
    new.log += body + struct.pack("<I", crc32c(uuid, bytes(8), body))
    return new


def snapshot_frame(**options):
    """Return a function that gives the dataset a log of one frame, its snapshot frame."""
    def apply(new):
        fresh = small()
        fresh.log = bytearray()
        fresh.sequence = fresh.crc = 0
        fresh.frame(**{"length": 1, "rows": 1, "next_chunk": 9, **options})
        return fresh
    return apply


WRONG_FRAMES = {
    "snapshot flag": frame_case(flags=SNAPSHOT | SYNCED), "flags of the future": frame_case(flags=8),
    "flag bit 2": frame_case(flags=4), "flag bit 2, synced": frame_case(flags=4 | SYNCED),
    "snapshot frame with flag bit 2": snapshot_frame(flags=7, length=0, rows=0),
    "rows fall": frame_case(rows=0), "rows above the limit": frame_case(rows=ROWS_MAX + 1),
    "length above rows and updates": frame_case(length=2), "reserved": reserved,
    "next chunk falls": frame_case(next_chunk=0),
    "chunk at next": frame_case(chunks=[0], next_chunk=0),
    "chunks do not ascend": frame_case(chunks=[3, 2], next_chunk=9),
    "a chunk twice": frame_case(chunks=[3, 3], next_chunk=9),
    "snapshot frame without its flag": snapshot_frame(flags=SYNCED),
    "snapshot frame not synced": snapshot_frame(flags=SNAPSHOT),
    "snapshot frame updates do not ascend": snapshot_frame(updates=[(0, 1, bytes(24)), (0, 0, bytes(24))]),
    "snapshot frame updates twice": snapshot_frame(updates=[(0, 0, bytes(24))] * 2),
}


@pytest.mark.parametrize("what", WRONG_FRAMES)
@pytest.mark.parametrize("boot", [BOOT, b"another!"])
def test_rejects_a_frame_that_breaks_a_rule(folder, library, what, boot):
    refused(folder, WRONG_FRAMES[what](small()), Corrupt, library, "LX_ERR_CORRUPT")


def words_case(number, chunk, physical, offset, logical):
    """Return a function that adds a record with these words, their crc right."""
    def apply(new):
        new.chunks[0] = bytearray(b"0123456789abcdef" * 4)
        new.payloads[0] = 1
        stored = new.chunks[0][offset:offset + physical]
        if chunk == U32:
            stored = offset.to_bytes(8, "little")[:physical]
        words = new._checked(number, 1, (chunk, physical, offset, logical), stored)
        new.frame(2, 1, [0], [(k, 1, words if k == number else bytes(24)) for k in range(3)],
                  next_chunk=1)
        return new
    return apply


WRONG_WORDS = {
    "size of a dense field": words_case(1, U32, 2, 7, 2),
    "missing with a check": words_case(0, 0, 0, 0, 0), "inline of 9": words_case(0, U32, 9, 0, 9),
    "inline of two sizes": words_case(0, U32, 2, 7, 3), "slot": words_case(0, U32, 1, 256, 1),
    "empty with a slot": words_case(0, U32, 0, 1, 0), "dense empty": words_case(1, U32, 0, 0, 0),
    "unknown chunk": words_case(0, 1, 12, 0, 12), "offset": words_case(0, 0, 12, 4, 12),
    "no bytes": words_case(2, 0, 0, 8, 12), "more than the value": words_case(2, 0, 12, 0, 11),
    "raw and shorter": words_case(0, 0, 12, 0, 13), "beyond": words_case(0, 0, 16, 56, 16),
    "far beyond": words_case(0, 0, 16, (1 << 64) - 8, 16),
    "no stream": words_case(2, 0, 12, 0, 13), "ratio": words_case(2, 0, 1, 0, 1033),
    "huge": words_case(2, 0, 12, 0, U32),
}


@pytest.mark.parametrize("what", WRONG_WORDS)
def test_rejects_an_invalid_entry(folder, library, what):
    new = WRONG_WORDS[what](small())
    new.write(folder / "d")
    with Dataset(folder / "d") as dataset:
        found = dataset.verify()
        assert len(found) == 1 and isinstance(found[0], Corrupt), found
        assert found[0].record == 1 and found[0].field and found[0].file
        assert [dataset.read(one, 0) for one in dataset.meta.fields] == [b"4444"] * 3
    status, text = library.read(folder / "d")
    assert status == "LX_ERR_CORRUPT" and found[0].field in text


STREAM = b"\x4b\xcf\xd7\x51\x40\x60\x45\x00"  # "go, go, go, go!", of the document


@pytest.mark.parametrize("payload, size", [
    (STREAM, 14), (STREAM, 16), (STREAM + b"\0", 15), (STREAM[:-1], 15), (STREAM[:-2], 15),
    (b"\x4a" + STREAM[1:], 15)])
def test_rejects_a_stream_of_another_length(folder, library, payload, size):
    new = small()
    words = new.stored(2, 1, bytes(size), 0, payload)
    new.frame(2, 1, [0], [(2, 1, words), (0, 1, bytes(24)), (1, 1, bytes(24))])
    refused(folder, new, Corrupt, library, "LX_ERR_CORRUPT")


# A frame of one RLE block: 20 times the byte 7.
FRAME = bytes.fromhex("28b52ffd2014a3000007")
SKIPPABLE = bytes.fromhex("502a4d1800000000")


def refused_frame(folder, library, one, *payload, size=20, error=Corrupt):
    """A library without the codec does not decompress any payload."""
    new = Composer([one])
    new.frame(0)
    new.frame(1, 0, [0], [(0, 0, new.stored(0, 0, bytes([7]) * size, 0, *payload))])
    if one["dict"]:
        new.extra["x.dict"] = DICTIONARY
    path = folder / "d"
    new.write(path)
    status, text = library.read(path)
    assert status in ("LX_ERR_CORRUPT", "LX_ERR_UNSUPPORTED")
    assert status == "LX_ERR_CORRUPT" or "lacks the zstd codec" in text
    with Dataset(path) as dataset:
        with pytest.raises(error):
            dataset.read(dataset.meta.fields[0], 0)


def test_accepts_a_frame(folder):
    new = Composer([field(0, "x", compress="zstd")])
    new.frame(0)
    new.frame(1, 0, [0], [(0, 0, new.stored(0, 0, bytes([7]) * 20, 0, FRAME))])
    new.write(folder / "d")
    with Dataset(folder / "d") as dataset:
        assert dataset.read(dataset.meta.fields[0], 0) == bytes([7]) * 20


@pytest.mark.parametrize("payload, size", [
    (FRAME, 19), (FRAME, 21),                                   # another Frame_Content_Size
    (FRAME + b"\0", 20), (FRAME[:-1], 20), (FRAME[:6], 20),     # bytes after the end, and too few
    (b"\x29" + FRAME[1:], 20),                                  # another magic number
    (bytes.fromhex("28b52ffd2414a3000007") + bytes(4), 20),     # Content_Checksum_flag
    (bytes.fromhex("28b52ffd2814a3000007"), 20),                # the reserved bit
    (bytes.fromhex("28b52ffd0000a3000007"), 20),                # no Frame_Content_Size
    (bytes.fromhex("28b52ffd2014a7000007"), 20),                # a reserved block type
    (bytes.fromhex("28b52ffd2014a2000007"), 20),                # no last block
    (SKIPPABLE + FRAME, 20), (FRAME + SKIPPABLE, 20),
    (bytes.fromhex("28b52ffd2000010000") + FRAME, 20),          # an empty frame before the frame
    (b"compressed", 20)])
def test_rejects_what_is_not_one_frame(folder, library, payload, size):
    refused_frame(folder, library, field(0, "x", compress="zstd"), payload, size=size)


def test_rejects_a_frame_with_the_dictionary_of_another_field(folder, library):
    size = len(DICTIONARY_TEXT)
    refused_frame(folder, library, field(0, "x", compress="zstd"), DICTIONARY_FRAME, size=size)


def test_rejects_a_frame_with_another_dictionary(folder, library):
    frame = DICTIONARY_FRAME.replace(b"\x4d", b"\x4e", 1)
    assert frame != DICTIONARY_FRAME
    refused_frame(folder, library, with_dictionary(0, "x"), frame, size=len(DICTIONARY_TEXT))


@pytest.mark.parametrize("harm", ["absent", "shorter", "longer", "changed", "a link"])
def test_a_damaged_dictionary_is_found_by_the_first_value_that_needs_it(folder, library, harm):
    path = golden("zstd-frames", folder)
    file = path / "x.dict"
    if harm in ("absent", "a link"):
        file.rename(folder / "x.dict")
    if harm == "a link":
        file.symlink_to(folder / "x.dict")
    data = {"shorter": DICTIONARY[:-1], "longer": DICTIONARY + b"!",
            "changed": DICTIONARY[:-1] + b"!"}.get(harm)
    if data is not None:
        file.write_bytes(data)
    status, _ = library.read(path)
    assert status in ("LX_ERR_CORRUPT", "LX_ERR_UNSUPPORTED")
    with Dataset(path) as dataset:
        x, y = dataset.meta.fields
        with pytest.raises(Corrupt):
            dataset.read(x, 0)
        assert dataset.read(x, 1) == PLAIN_TEXT == dataset.read(y, 0)
        assert len(dataset.verify()) == 2


def test_a_file_that_is_no_dictionary(folder, library):
    new = Composer([with_dictionary(0, "x", b"x" * 300)])
    new.frame(0)
    new.frame(1, 0, [0], [(0, 0, new.stored(0, 0, DICTIONARY_TEXT, 0, DICTIONARY_FRAME))])
    new.extra["x.dict"] = b"x" * 300
    new.write(folder / "d")
    assert library.read(folder / "d")[0] in ("LX_ERR_CORRUPT", "LX_ERR_UNSUPPORTED")
    with Dataset(folder / "d") as dataset:
        with pytest.raises(Corrupt):
            dataset.read(dataset.meta.fields[0], 0)


# Files of the wrong type or size.

@pytest.mark.parametrize("what", ["link", "fifo", "directory", "socket"])
@pytest.mark.parametrize("name", ["meta.json", "LOG", "x.offset", "n.check", "LOCK"])
def test_rejects_special_files(folder, library, name, what):
    path = folder / "d"
    small().write(path)
    file = path / name
    if file.exists():
        file.rename(folder / "real")
    else:
        (folder / "real").touch()
    if what == "link":
        file.symlink_to(folder / "real")
    elif what == "fifo":
        os.mkfifo(file)
    elif what == "directory":
        file.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as one:
            here = os.getcwd()
            os.chdir(path)
            one.bind(name)
            os.chdir(here)
    with pytest.raises(Corrupt):
        plain_text(path)
    assert library.read(path)[0] == "LX_ERR_CORRUPT"


def test_absent_datasets_and_files(folder, library):
    assert library.read(folder / "no")[0] == "LX_ERR_NOT_FOUND"
    with pytest.raises(Absent):
        Dataset(folder / "no")
    with pytest.raises(Absent):
        Dataset(folder)
    for name in ("LOG", "x.offset", "z.check"):
        path = folder / name
        small().write(path)
        (path / name).unlink()
        with pytest.raises(Corrupt):
            plain_text(path)
        assert library.read(path)[0] == "LX_ERR_CORRUPT"


# Sealed datasets: section 9.6.

@pytest.mark.parametrize("change", [
    lambda meta: meta.update(length=5), lambda meta: meta["chunks"].update(num=2),
    lambda meta: meta["chunks"].update(unfull=[]), lambda meta: meta["tables"].popitem(),
    lambda meta: meta["tables"].update(more={"bytes": 0, "crc": 0}),
    lambda meta: meta.pop("tables"),
    lambda meta: meta["tables"]["x.offset.1"].update(bytes=95)])
def test_rejects_sealed_meta_that_disagrees(folder, library, change):
    path = golden("sealed-again", folder)
    meta = json.loads((path / "meta.json").read_bytes())
    del meta["checksum"]
    change(meta)
    edit_meta(path, lambda text: json.dumps(meta).encode())
    with pytest.raises(Corrupt):
        Dataset(path)
    assert library.read(path)[0] == "LX_ERR_CORRUPT"


@pytest.mark.parametrize("name", ["x.offset.1", "n.check.1", "chunk/8.zr"])
def test_rejects_a_sealed_file_of_another_size(folder, library, name):
    for k, change in enumerate((lambda data: data + b"\0", lambda data: data[:-1])):
        path = golden("sealed-again", folder, str(k))
        (path / name).write_bytes(change((path / name).read_bytes()))
        with pytest.raises(Corrupt):
            plain_text(path)
        assert library.read(path)[0] == "LX_ERR_CORRUPT"


def test_sealed_crc_is_verified(folder):
    path = golden("sealed-again", folder)
    text = (path / "meta.json").read_text()
    crc = re.search(r'"crc": (\d+)', text).group(1)
    edit_meta(path, lambda text: text.replace(crc.encode(), b"%d" % (int(crc) ^ 1)))
    with Dataset(path) as dataset:
        assert len(dataset.verify()) == 1
