# SPDX-License-Identifier: MIT
"""The writer: appends and changes, and the commit."""

from . import log as lxlog
from .disk import SyncFailed
from .handle import Handle
from .layout import (CHUNK_BYTES, CHUNK_RECORDS, FIELDS, GROWTH, KINDS, Sealed, chunk_name,
                     read_meta)
from .records import ALIGN, INLINE_BYTES, make_row, move_row, split_rows
from .recovery import recover


class NoSpace(Exception):
    """The disk is full: the commit did not happen, the handle goes on."""


class Writer(Handle):
    """An open dataset that is written to; the lock keeps every other writer out.

    Its `state` runs ahead of the log by what is not committed; `pending` are the entries that the
    next frame must carry or take into the tables.
    """

    def __init__(self, disk):
        super().__init__(disk)
        self.use_meta(read_meta(self.directory)[0])
        if self.meta['sealed']:
            raise Sealed
        self.pending = {}
        self.grown = set()
        self.dirty = []
        self.changed = False
        self.poisoned = False
        self.log_dirty = False
        recover(self)

    # -- operations ------------------------------------------------------------------------------

    def append(self, record):
        """A record at the end; every field gets an entry, so that no older one shows through."""
        index = self.state.length
        for field, value in enumerate(record):
            self.put(field, index, self.place(field, index, value))
        self.state.length += 1

    def modify(self, index, field, value):
        self.put(field, index, self.place(field, index, value))

    def delete(self, index):
        """The last record takes the place."""
        last = self.state.length - 1
        if index != last:
            for field in range(len(FIELDS)):
                self.put(field, index, move_row(self.row(field, last), last, index))
        self.state.length = last
        self.changed = True

    def put(self, field, index, row):
        self.state.sets[field, index] = self.pending[field, index] = row
        self.changed = True

    def place(self, field, index, value):
        """Write the payload into the open chunk, behind what is there, and make its row."""
        if value is None or len(value) <= INLINE_BYTES:
            return make_row(self.uuid, field, index, value)
        chunk = self.open_chunk(len(value))
        records, used = self.state.chunks[chunk]
        offset = -(-used // ALIGN) * ALIGN
        file = self.chunk(chunk)
        self.extend(file, offset + len(value))
        file.pwrite(used, bytes(offset - used) + value)
        self.mark_dirty(file)
        self.state.chunks[chunk] = records + 1, offset + len(value)
        self.grown.add(chunk)
        return make_row(self.uuid, field, index, value, (chunk, offset))

    def open_chunk(self, size):
        """The newest chunk that has room, or a new one."""
        chunk = max(self.state.chunks, default=None)
        if chunk is not None:
            records, used = self.state.chunks[chunk]
            if records < CHUNK_RECORDS and used + ALIGN + size <= CHUNK_BYTES:
                return chunk
        chunk = self.state.next_chunk
        self.state.next_chunk += 1
        self.state.chunks[chunk] = 0, 0
        directory = self.directory.get('chunk')
        self.files[chunk_name(chunk)] = directory.make_file(chunk_name(chunk))
        if 'nochunkdirsync' not in self.faults:
            self.mark_dirty(directory)
        return chunk

    def extend(self, file, size):
        if file.size < size:
            file.truncate(-(-size // GROWTH) * GROWTH)

    def mark_dirty(self, node):
        if node not in self.dirty:
            self.dirty.append(node)

    # -- commit ----------------------------------------------------------------------------------

    def commit(self, bulk=False, synced=True):
        """Make everything so far one state of the log.

        Parameters
        ----------
        bulk : bool
            Entries go to the tables, not into the frame.
        synced : bool
            The state is durable when this returns. With nothing changed there is still a frame to
            be written if the last one is not synced.
        """
        assert not self.poisoned
        if not self.changed and (self.state.synced or not synced or 'skipempty' in self.faults):
            return
        synced = synced or not self.disk.boot
        try:
            rows = self.move_rows() if bulk else self.state.rows
            if 'framefirst' in self.faults:
                self.write_frame(rows, synced)
            if synced:
                self.barrier()
            elif rows > self.state.rows and 'lazytables' not in self.faults:
                self.sync_tables()
            if 'framefirst' not in self.faults:
                self.write_frame(rows, synced)
            if synced and 'nologsync' not in self.faults:
                self.sync(self.log_file())
                self.log_dirty = False
        except SyncFailed:
            self.poisoned = True
            raise

    def move_rows(self):
        """Write the entries behind the last row to the tables; the number of rows then."""
        low, high = self.state.rows, self.state.length
        if low >= high:
            return low
        for field in range(len(FIELDS)):
            parts = split_rows(self.row(field, index) for index in range(low, high))
            for (kind, size), part in zip(KINDS.items(), parts):
                file = self.table(field, kind)
                self.extend(file, size * high)
                file.pwrite(size * low, part)
                self.mark_dirty(file)
        return high

    def barrier(self, all_directories=False):
        """Sync all that the next frame will name, and what stands before it, in any order."""
        nodes = list(self.dirty)
        if self.log_dirty and 'nologbarrier' not in self.faults:
            nodes.append(self.log_file())
        if all_directories:
            nodes += [self.directory, self.directory.get('chunk')]
        self.disk.rng.shuffle(nodes)
        for node in nodes:
            self.sync_one(node)
        self.dirty.clear()
        self.log_dirty = False

    def sync_tables(self):
        """Rows are never taken from tables that may be lost: a row of zeros reads as missing."""
        for field in range(len(FIELDS)):
            for kind in KINDS:
                self.sync_one(self.table(field, kind))

    def sync_one(self, node):
        name = node.name
        if name.endswith('.zr') and 'nochunksync' in self.faults:
            return
        if ('.offset' in name or '.check' in name) and 'notablesync' in self.faults:
            return
        self.sync(node)

    def sync(self, node):
        try:
            node.sync()
        except SyncFailed:
            if 'nopoison' not in self.faults:
                raise
            node.sync()

    def write_frame(self, rows, synced):
        """The frame, at the end of the log; then it is the state of every reader that looks."""
        state = self.state
        sets = [(field, index, row) for (field, index), row in self.pending.items()
                if not state.rows <= index < rows]
        frame = lxlog.Frame(
            epoch=state.epoch, length=state.length, rows=rows, previous=state.previous,
            flags=lxlog.SYNCED if synced else 0, boot=self.disk.boot, tables=state.tables,
            next_chunk=state.next_chunk, sets=sets,
            chunks={chunk: state.chunks[chunk] for chunk in self.grown})
        data = lxlog.encode(frame, self.seed)
        self.write_whole(data)
        state.void(state.rows, rows)
        state.rows = rows
        state.drop_beyond_length()
        state.advance(state.at + len(data), lxlog.frame_crc(data), synced)
        self.pending.clear()
        self.grown.clear()
        self.changed = False
        self.log_dirty = True

    def write_whole(self, data):
        """A frame that finds no room is cut off again; what was in it waits for the next."""
        log = self.log_file()
        if self.disk.rng.random() < .02:
            log.pwrite(self.state.at, data[:len(data) // 2])
            log.truncate(self.state.at)
            raise NoSpace
        log.pwrite(self.state.at, data)

    def close(self):
        """Commit what is pending, durably, whatever the durability in between."""
        self.commit(synced=True)
