# SPDX-License-Identifier: MIT
"""Entries and checks: sections 5.2 to 5.5 of the format."""

import json
import re
import struct

from zrbase import Corrupt, U32, crc32c, le32, le64

JSON_LEVELS_MAX = 512
ENTRY = struct.Struct("<IIQII")
NOTHING = bytes(24)


def check_content(dtype, value):
    """Raise ValueError unless the dtype allows the value: section 4.4."""
    if dtype == "str":
        value.decode("utf-8")
    elif dtype == "json":
        text = value.decode("utf-8")
        json.loads(text, parse_constant=_refuse)
        # Outside of strings, each level opens with a bracket.
        level = 0
        for bracket in re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL):
            level += (bracket in "[{") - (bracket in "]}")
            if level > JSON_LEVELS_MAX:
                raise ValueError("nested too deeply")


def _refuse(name):
    raise ValueError(f"{name} is no JSON")


class Entry:
    """Entry and check of one value, which is not missing.

    Parameters
    ----------
    field : Field
        The field of the schema.
    index : int
        The index of the record.
    words : bytes
        The 24 bytes.
    path : str, optional
        The file that contains them, for errors, and
    at : int, optional
        their offset in it.
    payload_path : str, optional
        The file of the payload, for errors.

    Attributes
    ----------
    chunk, physical, offset, logical, crc : int
        The numbers of the words.
    inline : bool
        Whether the value is empty or inline.
    """

    def __init__(self, field, index, words, path=None, at=None, payload_path=None):
        self.field = field
        self.index = index
        self._place = (path, at)
        self._payload_path = payload_path
        self.chunk, self.physical, self.offset, self.logical, self.crc = ENTRY.unpack(words)
        self.inline = self.chunk == U32

    def bad(self, what, payload=False):
        """Return the error of this value, at its words or at its payload."""
        path, at = self._place
        if payload and not self.inline:
            path, at = self._payload_path, self.offset
        return Corrupt(what, file=path, field=self.field.name, record=self.index, offset=at)

    def check(self, chunks):
        """Check the rules of section 5.4; `chunks` are (records, bytes) of the state, by id."""
        if self.field.size is not None and self.logical != self.field.size:
            raise self.bad(f"{self.logical} bytes in a field of {self.field.size}")
        if self.logical % self.field.stride:
            raise self.bad(f"{self.logical} bytes, no multiple of {self.field.stride}")
        if not self.inline:
            self._check_stored(chunks)
            return
        if self.physical != self.logical or self.physical > 8:
            raise self.bad(f"an inline value of {self.physical} and {self.logical} bytes")
        if any(le64(self.offset)[self.physical:]):
            raise self.bad("bytes after an inline value are not zero")

    def _check_stored(self, chunks):
        if self.chunk not in chunks:
            raise self.bad(f"chunk {self.chunk} is not in the state")
        if self.offset % self.field.align:
            raise self.bad(f"offset {self.offset} is not aligned to {self.field.align}")
        if not 1 <= self.physical <= self.logical:
            raise self.bad(f"{self.physical} stored bytes for {self.logical}")
        if self.field.compress == "raw" and self.physical != self.logical:
            raise self.bad(f"{self.physical} stored bytes for {self.logical} in a raw field")
        committed = chunks[self.chunk][1]
        end = self.offset + self.physical
        if end > committed:
            raise self.bad(f"the payload ends at {end}, chunk {self.chunk} at {committed}")

    def stored(self, uuid, read):
        """Return the stored bytes, verified: section 5.5.

        Parameters
        ----------
        uuid : bytes
            The uuid of the dataset.
        read : callable
            Given chunk, offset and size, returns the bytes.
        """
        offset = 0 if self.inline else self.offset
        if self.inline:
            stored = le64(self.offset)[:self.physical]
        else:
            stored = read(self.chunk, offset, self.physical)
        seed = (uuid, le32(self.field.id), le32(self.chunk), le64(offset), le32(self.physical),
                le32(self.logical))
        if crc32c(*seed, stored) ^ crc32c(le64(self.index)) != self.crc:
            raise self.bad("a wrong checksum", payload=True)
        return stored
