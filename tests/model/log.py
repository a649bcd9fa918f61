# SPDX-License-Identifier: MIT
"""The log: frames to the byte, which of them are trusted, rot told from a torn end, and replay."""

import copy
import struct
from typing import Dict, List, NamedTuple, Tuple

from .records import ROW_BYTES, Damage, crc

MAGIC = b'LXLF'
HEADER = struct.Struct('<4sIQQQIIIIQII')
CHUNK_ITEM = struct.Struct('<IIQ')
SET_ITEM = struct.Struct(f'<IIQ{ROW_BYTES}s')
TRAILER = struct.Struct('<II')
BASE, SYNCED = 1, 2


class Frame(NamedTuple):
    """One commit. `end` and `crc` are filled in by `encode` and `decode`."""

    epoch: int
    length: int
    rows: int
    previous: int
    flags: int
    boot: int
    tables: int
    next_chunk: int
    chunks: Dict[int, Tuple[int, int]]
    sets: List[Tuple[int, int, bytes]]
    end: int = 0
    crc: int = 0

    @property
    def synced(self):
        return bool(self.flags & SYNCED)


def base_frame(boot, state, rows, tables, sets):
    """The first frame of a log: all of `state`, with these rows and (field id, index): row sets."""
    ordered = sorted((index, field) for field, index in sets)
    return Frame(epoch=0, length=state.length, rows=rows, previous=0, flags=BASE | SYNCED,
                 boot=boot, tables=tables, next_chunk=state.next_chunk, chunks=dict(state.chunks),
                 sets=[(field, index, sets[field, index]) for index, field in ordered])


def log_seed(uuid, generation):
    """What stands before a frame in its CRC: one of another dataset or generation is none."""
    return uuid + struct.pack('<Q', generation)


def encode(frame, seed):
    items = [CHUNK_ITEM.pack(i, *frame.chunks[i]) for i in sorted(frame.chunks)]
    items += [SET_ITEM.pack(field, 0, index, row) for field, index, row in frame.sets]
    body = b''.join(items)
    size = HEADER.size + len(body) + TRAILER.size
    head = HEADER.pack(MAGIC, size, frame.epoch, frame.length, frame.rows, len(frame.chunks),
                       len(frame.sets), frame.previous, frame.flags, frame.boot, frame.tables,
                       frame.next_chunk)
    return head + body + TRAILER.pack(0, crc(seed, head, body, bytes(4)))


def frame_crc(data):
    return TRAILER.unpack_from(data, len(data) - TRAILER.size)[1]


def decode(log, at, seed, checked=True):
    """The frame at byte `at`, or None: magic, size and CRC, nothing of its place in the chain."""
    if len(log) - at < HEADER.size + TRAILER.size or log[at:at + 4] != MAGIC:
        return None
    (_, size, epoch, length, rows, chunk_items, set_items, previous, flags, boot, tables,
     next_chunk) = HEADER.unpack_from(log, at)
    sets_at = at + HEADER.size + CHUNK_ITEM.size * chunk_items
    end = sets_at + SET_ITEM.size * set_items + TRAILER.size
    if at + size != end or end > len(log):
        return None
    found = TRAILER.unpack_from(log, end - TRAILER.size)[1]
    if checked and found != crc(seed, log[at:end - 4]):
        return None
    chunks = {i: (records, used) for i, records, used in
              CHUNK_ITEM.iter_unpack(log[at + HEADER.size:sets_at])}
    sets = [(field, index, row) for field, _, index, row in
            SET_ITEM.iter_unpack(log[sets_at:end - TRAILER.size])]
    return Frame(epoch, length, rows, previous, flags, boot, tables, next_chunk, chunks, sets,
                 end, found)


