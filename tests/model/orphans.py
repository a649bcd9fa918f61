# SPDX-License-Identifier: MIT
"""Orphans, which belong to no snapshot, and obsolete files, which readers may still use.

The files of an interrupted installation are removed at once. An obsolete file is removed when no
reader holds the lock of a generation that had it. A writer does not know the first generation of
the files that it finds; their last is the previous generation, or this one for a dropped field.
"""

from typing import NamedTuple

from .disk import Directory
from .layout import parse_log, parse_table


class Obsolete(NamedTuple):
    """A file that was in use from generation `low` to generation `high`."""

    directory: Directory
    name: str
    low: int
    high: int


def remove_orphans(writer, stem=None):
    """Remove files that belong to no snapshot, and tables of `stem`, which a new field will use.

    No reader has them open, since meta.json never named them. The writer may: a flush task may
    have written uncommitted payloads to a chunk.
    """
    for name in writer.directory.names():
        log, table = parse_log(name), parse_table(name)
        if (name == 'meta.json.new'
                or log is not None and log > writer.meta['generation']
                or table and table[0] == stem
                or table and is_field(writer, table[0]) and table[1] > writer.state.tables):
            writer.directory.unlink(name)
            if 'oldnames' not in writer.faults:
                writer.obsolete = [old for old in writer.obsolete if old.name != name]
    chunks = writer.directory.get('chunk')
    own = set() if 'taskchunkgone' in writer.faults else writer.buffers.chunks()
    for name in chunks.names():
        if parse_chunk(name) >= writer.state.next_chunk and parse_chunk(name) not in own:
            chunks.unlink(name)


def find_obsolete(writer):
    """The obsolete files of earlier sessions: of older generations, and of dropped fields."""
    before = writer.meta['generation'] - 1
    low = before if 'gcfound' in writer.faults else 0
    for name in writer.directory.names():
        log, table = parse_log(name), parse_table(name)
        if log is not None and log <= before:
            yield Obsolete(writer.directory, name, log, log)
        elif table and not is_field(writer, table[0]):
            yield Obsolete(writer.directory, name, low, before if 'gcdropped' in writer.faults
                      else before + 1)
        elif table and table[1] < writer.state.tables:
            yield Obsolete(writer.directory, name, low, before)
    chunks = writer.directory.get('chunk')
    for name in chunks.names():
        if parse_chunk(name) not in writer.state.chunks:
            yield Obsolete(chunks, name, low, before)


def remove_obsolete(writer, locks=None):
    """Remove the obsolete files that no reader can need, by the locks of now or of another moment.

    The present meta.json must be durable.
    """
    kept, locks = [], writer.disk.locks if locks is None else locks
    for old in writer.obsolete:
        low = old.high if 'gclast' in writer.faults else old.low
        held = any(low <= generation <= old.high for generation in locks)
        if held and 'gcnolock' not in writer.faults:
            kept.append(old)
        elif old.directory.get(old.name):
            old.directory.unlink(old.name)
            writer.files.pop(old.name, None)
    writer.obsolete = kept


def is_field(writer, stem):
    return any(field.stem == stem for field in writer.fields)


def parse_chunk(name):
    return int(name.split('.')[0])
