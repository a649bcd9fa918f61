# SPDX-License-Identifier: MIT
"""Damage: flip a bit that a checksum covers."""

from . import log as lxlog
from .history import Violation
from .layout import Sealed
from .reader import Reader
from .records import ENTRY, INLINE, LOST, MISSING, Damage
from .session import finish
from .writer import Writer


def rot(disk, rng):
    """Flip a bit of a payload, or of the valid part of the log; the damage must be detected."""
    reader = Reader(disk)
    finish(reader.open())
    reader.close()
    frames = lxlog.scan(reader.log_file().pread(), reader.seed, disk.boot, disk.faults)
    payloads = stored_payloads(reader)
    if rng.random() < .5:
        flip(disk, rng, reader.log_file(), *draw_place(disk, rng, frames))
        must_reject(lambda: Writer(disk), 'a writer')
    elif payloads:
        chunk, size, offset = rng.choice(payloads)
        flip(disk, rng, reader.chunk(chunk), offset, size)
    else:
        return
    must_reject(lambda: read_all(disk), 'a reader')


def draw_place(disk, rng, frames):
    """A range of the log in which damage must be detected.

    The last frame, if it is of this boot, shows that it was complete, unless the damage is in the
    size or boot of its header.
    """
    last = frames[-1]
    before = frames[max(len(frames) - 2, 0)].end
    if len(frames) > 1 and last.boot == disk.boot != 0 and rng.random() < .5:
        begin = before + rng.choice((8, 16, 24, 40, 56, last.end - before - 8))
        return begin, 8
    return 0, before


def stored_payloads(reader):
    """(chunk, size, offset) of each stored value."""
    rows = [reader.row(field, index)
            for index in range(reader.state.length) for field in reader.fields]
    entries = [ENTRY.unpack_from(row) for row in rows if row != MISSING]
    return [entry for entry in entries if entry[0] != INLINE]


def flip(disk, rng, file, begin, size):
    at = begin + rng.randrange(size)
    disk.report('ROT', file.name, at)
    file.cache[at] ^= 1 << rng.randrange(8)


def read_all(disk):
    reader = Reader(disk)
    finish(reader.open())
    _, records = reader.content()
    if any(value is LOST for record in records for value in record):
        raise Damage('a value')


def must_reject(action, observer):
    try:
        action()
    except (Damage, Sealed):
        return
    raise Violation(f'{observer} overlooks the damage')
