#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the goldens of tests/data/zrecord: each a dataset NAME and its contents, NAME.txt.

    python3 make_golden.py PROGRAMS DIR [NAME...]

DIR gets a tar for each family: written and changed by the library, and composed here. PROGRAMS is
the folder of the built tests/reader/make-golden and make-changed, which use the library's writer.
The composed ones are valid in format [1, 0], but the library does not write them. An existing
golden does not change: every later version must read it.
"""

import base64
import pathlib
import subprocess
import sys
import tempfile
import zlib

import tars
from compose import BOOT, SYNCED, Composer, field, moved
from zrbase import crc32c, le64
from zrlog import HEADER
from zrmeta import Meta

WRITTEN = ("empty", "one-field", "dtypes", "bytes", "flate", "chunks", "commits", "rows", "sealed",
           "sealed-empty", "not-synced", "types")
CHANGED = ("changed", "folded", "rebalanced", "restarted", "fields", "unsealed", "sealed-changed",
           "emptied", "defaults")
OTHER_BOOT = bytes.fromhex("a1b2c3d4e5f60718")


def value(number, size=12):
    """Return `size` bytes that differ from number to number."""
    return bytes((number * 31 + k * 7) & 0xFF for k in range(size))


def replayed():
    """The example of section 8.15: rows, updates, deletes, and appends after them."""
    new = Composer([field(0, "x")])
    a, b, c, other, d, e = (value(k) for k in range(6))

    def put(index, what):
        return new.stored(0, index, what)

    new.frame(0)
    rows = [put(k, what) for k, what in enumerate((a, b, c))]
    new.frame(3, 0, [0], [(0, k, words) for k, words in enumerate(rows)])
    new.tables[0] += rows
    new.frame(3, 3)
    new.frame(3, 3, [0], [(0, 1, put(1, other))])
    new.frame(2, 3, [], [(0, 0, moved(rows[2], 2, 0))])
    new.frame(3, 3, [0], [(0, 2, put(2, d))])
    last = put(3, e)
    new.frame(4, 3, [0], [(0, 3, last)])
    new.tables[0].append(last)
    new.frame(4, 4)
    new.frame(3, 4)
    return new, [{"x": what} for what in (c, other, d)]


def overrides():
    """Updates below rows: changes, hidden rows, several for one index, and dropped ones."""
    new = Composer([field(0, "x"), field(1, "n", "int16", (), align=2)])
    values = [value(k) for k in range(7)]
    new.tables[0] += [new.stored(0, k, values[k]) if k != 4 else bytes(24) for k in range(7)]
    new.tables[1] += [new.entry(1, k, value(k, 2)) for k in range(7)]
    new.frame(0)
    # The frame names new rows and has an update in their range, which is live.
    new.frame(7, 7, [0], [(0, 3, new.entry(0, 3, b"live")), (1, 9, new.entry(1, 9, b"no"))])
    new.frame(7, 7, [0], [(0, 1, new.stored(0, 1, value(11))), (0, 2, bytes(24)),
                          (0, 4, new.entry(0, 4, b"four")), (0, 5, new.entry(0, 5, b"first")),
                          (0, 5, new.entry(0, 5, b"last")), (0, 6, new.entry(0, 6, b"dropped"))])
    new.frame(6, 7)
    # Record 6 exists again, with its row: the earlier update is dropped.
    new.frame(7, 7)
    texts = [values[0], value(11), None, b"live", b"four", b"last", values[6]]
    return new, [{"x": text, "n": value(k, 2)} for k, text in enumerate(texts)]


def moved_rows():
    """Deletes: rows that changed their places, also a missing and an empty value."""
    new = Composer([field(0, "x"), field(1, "y", compress="flate")])
    x = [value(k, 20) for k in range(6)]
    y = [b"", None, b"tiny", value(3, 9), None, b""]
    new.tables[0] += [new.stored(0, k, x[k]) for k in range(6)]
    new.tables[1] += [new.stored(1, k, y[k]) if k == 3 else new.entry(1, k, y[k])
                      for k in range(6)]
    new.frame(0)
    new.frame(6, 6, [0])

    def take(old, to):
        return [(number, to, moved(new.tables[number][old], old, to)) for number in (0, 1)]

    new.frame(5, 6, [], take(5, 0))
    new.frame(4, 6, [], take(4, 1))
    new.frame(3, 6, [], take(3, 2))
    return new, [{"x": x[k], "y": y[k]} for k in (5, 4, 3)]


def generations():
    """A later generation of log and tables, with obsolete files and orphans."""
    new = Composer([field(0, "x")], 3, 2)
    new.tables[0] += [new.stored(0, k, value(k), 5) for k in range(3)]
    updates = [(0, 1, new.stored(0, 1, value(8), 9)), (0, 3, new.entry(0, 3, b"three"))]
    new.frame(4, 3, [5, 9], updates, next_chunk=10)
    new.frame(5, 3, [7], [(0, 4, new.stored(0, 4, value(4), 7))], next_chunk=10)
    for name in ("LOG", "LOG.2", "LOG.4", "x.offset", "x.check", "x.offset.1", "x.check.3",
                 "meta.json.new", "chunk/2.zr", "chunk/12.zr", "other"):
        new.extra[name] = b"left over"
    return new, [{"x": what} for what in (value(0), value(8), value(2), b"three", value(4))]


def short_values():
    """Short values that are not inline, wide gaps, a value above the limit, and spare bytes."""
    fields = [field(0, "one", align=1), field(1, "page", "uint8", (3,), align=4096),
              field(2, "flate", compress="flate", align=2)]
    chunks = {"num": 0, "size": 100, "limit": 16, "unfull": []}
    new = Composer(fields, meta={"chunks": chunks})
    records = []
    updates = []
    for k in range(1, 9):
        record = {"one": value(k, k), "page": value(k, 3), "flate": value(k, 9 - k)}
        for number, what in enumerate(record.values()):
            chunk = 1 if number == 1 else 0
            updates.append((number, k - 1, new.stored(number, k - 1, what, chunk, gap=b"g")))
        records.append(record)
    records.append({"one": value(9, 5000), "page": None, "flate": b""})
    updates += [(0, 8, new.stored(0, 8, value(9, 5000), 0xFFFFFFFE)), (1, 8, bytes(24)),
             (2, 8, new.entry(2, 8, b""))]
    new.frame(0)
    new.frame(9, 0, sorted(new.chunks), updates)
    for name in ("chunk/0.zr", "chunk/1.zr", "one.offset", "page.check"):
        new.extra[name] = b"spare" * 20
    return new, records


def schema():
    """Fields that were dropped, renamed, added and reordered."""
    fields = [field(6, "now", "float64", (), align=8, stem="now~6"),
              field(2, "renamed", stem="before"), field(0, "-._", stem="x" * 64 + "~4294967295")]
    new = Composer(fields, meta={"next_field": 4294967295})
    lost = bytes(range(24))
    names = {2: "renamed", 0: "-._"}
    for number in names:
        new.tables[number] += [new.entry(number, k, bytes([64 + number, k])) for k in range(3)]
    new.tables[6] += [bytes(24)] * 3
    new.frame(0)
    # Field 4 is not in the schema: its updates are skipped, but still count for the length.
    new.frame(3, 3, [], [(4, 0, lost), (6, 1, new.entry(6, 1, value(1, 8)))])
    new.frame(4, 3, [], [(4, 3, lost), (2, 3, new.entry(2, 3, b"new"))])
    records = [{"now": value(1, 8) if k == 1 else None,
                **{name: bytes([64 + number, k]) for number, name in names.items()}}
               for k in range(3)]
    return new, records + [{"now": None, "renamed": b"new", "-._": None}]


def ragged():
    """Ragged fields, one of them of items that are longer than an entry, and bytes fields."""
    fields = [field(0, "boxes", "float32", (None, 4), align=1), field(1, "ids", "uint8", (None,)),
              field(2, "text", "str"), field(3, "json", "json", compress="flate"),
              field(4, "image", "image"), field(5, "time", "datetime64[us]", (None, 1))]
    new = Composer(fields, meta={"features": {"must": ["ragged"], "may": []}})
    records = [{"boxes": value(k, 16 * k), "ids": value(k, k + 1), "text": "\u00e4".encode() * k,
                "json": b' {"a": [%d]}\n' % k, "image": b"\xff\xd8", "time": value(k, 8 * (k % 2))}
               for k in range(4)]
    records.append(dict.fromkeys(records[0]))
    updates = [(number, k, new.stored(number, k, what) if what and len(what) > 8
                else new.entry(number, k, what))
               for k, record in enumerate(records) for number, what in enumerate(record.values())]
    new.frame(0)
    new.frame(len(records), 0, [0], updates)
    return new, records


def shared():
    """A shared payload, with several entries in the tables and in the log, and one of its own."""
    text = value(7, 40)
    new = Composer([field(0, "x", shared={"chunk": 0, "offset": 0, "bytes": 40}), field(1, "y")])
    rows = [new.stored(0, 0, text)]
    rows += [moved(rows[0], 0, k) for k in (1, 2)]    # at the same place
    new.tables[0] += rows
    new.tables[1] += [new.stored(1, k, value(k, 9)) for k in range(3)]
    new.frame(0)
    new.frame(3, 3, [0])
    new.frame(5, 3, [0], [(0, 1, new.stored(0, 1, value(1, 40))), (0, 3, moved(rows[0], 0, 3)),
                          (0, 4, new.entry(0, 4, b"own")), (1, 3, bytes(24)), (1, 4, bytes(24))])
    return new, [{"x": what, "y": value(k, 9) if k < 3 else None}
                 for k, what in enumerate((text, value(1, 40), text, text, b"own"))]


def newer_minor():
    """A later minor version, with unknown keys and features that may be ignored."""
    meta = {"format": [1, 9], "features": {"must": [], "may": ["sorted", "\u00e4\U0001f600"],
                                           "note": None},
            "unknown": {"deep": [[[[{"a": [1.5e3, -7, True, "\u2028"]}]]]]}, "tables": "ignored"}
    new = Composer([field(0, "x", note=[1, 2])], meta=meta)
    new.meta["chunks"]["note"] = -0.0
    new.frame(0)
    new.frame(1, 0, [0], [(0, 0, new.stored(0, 0, value(0)))])
    return new, [{"x": value(0)}]


# A dictionary with the id 77, and two frames of texts: with the dictionary, and without one.
DICTIONARY = base64.b64decode(
    "N6Qw7E0AAAAhEMiSJB3///////+/crNESv4TaVogSSa5iXF3d/GqpkYoUwAwUIjoxKg2AAAABECDBydPQTehCIfF"
    "HEgIMgAAAAAAAAAAAAAQAAAAAADkGJlhYBAAAAAAAAAAAAAAAAABAAAABAAAAAgAAAAgZmllbGQgZnJhbWUgdGhl"
    "IGZyYW1lIHZhbHVlIGxvZyBmaWVsZCBzdG9yZWQgc3RvcmFkZXIgdGFibGUgdGhlIGNodW5rIHZhbHVlIHdyaXRl"
    "ciBmcmFtZSBzdG9yZWQgbG9naHVuayByZWNvcmQgc25hcHNob3QgdGFibGUgdmFsdWUgc25hcHNob3QgcmVhZGVy"
    "IHRvdCB2YWx1ZSByZWNvcmQgcmVjb3JkIGZpZWxkIGNodW5r")
DICTIONARY_TEXT = b"the writer stored the snapshot of a table, the reader a frame of the log"
DICTIONARY_FRAME = bytes.fromhex(
    "28b52ffd214d4825010078746874686f6620612c616f666c6f6708fc49e7537146147b7ce6f519c42624bbe0"
    "ab10")
PLAIN_TEXT = b"a value without a dictionary, a value without a dictionary, a value"
PLAIN_FRAME = bytes.fromhex(
    "28b52ffd20432d0100f0612076616c756520776974686f757420612064696374696f6e6172792c2001000a8f"
    "7202")


def with_dictionary(number, name, dictionary=DICTIONARY, **more):
    """Return a field of bytes with a dictionary."""
    return field(number, name, compress="zstd",
                 dict={"bytes": len(dictionary), "crc": crc32c(dictionary)}, **more)


def zstd_frames():
    """Frames with the dictionary of the field and without one, and fields without a dictionary."""
    new = Composer([with_dictionary(0, "x", train=1024, level=19),
                    field(1, "y", compress="zstd", level=22, train=1 << 24)])
    new.frame(0)
    updates = [(0, 0, new.stored(0, 0, DICTIONARY_TEXT, 0, DICTIONARY_FRAME)),
               (0, 1, new.stored(0, 1, PLAIN_TEXT, 0, PLAIN_FRAME)),
               (1, 0, new.stored(1, 0, PLAIN_TEXT, 0, PLAIN_FRAME)),
               (1, 1, new.stored(1, 1, value(3)))]
    new.frame(2, 0, [0], sorted(updates, key=lambda update: update[1::-1]))
    new.extra["x.dict"] = DICTIONARY
    return new, [{"x": DICTIONARY_TEXT, "y": PLAIN_TEXT}, {"x": PLAIN_TEXT, "y": value(3)}]


def zstd():
    """A zstd field with a dictionary, but without compressed values."""
    new = Composer([with_dictionary(0, "x"), field(1, "y", "uint8", (4, 5), "zstd")])
    x = [value(0, 30), b"inline", b"", None]
    new.frame(0)
    updates = []
    for k, what in enumerate(x):
        updates.append((0, k, new.stored(0, k, what) if k == 0 else new.entry(0, k, what)))
        updates.append((1, k, new.stored(1, k, value(k, 20))))
    new.frame(4, 0, [0], updates)
    new.extra["x.dict"] = DICTIONARY
    return new, [{"x": what, "y": value(k, 20)} for k, what in enumerate(x)]


def sealed_again():
    """Sealed after a checkpoint: a later generation, later tables, and a chunk of no bytes."""
    new = Composer([field(0, "x"), field(1, "n", "uint32", (2,))], 4, 1)
    records = [{"x": value(k, 15), "n": value(k, 8)} for k in range(6)]
    new.item(3)
    for k, record in enumerate(records):
        new.tables[0].append(new.stored(0, k, record["x"], 8 + k % 2))
        new.tables[1].append(new.entry(1, k, record["n"]))
    new.meta["chunks"].update(size=3)
    new.frame(6, 6, [3, 8, 9], next_chunk=20)
    new.frame(6, 6, next_chunk=20)
    new.seal(6)
    return new, records


def boots():
    """Frames of other boots: valid before a synced frame, but not after the last one."""
    new = Composer([field(0, "x")])
    new.frame(0)
    for k, (flags, boot) in enumerate(((0, OTHER_BOOT), (0, bytes(8)), (SYNCED, BOOT),
                                       (0, OTHER_BOOT), (0, OTHER_BOOT))):
        new.frame(k + 1, 0, [0], [(0, k, new.stored(0, k, value(k)))], flags=flags, boot=boot)
    return new, [{"x": value(k)} for k in range(3)]


def torn():
    """A partly written frame, followed by bytes that are not a synced frame with its sequence
    number."""
    new = Composer([field(0, "x")])
    new.frame(0)
    first = bytes(new.log)
    new.frame(1, 0, [0], [(0, 0, new.stored(0, 0, value(0)))])
    end = len(new.log)
    new.frame(2, 0, [0], [(0, 1, new.stored(0, 1, value(1)))])
    new.log[end + 20] ^= 1
    new.frame(3, 0, [0], [(0, 2, new.stored(0, 2, value(2)))], flags=0)
    new.log += first + b"LXLF" * 5
    return new, [{"x": value(0)}]


def streams():
    """Deflate streams of all kinds: each type of block, several blocks, and the best ratio."""
    new = Composer([field(0, "x", compress="flate", align=1)])
    texts = [b"0123456789" * 40, value(1, 64) * 30, bytes(100000), b"ab" * 5000, bytes(9)]
    updates = []
    for k, text in enumerate(texts):
        strategy = (zlib.Z_FIXED, zlib.Z_DEFAULT_STRATEGY, zlib.Z_DEFAULT_STRATEGY,
                    zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE)[k]
        packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, strategy)
        payload = packer.compress(text[:200])
        # An empty stored block, then others.
        payload += packer.flush(zlib.Z_FULL_FLUSH) if k == 1 else b""
        payload += packer.compress(text[200:]) + packer.flush()
        assert len(payload) < len(text)
        updates.append((0, k, new.stored(0, k, text, 0, payload)))
    new.frame(0)
    new.frame(len(texts), 0, [0], updates)
    return new, [{"x": text} for text in texts]


def joined():
    """Chunks in parts, one of which was itself joined, and one in the dataset's own folder. Two
    parts had a shared payload."""
    new = Composer([field(0, "x"), field(1, "z", compress="flate"), field(2, "n", "int16", ())])
    text, other = value(7, 40), value(8, 40)
    x, z = [], []
    for chunk, what in ((0, text), (4, other)):
        words = new.stored(0, len(x), what, chunk)
        x += [words, *(moved(words, len(x), len(x) + k) for k in (1, 2))]
    for k, chunk in enumerate((1, 2, 3, 4, 5, 9)):
        z.append(new.stored(1, k, value(k, 30), chunk))
    new.tables = {0: x, 1: z, 2: [new.entry(2, k, value(k, 2)) for k in range(6)]}
    new.frame(6, 6, sorted(new.chunks))
    new.seal(6)
    new.join({0: ("part/a", 0), 1: ("part/a", 1), 2: ("part/a", 5), 3: ("part/b/part/x", 0),
              4: ("part/b/part/x", 1), 5: ("part/b/part/y", 4294967294)})
    return new, [{"x": text if k < 3 else other, "z": value(k, 30), "n": value(k, 2)}
                 for k in range(6)]


COMPOSED = {"replayed": replayed, "overrides": overrides, "moved": moved_rows,
            "generations": generations, "short-values": short_values, "schema": schema,
            "newer-minor": newer_minor, "zstd": zstd, "sealed-again": sealed_again,
            "boots": boots, "torn": torn, "streams": streams, "zstd-frames": zstd_frames,
            "ragged": ragged, "shared": shared, "joined": joined}
FAMILIES = {"written": WRITTEN, "changed": CHANGED, "composed": tuple(COMPOSED)}


def restamp(path):
    """Give all frames of a log a boot id that no machine has."""
    meta = Meta((path / "meta.json").read_bytes())
    name = f"LOG.{meta.generation}" if meta.generation != 0 else "LOG"
    log = bytearray((path / name).read_bytes())
    at = crc = 0
    while at < len(log):
        size = HEADER.unpack_from(log, at)[1]
        log[at + 40:at + 44] = crc.to_bytes(4, "little")
        log[at + 48:at + 56] = BOOT
        crc = crc32c(meta.uuid, le64(meta.generation), log[at:at + size - 4])
        log[at + size - 4:at + size] = crc.to_bytes(4, "little")
        at += size
    (path / name).write_bytes(log)


def make(programs, folder, name):
    """Make a golden in a folder; return its files, by their paths there."""
    if name in COMPOSED:
        new, records = COMPOSED[name]()
        new.write(folder / name)
        (folder / f"{name}.txt").write_text(new.text(records))
    else:
        program = "make-changed" if name in CHANGED else "make-golden"
        subprocess.run([pathlib.Path(programs) / program, name, str(folder / name)], check=True)
        restamp(folder / name)
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def main(programs, folder, *names):
    """Add the absent goldens to the tars of their families."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    for family, members in FAMILIES.items():
        files = tars.read(folder / f"{family}.tar")
        for name in members:
            if names and name not in names:
                continue
            if f"{name}.txt" in files:
                print(f"{name} exists and is left alone")
                continue
            with tempfile.TemporaryDirectory() as work:
                files.update(make(programs, pathlib.Path(work), name))
        tars.write(folder / f"{family}.tar", files)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
