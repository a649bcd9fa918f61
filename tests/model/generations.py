# SPDX-License-Identifier: MIT
"""New generations: log rotation, WAL checkpoint and rebalance.

Each begins with a synced commit, after which it calls `begun`; an installation follows. Rotation
and checkpoint may commit only up to a mark; later write buffers stay as they are.
"""

from . import log as lxlog
from .layout import CHUNK_BYTES, CHUNK_RECORDS
from .records import ALIGN, ENTRY, INLINE, MISSING, make_row, read_row
from .install import Install


def begin(writer, begun, mark=None):
    writer.commit(mark, synced='installunsynced' not in writer.faults)
    begun()


def next_meta(writer, complete):
    return dict(writer.meta, generation=writer.meta['generation'] + 1, length=writer.state.length,
                complete=complete)


def rotate(writer, begun, mark=None):
    """Make a new log; tables and chunks stay."""
    begin(writer, begun, mark)
    install = Install(writer)
    state = writer.state.copy()
    state.next_chunk = next_chunk(writer, state.chunks)
    if 'snapshotnochunks' in writer.faults:
        state.chunks = {}
    updates = {} if 'snapshotnoupdates' in writer.faults else writer.live_updates()
    frame = lxlog.snapshot_frame(writer.disk.boot, state, state.rows, state.tables, updates)
    kept = 'staycomplete' in writer.faults
    complete = writer.meta['complete'] if kept else writer.complete_fields()
    install.commit(next_meta(writer, complete), install.make_log(frame))


def checkpoint(writer, begun, mark=None):
    """Make a new log, and new tables with the updates applied."""
    forgotten = writer.state.copy()
    begin(writer, begun, mark)
    if 'checkpointforgets' not in writer.faults:
        forgotten = None
    install = Install(writer)
    install.commit(next_meta(writer, writer.full_fields()), make_checkpoint(install, forgotten))


def make_checkpoint(install, forgotten=None):
    """Make new tables and their log; return its frame."""
    writer, state = install.writer, install.writer.state.copy()
    if forgotten:
        writer.state.updates = forgotten.updates
    for field in writer.fields:
        rows = [writer.row(field, index) for index in range(state.length)]
        install.make_table(field, state.tables + 1, rows)
    writer.state = state
    state.next_chunk = next_chunk(writer, state.chunks)
    return install.make_log(lxlog.snapshot_frame(writer.disk.boot, state, state.length,
                                            state.tables + 1, {}))


def rebalance(writer, begun):
    """Make new chunks with the payloads in index order, new tables, and a new log."""
    begin(writer, begun)
    install = Install(writer)
    copier = Copier(install)
    state = writer.state.copy()
    rows = {field.id: [] for field in writer.fields}
    for index in range(state.length):
        for field in writer.fields:
            rows[field.id].append(copier.copy(field, index))
    copier.end()
    for field in writer.fields:
        install.make_table(field, state.tables + 1, rows[field.id])
    state.chunks = copier.chunks
    state.next_chunk = next_chunk(writer, state.chunks)
    frame = lxlog.snapshot_frame(writer.disk.boot, state, state.length, state.tables + 1, {})
    install.commit(next_meta(writer, writer.full_fields()), install.make_log(frame))
    if 'staychunk' not in writer.faults:
        writer.buffers.resume()


def next_chunk(writer, chunks):
    """Above every id that was ever used: it never decreases, even without chunks."""
    if 'nextfalls' in writer.faults:
        return max(chunks, default=-1) + 1
    return writer.buffers.next_id


class Copier:
    """Copies payloads into new chunks, each of which is written when it is full."""

    def __init__(self, install):
        self.install = install
        self.buffers = install.writer.buffers
        self.chunks = {}
        self.chunk = None
        self.records = 0
        self.data = bytearray()

    def copy(self, field, index):
        """Copy a value; return its new row, whose checksum covers the new place.

        A damaged value would become valid, so the value is verified first.
        """
        writer = self.install.writer
        row = writer.row(field, index)
        if row == MISSING or ENTRY.unpack_from(row)[0] == INLINE:
            return row
        value = read_row(row, writer.uuid, field.id, index, writer.read_chunk,
                         'copyblind' not in writer.faults)
        if (self.chunk is None or self.records == CHUNK_RECORDS
                or len(self.data) + ALIGN + len(value) > CHUNK_BYTES):
            self.end()
            self.begin()
        self.data.extend(bytes(-len(self.data) % ALIGN))
        offset = len(self.data)
        self.data.extend(value)
        self.records += 1
        return make_row(writer.uuid, field.id, index, value, (self.chunk, offset))

    def begin(self):
        writer = self.install.writer
        self.chunk, self.records, self.data = self.buffers.next_id, 0, bytearray()
        if 'reusechunk' in writer.faults:
            self.chunk = len(self.chunks)
            directory, name = writer.directory.get('chunk'), f'{self.chunk}.zr'
            if directory.get(name):
                directory.unlink(name)
        self.buffers.next_id = max(self.buffers.next_id, self.chunk + 1)
        writer.since[self.chunk] = writer.meta['generation'] + 1

    def end(self):
        if self.chunk is not None:
            self.install.make_chunk(self.chunk, bytes(self.data))
            self.chunks[self.chunk] = self.records, len(self.data)
