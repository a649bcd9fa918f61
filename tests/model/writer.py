# SPDX-License-Identifier: MIT
"""The writer: operations in the order of the calls, and the commit of a prefix of them."""

from . import log as lxlog
from .change import Change
from .disk import SyncFailed
from .handle import Handle
from .layout import GROWTH, KINDS, Sealed, chunk_name, read_meta
from .records import INLINE_BYTES, split_rows
from .recovery import complete, recover
from .stages import Stages


class NoSpace(Exception):
    """The disk is full: the commit did not happen, the handle goes on."""


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
    complete : bool
        The barrier of the opening is over. It may come as late as the first frame.
    """

    def __init__(self, disk, lazy=None):
        super().__init__(disk)
        self.use_meta(read_meta(self.directory)[0])
        if self.meta['sealed']:
            raise Sealed
        self.operations = []
        self.dirty = []
        self.poisoned = False
        self.log_dirty = False
        self.complete = False
        self.since = {}
        self.old = []
        self.stages = Stages(self)
        recover(self)
        self.stages.resume()
        if not (disk.rng.random() < .5 if lazy is None else lazy):
            complete(self)

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

    def commit(self, mark=None, bulk=False, synced=True, older=False, always=False, joint=None):
        """Make the operations before `mark`, or all, one state of the log.

        Parameters
        ----------
        bulk : bool
            Entries go to the tables, not into the frame.
        synced : bool
            The state is durable when this returns. With nothing changed there is still a frame to
            be written if the last one is neither synced nor joint.
        older : bool
            With `bulk`, the rows are the entries as they were appended; the frame has sets over
            those that changed since.
        always : bool
            There is a frame whatever has changed.
        joint : bool, optional
            The frame is a joint one, if it may be; by default that is chance. If False, the last
            frame is a synced one then.
        """
        assert not self.poisoned
        operations, stages = mark or self.mark()
        pending = bulk and self.state.rows < self.state.length
        durable = self.state.synced or self.state.joint and joint is not False
        unsynced = synced and not durable and 'skipempty' not in self.faults
        try:
            if operations or pending or unsynced or always:
                self.stages.place_first(stages)
                change = Change(self, self.operations[:operations])
                self.make_frame(change, stages, bulk, synced or not self.disk.boot, older, joint)
            elif synced:
                self.complete_opening()
        except SyncFailed:
            self.poisoned = True
            raise
        del self.operations[:operations]
        self.stages.forget(stages)

    def complete_opening(self):
        if not self.complete:
            complete(self)

    def make_frame(self, change, stages, bulk, synced, older, joint):
        """Data, barrier, frame; or the frame, and then all at once."""
        if 'jointfirst' not in self.faults:
            self.complete_opening()
        rows, sets = self.state.rows, change.sets
        if bulk:
            rows, sets = self.move_rows(change, older)
        frame = change.length, rows, sets, stages
        if synced and self.may_join(rows, stages) and self.draw_joint(joint):
            named = self.write_frame(*frame, lxlog.JOINT).chunks
            if 'jointrush' in self.faults:
                self.write_frame(change.length, rows, {}, 0, 0)
            self.barrier(joint=[chunk_name(chunk) for chunk in named])
            return
        self.complete_opening()
        flags = lxlog.SYNCED if synced else 0
        if 'framefirst' in self.faults:
            self.write_frame(*frame, flags)
        if synced:
            self.barrier()
        elif rows > self.state.rows and 'lazytables' not in self.faults:
            self.sync_tables()
        if 'framefirst' not in self.faults:
            self.write_frame(*frame, flags)
        if synced and 'nologsync' not in self.faults:
            self.sync(self.log_file())
            self.log_dirty = False

    def may_join(self, rows, stages):
        """Whether the frame may be a joint one: all before it is durable, with what that names.

        It names old chunks alone, whose entries are durable, and takes no rows. The last frame is a
        synced or a joint one: an unsynced one of another boot would not count any more when a
        joint one behind it is given up, whatever the opening has synced.
        """
        early = {'jointearly'} if self.complete else {'jointfirst'}
        before = not self.log_dirty and (self.state.synced or self.state.joint
                                         or 'jointtail' in self.faults)
        known = set(self.stages.chunk_items(stages)) <= set(self.state.chunks)
        return (self.disk.boot != 0 and rows == self.state.rows
                and (known or 'jointnew' in self.faults)
                and (before or bool(early & self.faults)))

    def draw_joint(self, joint):
        return self.disk.rng.random() < .5 if joint is None else joint

    def move_rows(self, change, older):
        """Write the entries behind the last row to the tables.

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

    def barrier(self, all_directories=False, joint=None):
        """Sync all that the next frame will name, and what stands before it, in any order.

        Of a joint frame, `joint` are the files of its chunks: these, and the log with the frame
        itself. What is placed meanwhile is of later frames, and dirty again.
        """
        nodes, nolog = list(self.dirty), 'nologbarrier'
        if joint is not None:
            named = () if 'jointnochunk' in self.faults else joint
            nodes, nolog = [node for node in nodes if node.name in named], 'jointnolog'
            if 'jointnew' in self.faults:
                nodes.append(self.directory.get('chunk'))
        if self.log_dirty and nolog not in self.faults:
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

    def write_frame(self, length, rows, sets, stages, flags):
        """The frame, at the end of the log; then it is the state of every reader that looks."""
        state = self.state
        frame = lxlog.Frame(
            epoch=state.epoch, length=length, rows=rows, previous=state.previous,
            flags=flags, boot=self.disk.boot, tables=state.tables,
            next_chunk=self.stages.next_id, chunks=self.stages.chunk_items(stages),
            sets=[(field, index, row) for (field, index), row in sets.items()])
        data = lxlog.encode(frame, self.seed)
        self.write_whole(data)
        frame = frame._replace(end=state.at + len(data), crc=lxlog.frame_crc(data))
        state.apply(frame, self.faults)
        self.log_dirty = True
        return frame

    def write_whole(self, data):
        """A frame that finds no room is cut off again; what was in it waits for the next."""
        log = self.log_file()
        if self.disk.is_full():
            log.pwrite(self.state.at, data[:len(data) // 2])
            log.truncate(self.state.at)
            raise NoSpace
        log.pwrite(self.state.at, data)

    def close(self):
        """Commit what is pending, durably, whatever the durability in between.

        Then one synced frame more, behind which rot is told. It names nothing that is not durable,
        and may be lost.
        """
        self.commit(synced=True)
        if self.state.joint and self.disk.rng.random() < .5:
            try:
                self.write_frame(self.state.length, self.state.rows, {}, 0, lxlog.SYNCED)
            except NoSpace:
                pass
