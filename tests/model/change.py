# SPDX-License-Identifier: MIT
"""The effect of a sequence of operations on a snapshot, before anything is written."""

from .records import MISSING, make_row, move_row


class Change:
    """The entries of a commit, which replace those of the writer's snapshot.

    Attributes
    ----------
    length, peak : int
        The number of records, and its maximum during the operations.
    updates : dict
        The entries by (field id, index), including those at or above `length`.
    first : dict
        The entries of the appended records, as they were appended.
    """

    def __init__(self, writer, operations):
        self.writer = writer
        self.length = self.peak = writer.state.length
        self.updates = {}
        self.first = {}
        for kind, *arguments in operations:
            getattr(self, kind)(*arguments)

    def append(self, values):
        """Every field gets an entry, so that no older entry remains visible."""
        for field, value in zip(self.writer.fields, values):
            if value[0] is None and 'showthrough' in self.writer.faults:
                continue
            key = field.id, self.length
            self.updates[key] = self.first[key] = self.make(field, self.length, value)
        self.length += 1
        self.peak = max(self.peak, self.length)

    def modify(self, index, field, value):
        self.updates[field.id, index] = self.make(field, index, value)

    def delete(self, index):
        last = self.length - 1
        if index != last:
            for field in self.writer.fields:
                self.updates[field.id, index] = move_row(self.row(field, last), last, index)
        self.length = last

    def truncate(self, length):
        self.length = length

    def make(self, field, index, value):
        value, slot = value
        place = slot[0].places[slot[1]] if slot else (0, 0)
        return make_row(self.writer.uuid, field.id, index, value, place)

    def row(self, field, index):
        """The entry after the operations."""
        key = field.id, index
        if key in self.updates:
            return self.updates[key]
        return self.writer.row(field, index) if index < self.writer.state.length else MISSING

    def old_row(self, field, index):
        """The entry as appended, or as before the commit, where the frame has an update."""
        key = field.id, index
        if key in self.first:
            return self.first[key]
        return self.writer.row(field, index) if index < self.writer.state.length else MISSING
