# SPDX-License-Identifier: MIT
"""The last joint frame of a log, and what it names: section 8.10 of the format."""

import os
from contextlib import closing

from zrbase import Corrupt
from zrlog import JOINT_BYTES_MAX
from zrvalue import NOTHING, Entry


class JointChunks:
    """The chunks of a dataset, as the state behind a joint frame wants them.

    They are opened for this alone: where the frame does not count, nothing stays open that was
    held to numbers of it.

    Parameters
    ----------
    open_chunk : callable
        Given an id, opens the chunk as a `File`; raises FileNotFoundError where there is none.
    fields : list of Field
        The schema.
    uuid : bytes
        The uuid of the dataset.
    """

    def __init__(self, open_chunk, fields, uuid):
        self._open = open_chunk
        self._fields = {field.id: field for field in fields}
        self._uuid = uuid

    def _size(self, chunk):
        with closing(self._open(chunk)) as file:
            return file.size()

    def _read(self, chunk, offset, size):
        with closing(self._open(chunk)) as file:
            return file.read(offset, size)

    def intact(self, frame, before):
        """Whether all that the frame names is there.

        What cannot be opened or read for another reason than that it is absent or too short is no
        answer, and raises.

        Parameters
        ----------
        frame : Frame
            The first frame behind the settled ones.
        before : dict
            (records, bytes) of each chunk of the settled state, by id.
        """
        try:
            # A chunk of 0 bytes may be absent: section 3.5.
            if any(size and self._size(chunk) < size for chunk, _, size in frame.chunks):
                return False
        except FileNotFoundError:
            return False
        chunks = {**before, **{chunk: (records, size) for chunk, records, size in frame.chunks}}
        entries = self._unsettled(frame, before)
        if sum(entry.physical for entry in entries if not entry.inline) > JOINT_BYTES_MAX:
            return False
        return all(self._entry_intact(entry, before, chunks) for entry in entries)

    def _unsettled(self, frame, before):
        """Return the entries of values that do not lie wholly in what was settled."""
        entries = []
        for number, _, index, words in frame.sets:
            if number not in self._fields or words == NOTHING:
                continue
            entry = Entry(self._fields[number], index, words)
            if (entry.inline or entry.chunk not in before
                    or entry.offset + entry.physical > before[entry.chunk][1]):
                entries.append(entry)
        return entries

    def _entry_intact(self, entry, before, chunks):
        if not entry.inline and entry.chunk in before and entry.offset < before[entry.chunk][1]:
            return False
        try:
            entry.check(chunks)
            entry.stored(self._uuid, self._read)
        except (Corrupt, FileNotFoundError):
            return False
        return True

    def sync(self, frame):
        """Sync the chunks of the frame."""
        for chunk, _, size in frame.chunks:
            if size:
                with closing(self._open(chunk)) as file:
                    os.fdatasync(file.fd)
