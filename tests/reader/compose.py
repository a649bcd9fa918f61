# SPDX-License-Identifier: MIT
"""Composes datasets byte by byte, valid and invalid ones.

It follows doc/zrecord-format.md, and neither sorts nor checks anything.
"""

import json
import pathlib
import re

from zrbase import U32, crc32c, le32, le64
from zrecord import show, table_name
from zrlog import CHUNK_ITEM, HEADER, MAGIC, UPDATE_ITEM, TRAILER, log_name
from zrmeta import Field
from zrvalue import ENTRY

UUID = "00112233-4455-6677-8899-aabbccddeeff"
BOOT = bytes.fromhex("4f1c2a907be34d58")
SNAPSHOT, SYNCED = 1, 2


def field(number, name, dtype="bytes", shape=(), compress="raw", align=8, **other):
    """Return the element of `fields` for one field."""
    return {"id": number, "name": name, "stem": name, "dtype": dtype, "shape": list(shape),
            "compress": compress, "align": align, "dict": None, **other}


def stamped(text):
    """Return a meta.json with a valid checksum, whatever else is wrong in it.

    A checksum at its beginning is replaced; otherwise the new one takes the place of the brace with
    which the text begins.
    """
    rest = re.sub(rb'\A\{("checksum": "[^"]*",)?', b"", text)
    return b'{"checksum": "%08x",' % crc32c(rest) + rest


def edit_meta(path, change, name="meta.json"):
    """Change the text of meta.json in a dataset's directory, and restamp its checksum."""
    text = stamped(change((path / "meta.json").read_bytes()))
    (path / name).write_bytes(text)


def moved(words, old, new):
    """Return entry and check of record `old` for record `new`: section 5.6."""
    if not any(words):
        return words
    crc = int.from_bytes(words[20:], "little") ^ crc32c(le64(old)) ^ crc32c(le64(new))
    return words[:20] + crc.to_bytes(4, "little")


