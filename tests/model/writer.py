# SPDX-License-Identifier: MIT
"""The writer: operations in the order of the calls, and the commit of a prefix of them."""

from . import log as lxlog
from .change import Change
from .disk import SyncFailed
from .handle import Handle
from .layout import GROWTH, KINDS, Sealed, read_meta
from .records import INLINE_BYTES, split_rows
from .recovery import recover
from .stages import Stages


class NoSpace(Exception):
    """The disk is full: the commit did not happen, the handle continues."""


class Writer(Handle):
    """An open dataset that is written to; the lock keeps every other writer out.

    Attributes
    ----------
    state : State
        Always what the log says.
    operations : list of tuple
        What was asked for and is not committed.
    since : dict
        The generation in which each chunk came into use, and under 'tables' the present tables; 0
        for those of earlier sessions.
    old : list of Old
        Files of the past that readers may still need; see `leftovers`.
    """

    def __init__(self, disk):
        super().__init__(disk)
        self.use_meta(read_meta(self.directory)[0])
        if self.meta['sealed']:
            raise Sealed
        self.operations = []
        self.dirty = []
        self.poisoned = False
        self.log_dirty = False
        self.since = {}
        self.old = []
        self.stages = Stages(self)
        recover(self)
        self.stages.resume()

    # -- operations ------------------------------------------------------------------------------

    def append(self, record):
        self.operate('append', [self.take(value) for value in record])

    def modify(self, index, field, value):
        """`field` is its position in the schema."""
        self.operate('modify', index, self.fields[field], self.take(value))

    def delete(self, index):
        """The last record takes the place."""
        self.operate('delete', index)

    def truncate(self, length):
        self.operate('truncate', length)

    def operate(self, *operation):
        self.operations.append(operation)
        self.stages.place_some(.5)

    def take(self, value):
        """A value, and where it will be stored, if it is not to stand in its entry."""
        stored = value is not None and len(value) > INLINE_BYTES
        return value, self.stages.add(value) if stored else None

    def mark(self):
        """A place in the sequence of operations, up to which `commit` may go."""
        return len(self.operations), self.stages.close()

    def rollback(self):
        """Forget what is not committed, whether it is placed or not."""
        self.operations.clear()
        self.stages.rollback()

    # -- commit ----------------------------------------------------------------------------------

    def commit(self, mark=None, bulk=False, synced=True, older=False, always=False):
        """Make the operations before `mark`, or all, one state of the log.

        Parameters
        ----------
        bulk : bool
            Entries go to the tables, not into the frame.
        synced : bool
            The state is durable when this returns. With nothing changed there is still a frame to
            be written if the last one is not synced.
        older : bool
            With `bulk`, the rows are the entries as they were appended; the frame has sets over
            those that changed since.
        always : bool
            There is a frame whatever has changed.
        """
        assert not self.poisoned
        operations, stages = mark or self.mark()
        pending = bulk and self.state.rows < self.state.length
        unsynced = synced and not self.state.synced and 'skipempty' not in self.faults
        if not (operations or pending or unsynced or always):
            return
        synced = synced or not self.disk.boot
        self.stages.place_first(stages)
        change = Change(self, self.operations[:operations])
        try:
            rows, sets = self.state.rows, change.sets
            if bulk:
                rows, sets = self.move_rows(change, older)
            if 'framefirst' in self.faults:
                self.write_frame(change.length, rows, sets, stages, synced)
            if synced:
                self.barrier()
            elif rows > self.state.rows and 'lazytables' not in self.faults:
                self.sync_tables()
            if 'framefirst' not in self.faults:
                self.write_frame(change.length, rows, sets, stages, synced)
            if synced and 'nologsync' not in self.faults:
                self.sync(self.log_file())
                self.log_dirty = False
        except SyncFailed:
            self.poisoned = True
            raise
        del self.operations[:operations]
        self.stages.forget(stages)

    def move_rows(self, change, older):
        """Write the entries after the last row to the tables.

        Returns
        -------
        rows : int
            The number of rows then.
        sets : dict
            What the frame must set all the same.
        """
        low, high = self.state.rows, change.peak if older else change.length
        if low >= high:
            return low, change.sets
        sets = {key: row for key, row in change.sets.items() if key[1] < low}
        for field in self.fields:
            rows = []
            for index in range(low, high):
                row = change.old_row(field, index) if older else change.row(field, index)
                rows.append(row)
                if row != change.row(field, index) and 'oldrow' not in self.faults:
                    sets[field.id, index] = change.sets[field.id, index]
            for (kind, size), part in zip(KINDS.items(), split_rows(rows)):
                file = self.table(field, kind)
                if file.size < size * high:
                    file.truncate(-(-size * high // GROWTH) * GROWTH)
                file.pwrite(size * low, part)
                self.mark_dirty(file)
        return high, sets

    def mark_dirty(self, node):
        if node not in self.dirty:
            self.dirty.append(node)

    def barrier(self, all_directories=False):
        """Sync all that the next frame will name, and what stands before it, in any order.

        What is placed meanwhile is of later frames, and dirty again.
        """
        nodes = list(self.dirty)
        if self.log_dirty and 'nologbarrier' not in self.faults:
            nodes.append(self.log_file())
        if all_directories:
            nodes += [self.directory, self.directory.get('chunk')]
        self.disk.rng.shuffle(nodes)
        for node in nodes:
            if node in self.dirty and 'dirtylate' not in self.faults:
                self.dirty.remove(node)
            self.sync_one(node)
            self.stages.place_some(.2)
        if 'dirtylate' in self.faults:
            self.dirty.clear()
        self.log_dirty = False

    def sync_tables(self):
        """Rows are never taken from tables that may be lost: a row of zeros reads as missing."""
        for field in self.fields:
            for kind in KINDS:
                self.sync_one(self.table(field, kind))

    def sync_one(self, node):
        name, faults = node.name, self.faults
        if name.endswith('.zr') and ('nochunksync' in faults or
                                     'onelane' in faults and self.stages.lane_of(name) == 1):
            return
        if ('.offset' in name or '.check' in name) and 'notablesync' in faults:
            return
        self.sync(node)

    def sync(self, node):
        try:
            node.sync()
        except SyncFailed:
            if 'nopoison' not in self.faults:
                raise
            node.sync()

    def write_frame(self, length, rows, sets, stages, synced):
        """The frame, at the end of the log; then it is the state of every reader that looks."""
        state = self.state
        frame = lxlog.Frame(
            epoch=state.epoch, length=length, rows=rows, previous=state.previous,
            flags=lxlog.SYNCED if synced else 0, boot=self.disk.boot, tables=state.tables,
            next_chunk=self.stages.next_id, chunks=self.stages.chunk_items(stages),
            sets=[(field, index, row) for (field, index), row in sets.items()])
        data = lxlog.encode(frame, self.seed)
        self.write_whole(data)
        state.apply(frame._replace(end=state.at + len(data), crc=lxlog.frame_crc(data)),
                    self.faults)
        self.log_dirty = True

    def write_whole(self, data):
        """A frame that finds no room is cut off again; what was in it waits for the next."""
        log = self.log_file()
        if self.disk.is_full():
            log.pwrite(self.state.at, data[:len(data) // 2])
            log.truncate(self.state.at)
            raise NoSpace
        log.pwrite(self.state.at, data)

    def close(self):
        """Commit what is pending, durably, whatever the durability in between."""
        self.commit(synced=True)
