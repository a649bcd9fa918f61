# SPDX-License-Identifier: MIT
"""Write buffers, and one to four flush tasks that write their values to chunks.

Buffers are filled in the order of the calls. Each goes to one flush task, which writes its buffers
one after another to a chunk of its own. Their speed is random, so a later buffer may be in its
chunk before the frame of earlier ones is written.
"""

from .layout import CHUNK_BYTES, CHUNK_RECORDS, GROWTH, chunk_name
from .records import ALIGN


class WriteBuffer:
    """Values in the order of the calls.

    Attributes
    ----------
    places : list of (chunk, offset)
        The places of the values that are written.
    ends : dict
        By chunk, the records and bytes up to the end of this buffer, for the frame.
    """

    def __init__(self, task):
        self.task = task
        self.values = []
        self.places = []
        self.ends = {}


class FlushTask:
    """Writes to a chunk that no other flush task has."""

    def __init__(self):
        self.chunk = None
        self.records = self.used = 0
        self.waiting = []

    def has_room(self, size):
        return (self.chunk is not None and self.records < CHUNK_RECORDS
                and self.used + ALIGN + size <= CHUNK_BYTES)


class WriteBuffers:
    """The flush tasks of a writer, and the buffers that are not committed."""

    def __init__(self, writer):
        self.writer = writer
        self.rng = writer.disk.rng
        self.tasks = [FlushTask() for _ in range(self.rng.randint(1, 4))]
        self.buffers = []
        self.open = None        # the buffer that is being filled
        self.next_id = 0

    def resume(self):
        """Give each flush task a chunk with free space, or none; everything must be committed."""
        state = self.writer.state
        unfull = [chunk for chunk, (records, used) in sorted(state.chunks.items())
                  if records < CHUNK_RECORDS and used + ALIGN < CHUNK_BYTES]
        if 'sharedchunk' in self.writer.faults:
            unfull *= 2
        for task in self.tasks:
            task.chunk = unfull.pop() if unfull else None
            task.records, task.used = state.chunks.get(task.chunk, (0, 0))
        self.next_id = max(self.next_id, state.next_chunk)

    def add(self, value):
        """Add a value; return its buffer and position, at which its place will be found later."""
        if not self.open:
            self.open = WriteBuffer(self.rng.choice(self.tasks))
            self.buffers.append(self.open)
            self.open.task.waiting.append(self.open)
        buffer = self.open
        buffer.values.append(value)
        return buffer, len(buffer.values) - 1

    def close(self):
        """End the open buffer; return the number of buffers so far."""
        self.open = None
        return len(self.buffers)

    # -- flushing --------------------------------------------------------------------------------

    def flush_some(self, chance):
        """Perhaps let a flush task write its next buffer, unless that is being filled."""
        task = self.rng.choice(self.tasks)
        if self.rng.random() < chance and task.waiting and task.waiting[0] is not self.open:
            self.flush(task)

    def flush_first(self, count):
        """Flush the first buffers, in random order of the tasks, perhaps after some others."""
        wanted = self.buffers[:count]
        while True:
            self.flush_some(.2)
            tasks = [task for task in self.tasks if any(one in wanted for one in task.waiting)]
            if not tasks:
                return
            self.flush(self.rng.choice(tasks))

    def flush(self, task):
        buffer = task.waiting.pop(0)
        for value in buffer.values:
            buffer.places.append(self.write_value(task, value))
            buffer.ends[task.chunk] = task.records, task.used

    def write_value(self, task, value):
        """Append the payload to the chunk, with zeros for the alignment."""
        if not task.has_room(len(value)):
            self.open_chunk(task)
        offset = -(-task.used // ALIGN) * ALIGN
        file = self.writer.chunk(task.chunk)
        end = offset + len(value)
        if file.size < end:
            file.truncate(-(-end // GROWTH) * GROWTH)
        file.pwrite(task.used, bytes(offset - task.used) + value)
        self.writer.mark_dirty(file)
        task.records, task.used = task.records + 1, end
        return task.chunk, offset

    def open_chunk(self, task):
        """Make a new chunk, with an id that was never used."""
        task.chunk, task.records, task.used = self.next_id, 0, 0
        self.next_id += 1
        writer = self.writer
        directory = writer.directory.get('chunk')
        writer.files[chunk_name(task.chunk)] = directory.make_file(chunk_name(task.chunk))
        writer.since[task.chunk] = writer.meta['generation']
        if 'nochunkdirsync' not in writer.faults:
            writer.mark_dirty(directory)

    def chunks(self):
        """The chunks that are being written, including those of uncommitted buffers."""
        uncommitted = {chunk for buffer in self.buffers for chunk in buffer.ends}
        return uncommitted | {task.chunk for task in self.tasks}

    def task_of(self, name):
        """The number of the flush task that writes the chunk of this file name."""
        return next((k for k, task in enumerate(self.tasks) if chunk_name(task.chunk) == name), -1)

    # -- the chunk items of a frame --------------------------------------------------------------

    def chunk_items(self, count):
        """The chunks of the first buffers, and their ends: later bytes are not committed."""
        items = {}
        for buffer in self.buffers[:count]:
            items.update(buffer.ends)
        if 'bufferitems' in self.writer.faults:
            items.update({task.chunk: (task.records, task.used)
                          for task in self.tasks if task.chunk is not None})
        return items

    def drop(self, count):
        """Drop the first buffers, which are committed."""
        del self.buffers[:count]

    def rollback(self):
        """Drop all buffers: later ones overwrite their bytes."""
        self.buffers.clear()
        self.open = None
        for task in self.tasks:
            task.waiting.clear()
            task.records, task.used = self.writer.state.chunks.get(task.chunk, (0, 0))
