# SPDX-License-Identifier: MIT
"""Rot: a bit flips where a check must notice it."""

from . import log as lxlog
from .history import Wrong
from .layout import Sealed
from .reader import Reader
from .records import ENTRY, INLINE, MISSING, Damage
from .session import finish
from .writer import Writer


def rot(disk, rng):
    """Flip a bit of a payload, or of the log before a synced frame; nobody may overlook it."""
    reader = Reader(disk)
    finish(reader.open())
    reader.close()
    frames = lxlog.scan(reader.log_file().pread(), reader.seed, disk.boot, disk.faults)
    last = lxlog.last_synced(frames)
    payloads = stored_payloads(reader)
    if rng.random() < .5:
        flip(disk, rng, reader.log_file(), 0, frames[max(last - 1, 0)].end)
        must_refuse(lambda: Writer(disk), 'a writer')
    elif payloads:
        chunk, size, offset = rng.choice(payloads)
        flip(disk, rng, reader.chunk(chunk), offset, size)
    else:
        return
    must_refuse(lambda: read_all(disk), 'a reader')


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
    reader.content()


def must_refuse(action, who):
    try:
        action()
    except (Damage, Sealed):
        return
    raise Wrong(f'rot goes unnoticed by {who}')
