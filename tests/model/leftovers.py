# SPDX-License-Identifier: MIT
"""Files that a dataset never had, or no longer has, and when they go.

What a switch that never came about left behind goes at once. What was in use once goes when no
reader holds the lock of a generation in which it was; of files that it finds, a writer knows only
that they were not in use later than the generation before, and of a dropped field's, than this one.
"""

from typing import NamedTuple

from .disk import Directory
from .layout import parse_log, parse_table


class Old(NamedTuple):
    """A file that was in use from generation `low` to generation `high`."""

    directory: Directory
    name: str
    low: int
    high: int


def remove_leftovers(writer, stem=None):
    """Remove what no state ever had; the tables of `stem`, too, which a field is going to have.

    Nobody can have them open, since meta.json never named them, but the writer itself: chunks in
    which a lane has placed what is not committed yet.
    """
    for name in writer.directory.names():
        log, table = parse_log(name), parse_table(name)
        if (name == 'meta.json.new'
                or log is not None and log > writer.meta['generation']
                or table and table[0] == stem
                or table and is_field(writer, table[0]) and table[1] > writer.state.tables):
            writer.directory.unlink(name)
            if 'oldnames' not in writer.faults:
                writer.old = [old for old in writer.old if old.name != name]
    chunks = writer.directory.get('chunk')
    own = set() if 'lanegone' in writer.faults else writer.stages.chunks()
    for name in chunks.names():
        if parse_chunk(name) >= writer.state.next_chunk and parse_chunk(name) not in own:
            chunks.unlink(name)


def find_old(writer):
    """What earlier sessions left: files of older generations, and those of fields that are gone."""
    before = writer.meta['generation'] - 1
    low = before if 'gcfound' in writer.faults else 0
    for name in writer.directory.names():
        log, table = parse_log(name), parse_table(name)
        if log is not None and log <= before:
            yield Old(writer.directory, name, log, log)
        elif table and not is_field(writer, table[0]):
            yield Old(writer.directory, name, low, before if 'gcdropped' in writer.faults
                      else before + 1)
        elif table and table[1] < writer.state.tables:
            yield Old(writer.directory, name, low, before)
    chunks = writer.directory.get('chunk')
    for name in chunks.names():
        if parse_chunk(name) not in writer.state.chunks:
            yield Old(chunks, name, low, before)


def remove_old(writer, locks=None):
    """Remove what no reader can need, by the locks of now, or as they were at another moment.

    meta.json as it is must be durable.
    """
    kept, locks = [], writer.disk.locks if locks is None else locks
    for old in writer.old:
        low = old.high if 'gclast' in writer.faults else old.low
        held = any(low <= generation <= old.high for generation in locks)
        if held and 'gcnolock' not in writer.faults:
            kept.append(old)
        elif old.directory.get(old.name):
            old.directory.unlink(old.name)
            writer.files.pop(old.name, None)
    writer.old = kept


def is_field(writer, stem):
    return any(field.stem == stem for field in writer.fields)


def parse_chunk(name):
    return int(name.split('.')[0])
