# SPDX-License-Identifier: MIT
"""New generations: restart, fold and rebalance.

Each begins with a synced commit, of which `begun` is reported; a switch follows. Restart and fold
may come in the middle: they commit up to a mark, and stages after it stay as they are.
"""

from . import log as lxlog
from .layout import CHUNK_BYTES, CHUNK_RECORDS
from .records import ALIGN, ENTRY, INLINE, MISSING, make_row, read_row
from .switch import Switch


def begin(writer, begun, mark=None):
    writer.commit(mark, synced='switchunsynced' not in writer.faults)
    begun()


def next_meta(writer):
    return dict(writer.meta, generation=writer.meta['generation'] + 1, length=writer.state.length)


def restart(writer, begun, mark=None):
    """A new log; tables and chunks stay."""
    begin(writer, begun, mark)
    switch = Switch(writer)
    state = writer.state.copy()
    state.next_chunk = next_chunk(writer, state.chunks)
    if 'basenochunks' in writer.faults:
        state.chunks = {}
    sets = {} if 'basenosets' in writer.faults else writer.live_sets()
    frame = lxlog.base_frame(writer.disk.boot, state, state.rows, state.tables, sets)
    switch.commit(next_meta(writer), switch.make_log(frame))


def fold(writer, begun, mark=None):
    """A new log, and new tables with the sets applied."""
    forgotten = writer.state.copy()
    begin(writer, begun, mark)
    if 'foldforgets' not in writer.faults:
        forgotten = None
    switch = Switch(writer)
    switch.commit(next_meta(writer), make_folded(switch, forgotten))


def make_folded(switch, forgotten=None):
    """New tables and the log with them; the frame of that."""
    writer, state = switch.writer, switch.writer.state.copy()
    if forgotten:
        writer.state.sets = forgotten.sets
    for field in writer.fields:
        rows = [writer.row(field, index) for index in range(state.length)]
        switch.make_table(field, state.tables + 1, rows)
    writer.state = state
    state.next_chunk = next_chunk(writer, state.chunks)
    return switch.make_log(lxlog.base_frame(writer.disk.boot, state, state.length,
                                            state.tables + 1, {}))


def rebalance(writer, begun):
    """New chunks with the payloads in the order of the index, new tables, and a new log."""
    begin(writer, begun)
    switch = Switch(writer)
    copier = Copier(switch)
    state = writer.state.copy()
    rows = {field.id: [] for field in writer.fields}
    for index in range(state.length):
        for field in writer.fields:
            rows[field.id].append(copier.copy(field, index))
    copier.end()
    for field in writer.fields:
        switch.make_table(field, state.tables + 1, rows[field.id])
    state.chunks = copier.chunks
    state.next_chunk = next_chunk(writer, state.chunks)
    frame = lxlog.base_frame(writer.disk.boot, state, state.length, state.tables + 1, {})
    switch.commit(next_meta(writer), switch.make_log(frame))
    if 'staychunk' not in writer.faults:
        writer.stages.resume()


def next_chunk(writer, chunks):
    """Above every id that was ever given out: it never falls, whatever chunks there are."""
    if 'nextfalls' in writer.faults:
        return max(chunks, default=-1) + 1
    return writer.stages.next_id


class Copier:
    """Payloads on their way into new chunks, each of which is written when it is full."""

    def __init__(self, switch):
        self.switch = switch
        self.stages = switch.writer.stages
        self.chunks = {}
        self.chunk = None
        self.records = 0
        self.data = bytearray()

    def copy(self, field, index):
        """The row of a value in its new place; its check is that of the place.

        So rot would become valid: the value is verified first.
        """
        writer = self.switch.writer
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
        writer = self.switch.writer
        self.chunk, self.records, self.data = self.stages.next_id, 0, bytearray()
        if 'reusechunk' in writer.faults:
            self.chunk = len(self.chunks)
            directory, name = writer.directory.get('chunk'), f'{self.chunk}.zr'
            if directory.get(name):
                directory.unlink(name)
        self.stages.next_id = max(self.stages.next_id, self.chunk + 1)
        writer.since[self.chunk] = writer.meta['generation'] + 1

    def end(self):
        if self.chunk is not None:
            self.switch.make_chunk(self.chunk, bytes(self.data))
            self.chunks[self.chunk] = self.records, len(self.data)
