# SPDX-License-Identifier: MIT
"""LOG: frames, their rules, and their replay. Section 8 of the format."""

import collections
import struct

from zrbase import Corrupt, crc32c, le64

MAGIC = b"LXLF"
HEADER = struct.Struct("<4sIQQQIIII8sII")
CHUNK_ITEM = struct.Struct("<IIQ")
UPDATE_ITEM = struct.Struct("<IIQ24s")
TRAILER = struct.Struct("<II")
FRAME_MIN = HEADER.size + TRAILER.size
FRAME_MAX = 1 << 30
SNAPSHOT = 1
SYNCED = 2
ROWS_MAX = (1 << 59) - 1
BYTES_MAX = (1 << 63) - 1
SEARCH_FACTOR = 4


def log_name(generation):
    """Return the file name of the log of a generation."""
    return f"LOG.{generation}" if generation else "LOG"


class Frame:
    """The header, the items and the trailer of one frame, at offset `at` of `log`."""

    def __init__(self, log, at):
        (_, self.bytes, self.sequence, self.length, self.rows, chunk_items, update_items,
         self.previous, self.flags, self.boot, self.table_generation,
         self.next_chunk) = HEADER.unpack_from(log, at)
        self.at = at
        place = at + HEADER.size
        self.chunks = [CHUNK_ITEM.unpack_from(log, place + 16 * k) for k in range(chunk_items)]
        place += 16 * chunk_items
        self.updates = [UPDATE_ITEM.unpack_from(log, place + 40 * k) for k in range(update_items)]
        self.zero, self.crc = TRAILER.unpack_from(log, at + self.bytes - TRAILER.size)

    @property
    def synced(self):
        """Whether everything that it names was durable before it was written."""
        return bool(self.flags & SYNCED)


class State:
    """The snapshot of a dataset after a frame.

    Attributes
    ----------
    length, rows, table_generation : int
        As in the last frame.
    chunks : dict
        (records, bytes) of each chunk, by id.
    updates : dict
        The live updates: index to a dict of field id to the 24 bytes of entry and check.
    place : dict
        The offset in the log of each live update, by (field id, index).
    lacking : set
        The ids of the fields with an update, live or not, that is a missing value.
    changed : Counter
        What the frames add to the number of changes of each field, by id: section 8.18.
    shortened : int
        What they add to the numbers of all fields.
    first_crc : int
        The crc of frame 0.
    sequence, crc, synced
        Of the last frame.
    """

    def __init__(self):
        self.length = 0
        self.rows = 0
        self.chunks = {}
        self.updates = {}
        self.place = {}
        self.lacking = set()
        self.changed = collections.Counter()
        self.shortened = 0

    def _drop(self, low, high):
        """Drop the updates of indices in [low, high); the cost depends on the smaller number."""
        indices = range(low, high)
        if len(self.updates) < high - low:
            indices = [index for index in self.updates if low <= index < high]
        for index in indices:
            for field in self.updates.pop(index, ()):
                del self.place[field, index]

    def apply(self, frame):
        """Apply one more frame: section 8.11."""
        self._drop(self.rows, frame.rows)
        above = frame.length
        place = frame.at + HEADER.size + 16 * len(frame.chunks)
        for field, _, index, words in frame.updates:
            self.updates.setdefault(index, {})[field] = words
            self.place[field, index] = place
            if not any(words):
                self.lacking.add(field)
            if index < self.length:
                self.changed[field] += frame.crc
            above = max(above, index + 1)
            place += UPDATE_ITEM.size
        self._drop(frame.length, max(above, self.length))
        if frame.sequence == 0:
            self.first_crc = frame.crc
        elif frame.length < self.length:
            self.shortened += frame.crc
        self.length = frame.length
        self.rows = frame.rows
        self.table_generation = frame.table_generation
        self.chunks.update((chunk, (records, size)) for chunk, records, size in frame.chunks)
        self.sequence, self.crc, self.synced = frame.sequence, frame.crc, frame.synced
        self.end = frame.at + frame.bytes


class Rules:
    """The rules of section 8.8 that a valid frame must keep, and the numbers they compare."""

    def __init__(self, name):
        self.name = name
        self.rows = 0
        self.next_chunk = 0
        self.update_items = 0
        self.table_generation = None
        self.chunks = {}

    def _refuse(self, frame, what):
        raise Corrupt(f"frame {frame.sequence}: {what}", file=self.name, offset=frame.at)

    def check(self, frame):
        """Check one frame, and remember its numbers."""
        self.update_items += len(frame.updates)
        if frame.sequence == 0:
            self.table_generation = frame.table_generation
        if frame.flags not in ((SNAPSHOT | SYNCED,) if frame.sequence == 0 else (0, SYNCED)):
            self._refuse(frame, f"flags are {frame.flags}")
        if frame.zero or any(item[1] for item in frame.updates):
            self._refuse(frame, "reserved bytes are not zero")
        if not self.rows <= frame.rows <= ROWS_MAX:
            self._refuse(frame, f"rows are {frame.rows}, {self.rows} before")
        if frame.length > min(ROWS_MAX, frame.rows + self.update_items):
            self._refuse(frame, f"length {frame.length} is above rows and updates")
        if frame.table_generation != self.table_generation:
            self._refuse(frame, f"table generation is {frame.table_generation}")
        if frame.next_chunk < self.next_chunk:
            self._refuse(frame, f"next chunk id {frame.next_chunk}, {self.next_chunk} before")
        self._check_chunks(frame)
        if frame.sequence == 0:
            keys = [(index, field) for field, _, index, _ in frame.updates]
            if any(low >= high for low, high in zip(keys, keys[1:])):
                self._refuse(frame, "updates do not ascend")
        self.rows = frame.rows
        self.next_chunk = frame.next_chunk

    def _check_chunks(self, frame):
        before = -1
        for chunk, records, size in frame.chunks:
            if not before < chunk < frame.next_chunk:
                self._refuse(frame, f"chunk {chunk} out of order or above next chunk id")
            old_records, old_size = self.chunks.get(chunk, (0, 0))
            if records < old_records or not old_size <= size <= BYTES_MAX:
                self._refuse(frame, f"chunk {chunk} shrinks, or is too large")
            self.chunks[chunk] = (records, size)
            before = chunk


