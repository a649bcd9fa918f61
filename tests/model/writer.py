# SPDX-License-Identifier: MIT
"""The writer: operations in the order of the calls, and the commit of a prefix of them."""

from . import log as lxlog
from .change import Change
from .disk import SyncFailed
from .handle import Handle
from .layout import GROWTH, KINDS, Sealed, read_meta
from .records import INLINE_BYTES, MISSING, split_rows
from .recovery import recover
from .write_buffers import WriteBuffers


class NoSpace(Exception):
    """The disk is full: the commit failed, and the writer continues."""


class Writer(Handle):
    """A dataset open for writing; the lock excludes other writers.

    Attributes
    ----------
    state : State
        The snapshot of the log.
    operations : list of tuple
        The uncommitted operations.
    since : dict
        The first generation of each chunk, and under 'tables' of the present tables; 0 for those of
        earlier sessions.
    old : list of Obsolete
        Obsolete files that readers may still need; see `orphans`.
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
        self.obsolete = []
        self.buffers = WriteBuffers(self)
        recover(self)
        self.buffers.resume()

    # -- operations ------------------------------------------------------------------------------

    def append(self, record):
        self.operate('append', [self.take(value) for value in record])

    def modify(self, index, field, value):
        """`field` is its position in the schema."""
        self.operate('modify', index, self.fields[field], self.take(value))

    def delete(self, index):
        """Delete by swap: the last record takes the place."""
        self.operate('delete', index)

    def truncate(self, length):
        self.operate('truncate', length)

    def operate(self, *operation):
        self.operations.append(operation)
        self.buffers.flush_some(.5)

    def take(self, value):
        """A value, and its position in a write buffer, unless it is inline."""
        stored = value is not None and len(value) > INLINE_BYTES
        return value, self.buffers.add(value) if stored else None

    def mark(self):
        """A place in the sequence of operations, at which `commit` may end."""
        return len(self.operations), self.buffers.close()

    def rollback(self):
        """Drop uncommitted operations, whether they are flushed or not."""
        self.operations.clear()
        self.buffers.rollback()

    # -- commit ----------------------------------------------------------------------------------

    def commit(self, mark=None, bulk=False, synced=True, older=False, always=False):
        """Commit the operations before `mark`, or all.

        Parameters
        ----------
        bulk : bool
            Append the entries to the tables, instead of the frame.
        synced : bool
            The commit is durable when this returns. Without changes, a frame is still written if
            the last one is not synced.
        older : bool
            With `bulk`, the rows are the entries as appended; the frame has updates for those that
            changed later.
        always : bool
            Write a frame even without changes.
        """
        assert not self.poisoned
        operations, buffers = mark or self.mark()
        pending = bulk and self.state.rows < self.state.length
        unsynced = synced and not self.state.synced and 'skipempty' not in self.faults
        if not (operations or pending or unsynced or always):
            return
        synced = synced or not self.disk.boot
        self.buffers.flush_first(buffers)
        change = Change(self, self.operations[:operations])
        try:
            rows, updates = self.state.rows, change.updates
            if bulk:
                rows, updates = self.append_rows(change, older)
            if 'framefirst' in self.faults:
                self.write_frame(change.length, rows, updates, buffers, synced)
            if synced:
                self.sync_data()
            elif rows > self.state.rows and 'lazytables' not in self.faults:
                self.sync_tables()
            if 'framefirst' not in self.faults:
                self.write_frame(change.length, rows, updates, buffers, synced)
            if synced and 'nologsync' not in self.faults:
                self.sync(self.log_file())
                self.log_dirty = False
        except SyncFailed:
            self.poisoned = True
            raise
        del self.operations[:operations]
        self.buffers.drop(buffers)

    def append_rows(self, change, older):
        """Append the entries after the last row to the tables.

        Returns
        -------
        rows : int
            The new number of rows.
        updates : dict
            The updates that the frame still needs.
        """
        low, high = self.state.rows, change.peak if older else change.length
        if low >= high:
            return low, change.updates
        updates = {key: row for key, row in change.updates.items() if key[1] < low}
        for field in self.fields:
            rows = []
            for index in range(low, high):
                row = change.old_row(field, index) if older else change.row(field, index)
                rows.append(row)
                if row != change.row(field, index) and 'oldrow' not in self.faults:
                    updates[field.id, index] = change.updates[field.id, index]
            if (MISSING in rows and field.id in self.complete_fields()
                    and 'nomarker' not in self.faults):
                updates[field.id, lxlog.MARKER] = MISSING
            for (kind, size), part in zip(KINDS.items(), split_rows(rows)):
                file = self.table(field, kind)
                if file.size < size * high:
                    file.truncate(-(-size * high // GROWTH) * GROWTH)
                file.pwrite(size * low, part)
                self.mark_dirty(file)
        return high, updates

    def mark_dirty(self, node):
        if node not in self.dirty:
            self.dirty.append(node)

    def sync_data(self, all_directories=False):
        """Sync all that the next frame names, and the log before it, in any order.

        Data that is flushed meanwhile belongs to later frames, and stays dirty.
        """
        nodes = list(self.dirty)
        if self.log_dirty and 'nologbefore' not in self.faults:
            nodes.append(self.log_file())
        if all_directories:
            nodes += [self.directory, self.directory.get('chunk')]
        self.disk.rng.shuffle(nodes)
        for node in nodes:
            if node in self.dirty and 'dirtylate' not in self.faults:
                self.dirty.remove(node)
            self.sync_one(node)
            self.buffers.flush_some(.2)
        if 'dirtylate' in self.faults:
            self.dirty.clear()
        self.log_dirty = False

    def sync_tables(self):
        """Sync the rows before any frame names them: a lost row is zeros, which read as missing."""
        for field in self.fields:
            for kind in KINDS:
                self.sync_one(self.table(field, kind))

    def sync_one(self, node):
        name, faults = node.name, self.faults
        if name.endswith('.zr') and ('nochunksync' in faults or
                                     'onetask' in faults and self.buffers.task_of(name) == 1):
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

    def write_frame(self, length, rows, updates, buffers, synced):
        """Write the frame at the end of the log, which makes it visible to readers."""
        state = self.state
        frame = lxlog.Frame(
            sequence=state.sequence, length=length, rows=rows, previous=state.previous,
            flags=lxlog.SYNCED if synced else 0, boot=self.disk.boot, tables=state.tables,
            next_chunk=self.buffers.next_id, chunks=self.buffers.chunk_items(buffers),
            updates=[(field, index, row) for (field, index), row in updates.items()])
        data = lxlog.encode(frame, self.seed)
        self.write_whole(data)
        state.apply(frame._replace(end=state.at + len(data), crc=lxlog.frame_crc(data)),
                    self.faults)
        self.log_dirty = True

    def write_whole(self, data):
        """Write a frame; if the disk is full, truncate it again, and keep its operations."""
        log = self.log_file()
        if self.disk.is_full():
            log.pwrite(self.state.at, data[:len(data) // 2])
            log.truncate(self.state.at)
            raise NoSpace
        log.pwrite(self.state.at, data)

    def close(self):
        """Commit everything, durably, whatever the durability of earlier commits."""
        self.commit(synced=True)
