#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of zrecord datasets, in plain Python.

It was written from doc/zrecord-format.md alone, to show that the document is complete, and shares
no code with the library. It reads with pread, verifies each checksum each time, follows no link,
and raises `Corrupt` rather than return a wrong byte.

    python3 zrecord.py DIR              length, fields, and the digest of the contents
    python3 zrecord.py DIR --dump       the contents in the canonical form
    python3 zrecord.py DIR --verify     the complete verification of section 9.8
    python3 zrecord.py DIR --get FIELD INDEX     the bytes of one value, to standard output
"""

import argparse
import contextlib
import os
import re
import sys
import zlib

from zrbase import (Absent, Corrupt, File, OutOfRange, U32, Unsupported, ZrError, crc32c,
                    lock_generation, open_folder, present_boot)
from zrlog import Log, State, log_name
from zrmeta import BYTES_MAX, Meta
from zrvalue import NOTHING, Entry, check_content
from zrzstd import decompress, is_dictionary

FLATE_FACTOR = 1032
DUMP_BYTES = 32


def table_name(field, kind, generation):
    """Return the file name of a table: `kind` is "offset" or "check"."""
    return f"{field.stem}.{kind}.{generation}" if generation else f"{field.stem}.{kind}"


def inflate(stored, size):
    """Return the `size` bytes of a raw Deflate stream, or None: section 6.3."""
    if size > FLATE_FACTOR * len(stored):
        return None
    stream = zlib.decompressobj(-15)
    try:
        value = stream.decompress(stored, size)
        # The end of the block may still be unread after the last byte of the value.
        value += stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error:
        return None
    whole = stream.eof and not stream.unused_data and len(value) == size
    return value if whole else None


def show(value):
    """Return a value for the canonical form: in hexadecimal, or size and CRC-32C if it is long."""
    if value is None:
        return "missing"
    if len(value) <= DUMP_BYTES:
        return f"= {value.hex()}".rstrip()
    return f"{len(value)} bytes, crc {crc32c(value):08x}"


def fold(total, *numbers):
    """Return a sum into which numbers were folded: section 9.10."""
    for number in numbers:
        total = (total * 0x9E3779B97F4A7C15 + number) & (1 << 64) - 1
    return total


class Dataset:
    """A dataset, in the state of its opening.

    Parameters
    ----------
    path : str
        The directory.
    durable : bool, optional
        Read the durable snapshot, which survives a power loss.
    boot : bytes or None, optional
        The present boot instead of that of the system; None for an unknown one.
    log : bool, optional
        False: leave the log unread, as a reader of sealed datasets only may (section 9.7).

    Attributes
    ----------
    meta : Meta
    state : State

    Raises
    ------
    Absent, Unsupported, Corrupt, OSError
    """

    def __init__(self, path, durable=False, boot=(), log=True):
        self.path = path
        self._files = {}
        self._lock = self._meta_file = None
        try:
            self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Absent(f"{path} is no directory") from error
        try:
            while not self._open(durable, present_boot() if boot == () else boot, log):
                self._close_files()
        except BaseException:
            self.close()
            raise

    def close(self):
        """Close all files and release the lock."""
        self._close_files()
        for file in (self._lock, self._meta_file):
            if file:
                file.close()
        if self._folder is not None:
            os.close(self._folder)
        self._lock = self._meta_file = self._folder = None

    def _close_files(self):
        for file in self._files.values():
            file.close()
        self._files = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Opening: section 9.1.

    def _read_meta(self):
        """Read meta.json, and keep it open, so that no other file gets its identity."""
        try:
            file = File(self._folder, "meta.json")
        except FileNotFoundError as error:
            raise Absent(f"{self.path} has no meta.json") from error
        if self._meta_file:
            self._meta_file.close()
        self._meta_file = file
        return Meta(file.read_some(BYTES_MAX + 1))

    def _replaced(self):
        """Whether meta.json was replaced since it was read."""
        try:
            status = os.stat("meta.json", dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return True
        return (status.st_dev, status.st_ino) != self._meta_file.identity

    def _open(self, durable, boot, log):
        """Open everything; return False if meta.json was replaced meanwhile, to try again.

        The log may then have updates of an added field, records that were moved without a dropped
        field, or records after a removed seal.
        """
        try:
            if log:
                self._open_locked(durable, boot)
            else:
                self._open_sealed()
            if self.meta.sealed:
                self._check_sealed(log)
            if self.state.rows or self.meta.sealed:
                self._open_tables()
        except Corrupt:
            if self._meta_file and self._replaced():
                return False
            raise
        return not self._replaced()

    def _open_locked(self, durable, boot):
        meta = self._read_meta()
        while True:
            self._relock(meta.generation)
            self.meta = self._read_meta()
            if (self.meta.generation, self.meta.uuid) == (meta.generation, meta.uuid):
                break
            meta = self.meta
        self.state = self._replay(durable, boot)

    def _relock(self, generation):
        old = self._lock
        self._lock = lock_generation(self._folder, generation)
        if old:
            old.close()

    def _replay(self, durable, boot):
        name = log_name(self.meta.generation)
        try:
            file = File(self._folder, name)
        except FileNotFoundError as error:
            raise Corrupt("the log is absent", file=name) from error
        try:
            log = Log(file, self.meta.uuid, self.meta.generation)
            log.read(boot)
            if durable:
                os.fdatasync(file.fd)
            return log.replay(boot, durable)
        finally:
            file.close()

    # Sealed datasets: section 9.6.

    def _open_sealed(self):
        """Take the state from meta.json and the sizes of the chunks: section 9.7."""
        self.meta = self._read_meta()
        if not self.meta.sealed:
            raise Unsupported("not sealed, and the log is left unread", file="meta.json")
        state = self.state = State()
        state.length = state.rows = self.meta.length
        state.table_generation = 0
        stem = re.escape(self.meta.fields[0].stem)
        for name in self.meta.tables:
            later = re.fullmatch(stem + r"\.offset\.([1-9][0-9]{0,9})", name)
            if later:
                state.table_generation = int(later.group(1))
        if not self.meta.runs or os.path.lexists(f"{self.path}/chunk"):
            self._find_chunks(0, 0, U32, "chunk/")
        for first, there, count, part in self.meta.runs:
            self._find_chunks(first, there, count, f"{part}/chunk/")

    def _find_chunks(self, first, there, count, path):
        """Add the chunks whose files `there`, there + 1, .. are in a folder."""
        with self._open_folder(path) as folder:
            for name in os.listdir(folder):
                file = re.fullmatch(r"(0|[1-9][0-9]{0,9})\.zr", name)
                chunk = first + int(file.group(1)) - there if file else -1
                if first <= chunk < first + count and self.meta.chunk_path(chunk) == path + name:
                    size = os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
                    self.state.chunks[chunk] = (None, size)

    def _check_sealed(self, log):
        if log:
            self._check_sealed_log()
        sizes = {name: width * self.state.length for name, _, width in self._tables()}
        if sizes != {name: size for name, (size, _) in self.meta.tables.items()}:
            raise Corrupt("tables does not name the tables there should be, or not their sizes",
                          file="meta.json")

    def _check_sealed_log(self):
        meta, state = self.meta, self.state
        known = {field.id for field in meta.fields}
        if not state.synced or state.rows != state.length:
            raise Corrupt("sealed, but the last frame is not synced, or has rows to come",
                          file=log_name(meta.generation))
        if any(field in known for field, _ in state.place):
            raise Corrupt("sealed, but updates are live", file=log_name(meta.generation))
        unfull = [(chunk, size, records) for chunk, (records, size) in sorted(state.chunks.items())
                  if records < meta.chunks_size and size < meta.chunks_limit]
        if meta.length != state.length:
            raise Corrupt(f"length {meta.length}, the log says {state.length}", file="meta.json")
        if meta.chunks_num != len(state.chunks) or meta.unfull != unfull:
            raise Corrupt("chunks does not agree with the log", file="meta.json")

    # Tables and chunks: sections 3.5, 5.1, 7.

    def _tables(self):
        """Yield name, field and bytes of a row of each table."""
        for field in self.meta.fields:
            for kind, width in (("offset", 16), ("check", 8)):
                yield table_name(field, kind, self.state.table_generation), field, width

    def _open_tables(self):
        """Open all tables, so that one that is too short is found at once."""
        for name, field, width in self._tables():
            self._file(self._folder, name, name, width * self.state.rows, field.name)

    @contextlib.contextmanager
    def _open_folder(self, path):
        """Open the folder of a file of the dataset, one folder after the other: section 3.6."""
        folder = os.dup(self._folder)
        try:
            for name in path.split("/")[:-1]:
                below = open_folder(folder, name, path)
                os.close(folder)
                folder = below
            yield folder
        except FileNotFoundError as error:
            raise Corrupt("a folder is absent", file=path) from error
        finally:
            os.close(folder)

    def _chunk(self, chunk):
        path = self.meta.chunk_path(chunk)
        with self._open_folder(path) as folder:
            return self._file(folder, path.rpartition("/")[2], path, self.state.chunks[chunk][1])

    def _file(self, folder, name, path, need, field=None):
        """Open a table or a chunk, once, that must have `need` bytes."""
        if path in self._files:
            return self._files[path]
        try:
            file = File(folder, name, path)
        except FileNotFoundError as error:
            raise Corrupt("the file is absent", file=path, field=field) from error
        size = file.size()
        # Files grow after a seal is removed.
        if size < need or (size != need and self.meta.sealed and not self._replaced()):
            file.close()
            raise Corrupt(f"the file has {size} bytes, and {need} are committed", file=path,
                          field=field)
        self._files[path] = file
        return file

    # Values: section 9.4.

    def field(self, name):
        """Return the field of a name."""
        for field in self.meta.fields:
            if field.name == name:
                return field
        raise OutOfRange(f"no field {name!r}")

    def is_complete(self, field):
        """Whether no value of the field is missing, as far as section 8.17 tells."""
        return field.complete and (self.meta.sealed or field.id not in self.state.lacking)

    def changes(self, field):
        """Return the number of changes of a field: section 8.18."""
        state, base = self.state, self.meta.changes
        total = (state.first_crc if base is None else base) + field.changes
        return (total + state.shortened + state.changed[field.id]) % (1 << 63)

    def _words(self, field, index):
        """Return entry and check of a record, and their location: section 8.12."""
        state = self.state
        words = state.updates.get(index, {}).get(field.id)
        if words is not None:
            return words, log_name(self.meta.generation), state.place[field.id, index]
        if index >= state.rows:
            return NOTHING, None, None
        name = table_name(field, "offset", state.table_generation)
        other = table_name(field, "check", state.table_generation)
        entry = self._files[name].read(16 * index, 16)
        return entry + self._files[other].read(8 * index, 8), name, 16 * index

    def read(self, field, index):
        """Read one value, and verify it.

        Parameters
        ----------
        field : Field
            One of `meta.fields`.
        index : int
            The index of the record.

        Returns
        -------
        bytes or None
            The value; None if it is missing.
        """
        if not 0 <= index < self.state.length:
            raise OutOfRange(f"record {index} of {self.state.length}", field=field.name)
        words, path, at = self._words(field, index)
        if words == NOTHING:
            if self.is_complete(field):
                raise Corrupt("missing, but the field is complete", field=field.name, record=index,
                              file=path, offset=at)
            return None
        chunk = int.from_bytes(words[:4], "little")
        entry = Entry(field, index, words, path, at, self.meta.chunk_path(chunk))
        entry.check(self.state.chunks)
        stored = entry.stored(self.meta.uuid, lambda chunk, *place: self._chunk(chunk).read(*place))
        if entry.physical == entry.logical:
            return stored
        if field.compress == "zstd":
            value = decompress(stored, entry.logical, lambda: self._dictionary(field))
        else:
            value = inflate(stored, entry.logical)
        if value is None:
            raise entry.bad(f"no {field.compress} stream of {entry.logical} bytes", payload=True)
        return value

    def _dictionary(self, field):
        """Return the dictionary of a field, or None: section 6.4."""
        if field.dictionary is None:
            return None
        name = f"{field.stem}.dict"
        data = self._verify_file(name, field.dictionary, field.name)
        if not is_dictionary(data):
            raise Corrupt("no dictionary with an id", file=name, field=field.name)
        return data

    # The whole dataset.

    def dump(self):
        """Yield the lines of the canonical form of the contents.

        The first line has the length, the next ones the fields in the order of the schema, and
        then there is one for each value, by record and then by field.
        """
        yield f"length {self.state.length}"
        for field in self.meta.fields:
            shape = ",".join("*" if extent is None else str(extent) for extent in field.shape)
            yield f"field {field.name} {field.dtype} [{shape}] {field.compress}"
        for index in range(self.state.length):
            for field in self.meta.fields:
                yield f"{index} {field.name} {show(self.read(field, index))}"

    def digest(self):
        """Return the digest of the contents: section 9.10."""
        digest = fold(1, len(self.meta.fields), self.state.length)
        for field in self.meta.fields:
            total = 0
            for index in range(self.state.length):
                value = self.read(field, index)
                total = fold(total, *((0, 0) if value is None
                                      else (len(value) + 1, crc32c(value))))
            extents = ("null" if extent is None else str(extent) for extent in field.shape)
            described = " ".join([field.name, field.dtype, *extents]).encode("ascii")
            digest = fold(digest, len(described), crc32c(described), total)
        return digest

    def verify(self):
        """Verify everything: section 9.8.

        Returns
        -------
        list of ZrError
            The errors.
        """
        found = []

        def attempt(call, *arguments):
            try:
                call(*arguments)
            except Unsupported:
                pass  # its CRC is right, but this reader cannot decompress it
            except ZrError as error:
                found.append(error)

        for field in self.meta.fields:
            for index in range(self.state.length):
                attempt(self._verify_value, field, index)
            if field.dictionary:
                attempt(self._dictionary, field)
        if self.meta.sealed and not self._replaced():
            for chunk in self.state.chunks:
                attempt(self._chunk, chunk)
            for name, what in self.meta.tables.items():
                attempt(self._verify_file, name, what)
        return found

    def _verify_value(self, field, index):
        value = self.read(field, index)
        if value is None:
            return
        try:
            check_content(field.dtype, value)
        except ValueError as error:
            raise Corrupt(f"no {field.dtype}: {error}", field=field.name, record=index) from error

    def _verify_file(self, name, what, field=None):
        size, crc = what
        file = self._file(self._folder, name, name, size, field)
        if file.size() != size:
            raise Corrupt(f"{file.size()} bytes, not {size}", file=name, field=field)
        data = file.read(0, size)
        if crc32c(data) != crc:
            raise Corrupt("a wrong checksum of the file", file=name, field=field)
        return data


def run(arguments):
    """Run the command; return the exit status."""
    with Dataset(arguments.dir, arguments.durable) as dataset:
        if arguments.get:
            value = dataset.read(dataset.field(arguments.get[0]), int(arguments.get[1]))
            sys.stdout.buffer.write(value or b"")
        elif arguments.dump:
            for line in dataset.dump():
                print(line)
        elif arguments.verify:
            found = dataset.verify()
            for error in found:
                print(error)
            return 1 if found else 0
        else:
            digest = dataset.digest()
            print(f"length  {dataset.state.length}")
            for field in dataset.meta.fields:
                print(f"field   {field.name} {field.dtype} {list(field.shape)} {field.compress}")
            print(f"digest  {digest:016x}")
    return 0


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Read a zrecord dataset.")
    parser.add_argument("dir", metavar="DIR")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dump", action="store_true", help="print the contents")
    what.add_argument("--verify", action="store_true", help="verify everything")
    what.add_argument("--get", nargs=2, metavar=("FIELD", "INDEX"), help="print one value")
    parser.add_argument("--durable", action="store_true", help="read the durable state")
    try:
        return run(parser.parse_args())
    except (ZrError, OSError, ValueError) as error:
        print(f"zrecord.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
