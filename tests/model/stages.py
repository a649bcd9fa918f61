# SPDX-License-Identifier: MIT
"""Stages: values on their way into chunks, over one to four lanes, ahead of what is committed.

Stages are filled in the order of the calls. Each goes to one lane, and a lane places its stages
one after another, into a chunk of its own; which lane is faster is chance. So a later stage may lie
in its chunk already when the frame of earlier ones is written.
"""

from .layout import CHUNK_BYTES, CHUNK_RECORDS, GROWTH, chunk_name
from .records import ALIGN


class Stage:
    """Values in the order of the calls.

    Attributes
    ----------
    places : list of (chunk, offset)
        Where its values lie, as far as they are placed.
    ends : dict
        By chunk, records and bytes with this stage: what a frame says that ends with it.
    """

    def __init__(self, lane):
        self.lane = lane
        self.values = []
        self.places = []
        self.ends = {}


class Lane:
    """A place to write: a chunk that no other lane has, and how far it is filled."""

    def __init__(self):
        self.chunk = None
        self.records = self.used = 0
        self.waiting = []

    def has_room(self, size):
        return (self.chunk is not None and self.records < CHUNK_RECORDS
                and self.used + ALIGN + size <= CHUNK_BYTES)


class Stages:
    """The lanes of a writer, and the stages that are not committed."""

    def __init__(self, writer):
        self.writer = writer
        self.rng = writer.disk.rng
        self.lanes = [Lane() for _ in range(self.rng.randint(1, 4))]
        self.stages = []
        self.open = None        # the stage that is being filled
        self.next_id = 0

    def resume(self):
        """Give each lane an unfull chunk of the state, or none; nothing may be uncommitted."""
        state = self.writer.state
        unfull = [chunk for chunk, (records, used) in sorted(state.chunks.items())
                  if records < CHUNK_RECORDS and used + ALIGN < CHUNK_BYTES]
        if 'sharedchunk' in self.writer.faults:
            unfull *= 2
        for lane in self.lanes:
            lane.chunk = unfull.pop() if unfull else None
            lane.records, lane.used = state.chunks.get(lane.chunk, (0, 0))
        self.next_id = max(self.next_id, state.next_chunk)

    def add(self, value):
        """Take a value; where it will be placed is known later: at this position of this stage."""
        if not self.open:
            self.open = Stage(self.rng.choice(self.lanes))
            self.stages.append(self.open)
            self.open.lane.waiting.append(self.open)
        stage = self.open
        stage.values.append(value)
        return stage, len(stage.values) - 1

    def close(self):
        """Whatever comes next begins a new stage; the number of stages so far."""
        self.open = None
        return len(self.stages)

    # -- placing ---------------------------------------------------------------------------------

    def place_some(self, chance):
        """Some lane may place its next stage, unless that is being filled."""
        lane = self.rng.choice(self.lanes)
        if self.rng.random() < chance and lane.waiting and lane.waiting[0] is not self.open:
            self.place(lane)

    def place_first(self, count):
        """Place the first stages, in the order of the lanes' luck; some others go ahead of them."""
        wanted = self.stages[:count]
        while True:
            self.place_some(.2)
            lanes = [lane for lane in self.lanes if any(one in wanted for one in lane.waiting)]
            if not lanes:
                return
            self.place(self.rng.choice(lanes))

    def place(self, lane):
        stage = lane.waiting.pop(0)
        for value in stage.values:
            stage.places.append(self.place_value(lane, value))
            stage.ends[lane.chunk] = lane.records, lane.used

    def place_value(self, lane, value):
        """Write the payload after what the lane has placed, with its gap as zeros."""
        if not lane.has_room(len(value)):
            self.open_chunk(lane)
        offset = -(-lane.used // ALIGN) * ALIGN
        file = self.writer.chunk(lane.chunk)
        end = offset + len(value)
        if file.size < end:
            file.truncate(-(-end // GROWTH) * GROWTH)
        file.pwrite(lane.used, bytes(offset - lane.used) + value)
        self.writer.mark_dirty(file)
        lane.records, lane.used = lane.records + 1, end
        return lane.chunk, offset

    def open_chunk(self, lane):
        """A new chunk, of an id that was given to nobody."""
        lane.chunk, lane.records, lane.used = self.next_id, 0, 0
        self.next_id += 1
        writer = self.writer
        directory = writer.directory.get('chunk')
        writer.files[chunk_name(lane.chunk)] = directory.make_file(chunk_name(lane.chunk))
        writer.since[lane.chunk] = writer.meta['generation']
        if 'nochunkdirsync' not in writer.faults:
            writer.mark_dirty(directory)

    def chunks(self):
        """The chunks that are being written, also for stages that are not committed."""
        uncommitted = {chunk for stage in self.stages for chunk in stage.ends}
        return uncommitted | {lane.chunk for lane in self.lanes}

    def lane_of(self, name):
        """The number of the lane that writes the chunk of this file name."""
        return next((k for k, lane in enumerate(self.lanes) if chunk_name(lane.chunk) == name), -1)

    # -- what a frame says -----------------------------------------------------------------------

    def chunk_items(self, count):
        """The chunks that the first stages lie in, and how far: what is behind is not committed."""
        items = {}
        for stage in self.stages[:count]:
            items.update(stage.ends)
        if 'stageitems' in self.writer.faults:
            items.update({lane.chunk: (lane.records, lane.used)
                          for lane in self.lanes if lane.chunk is not None})
        return items

    def forget(self, count):
        """The first stages are committed."""
        del self.stages[:count]

    def rollback(self):
        """Drop all stages: their bytes will be written over."""
        self.stages.clear()
        self.open = None
        for lane in self.lanes:
            lane.waiting.clear()
            lane.records, lane.used = self.writer.state.chunks.get(lane.chunk, (0, 0))
