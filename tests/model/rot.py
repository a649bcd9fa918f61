# SPDX-License-Identifier: MIT
"""Rot: a bit flips where a check must notice it."""

from . import log as lxlog
from .history import Wrong
from .layout import Sealed
from .reader import Reader
from .records import ENTRY, INLINE, LOST, MISSING, Damage
from .session import finish
from .writer import Writer


def rot(disk, rng):
    """Flip a bit of a payload, or of what counts of the log; nobody may overlook it."""
    reader = Reader(disk)
    finish(reader.open())
    reader.close()
    frames = lxlog.scan(reader.log_file().pread(), reader.seed, disk.boot, disk.faults)
    payloads = stored_payloads(reader)
    if rng.random() < .5:
        flip(disk, rng, reader.log_file(), *draw_place(disk, rng, frames))
        must_refuse(lambda: Writer(disk), 'a writer')
    elif payloads:
        chunk, size, offset = rng.choice(payloads)
        flip(disk, rng, reader.chunk(chunk), offset, size)
    else:
        return
    must_refuse(lambda: read_all(disk), 'a reader')


def draw_place(disk, rng, frames):
    """A place in the log, and its size, of which rot must show.

    The last frame, if this boot wrote it, shows that it was whole, but for the parts of its header
    that say how long it is, and of which boot.
    """
    last = frames[-1]
    before = frames[max(len(frames) - 2, 0)].end
    if len(frames) > 1 and last.boot == disk.boot != 0 and rng.random() < .5:
        begin = before + rng.choice((8, 16, 24, 40, 56, last.end - before - 8))
        return begin, 8
    return 0, before


def stored_payloads(reader):
    """(chunk, size, offset) of each value that lies in a chunk."""
    rows = [reader.row(field, index)
            for index in range(reader.state.length) for field in reader.fields]
    entries = [ENTRY.unpack_from(row) for row in rows if row != MISSING]
    return [entry for entry in entries if entry[0] != INLINE]


def flip(disk, rng, file, begin, size):
    at = begin + rng.randrange(size)
    disk.note('ROT', file.name, at)
    file.cache[at] ^= 1 << rng.randrange(8)


def read_all(disk):
    reader = Reader(disk)
    finish(reader.open())
    _, records = reader.content()
    if any(value is LOST for record in records for value in record):
        raise Damage('a value')


def must_refuse(action, who):
    try:
        action()
    except (Damage, Sealed):
        return
    raise Wrong(f'rot goes unnoticed by {who}')
