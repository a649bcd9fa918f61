# SPDX-License-Identifier: MIT
"""What a sequence of operations makes of a state, before any of it is written."""

from .records import MISSING, make_row, move_row


class Change:
    """The entries of a commit, over those of the writer's state.

    Attributes
    ----------
    length, peak : int
        The number of records, and the highest that it was on the way.
    sets : dict
        The entries by (field id, index), those at or above `length` among them.
    first : dict
        The entries of the records that were appended, as they were then.
    """

    def __init__(self, writer, operations):
        self.writer = writer
        self.length = self.peak = writer.state.length
        self.sets = {}
        self.first = {}
        for kind, *arguments in operations:
            getattr(self, kind)(*arguments)

    def append(self, values):
        """Every field gets an entry, so that no older one shows through."""
        for field, value in zip(self.writer.fields, values):
            if value[0] is None and 'showthrough' in self.writer.faults:
                continue
            key = field.id, self.length
            self.sets[key] = self.first[key] = self.make(field, self.length, value)
        self.length += 1
        self.peak = max(self.peak, self.length)

    def modify(self, index, field, value):
        self.sets[field.id, index] = self.make(field, index, value)

    def delete(self, index):
        last = self.length - 1
        if index != last:
            for field in self.writer.fields:
                self.sets[field.id, index] = move_row(self.row(field, last), last, index)
        self.length = last

    def truncate(self, length):
        self.length = length

    def make(self, field, index, value):
        value, slot = value
        place = slot[0].places[slot[1]] if slot else (0, 0)
        return make_row(self.writer.uuid, field.id, index, value, place)

    def row(self, field, index):
        """The entry that holds after the operations."""
        key = field.id, index
        if key in self.sets:
            return self.sets[key]
        return self.writer.row(field, index) if index < self.writer.state.length else MISSING

    def old_row(self, field, index):
        """An entry that held once: as appended, or as it was before, where the frame sets another.
        """
        key = field.id, index
        if key in self.first:
            return self.first[key]
        return self.writer.row(field, index) if index < self.writer.state.length else MISSING