class Composer:
    """A dataset under construction.

    Parameters
    ----------
    fields : list of dict
        The schema, as `field` makes it.
    generation, table_generation : int, optional
        Of the log and of the tables.
    meta : dict, optional
        Keys of meta.json that differ from a new dataset.

    Attributes
    ----------
    meta : dict
        The content of meta.json.
    log : bytearray
        The bytes of the log.
    chunks : dict
        The bytes of each chunk, by id.
    payloads : dict
        The number of payloads of each chunk, by id.
    tables : dict
        The rows of each field, by id: entry and check, 24 bytes.
    places : dict
        Path of the part and number there, by id, of the chunks that are in parts.
    extra : dict
        Bytes of other files, by their paths.
    """

    def __init__(self, fields, generation=0, table_generation=0, meta=None):
        self.meta = {
            "format": [1, 0], "features": {"must": [], "may": []}, "generation": generation,
            "uuid": UUID, "sealed": False, "length": 0,
            "chunks": {"num": 0, "size": 1048576, "limit": 1073741824, "unfull": []},
            "next_field": 1 + max(one["id"] for one in fields), "fields": fields, **(meta or {})}
        self.generation = generation
        self.table_generation = table_generation
        self.by_id = {one["id"]: Field(one, "fields", U32 + 1) for one in fields}
        self.log = bytearray()
        self.sequence = self.crc = 0
        self.chunks = {}
        self.payloads = {}
        self.tables = {number: [] for number in self.by_id}
        self.places = {}
        self.extra = {}

    def _uuid(self):
        return bytes.fromhex(self.meta["uuid"].replace("-", ""))

    # Values.

    def _checked(self, number, index, words, stored):
        chunk, physical, offset, logical = words
        crc = crc32c(self._uuid(), le32(number), le32(chunk),
                     le64(0 if chunk == U32 else offset), le32(physical), le32(logical), stored)
        return ENTRY.pack(*words, crc ^ crc32c(le64(index)))

    def entry(self, number, index, value):
        """Return entry and check of a missing, empty or inline value."""
        if value is None:
            return bytes(24)
        slot = int.from_bytes(value, "little")
        return self._checked(number, index, (U32, len(value), slot, len(value)), value)

    def stored(self, number, index, value, chunk=0, payload=None, gap=b"\0"):
        """Put a value, or `payload` in its place, into a chunk; return entry and check."""
        payload = value if payload is None else payload
        data = self.chunks.setdefault(chunk, bytearray())
        data += gap * (-len(data) % self.by_id[number].align)
        offset = len(data)
        data += payload
        self.payloads[chunk] = self.payloads.get(chunk, 0) + 1
        return self._checked(number, index, (chunk, len(payload), offset, len(value)), payload)

    # The log.

    def item(self, chunk):
        """Return the present chunk item of a chunk."""
        return chunk, self.payloads.get(chunk, 0), len(self.chunks.setdefault(chunk, bytearray()))

    def frame(self, length, rows=0, chunks=(), updates=(), next_chunk=None, flags=None, boot=BOOT):
        """Add a frame; `updates` are (field id, index, words)."""
        items = b"".join(CHUNK_ITEM.pack(*self.item(chunk)) for chunk in chunks)
        items += b"".join(UPDATE_ITEM.pack(number, 0, index, words) for number, index, words in updates)
        if next_chunk is None:
            next_chunk = 1 + max(self.chunks, default=-1)
        if flags is None:
            flags = SYNCED if self.sequence else SNAPSHOT | SYNCED
        head = HEADER.pack(MAGIC, HEADER.size + len(items) + TRAILER.size, self.sequence, length, rows,
                           len(chunks), len(updates), self.crc, flags, boot, self.table_generation,
                           next_chunk)
        body = head + items + bytes(4)
        self.crc = crc32c(self._uuid(), le64(self.generation), body)
        self.log += body + self.crc.to_bytes(4, "little")
        self.sequence += 1

    # The files.

    def seal(self, length):
        """Seal the dataset in meta.json, with its present content."""
        chunks = self.meta["chunks"]
        items = [self.item(chunk) for chunk in sorted(self.chunks)]
        chunks["num"] = len(items)
        chunks["unfull"] = [[chunk, size, records] for chunk, records, size in items
                            if records < chunks["size"] and size < chunks["limit"]]
        self.meta.update(sealed=True, length=length, tables={
            name: {"bytes": len(data), "crc": crc32c(data)} for name, data in self._tables()})

    def join(self, places):
        """Put chunks into parts: their places are paths and numbers there, by id."""
        self.places = places
        parts = {}
        for chunk, (path, number) in sorted(places.items(), key=lambda one: one[1]):
            runs = parts.setdefault(path, [])
            if runs and [chunk, number] == [runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]]:
                runs[-1][2] += 1
            else:
                runs.append([chunk, number, 1])
        self.meta["features"]["must"].append("parts")
        self.meta["parts"] = [{"path": path, "chunks": runs} for path, runs in parts.items()]

    def _chunk_path(self, chunk):
        if chunk in self.places:
            return "{}/chunk/{}.zr".format(*self.places[chunk])
        return f"chunk/{chunk}.zr"

    def _tables(self):
        for number, rows in self.tables.items():
            for kind, part in (("offset", slice(16)), ("check", slice(16, 24))):
                name = table_name(self.by_id[number], kind, self.table_generation)
                yield name, b"".join(words[part] for words in rows)

    def files(self):
        """Return the bytes of all files, by their paths."""
        files = {"meta.json": stamped(json.dumps(self.meta, indent=1).encode() + b"\n"),
                 log_name(self.generation): bytes(self.log), **dict(self._tables())}
        files.update((self._chunk_path(chunk), bytes(data)) for chunk, data in self.chunks.items())
        for path, data in self.extra.items():
            files[path] = files.get(path, b"") + data
        return files

    def write(self, path):
        """Write the dataset to a new directory."""
        path = pathlib.Path(path)
        (path / "chunk").mkdir(parents=True)
        for name, data in self.files().items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)

    def text(self, records):
        """Return the canonical form of a dataset with these records: dicts of values by name."""
        lines = [f"length {len(records)}"]
        for one in self.by_id.values():
            shape = ",".join("*" if extent is None else str(extent) for extent in one.shape)
            lines.append(f"field {one.name} {one.dtype} [{shape}] {one.compress}")
        for index, record in enumerate(records):
            lines += [f"{index} {one.name} {show(record[one.name])}" for one in self.by_id.values()]
        return "".join(line + "\n" for line in lines)
