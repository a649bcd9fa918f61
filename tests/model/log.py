# SPDX-License-Identifier: MIT
"""The log: the bytes of frames, their validity, damage as opposed to torn ends, and replay."""

import copy
import struct
from typing import Dict, List, NamedTuple, Tuple

from .records import MISSING, ROW_BYTES, Damage, crc

MAGIC = b'LXLF'
HEADER = struct.Struct('<4sIQQQIIIIQII')
CHUNK_ITEM = struct.Struct('<IIQ')
UPDATE_ITEM = struct.Struct(f'<IIQ{ROW_BYTES}s')
TRAILER = struct.Struct('<II')
SNAPSHOT, SYNCED = 1, 2
MARKER = 2**64 - 1      # the index of an update that says that the tables have a missing value


class Frame(NamedTuple):
    """One commit. `end` and `crc` are filled in by `encode` and `decode`."""

    sequence: int
    length: int
    rows: int
    previous: int
    flags: int
    boot: int
    tables: int
    next_chunk: int
    chunks: Dict[int, Tuple[int, int]]
    updates: List[Tuple[int, int, bytes]]
    end: int = 0
    crc: int = 0

    @property
    def synced(self):
        return bool(self.flags & SYNCED)


def snapshot_frame(boot, state, rows, tables, updates):
    """The first frame of a log: all of `state`, and {(field id, index): row} as updates."""
    ordered = sorted((index, field) for field, index in updates)
    return Frame(sequence=0, length=state.length, rows=rows, previous=0, flags=SNAPSHOT | SYNCED,
                 boot=boot, tables=tables, next_chunk=state.next_chunk, chunks=dict(state.chunks),
                 updates=[(field, index, updates[field, index]) for index, field in ordered])


def log_seed(uuid, generation):
    """Precedes a frame in its CRC, so that frames of other datasets or generations are invalid."""
    return uuid + struct.pack('<Q', generation)


def encode(frame, seed):
    items = [CHUNK_ITEM.pack(i, *frame.chunks[i]) for i in sorted(frame.chunks)]
    items += [UPDATE_ITEM.pack(field, 0, index, row) for field, index, row in frame.updates]
    body = b''.join(items)
    size = HEADER.size + len(body) + TRAILER.size
    head = HEADER.pack(MAGIC, size, frame.sequence, frame.length, frame.rows, len(frame.chunks),
                       len(frame.updates), frame.previous, frame.flags, frame.boot, frame.tables,
                       frame.next_chunk)
    return head + body + TRAILER.pack(0, crc(seed, head, body, bytes(4)))


def frame_crc(data):
    return TRAILER.unpack_from(data, len(data) - TRAILER.size)[1]


def decode(log, at, seed, checked=True):
    """The frame at byte `at`, or None. Checks magic, size and CRC, but not the chain."""
    if len(log) - at < HEADER.size + TRAILER.size or log[at:at + 4] != MAGIC:
        return None
    (_, size, sequence, length, rows, chunk_items, update_items, previous, flags, boot, tables,
     next_chunk) = HEADER.unpack_from(log, at)
    updates_at = at + HEADER.size + CHUNK_ITEM.size * chunk_items
    end = updates_at + UPDATE_ITEM.size * update_items + TRAILER.size
    if at + size != end or end > len(log):
        return None
    found = TRAILER.unpack_from(log, end - TRAILER.size)[1]
    if checked and found != crc(seed, log[at:end - 4]):
        return None
    chunks = {i: (records, used) for i, records, used in
              CHUNK_ITEM.iter_unpack(log[at + HEADER.size:updates_at])}
    updates = [(field, index, row) for field, _, index, row in
            UPDATE_ITEM.iter_unpack(log[updates_at:end - TRAILER.size])]
    return Frame(sequence, length, rows, previous, flags, boot, tables, next_chunk, chunks, updates,
                 end, found)