class Log:
    """The log of one generation.

    Parameters
    ----------
    file : File
        The open log.
    uuid : bytes
        The 16 bytes of the uuid.
    generation : int
        The generation, which enters the CRC of each frame.
    """

    def __init__(self, file, uuid, generation):
        self.file = file
        self.name = file.path
        self.prefix = (uuid, le64(generation))
        self.data = b""
        self.frames = []

    def _size(self, at):
        """Conditions 1 to 3 of section 8.8; return the size of the frame, or 0."""
        log = self.data
        if len(log) - at < FRAME_MIN or log[at:at + 4] != MAGIC:
            return 0
        header = HEADER.unpack_from(log, at)
        size, chunk_items, update_items = header[1], header[5], header[6]
        if size != FRAME_MIN + 16 * chunk_items + 40 * update_items:
            return 0
        return size if size <= min(FRAME_MAX, len(log) - at) else 0

    def _whole(self, at):
        """Conditions 1 to 4 of section 8.8; return the size of the frame, or 0."""
        size = self._size(at)
        if not size:
            return 0
        body = memoryview(self.data)[at:at + size - 4]
        crc, = struct.unpack_from("<I", self.data, at + size - 4)
        return size if crc32c(*self.prefix, body) == crc else 0

    def _frame(self, at, sequence, previous):
        """Return the valid frame at `at`, or None."""
        if not self._whole(at):
            return None
        frame = Frame(self.data, at)
        return frame if (frame.sequence, frame.previous) == (sequence, previous) else None

    def _complete(self, at, boot):
        """Whether the invalid frame at `at` was written to its end in this boot: section 8.9.

        Returns
        -------
        bytes or None
            The bytes that were read.
        """
        size = self._size(at)
        if not boot or not size or self.data[at + 48:at + 56] != boot:
            return None
        frame = self.data[at:at + size]
        return frame if any(frame[-4:]) else None

    def _later_from(self, at, sequence, boot):
        """Whether a complete frame of `sequence` or later, synced or of this boot, is at or after
        `at`."""
        budget = SEARCH_FACTOR * (len(self.data) - at)
        while True:
            at = self.data.find(MAGIC, at)
            if at < 0:
                return False
            if at % 8 == 0 and len(self.data) - at >= FRAME_MIN:
                size, found = struct.unpack_from("<IQ", self.data, at + 4)
                flags, = struct.unpack_from("<I", self.data, at + 44)
                of_boot = boot and self.data[at + 48:at + 56] == boot
                if (flags & SYNCED or of_boot) and found >= sequence:
                    if self._whole(at):
                        return True
                    if size <= len(self.data) - at:
                        budget -= size
                    if budget < 0:
                        return True
            at += 1

    def _damage(self, at, sequence, boot):
        """The proof that the invalid frame at `at` is damage; None for a torn end."""
        return True if self._later_from(at, sequence, boot) else self._complete(at, boot)

    def read(self, boot):
        """Read all valid frames: sections 8.8 and 8.9. Rot is damage, a torn end is not.

        Parameters
        ----------
        boot : bytes or None
            The present boot; None if it is unknown.
        """
        rules = Rules(self.name)
        self.data = self.file.read_some(self.file.size())
        at = crc = 0
        while at < len(self.data):
            frame = self._frame(at, len(self.frames), crc)
            damage = None
            while frame is None and at > 0:
                before, damage = damage, self._damage(at, len(self.frames), boot)
                if damage is None or damage == before:
                    break
                self.data = self.file.read_some(self.file.size())
                frame = self._frame(at, len(self.frames), crc)
            if frame is None and at > 0 and damage is None:
                break
            if frame is None:
                raise Corrupt(f"frame {len(self.frames)} is damaged", file=self.name, offset=at)
            rules.check(frame)
            self.frames.append(frame)
            at += frame.bytes
            crc = frame.crc
        if not self.frames:
            raise Corrupt("the log is empty", file=self.name, offset=0)

    def replay(self, boot, durable=False):
        """Return the state: sections 8.10 and 8.11.

        Parameters
        ----------
        boot : bytes or None
            The present boot; None if it is unknown.
        durable : bool, optional
            Stop at the last synced frame.
        """
        last = max(k for k, frame in enumerate(self.frames) if frame.synced)
        if boot and not durable:
            while last + 1 < len(self.frames) and self.frames[last + 1].boot == boot:
                last += 1
        state = State()
        for frame in self.frames[:last + 1]:
            state.apply(frame)
        return state