def scan(log, seed, boot, faults=frozenset(), start=None):
    """The trusted frames from a place in the log on.

    Parameters
    ----------
    log : bytes
    seed : bytes
        See `log_seed`.
    boot : int
        The boot of this moment; 0 is unknown.
    faults : frozenset of str
    start : State, optional
        Where to continue; by default the beginning.

    Raises
    ------
    Damage
        The first invalid frame was whole when it was written, or frame 0 is invalid.
    """
    frames = []
    at, epoch, previous = (start.at, start.epoch, start.previous) if start else (0, 0, 0)
    while True:
        frame = decode(log, at, seed, 'nocrc' not in faults)
        if frame is None or frame.epoch != epoch:
            break
        if frame.previous != previous and 'nochain' not in faults:
            break
        frames.append(frame)
        at, epoch, previous = frame.end, epoch + 1, frame.crc
    if 'norot' not in faults:
        refuse_rot(log, at, epoch, seed, boot, faults)
    if not start and not (frames and frames[0].flags == BASE | SYNCED):
        raise Damage('frame 0 of the log is invalid')
    return trusted(frames, boot, faults)


def refuse_rot(log, at, epoch, seed, boot, faults):
    """Raise Damage if the invalid frame at the end was whole when it was written.

    A frame after it shows this that is synced or of this boot; the search begins at the end itself:
    a frame that is whole but does not chain is no torn one. So does the end of the frame itself, if
    its header is of this boot: a write that is interrupted leaves zeros there, or the end of the
    file.
    """
    frame = decode(log, at, seed, False)
    if frame and frame.boot == boot != 0 and frame.crc != 0 and 'rotlast' not in faults:
        raise Damage(f'log: frame {epoch} was written to its end in this boot, and is invalid')
    at += 'rotbehind' in faults
    while True:
        at = log.find(MAGIC, at)
        if at < 0:
            return
        if at % 8 == 0:
            frame = decode(log, at, seed)
            known = frame and (frame.synced or
                               frame.boot == boot != 0 and 'rotsynced' not in faults)
            if known and frame.epoch >= epoch:
                raise Damage(f'log: a frame of epoch {frame.epoch} follows an invalid one')
        at += 1


def trusted(frames, boot, faults=frozenset()):
    """Frames up to the last synced one, and those after it that this boot wrote."""
    good = last_synced(frames) + 1
    while good < len(frames) and ('noboot' in faults or frames[good].boot == boot != 0):
        good += 1
    return frames[:good]


def last_synced(frames):
    """The position of the last synced frame, -1 if it is absent."""
    return max((k for k, frame in enumerate(frames) if frame.synced), default=-1)


class State:
    """What a prefix of the log says: length, rows, chunks, sets, and where the next frame goes."""

    def __init__(self):
        self.length = 0
        self.rows = 0
        self.chunks = {}
        self.sets = {}
        self.tables = 0
        self.next_chunk = 0
        self.epoch = 0
        self.previous = 0
        self.at = 0
        self.synced = False

    def apply(self, frame, faults=frozenset()):
        """Replay one frame: the three steps of the format, in its order."""
        self._refuse_broken(frame)
        if not {'novoid', 'voidlate'} & faults:
            self.void(self.rows, frame.rows)
        for field, index, row in frame.sets:
            self.sets[field, index] = row
        if 'voidlate' in faults:
            self.void(self.rows, frame.rows)
        self.length, self.rows = frame.length, frame.rows
        self.drop_beyond_length()
        self.chunks.update(frame.chunks)
        self.tables, self.next_chunk = frame.tables, frame.next_chunk
        self.at, self.previous, self.synced = frame.end, frame.crc, frame.synced
        self.epoch += 1

    def copy(self):
        other = copy.copy(self)
        other.chunks, other.sets = dict(self.chunks), dict(self.sets)
        return other

    def void(self, low, high):
        """Sets at indices in [low, high) are dropped: the tables have these rows now."""
        for key in [key for key in self.sets if low <= key[1] < high]:
            del self.sets[key]

    def drop_beyond_length(self):
        for key in [key for key in self.sets if key[1] >= self.length]:
            del self.sets[key]

    def _refuse_broken(self, frame):
        if frame.rows < self.rows or frame.next_chunk < self.next_chunk:
            raise Damage('frame: rows or chunk ids fall')
        if self.epoch and frame.tables != self.tables:
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