def scan(log, seed, boot, faults=frozenset(), start=None):
    """The valid frames from a place in the log on.

    Parameters
    ----------
    log : bytes
    seed : bytes
        See `log_seed`.
    boot : int
        The present boot; 0 is unknown.
    faults : frozenset of str
    start : State, optional
        Where to continue; by default the beginning.

    Raises
    ------
    Damage
        The first invalid frame was once complete, or frame 0 is invalid.
    """
    frames = []
    at, sequence, previous = (start.at, start.sequence, start.previous) if start else (0, 0, 0)
    while True:
        frame = decode(log, at, seed, 'nocrc' not in faults)
        if frame is None or frame.sequence != sequence:
            break
        if frame.previous != previous and 'nochain' not in faults:
            break
        frames.append(frame)
        at, sequence, previous = frame.end, sequence + 1, frame.crc
    if 'norot' not in faults:
        reject_damage(log, at, sequence, seed, boot, faults)
    if not start and not (frames and frames[0].flags == SNAPSHOT | SYNCED):
        raise Damage('frame 0 of the log is invalid')
    return valid_frames(frames, boot, faults)


def reject_damage(log, at, sequence, seed, boot, faults):
    """Raise Damage if the invalid frame at the end was once complete.

    It was if a later frame is synced or of this boot. The search begins at the invalid frame, since
    a complete frame that does not chain is not torn. It was, too, if its header is of this boot and
    its trailer is present: an interrupted write leaves zeros there, or the end of the file.
    """
    frame = decode(log, at, seed, False)
    if frame and frame.boot == boot != 0 and frame.crc != 0 and 'rotlast' not in faults:
        raise Damage(f'log: frame {sequence} was completed in this boot and is invalid')
    at += 'rotafter' in faults
    while True:
        at = log.find(MAGIC, at)
        if at < 0:
            return
        if at % 8 == 0:
            frame = decode(log, at, seed)
            known = frame and (frame.synced or
                               frame.boot == boot != 0 and 'rotsynced' not in faults)
            if known and frame.sequence >= sequence:
                raise Damage(f'log: frame {frame.sequence} follows an invalid one')
        at += 1


def valid_frames(frames, boot, faults=frozenset()):
    """The frames up to the last synced one, and those after it that are of this boot."""
    good = last_synced(frames) + 1
    while good < len(frames) and ('noboot' in faults or frames[good].boot == boot != 0):
        good += 1
    return frames[:good]


def last_synced(frames):
    """The position of the last synced frame, or -1."""
    return max((k for k, frame in enumerate(frames) if frame.synced), default=-1)


class State:
    """The result of replaying a prefix of the log, and the place of the next frame.

    Attributes
    ----------
    lacking : frozenset of int
        The fields with a missing value, or a marker, in any frame.
    """

    def __init__(self):
        self.length = 0
        self.rows = 0
        self.chunks = {}
        self.updates = {}
        self.lacking = frozenset()
        self.tables = 0
        self.next_chunk = 0
        self.sequence = 0
        self.previous = 0
        self.at = 0
        self.synced = False

    def apply(self, frame, faults=frozenset()):
        """Replay one frame, in the three steps of the format."""
        self._reject_invalid(frame)
        if not {'novoid', 'voidlate'} & faults:
            self.void(self.rows, frame.rows)
        for field, index, row in frame.updates:
            self.updates[field, index] = row
        self.lacking |= {field for field, _, row in frame.updates if row == MISSING}
        if 'voidlate' in faults:
            self.void(self.rows, frame.rows)
        self.length, self.rows = frame.length, frame.rows
        self.drop_beyond_length()
        self.chunks.update(frame.chunks)
        self.tables, self.next_chunk = frame.tables, frame.next_chunk
        self.at, self.previous, self.synced = frame.end, frame.crc, frame.synced
        self.sequence += 1

    def copy(self):
        other = copy.copy(self)
        other.chunks, other.updates = dict(self.chunks), dict(self.updates)
        return other

    def void(self, low, high):
        """Drop the updates at indices in [low, high): the tables have these rows now."""
        for key in [key for key in self.updates if low <= key[1] < high]:
            del self.updates[key]

    def drop_beyond_length(self):
        for key in [key for key in self.updates if key[1] >= self.length]:
            del self.updates[key]

    def _reject_invalid(self, frame):
        if frame.rows < self.rows or frame.next_chunk < self.next_chunk:
            raise Damage('frame: rows or chunk ids decrease')
        if self.sequence and frame.tables != self.tables:
            raise Damage('frame: table generation changes within a log')
        for chunk, (records, used) in frame.chunks.items():
            old = self.chunks.get(chunk, (0, 0))
            if records < old[0] or used < old[1] or chunk >= frame.next_chunk:
                raise Damage('frame: a chunk shrinks')


def replay(frames, faults=frozenset()):
    state = State()
    for frame in frames:
        state.apply(frame, faults)
    return state
